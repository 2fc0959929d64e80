//! One URL to verdicts for all agents: split, locate the origin, apply the policy, match.

use super::standing::{OriginState, Standing, States};
use super::verdicts::{Answer, Verdicts};
use crate::agent::{Agent, AgentMatch};
use crate::error::{Error, Result};
use crate::matcher::hot::HotSets;
use crate::matcher::rules::Seen;
use crate::matcher::subject::Subject;
use crate::matcher::{Explanation, Ruling, StatusPolicy, Verdict, explain, ruling};
use crate::preferences::{PreferenceExplanation, explain_preferences};
use crate::profile::Profile;
use crate::records::Extracted;
use crate::robots::Robots;
use crate::simd::{self, AnyMachine, Machine};
use crate::snapshot::format::hash_key;
use crate::snapshot::index::Glance;
use crate::snapshot::view::View;
use crate::snapshot::{OriginEntry, Snapshot};
use crate::url::escape::normalize_path;
use crate::url::{self, Origin};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// The time, in seconds since 1970, at which a failing site is judged: whether 30 days have passed since its first failure. `None`:
    /// the time of its newest capture, so that the verdict depends on the snapshot alone. Nothing else depends on it.
    pub at: Option<i64>,
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
/// A judge is shared between threads; each thread brings its own [`Scratch`]. (One of another judge is emptied first.)
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
    pub(super) view: View<'s>,
    pub(super) profile: Profile,
    pub(super) policy: StatusPolicy,
    pub(super) options: JudgeOptions,
    agents: Vec<Agent>,
    /// The machine it runs on.
    pub(super) machine: AnyMachine,
    /// Tells this judge from all others of the process.
    pub(super) id: u64,
    /// For each agent the tokens of its chain that any robots.txt names.
    pub(super) chains: Vec<Vec<u32>>,
}

/// How many judges were made.
static JUDGES: AtomicU64 = AtomicU64::new(0);

