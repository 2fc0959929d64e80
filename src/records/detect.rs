//! Detects the record format of an input from the options, its name and its first records.

use crate::error::{ErrorKind, Remedy, Result};
use crate::file_format::without_mark;
use crate::records::csv::{self, RecordEnd};
use crate::records::delimiter::{self, Delimiter, SAMPLE, find_delimiter, sep_line};
use crate::records::extract::{RecordFormat, UrlField};
use crate::records::json_sample::{self, JsonKey, JsonLayout};
use crate::records::options::{Field, InputFormat, RecordOptions};
use crate::records::url_names::{USUAL, UrlName, listed};
use bstr::ByteSlice;
use std::borrow::Cow;
use std::path::Path;

/// The longest first line. A header that does not end within it is not recognised.
const MAX_HEAD: usize = 1 << 20;

/// The format and the header of an input.
#[derive(Debug, Default)]
pub(crate) struct InputHead {
    /// The format of the records; `None` if each line is a URL.
    pub format: Option<RecordFormat>,
    /// The format of the first block, if a byte order mark precedes its records. A header includes
    /// the mark.
    pub first_format: Option<RecordFormat>,
    /// The length of the header, byte order mark included; 0 if there is none.
    pub header_len: usize,
}

/// The position of the URL in records, and the length of the header.
struct RecordLayout {
    field: UrlField,
    header_len: usize,
}

impl RecordLayout {
    fn without_header(field: UrlField) -> Self {
        Self {
            field,
            header_len: 0,
        }
    }
}

impl InputHead {
    /// Detects the format from the start of an input; `None` if its first line, or as many records
    /// as decide, are incomplete and the input `has_more`.
    ///
    /// The answer does not depend on the parts in which the start arrives: what decides is the first
    /// record, or the records of the first [`SAMPLE`] bytes.
    ///
    /// # Errors
    /// [`ErrorKind::BadList`] if there is no such column, if the delimiter or the key of the URLs is
    /// not clear, and for JSON over several lines.
    pub(crate) fn of(
        name: &Path,
        start: &[u8],
        has_more: bool,
        options: &RecordOptions,
    ) -> Result<Option<Self>> {
        let has_more = has_more && start.len() < MAX_HEAD;
        let mark_len = start.len() - without_mark(start).len();
        let start = &start[mark_len..];
        let by_name = options.format.or_else(|| format_of_name(name));
        if has_more && !start.contains(&b'\n') {
            return Ok(None);
        }
        let Some(format) = choose_format(by_name, start, has_more, options) else {
            return Ok(None);
        };
        let line = start.lines_with_terminator().next().unwrap_or_default();
        let mut options = Cow::Borrowed(options);
        let layout = match format {
            InputFormat::Text if !options.rewrites() => {
                let first_format =
                    (mark_len > 0).then(|| RecordFormat::new(UrlField::Line, &options).with_mark());
                return Ok(Some(Self {
                    first_format,
                    ..Self::default()
                }));
            }
            InputFormat::Text => Ok(Some(RecordLayout::without_header(UrlField::Line))),
            InputFormat::Jsonl => json_key(start, has_more, &options).map(|key| {
                key.map(|key| {
                    options.to_mut().json_key = Some(key);
                    RecordLayout::without_header(UrlField::Json)
                })
            }),
            InputFormat::Cdxj => Ok(Some(RecordLayout::without_header(UrlField::JsonAtEnd))),
            InputFormat::Cdx => cdx_layout(line).map(Some),
            InputFormat::Tsv | InputFormat::Csv => table_layout(format, start, has_more, &options),
        };
        let Some(RecordLayout { field, header_len }) = layout.map_err(|err| err.at(name))? else {
            return Ok(None);
        };
        // A byte order mark belongs to the header if there is one, else to the first record.
        let has_marked_record = mark_len > 0 && header_len == 0;
        Ok(Some(Self {
            format: Some(RecordFormat::new(field, &options)),
            first_format: has_marked_record.then(|| RecordFormat::new(field, &options).with_mark()),
            header_len: if header_len > 0 {
                mark_len + header_len
            } else {
                0
            },
        }))
    }
}

