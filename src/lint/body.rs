//! Checks of the whole file and of its raw bytes: formats, sizes, line ends and control characters.

use crate::bytes::trim;
use crate::file_format::BYTE_ORDER_MARK;
use crate::lint::code::{Code, MendedPart};
use crate::lint::edits::{LineEdit, LineFix};
use crate::lint::finding::{FindingCollector, FindingTexts, quote};
use crate::profile::Profile;
use crate::robots::field::{self, RobotsField};
use crate::robots::line::{MAX_BODY, MAX_LINE, NumberedLines, RawLine, bom_len};
use crate::robots::{BodyFacts, LooksLike, glued_comment};
use bstr::ByteSlice;
use std::collections::HashSet;

/// The remedy for a page or a file of another format.
const SERVE_TEXT: &str = "serve a text file at /robots.txt, or answer with status 404";

/// Reports a file that is not a robots.txt. The checks of lines make no sense for it.
pub(super) fn check_format(
    body: &[u8],
    body_facts: &BodyFacts,
    findings: &mut FindingCollector,
) -> bool {
    // UTF-16 first: its text may be a robots.txt, which only needs another encoding.
    match (body_facts.looks_like, body_facts.other_format) {
        (Some(LooksLike::Utf16), _) => add_utf16(body, findings),
        // The check of lines reports HTML among rules.
        (Some(LooksLike::Html), _) if has_group_line(body) => return false,
        (Some(LooksLike::Html), _) => findings.add(1, Code::Html, || {
            let message =
                "the file begins as HTML or XML, so it is a page of the site and not a robots.txt";
            (message.to_owned(), SERVE_TEXT.to_owned())
        }),
        (_, format) => match format.or_else(|| unmarked_format(body)) {
            Some(format) => add_other_format(format, findings),
            None => return false,
        },
    }
    true
}

/// Reports UTF-16 text. A page in it is not mended by another encoding.
fn add_utf16(body: &[u8], findings: &mut FindingCollector) {
    findings.add(1, Code::Utf16, || {
        // ASCII in either byte order; HTML and fields have nothing else.
        let ascii: Vec<u8> = body
            .iter()
            .take(MAX_BODY)
            .copied()
            .filter(|byte| byte.is_ascii() && *byte != 0)
            .collect();
        let is_html = BodyFacts::of(&ascii).looks_like == Some(LooksLike::Html);
        let message = match is_html {
            true => "the file is HTML or XML in UTF-16, in which parsers find no field",
            false => {
                "the file is UTF-16 text, and parsers expect UTF-8, so they find no field in it"
            }
        };
        let help = match (is_html, has_group_line(&ascii)) {
            (true, false) => SERVE_TEXT,
            (true, true) => "remove all HTML, and save the file as UTF-8 without a byte order mark",
            (false, _) => "save the file as UTF-8 without a byte order mark",
        };
        (message.to_owned(), help.to_owned())
    });
}

/// Whether any line is a user-agent line or a rule, with its colon.
fn has_group_line(body: &[u8]) -> bool {
    NumberedLines::new(body, false).any(|line| {
        let field = field::split(line.text, Profile::Rfc9309).map(|(field, _)| field);
        line.text.contains(&b':')
            && matches!(
                field,
                Some(RobotsField::UserAgent | RobotsField::Allow | RobotsField::Disallow)
            )
    })
}

fn add_other_format(format: &str, findings: &mut FindingCollector) {
    findings.add(1, Code::OtherFormat, || {
        let help = match format {
            "a WARC archive" | "an ARC archive" => "compile the archive, and check the snapshot",
            "a robosieve snapshot" => {
                "check the snapshot as a file of its own, not compressed and not from a pipe"
            }
            _ => SERVE_TEXT,
        };
        (
            format!("the file is {format}, in which parsers find no field"),
            help.to_owned(),
        )
    });
}

/// The format of a file without a magic number: JSON, or binary data. A file with any known field
/// is neither.
fn unmarked_format(body: &[u8]) -> Option<&'static str> {
    let format = if begins_as_json(body) {
        "JSON"
    } else if is_binary(body) {
        "binary data"
    } else {
        return None;
    };
    let has_field = NumberedLines::new(body, false)
        .any(|line| field::split(line.text, Profile::Google).is_some());
    (!has_field).then_some(format)
}

/// Whether a body begins with an object or an array, as error messages of programs do.
fn begins_as_json(body: &[u8]) -> bool {
    let text = body[bom_len(body)..].trim_ascii_start();
    match text {
        [b'{', rest @ ..] => matches!(rest.trim_ascii_start(), [b'"' | b'}', ..]),
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start(), [b'{' | b'"' | b']', ..]),
        _ => false,
    }
}

/// The number of bytes that decide whether a file is binary.
const INSPECTED: usize = 1024;