/// One thread's memory: buffers, and what holds for the origins it judged lately.
#[derive(Debug)]
pub struct Scratch<'s> {
    /// The judge whose origins and rules these are.
    judge: u64,
    key: Vec<u8>,
    pub(super) other_key: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) extracted: Extracted,
    pub(super) states: States<'s>,
    pub(super) hot: HotSets,
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
        let id = JUDGES.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            snapshot,
            view: snapshot.view(),
            profile,
            policy,
            options,
            agents: agents.to_vec(),
            machine: AnyMachine::detect(),
            id,
            chains,
        })
    }

    /// The agents, in the order of the verdicts.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Memory for one thread.
    pub fn scratch(&self) -> Scratch<'s> {
        Scratch {
            judge: self.id,
            key: Vec::new(),
            other_key: Vec::new(),
            path: Vec::new(),
            extracted: Extracted::default(),
            states: States::new(self.unknown()),
            hot: HotSets::default(),
            allowed: vec![0; self.words()],
        }
    }

    /// Makes sure that a thread's memory is of this judge.
    #[inline]
    pub(super) fn own(&self, scratch: &mut Scratch<'s>) {
        if scratch.judge != self.id {
            *scratch = self.scratch();
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
    pub fn judge<'a>(&self, url: &[u8], scratch: &'a mut Scratch<'s>) -> Result<Verdicts<'a>> {
        self.own(scratch);
        self.machine.run(OneUrl { judge: self, url, scratch })
    }

    /// The verdicts on a path in normal form, of the origin entered last, whose verdicts depend on the path.
    #[inline(always)]
    pub(super) fn judge_path<'a>(
        &self,
        path: &[u8],
        scratch: &'a mut Scratch<'s>,
        machine: impl Machine,
    ) -> Result<Verdicts<'a>> {
        self.judge_normal(path, scratch.states.current(), (&mut scratch.hot, &mut scratch.allowed), machine)
    }

    /// What follows the origin in a URL, in normal form: nothing, a path, or one that lacks its `/`, up to a `#`. `buffer` holds it where the
    /// `/` had to be put before it.
    #[inline(always)]
    pub(super) fn normal_path<'p>(
        &self,
        (path, slash): (&'p [u8], bool),
        buffer: &'p mut Vec<u8>,
        machine: impl Machine,
    ) -> Cow<'p, [u8]> {
        if slash {
            self.with_slash(path, buffer)
        } else if machine.is_plain(path) {
            Cow::Borrowed(or_root(path))
        } else {
            self.normal_odd_path(path)
        }
    }

    /// As [`normal_path`](Self::normal_path), of a path that begins with `/` and may not be plain.
    #[inline(never)]
    pub(super) fn normal_odd_path<'p>(&self, path: &'p [u8]) -> Cow<'p, [u8]> {
        normalize_path(or_root(&path[..memchr::memchr(b'#', path).unwrap_or(path.len())]), self.profile)
    }

    #[cold]
    fn with_slash<'p>(&self, path: &[u8], buffer: &'p mut Vec<u8>) -> Cow<'p, [u8]> {
        buffer.clear();
        buffer.push(b'/');
        buffer.extend_from_slice(path);
        normalize_path(buffer, self.profile)
    }

    /// The verdicts on a path in normal form, of an origin whose verdicts depend on the path.
    #[inline(always)]
    pub(super) fn judge_normal<'a>(
        &self,
        path: &[u8],
        origin: &OriginState<'s>,
        (hot, allowed): (&mut HotSets, &'a mut [u64]),
        machine: impl Machine,
    ) -> Result<Verdicts<'a>> {
        let answer = if self.profile == Profile::Rfc9309 && path == b"/robots.txt" {
            Answer::Same(Verdict::Allowed)
        } else if origin.standing == Standing::AllButRobots {
            Answer::Same(Verdict::Disallowed)
        } else {
            self.match_rules(path, origin, (hot, allowed), machine)?;
            Answer::Bits(allowed)
        };
        Ok(self.verdicts(answer, origin))
    }

    /// The verdicts that hold for all URLs of an origin, if they do not depend on the path.
    #[inline(always)]
    pub(super) fn verdicts_of_all(&self, origin: &OriginState<'s>) -> Option<Verdicts<'static>> {
        match origin.standing {
            Standing::Same(verdict) => Some(self.verdicts(Answer::Same(verdict), origin)),
            _ => None,
        }
    }

    /// The verdicts on all URLs of origins that the snapshot does not know.
    #[inline(always)]
    pub(super) fn verdicts_on_unknown(&self) -> Verdicts<'static> {
        Verdicts::on_unknown(self.verdict_on_unknown(), self.agents.len())
    }

    #[inline(always)]
    fn verdicts<'a>(&self, answer: Answer<'a>, origin: &OriginState<'s>) -> Verdicts<'a> {
        let OriginState { via_other_scheme, basis, row, file, .. } = *origin;
        Verdicts { answer, agents: self.agents.len(), via_other_scheme, basis, row, file }
    }

    /// What holds for origins that the snapshot does not know.
    pub(super) fn unknown(&self) -> Standing {
        Standing::Same(match self.options.unknown {
            Some(UnknownOrigin::Allow) => Verdict::Allowed,
            Some(UnknownOrigin::Disallow) => Verdict::Disallowed,
            None if self.policy == StatusPolicy::Strict => Verdict::Disallowed,
            None => Verdict::Unknown,
        })
    }

    #[inline(always)]
    fn match_rules(
        &self,
        path: &[u8],
        origin: &OriginState<'s>,
        (hot, allowed): (&mut HotSets, &mut [u64]),
        machine: impl Machine,
    ) -> Result<()> {
        // Up to 64 agents, who all obey the same rules, as nearly always. In a loop over rules there would be so much to be prepared that it took
        // longer than most rules do.
        if let ([group], [bits], [free], [allowed]) = (&*origin.groups, &*origin.bits, &*origin.free, &mut *allowed) {
            let subject = (Subject::new(path), &mut Seen::new());
            let is_allowed = self.view.allows((group.place, &group.rules), subject, hot, machine)?;
            *allowed = if is_allowed { free | bits } else { *free };
            return Ok(());
        }
        machine.apart(ManyRules { view: &self.view, path, origin, hot, allowed })
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
            preferences: PreferenceExplanation::default(),
        };
        let (mut key, mut other_key) = (Vec::new(), Vec::new());
        let Some(parts) = url::split(url, &mut key) else { return Ok(out) };
        out.origin = Origin::of(url);
        let Some((entry, other)) =
            self.locate((parts.origin, hash_key(parts.origin)), Glance::NOT_TAKEN, &mut other_key)?
        else {
            return Ok(out);
        };
        let entry = self.snapshot.origin_at(entry.row)?;
        out.via_other_scheme = other;
        let ruling = ruling(self.policy, entry.outcome(), entry.has_last_good(), self.options.at);
        out.by_last_good = ruling == Ruling::LastGood;
        let file = entry.file();
        out.entry = Some(entry);
        if let (Ruling::Rules | Ruling::LastGood, Some(file), Some(agent)) = (ruling, file, self.agents.get(agent)) {
            let text = self.snapshot.text(file)?;
            let robots = Robots::parse(&text, self.profile);
            let url = path_url(&parts);
            let why = explain(&robots, agent, self.options.agent_match, &url);
            if why.verdict != verdict {
                return Err(Error::corrupt(format!(
                    "the stored robots.txt of {} explains another verdict than its rules",
                    String::from_utf8_lossy(parts.origin)
                )));
            }
            out.rules = Some(why);
            out.preferences = explain_preferences(&robots, agent, self.options.agent_match, &url);
        }
        Ok(out)
    }
}

