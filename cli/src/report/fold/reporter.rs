//! Computes a report: one pass over the rows of the export, and one over the robots.txt files.

use super::concentration::concentrations;
use super::deciding::{DecidingSample, SAMPLE, explain_sample};
use super::example;
use super::group_list::GroupList;
use super::groups::{GroupKey, UnitGrouping};
use super::model::{
    AgentReport, AgentSubset, AgentUrls, CoverageCounts, GroupListFacts, Judging, ListFacts,
    ReasonReport, Report, SetReport, SnapshotFacts, Together, UnitGroup, UrlCounts, WeightFacts,
};
use super::origin_table::OriginTable;
use super::rules::TopRules;
use super::sample::Sample;
use super::sampling::{Interval, SampleFacts, Sampling};
use super::series::SeriesPoint;
use super::since::{Periods, since_periods};
use super::survey::{count_rules, survey_files, used_files};
use super::tally::{ListCounter, Tally};
use super::top_origins::top_origins;
use super::unit_kind::UnitKind;
use super::units::{UnitSet, draw_sample, unit_rows};
use super::weights::{WeightedUnits, Weights};
use robosieve::job::{FilterStats, Input, Job, Progress};
use robosieve::judge::Reason;
use robosieve::records::RecordOptions;
use robosieve::{Judge, Result};

/// Computes reports for the agents of a [`Judge`], on all threads of the current rayon pool.
///
/// Cost: a pass over the export's rows of the counted units, and two over their robots.txt files. The
/// first finds their groups, and the second decompresses them. With lists, one pass over them, about
/// as fast as annotating.
///
/// Memory: 9 bytes per origin, 20 per robots.txt, about 50 per rule set and 30 per distinct rule
/// that the agents obey. With lists, also 16 bytes per origin, however long the lists are. By host
/// or domain, 24 bytes per origin at first. By origin or host, 16 bytes per unit to find the domains
/// that dominate a figure.
pub struct Reporter<'r> {
    judge: &'r Judge,
    /// The units to count: origins by default.
    ///
    /// A host or a domain counts by one of its origins: by one that answered with a robots.txt or a
    /// client error, if there is any. Of several, the host that is the domain itself comes first,
    /// then its `www.` host, then hosts with few labels, then short ones. On one host, https comes
    /// before http, and both before other ports.
    pub by: UnitKind,
    /// Only the units of this set are counted. It has to be of the same kind.
    pub within: Option<&'r UnitSet>,
    /// The weights to sum up. An origin has the weight of its host.
    pub weights: Option<&'r Weights>,
    /// The sets of agents whose units are counted by the number of agents that they disallow.
    pub sets: &'r [AgentSubset],
    /// The groups that the units are counted by.
    pub groups: Option<Grouping<'r>>,
    /// The periods by which the beginnings of disallowing are counted. The snapshot needs a history.
    pub since: Option<Periods<'r>>,
    /// Only a random sample of the units is counted, with intervals for all shares of it. With
    /// groups, the shares of each group are counted on a sample of its own, of the same size. URLs
    /// and weights have no intervals.
    pub sampling: Option<Sampling>,
    /// The number of rows in each ranking: origins, rules, values and top-level domains.
    pub top: usize,
    /// The position of the URL in each record of the lists.
    pub records: RecordOptions,
    /// Whether inputs with lines but without any URL are an error.
    pub require_url: bool,
    /// Is called after each block of the lists.
    pub progress: &'r (dyn Fn(Progress) + Sync),
}

/// The groups of the units.
#[derive(Clone, Copy)]
pub enum Grouping<'r> {
    TopLevelDomain,
    /// A list, which has to be read for the same units. An origin has the group of its host.
    List(&'r GroupList),
}

/// The counts of a pass over lists, and the sample of disallowed URLs.
struct ListCounts {
    stats: FilterStats,
    tally: Tally,
    sample: Sample,
}

/// The figures of units that a report and a point of a series share.
struct UnitFigures<'t> {
    table: OriginTable<'t>,
    /// The counted units, by the rows of their representatives.
    rows: Vec<u32>,
    sample: Option<SampleFacts>,
    agents: Vec<CoverageCounts>,
    together: Together,
    sets: Vec<SetReport>,
    weights: Option<WeightFacts>,
    weighted: Vec<CoverageCounts<f64>>,
    groups: Option<Vec<UnitGroup>>,
    group_list: Option<GroupListFacts>,
}

