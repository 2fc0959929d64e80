//! A spell checker for agent names: finds unused names that are a few letters from one in use.
//!
//! An agent that no robots.txt names obeys the global groups. So a misspelled name gives wrong
//! verdicts without any error. The measure is the restricted Damerau-Levenshtein distance (optimal
//! string alignment): the least number of insertions, deletions, substitutions and transpositions
//! of neighbours that turns one name into the other.

use crate::agent::{Agent, without_separators};
use crate::crawlers::{CrawlerRegistry, KnownAgent};
use crate::error::{Error, Result};
use crate::file_pass::count_files_naming;
use crate::robots::RobotsRef;
use crate::snapshot::Snapshot;
use std::cmp::Reverse;
use std::sync::LazyLock;

/// A name outside the registry is suggested only if at least one in this many robots.txt files of a
/// snapshot names it. Sites misspell names too, and in a large snapshot any short name is close to
/// some misspelling.
const RARE: u64 = 10_000;

/// What separates the words of a name.
const SEPARATORS: &[u8] = b"-_ ";

/// Endings that most names of crawlers share, so they do not distinguish names.
const USUAL_ENDINGS: &[&[u8]] = &[b"bot", b"spider", b"crawler"];

/// The tokens of the registry in lower case.
static TOKENS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    KnownAgent::all()
        .iter()
        .map(|known| known.token.to_ascii_lowercase().into_bytes())
        .collect()
});

/// The crawler of the registry that a name is close to without being its token: the name is
/// probably a misspelling. The measure is that of [`SpellCheck`], with less tolerance in two cases:
/// names that differ in a part after a `-` only, and short names ([`is_likely_typo`]).
///
/// Cost: a comparison with each token of the registry.
pub(crate) fn close_crawler(name: &str) -> Option<&'static KnownAgent> {
    let lower = name.to_ascii_lowercase();
    let mut checked = CheckedName::new(&lower, name);
    TOKENS
        .iter()
        .for_each(|token| checked.add_if_close(token, 0));
    checked
        .close
        .retain(|close| is_likely_typo(&lower, &close.text));
    checked
        .misspelling(CrawlerRegistry::shipped())
        .and_then(|close| KnownAgent::find(&close.suggestion))
}

/// Whether a name that is close to a token is more likely a misspelling of it than a name of its
/// own. Operators have families of crawlers (`SemrushBot-BA`, `SemrushBot-SA`), so the parts after
/// an equal start and `-` must be close themselves. Short names are many (`RoverBot` and
/// `rogerbot`, `NexaBot` and `ExaBot`), so only a letter after the first that is missing, too many
/// or transposed counts.
fn is_likely_typo(name: &str, token: &[u8]) -> bool {
    let (start, part) = name.split_at(name.rfind('-').map_or(0, |dash| dash + 1));
    if let (false, Some(other)) = (start.is_empty(), token.strip_prefix(start.as_bytes())) {
        return CheckedName::new(part, part)
            .distance(other, letters(other))
            .is_some();
    }
    let is_short = CheckedName::new(name, name).distinctive_len() <= SHORT;
    let is_same_letters = letters(name.as_bytes()) == letters(token);
    !is_short
        || is_same_letters
        || (name.len() != token.len() && name.as_bytes().first() == token.first())
}

/// The length of a short name without a usual ending.
const SHORT: usize = 5;

/// Whether a name is the first word of a crawler's name, such as `Kangaroo` of `Kangaroo Bot`.
/// Parsers that follow RFC 9309 read no more of it, so a site may well mean that crawler.
pub(crate) fn begins_crawler(name: &str) -> bool {
    let mut first_words = KnownAgent::all()
        .iter()
        .filter_map(|known| known.token.split_once(' '));
    first_words.any(|(first, _)| first.eq_ignore_ascii_case(name))
}

/// Names that stand for no operator or product of the registry: `Mozilla` begins the headers of
/// browsers, the registry has `unknown` for operators that are not known, and `DISCo` is a program,
/// older than `discobot`.
const NO_OPERATORS: &[&str] = &["mozilla", "unknown", "disco"];

