//! The options that name agents: by product token, by set, from a file; and notes and warnings
//! about the names.

use crate::figures::escape::escape;
use crate::help_text::{COMMON, POLICY};
use crate::option_guard::OptionGuard;
use crate::stderr::print_line;
use crate::value_enums::named;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::census::{SpellCheck, UnnamedAgent};
use robosieve::crawlers::{CrawlerList, CrawlerRegistry, KnownAgent};
use robosieve::{Agent, AgentMatch, RobotsRef, Snapshot};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Agents or sets (GPTBot,@ai-train)
    ///
    /// Commas separate them, and the option may be repeated. An agent is named by its product
    /// token. FIRST:SECOND is a fallback: the rules for SECOND apply where no group names FIRST. A
    /// last part !* ignores the groups for *.
    /// `robosieve agents` lists the sets @ai, @ai-train, @ai-search, @ai-user, @ai-agent,
    /// @data-provider and @search. @NAME=AGENT,AGENT defines a set up to the end of the value, and
    /// selects it: -a @openai=GPTBot,ChatGPT-User -a CCBot.
    #[arg(
        short,
        long = "agent",
        value_name = "AGENT",
        help_heading = COMMON
    )]
    pub agents: Vec<String>,
    /// File of more agents or sets, one per line
    ///
    /// A line @NAME=AGENT,AGENT defines a set and selects it; -a may name it too. Blank lines and
    /// comments (from `#` to the end of the line) are skipped.
    #[arg(long, value_name = "FILE", help_heading = COMMON)]
    pub agents_from: Option<PathBuf>,
    /// File of more known crawlers: TSV, or robots.json of ai.robots.txt
    ///
    /// Its crawlers join the built-in registry, and so the sets. For a crawler that the registry
    /// has, the file's facts replace the registry's. The option may be repeated. TSV has the
    /// columns that `robosieve agents --tsv` prints.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = POLICY)]
    pub crawlers: Vec<PathBuf>,
    /// Know only the crawlers of --crawlers, and none of the built-in registry
    #[arg(long, requires = "crawlers", hide_short_help = true, help_heading = POLICY)]
    pub only_crawlers: bool,
    /// The registry, once it is read.
    #[arg(skip)]
    registry: OnceLock<CrawlerRegistry>,
    /// How to match names outside RFC 9309's alphabet, such as MJ12bot
    ///
    /// `extended` compares the whole name. `google` never matches such a name, as Google's parser.
    #[arg(long, value_parser = named::<AgentMatch>(), default_value_t = AgentMatch::Extended, hide_short_help = true, help_heading = POLICY)]
    pub agent_match: AgentMatch,
    /// Fail, instead of warning, if an agent looks misspelled
    ///
    /// An agent looks misspelled if no robots.txt names it, but a similar name is known.
    #[arg(long, hide_short_help = true, help_heading = POLICY)]
    pub strict_agents: bool,
}

