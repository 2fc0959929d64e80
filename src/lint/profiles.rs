//! Rules that the profiles `google` and `rfc9309` read differently.

use crate::lint::code::Code;
use crate::lint::finding::{FindingCollector, quote};
use crate::robots::pattern::Pattern;
use crate::robots::{RobotsRef, Rule, RuleKind};
use std::collections::HashSet;

/// Compares the rules of a file that is parsed for both profiles, except those of the lines in
/// `skipped`.
pub(super) fn check(
    google: &RobotsRef<'_>,
    rfc: &RobotsRef<'_>,
    skipped: &HashSet<u32>,
    findings: &mut FindingCollector,
) {
    for (group, other) in google.groups().iter().zip(rfc.groups()) {
        let rules = group.rules().iter().zip(other.rules());
        for (google, rfc) in rules.filter(|(rule, _)| !skipped.contains(&rule.line())) {
            if google.pattern().can_match() {
                check_rule(google, rfc, findings);
            }
        }
    }
}

fn check_rule(google: &Rule<'_>, rfc: &Rule<'_>, findings: &mut FindingCollector) {
    // Different patterns explain every other difference, so they are reported alone.
    let line = google.line();
    if google.pattern() != rfc.pattern() {
        findings.add(line, Code::ProfilesDiffer, || {
            let [google, rfc] = [google, rfc].map(|rule| quote(&text(rule.pattern())));
            let message = format!(
                "Google's parser compares URLs with {google} as it is; RFC 9309 decodes escapes \
                 first and compares with {rfc}"
            );
            (
                message,
                "write letters, digits, `-`, `.`, `_` and `~` without escapes; no form of `%2A` \
                 and `%24` suits both"
                    .to_owned(),
            )
        });
        return;
    }
    if let (RuleKind::Allow, Some(folder)) = (google.kind(), google.pattern().index_folder()) {
        findings.add(line, Code::ProfilesDiffer, || {
            let folder = quote(&text(&folder));
            let message = format!(
                "Google's parser also reads this rule as an allow of {folder}, RFC 9309 does not"
            );
            (
                message,
                format!("add `Allow: ` with {folder} if that is meant"),
            )
        });
    }
    if google.kind() == RuleKind::Disallow && is_about_robots_txt(google.pattern()) {
        findings.add(line, Code::ProfilesDiffer, || {
            let message = format!(
                "{} refuses /robots.txt itself to Google's parser, and RFC 9309 always allows that",
                quote(google.text())
            );
            (
                message,
                "remove the rule, or narrow its path: crawlers fetch /robots.txt in any case"
                    .to_owned(),
            )
        });
    }
}

/// Whether a rule matches `/robots.txt`, but not every path.
fn is_about_robots_txt(pattern: &Pattern<'_>) -> bool {
    pattern.matches(b"/robots.txt") && !pattern.matches(b"/")
}

fn text(pattern: &Pattern<'_>) -> Vec<u8> {
    [&pattern.text[..], if pattern.anchored { b"$" } else { b"" }].concat()
}