/// The format of an input. The caller's choice comes first, then the name, then the options, then
/// the first lines. `None` if more of them have to decide.
fn choose_format(
    by_name: Option<InputFormat>,
    start: &[u8],
    has_more: bool,
    options: &RecordOptions,
) -> Option<InputFormat> {
    let line = start.lines_with_terminator().next().unwrap_or_default();
    // A name like `list.txt` does not exclude columns.
    let is_sure =
        options.format.is_some() || by_name.is_some_and(|format| format != InputFormat::Text);
    match (by_name, options) {
        (Some(format), _) if is_sure => Some(format),
        (
            _,
            RecordOptions {
                delimiter: Some(b','),
                ..
            },
        ) => Some(InputFormat::Csv),
        (
            _,
            RecordOptions {
                delimiter: Some(_), ..
            }
            | RecordOptions { field: Some(_), .. },
        ) => Some(InputFormat::Tsv),
        (Some(format), _) => Some(format),
        (
            None,
            RecordOptions {
                json_key: Some(_), ..
            },
        ) if !is_cdxj(line) => Some(InputFormat::Jsonl),
        (None, _) => format_of_lines(start, has_more),
    }
}

/// The key of the URLs of JSON lines; `None` if more of them have to decide.
fn json_key(text: &[u8], has_more: bool, options: &RecordOptions) -> Result<Option<String>> {
    let is_short = has_more && text.len() < SAMPLE;
    match JsonLayout::of(text, !is_short) {
        JsonLayout::Lines => {}
        JsonLayout::Defect(what) => return bad_list(what),
        JsonLayout::NeedsMore => return Ok(None),
    }
    if let Some(key) = &options.json_key {
        return Ok(Some(key.clone()));
    }
    let line = text.lines_with_terminator().next().unwrap_or_default();
    if json_sample::has_usual_key(line) {
        return Ok(Some(USUAL.to_owned()));
    }
    if is_short {
        return Ok(None);
    }
    // The sample has whole lines, and at least one.
    let sample = match text.get(..SAMPLE) {
        None => text,
        Some(start) => start.rfind_byte(b'\n').map_or(line, |end| &start[..end]),
    };
    match json_sample::choose_key(sample, options.rewrites()) {
        JsonKey::Found(key) => Ok(Some(key)),
        JsonKey::Unclear(what) => bad_list(what).map_err(|err| err.with_remedy(Remedy::NameKey)),
    }
}

/// The layout of TSV or CSV; `None` if more records have to decide.
fn table_layout(
    format: InputFormat,
    start: &[u8],
    has_more: bool,
    options: &RecordOptions,
) -> Result<Option<RecordLayout>> {
    let is_csv = format == InputFormat::Csv;
    let of_format = if is_csv { b',' } else { b'\t' };
    // The line with the delimiter is part of the header.
    let stated = if is_csv { sep_line(start) } else { None };
    let sep_len = stated.map_or(0, |(_, len)| len);
    let table = &start[sep_len..];
    let given = options.delimiter.or(stated.map(|(delimiter, _)| delimiter));
    // In CSV, a line end inside quotes does not end the header.
    let has_header = if is_csv {
        csv::last_end(table, given.unwrap_or(of_format)).0 > 0
    } else {
        table.contains(&b'\n')
    };
    if has_more && !has_header {
        return Ok(None);
    }
    let found = match given {
        Some(_) => Delimiter::OfFormat,
        None => find_delimiter(table, of_format, options.field.as_ref(), !has_more),
    };
    let other = match found {
        Delimiter::OfFormat => None,
        Delimiter::Other(delimiter) => Some(delimiter),
        Delimiter::NeedsMore => return Ok(None),
        Delimiter::Unclear(what) => {
            return bad_list(what).map_err(|err| err.with_remedy(Remedy::NameDelimiter));
        }
    };
    let delimiter = other.or(given).unwrap_or(of_format);
    let layout = column_layout(table, options, |number| {
        // Other programs than those that write TSV quote fields.
        if is_csv || other.is_some() {
            UrlField::Csv { number, delimiter }
        } else {
            UrlField::Column { number, delimiter }
        }
    });
    match layout {
        Ok(layout) => Ok(Some(RecordLayout {
            header_len: sep_len + layout.header_len,
            ..layout
        })),
        Err(what) => bad_list(what).map_err(|err| err.with_remedy(Remedy::NameColumn)),
    }
}

