//! The owned judge: shared between threads, with pooled scratch memory.

use super::engine::{Engine, Scratch};
use super::explain_url::UrlExplanation;
use super::options::JudgeOptions;
use super::verdicts::Verdicts;
use crate::agent::Agent;
use crate::error::Result;
use crate::explain::Verdict;
use crate::filter_lists::FilterLists;
use crate::snapshot::Snapshot;
use crate::threads;
use crossbeam_queue::ArrayQueue;
use self_cell::self_cell;
use std::sync::Arc;

self_cell!(
    /// A snapshot with the engine that borrows it.
    pub(super) struct EngineCell {
        owner: Arc<Snapshot>,
        #[covariant]
        dependent: Engine,
    }

    impl {Debug}
);

self_cell!(
    /// One thread's memory, which borrows from the engine.
    pub(super) struct ScratchCell {
        owner: Arc<EngineCell>,
        #[covariant]
        dependent: Scratch,
    }
);

/// Judges URLs by a snapshot, for any number of agents at once.
///
/// A judge owns its snapshot (or shares it, by [`Arc`]). It is `Send + Sync + 'static` and cheap to
/// clone, so a server keeps one in its state and replaces it when a new snapshot arrives, while
/// threads still judge by the old one. Each call takes its working memory from a pool.
///
/// For files of URLs, use [`Job`](crate::job::Job): it judges batches on all cores.
///
/// ```
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
/// let mut compiler = Compiler::default();
/// let robots = b"user-agent: a\ndisallow: /x\nuser-agent: *\nallow: /";
/// compiler.add_robots("https://e.example", robots)?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
/// let verdicts = judge.judge(b"https://e.example/x/1")?;
/// assert_eq!([verdicts.get(0), verdicts.get(1)], [Verdict::Disallowed, Verdict::Allowed]);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Judge {
    engine: Arc<EngineCell>,
    pool: Arc<Pool<ScratchCell>>,
}

