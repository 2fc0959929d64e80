//! One origin found once, for callers that keep their URLs by host: what is left to do for each is to match its path.

use super::judge::{Judge, Scratch};
use super::states::{OriginState, Standing};
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::simd::{Machine, Work};
use crate::snapshot::format::hash_key;
use crate::snapshot::index::Glance;
use crate::url::Origin;

/// What a [`Judge`] knows of one origin, found once.
///
/// For a frontier that keeps URLs by host: [`judge`](Self::judge) is given what follows the origin in a URL, and neither cuts
/// the URL nor looks the origin up. It is shared between threads like its judge. It takes a few hundred bytes, and 8 more for
/// each 64 agents and each rule set they obey.
///
/// ```
/// use robosieve::{Compiler, Judge, JudgeOptions, Origin, Snapshot, Verdict};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: a\ndisallow: /x\nuser-agent: *\nallow: /")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
/// let mut scratch = judge.scratch();
///
/// let origin = Origin::of(b"https://e.example/").expect("a URL");
/// let site = judge.site(&origin)?;
/// for (path, expected) in [("/x/1", Verdict::Disallowed), ("/y?x=/x", Verdict::Allowed)] {
///     assert_eq!(site.judge(path.as_bytes(), &mut scratch)?.get(0), expected);
/// }
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct Site<'j, 's, D> {
    judge: &'j Judge<'s, D>,
    state: OriginState<'s>,
}

impl<'s, D: AsRef<[u8]>> Judge<'s, D> {
    /// Finds an origin, also under the other scheme if [`JudgeOptions::any_scheme`](crate::JudgeOptions::any_scheme) is set. One
    /// that the snapshot does not know is a site too: its verdicts are those of [`JudgeOptions::unknown`](crate::JudgeOptions::unknown).
    ///
    /// Costs about as much as the first URL of an origin costs [`judge`](Self::judge), and an allocation or two.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub fn site(&self, origin: &Origin) -> Result<Site<'_, 's, D>> {
        let key = origin.as_str().as_bytes();
        let mut state = OriginState::new(Standing::Same(self.verdict_on_unknown()), self.agents().len());
        if let Some((entry, other)) = self.locate((key, hash_key(key)), Glance::NOT_TAKEN, &mut Vec::new())? {
            state.via_other_scheme = other;
            state.standing = self.stand(&entry, &mut state)?;
        }
        Ok(Site { judge: self, state })
    }
}

impl<'s, D: AsRef<[u8]>> Site<'_, 's, D> {
    /// The verdicts on the URL of this origin with this path and query, for the judge's agents in their order: those of
    /// [`Judge::judge`] for the whole URL.
    ///
    /// `path` is what follows host and port in the URL, any bytes, escaped or not. It ends before the first `#`; a `/` is put before
    /// it where it begins otherwise, so an empty one is `/`. White space counts: whoever has lines trims them. `scratch` is one of the
    /// judge's own ([`Judge::scratch`]). Never [`Verdict::Invalid`](crate::Verdict::Invalid); no allocation for a plain path.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    #[inline]
    pub fn judge<'a>(&'a self, path: &[u8], scratch: &'a mut Scratch<'s>) -> Result<Verdicts<'a>> {
        self.judge.own(scratch);
        self.judge.machine.run(OnePath { site: self, path, scratch })
    }
}

/// A path to be judged.
struct OnePath<'w, 'a, 'j, 's, D> {
    site: &'a Site<'j, 's, D>,
    path: &'w [u8],
    scratch: &'a mut Scratch<'s>,
}

impl<'a, D: AsRef<[u8]>> Work for OnePath<'_, 'a, '_, '_, D> {
    type Output = Result<Verdicts<'a>>;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Result<Verdicts<'a>> {
        let (Site { judge, state }, path, scratch) = (self.site, self.path, self.scratch);
        if let Some(verdicts) = state.verdicts_of_all() {
            return Ok(verdicts);
        }
        judge.judge_rest(path, state, &mut scratch.matching, machine)
    }
}
