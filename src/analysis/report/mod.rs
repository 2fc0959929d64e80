//! Reports: aggregate figures of a snapshot and of lists of URLs, for some agents.
//!
//! [`Reporter`] computes a [`Report`]. `docs/REPORT.md` defines each figure.
//!
//! The lists are judged in one pass, which counts verdicts (`tally`) and keeps a sample of
//! disallowed URLs (`sample`). Everything else is computed from the snapshot: `survey`
//! counts origins, `rules` ranks rules and computes coverages, `origins` ranks origins, `deciding`
//! explains the sample, and `example` explains one disallowed URL.
//!
//! `units` selects one origin per host or domain, `weights` weighs them, and `groups` counts them
//! by top-level domain or by the groups of a `group_list`. [`Series`] has the figures of several
//! snapshots.

#[cfg(feature = "domains")]
mod concentration;
mod counts;
mod deciding;
mod example;
mod group_list;
mod groups;
mod model;
mod name_list;
mod origins;
mod rules;
mod sample;
mod sampling;
mod series;
mod signals;
mod survey;
mod tally;
mod unit_kind;
mod units;
mod weights;

pub use crate::file_pass::Coverage;
pub use group_list::{GroupList, NO_GROUP, Overruled};
pub use model::*;
pub use sampling::{Interval, SampleFacts, Sampling};
pub use series::{AgentPoint, Series, SeriesPoint};
pub use unit_kind::UnitKind;
pub use units::UnitSet;
pub use weights::Weights;

use crate::error::Result;
use crate::file_pass::SetCoverages;
use crate::job::{FilterStats, Input, Job, Progress};
use crate::judge::{Judge, Reason};
use crate::records::RecordOptions;
use counts::ReasonCounts;
use deciding::{DecidingSample, SAMPLE, explain_sample};
use groups::{GroupKey, UnitGrouping};
use rayon::prelude::*;
use rules::{SetUses, TopRules};
use sample::Sample;
use tally::{ListCounter, Tally};
use units::UnitRows;
use weights::WeightedUnits;

/// Computes reports for the agents of a [`Judge`], on all threads of the current rayon pool.
///
/// Cost: a few passes over the origins of the snapshot and over its distinct robots.txt files, each
/// of which is decompressed once. With lists, one pass over them, about as fast as annotating.
///
/// Memory: 8 bytes per robots.txt file, about 50 per rule set and 30 per distinct rule that the
/// agents obey. With lists, also 16 bytes per origin of the snapshot, however long the lists are.
/// By host or domain, 24 bytes per origin at first, and 4 per unit from then on. By origin or host,
/// 16 bytes per unit to find the domains that dominate a figure.
///
/// ```
/// use robosieve::report::{Coverage, Reporter};
/// use robosieve::job::Input;
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// let robots = b"user-agent: a\ndisallow: /\nuser-agent: *\ndisallow: /x";
/// compiler.add_robots("https://e.example", robots)?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(&snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
///
/// let report = Reporter::new(&judge).of_snapshot()?;
/// assert_eq!(report.top_origins[0].agents, [Coverage::Wholly, Coverage::Partly]);
///
/// let urls = b"https://e.example/\nhttps://e.example/x\nhttps://f.example/\n".as_slice();
/// let report = Reporter::new(&judge).of_inputs(vec![Input::from_reader("list", urls)])?;
/// let urls = report.agents[1].urls.unwrap();
/// assert_eq!((urls.allowed, urls.disallowed, urls.unknown), (1, 1, 1));
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct Reporter<'r> {
    judge: &'r Judge,
    by: UnitKind,
    within: Option<&'r UnitSet>,
    weights: Option<&'r Weights>,
    sets: &'r [AgentSubset],
    groups: Option<Grouping<'r>>,
    sampling: Option<Sampling>,
    top: usize,
    records: RecordOptions,
    require_url: bool,
    progress: &'r (dyn Fn(Progress) + Sync),
}

impl std::fmt::Debug for Reporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter")
            .field("top", &self.top)
            .finish_non_exhaustive()
    }
}

/// The units of a report, and those of them that are counted.
struct CountedUnits {
    all: UnitRows,
    /// The sample; `None` if all are counted.
    rows: Option<UnitRows>,
    sample: Option<SampleFacts>,
}

