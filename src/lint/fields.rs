//! Checks of the fields: unknown and misspelt ones, missing colons, lines before any group.

use crate::agent::without_separators;
use crate::bytes::{is_invisible, is_white_space, trim};
use crate::crawlers::KnownAgent;
use crate::crawlers::spelling::is_within;
use crate::lint::agent_names::{listed_names, one_line_each};
use crate::lint::code::{Code, MendedPart};
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::lint::patterns::QUOTES;
use crate::lint::several_fields;
use crate::profile::Profile;
use crate::robots::field::{self, RobotsField};
use crate::robots::line::NumberedLines;
use bstr::ByteSlice;
use std::collections::HashSet;

/// Correct spellings, in the order in which they are suggested.
const NAMES: &[&str] = &[
    "User-agent",
    "Disallow",
    "Allow",
    "Sitemap",
    "Crawl-delay",
    "Request-rate",
    "Visit-time",
    "Clean-param",
    "Content-signal",
    "Content-usage",
    "License",
];

/// Lines whose field not every parser reads.
#[derive(Debug, Default)]
pub(super) struct InexactLines {
    /// Lines with several fields.
    pub several: HashSet<u32>,
    /// Those, and lines without a colon. Their values are not checked further: they are not what
    /// the author meant.
    pub unread_values: HashSet<u32>,
    /// Those, and lines with a misspelt field that Google's parser accepts. Other parsers ignore
    /// some of them, so such a rule makes no other rule superfluous.
    pub all: HashSet<u32>,
}

/// Checks the field of every line.
pub(super) fn check(body: &[u8], findings: &mut FindingCollector) -> InexactLines {
    let mut inexact = InexactLines::default();
    let mut has_agent = false;
    let mut html = HtmlLines::default();
    let mut has_fields = None;
    for line in NumberedLines::new(body, false) {
        // After an HTML tag, lines count again from the next field on.
        let split = field::split(line.text, Profile::Google);
        let is_field = split.is_some() || close_name(key_of(line.text)).is_some();
        if html.skips(line.number, line.text, is_field, findings)
            || without_invisible(line.text).is_empty()
        {
            continue;
        }
        if let Some((field, _)) = split {
            has_agent |= field == RobotsField::UserAgent;
            if !has_agent && needs_group(field) {
                add_outside_group(line.number, line.text, findings);
            }
        }
        // Some parsers accept lines without a colon or with a misspelt field, others ignore them.
        // So no later check relies on these lines.
        if let Some(wide) = WideColon::find(line.text) {
            inexact.unread_values.insert(line.number);
            inexact.all.insert(line.number);
            wide.add_finding(line.number, line.text, findings);
            continue;
        }
        if split.is_none() && add_quoted(line.number, line.text, findings) {
            continue;
        }
        if lacks_colon(line.text) {
            inexact.unread_values.insert(line.number);
            inexact.all.insert(line.number);
            add_missing_colon(
                line.number,
                line.text,
                split.map(|(field, _)| field),
                *has_fields.get_or_insert_with(|| has_field(body)),
                findings,
            );
        } else if let Some(split) = split
            && several_fields::check(line.number, line.text, split, findings)
        {
            inexact.several.insert(line.number);
            inexact.unread_values.insert(line.number);
            inexact.all.insert(line.number);
        } else if check_key(
            line.number,
            line.text,
            split.map(|(field, _)| field),
            findings,
        ) {
            inexact.all.insert(line.number);
        }
    }
    inexact
}

/// Whether a file has a line with a known field, in any spelling. One without is an error page.
fn has_field(body: &[u8]) -> bool {
    NumberedLines::new(body, false).any(|line| {
        let without_quotes = line.text.trim_start_with(|c| QUOTES.contains(&c));
        [key_of(without_quotes), first_word(without_quotes)]
            .iter()
            .any(|key| field_named(without_invisible(key)).is_some())
    })
}

/// Lines of HTML that a server or a plug-in adds to a robots.txt. They are reported once, because a
/// page has hundreds of lines.
#[derive(Default)]
struct HtmlLines {
    is_reported: bool,
    /// No line with a field has followed the last tag.
    is_inside: bool,
}

