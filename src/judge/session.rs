//! A session of one thread: judges in a loop without a visit to the pool for each URL.

use super::engine::{Engine, Scratch};
use super::line_verdicts::LineVerdicts;
use super::owned::{Judge, ScratchCell};
use super::site::Site;
use super::status_policy::Verdict;
use super::verdicts::Verdicts;
use crate::error::Result;

impl Judge {
    /// A session of one thread: it keeps its memory between calls.
    ///
    /// ```
    /// use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot, Verdict};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let mut session = judge.session();
    /// for (url, expected) in [("https://e.example/x", Verdict::Disallowed), ("https://e.example/", Verdict::Allowed)] {
    ///     assert_eq!(session.judge(url.as_bytes())?.get(0), expected);
    ///     assert_eq!(session.verdict(url.as_bytes(), 0)?, expected);
    /// }
    /// let site = judge.site(&Origin::of(b"https://e.example/").expect("a URL"))?;
    /// assert_eq!(session.path_verdict(&site, b"/x", 0)?, Verdict::Disallowed);
    /// let unknown = judge.site(&Origin::of(b"https://f.example/").expect("a URL"))?;
    /// assert_eq!(session.path_verdict(&unknown, b"/x", 0)?, Verdict::Unknown);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn session(&self) -> JudgeSession<'_> {
        JudgeSession { judge: self, scratch: Some(self.take_scratch()) }
    }
}

/// Judges URLs on one thread, with memory that it takes from the judge's pool once: for loops, where
/// it saves the 20 to 50 ns that [`Judge::judge`] takes for the pool.
pub struct JudgeSession<'j> {
    judge: &'j Judge,
    /// `None` only while the session is dropped.
    scratch: Option<ScratchCell>,
}

impl std::fmt::Debug for JudgeSession<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JudgeSession").finish_non_exhaustive()
    }
}

impl JudgeSession<'_> {
    /// As [`Judge::judge`].
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn judge(&mut self, url: &[u8]) -> Result<Verdicts> {
        self.with_scratch(|engine, scratch| engine.judge(url, scratch).map(Verdicts::new))
    }

    /// As [`Site::judge`]; faster if `site` is one of the same judge.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn judge_path(&mut self, site: &Site<'_>, path: &[u8]) -> Result<Verdicts> {
        self.judge_path_with(site, path, Verdicts::new)
    }

    /// The verdict for the agent at this place; [`Verdict::Invalid`] for a place after the last.
    /// Cheaper than [`judge`](Self::judge), which copies the verdicts for all agents.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn verdict(&mut self, url: &[u8], agent: usize) -> Result<Verdict> {
        self.with_scratch(|engine, scratch| engine.judge(url, scratch).map(|verdicts| verdicts.get(agent)))
    }

    /// As [`verdict`](Self::verdict), for a path of a site.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn path_verdict(&mut self, site: &Site<'_>, path: &[u8], agent: usize) -> Result<Verdict> {
        self.judge_path_with(site, path, |verdicts| verdicts.get(agent))
    }

    #[inline]
    fn judge_path_with<R>(
        &mut self,
        site: &Site<'_>,
        path: &[u8],
        map: impl FnOnce(LineVerdicts<'_>) -> R,
    ) -> Result<R> {
        if !self.judge.is_same(site.judge) {
            // The caches of this session are those of another snapshot.
            return site.judge_with(path, map);
        }
        self.with_scratch(|engine, scratch| engine.judge_path_at(&site.state, path, scratch).map(map))
    }

    #[inline]
    fn with_scratch<R>(&mut self, work: impl for<'s> FnOnce(&Engine<'s>, &mut Scratch<'s>) -> R) -> R {
        let judge = self.judge;
        let scratch = self.scratch.get_or_insert_with(|| judge.take_scratch());
        scratch.with_dependent_mut(|engine, scratch| work(engine.borrow_dependent(), scratch))
    }
}

impl Drop for JudgeSession<'_> {
    fn drop(&mut self) {
        if let Some(scratch) = self.scratch.take() {
            self.judge.return_scratch(scratch);
        }
    }
}
