//! What a caller says about where URLs stand.

/// How an input is laid out; every form is one record a line, but CSV, whose quoted fields may hold line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// One URL a line.
    Text,
    /// Columns between tabs (or another [`delimiter`](RecordOptions::delimiter)), without quotes.
    Tsv,
    /// Columns between commas (or another delimiter), quoted as RFC 4180 has it.
    Csv,
    /// A JSON object a line.
    Jsonl,
    /// A crawl index: sort key, timestamp, JSON object.
    Cdxj,
    /// The older crawl index: fields between blanks, named by the letters of its first line, the URL in field `a`; without that line the
    /// third.
    Cdx,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// By its place, from 1.
    Number(usize),
    /// By its name in the first line, which is a header then.
    Name(String),
}

impl From<&str> for Field {
    /// A number from 1 is a place, all else a name.
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(number) if number > 0 => Self::Number(number),
            _ => Self::Name(text.to_owned()),
        }
    }
}

/// Where the URLs of inputs stand. The default tells each input's form by its name and its first line, and takes the column or key `url`.
///
/// ```
/// use robosieve::{Compiler, Filter, Input, Judge, JudgeOptions, Outputs, RecordOptions, Snapshot};
/// # let mut compiler = Compiler::default();
/// # compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /x")?;
/// # let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// # let judge = Judge::new(&snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
/// let mut kept = Vec::new();
/// let list = b"id,page\n1,e.example/a\n2,e.example/x\n".as_slice();
/// let options = RecordOptions { field: Some("page".into()), default_scheme: Some("https".into()), ..RecordOptions::default() };
/// let outputs = Outputs { kept: Some(&mut kept), ..Outputs::default() };
/// Filter::new(&judge).records(options).run(vec![Input::from_reader("list.csv", list)], outputs)?;
/// assert_eq!(kept, b"id,page\n1,e.example/a\n");
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordOptions {
    /// The form of all inputs; `None`: told for each by its name (`.txt`, `.tsv`, `.csv`, `.jsonl`, `.ndjson`, `.cdxj`, `.cdx`, each with `.gz`
    /// or `.zst` or without), else by its first line.
    pub format: Option<InputFormat>,
    /// The column of TSV and CSV; `None`: the one that the first line names `url`.
    pub field: Option<Field>,
    /// Whether the first line is a header though the column is given by its place.
    pub header: bool,
    /// What stands between columns; `None`: a tab in TSV, a comma in CSV.
    pub delimiter: Option<u8>,
    /// The key of JSON objects; `None`: `url`. With dots it is a key of that name or, if there is
    /// none, a path into nested objects: `a.b` is the key `b` of the object at `a`. Arrays are not
    /// entered.
    pub json_key: Option<String>,
    /// The scheme of URLs without one; `None`: these are no URLs. A text that begins with `scheme:`
    /// has one, unless a port follows (`localhost:80`).
    pub default_scheme: Option<String>,
    /// The host of URLs that are a path only, such as those of one site's access log: a host, or scheme and host. Without a scheme, that of
    /// `default_scheme` is taken, else `https`. `None`: paths are no URLs.
    pub host: Option<String>,
}

impl RecordOptions {
    /// Whether URLs are rewritten before they are judged.
    pub(super) fn rewrites(&self) -> bool {
        self.default_scheme.is_some() || self.host.is_some()
    }

    pub(super) fn key(&self) -> &str {
        self.json_key.as_deref().unwrap_or("url")
    }
}
