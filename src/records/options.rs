//! The options for the position of URLs in records.

use crate::named_value::named_values;

/// The format of an input. Every format has one record per line, except CSV, whose quoted fields
/// may contain line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputFormat {
    /// One URL per line.
    Text,
    /// Columns separated by tabs (or another [`delimiter`](RecordOptions::delimiter)), without
    /// quotes.
    Tsv,
    /// Columns separated by commas (or another delimiter), quoted as in RFC 4180.
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// A crawl index: sort key, timestamp, JSON object.
    Cdxj,
    /// The older crawl index: fields separated by blanks. The letters of the first line name them,
    /// and field `a` is the URL. Without that line it is the third field.
    Cdx,
}

named_values! {
    /// The name on the command line.
    InputFormat {
        Text = "text",
        Tsv = "tsv",
        Csv = "csv",
        Jsonl = "jsonl",
        Cdxj = "cdxj",
        Cdx = "cdx",
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// By its number, from 1.
    Number(usize),
    /// By its name in the first line, which is then a header.
    Name(String),
}

impl From<&str> for Field {
    /// A number from 1 is a column's number, any other text a name.
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(number) if number > 0 => Self::Number(number),
            _ => Self::Name(text.to_owned()),
        }
    }
}

/// The position of the URLs in the records of inputs. By default each input's name and first line
/// decide its format, and the URL is in the column or key `url`.
///
/// ```
/// use robosieve::job::{Input, Job, Output, Outputs};
/// use robosieve::records::{Field, RecordOptions};
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// # let mut compiler = Compiler::default();
/// # compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
/// # let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// # let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let mut kept = Vec::new();
/// let list = b"id,page\n1,e.example/a\n2,e.example/x\n".as_slice();
/// let options = RecordOptions::default().field(Field::from("page"));
/// let options = options.default_scheme("https".to_owned());
/// let outputs = Outputs { kept: Some(Output::from_writer(&mut kept)), ..Outputs::default() };
/// let inputs = vec![Input::from_reader("list.csv", list)];
/// Job::new(&judge).records(options).filter(inputs, outputs)?.commit()?;
/// assert_eq!(kept, b"id,page\n1,e.example/a\n");
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// The format of all inputs. With `None` the name of each input decides (`.txt`, `.tsv`,
    /// `.csv`, `.jsonl`, `.ndjson`, `.cdxj`, `.cdx`, also followed by `.gz` or `.zst`), else its
    /// first lines. A text is a table if its first line has columns, and the fields of TSV are quoted
    /// if its first records show that.
    pub format: Option<InputFormat>,
    /// The column of TSV and CSV; `None` for the one that the first line names `url`, or that has
    /// another name that is usual for URLs (`docs/SEMANTICS.md`). Without a
    /// [`json_key`](Self::json_key), a name is also that of the key of JSON objects, and the reverse.
    pub field: Option<Field>,
    /// Whether the first line is a header although the column is given by number.
    pub header: bool,
    /// The byte between columns; `None` for a tab in TSV and a comma in CSV, or for another
    /// delimiter on which the first records agree.
    pub delimiter: Option<u8>,
    /// The key of JSON objects; `None` for `url`, or for another key that is usual for URLs. With dots it is a key of that name or, if there
    /// is none, a path into nested objects: `a.b` is the key `b` of the object at `a`. Arrays are
    /// not searched.
    pub json_key: Option<String>,
    /// The scheme for URLs without one; with `None` such texts are not URLs. A text that begins
    /// with `scheme:` has a scheme, unless a port follows (`localhost:80`).
    pub default_scheme: Option<String>,
    /// The host for URLs that are only a path, as in the access log of one site: a host, or scheme
    /// and host. Without a scheme it is `default_scheme`, else `https`. With `None` paths are
    /// not URLs.
    pub host: Option<String>,
    /// The column or JSON key of the time by whose rules each record is judged; `None` if records
    /// have none. A name is matched as that of the URLs is, and numbers are for CSV, TSV and CDX.
    ///
    /// Times are RFC 3339 (without a zone in UTC), `YYYYMMDDhhmmss`, or seconds, milliseconds,
    /// microseconds or nanoseconds since 1970 with 10, 13, 16 or 19 digits. A date, a month or a year
    /// stands for its last second. Parquet columns may also be timestamps and dates.
    pub as_of_column: Option<Field>,
    /// Whether each record is judged by the rules of its own time: `WARC-Date` of a WARC record, the
    /// timestamp of a line of a CDXJ or CDX index. It is an error for other inputs.
    pub as_of_record: bool,
}

impl RecordOptions {
    /// Sets [`format`](Self::format).
    pub fn format(mut self, format: impl Into<Option<InputFormat>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets [`field`](Self::field).
    pub fn field(mut self, field: impl Into<Option<Field>>) -> Self {
        self.field = field.into();
        self
    }

    /// Sets [`header`](Self::header).
    pub fn header(mut self, header: bool) -> Self {
        self.header = header;
        self
    }

    /// Sets [`delimiter`](Self::delimiter).
    pub fn delimiter(mut self, delimiter: impl Into<Option<u8>>) -> Self {
        self.delimiter = delimiter.into();
        self
    }

    /// Sets [`json_key`](Self::json_key).
    pub fn json_key(mut self, json_key: impl Into<Option<String>>) -> Self {
        self.json_key = json_key.into();
        self
    }

    /// Sets [`default_scheme`](Self::default_scheme).
    pub fn default_scheme(mut self, default_scheme: impl Into<Option<String>>) -> Self {
        self.default_scheme = default_scheme.into();
        self
    }

    /// Sets [`host`](Self::host).
    pub fn host(mut self, host: impl Into<Option<String>>) -> Self {
        self.host = host.into();
        self
    }

    /// Sets [`as_of_column`](Self::as_of_column).
    pub fn as_of_column(mut self, as_of_column: impl Into<Option<Field>>) -> Self {
        self.as_of_column = as_of_column.into();
        self
    }

    /// Sets [`as_of_record`](Self::as_of_record).
    pub fn as_of_record(mut self, as_of_record: bool) -> Self {
        self.as_of_record = as_of_record;
        self
    }

    /// Whether records have times.
    pub(crate) fn has_times(&self) -> bool {
        self.as_of_column.is_some() || self.as_of_record
    }

    /// Whether URLs are rewritten before they are judged.
    pub(super) fn rewrites(&self) -> bool {
        self.default_scheme.is_some() || self.host.is_some()
    }

    pub(super) fn key(&self) -> &str {
        self.json_key.as_deref().unwrap_or("url")
    }
}
