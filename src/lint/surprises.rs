//! Lines that parsers read as written, with an effect that authors seldom want.

use crate::crawlers::KnownAgent;
use crate::lint::code::Code;
use crate::lint::finding::{FindingCollector, quote};
use crate::lint::readings::{Audience, RuleReadings, names_of, rules_of};
use crate::lint::unsettled::UnsettledGroups;
use crate::robots::{Group, RobotsRef, RuleKind};
use std::collections::HashSet;

/// Checks the rules of all audiences and the fields of all groups.
pub(super) fn check(
    robots: &RobotsRef<'_>,
    rules: &[RuleReadings<'_>],
    audiences: &[Audience<'_, '_>],
    unsettled: &UnsettledGroups,
    findings: &mut FindingCollector,
) {
    check_closed_site(rules, audiences, unsettled, findings);
    let mut lines = HashSet::new();
    let googlebot = groups_of_googlebot(robots);
    for audience in audiences {
        if audience.is_global || audience.groups == googlebot {
            check_rendering(rules, audience, &mut lines, findings);
        }
    }
    check_fields(robots, findings);
}

/// The rules that an audience obeys.
fn rules_obeyed<'r, 'a>(
    rules: &'r [RuleReadings<'a>],
    audience: &Audience<'_, '_>,
) -> impl Iterator<Item = &'r RuleReadings<'a>> {
    let groups = audience.groups.iter();
    groups.flat_map(|group| rules_of(rules, *group))
}

/// Reports a file in which every group refuses every path. A site that was built behind such a file
/// often goes live with it.
fn check_closed_site(
    rules: &[RuleReadings<'_>],
    audiences: &[Audience<'_, '_>],
    unsettled: &UnsettledGroups,
    findings: &mut FindingCollector,
) {
    let Some(global) = audiences.iter().find(|audience| audience.is_global) else {
        return;
    };
    // Groups by their number: many audiences may share a group with many rules.
    let closed: HashSet<usize> = rules
        .iter()
        .filter(|rule| rule.refuses_all())
        .map(|rule| rule.group)
        .collect();
    let is_open = |audience: &Audience<'_, '_>| {
        let mut groups = audience.groups.iter();
        !groups.any(|group| closed.contains(group))
    };
    if rules.iter().any(|rule| rule.kind == RuleKind::Allow) || audiences.iter().any(is_open) {
        return;
    }
    // A path that is cut, or a line that should begin a group, may have closed the site: its own
    // finding says so, and the rule stays.
    let rule = rules_obeyed(rules, global).find(|rule| rule.refuses_all());
    if let Some(rule) = rule.filter(|rule| !unsettled.is_open(rule.group, rule.line)) {
        findings.add(rule.line, Code::ClosesSite, || {
            (
                format!(
                    "no crawler may fetch anything: {} is for all of them",
                    quote(rule.text)
                ),
                "write `Disallow:` if crawlers may fetch the site; files of sites under \
                 construction often stay behind"
                    .to_owned(),
            )
        });
    }
}

/// Files that pages need to be rendered: a script and a style sheet anywhere, and those of WordPress.
const RENDERING_FILES: [&[u8]; 6] = [
    b"/~/~.js",
    b"/~/~.css",
    b"/wp-includes/js/jquery/jquery.min.js",
    b"/wp-includes/css/dist/block-library/style.min.css",
    b"/wp-content/themes/~/style.css",
    b"/wp-content/plugins/~/~.js",
];

/// The groups that Google's crawler of pages obeys, if any names it.
fn groups_of_googlebot(robots: &RobotsRef<'_>) -> Vec<usize> {
    let groups = robots.groups().iter().enumerate();
    groups
        .filter(|(_, group)| {
            let mut names = group.agents().iter().flat_map(names_of);
            names.any(|name| name == b"googlebot")
        })
        .map(|(index, _)| index)
        .collect()
}

/// Reports the rules that refuse these files to an audience that may fetch pages.
fn check_rendering(
    rules: &[RuleReadings<'_>],
    audience: &Audience<'_, '_>,
    lines: &mut HashSet<u32>,
    findings: &mut FindingCollector,
) {
    if rules_obeyed(rules, audience).any(RuleReadings::refuses_all) {
        return;
    }
    for path in RENDERING_FILES {
        let readings = rules_obeyed(rules, audience).flat_map(|rule| {
            std::iter::once(&rule.google)
                .chain(&rule.folder)
                .map(move |reading| (rule, reading))
        });
        let matching = readings.filter(|(_, reading)| reading.pattern.matches(path));
        let Some((rule, _)) = matching.max_by_key(|(_, reading)| reading.rank) else {
            continue;
        };
        let is_disallow = rule.kind == RuleKind::Disallow && rule.is_exact;
        if is_disallow && is_about(rule, path) && lines.insert(rule.line) {
            findings.add(rule.line, Code::RenderingFiles, || {
                (
                    format!(
                        "{} disallows style sheets or scripts, without which crawlers render pages \
                         in part",
                        quote(rule.text)
                    ),
                    "remove the rule, or allow the files that pages load".to_owned(),
                )
            });
        }
    }
}

/// Whether a rule is about such files: their extension, or the folders of WordPress.
fn is_about(rule: &RuleReadings<'_>, path: &[u8]) -> bool {
    let pattern = &rule.google.pattern.text[..];
    let end = pattern.iter().rposition(|byte| *byte != b'*');
    let written = &pattern[..end.map_or(0, |end| end + 1)];
    let extension = [&b".js"[..], b".css"];
    let is_extension = extension.iter().any(|extension| {
        let start = written.strip_suffix(*extension);
        start.is_some_and(|start| start.iter().all(|byte| b"/*".contains(byte)))
    });
    is_extension || (path.starts_with(b"/wp-") && written.starts_with(b"/wp-"))
}

/// Reports fields that nobody reads: crawl-delays for Google alone, and hosts.
fn check_fields(robots: &RobotsRef<'_>, findings: &mut FindingCollector) {
    let mut last_group = None;
    let mut is_google = false;
    for field in robots.other_fields() {
        match (field.name(), field.group()) {
            ("host", _) => findings.add(field.line(), Code::ObsoleteField, || {
                (
                    "no crawler reads `host` any more: Yandex, which introduced it, ended its \
                     support in March 2018"
                        .to_owned(),
                    "remove the line, and redirect the other hosts to the main one with status 301"
                        .to_owned(),
                )
            }),
            ("crawl-delay", Some(group)) => {
                if last_group != Some(group) {
                    last_group = Some(group);
                    is_google = is_for_google(&robots.groups()[group]);
                }
                if is_google {
                    findings.add(field.line(), Code::IgnoredDelay, || {
                        (
                            "only crawlers of Google obey this group, and they ignore crawl-delays"
                                .to_owned(),
                            "remove the line; Google slows down when a site answers with status \
                             503 or 429"
                                .to_owned(),
                        )
                    });
                }
            }
            _ => {}
        }
    }
}

/// Whether all agents of a group are crawlers of Google.
fn is_for_google(group: &Group<'_>) -> bool {
    group.agents().iter().all(|agent| {
        let named = agent.named();
        let name = named.extended.as_deref().unwrap_or(&named.token);
        let known = std::str::from_utf8(name).ok().and_then(KnownAgent::find);
        known.is_some_and(|known| known.operator.as_deref() == Some("Google"))
    })
}