impl AgentArgs {
    /// Whether any are named.
    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.agents_from.is_none()
    }

    /// A guard that protects the file of agents.
    pub(crate) fn overwrite_guard(&self) -> OptionGuard {
        let guard = OptionGuard::default().add_inputs("--agents-from", &self.agents_from);
        guard.add_inputs("--crawlers", &self.crawlers)
    }

    /// The registry of crawlers: the built-in one and the files of `--crawlers`. They are read
    /// once, as a file may be a pipe.
    pub(crate) fn registry(&self) -> anyhow::Result<&CrawlerRegistry> {
        if let Some(registry) = self.registry.get() {
            return Ok(registry);
        }
        if self.crawlers.is_empty() {
            return Ok(CrawlerRegistry::shipped());
        }
        let mut registry = if self.only_crawlers {
            CrawlerRegistry::empty()
        } else {
            CrawlerRegistry::shipped().clone()
        };
        for path in &self.crawlers {
            registry.extend(CrawlerList::open(path)?);
        }
        Ok(self.registry.get_or_init(|| registry))
    }

    /// Resolves all names, and prints notes on stderr about names that few or no groups can match.
    pub(crate) fn resolve(&self, quiet: bool) -> anyhow::Result<Vec<Agent>> {
        Ok(self.resolve_with_sets(quiet)?.agents)
    }

    /// [`resolve`](Self::resolve), with the sets that are named.
    pub(crate) fn resolve_with_sets(&self, quiet: bool) -> anyhow::Result<SelectedAgents> {
        let file = match &self.agents_from {
            Some(path) => AgentLines::read(path)?,
            None => AgentLines::default(),
        };
        let words: Vec<AgentWord<'_>> = self.agents.iter().flat_map(|value| words(value)).collect();
        let lines = file.words();
        // A set may be named before its definition, as -a comes before the file. So all definitions
        // come first.
        let mut registry = Cow::Borrowed(self.registry()?);
        for word in &words {
            word.define(&mut registry)?;
        }
        for line in &lines {
            line.word
                .define(&mut registry)
                .with_context(|| file.at(line))?;
        }
        let mut list = AgentList::new(&registry);
        for word in &words {
            list.add(word.name())?;
        }
        for line in &lines {
            list.add(line.word.name()).with_context(|| file.at(line))?;
        }
        if !quiet {
            list.print_notes(self.agent_match);
        }
        Ok(list.finish())
    }

    /// A spell checker with the names of the registry.
    pub(crate) fn spell_check(&self, agents: &[Agent]) -> anyhow::Result<SpellCheck> {
        Ok(SpellCheck::with_registry(agents, self.registry()?))
    }

    /// Checks the spelling of the agents against the names in snapshots, each given with its path.
    pub(crate) fn check_spelling_in<'s>(
        &self,
        agents: &[Agent],
        snapshots: impl IntoIterator<Item = (&'s Snapshot, &'s Path)>,
    ) -> anyhow::Result<()> {
        let mut check = self.spell_check(agents)?;
        for (snapshot, path) in snapshots {
            check.add_snapshot(snapshot).map_err(|err| err.at(path))?;
        }
        self.check_spelling(check)
    }

    /// Checks the spelling of the agents against the names in one robots.txt.
    pub(crate) fn check_spelling_by(
        &self,
        agents: &[Agent],
        robots: &RobotsRef<'_>,
    ) -> anyhow::Result<()> {
        let mut check = self.spell_check(agents)?;
        check.add_robots(robots);
        self.check_spelling(check)
    }

    /// Warns of agents that no robots.txt names and that resemble a known name; with
    /// `--strict-agents` this is an error. A name that resembles none gives no warning: it may be a
    /// new crawler. A value that cannot be one agent is always an error.
    ///
    /// `--quiet` does not suppress the warnings: verdicts for a misspelled agent are wrong.
    pub(crate) fn check_spelling(&self, check: SpellCheck) -> anyhow::Result<()> {
        self.check_spelling_with(check, "no robots.txt here names")
    }

    /// [`check_spelling`](Self::check_spelling) with another beginning of the warning.
    pub(crate) fn check_spelling_with(
        &self,
        check: SpellCheck,
        beginning: &str,
    ) -> anyhow::Result<()> {
        let mut doubts = Vec::new();
        for agent in check.finish() {
            refuse_joined(&agent)?;
            refuse_file_name(&agent)?;
            doubts.extend(agent.misspelled.into_iter().map(|name| {
                format!(
                    "{beginning} {}; did you mean {}?",
                    name.name, name.suggestion
                )
            }));
        }
        if self.strict_agents && !doubts.is_empty() {
            bail!("{} (--strict-agents)", doubts.join("; "));
        }
        for doubt in doubts {
            print_line(format_args!("robosieve: warning: {}", escape(&doubt)));
        }
        Ok(())
    }

    /// Whether each of these names, between commas, is a known crawler or a set.
    pub(crate) fn knows_all(&self, names: &str) -> anyhow::Result<bool> {
        let registry = self.registry()?;
        Ok(names
            .split(',')
            .all(|name| name.starts_with('@') || registry.find(name).is_some()))
    }

    /// Refuses a missing input that is the name of an agent: `-a GPTBot CCBot urls.txt`.
    pub(crate) fn refuse_agent_as_input(&self, input: &Path) -> anyhow::Result<()> {
        match input.to_str() {
            Some(name) if looks_like_agent(name, self.registry()?) && !input.exists() => {
                self.refuse_stray_agent(name, "no such file")
            }
            _ => Ok(()),
        }
    }

    /// Refuses a URL that is the name of an agent: `-a GPTBot CCBot https://example.com/`.
    pub(crate) fn refuse_agent_as_url(&self, url: &str) -> anyhow::Result<()> {
        if looks_like_agent(url, self.registry()?) {
            self.refuse_stray_agent(url, "not a URL")
        } else {
            Ok(())
        }
    }

    fn refuse_stray_agent(&self, name: &str, problem: &str) -> anyhow::Result<()> {
        let last = self
            .agents
            .last()
            .and_then(|value| value.rsplit(',').next());
        match last {
            Some(last) => {
                bail!(
                    "{name}: {problem}; if it is an agent, separate agents by commas: \
                     -a {last},{name}"
                )
            }
            None => Ok(()),
        }
    }
}

