//! One URL to verdicts for all agents: split it, look up its origin, match its path.

use super::file_memo::{FileMemo, Obeyed};
use super::old_rules::OldRulesCache;
use super::options::JudgeOptions;
use super::origin_cache::{OriginCache, OriginPolicy, OriginState};
use super::status_policy::{StatusPolicy, UnknownOrigin};
use super::verdicts_ref::{ListedBy, OriginContext, VerdictBits, VerdictsRef};
use crate::agent::Agent;
use crate::error::Result;
use crate::explain::Verdict;
use crate::filter_lists::{FilterLists, ListDecision, SearchMemory};
use crate::matcher::RuleCache;
use crate::profile::Profile;
use crate::simd::{AnyBackend, Backend, Kernel};
use crate::snapshot::Snapshot;
use crate::snapshot::format::{NONE, RuleSections};
use crate::snapshot::index::Probe;
use crate::snapshot::view::{TokenChain, View};
use crate::url::{self, Origin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A judge that borrows its snapshot: the agents looked up, the policy chosen.
///
/// It is shared between threads; each thread has a [`Scratch`].
#[derive(Debug)]
pub(crate) struct Engine<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) view: View<'s>,
    pub(super) profile: Profile,
    pub(super) policy: StatusPolicy,
    pub(super) options: JudgeOptions,
    pub(super) agents: Vec<Agent>,
    /// The vector backend of this machine.
    pub(super) backend: AnyBackend,
    /// Tells this engine from all others of the process.
    pub(super) id: u64,
    /// For each agent the tokens of its chain that any robots.txt names.
    pub(super) chains: Vec<TokenChain>,
    /// What the agents obey in each robots.txt, from the first batch on: for a single URL, its memory
    /// would cost more than the answer.
    memo: OnceLock<FileMemo>,
    /// The sections with the stored rules of old texts.
    pub(super) old_view: View<'s>,
    /// The chains in these, from the first old text on. Only this and `memo` change.
    old_chains: OnceLock<Vec<TokenChain>>,
    /// The rules of old versions, which other engines of the snapshot may share.
    pub(super) old_rules: Arc<OldRulesCache>,
    /// The filter lists that are asked in the same pass.
    pub(super) lists: Option<FilterLists>,
}

/// The number of engines that were made.
static ENGINES: AtomicU64 = AtomicU64::new(0);

/// One thread's memory: buffers, and the caches of origins and of rule sets.
#[derive(Debug)]
pub(crate) struct Scratch<'s> {
    /// The engine that filled the caches.
    engine: u64,
    key: Vec<u8>,
    pub(super) other_key: Vec<u8>,
    pub(super) origins: OriginCache<'s>,
    pub(super) matching: Matching,
    /// What the filter lists say about the origin of the last single URL.
    pub(super) list_memory: SearchMemory,
    /// Their entry that decides about it.
    listed: Option<ListDecision>,
}

/// The part of a scratch that matching paths needs.
#[derive(Debug)]
pub(super) struct Matching {
    pub rules: RuleCache,
    /// A bit for each agent.
    pub allowed: Vec<u64>,
}

