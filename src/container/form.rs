//! The forms of annotations.

use crate::atomic::output_name::name_of_lines;
use crate::named_value::named_values;
use std::path::{Path, PathBuf};

/// The form in which annotating adds verdicts.
///
/// Lists take all but the last two: annotating writes lines for them. WARC files take letters, JSON
/// and masks. Parquet files take the last two: annotating adds columns to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// One letter per agent ([`Verdict::letter`](crate::Verdict::letter)), TAB, the line unchanged.
    /// A header becomes the names of the agents, separated by commas, TAB, the header. This is the
    /// default for lines.
    ///
    /// The line of a record of a WARC file is its URL, or `-`.
    Letters,
    /// A JSON object. An object of the input gets a new last key `robots`, which it must not have: an
    /// object with the verdict ([`Verdict::name`](crate::Verdict::name)) of each agent by its name. Any other line
    /// becomes the string at the key `url` of a new object, or at `line` if it is more than a URL.
    /// Bytes that are not UTF-8 are replaced. A header is left out.
    ///
    /// A record of a WARC file becomes an object with the keys `url` (if there is one), `type`,
    /// `offset`, `length`, `date`, `id` (as far as the record has them), and `robots`. `offset` and
    /// `length` are those of the gzip member, in other files those of the record after
    /// decompression.
    Jsonl,
    /// Columns of a table: for each agent the verdict by its [name](crate::Verdict::name), then added
    /// values, then the record with its bytes unchanged. CSV and TSV have this form, with their own
    /// delimiter. A header becomes the names of the columns, `robots_AGENT` and so on, before the
    /// header. A byte order mark, and Excel's line `sep=;`, stay in front.
    Csv,
    /// One digit per agent and nothing else: 1 if the agent may fetch the URL, else 0. One line per
    /// record; a header has none.
    Mask,
    /// One `int64` column for up to 63 agents: bit 0 is set if the first agent may fetch the URL,
    /// bit 1 for the second, and so on. (Spark refuses unsigned columns.) It is null if the URL is
    /// null, if it is not a URL, and if its origin is unknown, because a mask has no bits for
    /// these. This is the default for Parquet files.
    Bits,
    /// An `int8` column for each agent, with the numbers of
    /// [`Verdict::code`](crate::Verdict::code): 0 disallowed, 1 allowed, 2 unknown origin, 3 not a
    /// URL. Only rows whose URL is null are null.
    Int8,
}

named_values! {
    /// The name on the command line.
    Form {
        Letters = "letters",
        Jsonl = "jsonl",
        Csv = "csv",
        Mask = "mask",
        Bits = "bits",
        Int8 = "int8",
    }
}

impl Form {
    /// The name of annotations that are named after their input; `None` is the default form.
    ///
    /// JSON lines and masks replace the lines of the input, and a line per record replaces an
    /// archive. A name that says another format then gets an extension more. Otherwise this is the
    /// name of the input.
    ///
    /// ```
    /// use robosieve::job::Form;
    /// use std::path::Path;
    /// let name = Form::output_name;
    /// assert_eq!(name(None, "a/urls.csv.gz"), Path::new("a/urls.csv.gz"));
    /// assert_eq!(name(None, "a/pages.warc.gz"), Path::new("a/pages.warc.tsv.gz"));
    /// assert_eq!(name(Some(Form::Jsonl), "a/urls.csv.gz"), Path::new("a/urls.csv.jsonl.gz"));
    /// assert_eq!(name(Some(Form::Mask), "a/urls.csv"), Path::new("a/urls.csv.txt"));
    /// ```
    pub fn output_name(form: Option<Self>, input: impl AsRef<Path>) -> PathBuf {
        let extension = match form {
            Some(Self::Jsonl) => Some("jsonl"),
            Some(Self::Mask) => Some("txt"),
            _ => None,
        };
        name_of_lines(input.as_ref(), extension)
    }
}

/// The forms of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineForm {
    Letters,
    Jsonl,
    Csv,
    Mask,
}
