//! Refuses outputs whose name says another format than is written.

use crate::error::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// The format of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// Lines like those of the input, or text such as JSON; compressed as the extension says.
    Text,
    /// WARC records, plain or as gzip members.
    Warc,
    /// A Parquet file.
    Parquet,
    /// A snapshot.
    Snapshot,
    /// A captures file.
    Captures,
}

/// Whose name an output has: advice names the file to rename.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameOf {
    Output,
    /// The output is in another directory, under the name of its input.
    Input,
}

/// Extensions of compressed text that this program writes.
const COMPRESSED: &[&str] = &["gz", "zst"];
/// Extensions of compressions and archives that this program does not write. `br` is missing: it is
/// also a top-level domain.
const NOT_WRITTEN: &[&str] = &[
    "xz", "bz2", "lz4", "zip", "7z", "lzma", "lzo", "z", "rar", "tar", "tgz", "tbz2", "txz", "bz",
    "bgz", "gzip", "zstd", "snappy", "brotli",
];
const PARQUET: &[&str] = &["parquet", "parq", "pq"];
/// Extensions of other table formats.
const TABLES: &[&str] = &["arrow", "feather", "orc", "avro", "xlsx"];
const TEXT: &[&str] = &[
    "txt", "text", "tsv", "tab", "csv", "json", "jsonl", "ndjson", "cdx", "cdxj", "log", "list",
    "html", "svg",
];
/// Extensions of archives of pages.
const ARCHIVES: &[&str] = &["warc", "wet", "wat"];
const CAPTURES: &[&str] = &["captures"];

/// Whether a name is that of an archive of pages, compressed or not.
pub(crate) fn is_archive(path: &Path) -> bool {
    KnownName::of(path).first_in(&[ARCHIVES]).is_some()
}

