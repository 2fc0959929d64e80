//! Refuses outputs whose name says another format than is written.
//!
//! The last extension says the format of a file, after `.gz` or `.zst` of a file that is compressed
//! as a whole. The words before it say where the data come from, or how it is compressed inside:
//! Spark and Delta Lake name a Parquet file `part-00000-c000.snappy.parquet`. They contradict
//! nothing.
//!
//! Refuses to replace a snapshot, captures or compiled lists by another format too. They take hours
//! to make, and a name without an extension does not protect them.

use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{ENOUGH, FileFormat};
use std::fs::File;
use std::io::Read;
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
    /// A compiled file of filter lists.
    FilterLists,
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
/// Extensions of text that say nothing about its lines.
const PLAIN_TEXT: &[&str] = &["txt", "text", "log", "list"];
/// Extensions of archives of pages.
const ARCHIVES: &[&str] = &["warc", "wet", "wat"];
/// Extensions of archives of pages that are read, and never written.
const OTHER_ARCHIVES: &[&str] = &["arc", "wacz"];
const CAPTURES: &[&str] = &["captures"];
const SNAPSHOTS: &[&str] = &["rsieve"];
const FILTER_LISTS: &[&str] = &["rlists"];

/// Whether a name is that of an archive of pages, compressed or not.
pub(crate) fn is_archive(path: &Path) -> bool {
    let format = KnownName::of(path).format();
    format.is_some_and(|extension| ARCHIVES.contains(&extension))
}

/// The name of an output that is named after its input: the same name, but for ARC and WACZ files,
/// whose records are written as WARC.
///
/// ```
/// use robosieve::output::name_after_input;
/// use std::path::Path;
/// assert_eq!(name_after_input("a/urls.txt.gz"), Path::new("a/urls.txt.gz"));
/// assert_eq!(name_after_input("a/IA-1.arc.gz"), Path::new("a/IA-1.warc.gz"));
/// assert_eq!(name_after_input("a/crawl.wacz"), Path::new("a/crawl.warc.gz"));
/// ```
pub fn name_after_input(input: impl AsRef<Path>) -> PathBuf {
    let input = input.as_ref();
    let name = KnownName::of(input);
    let ending = match name.extensions[..] {
        ["arc"] => ".warc",
        ["gz", "arc"] | ["wacz"] => ".warc.gz",
        ["zst", "arc"] => ".warc.zst",
        _ => return input.to_owned(),
    };
    let mut output = name.stem.into_os_string();
    output.push(ending);
    output.into()
}

/// The name of lines that are named after their input. `format` is their extension, if they
/// replace the lines of the input. A name that says another format gets it in addition, before that
/// of a compression: `a.csv` and `a.tsv` still have two outputs. A list that keeps its lines keeps
/// its name, and lines about the records of an archive are `tsv` without a `format`.
pub(crate) fn name_of_lines(input: &Path, format: Option<&'static str>) -> PathBuf {
    let name = KnownName::of(input);
    let unchanged = || input.to_owned();
    let Some(found) = name.format() else {
        return unchanged();
    };
    let format = if is_in(found, &[ARCHIVES, OTHER_ARCHIVES]) {
        format.unwrap_or("tsv")
    } else {
        match format {
            Some(format) if TEXT.contains(&found) && !fits_lines(found, format) => format,
            _ => return unchanged(),
        }
    };
    let mut output = input.to_owned();
    let mut compression = None;
    if name.last() != Some(found) {
        compression = input.extension();
        output.set_extension("");
    } else if found == "wacz" {
        // The files in a WACZ file are compressed, and so are lines about them.
        compression = Some("gz".as_ref());
    }
    let mut output = output.into_os_string();
    for extension in [Some(format.as_ref()), compression].into_iter().flatten() {
        output.push(".");
        output.push(extension);
    }
    output.into()
}

