//! A report as text for a terminal.

use super::fold::{
    AgentReport, AgentSince, Example, NO_GROUP, Report, SampleFacts, UnitGroup, UnitKind,
};
use super::group_measures::GROUP_MEASURES;
use super::headlines;
use crate::figures::counts::{counted, counted_as, grouped};
use crate::figures::escape::escape_cut;
use crate::figures::shares::{interval, share, weight_share};
use crate::figures::table::Columns;
use crate::time::minute;

/// The most characters of an agent's name, of a rule and of an origin.
const NAME: usize = 26;
const RULE: usize = 60;
const ORIGIN: usize = 50;
/// The most agents in the tables of top-level domains and of the groups of a list.
const GROUP_AGENTS: usize = 5;
const LIST_AGENTS: usize = 4;
/// The most groups of a list in its tables.
const GROUPS: usize = 50;

/// The columns of URLs per agent, each a count and its share.
const URL_COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: NAME,
    gap: 1,
    cells: &[17],
};
/// The columns of units per agent: a count and its share, then the shares of the causes.
const CAUSE_COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: NAME,
    gap: 0,
    cells: &[19, 9, 9, 11, 10, 10],
};
/// The same, with room for the intervals of a sample.
const SAMPLE_COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: 22,
    gap: 0,
    cells: &[19, 11],
};
/// The columns of sets of agents, each a count and its share.
const SET_COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: NAME,
    gap: 0,
    cells: &[19],
};
/// The columns of top-level domains: a count and its share, then a share per agent.
const GROUP_COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: 14,
    gap: 0,
    cells: &[19, 13],
};

/// The columns of the groups of a list: the same, with longer names.
const LIST_COLUMNS: Columns<'_> = Columns {
    name: NAME,
    ..GROUP_COLUMNS
};

/// The columns of periods: a count per agent.
const SINCE_COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: 18,
    gap: 0,
    cells: &[15],
};
/// The most agents of that table, the characters of their names, and the most periods.
const SINCE_AGENTS: usize = 5;
const SINCE_AGENT: usize = 13;
const PERIODS: usize = 36;

pub(super) fn table(report: &Report) -> String {
    let mut out = ReportTable {
        text: String::new(),
        // An interval follows each share of units.
        share: if report.sample.is_some() { 36 } else { 22 },
    };
    head(report, &mut out);
    agents(report, &mut out);
    reasons(report, &mut out);
    top_origins(report, &mut out);
    rules(report, &mut out);
    signals(report, &mut out);
    if let Some(refusal) = &report.example {
        example(refusal, &mut out);
    }
    out.text
}

struct ReportTable {
    text: String,
    /// The width of a column of counts with their shares.
    share: usize,
}

impl ReportTable {
    fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref().trim_end());
        self.text.push('\n');
    }

    fn heading(&mut self, text: impl AsRef<str>) {
        self.text.push('\n');
        self.line(text);
    }

    /// A name in a column of `width`, and its counts with their shares.
    fn row(&mut self, name: &str, width: usize, cells: &[String]) {
        let columns = Columns {
            indent: 2,
            name: width,
            gap: 0,
            cells: &[self.share, 22],
        };
        self.line(columns.row(name, cells));
    }
}

/// What the figures below are of: the snapshot, the lists and the units.
fn head(report: &Report, out: &mut ReportTable) {
    // The profile and the policy decide verdicts, so two reports compare only if they agree.
    let snapshot = &report.snapshot;
    out.line(headlines::title(report));
    out.line(format!(
        "snapshot: {}, {}, captured {}; profile {}, status policy {}",
        counted(snapshot.origins, "origin"),
        counted(snapshot.robots_files, "robots.txt file"),
        headlines::captured(snapshot),
        snapshot.profile.name(),
        report.judging.status_policy,
    ));
    if let Some(lists) = &report.lists {
        out.line(format!(
            "lists: {}, of {} of these origins; {} of others, {}",
            counted(lists.lines, "line"),
            grouped(lists.origins),
            grouped(lists.unknown),
            counted_as(lists.invalid, "that is not a URL", "that are not URLs")
        ));
    }
    // The unit changes every share below.
    if let Some(sample) = &report.sample {
        out.line(headlines::sample(report.by, sample));
        return;
    }
    out.line(match report.by {
        UnitKind::Origin => {
            "counted: origins; http, https, www and every port count separately".to_owned()
        }
        by => format!(
            "counted: {}, each by one of its origins",
            counted(report.units, by.name())
        ),
    });
}