fn bad_list<T>(what: String) -> Result<T> {
    Err(ErrorKind::BadList(what).into())
}

/// The format by the extension of a file's name.
fn format_of_name(name: &Path) -> Option<InputFormat> {
    let mut name = Path::new(name.file_name()?);
    if name
        .extension()
        .is_some_and(|ending| ending == "gz" || ending == "zst")
    {
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

/// The format by the first lines; [`InputFormat::Text`] if they look like no other. `None` if more
/// of them have to decide.
fn format_of_lines(start: &[u8], has_more: bool) -> Option<InputFormat> {
    let line = start.lines_with_terminator().next().unwrap_or_default();
    if cdx_letters(line).is_some() {
        return Some(InputFormat::Cdx);
    }
    if is_cdxj(line) {
        return Some(InputFormat::Cdxj);
    }
    if let Some(format) = table_format(line) {
        return Some(format);
    }
    match json_sample::begins_json(start) {
        None if has_more => None,
        Some(true) => Some(InputFormat::Jsonl),
        _ => Some(InputFormat::Text),
    }
}

/// The format of a table, if the first line is a header of several columns, one of them `url`, or
/// states the delimiter.
fn table_format(line: &[u8]) -> Option<InputFormat> {
    if delimiter::is_header(line, b'\t') {
        return Some(InputFormat::Tsv);
    }
    let is_csv = sep_line(line).is_some()
        || [b',', b';', b'|']
            .iter()
            .any(|&delimiter| delimiter::is_header(line, delimiter));
    is_csv.then_some(InputFormat::Csv)
}

/// Whether a line is a sort key, a timestamp of 14 digits or of 17 with milliseconds, and an object.
fn is_cdxj(line: &[u8]) -> bool {
    let mut parts = line.splitn_str(3, " ").skip(1);
    let time = parts.next().unwrap_or_default();
    let object = parts.next().unwrap_or_default();
    [14, 17].contains(&time.len())
        && time.iter().all(u8::is_ascii_digit)
        && object.starts_with(b"{")
}

/// The letters of a CDX header: ` CDX N b a …`.
fn cdx_letters(line: &[u8]) -> Option<&[u8]> {
    line.trim_ascii().strip_prefix(b"CDX ")
}

fn cdx_field(number: usize) -> UrlField {
    UrlField::Column {
        number,
        delimiter: b' ',
    }
}

/// The layout of a list whose name ends in `.cdx`. A WACZ collection names its CDXJ `index.cdx.gz`.
fn cdx_layout(line: &[u8]) -> Result<RecordLayout> {
    if is_cdxj(line) {
        return Ok(RecordLayout::without_header(UrlField::JsonAtEnd));
    }
    let Some(letters) = cdx_letters(line) else {
        return Ok(RecordLayout::without_header(cdx_field(2)));
    };
    let mut letters = letters.split_str(" ").filter(|letter| !letter.is_empty());
    match letters.position(|letter| letter == b"a") {
        Some(number) => Ok(RecordLayout {
            field: cdx_field(number),
            header_len: line.len(),
        }),
        None => {
            bad_list("the CDX header names no field \"a\", which is the original URL".to_owned())
        }
    }
}

/// The layout of records of columns. `field` gives the position of a column by its number.
fn column_layout(
    start: &[u8],
    options: &RecordOptions,
    field: impl Fn(usize) -> UrlField,
) -> Result<RecordLayout, String> {
    let (names, line_len) = split_header(start, &field(0));
    let header_len = if options.header { line_len } else { 0 };
    // A name shows that the first line is a header. A number does not.
    match &options.field {
        Some(Field::Number(number)) => Ok(RecordLayout {
            field: field(number.saturating_sub(1)),
            header_len,
        }),
        Some(Field::Name(wanted)) => match position_of(&names, wanted) {
            Some(number) => Ok(RecordLayout {
                field: field(number),
                header_len: line_len,
            }),
            None if start.is_empty() => Ok(RecordLayout::without_header(field(0))),
            None => Err(format!(
                "no column {wanted:?}: the first line has {}",
                list_names(&names)
            )),
        },
        None => match UrlName::among(names.iter().map(|name| &**name)) {
            UrlName::Found(number) => Ok(RecordLayout {
                field: field(number),
                header_len: line_len,
            }),
            UrlName::Missing if names.len() <= 1 => Ok(RecordLayout {
                field: field(0),
                header_len,
            }),
            UrlName::Missing => Err(format!(
                "no column {USUAL:?}: the first line has {}",
                list_names(&names)
            )),
            UrlName::Several(numbers) => Err(format!(
                "no column {USUAL:?}, and several that may hold URLs: {}",
                listed(numbers.into_iter().map(|number| &*names[number]))
            )),
        },
    }
}

/// The number of the column with this name.
fn position_of(names: &[Cow<'_, [u8]>], wanted: &str) -> Option<usize> {
    names
        .iter()
        .position(|name| name.trim_ascii() == wanted.as_bytes())
}

/// The columns of the first line, and its length.
fn split_header<'t>(text: &'t [u8], field: &UrlField) -> (Vec<Cow<'t, [u8]>>, usize) {
    let mut names = Vec::new();
    let line = text.lines_with_terminator().next().unwrap_or_default();
    match *field {
        UrlField::Csv { delimiter, .. } => {
            match csv::record(text, delimiter, |_, name| names.push(name)) {
                RecordEnd::At(len) => (names, len),
                RecordEnd::Open { .. } => (names, text.len()),
            }
        }
        UrlField::Column { delimiter, .. } => {
            let columns = line.trim_ascii_end().split(|&b| b == delimiter);
            (columns.map(Cow::Borrowed).collect(), line.len())
        }
        UrlField::Line | UrlField::Json | UrlField::JsonAtEnd => (names, 0),
    }
}

fn list_names(names: &[Cow<'_, [u8]>]) -> String {
    listed(names.iter().map(|name| &**name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use InputFormat::*;

    #[test]
    fn name_and_content_give_the_format() {
        let cases = [
            ("a.txt", "{\"url\":\"x\"}\n", Text),
            ("a.csv.gz", "url\n", Csv),
            ("A.JSONL", "", Jsonl),
            ("dir.csv/list", "https://e.example/\n", Text),
            ("-", "{\"url\":\"https://e.example/\"}\n", Jsonl),
            ("-", "{\"link\":\"https://e.example/\"}\n", Jsonl),
            ("-", "[\n{\"url\":\"https://e.example/\"},\n", Jsonl),
            ("-", "[::1]:80/\n", Text),
            ("-", "n;url\n", Csv),
            ("-", "sep=;\n", Csv),
            ("-", "n\tURL\n", Tsv),
            ("-", "url\n", Text),
            ("-", "https://e.example/,url\n", Text),
            ("-", "{broken\n", Text),
            (
                "-",
                "example,e)/ 20260101000000 {\"url\": \"https://e.example/\"}\n",
                Cdxj,
            ),
            ("cdx-00000.gz", " CDX N b a m s k r M S V g\n", Cdx),
            ("-", "", Text),
        ];
        for (name, line, expected) in cases {
            let format = format_of_name(Path::new(name))
                .or_else(|| format_of_lines(line.as_bytes(), false))
                .unwrap();
            assert_eq!(format, expected, "{name} {line}");
        }
    }
}
