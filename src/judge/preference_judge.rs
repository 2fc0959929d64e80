//! Preferences in bulk, and under the verdict on a URL.

use super::owned::{Judge, Pool};
use super::stated_texts::{Stated, StatedCache, StatedTexts};
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::explain::Verdict;
use crate::preferences::{PreferenceBuffers, PreferenceSet, Preferences, may_have_preferences};
use crate::robots::RobotsRef;
use crate::url;

/// The texts whose preferences a thread caches, in bytes; the parsed form takes at most some five
/// times as much. When full, the cache is cleared; a single text is always cached.
const CACHE_BYTES: usize = 8 << 20;

/// Finds the preferences that apply to the agents of a [`Judge`], for many URLs.
///
/// Shared between threads. It takes one byte for each distinct robots.txt of the snapshot. The
/// first URL of a robots.txt decompresses its stored text. If that has neither field, as nearly
/// all, later URLs cost a look-up of one byte. Each thread parses the others once, as long as it
/// does not need more than 8 MiB of such texts at a time.
///
/// ```
/// use robosieve::judge::PreferenceJudge;
/// use robosieve::preferences::Preference;
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ncontent-usage: /x train-ai=n")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let preferences = PreferenceJudge::new(&judge);
/// assert_eq!(preferences.of(b"https://e.example/x/y")?[0].train_ai, Preference::No);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct PreferenceJudge<'j> {
    texts: StatedTexts<'j>,
    pool: Pool<PreferenceScratch>,
}

/// The statements of a robots.txt about the use of a URL's content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileStatements<'a> {
    /// The preferences for each agent.
    pub preferences: &'a [Preferences],
    /// The URLs of the licences.
    pub licenses: &'a [String],
}

/// One thread's memory for preferences.
#[derive(Default)]
pub(crate) struct PreferenceScratch {
    sets: StatedCache<PreferenceSet>,
    answers: PreferenceBuffers,
    /// The answers under the verdicts on the URL.
    applied: Vec<Preferences>,
    key: Vec<u8>,
}

impl std::fmt::Debug for PreferenceScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreferenceScratch")
            .field("cached_bytes", &self.sets.size())
            .finish_non_exhaustive()
    }
}

impl<'j> PreferenceJudge<'j> {
    /// For the agents, the policy and the options of a judge.
    pub fn new(judge: &'j Judge) -> Self {
        Self {
            texts: StatedTexts::new(judge),
            pool: Pool::new(),
        }
    }

    /// What the robots.txt that decides about `url` says of its use, for each of the judge's agents
    /// in their order. That is the robots.txt whose rules decide about fetching. If there is none
    /// (a 404, an unknown origin, not a URL), nothing is said. To an agent that may not fetch the
    /// URL, `content-usage` does not apply ([`Preferences::of_refused_url`]).
    ///
    /// Cost: that of [`Judge::judge`], and if there are such lines for one of the agents, at worst
    /// one comparison of each `content-usage` line with the path.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn of(&self, url: &[u8]) -> Result<Vec<Preferences>> {
        let (file, verdicts) = self.texts.judge().with_scratch(|engine, scratch| {
            engine
                .judge(url, scratch)
                .map(|verdicts| (verdicts.file(), Verdicts::new(verdicts)))
        })?;
        let mut scratch = self.pool.take_or_else(PreferenceScratch::default);
        self.has_any(file, &mut scratch)?;
        let found = self.at(file, url, verdicts.iter(), &mut scratch);
        let found = found.preferences.to_vec();
        self.pool.put_back(scratch);
        Ok(found)
    }

    /// Whether the robots.txt with this number, if there is one, says anything to one of the
    /// agents, or names a licence.
    #[inline]
    pub(crate) fn has_any(&self, file: u32, memory: &mut PreferenceScratch) -> Result<bool> {
        let judge = self.texts.judge();
        self.texts
            .has_any(file, &mut memory.sets, CACHE_BYTES, |text| {
                if !may_have_preferences(text) {
                    return None;
                }
                let robots = RobotsRef::parse(text, judge.engine().profile());
                let how = judge.engine().options().agent_match;
                Some(Stated {
                    value: PreferenceSet::new(&robots, judge.agents(), how)?,
                    size: text.len(),
                })
            })
    }

    /// The preferences and licences of a robots.txt for a URL with these verdicts, after
    /// [`has_any`](Self::has_any). If it has none, they are those of a site that states nothing.
    pub(crate) fn at<'a>(
        &self,
        file: u32,
        url: &[u8],
        verdicts: impl Iterator<Item = Verdict>,
        memory: &'a mut PreferenceScratch,
    ) -> FileStatements<'a> {
        let PreferenceScratch {
            sets,
            answers,
            applied,
            key,
            ..
        } = memory;
        let engine = self.texts.judge().engine();
        applied.clear();
        let (Some(set), Some(parts)) = (sets.get(file), url::split(url, engine.profile(), key))
        else {
            applied.extend(none_stated(verdicts));
            return FileStatements {
                preferences: applied,
                licenses: &[],
            };
        };
        // A preference on the use of a page says nothing if the page may not be fetched.
        let stated = set.evaluate(&engine.normal_path(parts.path), answers);
        applied.extend(
            stated
                .iter()
                .zip(verdicts)
                .map(|(stated, verdict)| under(*stated, verdict)),
        );
        FileStatements {
            preferences: applied,
            licenses: set.licenses(),
        }
    }
}

/// Preferences of `content-usage` apply only to URLs that the agent may fetch
/// (draft-ietf-aipref-attach-05, section 3). Without a verdict none are stated anyway.
fn under(stated: Preferences, verdict: Verdict) -> Preferences {
    if verdict == Verdict::Disallowed {
        stated.of_refused_url()
    } else {
        stated
    }
}

/// The preferences under each of these verdicts if the site states none.
pub(crate) fn none_stated(
    verdicts: impl Iterator<Item = Verdict>,
) -> impl Iterator<Item = Preferences> {
    verdicts.map(|verdict| under(Preferences::default(), verdict))
}