fn with_share(part: u64, whole: u64) -> String {
    format!("{} {:>8}", grouped(part), share(part, whole))
}

/// A count of units and its share, with the interval of a sample.
fn unit_share(report: &Report, part: u64) -> String {
    share_in_sample(report, part, report.units)
}

/// A count and its share of some units, with the interval of a sample.
fn share_in_sample(report: &Report, part: u64, whole: u64) -> String {
    let text = with_share(part, whole);
    match &report.sample {
        Some(sample) => format!("{text} {:>13}", interval_text(sample, part, whole)),
        None => text,
    }
}

fn interval_text(sample: &SampleFacts, part: u64, whole: u64) -> String {
    let of = sample.interval(part, whole);
    interval(of.low, of.high)
}

/// The name of a row of intervals.
const INTERVAL: &str = "  95 % interval";

fn agents(report: &Report, out: &mut ReportTable) {
    origins(report, out);
    sets(report, out);
    weights(report, out);
    groups(report, out);
    disallowed_since(report, out);
    let Some((lists, heading)) = report.lists.as_ref().zip(headlines::urls(report)) else {
        return;
    };
    out.heading(heading);
    let names = ["allowed", "disallowed", "unknown", "no URL"];
    out.line(URL_COLUMNS.row("URLs", names));
    for number in report.agents_by_refused_urls() {
        let Some((agent, urls)) = report
            .agents
            .get(number)
            .and_then(|agent| Some((agent, agent.urls()?)))
        else {
            continue;
        };
        let counts = urls.named().map(|(_, count)| count);
        out.line(URL_COLUMNS.row(
            &escape_cut(&agent.agent, NAME - 1),
            counts.map(|n| with_share(n, lists.lines)),
        ));
    }
}

/// The units that disallow each agent, and the shares of the causes. The most disallowed agent is
/// first.
fn origins(report: &Report, out: &mut ReportTable) {
    out.heading(headlines::origins(report));
    let name = format!("{} that disallow", report.by.plural());
    let columns = match report.sample {
        Some(_) => &SAMPLE_COLUMNS,
        None => &CAUSE_COLUMNS,
    };
    out.line(columns.row(&name, WHOLLY_AND_CAUSES));
    for agent in agents_by_refusal(report) {
        let of = agent.units;
        let wholly = with_share(of.wholly, report.units);
        let shares = of.causes().map(|count| share(count, report.units));
        out.line(columns.row(
            &escape_cut(&agent.agent, columns.name - 1),
            [wholly].iter().chain(&shares),
        ));
        if let Some(sample) = &report.sample {
            let interval = |count| interval_text(sample, count, report.units);
            let intervals = of.causes().map(interval);
            let wholly = [interval(of.wholly)];
            out.line(columns.row(INTERVAL, wholly.iter().chain(&intervals)));
        }
    }
    for text in headlines::concentrations(report) {
        out.line(format!("  note: {text}."));
    }
}

/// The units that disallow some or all agents of each set.
fn sets(report: &Report, out: &mut ReportTable) {
    let Some(heading) = headlines::sets(report) else {
        return;
    };
    out.heading(heading);
    let name = format!("{} that disallow", report.by.plural());
    out.line(SET_COLUMNS.row(&name, ["one wholly", "all wholly", "one in part"]));
    for set in &report.sets {
        let of = set.together;
        let counts = [of.any_wholly, of.all_wholly, of.any_refused];
        out.line(SET_COLUMNS.row(
            &escape_cut(&set.name, NAME - 1),
            counts.map(|n| with_share(n, report.units)),
        ));
        if let Some(sample) = &report.sample {
            let intervals = counts.map(|n| interval_text(sample, n, report.units));
            out.line(SET_COLUMNS.row(INTERVAL, intervals));
        }
    }
}

/// The units that began to disallow each agent, by period. The most disallowed agents come first.
fn disallowed_since(report: &Report, out: &mut ReportTable) {
    let (Some(since), Some(heading)) = (&report.disallowed_since, headlines::since(report)) else {
        return;
    };
    out.heading(heading);
    let shown: Vec<&AgentSince> = report
        .agents_by_refusal()
        .into_iter()
        .filter_map(|agent| since.agents.get(agent))
        .take(SINCE_AGENTS)
        .collect();
    let mut row = |name: &str, count: &dyn Fn(&AgentSince) -> String| {
        out.line(SINCE_COLUMNS.row(name, shown.iter().map(|of| count(of))));
    };
    row(&since.every, &|of| escape_cut(&of.agent, SINCE_AGENT));
    row("the first answer", &|of| grouped(of.first_answer));
    // The newest periods matter most, so the oldest are added up if there are many.
    let hidden = since.periods.len().saturating_sub(PERIODS);
    if hidden > 0 {
        row("earlier", &|of| grouped(of.began[..hidden].iter().sum()));
    }
    for (at, period) in since.periods.iter().enumerate().skip(hidden) {
        row(period, &|of| grouped(of.began[at]));
    }
    row("all", &|of| grouped(of.units));
}

