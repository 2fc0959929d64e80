//! A session of one thread: judges in a loop without a visit to the pool for each URL.

use super::engine::{Engine, Scratch};
use super::owned::Judge;
use super::site::Site;
use super::verdicts::Verdicts;
#[cfg(feature = "audit")]
use super::verdicts_ref::VerdictsRef;
use crate::error::Result;
use crate::explain::Verdict;

impl Judge {
    /// A session of one thread, with memory of its own.
    ///
    /// ```
    /// use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot, Verdict};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let mut session = judge.session();
    /// for (url, expected) in [
    ///     ("https://e.example/x", Verdict::Disallowed),
    ///     ("https://e.example/", Verdict::Allowed),
    /// ] {
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
        JudgeSession {
            engine: self.engine(),
            scratch: self.engine().scratch(),
        }
    }
}

/// Judges URLs on one thread, with memory of its own (about 120 KiB): for loops, where it saves the
/// 20 to 50 ns that [`Judge::judge`] takes for the pool.
pub struct JudgeSession<'j> {
    pub(super) engine: &'j Engine<'j>,
    pub(super) scratch: Scratch<'j>,
}

impl std::fmt::Debug for JudgeSession<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JudgeSession").finish_non_exhaustive()
    }
}

impl<'j> JudgeSession<'j> {
    /// As [`Judge::judge`].
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn judge(&mut self, url: &[u8]) -> Result<Verdicts> {
        self.engine.judge(url, &mut self.scratch).map(Verdicts::new)
    }

    /// As [`Judge::judge_as_of`].
    ///
    /// # Errors
    /// As [`Judge::judge_as_of`].
    #[inline]
    pub fn judge_as_of(&mut self, url: &[u8], time: i64) -> Result<Verdicts> {
        self.engine.snapshot().require_history()?;
        let verdicts = self
            .engine
            .judge_as_of(url, Some(time), &mut self.scratch)?;
        Ok(Verdicts::new(verdicts))
    }

    /// As [`Site::judge`]. A site of another judge than the session's clears the session's caches.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn judge_path(&mut self, site: &Site<'j>, path: &[u8]) -> Result<Verdicts> {
        site.engine
            .judge_path_at(&site.state, path, &mut self.scratch)
            .map(Verdicts::new)
    }

    /// The verdict for the agent with this number; [`Verdict::Invalid`] beyond the last.
    /// Cheaper than [`judge`](Self::judge), which copies the verdicts for all agents.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn verdict(&mut self, url: &[u8], agent: usize) -> Result<Verdict> {
        Ok(self.engine.judge(url, &mut self.scratch)?.get(agent))
    }

    /// The verdicts in the memory of the session, without a copy.
    #[cfg(feature = "audit")]
    #[inline]
    pub(crate) fn verdicts_ref(&mut self, url: &[u8]) -> Result<VerdictsRef<'_>> {
        self.engine.judge(url, &mut self.scratch)
    }

    /// As [`verdict`](Self::verdict), for a path of a site.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    #[inline]
    pub fn path_verdict(&mut self, site: &Site<'j>, path: &[u8], agent: usize) -> Result<Verdict> {
        Ok(site
            .engine
            .judge_path_at(&site.state, path, &mut self.scratch)?
            .get(agent))
    }
}
