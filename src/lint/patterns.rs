//! Checks of the path of a single rule.

use crate::bytes::{is_invisible, is_white_space, trim_start};
use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{Group, RobotsRef, Rule, RuleKind, field};
use bstr::ByteSlice;
use std::collections::HashSet;

/// Checks the paths of all rules, except those of the lines in `skipped`. `fragments` are the lines
/// whose path is cut, and another finding says how to mend it.
pub(super) fn check(
    robots: &RobotsRef<'_>,
    skipped: &HashSet<u32>,
    fragments: &HashSet<u32>,
    findings: &mut FindingCollector,
) {
    for group in robots.groups() {
        for rule in group
            .rules()
            .iter()
            .filter(|rule| !skipped.contains(&rule.line()))
        {
            let is_cut = fragments.contains(&rule.line());
            check_rule(rule, group, is_cut, findings);
        }
    }
}

/// The path of a rule as written.
pub(super) fn value<'a>(rule: &Rule<'a>) -> &'a [u8] {
    field::split(rule.text(), Profile::Google).map_or(b"", |(_, value)| value)
}

fn check_rule(rule: &Rule<'_>, group: &Group<'_>, is_cut: bool, findings: &mut FindingCollector) {
    let line = rule.line();
    let value = value(rule);
    // A path that can match nothing has one finding about that; its characters do not matter.
    if value.is_empty() {
        check_empty(rule, group, findings);
    } else if let Some(stripped) = stripped(value) {
        add_stray(line, rule.kind(), value, &stripped, findings);
    } else if let Some(path) = path_of_url(value) {
        findings.add(line, Code::FullUrl, || {
            let message = format!(
                "the path {} is a whole URL, so it matches nothing: paths begin with /",
                quote(value)
            );
            (
                message,
                format!(
                    "write {} alone, in the robots.txt of that host",
                    quote(path)
                ),
            )
        });
    } else if !value.starts_with(b"/") && !value.starts_with(b"*") {
        findings.add_fixable(line, Code::NoLeadingSlash, || {
            let remedy = RelativeRemedy::of(value);
            let value_at = rule.text().len() - value.len();
            FindingTexts {
                message: format!(
                    "the path {} begins with neither / nor *, so it matches nothing",
                    quote(value)
                ),
                help: remedy.help,
                fix: remedy.start.map(|StartEdit { skipped, start }| {
                    let edit = LineEdit::Text {
                        line,
                        range: value_at..value_at + skipped,
                        by: start.to_owned(),
                    };
                    LineFix::new(false, edit)
                }),
            }
        });
    } else {
        if !is_cut {
            check_start(rule, value, group.rules().len() == 1, findings);
        }
        check_characters(rule, value, findings);
        check_wildcards(rule, value, findings);
    }
}

/// Quotation marks, straight and curly. The path of a URL does not begin with one.
pub(super) const QUOTES: &[char] = &[
    '"', '\'', '`', '´', '“', '”', '„', '‟', '‘', '’', '‚', '‛', '«', '»', '‹', '›',
];

/// A value without the quotes around it and without blanks and invisible characters, if it has
/// any. Joiners inside stay: scripts such as Persian need them, and so do the emoji of a URL.
pub(super) fn stripped(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    if text.is_ascii() && !text.starts_with(QUOTES) {
        return None;
    }
    let mut inner = text.trim_matches(is_unseen);
    while inner.starts_with(QUOTES) {
        inner = inner.trim_start_matches(QUOTES).trim_end_matches(QUOTES);
        inner = inner.trim_matches(is_unseen);
    }
    // Text in UTF-8 that a program read as Latin-1 has soft hyphens and no-break spaces as bytes.
    let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    if latin.is_some_and(|bytes| !bytes.is_ascii() && std::str::from_utf8(&bytes).is_ok()) {
        return None;
    }
    let seen: String = inner
        .chars()
        .filter(|&c| !is_invisible(c) || is_joiner(c))
        .collect();
    (seen != text && !seen.is_empty()).then_some(seen)
}

/// Whether a character at the end of a value shows nothing.
fn is_unseen(c: char) -> bool {
    c.is_whitespace() || is_invisible(c)
}

