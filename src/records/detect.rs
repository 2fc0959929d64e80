//! The form of one input, by what the caller says, its name, and its first line.

use crate::error::Remedy;
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::without_mark;
use crate::records::csv::{self, End};
use crate::records::extract::{Place, Records};
use crate::records::json;
use crate::records::options::{Field, InputFormat, RecordOptions};
use std::borrow::Cow;
use std::path::Path;

/// How much of an input is looked at for its first line. A header that does not end by then is none.
pub(crate) const MAX_HEAD: usize = 1 << 20;

/// What the first line of an input tells.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Where URLs stand; `None`: each line is one.
    pub records: Option<Records>,
    /// How the first records are read where a byte order mark stands before them, which no header
    /// is read with.
    pub marked: Option<Records>,
    /// The length of the header, 0 for none; a byte order mark before it counts to it.
    pub header: usize,
}

impl Head {
    /// Looks at how an input begins; `None` if its first line does not end there and the input `goes_on`.
    ///
    /// # Errors
    /// [`ErrorKind::BadList`]: no such column.
    pub(crate) fn of(name: &Path, start: &[u8], goes_on: bool, options: &RecordOptions) -> Result<Option<Self>> {
        let goes_on = goes_on && start.len() < MAX_HEAD;
        let mark = start.len() - without_mark(start).len();
        let start = &start[mark..];
        let by_name = options.format.or_else(|| by_name(name));
        let quoted = by_name == Some(InputFormat::Csv) || options.delimiter == Some(b',');
        let has_end = start.contains(&b'\n') && (!quoted || csv::last_end(start, delimiter(options, b',')).0 > 0);
        if goes_on && !has_end {
            return Ok(None);
        }
        let line = &start[..memchr::memchr(b'\n', start).map_or(start.len(), |end| end + 1)];
        let format = form(by_name, line, options);
        let found = match format {
            InputFormat::Text if !options.rewrites() => {
                let marked = (mark > 0).then(|| Records::new(Place::Line, options).behind_mark());
                return Ok(Some(Self { marked, ..Self::default() }));
            }
            InputFormat::Text => Ok((Place::Line, 0)),
            InputFormat::Jsonl => Ok((Place::Json, 0)),
            InputFormat::Cdxj => Ok((Place::JsonBehind, 0)),
            InputFormat::Cdx => cdx(line),
            InputFormat::Tsv => {
                columns(start, options, |number| Place::Column { number, delimiter: delimiter(options, b'\t') })
            }
            InputFormat::Csv => {
                columns(start, options, |number| Place::Csv { number, delimiter: delimiter(options, b',') })
            }
        };
        let (place, header) = found.map_err(|what| {
            let err = Error::from(ErrorKind::BadList(what)).at(name);
            if format == InputFormat::Cdx { err } else { err.with_remedy(Remedy::NameColumn) }
        })?;
        let marked = (mark > 0 && header == 0).then(|| Records::new(place, options).behind_mark());
        let header = if header > 0 { mark + header } else { 0 };
        Ok(Some(Self { records: Some(Records::new(place, options)), marked, header }))
    }
}

/// The form of an input: what the caller says, then what the name promises, then what the options need, then what the first line shows.
fn form(by_name: Option<InputFormat>, line: &[u8], options: &RecordOptions) -> InputFormat {
    // A list of lines by its name only may still be one of columns.
    let is_sure = options.format.is_some() || by_name.is_some_and(|form| form != InputFormat::Text);
    match (by_name, options) {
        (Some(form), _) if is_sure => form,
        (_, RecordOptions { delimiter: Some(b','), .. }) => InputFormat::Csv,
        (_, RecordOptions { delimiter: Some(_), .. } | RecordOptions { field: Some(_), .. }) => InputFormat::Tsv,
        (Some(form), _) => form,
        (None, RecordOptions { json_key: Some(_), .. }) if !is_cdxj(line) => InputFormat::Jsonl,
        (None, _) => by_content(line, options),
    }
}

type Found = Result<(Place, usize), String>;

fn delimiter(options: &RecordOptions, usual: u8) -> u8 {
    options.delimiter.unwrap_or(usual)
}

/// The form that a file's name promises.
fn by_name(name: &Path) -> Option<InputFormat> {
    let mut name = Path::new(name.file_name()?);
    if name.extension().is_some_and(|ending| ending == "gz" || ending == "zst") {
        name = Path::new(name.file_stem()?);
    }
    match name.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "txt" | "urls" | "list" => Some(InputFormat::Text),
        "tsv" | "tab" => Some(InputFormat::Tsv),
        "csv" => Some(InputFormat::Csv),
        "jsonl" | "ndjson" | "json" => Some(InputFormat::Jsonl),
        "cdxj" => Some(InputFormat::Cdxj),
        "cdx" => Some(InputFormat::Cdx),
        _ => None,
    }
}