/// Whether an argument where a file or a URL belongs is the name of an agent.
fn looks_like_agent(word: &str, registry: &CrawlerRegistry) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_plain = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '));
    let is_usual = ["bot", "spider", "crawler"]
        .iter()
        .any(|suffix| lower.ends_with(suffix));
    registry.find(word).is_some() || (is_plain && is_usual)
}

/// Refuses several agents without commas between them.
fn refuse_joined(agent: &UnnamedAgent) -> anyhow::Result<()> {
    if agent.joined.is_empty() {
        return Ok(());
    }
    bail!(
        "agent {:?}: not a known agent, but each of its words is; separate agents by commas: -a {} \
         (in a file: one per line)",
        agent.label,
        agent.joined.join(",")
    )
}

/// Refuses a file name where an agent belongs.
fn refuse_file_name(agent: &UnnamedAgent) -> anyhow::Result<()> {
    match is_file_name(&agent.label) {
        false => Ok(()),
        true => bail!(
            "agent {:?}: this is the name of a file, and -a takes product tokens such as GPTBot; \
             --agents-from FILE reads agents from a file, and `check --robots FILE` judges by one \
             robots.txt",
            agent.label
        ),
    }
}

/// Whether a name has the extension of a file that is used with this program.
pub(crate) fn is_file_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    FILE_EXTENSIONS
        .iter()
        .any(|extension| name.ends_with(extension))
}

/// Extensions of files that are used with this program.
const FILE_EXTENSIONS: &[&str] = &[
    ".txt",
    ".tsv",
    ".csv",
    ".json",
    ".jsonl",
    ".ndjson",
    ".gz",
    ".zst",
    ".warc",
    ".parquet",
    ".rsieve",
    ".captures",
];

/// The agents of a run, and the sets among them.
#[derive(Default)]
pub(crate) struct SelectedAgents {
    pub agents: Vec<Agent>,
    /// Each set once, in the order of their first use.
    pub sets: Vec<SelectedSet>,
}

/// A set that the user has named.
pub(crate) struct SelectedSet {
    /// With its `@`, as it was spelled first.
    pub name: String,
    /// The positions of its members in the list of agents.
    pub members: Vec<usize>,
}

/// A part of `-a`, or a line of `--agents-from`.
#[derive(Debug, PartialEq, Eq)]
enum AgentWord<'t> {
    /// An agent or a set.
    Name(&'t str),
    /// `@NAME=MEMBER,MEMBER`
    Definition {
        name: &'t str,
        members: Vec<&'t str>,
    },
}

impl<'t> AgentWord<'t> {
    fn of(part: &'t str) -> Self {
        match part.split_once('=') {
            Some((name, first)) if part.trim_start().starts_with('@') => Self::Definition {
                name: name.trim(),
                members: vec![first],
            },
            _ => Self::Name(part),
        }
    }