impl HtmlLines {
    /// Whether a line is HTML, or follows HTML without being a field. The first one is reported.
    fn skips(
        &mut self,
        line: u32,
        text: &[u8],
        is_field: bool,
        findings: &mut FindingCollector,
    ) -> bool {
        let is_tag =
            matches!(text, [b'<', next, ..] if next.is_ascii_alphabetic() || b"!?/".contains(next));
        self.is_inside = is_tag || (self.is_inside && !is_field);
        // A field behind a tag, as in `<pre>User-agent: *`, is not to be removed with it.
        let written = if is_tag { without_tags(text) } else { text };
        let hides_field = is_tag && field::split(written, Profile::Rfc9309).is_some();
        if hides_field {
            findings.leave_open(line, MendedPart::File);
        }
        if is_tag && (!self.is_reported || hides_field) {
            self.is_reported = true;
            findings.add(line, Code::Html, || {
                let message = format!("{} is HTML, and parsers ignore it", quote(text));
                let mut help = "remove all HTML from the file; a server or a plug-in may add it";
                let line_alone;
                if hides_field {
                    line_alone = format!("write {}, and {help}", quote(written));
                    help = &line_alone;
                }
                (message, help.to_owned())
            });
        }
        self.is_inside
    }
}

/// A line without the HTML tags at its start and at its end.
fn without_tags(text: &[u8]) -> &[u8] {
    let mut inner = trim(text);
    while inner.starts_with(b"<")
        && let Some(end) = inner.find_byte(b'>')
    {
        inner = trim(&inner[end + 1..]);
    }
    while inner.ends_with(b">")
        && let Some(start) = inner.rfind_byte(b'<')
    {
        inner = trim(&inner[..start]);
    }
    inner
}

/// A byte order mark that a program read as Latin-1 and wrote as UTF-8.
const TWICE_ENCODED_MARK: &str = "\u{ef}\u{bb}\u{bf}";

/// A text without the control characters, blanks and invisible characters at its ends, and without
/// byte order marks. Text that is not UTF-8 stays.
fn without_invisible(text: &[u8]) -> &[u8] {
    let Ok(visible) = std::str::from_utf8(text) else {
        return text;
    };
    visible
        .trim_matches(is_unseen)
        .trim_start_matches(TWICE_ENCODED_MARK)
        .as_bytes()
}

fn is_unseen(c: char) -> bool {
    c.is_control() || c.is_whitespace() || is_invisible(c)
}

/// The correct spelling of a field.
fn name_of(field: RobotsField) -> &'static str {
    match field {
        RobotsField::UserAgent => "User-agent",
        RobotsField::Allow => "Allow",
        RobotsField::Disallow => "Disallow",
        RobotsField::Other(name) => NAMES
            .iter()
            .find(|known| known.eq_ignore_ascii_case(name))
            .copied()
            .unwrap_or(name),
    }
}

/// Whether a line with this field applies to the agents of its group.
fn needs_group(field: RobotsField) -> bool {
    match field {
        RobotsField::UserAgent => false,
        RobotsField::Allow | RobotsField::Disallow => true,
        RobotsField::Other(name) => matches!(name, "crawl-delay" | "content-usage"),
    }
}

fn add_outside_group(line: u32, text: &[u8], findings: &mut FindingCollector) {
    findings.add(line, Code::OutsideGroup, || {
        let message = format!(
            "{} precedes the first user-agent line, so it applies to no crawler",
            quote(text)
        );
        (
            message,
            "write `User-agent: *` above it, or move it into a group".to_owned(),
        )
    });
}

/// The text before the first colon.
fn key_of(text: &[u8]) -> &[u8] {
    trim(text.split(|&b| b == b':').next().unwrap_or_default())
}

/// The first word of a line.
fn first_word(text: &[u8]) -> &[u8] {
    text.fields_with(is_white_space).next().unwrap_or_default()
}

/// The correct spelling of a word that is a field in any accepted or close spelling.
fn field_named(word: &[u8]) -> Option<&'static str> {
    let with_colon = [word, b":".as_slice()].concat();
    match field::split(&with_colon, Profile::Google) {
        Some((field, _)) => Some(name_of(field)),
        None => close_name(word),
    }
}

