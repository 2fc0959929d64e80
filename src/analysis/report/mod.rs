//! Reports: what a snapshot, and lists of URLs, come to for some agents.
//!
//! [`Reporter`] makes a [`Report`]. `docs/REPORT.md` tells what each number means and how it is decided.

mod counts;
mod deciding;
mod example;
mod model;
mod origins;
mod rules;
mod signals;
mod survey;

pub use model::*;

use crate::error::Result;
use crate::filter::{Filter, Sample, Tally};
use crate::judge::Judge;
use crate::judge::{Reason, StatusPolicy};
use crate::parquet::{ParquetFilter, ParquetInput};
use crate::pipeline::{FilterProgress, FilterStats, Input};
use crate::records::RecordOptions;
use counts::Bases;
use deciding::{SAMPLE, explain_sample};
use survey::Files;

/// Makes reports for the agents of a [`Judge`], on all threads of the current rayon pool.
///
/// Cost: a few passes over the origins of the snapshot and over its distinct robots.txt files, each of which is decompressed once; with
/// lists, one pass over them, about as fast as annotating. Memory: four bytes for each robots.txt file, some 50 for each rule set and 30 for
/// each distinct rule that the agents meet, and with lists 16 for each origin, however many URLs there are.
///
/// ```
/// use robosieve::{Coverage, report::Reporter};
/// use robosieve::{Compiler, Input, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: a\ndisallow: /\nuser-agent: *\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
///
/// let report = Reporter::new(&judge).of_snapshot()?;
/// assert_eq!(report.top_origins[0].agents, [Coverage::Wholly, Coverage::Partly]);
///
/// let list = Input::from_reader("list", b"https://e.example/\nhttps://e.example/x\nhttps://f.example/\n".as_slice());
/// let report = Reporter::new(&judge).of_lists(vec![list])?;
/// let urls = report.agents[1].urls.unwrap();
/// assert_eq!((urls.allowed, urls.disallowed, urls.unknown), (1, 1, 1));
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct Reporter<'r> {
    judge: &'r Judge,
    top: usize,
    records: RecordOptions,
    progress: &'r (dyn Fn(FilterProgress) + Sync),
}

impl std::fmt::Debug for Reporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter").field("top", &self.top).finish_non_exhaustive()
    }
}

/// What a pass over lists came to.
struct Pass {
    stats: FilterStats,
    tally: Tally,
    sample: Sample,
}

impl<'r> Reporter<'r> {
    /// Reports with the first 20 of everything that is ranked.
    pub fn new(judge: &'r Judge) -> Self {
        Self { judge, top: 20, records: RecordOptions::default(), progress: &|_| {} }
    }

    /// How many origins, rules and values are named.
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Where the URLs of the lists stand.
    pub fn records(mut self, records: RecordOptions) -> Self {
        self.records = records;
        self
    }

    /// Is called after every block that was read.
    pub fn progress(mut self, progress: &'r (dyn Fn(FilterProgress) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Reports on the snapshot alone.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub fn of_snapshot(&self) -> Result<Report> {
        self.report(None)
    }

    /// Reports on the snapshot and on lists of URLs, which are read once.
    ///
    /// # Errors
    /// As [`of_snapshot`](Self::of_snapshot), and what cannot be read, naming the file.
    pub fn of_lists(&self, inputs: Vec<Input>) -> Result<Report> {
        let (tally, mut sample) = self.counters();
        let filter = Filter::new(self.judge).records(self.records.clone()).progress(self.progress);
        let stats = filter.tally(inputs, &tally, &mut sample)?;
        self.report(Some(Pass { stats, tally, sample }))
    }

    /// Reports on the snapshot and on columns of URLs, which are read once.
    ///
    /// # Errors
    /// As [`of_lists`](Self::of_lists); [`ErrorKind::BadTable`](crate::ErrorKind::BadTable) for damaged files.
    pub fn of_tables(&self, inputs: &[ParquetInput]) -> Result<Report> {
        let (tally, mut sample) = self.counters();
        let stats = ParquetFilter::new(self.judge).progress(self.progress).tally(inputs, &tally, &mut sample)?;
        self.report(Some(Pass { stats, tally, sample }))
    }

    fn counters(&self) -> (Tally, Sample) {
        (Tally::new(self.judge.snapshot().origin_count(), self.judge.agents().len()), Sample::new(SAMPLE))
    }

