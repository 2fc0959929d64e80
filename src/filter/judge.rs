//! One URL to verdicts for all agents: split, locate the origin, apply the policy, match.

use crate::agent::{Agent, AgentMatch};
use crate::error::{Error, Result};
use crate::matcher::rules::Subject;
use crate::matcher::{Explanation, Ruling, StatusPolicy, Verdict, explain, ruling};
use crate::profile::Profile;
use crate::robots::Robots;
use crate::snapshot::format::{Entry, NONE};
use crate::snapshot::{OriginEntry, OutcomeClass, Snapshot};
use crate::url::escape::normalize_path;
use crate::url::{self, Origin};
use std::borrow::Cow;

/// How verdicts are reached, beyond what the snapshot says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgeOptions {
    /// What answers other than 2xx mean; `None`: the policy named like the snapshot's profile.
    pub status_policy: Option<StatusPolicy>,
    /// What holds for origins that the snapshot does not know; `None`: [`Verdict::Unknown`] is its own verdict (with
    /// [`StatusPolicy::Strict`]: disallowed).
    pub unknown: Option<UnknownOrigin>,
    /// Whether an origin without an entry uses that of the same host under the other of http and https.
    pub any_scheme: bool,
    /// How agents are compared with user-agent lines.
    pub agent_match: AgentMatch,
}

/// What holds for the URLs of an origin that the snapshot does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownOrigin {
    /// All agents may fetch them.
    Allow,
    /// None may.
    Disallow,
}

/// Judges URLs by a snapshot, for any number of agents at once.
///
/// A judge is shared between threads; each thread brings its own [`Scratch`].
///
/// ```
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: a\ndisallow: /x\nuser-agent: *\nallow: /")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
/// let mut scratch = judge.scratch();
/// let verdicts = judge.judge(b"https://e.example/x/1", &mut scratch)?;
/// assert_eq!([verdicts.get(0), verdicts.get(1)], [Verdict::Disallowed, Verdict::Allowed]);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct Judge<'s, D> {
    snapshot: &'s Snapshot<D>,
    profile: Profile,
    policy: StatusPolicy,
    options: JudgeOptions,
    agents: Vec<Agent>,
    /// For each agent the tokens of its chain that any robots.txt names.
    chains: Vec<Vec<u32>>,
}

/// One thread's memory: buffers, and what holds for the origin it judged last.
#[derive(Debug)]
pub struct Scratch {
    key: Vec<u8>,
    other_key: Vec<u8>,
    path: Vec<u8>,
    origin: OriginState,
    allowed: Vec<u64>,
}

/// What holds for all URLs of the origin `key`.
#[derive(Debug, Default)]
struct OriginState {
    /// The canonical key; empty before the first.
    key: Vec<u8>,
    standing: Standing,
    via_other_scheme: bool,
    /// The rules of the robots.txt that count: a place, and the bits of the agents that obey them in `bits`.
    groups: Vec<u32>,
    /// One run of words for each group.
    bits: Vec<u64>,
    /// The agents for whom the robots.txt has no group: they may fetch everything.
    free: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    Unknown,
    All(bool),
    ByRules,
}

/// The verdicts on one URL, for the judge's agents in their order.
#[derive(Clone, Copy, Debug)]
pub struct Verdicts<'a> {
    answer: Answer<'a>,
    agents: usize,
    via_other_scheme: bool,
}

#[derive(Clone, Copy, Debug)]
enum Answer<'a> {
    Same(Verdict),
    Bits(&'a [u64]),
}