/// Whether an invisible character changes how its neighbours look.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Reports a path with quotes or invisible characters, which no URL matches.
fn add_stray(
    line: u32,
    kind: RuleKind,
    value: &[u8],
    stripped: &str,
    findings: &mut FindingCollector,
) {
    findings.add_fixable(line, Code::StrayCharacter, || {
        let field = match kind {
            RuleKind::Allow => "Allow",
            RuleKind::Disallow => "Disallow",
        };
        let edit = LineEdit::Value {
            line,
            len: value.len(),
            by: stripped.to_owned(),
        };
        FindingTexts {
            message: format!(
                "the path {} has quotes or characters that show nothing, and parsers read them as \
                 a part of it",
                quote(value)
            ),
            help: format!("write {}", quote(format!("{field}: {stripped}").as_bytes())),
            fix: Some(LineFix::new(false, edit)),
        }
    });
}

/// Checks the start of a path that can match URLs. `is_alone`: its group has no other rule.
fn check_start(rule: &Rule<'_>, value: &[u8], is_alone: bool, findings: &mut FindingCollector) {
    let line = rule.line();
    if value.starts_with(b"*") {
        findings.add_fixable(line, Code::LeadingStar, || {
            // `/` is as long as `*`, and `/*` may win where `*` loses.
            let is_bare = value == b"*";
            let at = rule.text().len() - value.len();
            let edit = LineEdit::Text {
                line,
                range: at..at + usize::from(is_bare),
                by: "/".to_owned(),
            };
            // The slash after a star may be the first of a path, and no single pattern says both.
            let rest = value.trim_start_with(|c| c == '*');
            let is_segment = rest.starts_with(b"/");
            // The other forms that match `/`: each form without the star has another length.
            let is_for_all = matches!(rest, b"" | b"$") && !is_bare;
            let help = if is_bare {
                "write `/`".to_owned()
            } else if is_for_all {
                "write `/` for every path, and look which rule then decides: it is shorter"
                    .to_owned()
            } else if is_segment {
                format!("write {} and {}", quote(rest), quote_after("/*", rest))
            } else {
                format!("write {}", quote_after("/", value))
            };
            FindingTexts {
                message: format!(
                    "the path {} begins with `*`: Google's parser reads it, and in RFC 9309 a path \
                     begins with `/`",
                    quote(value)
                ),
                help,
                fix: (!is_segment && !is_for_all).then(|| LineFix::new(false, edit)),
            }
        });
    } else if value.starts_with(b"//") {
        findings.add(line, Code::DoubleSlash, || {
            let path = value.trim_start_with(|c| c == '/');
            // Among other rules, `/` would close or open all that they leave.
            let is_for_all = path.iter().all(|byte| b"*$".contains(byte));
            let help = match (is_for_all, is_alone) {
                (true, true) => "write `/` for all paths, or remove the line".to_owned(),
                (true, false) => {
                    "remove the line, unless URLs of the site have two slashes there".to_owned()
                }
                _ if is_host(path) => {
                    "write the path alone, in the robots.txt of that host".to_owned()
                }
                _ => format!(
                    "write {}, unless URLs of the site have two slashes there",
                    quote_after("/", path)
                ),
            };
            let message = format!(
                "the path {} matches only paths that begin with two slashes",
                quote(value)
            );
            (message, help)
        });
    }
}

/// What to write in place of a path without a slash at its start.
struct RelativeRemedy {
    help: String,
    /// The edit, if the path has one that its author probably meant.
    start: Option<StartEdit>,
}

/// Another start for a path.
struct StartEdit {
    /// The number of bytes that it replaces.
    skipped: usize,
    start: &'static str,
}