impl<'s> Engine<'s> {
    /// Looks the agents up in the snapshot.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        agents: &[Agent],
        options: JudgeOptions,
    ) -> Result<Self> {
        Self::with_old_rules(snapshot, agents, options, Arc::new(OldRulesCache::new()))
    }

    /// As [`new`](Self::new), with the cache of old rules of another engine of the same snapshot.
    pub(super) fn with_old_rules(
        snapshot: &'s Snapshot,
        agents: &[Agent],
        options: JudgeOptions,
        old_rules: Arc<OldRulesCache>,
    ) -> Result<Self> {
        if options.as_of.is_some() {
            snapshot.require_history()?;
        }
        let profile = snapshot.profile()?;
        let policy = options
            .status_policy
            .unwrap_or(StatusPolicy::of_profile(profile));
        // A group may name an agent by any of its tokens. They are looked up once, so that judging
        // compares numbers only.
        let chains = agents
            .iter()
            .map(|agent| snapshot.token_chain(agent, options.agent_match))
            .collect::<Result<_>>()?;
        Ok(Self {
            snapshot,
            view: snapshot.view(),
            profile,
            policy,
            options,
            agents: agents.to_vec(),
            backend: AnyBackend::detect(),
            id: ENGINES.fetch_add(1, Ordering::Relaxed),
            chains,
            memo: OnceLock::new(),
            old_view: snapshot.view_of(RuleSections::OLD),
            old_chains: OnceLock::new(),
            old_rules,
            lists: None,
        })
    }

    /// This engine for another borrow of its snapshot, which asks filter lists too. The agents are
    /// not looked up again.
    pub(super) fn with_lists<'t>(&self, snapshot: &'t Snapshot, lists: FilterLists) -> Engine<'t> {
        Engine {
            snapshot,
            view: snapshot.view(),
            profile: self.profile,
            policy: self.policy,
            options: self.options,
            agents: self.agents.clone(),
            backend: self.backend,
            id: ENGINES.fetch_add(1, Ordering::Relaxed),
            chains: self.chains.clone(),
            memo: OnceLock::new(),
            old_view: snapshot.view_of(RuleSections::OLD),
            old_chains: OnceLock::new(),
            old_rules: Arc::clone(&self.old_rules),
            lists: Some(lists),
        }
    }

    /// For each agent the tokens of its chain that an old text with stored rules names.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the names of agents are damaged.
    pub(super) fn old_chains(&self) -> Result<&[TokenChain]> {
        if let Some(known) = self.old_chains.get() {
            return Ok(known);
        }
        let tokens = self.snapshot.tokens_of(RuleSections::OLD);
        let chains = self
            .agents
            .iter()
            .map(|agent| tokens.chain(agent, self.options.agent_match))
            .collect::<Result<_>>()?;
        Ok(self.old_chains.get_or_init(|| chains))
    }

    /// The memo of what the agents obey.
    pub(super) fn memo(&self) -> &FileMemo {
        self.memo
            .get_or_init(|| FileMemo::new(self.view.file_count()))
    }

    /// What all agents obey in a robots.txt, of which an origin has rules.
    #[inline(never)]
    pub(super) fn look_up_obeyed(&self, file: u32) -> Obeyed {
        match self.policy_of_one_set(file) {
            Ok(Some(OriginPolicy::OneSet(one))) if one.without_group == 0 => {
                Obeyed::one_set(one.offset)
            }
            Ok(Some(OriginPolicy::Uniform(Verdict::Allowed))) => Obeyed::NO_RULES,
            // Whoever judges the origin gets the error.
            Ok(_) | Err(_) => Obeyed::OTHER,
        }
    }

    pub(crate) fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    /// The filter lists that are asked in the same pass.
    pub(crate) fn lists(&self) -> Option<&FilterLists> {
        self.lists.as_ref()
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    pub(crate) fn policy(&self) -> StatusPolicy {
        self.policy
    }

    pub(crate) fn options(&self) -> &JudgeOptions {
        &self.options
    }

    /// The agents, in the order of the verdicts.
    pub(crate) fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Memory for one thread.
    pub(crate) fn scratch(&self) -> Scratch<'s> {
        Scratch {
            engine: self.id,
            key: Vec::new(),
            other_key: Vec::new(),
            origins: OriginCache::new(self.verdict_on_unknown(), self.agents.len()),
            matching: Matching {
                rules: RuleCache::default(),
                allowed: vec![0; self.words()],
            },
            list_memory: SearchMemory::default(),
            listed: None,
        }
    }

    /// Clears a scratch that another engine filled.
    #[inline(always)]
    pub(super) fn claim(&self, scratch: &mut Scratch<'s>) {
        if scratch.engine != self.id {
            self.replace(scratch);
        }
    }

    /// Not inlined: otherwise all of it is part of the code before each path.
    #[cold]
    #[inline(never)]
    fn replace(&self, scratch: &mut Scratch<'s>) {
        *scratch = self.scratch();
    }

    /// The bits of all agents, of which there are up to 64.
    #[inline(always)]
    pub(super) fn all_agents(&self) -> u64 {
        u64::MAX >> (64 - self.agents.len().clamp(1, 64))
    }

    /// The verdicts on one or more URLs of an origin with this context.
    #[inline(always)]
    pub(super) fn verdicts<'a>(
        &self,
        answer: VerdictBits<'a>,
        context: &'a OriginContext,
    ) -> VerdictsRef<'a> {
        VerdictsRef {
            answer,
            agents: self.agents.len(),
            context: Some(context),
            listed: None,
        }
    }

    /// The words of a bit set of agents.
    pub(super) fn words(&self) -> usize {
        self.agents.len().div_ceil(64)
    }

    /// The verdicts on a URL, which may be any bytes. Text that is not a URL is
    /// [`Verdict::Invalid`].
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    #[inline]
    pub(crate) fn judge<'a>(
        &'a self,
        url: &[u8],
        scratch: &'a mut Scratch<'s>,
    ) -> Result<VerdictsRef<'a>> {
        self.judge_as_of(url, self.options.as_of, scratch)
    }

    /// The verdicts on a URL as of a time, or by the newest rules.
    #[inline]
    pub(super) fn judge_as_of<'a>(
        &'a self,
        url: &[u8],
        time: Option<i64>,
        scratch: &'a mut Scratch<'s>,
    ) -> Result<VerdictsRef<'a>> {
        self.claim(scratch);
        self.backend.run(JudgeUrl {
            engine: self,
            url,
            time,
            scratch,
        })
    }

    #[inline(always)]
    fn judge_url<'a>(
        &'a self,
        url: &[u8],
        time: Option<i64>,
        scratch: &'a mut Scratch<'s>,
        backend: impl Backend,
    ) -> Result<VerdictsRef<'a>> {
        // Nearly all URLs are in normal form, and are split without a copy.
        let (origin, rest) = match url::split_plain(url, backend) {
            Some((origin, rest)) => (origin, rest),
            None => match url::split(url, self.profile, &mut scratch.key) {
                Some(parts) => (parts.origin, parts.path),
                None => return Ok(VerdictsRef::invalid(self.agents.len())),
            },
        };
        if let Some(lists) = &self.lists {
            // Lists know one way of splitting a URL.
            scratch.listed = match self.profile {
                Profile::Google => lists.decide_parts(origin, rest, &mut scratch.list_memory)?,
                _ => lists.decide_url(url, &mut scratch.list_memory)?,
            };
        }
        let hash = self.view.hash(origin);
        self.enter_at(
            origin,
            hash,
            Probe::SKIPPED,
            time,
            &mut scratch.origins,
            &mut scratch.other_key,
        )?;
        let verdicts = self.judge_path_of(
            scratch.origins.current(),
            rest,
            &mut scratch.matching,
            backend,
        )?;
        Ok(VerdictsRef {
            listed: ListedBy::of(self.lists.as_ref(), scratch.listed.as_ref()),
            ..verdicts
        })
    }

    /// Verifies the blocks of the snapshot that [`judge`](Self::judge) reads for a URL, each once.
    /// For judging few URLs of a snapshot that is not verified as a whole.
    ///
    /// Cost: some ten blocks of 64 KiB at first, then a look-up in the index, and some bits.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if one is damaged.
    pub(crate) fn verify_url(&self, url: &[u8]) -> Result<()> {
        let mut key = Vec::new();
        let mut other_key = Vec::new();
        let Some(parts) = url::split(url, self.profile, &mut key) else {
            return Ok(());
        };
        if let Some(time) = self.options.as_of {
            return self.verify_origin_as_of(parts.origin, time);
        }
        let mut found = self.snapshot.find(parts.origin)?;
        if found.is_none()
            && self.options.any_scheme
            && Origin::other_scheme(parts.origin, &mut other_key)
        {
            found = self.snapshot.find(&other_key)?;
        }
        let Some(entry) = found else { return Ok(()) };
        let metadata = self.snapshot.origin_metadata(entry.row)?;
        for file in [entry.file, metadata.last_good]
            .into_iter()
            .filter(|&file| file != NONE)
        {
            self.snapshot.verify_rules_of(file, &self.chains)?;
        }
        Ok(())
    }

    /// The verdicts on the URL of a known origin, given the rest of it after the origin.
    #[inline]
    pub(super) fn judge_path_at<'a>(
        &self,
        origin: &'a OriginState<'_>,
        rest: &[u8],
        scratch: &'a mut Scratch<'s>,
    ) -> Result<VerdictsRef<'a>> {
        self.claim(scratch);
        self.backend.run(JudgePath {
            engine: self,
            origin,
            rest,
            matching: &mut scratch.matching,
        })
    }

    #[inline(always)]
    fn judge_path_of<'a>(
        &self,
        origin: &'a OriginState<'_>,
        rest: &[u8],
        matching: &'a mut Matching,
        backend: impl Backend,
    ) -> Result<VerdictsRef<'a>> {
        match origin.verdicts_of_all() {
            Some(verdicts) => Ok(verdicts),
            None => self.judge_rest(rest, origin, matching, backend),
        }
    }

    /// The verdicts on all URLs of origins that the snapshot does not hold.
    #[inline(always)]
    pub(super) fn verdicts_on_unknown(&self) -> VerdictsRef<'static> {
        VerdictsRef::on_unknown(self.verdict_on_unknown(), self.agents.len())
    }

    /// The verdicts on a URL whose time is not known, so that neither are the rules in force.
    pub(super) fn verdicts_on_untimed(&self) -> VerdictsRef<'static> {
        VerdictsRef {
            answer: VerdictBits::Same(self.verdict_on_unknown()),
            agents: self.agents.len(),
            context: Some(&OriginContext::UNTIMED),
            listed: None,
        }
    }

    pub(crate) fn verdict_on_unknown(&self) -> Verdict {
        match self.options.unknown {
            Some(UnknownOrigin::Allow) => Verdict::Allowed,
            Some(UnknownOrigin::Disallow) => Verdict::Disallowed,
            None if self.policy == StatusPolicy::Strict => Verdict::Disallowed,
            None => Verdict::Unknown,
        }
    }
}

