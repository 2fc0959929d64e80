//! Lists with a host or domain on each line and a value next to it: weights and groups.

use super::unit_kind::UnitKind;
use robosieve::{Error, ErrorKind, Origin, Result};
use std::io::{BufRead, Read};

/// The longest line. A longer one is not a line of a list, and would fill the memory.
const MAX_LINE: u64 = 1 << 16;

/// A line with its two fields.
pub(super) struct NameLine<'t> {
    pub number: u64,
    /// Whether it is the first line, which may be a header.
    pub is_first: bool,
    pub first: &'t str,
    pub second: &'t str,
}

/// Reads lines of two fields with a TAB or a comma between them. Blank lines, and lines that begin
/// with `#`, are skipped. `fields` says what the fields are, for the error of a line without them.
///
/// # Errors
/// `ErrorKind::BadList` with the number of a line that has one field only, that is longer than
/// 64 KiB, or that `add` refuses. Errors of the reader.
pub(super) fn read_lines(
    mut input: impl BufRead,
    fields: &str,
    mut add: impl FnMut(NameLine<'_>) -> Result<(), String>,
) -> Result<()> {
    let mut text = Vec::new();
    let mut is_first = true;
    for number in 1.. {
        text.clear();
        let mut bounded = input.by_ref().take(MAX_LINE + 1);
        if bounded.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        if text.len() as u64 > MAX_LINE {
            let what = format!("longer than 64 KiB; give {fields}");
            return Err(bad_line(number, &what));
        }
        let bytes = text.trim_ascii();
        // A byte order mark, as some spreadsheets write.
        let bytes = match number {
            1 => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            _ => bytes,
        };
        if bytes.is_empty() || bytes.starts_with(b"#") {
            continue;
        }
        let line = String::from_utf8_lossy(bytes);
        let Some((first, second)) = line.split_once(['\t', ',']) else {
            let what = format!("{:?} has no TAB or comma; give {fields}", cut(&line));
            return Err(bad_line(number, &what));
        };
        let line = NameLine {
            number,
            is_first,
            first: first.trim(),
            second: second.trim(),
        };
        add(line).map_err(|what| bad_line(number, &what))?;
        is_first = false;
    }
    Ok(())
}

fn bad_line(line: u64, what: &str) -> Error {
    Error::from(ErrorKind::BadList(format!("line {line}: {what}")))
}

/// The beginning of a text, for messages.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The canonical form of a host or domain: Punycode, in lower case, without a final dot.
pub(super) fn canonical_name(name: &str) -> Result<String, String> {
    let is_name = !name.is_empty() && !name.contains(['/', '?', '#', '@', '\\']);
    let origin = is_name
        .then(|| Origin::of(format!("https://{name}").as_bytes()))
        .flatten();
    let host = origin
        .as_ref()
        .and_then(|origin| origin.as_str().strip_prefix("https://"));
    let host = host.filter(|host| host.ends_with(']') || !host.contains(':'));
    let host = host.ok_or_else(|| {
        format!(
            "{:?} is not a host or domain; give a name such as example.com",
            cut(name)
        )
    })?;
    Ok(UnitKind::Host.unit_of(host).to_owned())
}