impl RelativeRemedy {
    fn of(value: &[u8]) -> Self {
        let begin = |skipped, start| Self {
            help: format!("write {}", quote_after(start, &value[skipped..])),
            start: Some(StartEdit { skipped, start }),
        };
        let advise = |help: &str| Self {
            help: help.to_owned(),
            start: None,
        };
        if let Some(skipped) = sign_before_path(value) {
            return begin(skipped, "");
        }
        if is_host(value) || begins_as_url(value) {
            return advise("write the path alone, in the robots.txt of that host");
        }
        // The start of a regular expression of which nothing else is one.
        let rest = value.trim_start_with(|c| c == '^');
        if is_expression(rest) {
            return advise("write a path that begins with /, with * for any run of characters");
        }
        if value.chars().any(is_white_space) {
            return advise("write a path that begins with /, one per line, and `%20` for a blank");
        }
        if is_extension(value) {
            return advise(&format!(
                "write {} for a file extension, or {} for a path",
                quote_after("/*", value),
                quote_after("/", value)
            ));
        }
        if value.starts_with(b"?") || value.starts_with(b"&") {
            return begin(0, "/*");
        }
        // A parameter may be the first of a query or a later one.
        if is_parameter(value) {
            return advise(&format!(
                "write {} and {} for a parameter of a query",
                quote_after("/*?", value),
                quote_after("/*&", value)
            ));
        }
        // `./a`, `../a` and `\a` are paths of a file system.
        let rest = [b"./".as_slice(), b"../", b"\\"]
            .iter()
            .find_map(|start| rest.strip_prefix(*start))
            .unwrap_or(rest);
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        if rest.contains(&b'\\') {
            return advise("write a path that begins with /, and / in place of each backslash");
        }
        begin(value.len() - rest.len(), "/")
    }
}

/// The length of the signs and blanks before a path, as in `Disallow:: /a` and `Disallow: = /a`.
fn sign_before_path(value: &[u8]) -> Option<usize> {
    let rest = value.trim_start_with(|c| ":=->".contains(c));
    let path = trim_start(rest);
    let is_path = path.starts_with(b"/") || path.starts_with(b"*");
    (rest.len() < value.len() && is_path).then_some(value.len() - path.len())
}

/// Whether a path begins with the scheme of a URL, if not as one: `http:/a.example`.
fn begins_as_url(value: &[u8]) -> bool {
    [b"http".as_slice(), b"https"].iter().any(|scheme| {
        let start = value.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && (value[scheme.len()..].starts_with(b":")
                || value[scheme.len()..]
                    .to_ascii_lowercase()
                    .starts_with(b"%3a"))
    })
}

/// Whether a path is a regular expression. A backslash before a letter separates folders.
fn is_expression(value: &[u8]) -> bool {
    value.starts_with(b".*")
        || value.starts_with(b"(")
        || [b"\\*".as_slice(), b"\\.", b"\\/", b"\\?"]
            .iter()
            .any(|escaped| value.contains_str(escaped))
        || unsupported(value).is_some_and(|(_, help)| help == SPELL_OUT)
}

/// Whether a path is the name of a parameter of a query with a value, such as `sort=*`.
fn is_parameter(value: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_[]%".contains(byte);
    match value.find_byte(b'=') {
        Some(at) => at > 0 && value[..at].iter().all(is_name),
        None => false,
    }
}

/// Quotes a text after a start.
fn quote_after(start: &str, rest: &[u8]) -> String {
    quote(&[start.as_bytes(), rest].concat())
}

/// Whether a path is a file extension, such as `.css`, `.pdf$` and `.js?`.
fn is_extension(value: &[u8]) -> bool {
    let Some(name) = value.strip_prefix(b".") else {
        return false;
    };
    let name = name.trim_end_with(|c| "$?*".contains(c));
    (1..=5).contains(&name.len()) && name.iter().all(u8::is_ascii_alphanumeric)
}

/// Whether a path begins with the name of a host: with `www.`, or a domain that no file extension
/// resembles.
fn is_host(value: &[u8]) -> bool {
    let host = value
        .split(|b| b"/?*:".contains(b))
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let has_domain = [b".com".as_slice(), b".net", b".org"]
        .iter()
        .any(|domain| host.ends_with(domain));
    host.starts_with(b"www.") || (has_domain && host.len() > 4)
}

