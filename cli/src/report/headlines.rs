//! The headlines of a report: one sentence per section with its main figure. It heads the section
//! of the page and of the table.

use super::fold::{
    AgentReport, Concentration, Example, GroupListFacts, NO_GROUP, Report, SampleFacts,
    SnapshotFacts, UnitKind,
};
use crate::figures::counts::{counted, counted_as, grouped};
use crate::figures::escape::escape_cut;
use crate::figures::shares::{share, weight_share};
use crate::time::day;
use robosieve::judge::Reason;

/// The most characters of a rule in a heading.
const RULE: usize = 40;

/// The most sentences about domains that dominate a figure.
const CONCENTRATIONS: usize = 3;

/// The title of the report.
pub(super) fn title(report: &Report) -> String {
    match report.agents.as_slice() {
        [one] => format!(
            "What robots.txt lets {} fetch",
            escape_cut(&one.agent, RULE)
        ),
        agents => format!("What robots.txt lets {} agents fetch", agents.len()),
    }
}

/// The first agent with the greatest `count`, and whether all agents have the same count.
fn most(report: &Report, count: impl Fn(&AgentReport) -> u64) -> Option<(&AgentReport, bool)> {
    let first = report
        .agents
        .iter()
        .reduce(|a, b| if count(b) > count(a) { b } else { a })?;
    Some((
        first,
        report
            .agents
            .iter()
            .all(|agent| count(agent) == count(first)),
    ))
}

/// The headline of the units: how many of them disallow the most disallowed agent.
pub(super) fn origins(report: &Report) -> String {
    // A headline has room for one agent: the most disallowed one, which is also the first row
    // below.
    let most_refused = report
        .agents_by_refusal()
        .first()
        .and_then(|number| report.agents.get(*number));
    let Some(agent) = most_refused else {
        return "No agents".to_owned();
    };
    let name = escape_cut(&agent.agent, RULE);
    let counts = agent.units;
    let unit = report.by.name();
    let units = report.by.plural();
    let wholly = share(counts.wholly, report.units);
    let by_name = share(counts.wholly_by_name, report.units);
    let partly = share(counts.partly, report.units);
    let is_single = report.agents.len() == 1;
    // If no agent is disallowed wholly, none of several stands out, so none is named.
    if report.agents.iter().all(|agent| agent.units.wholly == 0) {
        return match is_single {
            true => format!("No {unit} disallows {name} wholly, {partly} partly"),
            false => format!("No {unit} disallows any of the agents wholly"),
        };
    }
    // A single agent leaves room for the sites that disallow it partly.
    if is_single {
        return format!(
            "{wholly} of the {units} disallow {name} wholly, {by_name} by name; {partly} partly"
        );
    }
    // Rules for all agents alone disallow every agent alike: the reader has to know that none is
    // singled out.
    if report
        .agents
        .iter()
        .all(|agent| agent.units.wholly_by_name == 0)
    {
        return format!(
            "No {unit} disallows an agent wholly by name; {wholly} of them disallow {name} wholly"
        );
    }
    format!(
        "{name} is disallowed most: {wholly} of the {units} disallow it wholly, {by_name} by name"
    )
}

/// The figures that one domain dominates, one sentence each: that of all units first, then those of
/// the most disallowed agents.
pub(super) fn concentrations(report: &Report) -> Vec<String> {
    // The table and the page list agents in this order, so the notes below them follow it.
    let mut found: Vec<&Concentration> = report.concentrations.iter().collect();
    found.sort_by_cached_key(|of| refusal_position(report, of.agent.as_deref()));
    let units = report.by.plural();
    let mut sentences = Vec::new();
    for of in found.iter().take(CONCENTRATIONS) {
        let figure = match &of.agent {
            Some(agent) => format!("{units} that disallow {} wholly", escape_cut(agent, RULE)),
            None => units.to_owned(),
        };
        let domain = escape_cut(&of.domain, RULE);
        sentences.push(format!(
            "{domain} alone has {} of the {} {figure}",
            grouped(of.units),
            grouped(of.of)
        ));
    }
    // A run over many agents may have a sentence for each, which would hide the section.
    if found.len() > CONCENTRATIONS {
        let more = counted((found.len() - CONCENTRATIONS) as u64, "more figure");
        sentences.push(format!("The JSON has {more} with such a domain"));
    }
    if !sentences.is_empty() {
        sentences.push("With --by domain, each domain counts once".to_owned());
    }
    sentences
}

/// The position of an agent among those sorted by how much is disallowed to them; `None`, which
/// is first, for no agent.
fn refusal_position(report: &Report, agent: Option<&str>) -> Option<usize> {
    let agent = agent?;
    report
        .agents_by_refusal()
        .iter()
        .position(|number| report.agents[*number].agent == agent)
}