/// Whether a line has no colon after its field. The colon of `Sitemap https://e.example/` and that
/// of `Disallow /a:b` come too late: the first word alone is the field.
fn lacks_colon(text: &[u8]) -> bool {
    let key = key_of(text);
    let word = first_word(text);
    if key.len() == text.len() {
        return true;
    }
    // `User agent:` and `Crawl delay:` are fields of two words.
    let lower = key.to_ascii_lowercase();
    let has_value = key.find_byteset(b"/*.$").is_some()
        || lower.ends_with(b" https")
        || lower.ends_with(b" http");
    word.len() < key.len() && has_value && field_named(word).is_some()
}

/// The colon of Chinese and Japanese keyboards, in UTF-8 and in GBK.
const WIDE_COLONS: [&[u8]; 2] = ["\u{ff1a}".as_bytes(), b"\xa3\xba"];

/// A field, such a colon and a value, as in `Sitemap：https://e.example/`.
struct WideColon<'t> {
    name: &'static str,
    /// Where the value begins in the text of the line.
    start: usize,
    value: &'t [u8],
}

impl<'t> WideColon<'t> {
    fn find(text: &'t [u8]) -> Option<Self> {
        let places = WIDE_COLONS.iter().filter_map(|colon| {
            let at = text.find(colon)?;
            Some(at..at + colon.len())
        });
        let colon = places.min_by_key(|colon| colon.start)?;
        let key = trim(&text[..colon.start]);
        let name = is_plain(key).then(|| field_named(key)).flatten()?;
        let value = trim(&text[colon.end..]);
        Some(Self {
            name,
            start: text.len() - value.len(),
            value,
        })
    }

    fn add_finding(&self, line: u32, text: &[u8], findings: &mut FindingCollector) {
        let Self { name, start, value } = *self;
        findings.add_fixable(line, Code::MissingColon, || FindingTexts {
            message: format!(
                "{} has a full-width colon after its field, which parsers do not read as a colon",
                quote(text)
            ),
            help: match value {
                b"" => format!("write `{name}:`"),
                _ => format!("write {}", quote(&[name.as_bytes(), b": ", value].concat())),
            },
            fix: fits_field(name, value).then(|| {
                let by = format!("{name}: ");
                let range = 0..start;
                LineFix::new(false, LineEdit::Text { line, range, by })
            }),
        });
    }
}

/// Whether a text has only letters, digits and what separates words. Other characters in a field
/// may be the start of its value, so they are not deleted with a misspelling.
fn is_plain(key: &[u8]) -> bool {
    key.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || SEPARATORS.contains(byte))
}

/// Reports a line that is in quotes, such as `"Disallow: /a"`. Returns whether it is one.
fn add_quoted(line: u32, text: &[u8], findings: &mut FindingCollector) -> bool {
    let Ok(whole) = std::str::from_utf8(text) else {
        return false;
    };
    let Some((key, value)) = whole.split_once(':').filter(|_| whole.starts_with(QUOTES)) else {
        return false;
    };
    let inner_key = key.trim_matches(|c| QUOTES.contains(&c) || is_unseen(c));
    if !is_plain(inner_key.as_bytes()) {
        return false;
    }
    let Some(name) = field_named(inner_key.as_bytes()) else {
        return false;
    };
    // The second quote of `"Disallow": /a` ends the field.
    let value = match key.trim_end().ends_with(QUOTES) {
        true => value.trim(),
        false => value.trim().trim_end_matches(QUOTES).trim_end(),
    };
    let written = format!("{name}: {value}").trim_end().to_owned();
    findings.add_fixable(line, Code::MisspeltField, || FindingTexts {
        message: format!(
            "{} begins with a quote, so parsers ignore the line",
            quote(text)
        ),
        help: format!("write {}", quote(written.as_bytes())),
        fix: (!value.contains(QUOTES)).then(|| {
            let range = 0..text.len();
            let by = written.clone();
            LineFix::new(false, LineEdit::Text { line, range, by })
        }),
    });
    true
}