/// The same by weight.
fn weights(report: &Report, out: &mut ReportTable) {
    let Some((weights, heading)) = report.weights.as_ref().zip(headlines::weights(report)) else {
        return;
    };
    out.heading(heading);
    out.line(CAUSE_COLUMNS.row("weight that disallows", WHOLLY_AND_CAUSES));
    for (agent, of) in agents_by_refusal(report).filter_map(|agent| Some((agent, agent.weighted?)))
    {
        let wholly = weight_share(of.wholly, weights.matched);
        let shares = of
            .causes()
            .map(|weight| weight_share(weight, weights.matched));
        out.line(CAUSE_COLUMNS.row(
            &escape_cut(&agent.agent, NAME - 1),
            [wholly].iter().chain(&shares),
        ));
    }
}

fn agents_by_refusal(report: &Report) -> impl Iterator<Item = &AgentReport> {
    report
        .agents_by_refusal()
        .into_iter()
        .filter_map(|number| report.agents.get(number))
}

/// The headings of [`CAUSE_COLUMNS`]: the count with its share, and the shares of
/// [`CoverageCounts::causes`].
const WHOLLY_AND_CAUSES: [&str; 6] = ["wholly", "by name", "by *", "by status", "partly", "not"];

/// The groups: their sizes, and the shares that disallow the most disallowed agents.
fn groups(report: &Report, out: &mut ReportTable) {
    let Some((groups, heading)) = report.groups.as_ref().zip(headlines::groups(report)) else {
        return;
    };
    out.heading(heading);
    let is_list = report.group_list.is_some();
    // A list has groups of interest and longer names; of top-level domains one table is enough.
    let (columns, measures, most) = match is_list {
        true => (LIST_COLUMNS, &GROUP_MEASURES[..], LIST_AGENTS),
        false => (GROUP_COLUMNS, &GROUP_MEASURES[..1], GROUP_AGENTS),
    };
    // A terminal has room for a few columns, and the most disallowed agents take them.
    let agents: Vec<usize> = report.agents_by_refusal().into_iter().take(most).collect();
    for (number, measure) in measures.iter().enumerate() {
        let is_first = number == 0;
        let mut names = vec![if is_first { report.by.plural() } else { "" }.to_owned()];
        names.extend(
            agents
                .iter()
                .filter_map(|&agent| Some(escape_cut(&report.agents.get(agent)?.agent, 11))),
        );
        out.line(columns.row(measure.title, names));
        // The shares are fractions of the group, so that small groups compare with large ones.
        for group in shown_groups(groups, is_list) {
            let agents = agents.iter().filter_map(|&agent| group.agents.get(agent));
            let counts: Vec<u64> = agents.map(|counts| counts.get(measure.key)).collect();
            let mut cells = vec![match is_first {
                true => with_share(group.of, all_units(report)),
                false => String::new(),
            }];
            cells.extend(
                counts
                    .iter()
                    .map(|count| share_of_group(*count, group.units)),
            );
            out.line(columns.row(&escape_cut(&group.name, columns.name - 1), cells));
            if let Some(sample) = &report.sample {
                let sample = group.sample(sample);
                let mut cells = vec![match is_first {
                    true => format!("{} counted", grouped(group.units)),
                    false => String::new(),
                }];
                cells.extend(
                    counts
                        .iter()
                        .map(|count| interval_text(&sample, *count, group.units)),
                );
                out.line(columns.row(INTERVAL, cells));
            }
        }
    }
    // A reader who misses a group or an agent needs to know that it is not lost.
    let shown = shown_groups(groups, is_list).count();
    for (all, shown, noun) in [
        (groups.len(), shown, "more group"),
        (report.agents.len(), most, "more agent"),
    ] {
        if all > shown {
            let more = counted((all - shown) as u64, noun);
            out.line(format!("  And {more}, which --json-to and --csv-to have."));
        }
    }
}

/// A share of a group's units. A share of no units would read as one that nothing disallows.
fn share_of_group(part: u64, units: u64) -> String {
    match units {
        0 => "-".to_owned(),
        _ => share(part, units),
    }
}