/// The headline of the sets of agents: how many units disallow some or all agents of the first one.
pub(super) fn sets(report: &Report) -> Option<String> {
    let set = report.sets.first()?;
    Some(format!(
        "{} of the {} wholly disallow one or more agents of {}, {} all of them",
        share(set.together.any_wholly, report.units),
        report.by.plural(),
        escape_cut(&set.name, RULE),
        share(set.together.all_wholly, report.units)
    ))
}

/// The weight of the units that have one.
pub(super) fn weights(report: &Report) -> Option<String> {
    let weights = report.weights.as_ref()?;
    Some(format!(
        "Weighted: {} of {} listed, with {} of the weight of the list",
        grouped(weights.units_matched),
        counted_as(
            report.units,
            &format!("{} is", report.by.name()),
            &format!("{} are", report.by.plural())
        ),
        weight_share(weights.matched, weights.listed)
    ))
}

/// The headline of the groups: the largest one.
pub(super) fn groups(report: &Report) -> Option<String> {
    if let Some(list) = &report.group_list {
        return Some(groups_of_list(report, list));
    }
    // The groups of IP addresses and of all other units are not top-level domains.
    let mut groups = report.groups.as_ref()?.iter();
    let Some(group) = groups.find(|group| !group.name.starts_with('(')) else {
        return Some(format!("No {} has a top-level domain", report.by.name()));
    };
    let units = report.by.plural();
    Some(format!(
        "{} is the largest top-level domain: {} of the {units}",
        escape_cut(&group.name, RULE),
        share(
            group.of,
            report.sample.map_or(report.units, |sample| sample.of)
        )
    ))
}

/// The headline of the periods: how many units began to disallow the most disallowed agent after their
/// first answer.
pub(super) fn since(report: &Report) -> Option<String> {
    let since = report.disallowed_since.as_ref()?;
    let of = since.agents.get(*report.agents_by_refusal().first()?)?;
    Some(format!(
        "Rules of {} disallow {} wholly; {} of them began after their first answer",
        counted(of.units, report.by.name()),
        escape_cut(&of.agent, RULE),
        grouped(of.units - of.first_answer),
    ))
}

/// The sample that a report counts, and its intervals.
pub(super) fn sample(by: UnitKind, sample: &SampleFacts) -> String {
    format!(
        "counted: a random sample of {} of {}, seed {}; shares have 95 % intervals",
        grouped(sample.units),
        counted(sample.of, by.name()),
        sample.seed
    )
}

fn groups_of_list(report: &Report, list: &GroupListFacts) -> String {
    let units = report.by.plural();
    // Groups divide all units, also if a sample is counted.
    let all = report.sample.map_or(report.units, |sample| sample.of);
    let listed = share(list.units_matched, all);
    let mut groups = report.groups.iter().flatten();
    match groups.find(|group| group.name != NO_GROUP && group.of > 0) {
        Some(group) => format!(
            "{listed} of the {units} have a group; {} is the largest: {}",
            escape_cut(&group.name, RULE),
            share(group.of, all)
        ),
        None => format!("No {} has a group", report.by.name()),
    }
}

/// The headline of the lists: the agent that may fetch the fewest URLs.
pub(super) fn urls(report: &Report) -> Option<String> {
    let lines = report.lists.as_ref()?.lines;
    let (agent, all) = most(report, refused_urls)?;
    let name = escape_cut(&agent.agent, RULE);
    let refused = refused_urls(agent);
    Some(match refused {
        0 => "No URL of the lists is disallowed to any agent".to_owned(),
        _ if report.agents.len() == 1 => {
            format!("{name} may not fetch {} of the URLs", share(refused, lines))
        }
        _ if all => format!(
            "Each agent may not fetch {} of the URLs",
            share(refused, lines)
        ),
        _ => format!(
            "{name} may fetch least: {} of the URLs are disallowed to it",
            share(refused, lines)
        ),
    })
}

/// The URLs of the lists that an agent may not fetch.
fn refused_urls(agent: &AgentReport) -> u64 {
    agent.urls().map_or(0, |urls| urls.disallowed)
}

/// The headline of the reasons: the share of the verdicts that rules decide.
pub(super) fn reasons(report: &Report) -> String {
    let mut by_rules_origins = 0;
    let mut by_rules_urls = 0;
    for reason in &report.reasons {
        // A last good copy decides by its rules too.
        if matches!(reason.reason, Reason::Rules | Reason::LastGoodCopy) {
            by_rules_origins += reason.origins;
            by_rules_urls += reason.urls.unwrap_or_default();
        }
    }
    let origins = share(by_rules_origins, report.units);
    let units = report.by.plural();
    match &report.lists {
        None => format!("Rules decide for {origins} of the {units}"),
        Some(lists) => {
            format!(
                "Rules decide for {origins} of the {units} and {} of the URLs",
                share(by_rules_urls, lists.lines)
            )
        }
    }
}