fn add_missing_colon(
    line: u32,
    text: &[u8],
    accepted: Option<RobotsField>,
    has_fields: bool,
    findings: &mut FindingCollector,
) {
    let is_accepted = accepted.is_some();
    // Profile `Rfc9309` starts to read the line of a rule or group once it has its colon.
    let is_safe = matches!(accepted, Some(RobotsField::Other(_)));
    findings.add_fixable(line, Code::MissingColon, || {
        let ColonlessLine {
            word,
            sign,
            value: rest,
        } = ColonlessLine::new(text);
        let Some(name) = field_named(word) else {
            let message = format!("{} has no colon, so parsers ignore the line", quote(text));
            let help = match text {
                [b'/', ..] if !text.chars().any(is_white_space) => {
                    "write `Disallow: ` or `Allow: ` before the path"
                }
                _ if !has_fields => "serve a text file at /robots.txt, or answer with status 404",
                _ => "write `FIELD: VALUE`, or `#` before a comment",
            };
            return FindingTexts {
                message,
                help: help.to_owned(),
                fix: None,
            };
        };
        let has_colon = text.contains(&b':');
        let effect = match (is_accepted, has_colon) {
            (true, false) => {
                "Google's parser reads two words without a colon as field and value, others ignore \
                 them"
            }
            (true, true) => {
                "Google's parser reads a wrong value after the first colon, others ignore the line"
            }
            (false, _) => "parsers ignore the line",
        };
        if !is_plain(word) {
            return FindingTexts {
                message: format!("{} has no colon after its field: {effect}", quote(text)),
                help: format!("write `{name}: VALUE`"),
                fix: None,
            };
        }
        // The help repeats the value, which may be as long as the file.
        let value = String::from_utf8_lossy(&rest[..rest.len().min(200)]);
        let help = match listed_names(rest).filter(|_| name == "User-agent") {
            Some(names) if names.len() > 1 => one_line_each(&names),
            _ => format!("write `{name}: {value}`"),
        };
        let is_value = fits_field(name, rest);
        let message = match sign {
            b"" => format!("{} has no colon after its field: {effect}", quote(text)),
            _ => format!(
                "{} has {} in place of a colon: {effect}",
                quote(text),
                quote(sign)
            ),
        };
        if !sign.is_empty() {
            return FindingTexts {
                message,
                help,
                fix: is_value.then(|| {
                    let range = 0..text.len() - rest.len();
                    let by = format!("{name}: ");
                    LineFix::new(false, LineEdit::Text { line, range, by })
                }),
            };
        }
        FindingTexts {
            message,
            help,
            fix: (is_value || (is_accepted && !has_colon)).then(|| {
                // A right spelling stays, in any case of its letters.
                let is_right = word.eq_ignore_ascii_case(name.as_bytes());
                LineFix::new(
                    is_safe && !has_colon,
                    LineEdit::Text {
                        line,
                        range: if is_right { word.len() } else { 0 }..word.len(),
                        by: if is_right {
                            ":".to_owned()
                        } else {
                            format!("{name}:")
                        },
                    },
                )
            }),
        }
    });
}

/// Signs that authors write in place of a colon, as in `User-agent = *`.
const SIGNS: &str = "=;,.-";

/// The parts of a line without a colon.
struct ColonlessLine<'t> {
    word: &'t [u8],
    /// What stands in place of the colon; empty if nothing does.
    sign: &'t [u8],
    value: &'t [u8],
}

impl<'t> ColonlessLine<'t> {
    fn new(text: &'t [u8]) -> Self {
        let first = first_word(text);
        // The sign is within the first word, at its end, or a word of its own.
        let word = match first.find_byte(b'=') {
            Some(at) => &first[..at],
            None => first.trim_end_with(|c| SIGNS.contains(c)),
        };
        let rest = trim(&text[word.len()..]);
        let is_sign = |byte: &&u8| SIGNS.contains(char::from(**byte));
        let (sign, value) = rest.split_at(rest.iter().take_while(is_sign).count());
        // A value may begin so: `Disallow .pdf` has no sign.
        let is_apart = value.chars().next().is_none_or(is_white_space);
        match !sign.is_empty() && (is_apart || sign.starts_with(b"=")) {
            true => Self {
                word,
                sign,
                value: trim(value),
            },
            false => Self {
                word: first,
                sign: b"",
                value: trim(&text[first.len()..]),
            },
        }
    }
}