/// Whether a tenth of the first bytes are control characters that no text has.
fn is_binary(body: &[u8]) -> bool {
    let start = &body[..body.len().min(INSPECTED)];
    let controls = start
        .iter()
        .filter(|b| **b < b' ' && !b"\t\n\r\x0b\x0c".contains(b))
        .count();
    controls > 0 && controls * 10 >= start.len()
}

/// Lines that later checks need, of which no rule has a trace.
#[derive(Default)]
pub(super) struct RawFacts {
    /// The numbers of the blank lines, in order.
    pub blank: Vec<u32>,
    /// A carriage return without a line feed ends a line, so a blank line may not be meant.
    pub has_lone_return: bool,
    /// The lines whose path continues after a `#`.
    pub fragments: HashSet<u32>,
}

/// Checks the size, the byte order mark and every line as served.
pub(super) fn check_raw_lines(
    body: &[u8],
    body_facts: &BodyFacts,
    findings: &mut FindingCollector,
) -> RawFacts {
    if let Some(line) = body_facts.ignored_from {
        findings.add(line, Code::TooLarge, || {
            let message =
                "the file is longer than 500 KiB, and parsers ignore it from this line on"
                    .to_owned();
            (
                message,
                "shorten the file to 500 KiB (512,000 bytes), for example with wildcards"
                    .to_owned(),
            )
        });
    }
    if body.starts_with(BYTE_ORDER_MARK) {
        let rest = &body[BYTE_ORDER_MARK.len()..];
        // In front of a comment, the mark changes no field.
        let first = rest.split(|byte| b"\r\n#".contains(byte)).next();
        let effect = match first.is_some_and(|text| trim(text).is_empty()) {
            true => "it is in front of no field, so parsers read all lines as without it",
            false => "Google's parser skips it, others read it as a part of the first field",
        };
        findings.add_fixable(1, Code::ByteOrderMark, || FindingTexts {
            message: format!("the file begins with a UTF-8 byte order mark: {effect}"),
            help: "save the file as UTF-8 without a byte order mark".to_owned(),
            // Parsers skip one mark, so behind it a second one is a part of the first field.
            fix: (bom_len(rest) == 0).then(|| {
                LineFix::safe(LineEdit::Bytes {
                    range: 0..BYTE_ORDER_MARK.len(),
                    by: String::new(),
                })
            }),
        });
    }
    // One pass over the lines. Lone returns are reported once, because a file with one has many.
    let mark = bom_len(body);
    let unmarked = &body[mark..];
    let mut facts = RawFacts::default();
    let mut lines = NumberedLines::new(body, false);
    while let Some(line) = lines.next_raw() {
        if trim(line.text).is_empty() {
            facts.blank.push(line.number);
        }
        let end = line.start + line.text.len();
        if !facts.has_lone_return && is_lone_return(unmarked, end) {
            facts.has_lone_return = true;
            add_lone_return(line.number, body, findings);
        }
        check_length(&line, findings);
        if check_fragment(&line, findings) {
            facts.fragments.insert(line.number);
        }
        check_control_characters(&line, mark + line.start, findings);
    }
    facts
}

/// Whether the byte at `at` is a carriage return that no line feed follows.
fn is_lone_return(body: &[u8], at: usize) -> bool {
    body.get(at) == Some(&b'\r') && body.get(at + 1) != Some(&b'\n')
}

fn add_lone_return(line: u32, body: &[u8], findings: &mut FindingCollector) {
    findings.add_fixable(line, Code::CarriageReturn, || {
        // Nobody reads more, and a program may have kept no more of the body.
        let checked = &body[..body.len().min(MAX_BODY)];
        let mut edits = Vec::new();
        let mut before_feed = false;
        let mut first_before_feed = false;
        // From the end: a run of returns before a line feed is one line end.
        for at in memchr::memchr_iter(b'\r', checked).rev() {
            match body.get(at + 1) {
                Some(b'\r') => {}
                next => before_feed = next == Some(&b'\n'),
            }
            if is_lone_return(body, at) {
                first_before_feed = before_feed;
                let by = if before_feed { "" } else { "\n" };
                edits.push(LineEdit::Bytes {
                    range: at..at + 1,
                    by: by.to_owned(),
                });
            }
        }
        let message = match first_before_feed {
            true => {
                "several carriage returns and a line feed end this line: RFC 9309 reads a blank \
                 line after it, and a parser that follows the convention of 1994 ends the group \
                 there"
            }
            false => {
                "a carriage return without a line feed ends this line: RFC 9309 allows it, but \
                 programs that read lines up to a line feed see no end of the line here"
            }
        };
        FindingTexts {
            message: message.to_owned(),
            help: "end every line with a line feed (LF), or with CR LF".to_owned(),
            fix: Some(LineFix {
                is_safe: true,
                edits,
            }),
        }
    });
}