/// Reports a rule without a path. `Disallow:` alone in its group is the usual form of a group that
/// allows everything. Of several in a group without other rules, the first ends the list of
/// user-agent lines, so it has an effect.
fn check_empty(rule: &Rule<'_>, group: &Group<'_>, findings: &mut FindingCollector) {
    let is_first = group
        .rules()
        .first()
        .is_some_and(|first| first.line() == rule.line());
    // Only the first can end the list of user-agent lines.
    let has_effect = is_first && group.rules().iter().all(|rule| value(rule).is_empty());
    if has_effect && rule.kind() == RuleKind::Allow {
        findings.add_fixable(rule.line(), Code::EmptyRule, || FindingTexts {
            message: "the allow line has no path, and its group allows everything".to_owned(),
            help: "write `Disallow:` to allow everything, or `Disallow: /` to disallow everything"
                .to_owned(),
            // An allow with a path could override rules of other groups with the same agents.
            fix: Some(LineFix::safe(LineEdit::Text {
                line: rule.line(),
                range: 0..rule.text().len(),
                by: "Disallow:".to_owned(),
            })),
        });
    } else if !has_effect {
        findings.add_fixable(rule.line(), Code::EmptyRule, || {
            let name = rule.kind().name();
            let help = match rule.kind() {
                RuleKind::Allow => "remove the line, or write `Allow: /`",
                RuleKind::Disallow => {
                    "remove the line, or write `Disallow: /` to disallow everything"
                }
            };
            FindingTexts {
                message: format!("the {name} line has no path, so it has no effect"),
                help: help.to_owned(),
                fix: Some(LineFix::remove(rule.line())),
            }
        });
    }
}

/// The path of a URL with scheme and host; `None` for anything else.
fn path_of_url(value: &[u8]) -> Option<&[u8]> {
    let scheme = [b"http://".as_slice(), b"https://", b"ftp://"]
        .into_iter()
        .find(|scheme| {
            value.len() >= scheme.len() && value[..scheme.len()].eq_ignore_ascii_case(scheme)
        })?;
    let rest = &value[scheme.len()..];
    Some(
        rest.find_byte(b'/')
            .map_or(b"/".as_slice(), |slash| &rest[slash..]),
    )
}

fn check_characters(rule: &Rule<'_>, value: &[u8], findings: &mut FindingCollector) {
    let line = rule.line();
    if value.chars().any(is_white_space) {
        findings.add(line, Code::SpaceInPattern, || {
            let message = format!("the path {} has a blank, and no URL has one", quote(value));
            (
                message,
                "write one path per line, and `%20` for a blank in a path".to_owned(),
            )
        });
    }
    // Parsers disagree about bytes outside ASCII, and URLs have them only as escapes.
    if !value.is_ascii() {
        findings.add_fixable(line, Code::NonAscii, || {
            let message = match std::str::from_utf8(value) {
                Ok(_) => "Google's parser percent-encodes it as UTF-8, others compare it as it is",
                Err(_) => "it is not UTF-8, so it matches no URL that encodes characters as UTF-8",
            };
            let message = format!(
                "the path {} has characters outside ASCII: {message}",
                quote(value)
            );
            let help = match std::str::from_utf8(value) {
                Ok(_) => format!("write {}", quote(&normal_form(&rule.pattern()))),
                Err(_) => {
                    "save the file as UTF-8, and write the path with percent escapes".to_owned()
                }
            };
            let encoded = std::str::from_utf8(value).ok().map(percent_encoded);
            let edit = encoded.map(|by| LineEdit::Value {
                line,
                len: value.len(),
                by,
            });
            FindingTexts {
                message,
                help,
                fix: edit.map(LineFix::safe),
            }
        });
    }
    if let Some(at) = bad_escape(value) {
        findings.add(line, Code::BadEscape, || {
            let escape = quote(&value[at..value.len().min(at + 3)]);
            let message = format!("{escape} is not a percent escape, so only malformed URLs match");
            (
                message,
                "write % and two hexadecimal digits; `%25` is the character % itself".to_owned(),
            )
        });
    }
}

/// A path with escapes in place of the bytes outside ASCII.
fn percent_encoded(path: &str) -> String {
    let encode = |byte: u8| match byte.is_ascii() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.bytes().map(encode).collect()
}

/// The path with its `$`.
fn normal_form(pattern: &Pattern<'_>) -> Vec<u8> {
    [&pattern.text[..], if pattern.anchored { b"$" } else { b"" }].concat()
}