/// Whether a text can be the value of a field, and not the words of a sentence that begins with the
/// name of one.
fn fits_field(name: &str, value: &[u8]) -> bool {
    let is_word = !value.is_empty() && !value.chars().any(is_white_space);
    is_word
        && match name {
            "Allow" | "Disallow" => value.starts_with(b"/") || value.starts_with(b"*"),
            "Sitemap" => is_url(value),
            _ => true,
        }
}

/// An edit that spells the field of a line.
fn spell_field(line: u32, key: &[u8], name: &str) -> LineEdit {
    LineEdit::Text {
        line,
        range: 0..key.len(),
        by: name.to_owned(),
    }
}

/// Checks the text before the colon. Returns whether it is a misspelt field.
fn check_key(
    line: u32,
    text: &[u8],
    field: Option<RobotsField>,
    findings: &mut FindingCollector,
) -> bool {
    // Google's parser also accepts a few misspelt fields, so `field` is not the spelling.
    let key = key_of(text);
    let Some(field) = field else {
        add_unread(line, text, findings);
        return false;
    };
    match field {
        RobotsField::Other(rule @ ("noindex" | "nofollow" | "noarchive")) => {
            add_page_rule(line, rule, findings);
        }
        // These are stored, but no crawler says that it reads them.
        RobotsField::Other("domain" | "revisit-after" | "cache-delay" | "robot-version") => {
            add_unread(line, text, findings);
        }
        _ => {}
    }
    let name = name_of(field);
    let is_misspelt = !key.eq_ignore_ascii_case(name.as_bytes());
    if is_misspelt {
        findings.add_fixable(line, Code::MisspeltField, || {
            let message = format!(
                "{} is not a field of RFC 9309: Google's parser reads it as `{name}`, parsers that \
                 follow the RFC ignore the line",
                quote(key)
            );
            if let Some(words) = words_after_field(key) {
                let FieldRemedy { help, fix } = remedy_of_words(line, text, name, words);
                return FindingTexts { message, help, fix };
            }
            let is_other = is_other_field(key, name);
            let is_plain = is_plain(key);
            let help = match (is_other, is_plain) {
                (_, false) => format!("write the line again as `{name}: VALUE`"),
                (true, true) => format!("remove the line, or write `{name}:` if that is meant"),
                (false, true) => format!("write `{name}:`"),
            };
            FindingTexts {
                message,
                help,
                // Profile `Rfc9309` starts to read the line of a rule or group.
                fix: (!is_other && is_plain).then(|| {
                    let is_safe = matches!(field, RobotsField::Other(_));
                    LineFix::new(is_safe, spell_field(line, key, name))
                }),
            }
        });
    }
    is_misspelt
}

/// What to write in place of a line whose field has further words.
struct FieldRemedy {
    help: String,
    fix: Option<LineFix>,
}

/// The words of a key after those that spell a field, as in `User-agent GPTBot:`; `None` if there
/// are none. They may be a name, so they are never deleted with the misspelling.
fn words_after_field(key: &[u8]) -> Option<&[u8]> {
    let first = first_word(key);
    let rest = trim(&key[first.len()..]);
    let second = first_word(rest);
    let both = [first, second].concat();
    let letters = without_separators(&both, SEPARATORS);
    let is_name = |name: &&str| without_separators(name.as_bytes(), SEPARATORS) == letters;
    // `User agent` and `Dis allow` are a field of two words.
    let words = match (NAMES.iter().any(is_name), field_named(first)) {
        (true, _) => trim(&rest[second.len()..]),
        (false, Some(_)) => rest,
        (false, None) => return None,
    };
    (!words.is_empty()).then_some(words)
}

/// `User-agent`, if a key misspells it before a name, as in `User-agnt GPTBot:`.
fn agent_field(key: &[u8]) -> Option<&'static str> {
    let word = words_after_field(key)?;
    let is_name = !word.chars().any(is_white_space);
    field_named(first_word(key)).filter(|name| *name == "User-agent" && is_name)
}