impl UnitFigures<'_> {
    fn together_intervals(&self) -> Option<Together<Interval>> {
        self.sample.map(|sample| self.together.intervals(&sample))
    }

    /// The agents, with the URLs of each.
    fn agents(&self, judge: &Judge, urls: impl Fn(usize) -> AgentUrls) -> Vec<AgentReport> {
        let agents = judge.agents().iter().zip(&self.agents).enumerate();
        agents
            .map(|(number, (agent, units))| AgentReport {
                agent: agent.to_string(),
                units: *units,
                intervals: self.sample.map(|sample| units.intervals(&sample)),
                weighted: self.weighted.get(number).copied(),
                urls: urls(number),
            })
            .collect()
    }
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
            since: None,
            sampling: None,
            top: 20,
            records: RecordOptions::default(),
            require_url: false,
            progress: &|_| {},
        }
    }

    /// Reports on the snapshot alone.
    pub fn of_snapshot(&self) -> Result<Report> {
        self.report(None)
    }

    /// Reports on the snapshot and on files of URLs, which are read once: lists, Parquet or WARC
    /// files.
    pub fn of_inputs(&self, inputs: Vec<Input>) -> Result<Report> {
        let origins = self.judge.snapshot().origin_count();
        let tally = Tally::new(origins, self.judge.agents().len());
        let counter = ListCounter::new(tally, Sample::new(SAMPLE));
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

    /// The figures of the snapshot as one point of a series. No robots.txt is decompressed.
    pub fn series_point(&self, label: impl Into<String>) -> Result<SeriesPoint> {
        let figures = self.unit_figures()?;
        self.judge.snapshot().verify_unchanged()?;
        Ok(SeriesPoint {
            label: label.into(),
            snapshot: self.snapshot_facts()?,
            judging: self.judging(),
            units: figures.rows.len() as u64,
            agents: figures.agents(self.judge, |_| AgentUrls::InSeries),
            together: figures.together,
            together_intervals: figures.together_intervals(),
            sample: figures.sample,
            weights: figures.weights,
            sets: figures.sets,
            groups: figures.groups,
            group_list: figures.group_list,
        })
    }

    /// Selects the units, and counts them by what they disallow.
    fn unit_figures(&self) -> Result<UnitFigures<'_>> {
        let snapshot = self.judge.snapshot();
        let mut table = OriginTable::new(self.judge)?;
        let all = unit_rows(snapshot, self.by, self.within)?;
        // Groups are groups of all units, each with a sample of its own.
        let (groups, group_list) = self.group(&all, &mut table)?;
        let of = all.len() as u64;
        let rows = match self.sampling {
            Some(sampling) => draw_sample(snapshot, self.by, &all, sampling)?,
            None => all,
        };
        let drawn = rows.len() as u64;
        let sample = self.sampling.map(|sampling| sampling.facts(drawn, of));
        table.read(&rows)?;
        let counts = table.count(&rows);
        let (weights, weighted) = match self.weights {
            Some(weights) => {
                let units = WeightedUnits::find(snapshot, self.by, &rows, weights)?;
                (Some(units.facts()), units.count(&table))
            }
            None => (None, Vec::new()),
        };
        let sets = self.sets.iter().map(|set| {
            let together = table.together_of_set(&counts, set);
            let agents = self.judge.agents();
            let members = set.agents.iter().filter_map(|&agent| agents.get(agent));
            SetReport {
                name: set.name.clone(),
                agents: members.map(ToString::to_string).collect(),
                together,
                intervals: sample.map(|sample| together.intervals(&sample)),
            }
        });
        Ok(UnitFigures {
            sample,
            agents: table.by_agent(&counts),
            together: table.together(&counts),
            sets: sets.collect(),
            weights,
            weighted,
            groups,
            group_list,
            rows,
            table,
        })
    }

    /// The groups of all units, and the facts of their list.
    fn group(
        &self,
        all: &[u32],
        table: &mut OriginTable,
    ) -> Result<(Option<Vec<UnitGroup>>, Option<GroupListFacts>)> {
        let (key, list) = match self.groups {
            None => return Ok((None, None)),
            Some(Grouping::TopLevelDomain) => (GroupKey::TopLevelDomain { limit: self.top }, None),
            Some(Grouping::List(list)) => (GroupKey::List(list), Some(list)),
        };
        let snapshot = self.judge.snapshot();
        let grouping = UnitGrouping::new(snapshot, all, key)?;
        let facts = list.map(|list| GroupListFacts {
            entries: list.len() as u64,
            units_matched: grouping.units_matched(),
            overruled: list.overruled().lines,
        });
        let groups = grouping.count(snapshot, self.by, table, self.sampling)?;
        Ok((Some(groups), facts))
    }

    /// Completes a report. `lists` has the counts of the lists, if there are any.
    fn report(&self, lists: Option<ListCounts>) -> Result<Report> {
        let (judge, snapshot) = (self.judge, self.judge.snapshot());
        let lists = lists.as_ref();
        let mut figures = self.unit_figures()?;
        let UnitFigures { table, rows, .. } = &mut figures;
        let files = used_files(table, rows);
        let survey = survey_files(judge, table, &files)?;
        // In the order of the snapshot, which makes reading them fast.
        let mut sets: Vec<(u32, u64)> = survey.sets.into_iter().collect();
        sets.sort_unstable();
        let top = TopRules::new(judge, &sets, self.top)?;
        let rule_counts = count_rules(table, &files, &top);
        let deciding = lists
            .map(|lists| explain_sample(judge, &lists.sample, self.top))
            .transpose()?;
        let example = match &deciding {
            Some(DecidingSample {
                example: Some(refused),
                ..
            }) => example::example_of_lists(judge, refused)?,
            Some(_) => None,
            None => example::example_of_snapshot(judge, table, &top, &rule_counts)?,
        };
        // All origins have URLs, also those that do not represent their unit.
        let top_origins = match lists {
            Some(ListCounts { tally, .. }) => {
                let all = 0..snapshot.origin_count();
                top_origins(snapshot, all, table, Some(tally), self.top)?
            }
            None => top_origins(snapshot, rows.iter().copied(), table, None, self.top)?,
        };
        let since = match self.since {
            Some(periods) => Some(since_periods(judge, table, rows, periods)?),
            None => None,
        };
        snapshot.verify_unchanged()?;
        let UnitFigures { table, rows, .. } = &figures;
        let urls = |agent| match lists {
            Some(lists) => AgentUrls::Counted(url_counts(&lists.stats, agent)),
            None => AgentUrls::NoLists,
        };
        let mut report = Report {
            snapshot: self.snapshot_facts()?,
            judging: self.judging(),
            by: self.by,
            units: rows.len() as u64,
            lists: lists.map(|lists| self.list_facts(lists)),
            agents: figures.agents(judge, urls),
            together_intervals: figures.together_intervals(),
            concentrations: concentrations(judge, self.by, rows, table, &figures.agents)?,
            disallowed_since: since,
            reasons: reason_reports(table, rows, lists),
            top_origins,
            rules: top.report(&rule_counts),
            deciding: deciding.map(|deciding| deciding.report),
            signals: survey.signals.report(self.top),
            example,
            sample: figures.sample,
            together: figures.together,
            sets: figures.sets,
            weights: figures.weights,
            groups: figures.groups,
            group_list: figures.group_list,
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
        let options = self.judge.options();
        Judging {
            status_policy: options.status_policy.map_or("", |policy| policy.name()),
            unknown_origins: self.judge.verdict_on_unknown().name(),
            any_scheme: options.any_scheme,
            at: options.at,
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
fn reason_reports(
    table: &OriginTable,
    rows: &[u32],
    lists: Option<&ListCounts>,
) -> Vec<ReasonReport> {
    let mut reports = Vec::new();
    let mut counts = [[0; 2]; Reason::ALL.len()];
    for row in rows {
        let [origins, disallowed] = &mut counts[table.reason(*row) as usize];
        *origins += 1;
        *disallowed += u64::from(table.is_disallowed(*row));
    }
    for reason in &Reason::ALL {
        let [origins, origins_refused] = counts[*reason as usize];
        let (urls, urls_refused) = lists.map(|lists| lists.tally.of_reason(*reason)).unzip();
        if origins > 0 || urls.is_some_and(|urls| urls > 0) {
            reports.push(ReasonReport {
                reason: *reason,
                origins,
                interval: None,
                origins_refused,
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