/// Reports a rule whose path continues after a `#`, and returns if it does. Parsers read the rest
/// as a comment.
fn check_fragment(line: &RawLine<'_>, findings: &mut FindingCollector) -> bool {
    let Some(comment) = glued_comment(line.text) else {
        return false;
    };
    let at = line.text.find_byte(b'#').unwrap_or_default();
    if let Some(entity) = entity_around(line.text, at) {
        // The path without its entities matches other URLs than the cut one.
        findings.leave_open(line.number, MendedPart::Rules);
        findings.add(line.number, Code::Fragment, || {
            let message = format!(
                "{} is an HTML entity, and `#` begins a comment, so parsers read {} alone",
                quote(entity),
                quote(trim(&line.text[..at]))
            );
            let whole = line.text.split_str(" #").next().unwrap_or_default();
            let written = without_entities(trim(whole));
            let help = format!("write {}", quote(written.as_bytes()));
            (message, help)
        });
        return true;
    }
    findings.add(line.number, Code::Fragment, || {
        let message = format!(
            "`#` begins a comment, so parsers read {} without {}",
            quote(trim(&line.text[..at])),
            quote(comment)
        );
        let rule = field::split(trim(&line.text[..at]), Profile::Google);
        let help = match rule {
            Some((field, b"/" | b"*" | b"/*")) => {
                let effect = match field {
                    RobotsField::Allow => "allows",
                    _ => "disallows",
                };
                format!(
                    "a robots.txt cannot name the part of a URL after `#`: remove the line, which \
                     {effect} every path"
                )
            }
            _ => "a robots.txt cannot name the part of a URL after `#`: remove the line, or write \
                  the path alone; `%23` is right only if the URLs themselves have it"
                .to_owned(),
        };
        (message, help)
    });
    true
}

/// The HTML entity, such as `&#39;` or `&amp;#x27;`, that has its `#` at `at`.
fn entity_around(text: &[u8], at: usize) -> Option<&[u8]> {
    let start = at.checked_sub(1).filter(|amp| text[*amp] == b'&');
    let start = start.or_else(|| Some(text[..at].strip_suffix(b"&amp;")?.len()))?;
    let end = at + text[at..].find_byte(b';')? + 1;
    let is_entity = character_of(text.get(at + 1..end - 1)?).is_some();
    is_entity.then_some(&text[start..end])
}

/// The character with a number as in HTML: `39` or `x27`.
fn character_of(number: &[u8]) -> Option<char> {
    let number = std::str::from_utf8(number).ok()?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?).filter(|c| !c.is_control())
}

/// A line with the characters in place of its entities. Those that a path cannot have are
/// percent-encoded.
fn without_entities(text: &[u8]) -> String {
    // Some programs escape twice, so that `&amp;#39;` is `&#39;`.
    let text = String::from_utf8_lossy(text).replace("&amp;", "&");
    let mut written = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("&#") {
        written.push_str(before);
        let decoded = after
            .split_once(';')
            .and_then(|(number, after)| Some((character_of(number.as_bytes())?, after)));
        rest = match decoded {
            Some((c, after)) => {
                push_in_path(&mut written, c);
                after
            }
            None => {
                written.push_str("&#");
                after
            }
        };
    }
    written + rest
}

/// Appends a character to a path, with percent escapes if it needs them.
fn push_in_path(path: &mut String, c: char) {
    if c.is_ascii_graphic() && !"#%<>\"".contains(c) {
        path.push(c);
        return;
    }
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        path.push_str(&format!("%{byte:02X}"));
    }
}

/// The line without its comment.
fn without_comment<'a>(line: &RawLine<'a>) -> &'a [u8] {
    line.text.split(|&b| b == b'#').next().unwrap_or_default()
}

fn check_length(line: &RawLine<'_>, findings: &mut FindingCollector) {
    let len = without_comment(line).len();
    if len > MAX_LINE {
        findings.add(line.number, Code::LongLine, || {
            let message =
                format!("the line has {len} bytes, and Google's parser reads the first {MAX_LINE}; RFC 9309 has no limit for a line");
            (
                message,
                "shorten the path, for example with a wildcard (*)".to_owned(),
            )
        });
    }
}

/// Checks a line that begins at `start` in the file.
fn check_control_characters(line: &RawLine<'_>, start: usize, findings: &mut FindingCollector) {
    let text = without_comment(line);
    let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
    let Some(at) = text.iter().position(is_control) else {
        return;
    };
    findings.add_fixable(line.number, Code::ControlCharacter, || {
        let byte = text[at];
        let effect = match byte {
            0 => "Google's parser ignores the rest of the line",
            _ => "RFC 9309 allows none, and no URL has one",
        };
        let message = format!(
            "column {} has the control character 0x{byte:02x}: {effect}",
            at + 1
        );
        let controls = (0..text.len()).filter(|&at| is_control(&text[at]));
        let edits = controls.map(|at| LineEdit::Bytes {
            range: start + at..start + at + 1,
            by: String::new(),
        });
        FindingTexts {
            message,
            help: "remove the character".to_owned(),
            fix: Some(LineFix {
                // Some control characters are white space, which parsers drop at both ends.
                is_safe: !trim(text).iter().any(is_control),
                edits: edits.collect(),
            }),
        }
    });
}