/// The offset of the first `%` that does not begin an escape. One before `*` or at the end is fine:
/// it matches the start of an escape.
fn bad_escape(value: &[u8]) -> Option<usize> {
    value.find_iter(b"%").find(|&at| match &value[at + 1..] {
        [] | [b'*', ..] => false,
        [digit] | [digit, b'*', ..] => !digit.is_ascii_hexdigit(),
        [high, low, ..] => !(high.is_ascii_hexdigit() && low.is_ascii_hexdigit()),
    })
}

fn check_wildcards(rule: &Rule<'_>, value: &[u8], findings: &mut FindingCollector) {
    let Some((what, help)) = unsupported(value) else {
        return;
    };
    findings.add_fixable(rule.line(), Code::UnsupportedWildcard, || FindingTexts {
        message: format!("in the path {}, {what}", quote(value)),
        help: help.to_owned(),
        fix: (what == DOUBLE_STAR).then(|| LineFix {
            is_safe: false,
            edits: repeated_stars(rule, value),
        }),
    });
}

/// The remedy for a regular expression.
const SPELL_OUT: &str =
    "write the path with * and a final $ only, or one rule for each alternative";

/// The construct that is mended by [`repeated_stars`].
const DOUBLE_STAR: &str = "`**` means the same as `*`, but counts as longer";

/// Edits that remove each star that follows another.
fn repeated_stars(rule: &Rule<'_>, value: &[u8]) -> Vec<LineEdit> {
    let value_at = rule.text().len() - value.len();
    let repeated = (1..value.len()).filter(|&at| value[at - 1..=at] == *b"**");
    repeated
        .map(|at| LineEdit::Text {
            line: rule.line(),
            range: value_at + at..value_at + at + 1,
            by: String::new(),
        })
        .collect()
}

/// The first construct that robots.txt does not have, and the remedy. Characters that URLs have
/// too, such as `?`, `[` and `.`, count only in combinations that are usual in regular expressions
/// and shell globs.
fn unsupported(value: &[u8]) -> Option<(&'static str, &'static str)> {
    // The most telling constructs come first: a class or a group may contain any of the later ones.
    let body = value.strip_suffix(b"$").unwrap_or(value);
    if has_class(value) {
        return Some(("`[...]` is not a set of characters", SPELL_OUT));
    }
    if value
        .iter()
        .zip(&value[1..])
        .any(|(a, b)| *a == b'\\' && b".?*/+-$dwsb(".contains(b))
    {
        return Some((
            "a backslash escapes nothing",
            "remove the backslash; for a literal $ or * write `%24` or `%2A`",
        ));
    }
    if value.contains_str("(.*)")
        || value.contains_str("/.*/")
        || has_repeated_dot(value)
        || is_alternation(value)
    {
        return Some(("a regular expression is read literally", SPELL_OUT));
    }
    if has_early_end(body) {
        return Some((
            "a $ in the middle is the character $, not the end of the URL",
            "move the $ to the end, or remove it",
        ));
    }
    if value.contains_str("**") {
        return Some((DOUBLE_STAR, "write a single *"));
    }
    if value.contains_str("??") || is_question_glob(body) {
        return Some((
            "a ? is not a wildcard",
            "write * for any run of characters; a ? begins the query of a URL",
        ));
    }
    None
}

/// Whether a path has a range of characters in brackets, such as `[0-9]`, or a negated set.
fn has_class(value: &[u8]) -> bool {
    value.find_iter(b"[").any(|open| {
        let rest = &value[open + 1..];
        let Some(close) = rest.find_byte(b']') else {
            return false;
        };
        let inside = &rest[..close];
        let mut parts = inside.windows(3);
        let has_range = parts
            .any(|w| w[1] == b'-' && w[0].is_ascii_alphanumeric() && w[2].is_ascii_alphanumeric());
        inside.starts_with(b"^") || (inside.len() < 12 && has_range)
    })
}

/// Whether a path has `.+` as in a regular expression. Before a letter, `+` is a blank of a query.
fn has_repeated_dot(value: &[u8]) -> bool {
    value.find_iter(b".+").any(|at| {
        let next = value.get(at + 2);
        next.is_none_or(|next| b"$/)\\?*".contains(next))
    })
}

/// Whether a path has a `$` that is meant as an end. Before a letter, a digit or a brace it is a
/// price or a variable of a URL.
fn has_early_end(body: &[u8]) -> bool {
    body.find_iter(b"$").any(|at| {
        let next = body.get(at + 1);
        !next.is_some_and(|next| next.is_ascii_alphanumeric() || b"_{(".contains(next))
    })
}