/// The headline of the top origins: with lists, their share of the disallowed URLs, and otherwise
/// the number of units that disallow all agents.
pub(super) fn top_origins(report: &Report) -> String {
    let top = &report.top_origins;
    // With lists, the top origins are those that disallow most URLs, so the URLs are the figure.
    if let Some(lists) = &report.lists {
        let refused: u64 = top.iter().filter_map(|origin| origin.urls_refused).sum();
        return match top.len() {
            0 => "No origin of the lists disallows a URL".to_owned(),
            1 => format!(
                "One origin holds {} of the disallowed URLs",
                share(refused, lists.refused_to_any)
            ),
            count => format!(
                "{count} origins hold {} of the disallowed URLs",
                share(refused, lists.refused_to_any)
            ),
        };
    }
    // Without lists, the section has only some of these units, so the headline has their total.
    let verb = if report.together.all_wholly == 1 {
        "disallows"
    } else {
        "disallow"
    };
    let wholly = counted(report.together.all_wholly, report.by.name());
    match report.agents.as_slice() {
        [one] => format!("{wholly} wholly {verb} {}", escape_cut(&one.agent, RULE)),
        agents => format!("{wholly} wholly {verb} all {} agents", agents.len()),
    }
}

/// The headline of the rules: the disallow rule that most units have.
pub(super) fn rules(report: &Report) -> String {
    match report.rules.top.first() {
        None => "No rule disallows anything to these agents".to_owned(),
        Some(rule) => {
            let most = counted(rule.origins, report.by.name());
            format!(
                "“{}” is the rule of most: {most}",
                escape_cut(&rule.rule, RULE)
            )
        }
    }
}

/// The headline of the deciding rules: the one that disallows most URLs of the lists.
pub(super) fn deciding(report: &Report) -> Option<String> {
    let deciding = report.deciding.as_ref()?;
    Some(match deciding.top.first() {
        None => "No rule disallows a URL of the lists".to_owned(),
        Some(rule) => {
            let share = share(rule.urls, deciding.explained);
            format!(
                "“{}” disallows most URLs: {share} of those disallowed",
                escape_cut(&rule.rule, RULE)
            )
        }
    })
}

/// The size of the sample.
pub(super) fn sampled(report: &Report) -> Option<String> {
    let deciding = report.deciding.as_ref()?;
    let explained = grouped(deciding.explained);
    Some(match deciding.every {
        1 => format!("All {explained} disallowed URLs were explained."),
        every => format!(
            "Counted on a sample: one of every {} disallowed URLs was explained, {explained} in all.",
            grouped(every)
        ),
    })
}

/// The headline of the declared preferences: how many units declare each.
pub(super) fn signals(report: &Report) -> String {
    let declared = report
        .signals
        .iter()
        .filter(|signal| signal.origins > 0)
        .enumerate();
    let declarations = declared.map(|(i, signal)| {
        let verb = if i == 0 { " is declared" } else { "" };
        format!(
            "{}{verb} by {}",
            field_name(signal.field),
            counted(signal.origins, report.by.name())
        )
    });
    match declarations.collect::<Vec<_>>().as_slice() {
        [] => format!(
            "No {} declares how its content may be used",
            report.by.name()
        ),
        declarations => declarations.join(", "),
    }
}

/// The days of the oldest and the newest capture.
pub(super) fn captured(snapshot: &SnapshotFacts) -> String {
    match (snapshot.captured_from, snapshot.captured_to) {
        (Some(from), Some(to)) if day(from) == day(to) => day(from),
        (Some(from), Some(to)) => format!("{} to {}", day(from), day(to)),
        _ => "at unknown times".to_owned(),
    }
}

/// A field as it is usually written.
pub(super) fn field_name(field: &str) -> &str {
    match field {
        "content-signal" => "Content-Signal",
        "content-usage" => "Content-Usage",
        "license" => "License",
        other => other,
    }
}

/// The headline of the explained URL: its agent and its reason.
pub(super) fn example(example: &Example) -> String {
    let agent = escape_cut(&example.agent, RULE);
    match example.rule {
        Some(_) => format!("Why {agent} may not fetch this URL: a rule says so"),
        None => format!(
            "Why {agent} may not fetch this URL: {}",
            example.reason.description()
        ),
    }
}