/// A path, or `/` where there is none.
#[inline]
pub(super) fn or_root(path: &[u8]) -> &[u8] {
    if path.is_empty() { b"/" } else { path }
}

/// A path to be compared with the rules that each of the agents obeys.
struct ManyRules<'w, 's> {
    view: &'w View<'s>,
    path: &'w [u8],
    origin: &'w OriginState<'s>,
    hot: &'w mut HotSets,
    allowed: &'w mut [u64],
}

impl simd::Work for ManyRules<'_, '_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<()> {
        let Self { view, path, origin, hot, allowed } = self;
        let (subject, mut seen) = (Subject::new(path), Seen::new());
        allowed.copy_from_slice(&origin.free);
        for (group, bits) in origin.groups.iter().zip(origin.bits.chunks_exact(allowed.len().max(1))) {
            if view.allows((group.place, &group.rules), (subject, &mut seen), hot, machine)? {
                allowed.iter_mut().zip(bits).for_each(|(word, bits)| *word |= bits);
            }
        }
        Ok(())
    }
}

/// A URL to be judged.
struct OneUrl<'w, 'a, 's, D> {
    judge: &'w Judge<'s, D>,
    url: &'w [u8],
    scratch: &'a mut Scratch<'s>,
}

impl<'a, D: AsRef<[u8]>> simd::Work for OneUrl<'_, 'a, '_, D> {
    type Output = Result<Verdicts<'a>>;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<Verdicts<'a>> {
        let Self { judge, url, scratch } = self;
        let (origin, rest, slash) = match url::split_plain(url, machine) {
            Some((origin, rest)) => (origin, rest, false),
            None => match url::split(url, &mut scratch.key) {
                Some(parts) => (parts.origin, parts.path, parts.slash),
                None => return Ok(Verdicts::invalid(judge.agents.len())),
            },
        };
        let origin = (origin, hash_key(origin));
        judge.enter(origin, Glance::NOT_TAKEN, &mut scratch.states, &mut scratch.other_key)?;
        let state = scratch.states.current();
        if let Some(verdicts) = judge.verdicts_of_all(state) {
            return Ok(verdicts);
        }
        let path = judge.normal_path((rest, slash), &mut scratch.path, machine);
        judge.judge_normal(&path, state, (&mut scratch.hot, &mut scratch.allowed), machine)
    }
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
    /// What the robots.txt says about use, where its rules decide; else nothing.
    pub preferences: PreferenceExplanation,
}