/// Whether a path has alternatives in parentheses, such as `(a|b)`.
fn is_alternation(value: &[u8]) -> bool {
    let Some(open) = value.find_byte(b'(') else {
        return false;
    };
    value[open..]
        .find_byte(b')')
        .is_some_and(|close| value[open..open + close].contains(&b'|'))
}

/// Whether a `?` precedes a file extension at the end, as in `/page?.html`.
fn is_question_glob(body: &[u8]) -> bool {
    let Some(at) = body.rfind(b"?.") else {
        return false;
    };
    let extension = &body[at + 2..];
    (2..=5).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_wildcards_are_recognized() {
        for path in [
            "/a[0-9]", "/[^a]", "/a\\.b", "/(a|b)", "/(.*)", "/a.+", "/a/.*/b", "/a$/b", "/a**",
            "/p?.html", "/a$$",
        ] {
            assert!(unsupported(path.as_bytes()).is_some(), "{path}");
        }
        for path in [
            "/*?filter[color]=",
            "/a.*",
            "/.git",
            "/*.php?",
            "/a$",
            "/*?a=(b)",
            "/?a|b",
            "/a?b.c=",
            "/a-b[]=1-2",
            "/card-$50-off",
            "/${id}/$name",
            "/misc.+programming",
            "/*-a.*?page=",
        ] {
            assert_eq!(unsupported(path.as_bytes()), None, "{path}");
        }
    }

    #[test]
    fn relative_paths_get_a_fitting_remedy() {
        for (path, remedy) in [
            ("cart", "write `/cart`"),
            ("^/cart", "write `/cart`"),
            ("./cart", "write `/cart`"),
            ("../cart", "write `/cart`"),
            ("?sort=", "write `/*?sort=`"),
            (
                ".css",
                "write `/*.css` for a file extension, or `/.css` for a path",
            ),
            (
                ".pdf$",
                "write `/*.pdf$` for a file extension, or `/.pdf$` for a path",
            ),
            ("a.b.html", "write `/a.b.html`"),
            (
                ".js?",
                "write `/*.js?` for a file extension, or `/.js?` for a path",
            ),
            ("&sort=", "write `/*&sort=`"),
            (
                "utm_source=*",
                "write `/*?utm_source=*` and `/*&utm_source=*` for a parameter of a query",
            ),
            (": /a", "write `/a`"),
            ("= /a", "write `/a`"),
            ("\\downloads", "write `/downloads`"),
            (
                "\\*/a/\\*",
                "write a path that begins with /, with * for any run of characters",
            ),
            (
                "\\a\\b",
                "write a path that begins with /, and / in place of each backslash",
            ),
            (
                ".*page=.*",
                "write a path that begins with /, with * for any run of characters",
            ),
            (
                "a page",
                "write a path that begins with /, one per line, and `%20` for a blank",
            ),
            (
                "http:/a.example/x",
                "write the path alone, in the robots.txt of that host",
            ),
            (
                ".com",
                "write `/*.com` for a file extension, or `/.com` for a path",
            ),
            (
                "a.example.com/x",
                "write the path alone, in the robots.txt of that host",
            ),
            (
                "www.example.ie",
                "write the path alone, in the robots.txt of that host",
            ),
        ] {
            assert_eq!(RelativeRemedy::of(path.as_bytes()).help, remedy, "{path}");
        }
    }

    #[test]
    fn broken_escapes_are_found() {
        for (path, at) in [
            ("/a%2Fb", None),
            ("/%", None),
            ("/%4*", None),
            ("/%4$", Some(1)),
            ("/%41%zz", Some(4)),
            ("/%%20", Some(1)),
        ] {
            assert_eq!(bad_escape(path.as_bytes()), at, "{path}");
        }
    }

    #[test]
    fn urls_have_a_path() {
        assert_eq!(path_of_url(b"https://e.example/a"), Some(b"/a".as_slice()));
        assert_eq!(path_of_url(b"HTTP://e.example"), Some(b"/".as_slice()));
        assert_eq!(path_of_url(b"/http://e.example"), None);
    }
}
