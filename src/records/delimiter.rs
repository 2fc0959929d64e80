//! The delimiter of a table, by its first records.
//!
//! Spreadsheets write the list separator of the user's locale: a `;` where the comma is the decimal
//! point. Read with commas, such a line is one column, and the rest of the line becomes part of the
//! URL. So the header is split by each delimiter.

use crate::file_format::without_mark;
use crate::records::csv::{self, RecordEnd};
use crate::records::options::Field;
use crate::records::url_names::{USUAL, UrlName, listed, position_of};
use bstr::ByteSlice;
use std::borrow::Cow;

/// The delimiters that are tried, besides that of the format.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The bytes of records that are compared with the header.
pub(super) const SAMPLE: usize = 64 << 10;

/// The delimiter of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// That of the format: nothing speaks for another one.
    OfFormat,
    /// Another one.
    Other(u8),
    /// Not clear: the defect.
    Unclear(String),
    /// More bytes have to decide.
    NeedsMore,
}

/// The first line of Excel's files that states the delimiter: `sep=;`. Returns the delimiter and
/// the length of the line.
pub(super) fn sep_line(text: &[u8]) -> Option<(u8, usize)> {
    let len = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
    let line = text[..len].trim_ascii_end();
    // A tab at the end is the delimiter.
    let line = if line.len() == 4 && text.get(4) == Some(&b'\t') {
        &text[..5]
    } else {
        line
    };
    let inner = line
        .strip_prefix(b"\"")
        .and_then(|line| line.strip_suffix(b"\""))
        .unwrap_or(line);
    match inner {
        [s, e, p, b'=', delimiter] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => {
            Some((*delimiter, len))
        }
        _ => None,
    }
}

/// The header of a table without what precedes the names: a byte order mark, and the line with the
/// delimiter.
pub(crate) fn table_head(header: &[u8]) -> &[u8] {
    let text = without_mark(header);
    &text[sep_line(text).map_or(0, |(_, len)| len)..]
}

/// Whether a line is the header of a table with this delimiter: it has several names, and one of
/// them is `url`.
pub(super) fn is_header(line: &[u8], delimiter: u8) -> bool {
    let header = Header::of(line, delimiter);
    header.names.len() > 1
        && header.are_names()
        && header
            .names
            .iter()
            .any(|name| name.trim_ascii().eq_ignore_ascii_case(USUAL.as_bytes()))
}

/// Whether some lines have as many columns each, by tabs, and one of these has a URL in every line
/// but perhaps the first, which may have names. A single line does not tell: a URL may have a tab.
pub(super) fn has_tab_columns(sample: &[u8]) -> bool {
    let mut lines = sample
        .lines()
        .filter(|line| !line.trim_ascii().is_empty())
        .map(|line| line.split_str("\t"));
    let Some(first) = lines.next() else {
        return false;
    };
    let mut is_of_urls = vec![true; first.count()];
    let mut has_lines = false;
    for fields in lines {
        has_lines = true;
        if fields.clone().count() != is_of_urls.len() {
            return false;
        }
        for (is_of_urls, field) in is_of_urls.iter_mut().zip(fields) {
            *is_of_urls &= field.starts_with(b"http://") || field.starts_with(b"https://");
        }
    }
    has_lines && is_of_urls.contains(&true)
}

/// Whether a table with tabs has quoted fields, as CSV has; `None` if more of it has to decide.
///
/// TSV has no quotes by its definition, and databases write it so. Data frames and spreadsheets quote
/// fields with tabs, line ends and quotes. The first [`SAMPLE`] bytes decide: the fields are quoted if
/// there are some that begin with a quote, and each of them ends with one. `is_all` says that `text` is
/// all of the input.
pub(super) fn has_quoted_fields(text: &[u8], delimiter: u8, is_all: bool) -> Option<bool> {
    if !is_all && text.len() < SAMPLE {
        return None;
    }
    let is_all = text.len() <= SAMPLE;
    let sample = &text[..text.len().min(SAMPLE)];
    let mut has_quotes = false;
    let mut has_misfits = false;
    let mut at = 0;
    loop {
        let end = csv::raw_record(&sample[at..], delimiter, |_, field| {
            has_quotes |= field.is_quoted();
            has_misfits |= field.has_text_after_quote();
        });
        match end {
            RecordEnd::At(len) if !has_misfits && at + len < sample.len() => at += len,
            // The end of the sample cuts the last record.
            RecordEnd::Open { in_quotes: true } if is_all => return Some(false),
            _ => return Some(has_quotes && !has_misfits),
        }
    }
}

/// The first record, split by a delimiter.
struct Header<'t> {
    delimiter: u8,
    names: Vec<Cow<'t, [u8]>>,
    /// Whether the text has the end of the record.
    is_whole: bool,
}

impl<'t> Header<'t> {
    fn of(text: &'t [u8], delimiter: u8) -> Self {
        let mut names = Vec::new();
        let end = csv::record(text, delimiter, |_, name| names.push(name));
        Self {
            delimiter,
            names,
            is_whole: matches!(end, RecordEnd::At(_)),
        }
    }

