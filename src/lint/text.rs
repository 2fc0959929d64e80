//! All checks of one robots.txt, as served or from a snapshot.

use crate::lint::body::RawFacts;
use crate::lint::finding::{Finding, FindingCollector, MAX_PER_CODE};
use crate::lint::readings::{audiences, have_same_groups, read_rules};
use crate::lint::unsettled::UnsettledGroups;
use crate::lint::{
    agent_names, agents, body, fields, global_rules, patterns, preferences, profiles, rule_sets,
    surprises, values,
};
use crate::profile::Profile;
use crate::robots::{BodyFacts, RobotsRef};

/// Checks a robots.txt as served (after content decoding), and returns its findings in the order of
/// lines.
///
/// Only the first 500 KiB are checked, as parsers read no more (RFC 9309 §2.5). A file of another
/// format, such as HTML or JSON, has one finding, unless HTML comes before rules. Of each code,
/// at most 1,001 findings are returned: after 1,000, one says how many more lines there are.
///
/// Cost: linear in the bytes, and for up to 8,192 rules of the same agents also in the square of
/// their number. Never panics.
///
/// ```
/// use robosieve::lint::{Code, Severity, lint};
/// let findings = lint(b"Disallow: /tmp\nUser-agent: *\nDisallow: cart\n");
/// assert_eq!((findings[0].line, findings[0].code), (1, Code::OutsideGroup));
/// assert_eq!((findings[1].line, findings[1].code), (3, Code::NoLeadingSlash));
/// assert_eq!(findings[1].severity(), Severity::Error);
/// assert_eq!(findings[1].help, "write `/cart`");
/// assert!(lint(b"User-agent: *\nDisallow: /cart\n").is_empty());
/// ```
pub fn lint(body: &[u8]) -> Vec<Finding> {
    lint_up_to(MAX_PER_CODE, body)
}

/// [`lint`] with another limit of findings per code.
pub(super) fn lint_up_to(limit: u32, body: &[u8]) -> Vec<Finding> {
    let mut findings = FindingCollector::new(limit);
    let body_facts = BodyFacts::of(body);
    if !body::check_format(body, &body_facts, &mut findings) {
        let raw = body::check_raw_lines(body, &body_facts, &mut findings);
        check_lines(body, &raw, &mut findings);
    }
    findings.finish(body)
}

/// The findings of a condensed text, as a snapshot stores it. Its blank lines may have been
/// comments or unknown fields, so they separate nothing.
pub(crate) fn lint_condensed(text: &[u8]) -> Vec<Finding> {
    let mut findings = FindingCollector::new(MAX_PER_CODE);
    check_lines(text, &RawFacts::default(), &mut findings);
    findings.finish(text)
}

fn check_lines(body: &[u8], raw: &RawFacts, findings: &mut FindingCollector) {
    let inexact = fields::check(body, findings);
    let [google, rfc] =
        [Profile::Google, Profile::Rfc9309].map(|profile| RobotsRef::parse(body, profile));
    let rules = read_rules(&google, &rfc, &inexact.all);
    let before_groups = findings.len();
    let audiences = audiences(&google);
    let names = agent_names::check(&google, &inexact, findings);
    agents::check(&google, raw, &inexact.several, &names, findings);
    global_rules::check(&google, &rules, &audiences, findings);
    patterns::check(&google, &inexact.unread_values, &raw.fragments, findings);
    profiles::check(
        &google,
        &rfc,
        &rules,
        &audiences,
        &inexact.unread_values,
        findings,
    );
    values::check(&google, &inexact.unread_values, findings);
    preferences::check(
        &google,
        &rfc,
        &rules,
        &audiences,
        &inexact.unread_values,
        findings,
    );
    // Its help changes a rule, so it waits until other findings leave that rule alone.
    let unsettled = UnsettledGroups::new(findings.unsettled(), &names, google.groups(), &audiences);
    surprises::check(&google, &rules, &audiences, &unsettled, findings);
    // The rules without effect come last: other findings decide which groups have any.
    let unsettled = UnsettledGroups::new(findings.unsettled(), &names, google.groups(), &audiences);
    rule_sets::check(&rules, &audiences, &unsettled, findings);
    if unsettled.is_whole_file {
        findings.drop_claims_about_lines();
    }
    if !have_same_groups(&google, &rfc) {
        // What has no effect for one profile may keep groups of the other apart. The groups are the
        // same once the fields are spelled right.
        findings.drop_claims_about_groups(before_groups);
    }
}