    /// The agent or the set that this selects.
    fn name(&self) -> &'t str {
        match self {
            Self::Name(name) | Self::Definition { name, .. } => name,
        }
    }

    /// Defines the set. The built-in registry is copied at the first definition.
    fn define(&self, registry: &mut Cow<'_, CrawlerRegistry>) -> anyhow::Result<()> {
        let Self::Definition { name, members } = self else {
            return Ok(());
        };
        // `@openai=` is a definition without members, not one with an empty name.
        let members = match members.as_slice() {
            [only] if only.trim().is_empty() => &[],
            members => members,
        };
        Ok(registry
            .to_mut()
            .define_set(name, members.iter().copied())?)
    }
}

/// The parts of a value of `-a`. Commas separate them, and a definition takes all parts up to the
/// next definition.
fn words(value: &str) -> Vec<AgentWord<'_>> {
    let mut words: Vec<AgentWord<'_>> = Vec::new();
    for part in value.split(',') {
        match (words.last_mut(), AgentWord::of(part)) {
            (Some(AgentWord::Definition { members, .. }), AgentWord::Name(member)) => {
                members.push(member);
            }
            (_, word) => words.push(word),
        }
    }
    words
}

/// The lines of `--agents-from`.
#[derive(Default)]
struct AgentLines {
    path: PathBuf,
    text: String,
}

/// A line of `--agents-from` with its number.
struct AgentLine<'t> {
    number: usize,
    word: AgentWord<'t>,
}

impl AgentLines {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let lines = Self {
            path: path.to_owned(),
            text,
        };
        if lines.words().is_empty() {
            bail!("{}: lists no agents; write one per line", path.display());
        }
        Ok(lines)
    }

    fn words(&self) -> Vec<AgentLine<'_>> {
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(self.text.lines()) {
            let name = line.split('#').next().unwrap_or_default().trim();
            // Several agents on one line are a mistake, except as members of a set.
            let words = match AgentWord::of(name) {
                AgentWord::Definition { .. } => words(name),
                word => vec![word],
            };
            if !name.is_empty() {
                lines.extend(words.into_iter().map(|word| AgentLine { number, word }));
            }
        }
        lines
    }

    /// The place of a line, for errors.
    fn at(&self, line: &AgentLine<'_>) -> String {
        format!("{}: line {}", self.path.display(), line.number)
    }
}

/// A set of the list, and its members.
struct ListedSet {
    name: String,
    members: Vec<Agent>,
}

/// Collects agents from `-a` and `--agents-from`.
struct AgentList<'r> {
    registry: &'r CrawlerRegistry,
    agents: Vec<Agent>,
    sets: Vec<ListedSet>,
    /// Agents named by themselves, not by a set.
    single: Vec<Agent>,
    /// Names of agents that an earlier set already contains.
    duplicates: Vec<String>,
}

impl<'r> AgentList<'r> {
    fn new(registry: &'r CrawlerRegistry) -> Self {
        Self {
            registry,
            agents: Vec::new(),
            sets: Vec::new(),
            single: Vec::new(),
            duplicates: Vec::new(),
        }
    }

    fn add(&mut self, name: &str) -> robosieve::Result<()> {
        if name.trim_start().starts_with('@') {
            self.registry.add_agents(name, &mut self.agents)?;
            return self.add_set(name.trim());
        }
        let agent: Agent = name.parse()?;
        // An agent that a set has already gets a note. One that is named twice stays twice.
        if contains(&self.agents, &agent) && !contains(&self.single, &agent) {
            self.duplicates.push(name.trim().to_owned());
        } else {
            self.agents.push(agent.clone());
        }
        self.single.push(agent);
        Ok(())
    }

    fn add_set(&mut self, name: &str) -> robosieve::Result<()> {
        if !self
            .sets
            .iter()
            .any(|set| set.name.eq_ignore_ascii_case(name))
        {
            let mut members = Vec::new();
            self.registry.add_agents(name, &mut members)?;
            self.sets.push(ListedSet {
                name: name.to_owned(),
                members,
            });
        }
        Ok(())
    }