/// The crawlers that the name of an operator or of a product stands for, such as `OpenAI` and
/// `chatgpt`. Crawlers whose tokens are the name with an ending (`ChatGPT-User`) come first, then
/// the others of their operators. None if the name is neither, or if it is an operator's name that
/// begins one of its crawlers' names ([`begins_crawler`]).
pub(crate) fn crawlers_of(name: &str) -> Vec<&'static KnownAgent> {
    let lower = name.to_ascii_lowercase();
    let letters = lower_letters(name);
    // `X` is an operator, and shorter than the names that sites write for one.
    if letters.len() < 3 || NO_OPERATORS.contains(&lower.as_str()) {
        return Vec::new();
    }
    let known = KnownAgent::all().iter().zip(TOKENS.iter());
    let (products, others): (Vec<_>, Vec<_>) =
        known.partition(|(_, token)| is_of_product(token, lower.as_bytes()));
    if products.is_empty() && begins_crawler(name) {
        return Vec::new();
    }
    let is_operator = |known: &KnownAgent| {
        let operator = known.operator.as_deref().unwrap_or_default();
        let makes_product = !operator.is_empty()
            && products
                .iter()
                .any(|(product, _)| product.operator == known.operator);
        makes_product || lower_letters(operator) == letters
    };
    let others = others.into_iter().filter(|(known, _)| is_operator(known));
    products
        .iter()
        .copied()
        .chain(others)
        .map(|(known, _)| known)
        .collect()
}

/// Whether a token is the name of a product with an ending.
fn is_of_product(token: &[u8], product: &[u8]) -> bool {
    let ending = token.strip_prefix(product);
    ending.is_some_and(|ending| ending.starts_with(b"-") || USUAL_ENDINGS.contains(&ending))
}

/// The letters and digits of a name, in lower case.
fn lower_letters(name: &str) -> Vec<u8> {
    name.bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_lowercase())
        .collect()
}

/// Checks the names of agents against the registry of crawlers, snapshots and robots.txt files.
///
/// A name of 4 to 9 letters is close to another at one edit, a name of 10 to 14 letters at two, and
/// a longer one at three. An edit inserts, deletes or substitutes a letter, or transposes it with a
/// neighbour. `bot`, `spider` and `crawler` at the end do not count. In shorter names only a
/// transposition counts. A name that differs in `-`, `_` or a blank alone is close too. Names that
/// are in use themselves are never doubted, nor is a chain with a name in use.
///
/// ```
/// use robosieve::census::SpellCheck;
/// use robosieve::{Compiler, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: ExampleBot\ndisallow: /")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let agents = ["GPTBot".parse()?, "GTPBot".parse()?, "exmaplebot".parse()?, "MyBot".parse()?];
/// let mut check = SpellCheck::new(&agents);
/// check.add_snapshot(&snapshot)?;
/// let unnamed = check.finish();
/// assert_eq!(unnamed[0].misspelled[0].suggestion, "GPTBot");
/// assert_eq!(unnamed[1].misspelled[0].suggestion, "examplebot");
/// assert!(unnamed[2].misspelled.is_empty());
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct SpellCheck {
    agents: Vec<CheckedAgent>,
    registry: CrawlerRegistry,
}

/// An agent that neither the registry of crawlers nor any of the robots.txt files names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnnamedAgent {
    /// The agent as it was given.
    pub label: String,
    /// The names of its chain that are close to a name in use; none if it is a name of its own.
    pub misspelled: Vec<Misspelling>,
    /// Its words, if there are several and each names an agent. Then commas are probably missing.
    pub joined: Vec<String>,
}

/// A name that nobody uses, and one in use that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misspelling {
    /// The name as it was given, without a version.
    pub name: String,
    /// Of the close names the one that most robots.txt files name, spelled as its operator does if
    /// it is in the registry, else in lower case. A site may have written it: it may hold any
    /// characters but line ends.
    pub suggestion: String,
}

#[derive(Debug)]
struct CheckedAgent {
    label: String,
    /// The names of its chain.
    names: Vec<CheckedName>,
    /// The words of its label, if it has one name of several words.
    words: Vec<CheckedName>,
}

/// A name to check, and the close names found so far.
#[derive(Debug)]
struct CheckedName {
    /// In lower case.
    text: Vec<u8>,
    /// As given, without a version.
    display: String,
    letters: u64,
    /// Whether the registry, a snapshot or a robots.txt has it.
    is_known: bool,
    close: Vec<CloseName>,
}

