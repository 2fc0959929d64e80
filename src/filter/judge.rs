//! One URL to verdicts for all agents: split, locate the origin, apply the policy, match.

use super::basis::Basis;
use super::states::{OneSet, OriginState, Standing, States};
use super::verdicts::{Answer, Verdicts};
use crate::agent::{Agent, AgentMatch};
use crate::error::{Error, Result};
use crate::matcher::hot::HotSets;
use crate::matcher::rules::{FirstLook, SecondLook, Seen, first_look, look_at_few};
use crate::matcher::subject::Subject;
use crate::matcher::{Explanation, Ruling, StatusPolicy, Verdict, explain, ruling};
use crate::preferences::{PreferenceExplanation, explain_preferences};
use crate::profile::Profile;
use crate::records::Extracted;
use crate::robots::Robots;
use crate::simd::{self, AnyMachine, Machine};
use crate::snapshot::format::{NONE, hash_key};
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
    pub(super) extracted: Extracted,
    pub(super) states: States<'s>,
    pub(super) matching: Matching,
}

/// What a thread keeps to match paths.
#[derive(Debug)]
pub(super) struct Matching {
    hot: HotSets,
    /// A bit for each agent.
    allowed: Vec<u64>,
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
            extracted: Extracted::default(),
            states: States::new(self.verdict_on_unknown(), self.agents.len()),
            matching: Matching { hot: HotSets::default(), allowed: vec![0; self.words()] },
        }
    }

    /// Makes sure that a thread's memory is of this judge.
    #[inline(always)]
    pub(super) fn own(&self, scratch: &mut Scratch<'s>) {
        if scratch.judge != self.id {
            self.renew(scratch);
        }
    }

    /// Apart, or all of it is called before each path.
    #[cold]
    #[inline(never)]
    fn renew(&self, scratch: &mut Scratch<'s>) {
        *scratch = self.scratch();
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

    /// The verdicts on what follows the origin in a URL: nothing, a path, or one that lacks its `/`, up to a `#`.
    #[inline(always)]
    pub(super) fn judge_rest<'a>(
        &self,
        rest: &[u8],
        origin: &'a OriginState<'s>,
        matching: &'a mut Matching,
        machine: impl Machine,
    ) -> Result<Verdicts<'a>> {
        if rest.first() == Some(&b'/') && machine.is_plain(rest) {
            return self.judge_path(rest, origin, matching, machine);
        }
        machine.apart(OddRest { judge: self, rest, origin, matching })
    }

    /// What follows the origin in a URL, as [`judge_rest`](Self::judge_rest) is given it, in normal form.
    pub(super) fn normal_path<'p>(&self, rest: &'p [u8]) -> Cow<'p, [u8]> {
        let path = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
        match path.first() {
            None => Cow::Borrowed(b"/"),
            Some(b'/') => normalize_path(path, self.profile),
            Some(_) => Cow::Owned(normalize_path(&[b"/", path].concat(), self.profile).into_owned()),
        }
    }

    /// The verdicts on a path in normal form.
    #[inline(always)]
    pub(super) fn judge_path<'a>(
        &self,
        path: &[u8],
        origin: &'a OriginState<'s>,
        matching: &'a mut Matching,
        machine: impl Machine,
    ) -> Result<Verdicts<'a>> {
        if self.is_robots(path) {
            return Ok(origin.verdicts(Answer::Same(Verdict::Allowed)));
        }
        let (one, look) = match &origin.standing {
            Standing::BySet(one) => (one, first_look(one.place, Subject::new(path), &mut matching.hot)),
            Standing::ByFew(one) => (one, look_at_few(&one.set, Subject::new(path))),
            _ => return machine.apart(OtherPath { judge: self, path, origin, matching }),
        };
        match look {
            FirstLook::Told(is_allowed) => Ok(origin.verdicts(one.answer(is_allowed))),
            FirstLook::Left(left) => machine.apart(UntoldPath { path, origin, one, look: left }),
            FirstLook::Large(large) => machine.apart(UntoldPath { path, origin, one, look: large }),
            FirstLook::Untold => machine.apart(UntoldPath { path, origin, one, look: &mut matching.hot }),
        }
    }

    /// Whether a path is one that every agent may fetch.
    #[inline(always)]
    fn is_robots(&self, path: &[u8]) -> bool {
        self.profile == Profile::Rfc9309 && path == b"/robots.txt"
    }

    /// The verdicts on all URLs of origins that the snapshot does not know.
    #[inline(always)]
    pub(super) fn verdicts_on_unknown(&self) -> Verdicts<'static> {
        Verdicts::on_unknown(self.verdict_on_unknown(), self.agents.len())
    }

    /// The verdict on the URLs of origins that the snapshot does not know.
    pub(crate) fn verdict_on_unknown(&self) -> Verdict {
        match self.options.unknown {
            Some(UnknownOrigin::Allow) => Verdict::Allowed,
            Some(UnknownOrigin::Disallow) => Verdict::Disallowed,
            None if self.policy == StatusPolicy::Strict => Verdict::Disallowed,
            None => Verdict::Unknown,
        }
    }

    /// Why the agent of this number may fetch the URL or not.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other, also if the stored text
    /// of the robots.txt explains another verdict than its rule sets give, or if the index does not
    /// lead to an origin that is there.
    pub fn explain(&self, url: &[u8], agent: usize) -> Result<OriginExplanation<'s>> {
        let verdict = self.judge(url, &mut self.scratch())?.get(agent);
        let mut out = OriginExplanation {
            verdict,
            basis: Basis::NotAUrl,
            origin: None,
            entry: None,
            via_other_scheme: false,
            by_last_good: false,
            rules: None,
            preferences: PreferenceExplanation::default(),
        };
        let (mut key, mut other_key) = (Vec::new(), Vec::new());
        let Some(parts) = url::split(url, self.profile, &mut key) else { return Ok(out) };
        (out.basis, out.origin) = (Basis::UnknownOrigin, Origin::of(url));
        let found = self.locate((parts.origin, hash_key(parts.origin)), Glance::NOT_TAKEN, &mut other_key)?;
        if found.is_none_or(|(_, other)| other) {
            self.snapshot.confirm_absent(parts.origin)?;
        }
        let Some((located, other)) = found else {
            if !other_key.is_empty() {
                self.snapshot.confirm_absent(&other_key)?;
            }
            return Ok(out);
        };
        let entry = self.snapshot.origin_at(located.row)?;
        if entry.key() != located.key || entry.rules_file() != (located.file != NONE).then_some(located.file) {
            return Err(Error::corrupt(format!("the entry of {} has the facts of another", entry.origin())));
        }
        out.via_other_scheme = other;
        let ruling = ruling(self.policy, entry.outcome(), entry.has_last_good(), self.options.at);
        out.basis = Basis::of(entry.outcome(), ruling);
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

