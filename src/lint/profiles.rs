//! Rules that the profiles `google` and `rfc9309` read differently.

use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::lint::readings::rules_by_line;
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{Group, RobotsRef, Rule, RuleKind};
use std::collections::HashSet;

/// Compares the rules of a file that is parsed for both profiles, except those of the lines in
/// `skipped`.
pub(super) fn check(
    google: &RobotsRef<'_>,
    rfc: &RobotsRef<'_>,
    skipped: &HashSet<u32>,
    findings: &mut FindingCollector,
) {
    let rfc = rules_by_line(rfc);
    for group in google.groups() {
        let allowed = allowed_len(group);
        let rules = group.rules().iter();
        for google in rules.filter(|rule| !skipped.contains(&rule.line())) {
            // Lines that RFC 9309 does not read, or reads longer, have findings of their own.
            let same = rfc.get(&google.line());
            let same = same.filter(|rfc| rfc.text().len() == google.text().len());
            if let Some(rfc) = same.filter(|_| google.pattern().can_match()) {
                check_rule(google, rfc, allowed, findings);
            }
        }
    }
}

/// The path that parsers fetch in any case.
const ROBOTS_TXT: &[u8] = b"/robots.txt";

/// The length of the longest allow of a group that matches `/robots.txt`; 0 without one.
fn allowed_len(group: &Group<'_>) -> usize {
    let allows = group.rules().iter();
    let patterns = allows
        .filter(|rule| rule.kind() == RuleKind::Allow)
        .map(Rule::pattern);
    let matching = patterns.filter(|pattern| pattern.matches(ROBOTS_TXT));
    matching.map(len).max().unwrap_or(0)
}

/// The length of a pattern by which rules have precedence.
fn len(pattern: &Pattern<'_>) -> usize {
    pattern.text.len() + usize::from(pattern.anchored)
}

/// Checks a rule of a group whose allow of `/robots.txt` has the length `allowed`.
fn check_rule(google: &Rule<'_>, rfc: &Rule<'_>, allowed: usize, findings: &mut FindingCollector) {
    // Different patterns explain every other difference, so they are reported alone.
    let line = google.line();
    if google.pattern() != rfc.pattern() {
        findings.add_fixable(line, Code::ProfilesDiffer, || {
            let value = google.value();
            let [google, rfc] = [google, rfc].map(|rule| quote(&text(rule.pattern())));
            let edit = decoded_path(value).map(|by| LineEdit::Value {
                line,
                len: value.len(),
                by,
            });
            FindingTexts {
                message: format!(
                    "Google's parser compares URLs with {google} as it is; RFC 9309 decodes \
                     escapes first and compares with {rfc}"
                ),
                help:
                    "write letters, digits, `-`, `.`, `_` and `~` without escapes, and others as \
                       the site's URLs have them; no form of `%2A` and `%24` suits both"
                        .to_owned(),
                fix: edit.map(|edit| LineFix::new(false, edit)),
            }
        });
        return;
    }
    if let Some(further) = rfc.patterns().further.first() {
        findings.add(line, Code::ProfilesDiffer, || {
            let further = quote(&text(further));
            let message = format!(
                "RFC 9309 takes `/` and `?` in a query for the same as their escapes, so it reads \
                 this rule as {further} too; Google's parser does not"
            );
            let help = "write a rule for each form that the URLs have".to_owned();
            (message, help)
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
    let pattern = google.pattern();
    let is_disallow = google.kind() == RuleKind::Disallow && is_about_robots_txt(pattern);
    if is_disallow && len(pattern) > allowed {
        findings.add(line, Code::ProfilesDiffer, || {
            let message = format!(
                "{} disallows /robots.txt itself for Google's parser, and RFC 9309 always allows that",
                quote(google.text())
            );
            let help = if pattern.text[..] == *ROBOTS_TXT {
                "remove the rule: crawlers fetch /robots.txt in any case"
            } else if len(pattern) <= ROBOTS_TXT.len() {
                "add `Allow: /robots.txt`: crawlers fetch it in any case"
            } else {
                "narrow the path so that it does not match /robots.txt: crawlers fetch it in any \
                 case"
            };
            (message, help.to_owned())
        });
    }
}

/// A path without escapes of unreserved characters (RFC 3986 §2.3), if both profiles then read it
/// in the same way.
fn decoded_path(path: &[u8]) -> Option<String> {
    let mut decoded = String::with_capacity(path.len());
    let mut rest = std::str::from_utf8(path).ok()?;
    while let Some((start, escape)) = rest.split_once('%') {
        decoded.push_str(start);
        let code = escape
            .get(..2)
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        let is_unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        match code.filter(is_unreserved) {
            Some(byte) => {
                decoded.push(byte.into());
                rest = &escape[2..];
            }
            None => {
                decoded.push('%');
                rest = escape;
            }
        }
    }
    decoded.push_str(rest);
    let [google, rfc] = [Profile::Google, Profile::Rfc9309]
        .map(|profile| Pattern::new(decoded.as_bytes(), profile));
    (google == rfc).then_some(decoded)
}

/// Whether a rule matches `/robots.txt`, but not every path.
fn is_about_robots_txt(pattern: &Pattern<'_>) -> bool {
    pattern.matches(ROBOTS_TXT) && !pattern.matches(b"/")
}

fn text(pattern: &Pattern<'_>) -> Vec<u8> {
    [&pattern.text[..], if pattern.anchored { b"$" } else { b"" }].concat()
}