    /// The list, with the members of each set as positions in it.
    fn finish(self) -> SelectedAgents {
        let position = |member: &Agent| self.agents.iter().position(|agent| agent.is_same(member));
        let sets = self.sets.iter().map(|set| SelectedSet {
            name: set.name.clone(),
            members: set.members.iter().filter_map(position).collect(),
        });
        SelectedAgents {
            sets: sets.collect(),
            agents: self.agents,
        }
    }

    /// Names the chains of crawlers whose operators say that they obey other groups too: a plain
    /// name obeys its own groups, or those for `*`.
    fn print_chain_note(&self) {
        let mut chains: Vec<String> = Vec::new();
        for agent in &self.agents {
            let known = agent
                .names()
                .next()
                .filter(|_| agent.names().count() == 1 && !agent.ignores_star())
                .and_then(|name| self.registry.find(name));
            if let Some(Ok(documented)) = known.map(KnownAgent::agent)
                && !documented.is_same(agent)
            {
                let chain = quoted_chain(documented.label());
                if !chains.iter().any(|other| *other == chain) {
                    chains.push(chain.into_owned());
                }
            }
        }
        if !chains.is_empty() {
            print_line(format_args!(
                "robosieve: note: a name alone obeys its own groups and those for *; as its operator \
                 documents it: -a {}",
                escape(&chains.join(","))
            ));
        }
    }

    fn print_notes(&self, agent_match: AgentMatch) {
        self.print_chain_note();
        if !self.duplicates.is_empty() {
            print_line(format_args!(
                "robosieve: note: a set contains them already: {}",
                escape(&self.duplicates.join(", "))
            ));
        }
        // The extended matching finds every agent of a set, so a note would be noise.
        let checked = if agent_match == AgentMatch::Google {
            &self.agents
        } else {
            &self.single
        };
        let outside = checked.iter().filter(|agent| agent.is_outside_alphabet());
        let (unmatched, partly): (Vec<&Agent>, Vec<&Agent>) =
            outside.partition(|agent| agent.is_unaddressable(agent_match));
        print_alphabet_note(
            &unmatched,
            "no group can name it, so only the global groups apply",
        );
        print_alphabet_note(
            &partly,
            if agent_match == AgentMatch::Google {
                "no group can name it by that, only by its other names"
            } else {
                "it is compared with the whole name in user-agent lines (--agent-match google \
                 turns that off)"
            },
        );
    }
}

/// The spelling of a chain on the command line of a shell.
fn quoted_chain(chain: &str) -> Cow<'_, str> {
    if chain.contains(['!', '*', ' ']) {
        Cow::Owned(format!("'{chain}'"))
    } else {
        Cow::Borrowed(chain)
    }
}

fn contains(agents: &[Agent], agent: &Agent) -> bool {
    agents.iter().any(|other| other.is_same(agent))
}

fn print_alphabet_note(agents: &[&Agent], consequence: &str) {
    if let [first, others @ ..] = agents {
        let (plural, verb) = if others.is_empty() {
            ("", "has")
        } else {
            ("s", "each have")
        };
        let names = others.iter().fold(first.to_string(), |names, agent| {
            format!("{names}, {agent}")
        });
        let names = escape(&names);
        print_line(format_args!(
            "robosieve: note: agent{plural} {names} {verb} characters outside RFC 9309's alphabet \
             (A-Z a-z _ -); {consequence}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_takes_the_rest_of_the_value() {
        let name = AgentWord::Name;
        let set = |name, members: &[&'static str]| AgentWord::Definition {
            name,
            members: members.to_vec(),
        };
        for (value, expected) in [
            ("GPTBot,@ai", vec![name("GPTBot"), name("@ai")]),
            ("@a=b,c", vec![set("@a", &["b", "c"])]),
            (
                "x,@a=b,@c=d,@ai,e",
                vec![name("x"), set("@a", &["b"]), set("@c", &["d", "@ai", "e"])],
            ),
            ("a=b,c", vec![name("a=b"), name("c")]),
            ("", vec![name("")]),
        ] {
            assert_eq!(words(value), expected, "{value}");
        }
    }
}