    fn report(&self, pass: Option<Pass>) -> Result<Report> {
        let judge = self.judge.engine();
        let (files, bases) = Files::count(judge)?;
        let mut found = survey::find(judge, &files)?;
        found.sets.find_reach(judge)?;
        let top = found.sets.top(judge, self.top)?;
        let counts = survey::by_agent(judge, (&files, &bases), &found.sets, &top)?;
        let deciding = match &pass {
            Some(pass) => Some(explain_sample(judge, &pass.sample, self.top)?),
            None => None,
        };
        let example = match &deciding {
            Some(deciding) => match &deciding.example {
                Some((url, agent)) => example::of_lists(judge, url, *agent)?,
                None => None,
            },
            None => example::of_snapshot(judge, &top, &counts)?,
        };
        let agents = judge.agents().iter().zip(&counts.reach).enumerate();
        Ok(Report {
            snapshot: self.snapshot_facts()?,
            judging: self.judging(),
            lists: pass.as_ref().map(|pass| self.list_facts(pass)),
            agents: agents
                .map(|(number, (agent, reach))| AgentReport {
                    agent: agent.to_string(),
                    origins: *reach,
                    urls: pass.as_ref().map(|pass| url_counts(&pass.stats, number)),
                })
                .collect(),
            together: counts.together,
            bases: basis_reports(&bases, pass.as_ref()),
            top_origins: origins::top(judge, &found.sets, pass.as_ref().map(|pass| &pass.tally), self.top)?,
            rules: top.report(&counts),
            deciding: deciding.map(|deciding| deciding.report),
            signals: found.signals.report(self.top),
            example,
        })
    }

    fn snapshot_facts(&self) -> Result<SnapshotFacts> {
        let snapshot = self.judge.snapshot();
        let metadata = snapshot.metadata()?;
        Ok(SnapshotFacts {
            checksum: format!("{:016x}", snapshot.checksum()),
            bytes: snapshot.byte_len(),
            profile: metadata.profile,
            origins: metadata.counts.origins,
            robots_files: metadata.counts.files,
            captured_from: metadata.captured.map(|(from, _)| from),
            captured_to: metadata.captured.map(|(_, to)| to),
        })
    }

    fn judging(&self) -> Judging {
        Judging {
            status_policy: match self.judge.engine().policy() {
                StatusPolicy::Google => "google",
                StatusPolicy::Rfc9309 => "rfc9309",
                StatusPolicy::Strict => "strict",
            },
            unknown_origins: self.judge.engine().verdict_on_unknown().name(),
            any_scheme: self.judge.engine().options().any_scheme,
            at: self.judge.engine().options().at,
        }
    }

    fn list_facts(&self, Pass { stats, tally, .. }: &Pass) -> ListFacts {
        let met = |row: &u32| tally.of_origin(*row)[0] > 0;
        ListFacts {
            lines: stats.lines,
            allowed_to_all: stats.allowed,
            refused_to_any: stats.disallowed,
            unknown: stats.unknown,
            invalid: stats.invalid,
            blank: stats.blank,
            bytes: stats.bytes,
            via_other_scheme: stats.via_other_scheme,
            origins: (0..self.judge.snapshot().origin_count()).filter(met).count() as u64,
        }
    }
}

fn url_counts(stats: &FilterStats, agent: usize) -> UrlCounts {
    let allowed = stats.agent_allowed.get(agent).copied().unwrap_or_default();
    let disallowed = (stats.allowed + stats.disallowed).saturating_sub(allowed);
    UrlCounts { allowed, disallowed, unknown: stats.unknown, invalid: stats.invalid }
}

/// What occurs, of origins or of URLs.
fn basis_reports(bases: &Bases, pass: Option<&Pass>) -> Vec<BasisReport> {
    let report = |(basis, [origins, origins_refused]): (&Reason, [u64; 2])| {
        let urls = pass.map(|pass| pass.tally.of_basis(*basis));
        let (urls, urls_refused) = urls.unzip();
        BasisReport { basis: *basis, origins, origins_refused, urls, urls_refused }
    };
    let reports = Reason::ALL.iter().zip(bases.0).map(report);
    reports.filter(|report| report.origins > 0 || report.urls.is_some_and(|urls| urls > 0)).collect()
}

/// What a site wrote, as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