/// A name in use at a small distance from a checked one.
#[derive(Debug)]
struct CloseName {
    text: Vec<u8>,
    distance: usize,
    /// The number of robots.txt files that name it.
    files: u64,
}

impl CheckedAgent {
    fn new(agent: &Agent) -> Self {
        let parts = agent.label().split(':').zip(agent.names());
        let names: Vec<CheckedName> = parts
            .map(|(part, name)| {
                CheckedName::new(name, part.split('/').next().unwrap_or(part).trim())
            })
            .collect();
        // `GPTBot CCBot`; also `GPTBot/1.0 CCBot`, of which only the first word is a name, and
        // `GPTBot,CCBot` in a file.
        let parts = agent.label().split(':').zip(agent.names());
        let words = parts
            .flat_map(|(part, _)| part.split([' ', '\t', ',']))
            .map(str::parse::<Agent>);
        let words = words.filter_map(Result::ok);
        let words = words.flat_map(|word| {
            let display = word
                .label()
                .split('/')
                .next()
                .unwrap_or_default()
                .to_owned();
            word.names()
                .map(|name| CheckedName::new(name, &display))
                .collect::<Vec<_>>()
        });
        let words: Vec<CheckedName> = words.collect();
        // A chain, or a single word, cannot be several agents without commas.
        let words = if names.len() == 1 && words.len() > 1 {
            words
        } else {
            Vec::new()
        };
        Self {
            label: agent.label().to_owned(),
            names,
            words,
        }
    }

    /// Whether commas are missing: each word is a known name, and the whole is not.
    fn is_joined(&self) -> bool {
        // Some known names have a blank themselves.
        let is_known_as_a_whole = self
            .names
            .iter()
            .any(|name| name.is_known && name.text.iter().any(|b| b" ,".contains(b)));
        !self.words.is_empty()
            && !is_known_as_a_whole
            && self.words.iter().all(|word| word.is_known)
    }

    fn is_known(&self) -> bool {
        // `*` has no names.
        !self.is_joined() && (self.names.is_empty() || self.names.iter().any(|name| name.is_known))
    }

    fn finish(self, registry: &CrawlerRegistry) -> UnnamedAgent {
        let joined = if self.is_joined() {
            self.words.iter().map(|word| word.display.clone()).collect()
        } else {
            vec![]
        };
        let unknown = self.names.into_iter().filter(|name| !name.is_known);
        let misspelled = unknown
            .filter_map(|name| name.misspelling(registry))
            .collect();
        UnnamedAgent {
            label: self.label,
            misspelled,
            joined,
        }
    }
}

impl SpellCheck {
    /// Looks the agents up in the shipped registry of crawlers.
    pub fn new(agents: &[Agent]) -> Self {
        Self::with_registry(agents, CrawlerRegistry::shipped())
    }

    /// Looks the agents up in a registry of crawlers.
    pub fn with_registry(agents: &[Agent], registry: &CrawlerRegistry) -> Self {
        let agents = agents.iter().map(CheckedAgent::new).collect();
        let mut check = Self {
            agents,
            registry: registry.clone(),
        };
        check.add_names(
            registry
                .crawlers()
                .iter()
                .map(|known| (known.token.to_ascii_lowercase(), 0)),
        );
        check
    }