/// The remedy for a line such as `User-agent GPTBot:` or `Allow Googlebot: /`.
fn remedy_of_words(line: u32, text: &[u8], name: &str, words: &[u8]) -> FieldRemedy {
    let value = trim(text.splitn(2, |&b| b == b':').nth(1).unwrap_or_default());
    let is_rule = matches!(name, "Allow" | "Disallow");
    if is_rule || !value.is_empty() {
        let help = match is_rule && is_crawler(words) {
            true => format!(
                "write {} in a group that begins with {}",
                quote(&[name.as_bytes(), b": ", value].concat()),
                quote(&[b"User-agent: ", words].concat())
            ),
            false => format!("remove the line, or write `{name}:` with a single value"),
        };
        return FieldRemedy { help, fix: None };
    }
    let by = std::str::from_utf8(words).ok();
    let by = by.map(|words| format!("{name}: {words}"));
    FieldRemedy {
        help: format!("write {}", quote(&[name.as_bytes(), b": ", words].concat())),
        fix: by.map(|by| {
            let range = 0..text.len();
            LineFix::new(false, LineEdit::Text { line, range, by })
        }),
    }
}

/// Whether a text is `*` or the name of a crawler in the registry.
fn is_crawler(name: &[u8]) -> bool {
    let name = std::str::from_utf8(name).ok();
    name.is_some_and(|name| name == "*" || KnownAgent::find(name).is_some())
}