/// The groups of the units.
#[derive(Clone, Copy)]
enum Grouping<'r> {
    TopLevelDomain,
    List(&'r GroupList),
}

/// The counts of a pass over lists, and the sample of disallowed URLs.
struct ListCounts {
    stats: FilterStats,
    tally: Tally,
    sample: Sample,
}

impl<'r> Reporter<'r> {
    /// A reporter with 20 rows in each ranking.
    pub fn new(judge: &'r Judge) -> Self {
        Self {
            judge,
            by: UnitKind::Origin,
            within: None,
            weights: None,
            sets: &[],
            groups: None,
            sampling: None,
            top: 20,
            records: RecordOptions::default(),
            require_url: false,
            progress: &|_| {},
        }
    }

    /// Sets the units to count: origins by default.
    ///
    /// A host or a domain counts by one of its origins: by one that answered with a robots.txt or a
    /// client error, if there is any. Of several, the host that is the domain itself comes first,
    /// then its `www.` host, then hosts with few labels, then short ones. On one host, https comes
    /// before http, and both before other ports.
    ///
    /// ```
    /// use robosieve::report::{Reporter, UnitKind};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /")?;
    /// compiler.add_robots("http://e.example", b"")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let judge = Judge::new(&snapshot, &["a".parse()?], JudgeOptions::default())?;
    /// let report = Reporter::new(&judge).by(UnitKind::Host).of_snapshot()?;
    /// assert_eq!((report.units, report.agents[0].units.wholly), (1, 1));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn by(mut self, by: UnitKind) -> Self {
        self.by = by;
        self
    }

    /// Counts only the units of this set, which has to be of the same kind.
    pub fn within(mut self, units: &'r UnitSet) -> Self {
        self.within = Some(units);
        self
    }

    /// Also sums up the weights of the units. An origin has the weight of its host.
    pub fn weights(mut self, weights: &'r Weights) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Also counts the units by the number of agents of each of these sets that they disallow.
    ///
    /// ```
    /// use robosieve::report::{AgentSubset, Reporter};
    /// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: a\ndisallow: /")?;
    /// compiler.add_robots("https://f.example", b"user-agent: a\nuser-agent: b\ndisallow: /")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let agents = ["a".parse()?, "b".parse()?, "c".parse()?];
    /// let judge = Judge::new(&snapshot, &agents, JudgeOptions::default())?;
    /// let sets = [AgentSubset { name: "@ab".to_owned(), agents: vec![0, 1] }];
    /// let report = Reporter::new(&judge).sets(&sets).of_snapshot()?;
    /// let together = report.sets[0].together;
    /// assert_eq!((together.any_wholly, together.all_wholly), (2, 1));
    /// assert_eq!(report.together.all_wholly, 0);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn sets(mut self, sets: &'r [AgentSubset]) -> Self {
        self.sets = sets;
        self
    }

    /// Also counts the units by top-level domain.
    pub fn group_by_tld(mut self, has_groups: bool) -> Self {
        self.groups = has_groups.then_some(Grouping::TopLevelDomain);
        self
    }

    /// Also counts the units by the groups of this list, which has to be read for the same units.
    /// An origin has the group of its host.
    pub fn group_by(mut self, list: &'r GroupList) -> Self {
        self.groups = Some(Grouping::List(list));
        self
    }

    /// Counts only a random sample of the units, with intervals for all shares of it. With groups,
    /// the shares of each group are counted on a sample of its own, of the same size. URLs and
    /// weights have no intervals.
    pub fn sample(mut self, sampling: Sampling) -> Self {
        self.sampling = Some(sampling);
        self
    }

    /// Sets the number of rows in each ranking: origins, rules, values and top-level domains.
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Sets the position of the URL in each record of the lists.
    pub fn records(mut self, records: RecordOptions) -> Self {
        self.records = records;
        self
    }

    /// Sets a callback, which is called after each block of the lists.
    pub fn progress(mut self, progress: &'r (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Reports on the snapshot alone.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn of_snapshot(&self) -> Result<Report> {
        self.report(None)
    }

    /// Sets whether inputs with lines but without any URL are an error
    /// ([`Job::require_url`](crate::job::Job::require_url)).
    pub fn require_url(mut self, require: bool) -> Self {
        self.require_url = require;
        self
    }

    /// Reports on the snapshot and on files of URLs, which are read once: lists, Parquet or WARC
    /// files.
    ///
    /// # Errors
    /// As [`of_snapshot`](Self::of_snapshot), and those of
    /// [`Job::filter`](crate::job::Job::filter), with the file's name.
    pub fn of_inputs(&self, inputs: Vec<Input>) -> Result<Report> {
        let snapshot = self.judge.snapshot();
        let counter = ListCounter::new(
            Tally::new(snapshot.origin_count(), self.judge.agents().len()),
            Sample::new(SAMPLE),
        );
        let stats = Job::new(self.judge)
            .records(self.records.clone())
            .require_url(self.require_url)
            .progress(self.progress)
            .visit(inputs, &counter)?;
        let (tally, sample) = counter.into_parts();
        self.report(Some(ListCounts {
            stats,
            tally,
            sample,
        }))
    }

    /// The figures of the snapshot as one point of a [`Series`].
    ///
    /// Cost: less than [`of_snapshot`](Self::of_snapshot), because no robots.txt is decompressed.
    ///
    /// # Errors
    /// As [`of_snapshot`](Self::of_snapshot).
    pub fn series_point(&self, label: impl Into<String>) -> Result<SeriesPoint> {
        let engine = self.judge.engine();
        let CountedUnits { all, rows, sample } = self.counted_units()?;
        let rows = rows.as_ref().unwrap_or(&all);
        let (uses, reasons) = survey::count_uses(engine, rows)?;
        let sets = sorted(survey::survey_sets(engine, &uses)?);
        let coverages = SetCoverages::compute(engine, sets.par_iter().map(|(offset, _)| *offset))?;
        // A point does not list rules, so their ranking stays empty.
        let top = TopRules::default();
        let counts = survey::count_by_agent(engine, &uses, &reasons, &coverages, self.sets, &top)?;
        let (weights, weighted) = self.weigh(rows, &coverages)?;
        let (groups, group_list) = self.group(&all, &coverages)?;
        let agents = engine.agents().iter().zip(&counts.coverage).enumerate();
        engine.snapshot().verify_unchanged()?;
        Ok(SeriesPoint {
            label: label.into(),
            snapshot: self.snapshot_facts()?,
            judging: self.judging(),
            units: rows.len().into(),
            sample,
            weights,
            together: counts.together,
            together_intervals: sample.map(|sample| counts.together.intervals(&sample)),
            sets: self.set_reports(&counts.sets, sample),
            groups,
            group_list,
            agents: agents
                .map(|(number, (agent, coverage))| AgentPoint {
                    agent: agent.to_string(),
                    units: *coverage,
                    intervals: sample.map(|sample| coverage.intervals(&sample)),
                    weighted: weighted.get(number).copied(),
                })
                .collect(),
        })
    }

    /// The figures that one domain dominates. Without the feature `domains`, domains are not known.
    #[cfg_attr(
        not(feature = "domains"),
        expect(unused_variables, reason = "domains are not known")
    )]
    fn concentrations(
        &self,
        rows: &UnitRows,
        sets: &SetCoverages,
        counts: &[CoverageCounts],
    ) -> Result<Vec<Concentration>> {
        #[cfg(feature = "domains")]
        return concentration::concentrations(self.judge.engine(), self.by, rows, sets, counts);
        #[cfg(not(feature = "domains"))]
        Ok(Vec::new())
    }

    /// The figures of the sets, each with the names of its agents.
    fn set_reports(&self, counts: &[Together], sample: Option<SampleFacts>) -> Vec<SetReport> {
        let agents = self.judge.agents();
        let names = |set: &AgentSubset| {
            let members = set.agents.iter().filter_map(|&agent| agents.get(agent));
            members.map(ToString::to_string).collect()
        };
        let sets = self.sets.iter().zip(counts);
        sets.map(|(set, together)| SetReport {
            name: set.name.clone(),
            agents: names(set),
            together: *together,
            intervals: sample.map(|sample| together.intervals(&sample)),
        })
        .collect()
    }

    /// All units, and the sample of them that is counted.
    fn counted_units(&self) -> Result<CountedUnits> {
        let snapshot = self.judge.snapshot();
        let all = UnitRows::select(snapshot, self.by, self.within)?;
        let Some(sampling) = self.sampling else {
            return Ok(CountedUnits {
                all,
                rows: None,
                sample: None,
            });
        };
        let rows = all.sample(snapshot, self.by, sampling)?;
        let sample = SampleFacts {
            size: sampling.size,
            seed: sampling.seed,
            units: rows.len().into(),
            of: all.len().into(),
        };
        Ok(CountedUnits {
            all,
            rows: Some(rows),
            sample: Some(sample),
        })
    }

    /// The groups of all units, and the facts of their list.
    fn group(
        &self,
        all: &UnitRows,
        coverages: &SetCoverages,
    ) -> Result<(Option<Vec<UnitGroup>>, Option<GroupListFacts>)> {
        let (key, list) = match self.groups {
            None => return Ok((None, None)),
            Some(Grouping::TopLevelDomain) => (GroupKey::TopLevelDomain { limit: self.top }, None),
            Some(Grouping::List(list)) => (GroupKey::List(list), Some(list)),
        };
        let engine = self.judge.engine();
        let mut grouping = UnitGrouping::new(engine, all, key)?;
        let facts = list.map(|list| GroupListFacts {
            entries: list.len() as u64,
            units_matched: grouping.units_matched(),
            overruled: list.overruled().lines,
        });
        let Some(sampling) = self.sampling else {
            return Ok((Some(grouping.count(engine, coverages)?), facts));
        };
        // The samples of the groups have other units than that of the whole, and so other rules.
        grouping.sample(engine, self.by, sampling)?;
        let (uses, _) = survey::count_uses(engine, &grouping.unit_rows())?;
        let sets = sorted(survey::survey_sets(engine, &uses)?);
        let coverages = SetCoverages::compute(engine, sets.par_iter().map(|(offset, _)| *offset))?;
        let mut groups = grouping.count(engine, &coverages)?;
        for group in &mut groups {
            let sample = SampleFacts {
                size: sampling.size,
                seed: sampling.seed,
                units: group.units,
                of: group.of,
            };
            let intervals = group.agents.iter().map(|of| of.intervals(&sample));
            group.intervals = Some(intervals.collect());
        }
        Ok((Some(groups), facts))
    }

    /// The weights of the units in these rows, and their sums for each agent.
    fn weigh(
        &self,
        rows: &UnitRows,
        coverages: &SetCoverages,
    ) -> Result<(Option<WeightFacts>, Vec<CoverageCounts<f64>>)> {
        let Some(weights) = self.weights else {
            return Ok((None, Vec::new()));
        };
        let units = WeightedUnits::find(self.judge.snapshot(), self.by, rows, weights)?;
        Ok((
            Some(units.facts()),
            units.count(self.judge.engine(), coverages)?,
        ))
    }

    /// Completes a report. `lists` has the counts of the lists, if there are any.
    fn report(&self, lists: Option<ListCounts>) -> Result<Report> {
        let engine = self.judge.engine();
        let lists = lists.as_ref();
        let CountedUnits { all, rows, sample } = self.counted_units()?;
        let rows = rows.as_ref().unwrap_or(&all);
        let (uses, reasons) = survey::count_uses(engine, rows)?;
        let survey = survey::survey_files(engine, &uses)?;
        let sets = sorted(survey.sets);
        let coverages = SetCoverages::compute(engine, sets.par_iter().map(|(offset, _)| *offset))?;
        let top = TopRules::new(engine, &sets, self.top)?;
        let counts = survey::count_by_agent(engine, &uses, &reasons, &coverages, self.sets, &top)?;
        let deciding = lists
            .map(|lists| explain_sample(engine, &lists.sample, self.top))
            .transpose()?;
        let example = match &deciding {
            Some(DecidingSample {
                example: Some(refused),
                ..
            }) => example::example_of_lists(engine, refused)?,
            Some(_) => None,
            None => example::example_of_snapshot(engine, &top, &counts)?,
        };
        let (weights, weighted) = self.weigh(rows, &coverages)?;
        let (groups, group_list) = self.group(&all, &coverages)?;
        let all_rows = UnitRows::All(engine.snapshot().origin_count());
        let agents = engine.agents().iter().zip(&counts.coverage).enumerate();
        engine.snapshot().verify_unchanged()?;
        let mut report = Report {
            snapshot: self.snapshot_facts()?,
            judging: self.judging(),
            by: self.by,
            units: rows.len().into(),
            sample,
            weights,
            lists: lists.map(|lists| self.list_facts(lists)),
            agents: agents
                .map(|(number, (agent, coverage))| AgentReport {
                    agent: agent.to_string(),
                    units: *coverage,
                    intervals: sample.map(|sample| coverage.intervals(&sample)),
                    weighted: weighted.get(number).copied(),
                    urls: lists.map(|lists| url_counts(&lists.stats, number)),
                })
                .collect(),
            together: counts.together,
            together_intervals: sample.map(|sample| counts.together.intervals(&sample)),
            sets: self.set_reports(&counts.sets, sample),
            concentrations: self.concentrations(rows, &coverages, &counts.coverage)?,
            groups,
            group_list,
            reasons: reason_reports(&reasons, lists),
            // All origins have URLs, also those that do not represent their unit.
            top_origins: match lists {
                Some(lists) => origins::top_origins(
                    engine,
                    &all_rows,
                    &coverages,
                    Some(&lists.tally),
                    self.top,
                )?,
                None => origins::top_origins(engine, rows, &coverages, None, self.top)?,
            },
            rules: top.report(&counts),
            deciding: deciding.map(|deciding| deciding.report),
            signals: survey.signals.report(self.top),
            example,
        };
        add_intervals(&mut report);
        Ok(report)
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
            captured_from: metadata.captured.map(|span| span.oldest),
            captured_to: metadata.captured.map(|span| span.newest),
        })
    }

    fn judging(&self) -> Judging {
        Judging {
            status_policy: self.judge.engine().policy().name(),
            unknown_origins: self.judge.engine().verdict_on_unknown().name(),
            any_scheme: self.judge.engine().options().any_scheme,
            at: self.judge.engine().options().at,
        }
    }

    fn list_facts(&self, lists: &ListCounts) -> ListFacts {
        let stats = &lists.stats;
        ListFacts {
            lines: stats.lines,
            allowed_to_all: stats.allowed,
            refused_to_any: stats.disallowed,
            unknown: stats.unknown,
            invalid: stats.invalid,
            blank: stats.blank,
            bytes: stats.bytes,
            via_other_scheme: stats.via_other_scheme,
            origins: (0..self.judge.snapshot().origin_count())
                .filter(|row| lists.tally.of_origin(*row)[0] > 0)
                .count() as u64,
        }
    }
}