impl OutputFormat {
    /// Refuses a path with the extension of another format.
    ///
    /// ```
    /// use robosieve::output::OutputFormat;
    /// let err = OutputFormat::Text.check("kept.parquet").unwrap_err();
    /// assert!(err.to_string().contains("name it kept.txt"));
    /// assert!(OutputFormat::Text.check("kept.txt.gz").is_ok());
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadName`], with a suitable name.
    pub fn check(self, path: impl AsRef<Path>) -> Result<()> {
        self.check_name(path.as_ref(), NameOf::Output)
    }

    pub(crate) fn check_name(self, path: &Path, name_of: NameOf) -> Result<()> {
        let name = KnownName::of(path);
        match self.defect(&name) {
            None => Ok(()),
            Some(defect) => {
                let NameDefect {
                    what,
                    extension,
                    more,
                } = defect;
                let advice = name.advice(extension, name_of);
                Err(Error::from(ErrorKind::BadName(format!("{what}; {advice}{more}"))).at(path))
            }
        }
    }

    /// The reason why this format does not fit a name.
    fn defect(self, name: &KnownName) -> Option<NameDefect> {
        // Each format refuses the extensions of the others. Some also refuse any compression as a
        // whole, because they compress inside.
        match self {
            Self::Text => {
                if let Some(extension) = name.first_in(&[NOT_WRITTEN]) {
                    let what = format!("cannot write .{extension}, only plain text, .gz and .zst");
                    return NameDefect::new(what, "zst");
                }
                let extension = name.first_in(&[PARQUET, TABLES])?;
                Some(NameDefect {
                    what: format!("text is written here, and the name says .{extension}"),
                    extension: "txt",
                    more: ". Parquet is written only if the inputs are Parquet files",
                })
            }
            Self::Warc => {
                let extension = name.first_in(&[NOT_WRITTEN, PARQUET, TABLES, TEXT, CAPTURES])?;
                let what = format!(
                    "WARC records are written here, as the inputs have, and the name says \
                     .{extension}"
                );
                NameDefect::new(what, "warc.gz")
            }
            Self::Parquet => {
                if name.first_in(&[COMPRESSED]).is_some() {
                    let what = "Parquet is written here, as the inputs are, in a file that is not \
                                compressed as a whole";
                    return NameDefect::new(what.to_owned(), "parquet");
                }
                let extension = name.first_in(&[NOT_WRITTEN, TABLES, TEXT, ARCHIVES, CAPTURES])?;
                let what = format!(
                    "Parquet is written here, as the inputs are, and the name says .{extension}"
                );
                NameDefect::new(what, "parquet")
            }
            Self::Snapshot => {
                if name.extensions.is_empty() {
                    return None;
                }
                let what = "a snapshot is written here, which is neither text nor an archive and \
                            is not compressed";
                NameDefect::new(what.to_owned(), "rsieve")
            }
            Self::Captures => {
                if name
                    .extensions
                    .iter()
                    .all(|extension| CAPTURES.contains(extension))
                {
                    return None;
                }
                let what = "a captures file is written here, which is compressed inside, and not \
                            as a whole";
                NameDefect::new(what.to_owned(), "captures")
            }
        }
    }
}

/// A name that does not fit a format.
struct NameDefect {
    what: String,
    /// A suitable extension.
    extension: &'static str,
    /// A sentence after the advice.
    more: &'static str,
}

impl NameDefect {
    fn new(what: String, extension: &'static str) -> Option<Self> {
        Some(Self {
            what,
            extension,
            more: "",
        })
    }
}

/// A path, and the extensions of known formats at its end.
struct KnownName {
    /// The path without these extensions.
    stem: PathBuf,
    /// The last comes first.
    extensions: Vec<&'static str>,
}

impl KnownName {
    fn of(path: &Path) -> Self {
        let mut name = Self {
            stem: path.to_owned(),
            extensions: Vec::new(),
        };
        while let Some(extension) = known_extension(&name.stem) {
            name.extensions.push(extension);
            name.stem.set_extension("");
        }
        name
    }

    fn first_in(&self, lists: &[&[&str]]) -> Option<&'static str> {
        let mut extensions = self.extensions.iter().copied();
        extensions.find(|extension| lists.iter().any(|list| list.contains(extension)))
    }

    fn advice(&self, extension: &str, name_of: NameOf) -> String {
        match name_of {
            NameOf::Output => format!("name it {}.{extension}", self.stem.display()),
            NameOf::Input => format!(
                "name the input {}.{extension}, or give it to a run of its own with another output",
                self.stem.file_name().unwrap_or_default().display()
            ),
        }
    }
}

/// The last extension of a name, if it belongs to a known format.
fn known_extension(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?;
    let mut all = [
        COMPRESSED,
        NOT_WRITTEN,
        PARQUET,
        TABLES,
        TEXT,
        ARCHIVES,
        CAPTURES,
    ]
    .into_iter()
    .flatten()
    .copied();
    all.find(|known| known.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_extensions_are_refused_with_advice() {
        for (format, name, advice) in [
            (OutputFormat::Text, "x.xz", "x.zst"),
            (OutputFormat::Text, "d.1/x.txt.BZ2", "d.1/x.zst"),
            (OutputFormat::Text, "x.lz4", "x.zst"),
            (OutputFormat::Text, "x.zip", "x.zst"),
            (OutputFormat::Text, "x.parquet", "x.txt"),
            (OutputFormat::Text, "x.parquet.zst", "x.txt"),
            (OutputFormat::Text, "x.arrow", "x.txt"),
            (OutputFormat::Parquet, "x.jsonl", "x.parquet"),
            (OutputFormat::Parquet, "x.csv.gz", "x.parquet"),
            (OutputFormat::Parquet, "x.parquet.gz", "x.parquet"),
            (OutputFormat::Parquet, "x.zst", "x.parquet"),
            (OutputFormat::Parquet, "x.xz", "x.parquet"),
            (OutputFormat::Snapshot, "x.warc.gz", "x.rsieve"),
            (OutputFormat::Snapshot, "x.zst", "x.rsieve"),
            (OutputFormat::Snapshot, "x.parquet", "x.rsieve"),
            (OutputFormat::Snapshot, "x.captures", "x.rsieve"),
            (OutputFormat::Captures, "x.captures.gz", "x.captures"),
            (OutputFormat::Captures, "x.jsonl", "x.captures"),
        ] {
            let err = format.check(name).unwrap_err().to_string();
            let advice = format!("name it {advice}");
            assert!(err.contains(&advice) && err.starts_with(name), "{err}");
        }
    }

    #[test]
    fn other_names_are_accepted() {
        for (format, names) in [
            (
                OutputFormat::Text,
                &[
                    "x",
                    "x.txt",
                    "x.txt.gz",
                    "x.zst",
                    "x.GZ",
                    "urls.br",
                    "x.warc",
                    "a.example",
                ][..],
            ),
            (
                OutputFormat::Parquet,
                &["x", "x.parquet", "x.PQ", "part-0.c000"],
            ),
            (
                OutputFormat::Snapshot,
                &["x", "x.rsieve", "web.2024", "a.example"],
            ),
            (
                OutputFormat::Captures,
                &["x", "x.captures", "2026.captures", "a.example"],
            ),
        ] {
            for name in names {
                format.check(name).unwrap();
            }
        }
    }
}