/// [`Engine::judge_url`] as a kernel.
struct JudgeUrl<'w, 'a, 's> {
    engine: &'a Engine<'s>,
    url: &'w [u8],
    time: Option<i64>,
    scratch: &'a mut Scratch<'s>,
}

impl<'a> Kernel for JudgeUrl<'_, 'a, '_> {
    type Output = Result<VerdictsRef<'a>>;

    #[inline(always)]
    fn run(self, backend: impl Backend) -> Self::Output {
        self.engine
            .judge_url(self.url, self.time, self.scratch, backend)
    }
}

/// [`Engine::judge_path_of`] as a kernel.
struct JudgePath<'w, 'a, 'o, 's> {
    engine: &'w Engine<'s>,
    origin: &'a OriginState<'o>,
    rest: &'w [u8],
    matching: &'a mut Matching,
}

impl<'a> Kernel for JudgePath<'_, 'a, '_, '_> {
    type Output = Result<VerdictsRef<'a>>;

    #[inline(always)]
    fn run(self, backend: impl Backend) -> Self::Output {
        self.engine
            .judge_path_of(self.origin, self.rest, self.matching, backend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Compiler;
    use crate::judge::emitter::Joined;
    use crate::judge::options::Stage;

    #[test]
    fn single_urls_need_no_memory_for_each_file() {
        let mut compiler = Compiler::default();
        compiler
            .add_robots("https://e.example", b"user-agent: *\ndisallow: /a")
            .unwrap();
        let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
        let engine =
            Engine::new(&snapshot, &["a".parse().unwrap()], JudgeOptions::default()).unwrap();
        let mut scratch = engine.scratch();
        engine.judge(b"https://e.example/a", &mut scratch).unwrap();
        assert!(engine.memo.get().is_none());
        engine
            .judge_lines(
                b"https://e.example/a\n",
                Stage::Match,
                Joined::SameOrigin,
                &mut scratch,
                |_, _| Ok(()),
            )
            .unwrap();
        assert!(engine.memo.get().is_some());
    }
}
