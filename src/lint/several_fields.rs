//! Lines with several fields: a field that lost its line end is read as a part of the value before
//! it.

use crate::bytes::{is_white_space, trim, trim_end};
use crate::lint::agent_names::list;
use crate::lint::code::Code;
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::profile::Profile;
use crate::robots::field::{self, RobotsField};
use memchr::memchr_iter;

/// Fields that are found without a blank in front of them too, as in `/a/Disallow: /b`. A name that
/// ends in another one comes first.
const FIELDS: &[&[u8]] = &[
    b"user-agent",
    b"useragent",
    b"disallow",
    b"allow",
    b"sitemap",
    b"crawl-delay",
];

/// Reports a line whose value has a further field. Returns whether it is one.
pub(super) fn check(
    line: u32,
    text: &[u8],
    (first, value): (RobotsField, &[u8]),
    findings: &mut FindingCollector,
) -> bool {
    let starts = starts_of_fields(value, first == RobotsField::UserAgent);
    let Some(&second) = starts.first() else {
        return false;
    };
    findings.add_fixable(line, Code::SeveralFields, || {
        let value_at = text.len() - value.len();
        let mut lines = vec![trim(&text[..value_at + second])];
        let ends = starts[1..].iter().copied().chain([value.len()]);
        lines.extend(
            starts
                .iter()
                .zip(ends)
                .map(|(start, end)| trim(&value[*start..end])),
        );
        // In `Sitemap: Sitemap: https://e.example/s`, the field is written twice.
        let has_no_value = trim(&value[..second]).is_empty();
        let is_same =
            field::split(lines[1], Profile::Google).is_some_and(|(next, _)| next == first);
        if has_no_value && is_same {
            lines.remove(0);
        }
        let message = format!(
            "{} is in the value of another field, so parsers do not read it as a line of its own",
            quote(trim(&value[second..]))
        );
        let listed = list(lines.iter().map(|line| quote(line)));
        let help = match lines.len() {
            1 => format!("write {listed}"),
            _ => format!("write {listed}, each on a line of its own"),
        };
        let by = std::str::from_utf8(&lines.join(&b'\n'))
            .ok()
            .map(str::to_owned);
        FindingTexts {
            message,
            help,
            fix: by.map(|by| {
                let len = text.len();
                LineFix::new(false, LineEdit::Value { line, len, by })
            }),
        }
    });
    true
}

/// Where further fields begin in a value. `is_agent`: the value is that of a user-agent line, in
/// which a path cannot have a colon.
fn starts_of_fields(value: &[u8], is_agent: bool) -> Vec<usize> {
    let starts = memchr_iter(b':', value).filter_map(|colon| {
        let before = trim_end(&value[..colon]);
        let is_name = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-';
        let word = before.iter().rev().take_while(is_name).count();
        let start = before.len() - word;
        let is_apart = value[..start]
            .last()
            .is_none_or(|byte| is_white_space((*byte).into()));
        if is_apart {
            let key = [&before[start..], b":"].concat();
            return field::split(&key, Profile::Google).map(|_| start);
        }
        start_of_glued(value, colon, is_agent)
    });
    starts.collect()
}

/// Where a field begins that ends at a colon and follows other text. URLs may have colons too, so
/// the field must be marked by what surrounds it.
fn start_of_glued(value: &[u8], colon: usize, is_agent: bool) -> Option<usize> {
    let name = FIELDS.iter().find(|name| {
        let start = colon.checked_sub(name.len());
        start.is_some_and(|start| value[start..colon].eq_ignore_ascii_case(name))
    })?;
    let start = colon - name.len();
    let previous = start.checked_sub(1).map(|at| value[at])?;
    let begins_word = !previous.is_ascii_alphanumeric() || value[start].is_ascii_uppercase();
    let ends_word = match value.get(colon + 1) {
        None => is_agent,
        Some(b'/' | b'*') => !matches!(*name, b"sitemap" | b"crawl-delay"),
        Some(next) => is_white_space((*next).into()),
    };
    (begins_word && ends_word).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a value, with bars between them.
    fn split(value: &str, is_agent: bool) -> String {
        let mut written = value.to_owned();
        for start in starts_of_fields(value.as_bytes(), is_agent)
            .into_iter()
            .rev()
        {
            written.insert(start, '|');
        }
        written
    }

    #[test]
    fn further_fields_of_a_line_are_found() {
        for value in [
            "* |Disallow: /",
            "*|Disallow: /a |Allow: /a/b |Sitemap: https://e.example/s",
            "*|Allow:",
            "*|Disallow:/",
            "GPTBot |Crawl-delay: 5",
            "|User-Agent: *",
        ] {
            assert_eq!(split(&value.replace('|', ""), true), value);
        }
        for value in [
            "/a |Disallow: /b",
            "/a/|Disallow: /b",
            "/*.gif$|User-agent: *",
            "|Sitemap: https://e.example/s",
            "|Sitemap:",
            "https://e.example/s.xml|User-agent: *",
            "60|Disallow: /a",
            "/a |disallow : /b",
            "/a |Noindex: /b",
        ] {
            assert_eq!(split(&value.replace('|', ""), false), value);
        }
    }

    #[test]
    fn colons_of_paths_begin_no_field() {
        for value in [
            "https://e.example:80/sitemap",
            "/wiki/Sitemap:",
            "/wiki/Sitemap:Talk",
            "/wiki/Special:Allow",
            "/shallow: /a",
            "http://host:80/",
            "/a b: /c",
            "/a:/b",
            "/a?disallow:x",
        ] {
            assert_eq!(split(value, false), value);
        }
    }
}