/// Rule sets in the order of the snapshot, which makes reading them fast.
fn sorted(sets: SetUses) -> Vec<(u32, u64)> {
    let mut sets: Vec<(u32, u64)> = sets.into_iter().collect();
    sets.sort_unstable();
    sets
}

fn url_counts(stats: &FilterStats, agent: usize) -> UrlCounts {
    let allowed = stats.agent_allowed.get(agent).copied().unwrap_or_default();
    let disallowed = (stats.allowed + stats.disallowed).saturating_sub(allowed);
    UrlCounts {
        allowed,
        disallowed,
        unknown: stats.unknown,
        invalid: stats.invalid,
    }
}

/// The reasons that occur, of origins or of URLs.
fn reason_reports(reasons: &ReasonCounts, lists: Option<&ListCounts>) -> Vec<ReasonReport> {
    let mut reports = Vec::new();
    for (reason, count) in Reason::ALL.iter().zip(reasons.0) {
        let (urls, urls_refused) = lists.map(|lists| lists.tally.of_reason(*reason)).unzip();
        if count.origins > 0 || urls.is_some_and(|urls| urls > 0) {
            reports.push(ReasonReport {
                reason: *reason,
                origins: count.origins,
                interval: None,
                origins_refused: count.refused,
                urls,
                urls_refused,
            });
        }
    }
    reports
}

/// Adds the intervals of the reasons, the rules and the preferences, which are counted without.
fn add_intervals(report: &mut Report) {
    let Some(sample) = report.sample else {
        return;
    };
    let interval = |part| Some(sample.interval(part, sample.units));
    for reason in &mut report.reasons {
        reason.interval = interval(reason.origins);
    }
    for rule in &mut report.rules.top {
        rule.interval = interval(rule.origins);
    }
    for signal in &mut report.signals {
        signal.interval = interval(signal.origins);
        // The units with the field are a sample of all units with it, at the same rate.
        for value in &mut signal.values {
            value.interval = Some(sample.interval(value.origins, signal.origins));
        }
    }
}

/// The text of bytes that a site wrote.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