impl Verdicts<'_> {
    /// The verdict for the agent of this number; [`Verdict::Invalid`] for a number beyond the last.
    pub fn get(&self, agent: usize) -> Verdict {
        match self.answer {
            _ if agent >= self.agents => Verdict::Invalid,
            Answer::Same(verdict) => verdict,
            Answer::Bits(words) if words[agent / 64] >> (agent % 64) & 1 == 1 => Verdict::Allowed,
            Answer::Bits(_) => Verdict::Disallowed,
        }
    }

    /// The verdicts in the order of the agents.
    pub fn iter(&self) -> impl Iterator<Item = Verdict> + '_ {
        (0..self.agents).map(|agent| self.get(agent))
    }

    /// `Unknown` or `Invalid`, which hold for all agents alike; else `None`.
    pub fn unjudged(&self) -> Option<Verdict> {
        match self.answer {
            Answer::Same(verdict @ (Verdict::Unknown | Verdict::Invalid)) => Some(verdict),
            _ => None,
        }
    }

    /// How many agents may fetch it.
    #[inline]
    pub fn allowed_count(&self) -> usize {
        match self.answer {
            Answer::Same(Verdict::Allowed) => self.agents,
            Answer::Same(_) => 0,
            Answer::Bits(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Whether the other scheme's entry was used ([`JudgeOptions::any_scheme`]).
    pub fn via_other_scheme(&self) -> bool {
        self.via_other_scheme
    }
}

impl<'s, D: AsRef<[u8]>> Judge<'s, D> {
    /// Looks the agents up in the snapshot.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub fn new(snapshot: &'s Snapshot<D>, agents: &[Agent], options: JudgeOptions) -> Result<Self> {
        let profile = snapshot.profile()?;
        let policy = options.status_policy.unwrap_or(match profile {
            Profile::Google => StatusPolicy::Google,
            Profile::Rfc9309 => StatusPolicy::Rfc9309,
        });
        let chains =
            agents.iter().map(|agent| snapshot.agent_tokens(agent, options.agent_match)).collect::<Result<_>>()?;
        Ok(Self { snapshot, profile, policy, options, agents: agents.to_vec(), chains })
    }

    /// The agents, in the order of the verdicts.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Memory for one thread.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            key: Vec::new(),
            other_key: Vec::new(),
            path: Vec::new(),
            origin: OriginState::default(),
            allowed: vec![0; self.words()],
        }
    }

    fn words(&self) -> usize {
        self.agents.len().div_ceil(64)
    }

    /// The verdicts on a URL, which may be any bytes: what is not a URL is [`Verdict::Invalid`]. No allocation for a
    /// plain URL; nothing but the path is looked at if the origin is that of the URL before.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    #[inline]
    pub fn judge<'a>(&self, url: &[u8], scratch: &'a mut Scratch) -> Result<Verdicts<'a>> {
        let Scratch { key, other_key, path, origin, allowed } = scratch;
        let agents = self.agents.len();
        let Some(parts) = url::split(url, key) else {
            return Ok(Verdicts { answer: Answer::Same(Verdict::Invalid), agents, via_other_scheme: false });
        };
        if parts.origin != origin.key.as_slice() {
            self.enter(parts.origin, origin, other_key)?;
        }
        let answer = match origin.standing {
            Standing::Unknown => Answer::Same(self.unknown_verdict()),
            Standing::All(true) => Answer::Same(Verdict::Allowed),
            standing => {
                let normal = normal_path(&parts, path, self.profile);
                if self.profile == Profile::Rfc9309 && &*normal == b"/robots.txt" {
                    Answer::Same(Verdict::Allowed)
                } else if standing == Standing::ByRules {
                    self.match_rules(&normal, origin, allowed)?;
                    Answer::Bits(allowed)
                } else {
                    Answer::Same(Verdict::Disallowed)
                }
            }
        };
        Ok(Verdicts { answer, agents, via_other_scheme: origin.via_other_scheme })
    }

    fn unknown_verdict(&self) -> Verdict {
        match self.options.unknown {
            Some(UnknownOrigin::Allow) => Verdict::Allowed,
            Some(UnknownOrigin::Disallow) => Verdict::Disallowed,
            None if self.policy == StatusPolicy::Strict => Verdict::Disallowed,
            None => Verdict::Unknown,
        }
    }

    #[inline]
    fn match_rules(&self, path: &[u8], origin: &OriginState, allowed: &mut [u64]) -> Result<()> {
        let subject = Subject::new(path);
        allowed.copy_from_slice(&origin.free);
        for (place, bits) in origin.groups.iter().zip(origin.bits.chunks_exact(allowed.len().max(1))) {
            if self.snapshot.allows(*place, &subject)? {
                allowed.iter_mut().zip(bits).for_each(|(word, bits)| *word |= bits);
            }
        }
        Ok(())
    }

    /// Finds an origin's entry, under the other scheme too if that is asked for.
    fn locate(&self, key: &[u8], other_key: &mut Vec<u8>) -> Result<Option<(Entry<'s>, bool)>> {
        if let Some(entry) = self.snapshot.find(key)? {
            return Ok(Some((entry, false)));
        }
        if self.options.any_scheme && Origin::other_scheme(key, other_key) {
            return Ok(self.snapshot.find(other_key)?.map(|entry| (entry, true)));
        }
        Ok(None)
    }

    fn enter(&self, key: &[u8], origin: &mut OriginState, other_key: &mut Vec<u8>) -> Result<()> {
        // Until the end the state belongs to no origin, so that an error leaves no wrong one behind.
        origin.key.clear();
        origin.via_other_scheme = false;
        origin.standing = match self.locate(key, other_key)? {
            None => Standing::Unknown,
            Some((entry, other)) => {
                origin.via_other_scheme = other;
                self.stand(&entry, origin)?
            }
        };
        origin.key.extend_from_slice(key);
        Ok(())
    }

    fn stand(&self, entry: &Entry<'_>, origin: &mut OriginState) -> Result<Standing> {
        if entry.class == OutcomeClass::Rules {
            return self.choose_rules(entry.file, origin);
        }
        let facts = self.snapshot.facts(entry.row)?;
        match ruling(self.policy, &facts.outcome, facts.last_good != NONE) {
            Ruling::Allow => Ok(Standing::All(true)),
            Ruling::Disallow => Ok(Standing::All(false)),
            Ruling::LastGood => self.choose_rules(facts.last_good, origin),
            Ruling::Rules => self.choose_rules(entry.file, origin),
        }
    }

    /// Sorts the agents by the rules they obey: usually a few rule sets, however many agents.
    fn choose_rules(&self, file: u32, origin: &mut OriginState) -> Result<Standing> {
        let words = self.words();
        origin.groups.clear();
        origin.bits.clear();
        origin.free.clear();
        origin.free.resize(words, 0);
        let file = self.snapshot.file(file)?;
        let named = self.snapshot.named(&file)?;
        for (agent, chain) in self.chains.iter().enumerate() {
            let own = if named.is_empty() { None } else { first_named::<D>(named, chain) };
            let place = own.unwrap_or(file.global);
            let bits = if place == NONE {
                &mut origin.free[..]
            } else {
                let group = origin.groups.iter().position(|&group| group == place).unwrap_or_else(|| {
                    origin.groups.push(place);
                    origin.bits.resize(origin.bits.len() + words, 0);
                    origin.groups.len() - 1
                });
                &mut origin.bits[group * words..]
            };
            bits[agent / 64] |= 1 << (agent % 64);
        }
        Ok(Standing::ByRules)
    }

    /// Why the agent of this number may fetch the URL or not.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other, also if the stored text
    /// of the robots.txt explains another verdict than its rule sets give.
    pub fn explain(&self, url: &[u8], agent: usize) -> Result<OriginExplanation<'s>> {
        let verdict = self.judge(url, &mut self.scratch())?.get(agent);
        let mut out = OriginExplanation {
            verdict,
            origin: None,
            entry: None,
            via_other_scheme: false,
            by_last_good: false,
            rules: None,
        };
        let (mut key, mut other_key) = (Vec::new(), Vec::new());
        let Some(parts) = url::split(url, &mut key) else { return Ok(out) };
        out.origin = Origin::of(url);
        let Some((entry, other)) = self.locate(parts.origin, &mut other_key)? else { return Ok(out) };
        let entry = self.snapshot.origin_at(entry.row)?;
        out.via_other_scheme = other;
        let ruling = ruling(self.policy, entry.outcome(), entry.has_last_good());
        out.by_last_good = ruling == Ruling::LastGood;
        let file = entry.file();
        out.entry = Some(entry);
        if let (Ruling::Rules | Ruling::LastGood, Some(file), Some(agent)) = (ruling, file, self.agents.get(agent)) {
            let text = self.snapshot.text(file)?;
            let why = explain(&Robots::parse(&text, self.profile), agent, self.options.agent_match, &path_url(&parts));
            if why.verdict != verdict {
                return Err(Error::corrupt(format!(
                    "the stored robots.txt of {} explains another verdict than its rules",
                    String::from_utf8_lossy(parts.origin)
                )));
            }
            out.rules = Some(why);
        }
        Ok(out)
    }
}

