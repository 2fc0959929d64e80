//! One URL to verdicts for all agents: split, locate the origin, apply the policy, match.

use super::standing::{OriginState, Standing, States};
use super::verdicts::{Answer, Verdicts};
use crate::agent::{Agent, AgentMatch};
use crate::error::{Error, Result};
use crate::matcher::rules::Subject;
use crate::matcher::{Explanation, Ruling, StatusPolicy, Verdict, explain, ruling};
use crate::profile::Profile;
use crate::robots::Robots;
use crate::snapshot::format::hash_key;
use crate::snapshot::{OriginEntry, Snapshot};
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
    pub(super) snapshot: &'s Snapshot<D>,
    profile: Profile,
    pub(super) policy: StatusPolicy,
    pub(super) options: JudgeOptions,
    agents: Vec<Agent>,
    /// For each agent the tokens of its chain that any robots.txt names.
    pub(super) chains: Vec<Vec<u32>>,
}

/// One thread's memory: buffers, and what holds for the origins it judged lately.
#[derive(Debug)]
pub struct Scratch {
    key: Vec<u8>,
    pub(super) other_key: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) line_ends: Vec<usize>,
    pub(super) states: States,
    pub(super) allowed: Vec<u64>,
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
            line_ends: Vec::new(),
            states: States::default(),
            allowed: vec![0; self.words()],
        }
    }

    pub(super) fn words(&self) -> usize {
        self.agents.len().div_ceil(64)
    }

    /// The verdicts on a URL, which may be any bytes: what is not a URL is [`Verdict::Invalid`]. No allocation for a
    /// plain URL; nothing but the path is looked at if the origin was judged lately.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    #[inline]
    pub fn judge<'a>(&self, url: &[u8], scratch: &'a mut Scratch) -> Result<Verdicts<'a>> {
        let agents = self.agents.len();
        let Some(parts) = url::split(url, &mut scratch.key) else {
            return Ok(Verdicts { answer: Answer::Same(Verdict::Invalid), agents, via_other_scheme: false });
        };
        self.enter(parts.origin, hash_key(parts.origin), &mut scratch.states, &mut scratch.other_key)?;
        self.judge_path((parts.path, parts.slash), scratch.states.current(), &mut scratch.path, &mut scratch.allowed)
    }

    /// The verdicts on a URL of the origin entered last, given what follows the origin in it.
    #[inline]
    pub(super) fn judge_rest<'a>(&self, rest: &[u8], scratch: &'a mut Scratch) -> Result<Verdicts<'a>> {
        let state = scratch.states.current();
        let path = if state.standing == Standing::Unknown { (rest, false) } else { url::path_from(rest) };
        self.judge_path(path, state, &mut scratch.path, &mut scratch.allowed)
    }

    /// The verdicts on a path, which may lack its `/`, of an origin.
    #[inline]
    pub(super) fn judge_path<'a>(
        &self,
        path: (&[u8], bool),
        origin: &OriginState,
        buffer: &mut Vec<u8>,
        allowed: &'a mut [u64],
    ) -> Result<Verdicts<'a>> {
        let answer = match origin.standing {
            Standing::Unknown => Answer::Same(self.unknown_verdict()),
            Standing::All(true) => Answer::Same(Verdict::Allowed),
            standing => {
                let normal = normal_path(path, buffer, self.profile);
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
        Ok(Verdicts { answer, agents: self.agents.len(), via_other_scheme: origin.via_other_scheme })
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
        allowed.iter_mut().zip(&origin.free).for_each(|(word, free)| *word = *free);
        for (place, bits) in origin.groups.iter().zip(origin.bits.chunks_exact(allowed.len().max(1))) {
            if self.snapshot.allows(*place, &subject)? {
                allowed.iter_mut().zip(bits).for_each(|(word, bits)| *word |= bits);
            }
        }
        Ok(())
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
        let Some((entry, other)) = self.locate(parts.origin, hash_key(parts.origin), &mut other_key)? else {
            return Ok(out);
        };
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

/// The path in normal form; `buffer` holds it where a `/` had to be put before it.
fn normal_path<'a>((path, slash): (&'a [u8], bool), buffer: &'a mut Vec<u8>, profile: Profile) -> Cow<'a, [u8]> {
    if !slash {
        return normalize_path(path, profile);
    }
    buffer.clear();
    buffer.push(b'/');
    buffer.extend_from_slice(path);
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
