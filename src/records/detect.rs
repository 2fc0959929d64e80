//! Detects the record format of an input from the options, its name and its first records.

use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::without_mark;
use crate::records::csv::{self, RecordEnd};
use crate::records::delimiter::{self, Delimiter, SAMPLE, find_delimiter, sep_line};
use crate::records::extract::{RecordFormat, TimeField, UrlField};
use crate::records::json_sample::{self, JsonKey, JsonLayout};
use crate::records::options::{Field, InputFormat, RecordOptions};
use crate::records::url_names::{USUAL, UrlName, listed, position_of};
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

/// The positions of the URL and of the time in records, and the length of the header.
struct RecordLayout {
    field: UrlField,
    /// `None` if no times are asked for.
    time: Option<TimeField>,
    header_len: usize,
}

impl RecordLayout {
    fn without_header(field: UrlField) -> Self {
        Self {
            field,
            time: None,
            header_len: 0,
        }
    }

    fn with_time(self, time: Option<TimeField>) -> Self {
        Self { time, ..self }
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
    /// not clear, if the records have no times and these are asked for, and for JSON over several
    /// lines.
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
        if ends_lines_with_cr(line, format) {
            let what = "its lines end with CR, as on old Macs; end them with LF: tr '\\r' '\\n'";
            return bad_list(what.to_owned()).map_err(|err: Error| err.at(name));
        }
        let has_objects = match format {
            InputFormat::Jsonl | InputFormat::Cdxj => true,
            InputFormat::Cdx => is_cdxj(line),
            InputFormat::Text | InputFormat::Tsv | InputFormat::Csv => false,
        };
        let mut options =
            with_field_or_key(options, has_objects).map_err(|err: Error| err.at(name))?;
        let layout = match format {
            InputFormat::Text if options.has_times() => {
                bad_time("a list of URLs has no times; give a table, JSON lines or a crawl index")
            }
            InputFormat::Text if !options.rewrites() => {
                let first_format =
                    (mark_len > 0).then(|| RecordFormat::new(UrlField::Line, &options).with_mark());
                return Ok(Some(Self {
                    first_format,
                    ..Self::default()
                }));
            }
            InputFormat::Text => Ok(Some(RecordLayout::without_header(UrlField::Line))),
            InputFormat::Jsonl => match json_key(start, has_more, &options) {
                Ok(Some(key)) => {
                    options.to_mut().json_key = Some(key);
                    if let Some(Field::Name(name)) = &options.as_of_column {
                        let Some(name) = spelled_key(start, has_more, name) else {
                            return Ok(None);
                        };
                        options.to_mut().as_of_column = Some(Field::Name(name));
                    }
                    let layout = RecordLayout::without_header(UrlField::Json);
                    time_key(&options).map(|time| Some(layout.with_time(time)))
                }
                Ok(None) => return Ok(None),
                Err(err) => Err(err),
            },
            InputFormat::Cdxj => cdxj_layout(&options).map(Some),
            InputFormat::Cdx => cdx_layout(line, &options).map(Some),
            InputFormat::Tsv | InputFormat::Csv => table_layout(format, start, has_more, &options),
        };
        let layout = layout.map_err(|err| err.at(name))?;
        let Some(RecordLayout {
            field,
            time,
            header_len,
        }) = layout
        else {
            return Ok(None);
        };
        // A byte order mark belongs to the header if there is one, else to the first record.
        let has_marked_record = mark_len > 0 && header_len == 0;
        let new_format = || RecordFormat::new(field, &options).with_time(time.clone());
        Ok(Some(Self {
            format: Some(new_format()),
            first_format: has_marked_record.then(|| new_format().with_mark()),
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
    let format = match by_name {
        Some(format) if is_sure => Some(format),
        _ if options.delimiter == Some(b',') => Some(InputFormat::Csv),
        _ if options.delimiter.is_some() => Some(InputFormat::Tsv),
        _ if options.field.is_some() => match format_of_lines(start, has_more)? {
            found @ (InputFormat::Jsonl | InputFormat::Cdxj | InputFormat::Cdx) => Some(found),
            _ => Some(InputFormat::Tsv),
        },
        _ if options.json_key.is_some() && !is_cdxj(line) => Some(InputFormat::Jsonl),
        Some(format) => Some(table_format(start, has_more)?.unwrap_or(format)),
        None => format_of_lines(start, has_more),
    };
    // A list of URLs has no column of times, so the lines are a table, or objects.
    if format == Some(InputFormat::Text) && !is_sure && options.as_of_column.is_some() {
        return match format_of_lines(start, has_more)? {
            InputFormat::Text => Some(InputFormat::Tsv),
            other => Some(other),
        };
    }
    format
}

/// The options with the column or the key of the URLs: where only the other one is named, that is meant.
/// To ignore it would judge the URLs of another column.
fn with_field_or_key(given: &RecordOptions, has_objects: bool) -> Result<Cow<'_, RecordOptions>> {
    let mut options = Cow::Borrowed(given);
    match (&given.field, &given.json_key) {
        (Some(Field::Name(name)), None) if has_objects => {
            options.to_mut().json_key = Some(name.clone());
        }
        (Some(Field::Number(number)), None) if has_objects => {
            let what = format!("column {number} of URLs: the keys of JSON objects have names");
            return bad_list(what).map_err(|err| err.with_remedy(Remedy::NameKey));
        }
        (None, Some(key)) if !has_objects => {
            options.to_mut().field = Some(Field::Name(key.clone()));
        }
        _ => {}
    }
    Ok(options)
}

/// Whether a CR ends a line within the first line of a table, outside quotes, or between JSON objects.
fn ends_lines_with_cr(line: &[u8], format: InputFormat) -> bool {
    let line = line.trim_ascii_end();
    let Some((before, next)) = line.split_once_str("\r") else {
        return false;
    };
    match format {
        InputFormat::Tsv | InputFormat::Csv => {
            memchr::memchr_iter(b'"', before).count().is_multiple_of(2)
        }
        InputFormat::Jsonl => next.trim_ascii_start().starts_with(b"{"),
        InputFormat::Text | InputFormat::Cdxj | InputFormat::Cdx => false,
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
        return Ok(spelled_key(text, has_more, key));
    }
    let line = text.lines_with_terminator().next().unwrap_or_default();
    if json_sample::has_usual_key(line) {
        return Ok(Some(USUAL.to_owned()));
    }
    if is_short {
        return Ok(None);
    }
    match json_sample::choose_key(sample_of(text), options.rewrites()) {
        JsonKey::Found(key) => Ok(Some(key)),
        JsonKey::Unclear(what) => bad_list(what).map_err(|err| err.with_remedy(Remedy::NameKey)),
    }
}

/// The key that a user names, as the objects spell it; `None` if more of them have to decide.
fn spelled_key(text: &[u8], has_more: bool, key: &str) -> Option<String> {
    let line = text.lines_with_terminator().next().unwrap_or_default();
    if json_sample::has_key(line, key) {
        return Some(key.to_owned());
    }
    if has_more && text.len() < SAMPLE {
        return None;
    }
    Some(json_sample::spelled_key(sample_of(text), key))
}

/// The lines that decide about keys. They are whole, and at least one.
fn sample_of(text: &[u8]) -> &[u8] {
    let line = text.lines_with_terminator().next().unwrap_or_default();
    match text.get(..SAMPLE) {
        None => text,
        Some(start) => start.rfind_byte(b'\n').map_or(line, |end| &start[..end]),
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
        csv::whole_records(table, given.unwrap_or(of_format)).end > 0
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
    let is_quoted = is_csv || other.is_some() || {
        // Whoever names the format says that quotes are bytes like others.
        let is_open = options.format.is_none() && delimiter == b'\t';
        match is_open.then(|| delimiter::has_quoted_fields(table, delimiter, !has_more)) {
            None => false,
            Some(Some(is_quoted)) => is_quoted,
            Some(None) => return Ok(None),
        }
    };
    let layout = column_layout(table, options, |number| {
        if is_quoted {
            UrlField::Csv { number, delimiter }
        } else {
            UrlField::Column { number, delimiter }
        }
    });
    let layout = match layout {
        Ok(layout) => layout,
        Err(what) => return bad_list(what).map_err(|err| err.with_remedy(Remedy::NameColumn)),
    };
    let (names, line_len) = split_header(table, &layout.field);
    let time = time_column(&names, table.is_empty(), options)?;
    // A name shows that the first line is a header.
    let is_named = matches!(options.as_of_column, Some(Field::Name(_)));
    let header_len = if is_named {
        line_len
    } else {
        layout.header_len
    };
    Ok(Some(RecordLayout {
        time,
        header_len: sep_len + header_len,
        ..layout
    }))
}

/// The column of the times of a table with these names.
fn time_column(
    names: &[Cow<'_, [u8]>],
    is_empty: bool,
    options: &RecordOptions,
) -> Result<Option<TimeField>> {
    refuse_both_times(options)?;
    match &options.as_of_column {
        _ if options.as_of_record => bad_time("the records of a table have no time of their own"),
        None => Ok(None),
        Some(Field::Number(number)) => Ok(Some(TimeField::Column(number.saturating_sub(1)))),
        Some(Field::Name(wanted)) => match column_named(names, wanted) {
            Some(number) => Ok(Some(TimeField::Column(number))),
            None if is_empty => Ok(None),
            None => bad_time(format!(
                "no column {wanted:?} of times: the first line has {}",
                list_names(names)
            )),
        },
    }
}

/// The key of the times of JSON lines.
fn time_key(options: &RecordOptions) -> Result<Option<TimeField>> {
    refuse_both_times(options)?;
    match &options.as_of_column {
        _ if options.as_of_record => bad_time("JSON objects have no time of their own"),
        None => Ok(None),
        Some(Field::Name(key)) => Ok(Some(TimeField::Key(key.clone()))),
        Some(Field::Number(number)) => bad_time(format!(
            "column {number} of times: the keys of JSON objects have names"
        )),
    }
}

fn refuse_both_times(options: &RecordOptions) -> Result<()> {
    if options.as_of_record && options.as_of_column.is_some() {
        return bad_list("times are in a column, or those of the records; choose one".to_owned());
    }
    Ok(())
}

/// The error of an input without the times that are asked for.
fn bad_time<T>(what: impl Into<String>) -> Result<T> {
    bad_list(what.into()).map_err(|err| err.with_remedy(Remedy::NameTimeColumn))
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
    if let Some(format) = table_format(start, has_more)? {
        return Some(format);
    }
    match json_sample::begins_json(start) {
        None if has_more => None,
        Some(true) => Some(InputFormat::Jsonl),
        _ => Some(InputFormat::Text),
    }
}

/// The format of a table, if the first line is a header of several columns, one of them `url`, or
/// states the delimiter, or if the lines have tabs between columns, one of them with URLs. `None` if
/// more lines have to decide.
fn table_format(start: &[u8], has_more: bool) -> Option<Option<InputFormat>> {
    let line = start.lines_with_terminator().next().unwrap_or_default();
    if delimiter::is_header(line, b'\t') {
        return Some(Some(InputFormat::Tsv));
    }
    let is_csv = sep_line(line).is_some()
        || [b',', b';', b'|']
            .iter()
            .any(|&delimiter| delimiter::is_header(line, delimiter));
    if is_csv {
        return Some(Some(InputFormat::Csv));
    }
    if !line.trim_ascii().contains(&b'\t') {
        return Some(None);
    }
    if has_more && start.len() < SAMPLE {
        return None;
    }
    Some(delimiter::has_tab_columns(sample_of(start)).then_some(InputFormat::Tsv))
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

/// The column of the timestamp in CDXJ lines, and in CDX files without a header.
const INDEX_TIME: usize = 1;

/// The layout of CDXJ lines.
fn cdxj_layout(options: &RecordOptions) -> Result<RecordLayout> {
    refuse_both_times(options)?;
    let time = if options.as_of_record {
        Some(TimeField::IndexColumn(INDEX_TIME))
    } else {
        time_key(options)?
    };
    Ok(RecordLayout::without_header(UrlField::JsonAtEnd).with_time(time))
}

/// The layout of a list whose name ends in `.cdx`. A WACZ collection names its CDXJ `index.cdx.gz`.
fn cdx_layout(line: &[u8], options: &RecordOptions) -> Result<RecordLayout> {
    if is_cdxj(line) {
        return cdxj_layout(options);
    }
    refuse_both_times(options)?;
    let Some(letters) = cdx_letters(line) else {
        let number = match &options.field {
            None => 2,
            Some(Field::Number(number)) => number.saturating_sub(1),
            Some(Field::Name(wanted)) => {
                return bad_list(format!(
                    "no column {wanted:?}: no CDX header names the columns"
                ))
                .map_err(|err| err.with_remedy(Remedy::NameColumn));
            }
        };
        let time = match &options.as_of_column {
            _ if options.as_of_record => Some(TimeField::IndexColumn(INDEX_TIME)),
            None => None,
            Some(Field::Number(number)) => Some(TimeField::Column(number.saturating_sub(1))),
            Some(Field::Name(wanted)) => {
                return bad_time(format!(
                    "no column {wanted:?} of times: no CDX header names the columns"
                ));
            }
        };
        return Ok(RecordLayout::without_header(cdx_field(number)).with_time(time));
    };
    let letters: Vec<Cow<'_, [u8]>> = letters
        .split_str(" ")
        .filter(|letter| !letter.is_empty())
        .map(Cow::Borrowed)
        .collect();
    let number = match &options.field {
        Some(Field::Number(number)) => Some(number.saturating_sub(1)),
        Some(Field::Name(wanted)) => column_named(&letters, wanted),
        None => field_of(&letters, b'a'),
    };
    let Some(number) = number else {
        let what = match &options.field {
            Some(Field::Name(wanted)) => {
                format!(
                    "no column {wanted:?}: the first line has {}",
                    list_names(&letters)
                )
            }
            _ => "the CDX header names no field \"a\", which is the original URL".to_owned(),
        };
        return bad_list(what).map_err(|err| err.with_remedy(Remedy::NameColumn));
    };
    let time = match field_of(&letters, b'b') {
        Some(number) if options.as_of_record => Some(TimeField::IndexColumn(number)),
        None if options.as_of_record => {
            return bad_time("the CDX header names no field \"b\", which is the timestamp");
        }
        _ => time_column(&letters, false, options)?,
    };
    Ok(RecordLayout {
        field: cdx_field(number),
        time,
        header_len: line.len(),
    })
}

/// The layout of records of columns. `field` gives the position of a column by its number.
fn column_layout(
    start: &[u8],
    options: &RecordOptions,
    field: impl Fn(usize) -> UrlField,
) -> Result<RecordLayout, String> {
    let (names, line_len) = split_header(start, &field(0));
    let header_len = if options.header { line_len } else { 0 };
    let layout = |number, header_len| RecordLayout {
        field: field(number),
        time: None,
        header_len,
    };
    // A name shows that the first line is a header. A number does not.
    match &options.field {
        Some(Field::Number(number)) => Ok(layout(number.saturating_sub(1), header_len)),
        Some(Field::Name(wanted)) => match column_named(&names, wanted) {
            Some(number) => Ok(layout(number, line_len)),
            None if start.is_empty() => Ok(RecordLayout::without_header(field(0))),
            None => Err(format!(
                "no column {wanted:?}: the first line has {}",
                list_names(&names)
            )),
        },
        None => match UrlName::among(names.iter().map(|name| &**name)) {
            UrlName::Found(number) => Ok(layout(number, line_len)),
            UrlName::Missing if names.len() <= 1 => Ok(layout(0, header_len)),
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
fn column_named(names: &[Cow<'_, [u8]>], wanted: &str) -> Option<usize> {
    position_of(names.iter().map(|name| &**name), wanted)
}

/// The number of the field of a CDX file with this letter. Letters have case.
fn field_of(letters: &[Cow<'_, [u8]>], letter: u8) -> Option<usize> {
    letters.iter().position(|found| **found == [letter])
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
    use crate::records::ExtractedUrls;
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
            (
                "-",
                "https://e.example/\t200\nhttps://e.example/x\t404\n",
                Tsv,
            ),
            ("-", "n\tpage\n\n1\thttps://e.example/\n", Tsv),
            ("-", "https://e.example/\t200\n", Text),
            ("-", "https://e.example/\t200\nhttps://e.example/\n", Text),
            ("-", "https://e.example/\t200\nwww.e.example\t404\n", Text),
            ("-", "\thttps://e.example/\t\n", Text),
            ("-", "{\t\"url\":\"https://e.example/\"}\n", Jsonl),
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

    fn with_column(field: &str) -> RecordOptions {
        RecordOptions::default().as_of_column(Field::from(field))
    }

    fn of_records() -> RecordOptions {
        RecordOptions::default().as_of_record(true)
    }

    /// Each URL with its time, or the error.
    fn timed_urls(name: &str, text: &str, options: &RecordOptions) -> Result<String, String> {
        let head = InputHead::of(Path::new(name), text.as_bytes(), false, options);
        let head = head.map_err(|err| err.to_string())?.unwrap();
        let format = head.first_format.or(head.format).unwrap();
        let mut out = ExtractedUrls::default();
        format.extract(&text.as_bytes()[head.header_len..], &mut out);
        let urls: Vec<&str> = std::str::from_utf8(&out.urls).unwrap().lines().collect();
        assert_eq!(
            (urls.len(), out.ends.len()),
            (out.times.len(), out.times.len())
        );
        let rows = urls
            .into_iter()
            .zip(&out.times)
            .map(|(url, time)| match time {
                None => format!("{url} never"),
                Some(1_709_640_000) => format!("{url} noon"),
                Some(1_709_683_199) => format!("{url} night"),
                Some(time) => format!("{url} {time}"),
            });
        Ok(rows.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn each_format_has_times() {
        let key = "m.fetched";
        for (name, options, text, expected) in [
            // psql's COPY, with a column that may be empty.
            (
                "a.csv",
                with_column("at"),
                "id,url,at\n1,u,2024-03-05 12:00:00+00\n2,v,\n3,w\n4,x,\"2024-03-05\"\n",
                "u noon, v never, w never, x night",
            ),
            (
                "a.csv",
                with_column("1"),
                "at,url\n20240305120000,u\n",
                "u noon",
            ),
            (
                "a.csv",
                with_column("2").field(Field::Number(1)),
                "u,1709640000\nv,1709640000.5\n",
                "u noon, v noon",
            ),
            ("a.csv", with_column("9"), "url,n\nu,1\n", "u never"),
            // A name makes the first line a header, whatever names the URL.
            (
                "a.csv",
                with_column("at").field(Field::Number(1)),
                "link,at\nu,2024-03-05\n",
                "u night",
            ),
            (
                "a.csv",
                with_column("at"),
                "\u{feff}url;at\nu;2024-03-05\n",
                "u night",
            ),
            (
                "a.csv",
                with_column("at"),
                "sep=;\r\nurl;at\r\nu;2024-03-05\r\n",
                "u night",
            ),
            (
                "a.csv",
                with_column("at").default_scheme("https".to_owned()),
                "url,at\ne.example/,2024-03-05\n",
                "https://e.example/ night",
            ),
            (
                "a.tsv",
                with_column("at"),
                "url\tat\nu\t2024-03-05T12:00:00Z\nv\n",
                "u noon, v never",
            ),
            (
                "list",
                with_column("at"),
                "url\tat\nu\t1709640000\n",
                "u noon",
            ),
            (
                "list.txt",
                with_column("2").field(Field::Number(1)),
                "u\t1709640000\n",
                "u noon",
            ),
            // The index of Common Crawl, as its server writes it.
            (
                "cc-index",
                with_column("timestamp"),
                "{\"urlkey\": \"example,e)/\", \"timestamp\": \"20240305120000\", \"url\": \"u\", \"status\": \"200\"}\n\
                 {\"url\": \"v\"}\n[]\n",
                "u noon, v never,  never",
            ),
            (
                "a.jsonl",
                with_column(key),
                "{\"url\":\"u\",\"m\":{\"fetched\":1709640000123}}\n",
                "u noon",
            ),
            (
                "a.jsonl",
                with_column("t").json_key("a.b".to_owned()),
                "{\"a\":{\"b\":\"u\"},\"t\":\"2024-03-05\"}\n",
                "u night",
            ),
            (
                "a.jsonl",
                with_column("t"),
                "\u{feff}{\"url\":\"u\",\"t\":1709640000}\n",
                "u noon",
            ),
            // pywb, cdxj-indexer, and ArchiveWeb.page with milliseconds.
            (
                "index.cdxj",
                of_records(),
                "!meta 0 {}\n\
                 example,e)/ 20240305120000 {\"url\": \"u\", \"mime\": \"text/html\", \"timestamp\": \"1\"}\n\
                 example,e)/a{b} 20240305120000333 {\"url\": \"v\"}\n\
                 example,e)/ 20240305 {\"url\": \"w\"}\n\
                 {\"url\": \"x\"}\nexample,e)/ 20240305120000\n",
                " never, u noon, v noon, w night, x never,  noon",
            ),
            (
                "index.cdxj",
                with_column("warc.date"),
                "k 20200101000000 {\"url\": \"u\", \"warc\": {\"date\": \"2024-03-05\"}}\n",
                "u night",
            ),
            // Eleven fields, as the Internet Archive writes them.
            (
                "a.cdx",
                of_records(),
                " CDX N b a m s k r M S V g\n\
                 example,e)/ 20240305120000 u text/html 200 AAAA - - 1234 567 a.warc.gz\n\
                 example,e)/ 2024030512 v text/html 200 AAAA - - 1234 567 a.warc.gz\nshort\n",
                "u noon, v 1709643599,  never",
            ),
            (
                "a.cdx",
                of_records(),
                "k 20240305120000 u text/html\n",
                "u noon",
            ),
            (
                "a.cdx",
                of_records(),
                " CDX a b\nu 20240305120000\n",
                "u noon",
            ),
            (
                "a.cdx",
                with_column("s"),
                " CDX N b a s\nk 20200101000000 u 1709640000\n",
                "u noon",
            ),
            (
                "a.cdx",
                with_column("4"),
                "k 20200101000000 u 1709640000\n",
                "u noon",
            ),
            (
                "index.cdx.gz",
                of_records(),
                "k 20240305120000 {\"url\": \"u\"}\n",
                "u noon",
            ),
        ] {
            let found = timed_urls(name, text, &options);
            assert_eq!(found.as_deref(), Ok(expected), "{name}: {text}");
            // Without times, the URLs are the same, and no time is kept.
            let untimed = RecordOptions {
                as_of_column: None,
                as_of_record: false,
                ..options
            };
            let head = InputHead::of(Path::new(name), text.as_bytes(), false, &untimed);
            if let Some(format) = head.unwrap().unwrap().format {
                let mut out = ExtractedUrls::default();
                out.times.push(None);
                format.extract(text.as_bytes(), &mut out);
                assert!(out.times.is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn missing_times_are_named() {
        for (name, options, text, message) in [
            (
                "a.csv",
                with_column("day"),
                "url,at\nu,1\n",
                "a.csv: no column \"day\" of times: the first line has \"url\", \"at\"",
            ),
            (
                "a.tsv",
                with_column("day"),
                "url\nu\n",
                "no column \"day\" of times: the first line has \"url\"",
            ),
            (
                "a.csv",
                of_records(),
                "url,at\nu,1\n",
                "the records of a table have no time of their own",
            ),
            (
                "a.csv",
                of_records().as_of_column(Field::Number(2)),
                "url,at\n",
                "choose one",
            ),
            (
                "a.jsonl",
                of_records(),
                "{\"url\":\"u\"}\n",
                "JSON objects have no time of their own",
            ),
            (
                "a.jsonl",
                with_column("2"),
                "{\"url\":\"u\"}\n",
                "the keys of JSON objects have names",
            ),
            ("a.txt", of_records(), "u\n", "a list of URLs has no times"),
            (
                "list",
                of_records(),
                "https://e.example/\n",
                "a list of URLs has no times",
            ),
            (
                "list",
                with_column("2").format(Text),
                "u\t1\n",
                "a list of URLs has no times",
            ),
            (
                "a.cdx",
                with_column("x"),
                " CDX a b\nu 1\n",
                "no column \"x\" of times: the first line has \"a\", \"b\"",
            ),
            (
                "a.cdx",
                with_column("x"),
                "k 1 u\n",
                "no CDX header names the columns",
            ),
            (
                "a.cdx",
                of_records(),
                " CDX N a\nk u\n",
                "names no field \"b\"",
            ),
        ] {
            let found = timed_urls(name, text, &options).unwrap_err();
            assert!(found.contains(message), "{name} {text}: {found}");
        }
        // An empty table lacks nothing.
        assert_eq!(
            timed_urls("a.csv", "", &with_column("day")),
            Ok(String::new())
        );
    }
}