/// Whether a key continues the name of a field with a further word, such as `User-agent-purpose`.
/// It is a field of its own then, which Google's parser takes for another.
fn is_other_field(key: &[u8], name: &str) -> bool {
    let rest = key
        .get(..name.len())
        .filter(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        .map(|_| &key[name.len()..]);
    let Some([separator, letter, ..]) = rest else {
        return false;
    };
    b"-_".contains(separator) && letter.is_ascii_alphabetic()
}

/// Reports a rule of the robots meta tag that is written as a field.
fn add_page_rule(line: u32, rule: &str, findings: &mut FindingCollector) {
    findings.add(line, Code::UnknownField, || {
        let reader = if rule == "noindex" {
            "Google ended its support in 2019"
        } else {
            "Google does not support it"
        };
        (
            format!("RFC 9309 does not have `{rule}`, and {reader}"),
            format!(
                "write `<meta name=\"robots\" content=\"{rule}\">` in the page, or send \
                 `X-Robots-Tag: {rule}` with it"
            ),
        )
    });
}

/// Reports a field that no parser reads: misspelt or unknown.
fn add_unread(line: u32, text: &[u8], findings: &mut FindingCollector) {
    let key = key_of(text);
    // An invisible character is the one mistake that an author cannot see, so it comes first.
    let visible = without_invisible(key);
    if let (true, Some(name)) = (visible.len() < key.len(), field_named(visible)) {
        findings.add_fixable(line, Code::MisspeltField, || FindingTexts {
            message: format!(
                "{} has a byte order mark or an invisible character, so parsers ignore the line",
                quote(key)
            ),
            help: format!("write `{name}:` again, without other characters"),
            fix: Some(LineFix::new(false, spell_field(line, key, name))),
        });
        return;
    }
    if let Some(name) = close_name(key).or_else(|| agent_field(key)) {
        findings.add_fixable(line, Code::MisspeltField, || {
            let message = format!(
                "{} is not a field of RFC 9309 or of Google's parser, so they ignore the line",
                quote(key)
            );
            let FieldRemedy { help, fix } = match words_after_field(key) {
                Some(words) => remedy_of_words(line, text, name, words),
                None => FieldRemedy {
                    help: format!("write `{name}:`"),
                    fix: Some(LineFix::new(false, spell_field(line, key, name))),
                },
            };
            FindingTexts { message, help, fix }
        });
        return;
    }
    if let Some((name, rule)) = glued_rule(text) {
        findings.leave_open(line, MendedPart::File);
        findings.add(line, Code::UnknownField, || {
            let agent = quote(&[b"User-agent: ", name].concat());
            let rule = quote(rule);
            let (what, help) = match is_crawler(name) {
                true => (
                    "the name of a crawler",
                    format!("write {agent}, and {rule} below it"),
                ),
                // It may be an operator's own crawler, or a word of a sentence.
                false => (
                    "a word",
                    format!(
                        "write {agent}, and {rule} below it, if {} is a crawler, or the rule alone",
                        quote(name)
                    ),
                ),
            };
            let text = quote(text);
            let message = format!("{text} has {what} before its field, so parsers ignore the line");
            (message, help)
        });
        return;
    }
    // A field such as `Agent` may well begin a group.
    let value = text.splitn(2, |&b| b == b':').nth(1);
    if value.is_some_and(|value| is_crawler(trim(value))) {
        findings.leave_open(line, MendedPart::File);
    }
    findings.add(line, Code::UnknownField, || match key {
        b"" => {
            let message = "no field precedes the colon, so parsers ignore the line".to_owned();
            (message, "write `FIELD: VALUE`".to_owned())
        }
        _ if is_url(text) => {
            let message = format!(
                "{} is a URL without a field, so parsers ignore the line",
                quote(text)
            );
            (
                message,
                "write the field before it, such as `Sitemap: `, or remove the line".to_owned(),
            )
        }
        _ => {
            let message = format!(
                "neither RFC 9309 nor a known extension has the field {}, so only programs that \
                 know it read the line",
                quote(key)
            );
            (
                message,
                "remove the line if no program reads it; write `#` before it if it is a comment"
                    .to_owned(),
            )
        }
    });
}

/// A name and a rule on one line, as in `GPTBot Disallow: /` and `FooBot: Disallow: /`.
fn glued_rule(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let key = key_of(text);
    let rule = match key.rfind_byteset(b" \t") {
        Some(blank) => &text[blank + 1..],
        None => trim(&text[text.find_byte(b':')? + 1..]),
    };
    let name = trim(&text[..text.len() - rule.len()]);
    let name = trim(name.strip_suffix(b":").unwrap_or(name));
    let is_rule = [b"allow".as_slice(), b"disallow"]
        .iter()
        .any(|field| rule.contains(&b':') && key_of(rule).eq_ignore_ascii_case(field));
    let is_token_char = |byte: &u8| byte.is_ascii_alphabetic() || b"-_".contains(byte);
    let is_name = !name.is_empty() && (name.iter().all(is_token_char) || is_crawler(name));
    (is_rule && is_name).then_some((name, rule))
}

/// Whether a line is a URL.
fn is_url(text: &[u8]) -> bool {
    let schemes: [&[u8]; 2] = [b"http://", b"https://"];
    schemes.iter().any(|scheme| {
        text.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// What separates the words of a field.
const SEPARATORS: &[u8] = b"-_ \t";

/// The known field that a key is a misspelling of: at most one edit in short names, two in longer
/// ones. [`SEPARATORS`] do not count.
fn close_name(key: &[u8]) -> Option<&'static str> {
    // No name is longer, and the search is exponential in the edits only.
    if key.len() > 20 {
        return None;
    }
    let key = without_separators(key, SEPARATORS);
    NAMES.iter().copied().find(|name| {
        let name = without_separators(name.as_bytes(), SEPARATORS);
        is_within(&key, &name, if name.len() < 8 { 1 } else { 2 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found() {
        for (key, name) in [
            ("user_agent", Some("User-agent")),
            ("usr-agent", Some("User-agent")),
            ("disalllow", Some("Disallow")),
            ("dis allow", Some("Disallow")),
            ("sitmap", Some("Sitemap")),
            ("crawldelay", Some("Crawl-delay")),
            ("alow", Some("Allow")),
            ("follow", None),
            ("index", None),
            ("host", None),
            ("Licence", Some("License")),
            ("", None),
        ] {
            assert_eq!(close_name(key.as_bytes()), name, "{key}");
        }
    }

    #[test]
    fn late_colons_are_missing_colons() {
        for text in [
            "Sitemap https://e.example/s",
            "Disallow /a:b",
            "Disallow /a",
            "some words",
        ] {
            assert!(lacks_colon(text.as_bytes()), "{text}");
        }
        for text in [
            "User agent: a",
            "Crawl delay: 1",
            "Disallow: /a:b",
            "Some words: /",
            ": a",
        ] {
            assert!(!lacks_colon(text.as_bytes()), "{text}");
        }
    }
}