    /// Looks the agents up among the names of a snapshot.
    ///
    /// Cost: a binary search for each agent. If an agent is unknown, also a pass over all names. If
    /// any of these is close to it, also a pass over the named agents of all robots.txt files.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn add_snapshot(&mut self, snapshot: &Snapshot) -> Result<()> {
        for agent in &mut self.agents {
            for name in agent.names.iter_mut().chain(&mut agent.words) {
                name.is_known |= snapshot.token_number(&name.text)?.is_some();
            }
        }
        let numbers = self.close_names_in(snapshot)?;
        if numbers.is_empty() {
            return Ok(());
        }
        let counts = count_files_naming(snapshot, &numbers)?;
        let least = u64::from(snapshot.file_count()).div_ceil(RARE);
        let mut frequent = Vec::new();
        for (number, files) in numbers.into_iter().zip(counts) {
            let text = snapshot.token(u64::from(number))?;
            if files >= least || registered(&self.registry, text).is_some() {
                frequent.push((text.to_vec(), files));
            }
        }
        self.add_close(&frequent);
        Ok(())
    }

    /// Looks the agents up among the names of one robots.txt.
    pub fn add_robots(&mut self, robots: &RobotsRef<'_>) {
        let lines = robots
            .groups()
            .iter()
            .flat_map(|group| group.agents())
            .map(|line| line.named());
        let names = lines.flat_map(|named| std::iter::once(&named.token).chain(&named.extended));
        self.add_names(names.map(|name| (name.clone(), 1)));
    }

    /// The unknown agents, in the order given.
    pub fn finish(self) -> Vec<UnnamedAgent> {
        let unknown = self.agents.into_iter().filter(|agent| !agent.is_known());
        unknown.map(|agent| agent.finish(&self.registry)).collect()
    }

    /// Marks the checked names that are among `names`, and adds those that are close to an unknown
    /// one. Each name has the number of files that name it.
    fn add_names(&mut self, names: impl Iterator<Item = (impl Into<Vec<u8>>, u64)>) {
        let names: Vec<(Vec<u8>, u64)> = names.map(|(name, files)| (name.into(), files)).collect();
        for name in self
            .agents
            .iter_mut()
            .flat_map(|agent| agent.names.iter_mut().chain(&mut agent.words))
        {
            name.is_known |= names.iter().any(|(other, _)| *other == name.text);
        }
        self.add_close(&names);
    }

    fn unknown(&mut self) -> impl Iterator<Item = &mut CheckedName> {
        self.agents
            .iter_mut()
            .filter(|agent| !agent.is_known())
            .flat_map(|agent| &mut agent.names)
    }

    fn add_close(&mut self, names: &[(Vec<u8>, u64)]) {
        for name in self.unknown() {
            names
                .iter()
                .for_each(|(other, files)| name.add_if_close(other, *files));
        }
    }

    /// The numbers of the snapshot's names that are close to an unknown one.
    fn close_names_in(&mut self, snapshot: &Snapshot) -> Result<Vec<u32>> {
        let unknown: Vec<&mut CheckedName> = self.unknown().collect();
        let mut numbers = Vec::new();
        if unknown.is_empty() {
            return Ok(numbers);
        }
        for number in 0..snapshot.token_count()? {
            let other = snapshot.token(number)?;
            let letters = letters(other);
            if unknown
                .iter()
                .any(|name| name.distance(other, letters).is_some())
            {
                numbers.push(
                    u32::try_from(number).map_err(|_| Error::corrupt("the number of tokens"))?,
                );
            }
        }
        Ok(numbers)
    }
}

/// The token of a crawler in the registry, as its operator spells it.
fn registered<'r>(registry: &'r CrawlerRegistry, name: &[u8]) -> Option<&'r str> {
    Some(&registry.find(std::str::from_utf8(name).ok()?)?.token)
}

impl CheckedName {
    fn new(text: &str, display: &str) -> Self {
        let text = text.as_bytes().to_vec();
        Self {
            letters: letters(&text),
            text,
            display: display.to_owned(),
            is_known: false,
            close: Vec::new(),
        }
    }

    /// The length without a usual ending.
    fn distinctive_len(&self) -> usize {
        let stripped = USUAL_ENDINGS
            .iter()
            .find_map(|ending| self.text.strip_suffix(*ending));
        let stripped = stripped.unwrap_or(&self.text);
        stripped.strip_suffix(b"-").unwrap_or(stripped).len()
    }

    /// The greatest distance of a close name. Shorter names have too many neighbours: in a large
    /// snapshot `mybot` is one letter from four names in use.
    fn tolerance(&self) -> usize {
        match self.distinctive_len() {
            0..=3 => 0,
            4..=9 => 1,
            10..=14 => 2,
            _ => 3,
        }
    }

    /// The distance to a name with these letters, if it is close.
    fn distance(&self, other: &[u8], letters: u64) -> Option<usize> {
        let tolerance = self.tolerance();
        let most = tolerance.max(1);
        // An edit adds a letter, removes one, or both. This test rejects nearly all names cheaply.
        let differing = (self.letters ^ letters).count_ones() as usize;
        if differing > 2 * most || self.text.len().abs_diff(other.len()) > most {
            return None;
        }
        let distance = (0..=most).find(|edits| is_within(&self.text, other, *edits))?;
        (distance <= tolerance || self.is_same_letters(other)).then_some(distance)
    }