impl Judge {
    /// A judge for these agents; `snapshot` is a [`Snapshot`] or an `Arc` of one. The agents are
    /// looked up in the snapshot once, here.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn new(
        snapshot: impl Into<Arc<Snapshot>>,
        agents: &[Agent],
        options: JudgeOptions,
    ) -> Result<Self> {
        let engine = EngineCell::try_new(snapshot.into(), |snapshot| {
            Engine::new(snapshot, agents, options)
        });
        engine.map(Self::with_engine)
    }

    fn with_engine(engine: EngineCell) -> Self {
        Self {
            engine: Arc::new(engine),
            pool: Arc::new(Pool::new()),
        }
    }

    /// The same judge, which also asks filter lists about each URL, in the same pass:
    /// [`is_listed`](super::VerdictsRef::is_listed) has the answer. The verdicts do not change.
    ///
    /// Verify the lists first ([`FilterLists::verify_checksums`]): judging does not. Cost: a copy of
    /// the agents, which are not looked up again.
    ///
    /// ```
    /// # #[cfg(feature = "filter-lists")] {
    /// use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://ads.example", b"")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let mut lists = ListCompiler::new();
    /// lists.add("ads", ListKind::Block, "ads.example\n".as_bytes())?;
    /// let lists = FilterLists::new(lists.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let judge = judge.with_lists(lists);
    /// let verdicts = judge.judge(b"https://ads.example/")?;
    /// assert_eq!((verdicts.get(0), verdicts.is_listed()), (Verdict::Allowed, true));
    /// # }
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn with_lists(&self, lists: FilterLists) -> Self {
        let snapshot = Arc::clone(self.snapshot());
        Self::with_engine(EngineCell::new(snapshot, |snapshot| {
            self.engine().with_lists(snapshot, lists)
        }))
    }

    /// A judge for other agents, with the same snapshot and options. Both share the rules of old
    /// versions, so their memory has one bound.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "audit")]
    pub(crate) fn for_agents(&self, agents: &[Agent]) -> Result<Self> {
        let old_rules = &self.engine().old_rules;
        let options = *self.engine().options();
        let engine = EngineCell::try_new(Arc::clone(self.snapshot()), |snapshot| {
            let mut new = Engine::with_old_rules(snapshot, agents, options, Arc::clone(old_rules))?;
            new.lists = self.engine().lists.clone();
            Ok::<_, crate::error::Error>(new)
        });
        engine.map(Self::with_engine)
    }

    /// The engine, for work in bulk.
    pub(crate) fn engine(&self) -> &Engine<'_> {
        self.engine.borrow_dependent()
    }

    /// The agents, in the order of the verdicts.
    pub fn agents(&self) -> &[Agent] {
        self.engine().agents()
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        self.engine.borrow_owner()
    }

    /// The options that verdicts are reached with. The status policy is that of the snapshot's
    /// profile, if none was given.
    pub fn options(&self) -> JudgeOptions {
        let engine = self.engine();
        engine.options().status_policy(engine.policy())
    }

    /// The verdict on URLs of origins that the snapshot does not hold.
    pub fn verdict_on_unknown(&self) -> Verdict {
        self.engine().verdict_on_unknown()
    }

    /// The verdicts on a URL, which may be any bytes. Text that is not a URL is
    /// [`Verdict::Invalid`].
    ///
    /// No allocation for a plain URL and up to 64 agents. If the origin was judged lately, its
    /// entry is not looked up again.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn judge(&self, url: &[u8]) -> Result<Verdicts> {
        self.with_scratch(|engine, scratch| engine.judge(url, scratch).map(Verdicts::new))
    }

    /// The verdicts on a URL by the rules in force at `time`, in seconds since 1970: those of a
    /// snapshot compiled [as of](crate::Compiler::as_of) that time, and judged at it.
    ///
    /// The snapshot needs a history ([`Compiler::history`](crate::Compiler::history), which has an
    /// example). Before the first capture of an origin, its URLs are unknown. Cost: as
    /// [`judge`](Self::judge) if the origin was judged lately as of a time with the same rules; else
    /// a binary search for each hop of a redirect, and parsing the robots.txt if it is an old one.
    ///
    /// # Errors
    /// As [`judge`](Self::judge); [`ErrorKind::NoHistory`](crate::ErrorKind::NoHistory).
    pub fn judge_as_of(&self, url: &[u8], time: i64) -> Result<Verdicts> {
        self.snapshot().require_history()?;
        self.with_scratch(|engine, scratch| {
            engine
                .judge_as_of(url, Some(time), scratch)
                .map(Verdicts::new)
        })
    }

    /// Verifies the bytes of the snapshot that [`judge`](Self::judge) reads for this URL.
    ///
    /// Call it before each of a few verdicts on a snapshot that is not verified as a whole
    /// ([`Snapshot::verify_judging_checksums`]). Without either, a damaged byte may change a
    /// verdict silently. It verifies whole blocks of 64 KiB, each once per snapshot.
    ///
    /// Cost: 0.1 ms for the first URLs, whatever the size of the snapshot; 0.2 to 0.5 µs if the
    /// blocks are verified already.
    ///
    /// ```
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot, Verdict};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// judge.verify_url(b"https://e.example/private")?;
    /// assert_eq!(judge.judge(b"https://e.example/private")?.get(0), Verdict::Disallowed);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if a block is damaged.
    pub fn verify_url(&self, url: &[u8]) -> Result<()> {
        self.engine().verify_url(url)
    }

    /// The reason why the agent with this number may fetch the URL or not. Verifies the bytes that
    /// it reads.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if a block that it reads is damaged, if
    /// the snapshot's bytes contradict each other, or if the stored text of the robots.txt explains
    /// another verdict than its rule sets give.
    pub fn explain(&self, url: &[u8], agent: usize) -> Result<UrlExplanation<'_>> {
        self.engine().explain(url, agent)
    }

    /// Calls `work` with memory from the pool, or new.
    pub(super) fn with_scratch<R>(
        &self,
        work: impl for<'s> FnOnce(&Engine<'s>, &mut Scratch<'s>) -> R,
    ) -> R {
        let mut scratch = self.pool.take_or_else(|| {
            ScratchCell::new(Arc::clone(&self.engine), |engine| {
                engine.borrow_dependent().scratch()
            })
        });
        let result =
            scratch.with_dependent_mut(|engine, scratch| work(engine.borrow_dependent(), scratch));
        self.pool.put_back(scratch);
        result
    }
}

/// A bounded pool: values that no call uses, which threads take and return. Those for which it has no room are dropped, so memory is bounded by
/// the number of cores.
pub(super) struct Pool<T>(ArrayQueue<T>);

impl<T> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("len", &self.0.len())
            .finish_non_exhaustive()
    }
}

impl<T> Pool<T> {
    pub(super) fn new() -> Self {
        Self(ArrayQueue::new(threads::cores() * 2))
    }

    /// A value of the pool, or a new one.
    pub(super) fn take_or_else(&self, new: impl FnOnce() -> T) -> T {
        self.0.pop().unwrap_or_else(new)
    }

    /// Returns a value; a full pool drops it.
    pub(super) fn put_back(&self, value: T) {
        let _ = self.0.push(value);
    }
}
