//! Detects the record format of an input from the options, its name and its first line.

use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::without_mark;
use crate::records::csv::{self, RecordEnd};
use crate::records::extract::{RecordFormat, UrlField};
use crate::records::json;
use crate::records::options::{Field, InputFormat, RecordOptions};
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
    /// Detects the format from the start of an input; `None` if its first line is incomplete and
    /// the input `has_more`.
    ///
    /// # Errors
    /// [`ErrorKind::BadList`] if there is no such column.
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
        let comma = options.delimiter.unwrap_or(b',');
        let tab = options.delimiter.unwrap_or(b'\t');
        // In CSV, a line end inside quotes does not end the header.
        let is_quoted = by_name == Some(InputFormat::Csv) || options.delimiter == Some(b',');
        let has_end = start.contains(&b'\n') && (!is_quoted || csv::last_end(start, comma).0 > 0);
        if has_more && !has_end {
            return Ok(None);
        }
        let line = start.lines_with_terminator().next().unwrap_or_default();
        let format = choose_format(by_name, line, options);
        let layout = match format {
            InputFormat::Text if !options.rewrites() => {
                let first_format =
                    (mark_len > 0).then(|| RecordFormat::new(UrlField::Line, options).with_mark());
                return Ok(Some(Self {
                    first_format,
                    ..Self::default()
                }));
            }
            InputFormat::Text => Ok(RecordLayout::without_header(UrlField::Line)),
            InputFormat::Jsonl => Ok(RecordLayout::without_header(UrlField::Json)),
            InputFormat::Cdxj => Ok(RecordLayout::without_header(UrlField::JsonAtEnd)),
            InputFormat::Cdx => cdx_layout(line),
            InputFormat::Tsv => column_layout(start, options, |number| UrlField::Column {
                number,
                delimiter: tab,
            }),
            InputFormat::Csv => column_layout(start, options, |number| UrlField::Csv {
                number,
                delimiter: comma,
            }),
        };
        let RecordLayout { field, header_len } = layout.map_err(|what| {
            let err = Error::from(ErrorKind::BadList(what)).at(name);
            if format == InputFormat::Cdx {
                err
            } else {
                err.with_remedy(Remedy::NameColumn)
            }
        })?;
        // A byte order mark belongs to the header if there is one, else to the first record.
        let has_marked_record = mark_len > 0 && header_len == 0;
        Ok(Some(Self {
            format: Some(RecordFormat::new(field, options)),
            first_format: has_marked_record.then(|| RecordFormat::new(field, options).with_mark()),
            header_len: if header_len > 0 {
                mark_len + header_len
            } else {
                0
            },
        }))
    }
}

/// The format of an input. The caller's choice comes first, then the name, then the options, then
/// the first line.
fn choose_format(
    by_name: Option<InputFormat>,
    line: &[u8],
    options: &RecordOptions,
) -> InputFormat {
    // A name like `list.txt` does not exclude columns.
    let is_sure =
        options.format.is_some() || by_name.is_some_and(|format| format != InputFormat::Text);
    match (by_name, options) {
        (Some(format), _) if is_sure => format,
        (
            _,
            RecordOptions {
                delimiter: Some(b','),
                ..
            },
        ) => InputFormat::Csv,
        (
            _,
            RecordOptions {
                delimiter: Some(_), ..
            }
            | RecordOptions { field: Some(_), .. },
        ) => InputFormat::Tsv,
        (Some(format), _) => format,
        (
            None,
            RecordOptions {
                json_key: Some(_), ..
            },
        ) if !is_cdxj(line) => InputFormat::Jsonl,
        (None, _) => format_of_line(line, options),
    }
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

/// The format of a first line; [`InputFormat::Text`] if it looks like no other.
fn format_of_line(line: &[u8], options: &RecordOptions) -> InputFormat {
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

/// Whether a line is a sort key, a timestamp of 14 digits, and an object.
fn is_cdxj(line: &[u8]) -> bool {
    let mut parts = line.splitn_str(3, " ").skip(1);
    let time = parts.next().unwrap_or_default();
    let object = parts.next().unwrap_or_default();
    time.len() == 14 && time.iter().all(u8::is_ascii_digit) && object.starts_with(b"{")
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

fn cdx_layout(line: &[u8]) -> Result<RecordLayout, String> {
    let Some(letters) = cdx_letters(line) else {
        return Ok(RecordLayout::without_header(cdx_field(2)));
    };
    let mut letters = letters.split_str(" ").filter(|letter| !letter.is_empty());
    match letters.position(|letter| letter == b"a") {
        Some(number) => Ok(RecordLayout {
            field: cdx_field(number),
            header_len: line.len(),
        }),
        None => Err("the CDX header names no field \"a\", which is the original URL".to_owned()),
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
        None => match position_of(&names, "url").or_else(|| position_of(&names, "URL")) {
            Some(number) => Ok(RecordLayout {
                field: field(number),
                header_len: line_len,
            }),
            None if names.len() <= 1 => Ok(RecordLayout {
                field: field(0),
                header_len,
            }),
            None => Err(format!(
                "no column \"url\": the first line has {}",
                list_names(&names)
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

/// The first names of a header, quoted, for an error.
fn list_names(names: &[Cow<'_, [u8]>]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{:.60?}", name.to_str_lossy()))
        .collect();
    let more = if names.len() > SHOWN {
        format!(" and {} more", names.len() - SHOWN)
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
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
            ("-", "{\"link\":\"https://e.example/\"}\n", Text),
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
            let options = RecordOptions::default();
            let format = format_of_name(Path::new(name))
                .unwrap_or_else(|| format_of_line(line.as_bytes(), &options));
            assert_eq!(format, expected, "{name} {line}");
        }
    }
}