    /// Whether a name one edit away has the same letters, whatever its length: `GPT-Bot` and
    /// `GTPBot` for `GPTBot`.
    fn is_same_letters(&self, other: &[u8]) -> bool {
        let mut own = without_separators(&self.text, SEPARATORS);
        let mut other = without_separators(other, SEPARATORS);
        if own == other {
            return true;
        }
        own.sort_unstable();
        other.sort_unstable();
        self.distinctive_len() == 3 && own == other
    }

    /// Adds a name if it is close, with the number of files that name it.
    fn add_if_close(&mut self, other: &[u8], files: u64) {
        let Some(distance) = self.distance(other, letters(other)) else {
            return;
        };
        match self.close.iter_mut().find(|close| close.text == other) {
            Some(known) => known.files += files,
            None => self.close.push(CloseName {
                text: other.to_vec(),
                distance,
                files,
            }),
        }
    }

    /// The suggestion for this name: the close name that most files name.
    fn misspelling(self, registry: &CrawlerRegistry) -> Option<Misspelling> {
        let best = self.close.iter().min_by(|a, b| {
            (Reverse(a.files), a.distance, &a.text).cmp(&(Reverse(b.files), b.distance, &b.text))
        })?;
        let suggestion = match registered(registry, &best.text) {
            Some(token) => token.to_owned(),
            None => String::from_utf8_lossy(&best.text).into_owned(),
        };
        Some(Misspelling {
            name: self.display,
            suggestion,
        })
    }
}

/// The set of bytes in a name, hashed to 64 bits. Bytes of tokens have bits of their own, except
/// digits and some letters.
fn letters(name: &[u8]) -> u64 {
    name.iter().fold(0, |set, byte| set | 1 << (byte % 64))
}

