//! Refuses outputs with the file extension of another format.

use anyhow::bail;
use std::path::Path;

/// The format of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Lines like those of the input, or text such as JSON; compressed according to the extension.
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
    let mut path = path.to_owned();
    while let Some(extension) = known_extension(&path) {
        if ARCHIVES.contains(&extension) {
            return true;
        }
        path.set_extension("");
    }
    false
}

/// Refuses a file with the extension of another format; `option` names the output.
pub(crate) fn refuse_other_format(
    option: &str,
    path: &Path,
    format: OutputFormat,
) -> anyhow::Result<()> {
    refuse(option, path, format, |stem, extension| {
        format!("name it {}.{extension}", stem.display())
    })
}

/// [`refuse_other_format`] for an output with the name of its input; `option` names the directory.
pub(crate) fn refuse_other_format_of_input(
    option: &str,
    path: &Path,
    format: OutputFormat,
) -> anyhow::Result<()> {
    refuse(option, path, format, |stem, extension| {
        format!(
            "name the input {}.{extension}, or give it to a run of its own with -o",
            stem.file_name().unwrap_or_default().display()
        )
    })
}

fn refuse(
    option: &str,
    path: &Path,
    format: OutputFormat,
    advice: impl Fn(&Path, &str) -> String,
) -> anyhow::Result<()> {
    let (mut stem, mut extensions) = (path.to_owned(), Vec::new());
    while let Some(extension) = known_extension(&stem) {
        extensions.push(extension);
        stem.set_extension("");
    }
    let (shown, advice) = (path.display(), |extension| advice(&stem, extension));
    let first_in = |lists: &[&[&str]]| {
        extensions
            .iter()
            .find(|extension| lists.iter().any(|list| list.contains(*extension)))
    };
    match format {
        OutputFormat::Text => {
            if let Some(extension) = first_in(&[NOT_WRITTEN]) {
                bail!(
                    "{shown}: {option} cannot write .{extension}, only plain text, .gz and .zst; {}",
                    advice("zst")
                );
            }
            if let Some(extension) = first_in(&[PARQUET, TABLES]) {
                bail!(
                    "{shown}: {option} writes text here, and the name says .{extension}; {}. Parquet is written only if the \
                     inputs are Parquet files",
                    advice("txt")
                );
            }
        }
        OutputFormat::Warc => {
            if let Some(extension) = first_in(&[NOT_WRITTEN, PARQUET, TABLES, TEXT, CAPTURES]) {
                bail!(
                    "{shown}: {option} writes WARC records, as the inputs have, and the name says .{extension}; {}",
                    advice("warc.gz")
                );
            }
        }
        OutputFormat::Parquet => {
            if first_in(&[COMPRESSED]).is_some() {
                bail!(
                    "{shown}: {option} writes Parquet, as the inputs are, in a file that is not compressed as a whole; {}",
                    advice("parquet")
                );
            }
            if let Some(extension) = first_in(&[NOT_WRITTEN, TABLES, TEXT, ARCHIVES, CAPTURES]) {
                bail!(
                    "{shown}: {option} writes Parquet, as the inputs are, and the name says .{extension}; {}",
                    advice("parquet")
                );
            }
        }
        OutputFormat::Snapshot if !extensions.is_empty() => bail!(
            "{shown}: {option} names the snapshot to write, which is neither text nor an archive and is not compressed; {}",
            advice("rsieve")
        ),
        OutputFormat::Snapshot => {}
        OutputFormat::Captures => {
            if extensions
                .iter()
                .any(|extension| !CAPTURES.contains(extension))
            {
                bail!(
                    "{shown}: {option} names the captures file to write, which is compressed inside, and not as a whole; {}",
                    advice("captures")
                );
            }
        }
    }
    Ok(())
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
            let err = refuse_other_format("-o", Path::new(name), format)
                .unwrap_err()
                .to_string();
            let advice = format!("name it {advice}");
            assert!(
                err.contains(&advice) && err.contains("-o") && err.starts_with(name),
                "{err}"
            );
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
                refuse_other_format("-o", Path::new(name), format).unwrap();
            }
        }
    }
}