/// The number of units that the groups divide: all, also if a sample is counted.
fn all_units(report: &Report) -> u64 {
    report.sample.map_or(report.units, |sample| sample.of)
}

/// The largest groups, and the units without a group.
fn shown_groups(groups: &[UnitGroup], is_list: bool) -> impl Iterator<Item = &UnitGroup> {
    let numbered = groups.iter().enumerate();
    // --top bounds the top-level domains.
    let most = if is_list { GROUPS } else { usize::MAX };
    numbered
        .filter(move |(number, group)| *number < most || group.name == NO_GROUP)
        .map(|(_, group)| group)
}

/// The reasons of the verdicts: rules, statuses and unreachable servers.
fn reasons(report: &Report, out: &mut ReportTable) {
    out.heading(headlines::reasons(report));
    let mut names = vec![report.by.plural().to_owned()];
    names.extend(report.lists.iter().map(|_| "URLs".to_owned()));
    out.row("where verdicts come from", 42, &names);
    for reason in &report.reasons {
        let mut cells = vec![unit_share(report, reason.origins)];
        cells.extend(
            reason
                .urls
                .zip(report.lists.as_ref())
                .map(|(urls, lists)| with_share(urls, lists.lines)),
        );
        out.row(reason.reason.description(), 42, &cells);
    }
}

fn top_origins(report: &Report, out: &mut ReportTable) {
    out.heading(headlines::top_origins(report));
    if report.top_origins.is_empty() {
        return;
    }
    out.line("  for each agent in turn: W disallowed wholly, P partly, - not");
    for origin in &report.top_origins {
        let letters: String = origin
            .agents
            .iter()
            .map(|coverage| coverage.letter())
            .collect();
        let cells = origin
            .urls
            .zip(origin.urls_refused)
            .map(|(urls, refused)| format!("  {} of {}", grouped(refused), counted(urls, "URL")));
        out.line(format!(
            "  {:<ORIGIN$}  {letters}{}",
            escape_cut(&origin.origin, ORIGIN),
            cells.unwrap_or_default()
        ));
    }
}

fn rules(report: &Report, out: &mut ReportTable) {
    if let Some((deciding, heading)) = report.deciding.as_ref().zip(headlines::deciding(report)) {
        out.heading(heading);
        if let Some(text) = headlines::sampled(report) {
            out.line(format!("  {text}"));
        }
        for rule in &deciding.top {
            out.row(
                &escape_cut(&rule.rule, RULE),
                RULE + 1,
                &[with_share(rule.urls, deciding.explained)],
            );
        }
    }
    out.heading(headlines::rules(report));
    for rule in &report.rules.top {
        out.row(
            &escape_cut(&rule.rule, RULE),
            RULE + 1,
            &[unit_share(report, rule.origins)],
        );
    }
}

fn signals(report: &Report, out: &mut ReportTable) {
    out.heading(headlines::signals(report));
    for signal in report.signals.iter().filter(|signal| signal.origins > 0) {
        let name = headlines::field_name(signal.field);
        for value in &signal.values {
            out.row(
                &format!("{name}: {}", escape_cut(&value.value, RULE)),
                RULE + 1,
                &[share_in_sample(report, value.origins, signal.origins)],
            );
        }
    }
}

/// One disallowed URL, and the line of the robots.txt that decides.
fn example(refusal: &Example, out: &mut ReportTable) {
    out.heading(headlines::example(refusal));
    example_row("URL", &escape_cut(&refusal.url, 200), out);
    // The address and the date let the reader compare with the robots.txt of today.
    if let Some(url) = &refusal.robots_url {
        let fetched = refusal
            .fetched_at
            .map(|time| format!(", fetched {}", minute(time)));
        let source = format!("{}{}", escape_cut(url, 200), fetched.unwrap_or_default());
        example_row("robots.txt", &source, out);
    }
    // A group may name hundreds of agents; the first lines are enough to find it.
    for line in refusal.agent_lines.iter().take(3) {
        let text = format!("line {}: {}", line.line, escape_cut(&line.text, 120));
        example_row("group", &text, out);
    }
    // A status or a network error disallows without any rule.
    match &refusal.rule {
        Some(rule) => {
            let text = format!("line {}: {}", rule.line, escape_cut(&rule.text, 120));
            example_row("rule", &text, out);
        }
        None => example_row("because", refusal.reason.description(), out),
    }
}

fn example_row(name: &str, text: &str, out: &mut ReportTable) {
    out.line(format!("  {name:<12}{text}"));
}
