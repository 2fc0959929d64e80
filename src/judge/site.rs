//! One origin looked up once, for programs that keep their URLs by host: each URL then costs its
//! path.

use super::engine::Engine;
use super::origin_cache::OriginState;
use super::owned::Judge;
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::snapshot::index::Probe;
use crate::url::Origin;

/// What a [`Judge`] knows of one origin, looked up once.
///
/// For a frontier that keeps URLs by host: [`judge`](Self::judge) takes the part of a URL after its
/// origin, and neither splits the URL nor looks up the origin. It is shared between threads like
/// its judge. It takes a few hundred bytes, and 8 more for each 64 agents and each rule set they
/// obey.
///
/// ```
/// use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot, Verdict};
/// let mut compiler = Compiler::default();
/// let robots = b"user-agent: a\ndisallow: /x\nuser-agent: *\nallow: /";
/// compiler.add_robots("https://e.example", robots)?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
///
/// let origin = Origin::of(b"https://e.example/").expect("a URL");
/// let site = judge.site(&origin)?;
/// for (path, expected) in [("/x/1", Verdict::Disallowed), ("/y?x=/x", Verdict::Allowed)] {
///     assert_eq!(site.judge(path.as_bytes())?.get(0), expected);
/// }
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct Site<'j> {
    judge: &'j Judge,
    pub(super) engine: &'j Engine<'j>,
    pub(super) state: OriginState<'j>,
}

impl Judge {
    /// Looks up an origin, also under the other scheme if
    /// [`JudgeOptions::any_scheme`](crate::JudgeOptions::any_scheme) is set. An origin that the
    /// snapshot does not hold is a site too: its verdicts are those of
    /// [`JudgeOptions::unknown`](crate::JudgeOptions::unknown).
    ///
    /// Costs about as much as the first URL of an origin costs [`judge`](Self::judge), and an
    /// allocation or two.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn site(&self, origin: &Origin) -> Result<Site<'_>> {
        let engine = self.engine();
        let key = origin.as_str().as_bytes();
        let mut state = OriginState::unknown(engine.verdict_on_unknown(), engine.agents().len());
        if let Some(time) = engine.options().as_of {
            let hash = engine.view.hash(key);
            let entries = engine.entries_of(key, hash, Probe::SKIPPED, &mut Vec::new())?;
            engine.resolve_as_of(entries, time, &mut state)?;
        } else if let Some((entry, other)) =
            engine.locate(key, engine.view.hash(key), Probe::SKIPPED, &mut Vec::new())?
        {
            engine.resolve(&entry, other, &mut state)?;
        }
        Ok(Site {
            judge: self,
            engine,
            state,
        })
    }
}

impl Site<'_> {
    /// The verdicts on the URL of this origin with this path and query, for the judge's agents in
    /// their order: those of [`Judge::judge`] for the whole URL.
    ///
    /// `path` is the part of the URL after host and port: any bytes, escaped or not. It ends at the
    /// first `#`. A missing `/` is put in front, so the empty path is `/`. White space counts: trim
    /// lines first. Never [`Verdict::Invalid`](crate::Verdict::Invalid); no allocation for a plain
    /// path and up to 64 agents.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn judge(&self, path: &[u8]) -> Result<Verdicts> {
        self.judge.with_scratch(|engine, scratch| {
            engine
                .judge_path_at(&self.state, path, scratch)
                .map(Verdicts::new)
        })
    }
}