/// What follows an origin in a URL, where it may not be a path in normal form. Done apart, as what that takes would crowd what is done for nearly
/// all URLs.
struct OddRest<'w, 'a, 's, D> {
    judge: &'w Judge<'s, D>,
    rest: &'w [u8],
    origin: &'a OriginState<'s>,
    matching: &'a mut Matching,
}

impl<'a, D: AsRef<[u8]>> simd::Work for OddRest<'_, 'a, '_, D> {
    type Output = Result<Verdicts<'a>>;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<Verdicts<'a>> {
        let path = self.judge.normal_path(self.rest);
        self.judge.judge_path(&path, self.origin, self.matching, machine)
    }
}

/// A path, not that of a robots.txt, of an origin about whose URLs more than one rule set decides, or none. Done apart for the same reason.
struct OtherPath<'w, 'a, 's, D> {
    judge: &'w Judge<'s, D>,
    path: &'w [u8],
    origin: &'a OriginState<'s>,
    matching: &'a mut Matching,
}

impl<'a, D: AsRef<[u8]>> simd::Work for OtherPath<'_, 'a, '_, D> {
    type Output = Result<Verdicts<'a>>;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<Verdicts<'a>> {
        let Self { judge, path, origin, matching: Matching { hot, allowed } } = self;
        let answer = match &origin.standing {
            Standing::Same(verdict) => Answer::Same(*verdict),
            Standing::AllButRobots => Answer::Same(Verdict::Disallowed),
            Standing::BySet(_) | Standing::ByFew(_) | Standing::ByGroups => {
                let (subject, mut seen) = (Subject::new(path), Seen::new());
                allowed.copy_from_slice(&origin.free);
                for (group, bits) in origin.groups.iter().zip(origin.bits.chunks_exact(allowed.len().max(1))) {
                    if judge.view.allows((group.place, &group.rules), (subject, &mut seen), hot, machine)? {
                        allowed.iter_mut().zip(bits).for_each(|(word, bits)| *word |= bits);
                    }
                }
                Answer::Words(allowed)
            }
        };
        Ok(origin.verdicts(answer))
    }
}

/// A path of which a first look did not tell what the one rule set says that decides about it.
struct UntoldPath<'w, 'a, 's, L> {
    path: &'w [u8],
    origin: &'a OriginState<'s>,
    one: &'w OneSet<'s>,
    look: L,
}

impl<'a, L: SecondLook> simd::Work for UntoldPath<'_, 'a, '_, L> {
    type Output = Result<Verdicts<'a>>;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<Verdicts<'a>> {
        let Self { path, origin, one, look } = self;
        let is_allowed = look.allows((one.place, &one.set), Subject::new(path), machine)?;
        Ok(origin.verdicts(one.answer(is_allowed)))
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
        let (origin, rest) = match url::split_plain(url, machine) {
            Some((origin, rest)) => (origin, rest),
            None => match url::split(url, judge.profile, &mut scratch.key) {
                Some(parts) => (parts.origin, parts.path),
                None => return Ok(Verdicts::invalid(judge.agents.len())),
            },
        };
        let origin = (origin, hash_key(origin));
        judge.enter(origin, Glance::NOT_TAKEN, &mut scratch.states, &mut scratch.other_key)?;
        let state = scratch.states.current();
        if let Some(verdicts) = state.verdicts_of_all() {
            return Ok(verdicts);
        }
        judge.judge_rest(rest, state, &mut scratch.matching, machine)
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
    /// What it rests on.
    pub basis: Basis,
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