/// Whether at most `edits` edits turn `a` into `b`. The search tries each edit where the two first
/// differ, so its cost grows with 4 to the power of `edits`, which is at most 3.
pub(crate) fn is_within(a: &[u8], b: &[u8], edits: usize) -> bool {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let a = &a[common..];
    let b = &b[common..];
    if a.is_empty() || b.is_empty() {
        return a.len().max(b.len()) <= edits;
    }
    let Some(left) = edits.checked_sub(1) else {
        return false;
    };
    let is_transposed = a.len() > 1 && b.len() > 1 && a[0] == b[1] && a[1] == b[0];
    is_within(&a[1..], &b[1..], left)
        || is_within(&a[1..], b, left)
        || is_within(a, &b[1..], left)
        || (is_transposed && is_within(&a[2..], &b[2..], left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn edits_are_counted() {
        for (a, b, distance) in [
            ("gptbot", "gptbot", 0),
            ("gtpbot", "gptbot", 1),
            ("gptbo", "gptbot", 1),
            ("gptbott", "gptbot", 1),
            ("gptbat", "gptbot", 1),
            ("pgtbto", "gptbot", 2),
            ("", "abc", 3),
            ("abcd", "badc", 2),
            ("aab", "aba", 1),
        ] {
            let least = |a: &str, b: &str| {
                (0..=3).find(|edits| is_within(a.as_bytes(), b.as_bytes(), *edits))
            };
            assert_eq!([least(a, b), least(b, a)], [Some(distance); 2], "{a} {b}");
        }
        assert!(!is_within(b"abcd", b"efgh", 3));
    }

    /// The texts about an agent: its suggestions, or its words.
    fn found(agent: &str, robots: &str) -> Option<String> {
        let mut check = SpellCheck::new(&[agent.parse().unwrap()]);
        check.add_robots(&RobotsRef::parse(robots.as_bytes(), Profile::Google));
        let unnamed = check.finish().pop()?;
        let suggestions = unnamed
            .misspelled
            .iter()
            .map(|name| format!("{}>{}", name.name, name.suggestion));
        let all: Vec<String> = suggestions
            .chain((!unnamed.joined.is_empty()).then(|| unnamed.joined.join("+")))
            .collect();
        Some(all.join(" "))
    }

    #[test]
    fn close_names_are_suggested() {
        let robots = "user-agent: ExampleBot\n\
                      user-agent: Example2bot\n\
                      user-agent: MlBot\n\
                      user-agent: DotBot\n\
                      user-agent: MySiteBot";
        // Known to the registry, or to the robots.txt. A chain is known if it has a name in use.
        for agent in [
            "GPTBot",
            "gptbot/1.2",
            "MJ12bot",
            "Kangaroo Bot",
            "GPTBot/1.0 beta",
            "GTPBot:CCBot",
        ] {
            assert_eq!(found(agent, robots), None, "{agent}");
        }
        for agent in ["ExampleBot", "example2bot", "mlbot", "*"] {
            assert_eq!(found(agent, robots), None, "{agent}");
        }
        // Names of their own.
        for agent in [
            "MyBot",
            "DocBot",
            "CBot",
            "OurSiteBot",
            "FooBot",
            "BarBot",
            "bot",
            "My Bot",
            "GPTBot MyBot",
        ] {
            assert_eq!(found(agent, robots).as_deref(), Some(""), "{agent}");
        }
        for (agent, expected) in [
            // Misspelled.
            ("GTPBot/1.2", "GTPBot>GPTBot"),
            ("ClaudBot", "ClaudBot>ClaudeBot"),
            ("CCBott", "CCBott>CCBot"),
            ("Googlebot-Extended", "Googlebot-Extended>Google-Extended"),
            ("ExmapleBot", "ExmapleBot>examplebot"),
            ("GPT-Bot", "GPT-Bot>GPTBot"),
            ("My-SiteBot", "My-SiteBot>mysitebot"),
            ("Aplebot", "Aplebot>Applebot"),
            ("Perplexity-Bt", "Perplexity-Bt>PerplexityBot"),
            // A chain without a name in use.
            ("GTPBot:MyBot:CCBto", "GTPBot>GPTBot CCBto>CCBot"),
            // Missing commas.
            ("GPTBot CCBot", "GPTBot+CCBot"),
            ("GPTBot/1.0 CCBot/2.0", "GPTBot+CCBot"),
            ("GPTBot, CCBot", "GPTBot+CCBot"),
            ("GPTBot,CCBot", "GPTBot+CCBot"),
            ("GPTBot ExampleBot", "GPTBot+ExampleBot"),
        ] {
            assert_eq!(found(agent, robots).as_deref(), Some(expected), "{agent}");
        }
    }

    #[test]
    fn close_crawlers_are_found_without_a_snapshot() {
        for (name, token) in [
            ("GPTBt", Some("GPTBot")),
            ("Google-Extened", Some("Google-Extended")),
            ("MJ12bt", Some("MJ12bot")),
            ("baiduspider+", Some("Baiduspider")),
            ("Gogglebot", Some("Googlebot")),
            ("rogrebot", Some("rogerbot")),
            ("RoverBot", None),
            // A name of its own in a family.
            ("Googlebot-Images", Some("Googlebot-Image")),
            ("Googlebot-Imeag", None),
            ("FooBot", None),
            ("", None),
        ] {
            assert_eq!(
                close_crawler(name).map(|known| known.token.as_str()),
                token,
                "{name}"
            );
        }
    }

    #[test]
    fn operators_and_products_stand_for_their_crawlers() {
        let tokens = |name| {
            crawlers_of(name)
                .iter()
                .map(|known| known.token.as_str())
                .collect::<Vec<_>>()
        };
        let openai = tokens("openai");
        for token in ["GPTBot", "ChatGPT-User", "OAI-SearchBot"] {
            assert!(openai.contains(&token), "{openai:?}");
        }
        // Those that begin with the name come first.
        let chatgpt = tokens("ChatGPT");
        assert_eq!(chatgpt.len(), openai.len());
        assert!(chatgpt[0].starts_with("ChatGPT"), "{chatgpt:?}");
        assert_eq!(tokens("bing")[0], "bingbot");
        assert!(tokens("commoncrawl").contains(&"CCBot"));
        for name in [
            "x", "foobot", "", "-", "user", "bot", "Sogou", "kangaroo", "Mozilla", "unknown",
        ] {
            assert!(tokens(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn names_of_the_registry_and_names_in_use_are_never_doubted() {
        for known in CrawlerRegistry::shipped().crawlers() {
            assert_eq!(found(&known.token, ""), None, "{}", known.token);
        }
    }
}