/// The rules for the first token of a chain that the robots.txt names.
fn first_named<D: AsRef<[u8]>>(named: &[[u8; 8]], chain: &[u32]) -> Option<u32> {
    chain.iter().find_map(|token| {
        let found = named.binary_search_by_key(token, |row| Snapshot::<D>::named_row(row).token).ok()?;
        Some(Snapshot::<D>::named_row(&named[found]).rule_set)
    })
}

/// The path in normal form; `buffer` holds it where a `/` had to be put before it.
fn normal_path<'a>(parts: &url::Parts<'a>, buffer: &'a mut Vec<u8>, profile: Profile) -> Cow<'a, [u8]> {
    if !parts.slash {
        return normalize_path(parts.path, profile);
    }
    buffer.clear();
    buffer.push(b'/');
    buffer.extend_from_slice(parts.path);
    normalize_path(buffer, profile)
}

/// The path as a URL path that `explain` takes as it is.
fn path_url(parts: &url::Parts<'_>) -> Vec<u8> {
    let slash: &[u8] = if parts.slash { b"/" } else { b"" };
    // A path that begins with `//` or holds a `://` must not be taken for a URL, so a host goes before it.
    [b"http://h", slash, parts.path].concat()
}

/// Why an agent may fetch a URL or not, and where that comes from.
#[derive(Clone, Debug)]
pub struct OriginExplanation<'s> {
    /// The verdict, policy applied.
    pub verdict: Verdict,
    /// The URL's origin; `None` if the text is not a URL.
    pub origin: Option<Origin>,
    /// The entry that decides; `None` if the snapshot does not know the origin.
    pub entry: Option<OriginEntry<'s>>,
    /// The entry is that of the other scheme.
    pub via_other_scheme: bool,
    /// The rules are those of the last good copy.
    pub by_last_good: bool,
    /// The rules' part, where rules decide.
    pub rules: Option<Explanation>,
}