/// Whether the extension of a text may stay, although its lines become those of `format`.
fn fits_lines(extension: &str, format: &str) -> bool {
    let is_json = format == "jsonl" && ["json", "ndjson"].contains(&extension);
    extension == format || is_json || PLAIN_TEXT.contains(&extension)
}

impl OutputFormat {
    /// Refuses a path with the extension of another format, and that of an existing snapshot,
    /// captures file or file of compiled lists, unless this format is the same.
    ///
    /// ```
    /// use robosieve::output::OutputFormat;
    /// let err = OutputFormat::Text.check("kept.parquet").unwrap_err();
    /// assert!(err.to_string().contains("name it kept.txt"));
    /// assert!(OutputFormat::Text.check("kept.txt.gz").is_ok());
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadName`], with a suitable name; [`ErrorKind::BadOutput`] for an existing file.
    pub fn check(self, path: impl AsRef<Path>) -> Result<()> {
        self.refuse_name(path.as_ref(), NameOf::Output, "")
    }

    /// Refuses the path of an output that has the format of the inputs of a job.
    pub(crate) fn check_name(self, path: &Path, name_of: NameOf) -> Result<()> {
        let by_name = KnownName::of(path).format();
        let is_table = by_name.is_some_and(|extension| PARQUET.contains(&extension));
        let more = match self {
            Self::Text if is_table => {
                ". Parquet is written only if the inputs are Parquet files, which are named and not piped"
            }
            Self::Parquet => ". The inputs are Parquet files",
            _ => "",
        };
        self.refuse_name(path, name_of, more)
    }

    /// `more` is a sentence after the advice.
    fn refuse_name(self, path: &Path, name_of: NameOf, more: &str) -> Result<()> {
        let name = KnownName::of(path);
        let Some(NameDefect { what, extension }) = self.defect(&name) else {
            return self.refuse_existing(path);
        };
        let advice = name.advice(extension, name_of);
        Err(Error::from(ErrorKind::BadName(format!("{what}; {advice}{more}"))).at(path))
    }

    /// Refuses to replace a file of this program by another format.
    fn refuse_existing(self, path: &Path) -> Result<()> {
        let (what, same) = match existing_format(path) {
            Some(FileFormat::Snapshot) => ("a snapshot", Self::Snapshot),
            Some(FileFormat::Captures) => ("a captures file", Self::Captures),
            Some(FileFormat::FilterLists) => ("a file of compiled lists", Self::FilterLists),
            _ => return Ok(()),
        };
        if self == same {
            return Ok(());
        }
        let what = format!(
            "it is {what}, and {} would replace it; name another file, or remove this one first",
            self.content()
        );
        Err(Error::from(ErrorKind::BadOutput(what)).at(path))
    }

    /// What is written, for messages.
    fn content(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Warc => "WARC records",
            Self::Parquet => "a Parquet file",
            Self::Snapshot => "a snapshot",
            Self::Captures => "a captures file",
            Self::FilterLists => "compiled lists",
        }
    }

    /// The reason why this format does not fit a name.
    fn defect(self, name: &KnownName) -> Option<NameDefect> {
        // Each format refuses the extensions of the others. Some also refuse any compression as a
        // whole, because they compress inside.
        match self {
            Self::Text => {
                let extension = name.format()?;
                if NOT_WRITTEN.contains(&extension) {
                    let what = format!("cannot write .{extension}, only plain text, .gz and .zst");
                    return NameDefect::new(what, "zst");
                }
                let others = [
                    PARQUET,
                    TABLES,
                    ARCHIVES,
                    OTHER_ARCHIVES,
                    CAPTURES,
                    SNAPSHOTS,
                    FILTER_LISTS,
                ];
                if !is_in(extension, &others) {
                    return None;
                }
                let what = format!("text is written here, and the name says .{extension}");
                NameDefect::new(what, "txt")
            }
            Self::Warc => {
                let extension = name.format()?;
                if extension == "wacz" {
                    let what = "WARC records are written here; `wacz create -f FILE` makes a WACZ \
                                of them";
                    return NameDefect::new(what.to_owned(), "warc.gz");
                }
                let others = [
                    NOT_WRITTEN,
                    PARQUET,
                    TABLES,
                    TEXT,
                    OTHER_ARCHIVES,
                    CAPTURES,
                    SNAPSHOTS,
                    FILTER_LISTS,
                ];
                if !is_in(extension, &others) {
                    return None;
                }
                let what = format!(
                    "WARC records are written here, as the inputs have, and the name says \
                     .{extension}"
                );
                NameDefect::new(what, "warc.gz")
            }
            Self::Parquet => {
                let extension = name.last()?;
                if PARQUET.contains(&extension) {
                    return None;
                }
                let what = if COMPRESSED.contains(&extension) {
                    "Parquet is written here, in a file that is not compressed as a whole"
                        .to_owned()
                } else {
                    format!("Parquet is written here, and the name says .{extension}")
                };
                NameDefect::new(what, "parquet")
            }
            Self::Snapshot => {
                // Any other known extension is that of another format.
                if SNAPSHOTS.contains(&name.last()?) {
                    return None;
                }
                let what = "a snapshot is written here, which is neither text nor an archive and \
                            is not compressed";
                NameDefect::new(what.to_owned(), "rsieve")
            }
            Self::FilterLists => {
                if FILTER_LISTS.contains(&name.last()?) {
                    return None;
                }
                let what = "compiled lists are written here, which are not text and are not \
                            compressed";
                NameDefect::new(what.to_owned(), "rlists")
            }
            Self::Captures => {
                if CAPTURES.contains(&name.last()?) {
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
}

impl NameDefect {
    fn new(what: String, extension: &'static str) -> Option<Self> {
        Some(Self { what, extension })
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

    /// The last extension.
    fn last(&self) -> Option<&'static str> {
        self.extensions.first().copied()
    }

    /// The extension that says the format: the last one, before that of a compression which this
    /// program writes. `None` if only the compression is known.
    fn format(&self) -> Option<&'static str> {
        let is_compressed = self.last().is_some_and(|last| COMPRESSED.contains(&last));
        self.extensions.get(usize::from(is_compressed)).copied()
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

/// The format of an existing regular file; `None` if it cannot be read: creating the output tells
/// why. Opening a pipe would wait for its writer.
fn existing_format(path: &Path) -> Option<FileFormat> {
    if !path.is_file() {
        return None;
    }
    let mut start = Vec::new();
    let file = File::open(path).ok()?;
    file.take(ENOUGH as u64).read_to_end(&mut start).ok()?;
    FileFormat::of(&start)
}

/// Whether an extension is in one of the lists.
fn is_in(extension: &str, lists: &[&[&str]]) -> bool {
    lists.iter().any(|list| list.contains(&extension))
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
        OTHER_ARCHIVES,
        CAPTURES,
        SNAPSHOTS,
        FILTER_LISTS,
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
            (OutputFormat::Parquet, "x.snappy", "x.parquet"),
            (OutputFormat::Parquet, "x.parquet.snappy", "x.parquet"),
            (OutputFormat::Parquet, "x.snappy.parquet.gz", "x.parquet"),
            (OutputFormat::Parquet, "x.zstd.orc", "x.parquet"),
            (OutputFormat::Parquet, "x-c000.json.gz", "x-c000.parquet"),
            (OutputFormat::Text, "x.gz.parquet", "x.txt"),
            (OutputFormat::Text, "x.csv.snappy", "x.zst"),
            (OutputFormat::Text, "x.csv.snappy.gz", "x.zst"),
            (OutputFormat::Warc, "x.warc.bz2", "x.warc.gz"),
            (OutputFormat::Warc, "x.warc.parquet", "x.warc.gz"),
            (OutputFormat::Warc, "x.warc.txt.gz", "x.warc.gz"),
            (OutputFormat::Warc, "x.arc", "x.warc.gz"),
            (OutputFormat::Warc, "x.arc.gz", "x.warc.gz"),
            (OutputFormat::Text, "x.wacz", "x.txt"),
            (OutputFormat::Text, "x.arc.gz", "x.txt"),
            (OutputFormat::Text, "x.warc", "x.txt"),
            (OutputFormat::Text, "x.warc.gz", "x.txt"),
            (OutputFormat::Text, "x.wet.zst", "x.txt"),
            (OutputFormat::Text, "x.rsieve", "x.txt"),
            (OutputFormat::Text, "x.RLISTS", "x.txt"),
            (OutputFormat::Text, "x.captures", "x.txt"),
            (OutputFormat::Warc, "x.rsieve", "x.warc.gz"),
            (OutputFormat::Parquet, "x.rlists", "x.parquet"),
            (OutputFormat::Captures, "x.rsieve", "x.captures"),
            (OutputFormat::Snapshot, "x.rlists", "x.rsieve"),
            (OutputFormat::Snapshot, "x.rsieve.gz", "x.rsieve"),
            (OutputFormat::FilterLists, "x.rsieve", "x.rlists"),
            (OutputFormat::Snapshot, "x.warc.gz", "x.rsieve"),
            (OutputFormat::Snapshot, "x.zst", "x.rsieve"),
            (OutputFormat::Snapshot, "x.parquet", "x.rsieve"),
            (OutputFormat::Snapshot, "x.captures", "x.rsieve"),
            (OutputFormat::FilterLists, "x.txt.gz", "x.rlists"),
            (OutputFormat::Captures, "x.captures.gz", "x.captures"),
            (OutputFormat::Captures, "x.jsonl", "x.captures"),
        ] {
            let err = format.check(name).unwrap_err().to_string();
            let advice = format!("name it {advice}");
            assert!(err.contains(&advice) && err.starts_with(name), "{err}");
        }
    }

    #[test]
    fn a_wacz_is_made_by_another_program() {
        let err = OutputFormat::Warc.check("x.wacz").unwrap_err().to_string();
        assert!(err.contains("`wacz create -f FILE` makes a WACZ of them; name it x.warc.gz"));
    }

    #[test]
    fn outputs_of_converted_inputs_are_named_as_what_they_are() {
        for (input, output) in [
            ("x.ARC", "x.warc"),
            ("x.y.wacz", "x.y.warc.gz"),
            ("x.arc.gz.txt", "x.arc.gz.txt"),
            ("x.arc.zst", "x.warc.zst"),
            ("x.warc.gz", "x.warc.gz"),
            ("arc", "arc"),
        ] {
            assert_eq!(name_after_input(input), Path::new(output), "{input}");
        }
    }

    #[test]
    fn lines_are_named_as_what_they_are() {
        for (format, input, output) in [
            (None, "d.warc/x.warc", "d.warc/x.warc.tsv"),
            (None, "x.warc.wet.gz", "x.warc.wet.tsv.gz"),
            (None, "x.warc.ZST", "x.warc.tsv.ZST"),
            (None, "x.wacz", "x.wacz.tsv.gz"),
            (None, "x.arc.gz", "x.arc.tsv.gz"),
            (None, "x.csv", "x.csv"),
            (None, "x.warc.txt", "x.warc.txt"),
            (None, "x.parquet", "x.parquet"),
            (Some("jsonl"), "x.warc.gz", "x.warc.jsonl.gz"),
            (Some("jsonl"), "x.csv", "x.csv.jsonl"),
            (Some("jsonl"), "x.csv.zst", "x.csv.jsonl.zst"),
            (Some("jsonl"), "x.jsonl.gz", "x.jsonl.gz"),
            (Some("jsonl"), "x.txt", "x.txt"),
            (Some("jsonl"), "x.ndjson", "x.ndjson"),
            (Some("jsonl"), "x.parquet", "x.parquet"),
            (Some("jsonl"), "x.cdxj", "x.cdxj.jsonl"),
            (Some("txt"), "x.jsonl", "x.jsonl.txt"),
            (Some("txt"), "x.list", "x.list"),
            (Some("jsonl"), "part-0", "part-0"),
            (Some("jsonl"), "x.gz", "x.gz"),
        ] {
            let input = Path::new(input);
            assert_eq!(name_of_lines(input, format), Path::new(output), "{input:?}");
        }
    }

    #[test]
    fn files_of_this_program_are_replaced_by_their_own_format_only() {
        use crate::file_format::{CAPTURES_MAGIC, LISTS_MAGIC, SNAPSHOT_MAGIC};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let formats = [
            OutputFormat::Text,
            OutputFormat::Warc,
            OutputFormat::Parquet,
            OutputFormat::Snapshot,
            OutputFormat::Captures,
            OutputFormat::FilterLists,
        ];
        for (magic, own, what) in [
            (SNAPSHOT_MAGIC, OutputFormat::Snapshot, "it is a snapshot"),
            (CAPTURES_MAGIC, OutputFormat::Captures, "is a captures file"),
            (
                LISTS_MAGIC,
                OutputFormat::FilterLists,
                "is a file of compiled lists",
            ),
        ] {
            std::fs::write(&path, magic).unwrap();
            for format in formats {
                let checked = format.check(&path).map_err(|err| err.to_string());
                if format == own {
                    checked.unwrap();
                } else {
                    let err = checked.unwrap_err();
                    assert!(
                        err.contains(what) && err.contains("name another file"),
                        "{err}"
                    );
                }
            }
        }
        std::fs::write(&path, "https://h.example/\n").unwrap();
        for format in formats {
            format.check(&path).unwrap();
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
                    "x.warc.tsv",
                    "web.rsieve.txt.gz",
                    "a.example",
                    // Lists of URLs made of other files.
                    "pages.parquet.txt",
                    "archive.tar.urls.csv.gz",
                    "part-00000-c000.json.gz",
                ][..],
            ),
            (
                OutputFormat::Warc,
                &["x", "x.warc", "x.warc.gz", "x.wet.zst", "urls.csv.warc.gz"],
            ),
            (
                OutputFormat::Parquet,
                &["x", "x.parquet", "x.PQ", "part-0.c000", "urls.csv.parquet"],
            ),
            (
                OutputFormat::Snapshot,
                &["x", "x.rsieve", "web.2024", "a.example"],
            ),
            (OutputFormat::FilterLists, &["x", "x.rlists", "own.2024"]),
            (
                OutputFormat::Captures,
                &[
                    "x",
                    "x.captures",
                    "2026.captures",
                    "a.example",
                    "x.warc.gz.captures",
                ],
            ),
        ] {
            for name in names {
                format.check(name).unwrap();
            }
        }
    }

    /// Writers of Parquet files put the compression of the pages before `.parquet`: parquet-java
    /// (Spark) `.lz4hadoop` and `.lz4raw`, delta-rs `.br`, both `.gz`, `.snappy` and `.zstd`.
    #[test]
    fn compressions_inside_parquet_are_accepted() {
        for codec in [
            "snappy",
            "gz",
            "gzip",
            "zstd",
            "zst",
            "lz4",
            "lz4raw",
            "lz4hadoop",
            "lzo",
            "br",
            "brotli",
            "uncompressed",
            "SNAPPY",
        ] {
            for name in [
                format!("part-00000-b5d48b46-c000.{codec}.parquet"),
                format!("part-00000-b5d48b46.c000.{codec}.parquet"),
                format!("lang=de/part-r-00000.{codec}.parq"),
            ] {
                OutputFormat::Parquet.check(&name).unwrap();
                let err = OutputFormat::Text.check(&name).unwrap_err().to_string();
                assert!(err.contains("text is written here"), "{err}");
            }
        }
    }
}