/// The form that a first line has; a list of URLs where it has no other.
fn by_content(line: &[u8], options: &RecordOptions) -> InputFormat {
    if cdx_letters(line).is_some() {
        InputFormat::Cdx
    } else if line.starts_with(b"{") && json::string_at(line, options.key()).is_some() {
        InputFormat::Jsonl
    } else if is_cdxj(line) {
        InputFormat::Cdxj
    } else {
        InputFormat::Text
    }
}

/// Sort key, timestamp of 14 digits, object.
fn is_cdxj(line: &[u8]) -> bool {
    let mut parts = line.splitn(3, |&b| b == b' ');
    let (_, time, object) = (parts.next(), parts.next(), parts.next());
    time.is_some_and(|time| time.len() == 14 && time.iter().all(u8::is_ascii_digit))
        && object.is_some_and(|object| object.starts_with(b"{"))
}

/// The letters of a CDX header: ` CDX N b a …`.
fn cdx_letters(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    line.strip_prefix(b"CDX ")
}

fn cdx(line: &[u8]) -> Found {
    let Some(letters) = cdx_letters(line) else { return Ok((Place::Column { number: 2, delimiter: b' ' }, 0)) };
    let mut letters = letters.split(|&b| b == b' ').filter(|letter| !letter.is_empty());
    match letters.position(|letter| letter == b"a") {
        Some(number) => Ok((Place::Column { number, delimiter: b' ' }, line.len())),
        None => Err("the CDX header names no field \"a\", which is the original URL".to_owned()),
    }
}

/// The column of the URLs, and the length of the header.
fn columns(start: &[u8], options: &RecordOptions, place: impl Fn(usize) -> Place) -> Found {
    let (names, header) = split(start, &place(0));
    let named = |wanted: &str| names.iter().position(|name| name.trim_ascii() == wanted.as_bytes());
    match &options.field {
        Some(Field::Number(number)) => Ok((place(number.saturating_sub(1)), if options.header { header } else { 0 })),
        Some(Field::Name(wanted)) => match named(wanted) {
            Some(number) => Ok((place(number), header)),
            None if start.is_empty() => Ok((place(0), 0)),
            None => Err(format!("no column {wanted:?}: the first line has {}", listed(&names))),
        },
        None => match named("url").or_else(|| named("URL")) {
            Some(number) => Ok((place(number), header)),
            None if names.len() <= 1 => Ok((place(0), if options.header { header } else { 0 })),
            None => Err(format!("no column \"url\": the first line has {}", listed(&names))),
        },
    }
}

/// The columns of the first line, and its length.
fn split<'t>(text: &'t [u8], place: &Place) -> (Vec<Cow<'t, [u8]>>, usize) {
    let mut names = Vec::new();
    let line = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
    match *place {
        Place::Csv { delimiter, .. } => match csv::record(text, delimiter, |_, name| names.push(name)) {
            End::At(len) => (names, len),
            End::Open { .. } => (names, text.len()),
        },
        Place::Column { delimiter, .. } => {
            let columns = text[..line].trim_ascii_end().split(|&b| b == delimiter);
            (columns.map(Cow::Borrowed).collect(), line)
        }
        Place::Line | Place::Json | Place::JsonBehind => (names, 0),
    }
}

fn listed(names: &[Cow<'_, [u8]>]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> =
        names.iter().take(SHOWN).map(|name| format!("{:.60?}", String::from_utf8_lossy(name))).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use InputFormat::*;

    #[test]
    fn forms_by_name_and_content() {
        let cases = [
            ("a.txt", "{\"url\":\"x\"}\n", Text),
            ("a.csv.gz", "url\n", Csv),
            ("A.JSONL", "", Jsonl),
            ("dir.csv/list", "https://e.example/\n", Text),
            ("-", "{\"url\":\"https://e.example/\"}\n", Jsonl),
            ("-", "{\"link\":\"https://e.example/\"}\n", Text),
            ("-", "{broken\n", Text),
            ("-", "example,e)/ 20260101000000 {\"url\": \"https://e.example/\"}\n", Cdxj),
            ("cdx-00000.gz", " CDX N b a m s k r M S V g\n", Cdx),
            ("-", "", Text),
        ];
        for (name, line, expected) in cases {
            let options = RecordOptions::default();
            let found = by_name(Path::new(name)).unwrap_or_else(|| by_content(line.as_bytes(), &options));
            assert_eq!(found, expected, "{name} {line}");
        }
    }
}