    /// Whether no name is a URL: otherwise the first record is not a header.
    fn are_names(&self) -> bool {
        !self.names.iter().any(|name| name.contains_str("://"))
    }

    fn has_url_name(&self) -> bool {
        UrlName::among(self.names.iter().map(|name| &**name)) != UrlName::Missing
    }

    /// Whether the wanted column is here.
    fn has(&self, field: Option<&Field>) -> bool {
        match field {
            None => self.are_names() && self.has_url_name(),
            Some(Field::Name(wanted)) => {
                position_of(self.names.iter().map(|name| &**name), wanted).is_some()
            }
            // The first column is there by any delimiter, so names must speak for this one.
            Some(Field::Number(1)) => self.are_names() && self.has_url_name(),
            Some(Field::Number(number)) => *number <= self.names.len(),
        }
    }

    /// Compares the number of columns of the records in `sample` with that of the header, which is
    /// the first of them.
    ///
    /// # Errors
    /// The number of the first record that differs, from 1.
    fn fits(&self, sample: &[u8], is_all: bool) -> Result<(), usize> {
        let mut at = 0;
        for number in 1.. {
            let mut columns = 0;
            let mut is_blank = true;
            let end = csv::record(&sample[at..], self.delimiter, |_, field| {
                columns += 1;
                is_blank &= field.is_empty();
            });
            let is_whole = match end {
                RecordEnd::At(_) => true,
                RecordEnd::Open { in_quotes } => is_all && !in_quotes,
            };
            // A blank line has no columns, wherever it is.
            let is_blank = is_blank && columns <= 1;
            if is_whole && !is_blank && columns != self.names.len() {
                return Err(number);
            }
            match end {
                RecordEnd::At(len) if at + len < sample.len() => at += len,
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Finds the delimiter of a table whose format has `of_format`.
///
/// `text` begins with the header, and `is_all` says whether it is all of the input. The delimiter
/// of the format is kept if the wanted column is there by it, or if no other delimiter cuts the
/// header into names: so a single column whose URLs have such bytes stays one.
pub(super) fn find_delimiter(
    text: &[u8],
    of_format: u8,
    field: Option<&Field>,
    is_all: bool,
) -> Delimiter {
    let usual = Header::of(text, of_format);
    let is_single = usual.names.len() < 2;
    let has_column = match field {
        Some(Field::Number(number)) => !is_single && *number <= usual.names.len(),
        Some(Field::Name(_)) => !is_single && usual.has(field),
        None => usual.has(field),
    };
    if has_column {
        return Delimiter::OfFormat;
    }
    // The answer depends on these bytes alone, in whatever parts the input arrives.
    let sample = &text[..text.len().min(SAMPLE)];
    let is_sampled = is_all || sample.len() == SAMPLE;
    let is_all = is_all && sample.len() < SAMPLE;
    let others: Vec<Header<'_>> = DELIMITERS
        .iter()
        .filter(|&&delimiter| delimiter != of_format)
        .map(|&delimiter| Header::of(sample, delimiter))
        .collect();
    if !is_sampled && others.iter().any(|header| !header.is_whole) {
        return Delimiter::NeedsMore;
    }
    let (with_column, without): (Vec<_>, Vec<_>) = others
        .into_iter()
        .filter(|header| header.names.len() > 1 && (header.is_whole || is_all))
        .partition(|header| header.has(field));
    if with_column.is_empty() && !is_single {
        return Delimiter::OfFormat;
    }
    let has_candidates = !with_column.is_empty() || !without.is_empty();
    if has_candidates && !is_sampled {
        return Delimiter::NeedsMore;
    }
    let mut misfit = None;
    let mut fitting = Vec::new();
    for header in &with_column {
        match header.fits(sample, is_all) {
            Ok(()) => fitting.push(header.delimiter),
            Err(record) => misfit = misfit.or(Some((header, record))),
        }
    }
    match (&*fitting, misfit) {
        (&[delimiter], _) => Delimiter::Other(delimiter),
        ([], Some((header, record))) if is_single || field.is_none() => {
            Delimiter::Unclear(format!(
                "the columns are not clear: the first line has {} if {} separates columns, but \
                 record {record} has another number of them",
                listed(header.names.iter().map(|name| &**name)),
                shown(header.delimiter)
            ))
        }
        ([], _) => without_column(&without, sample, is_all, is_single, field),
        (several, _) => Delimiter::Unclear(format!(
            "the columns are not clear: {} may each separate them",
            several
                .iter()
                .map(|&delimiter| shown(delimiter))
                .collect::<Vec<_>>()
                .join(" and ")
        )),
    }
}

/// The answer if no delimiter gives the wanted column. Records that all have the columns of the
/// header show that it is a table nevertheless. So does a tab, which no URL has.
fn without_column(
    headers: &[Header<'_>],
    sample: &[u8],
    is_all: bool,
    is_single: bool,
    field: Option<&Field>,
) -> Delimiter {
    let is_table = |header: &&Header<'_>| {
        // A first line like `e.example/a;b` is a URL without a scheme.
        let are_words = header.are_names()
            && !header
                .names
                .iter()
                .any(|name| name.find_byteset(b"/.").is_some());
        let is_header = are_words || header.delimiter == b'\t';
        is_header && header.fits(sample, is_all).is_ok()
    };
    match headers.iter().find(is_table) {
        Some(header) if is_single && header.delimiter == b'\t' && field.is_some() => {
            Delimiter::Other(b'\t')
        }
        Some(header) if is_single && field.is_none() => Delimiter::Unclear(format!(
            "no column {USUAL:?}: if {} separates columns, the first line has {}",
            shown(header.delimiter),
            listed(header.names.iter().map(|name| &**name))
        )),
        _ => Delimiter::OfFormat,
    }
}

/// A delimiter in a message.
fn shown(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "a tab".to_owned(),
        other => format!("{:?}", char::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, field: Option<&str>) -> Delimiter {
        find_delimiter(text.as_bytes(), b',', field.map(Field::from).as_ref(), true)
    }

    #[test]
    fn delimiters_are_found_where_all_records_fit() {
        use Delimiter::{OfFormat, Other};
        for (text, field, expected) in [
            ("url;title\nhttps://e.example/;a\n", None, Other(b';')),
            ("url;title", None, Other(b';')),
            ("n|URL\r\n1|https://e.example/\r\n", None, Other(b'|')),
            (
                "n\turl\n\"a\tb\"\thttps://e.example/\n\n",
                None,
                Other(b'\t'),
            ),
            ("url;\"a,b\"\nx;\"1,5\"\n", None, Other(b';')),
            ("a,b;url\n1;x\n", None, Other(b';')),
            ("link;n\nx;1\n", Some("link"), Other(b';')),
            ("https://e.example/;x\ny;z\n", Some("2"), Other(b';')),
            ("https://e.example/\tx\ny\tz\n", Some("1"), Other(b'\t')),
            // The delimiter of the format.
            ("url,title\nhttps://e.example/;a,x;y\n", None, OfFormat),
            ("n,link\n1,https://e.example/a;b\n", None, OfFormat),
            ("url\nhttps://e.example/a;b\n", None, OfFormat),
            (
                "https://e.example/a;b\nhttps://e.example/c;d\n",
                None,
                OfFormat,
            ),
            ("https://e.example/a;b|c\n", None, OfFormat),
            ("https://e.example/a;b\n", Some("1"), OfFormat),
            ("", None, OfFormat),
            ("e.example/a;b\ne.example/c\n", None, OfFormat),
            ("e.example/a;b\ne.example/c;d\n", None, OfFormat),
        ] {
            assert_eq!(found(text, field), expected, "{text}");
        }
    }

    #[test]
    fn unclear_tables_are_refused() {
        for (text, part) in [
            (
                "url;title\nhttps://e.example/;a\nhttps://e.example/;b;c\n",
                "has \"url\", \"title\" if ';' separates columns, but record 3",
            ),
            ("url;title\nhttps://e.example/\n", "but record 2"),
            (
                "link;title\nhttps://e.example/;a\n",
                "no column \"url\": if ';' separates",
            ),
            ("https://e.example/\ta\n", "if a tab separates columns"),
        ] {
            let Delimiter::Unclear(defect) = found(text, None) else {
                panic!("{text}");
            };
            assert!(defect.contains(part), "{defect}");
        }
        let both = find_delimiter(b"a;b|c\n1;2|3\n", b',', Some(&Field::Number(2)), true);
        assert!(matches!(both, Delimiter::Unclear(defect) if defect.contains("';' and '|'")));
    }

    #[test]
    fn a_sample_is_awaited_only_if_it_decides() {
        let delimiter = |text: &[u8], is_all| find_delimiter(text, b',', None, is_all);
        assert_eq!(delimiter(b"url;title\nx;", false), Delimiter::NeedsMore);
        assert_eq!(delimiter(b"url,title\nx,", false), Delimiter::OfFormat);
        assert_eq!(delimiter(b"url\nx;y", false), Delimiter::OfFormat);
        // A record that the end of the sample cuts does not count.
        let mut long = b"url;title\n".to_vec();
        long.resize(SAMPLE - 3, b'x');
        long.extend_from_slice(b"\nabcdef;b\n");
        assert_eq!(delimiter(&long, true), delimiter(&long, false));
        let table = [b"url;title\n".to_vec(), b"a;b\n".repeat(SAMPLE)].concat();
        assert_eq!(delimiter(&table, false), Delimiter::Other(b';'));
    }

    #[test]
    fn the_line_of_excel_states_the_delimiter() {
        for (text, expected) in [
            ("sep=;\r\nurl;n\r\n", Some((b';', 7))),
            ("SEP=,\nurl\n", Some((b',', 6))),
            ("\"sep=|\"\nurl\n", Some((b'|', 8))),
            ("sep=\t\nurl\n", Some((b'\t', 6))),
            ("sep=;", Some((b';', 5))),
            ("sep=\nurl\n", None),
            ("sep=;;\nurl\n", None),
            ("url\n", None),
            ("", None),
        ] {
            assert_eq!(sep_line(text.as_bytes()), expected, "{text}");
        }
    }
}
