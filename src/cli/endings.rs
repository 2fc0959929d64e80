//! Refuses outputs whose name says another format than is written.

use anyhow::bail;
use std::path::Path;

/// What an output holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Lines as those of the input, or text such as JSON; compressed by the name.
    Text,
    /// A Parquet file.
    Parquet,
    /// A snapshot.
    Snapshot,
}

/// The endings of compressed text that is written.
const COMPRESSED: &[&str] = &["gz", "zst"];
/// Compressions and archives that nothing here writes. `br` is not one of them: that is a country
/// too.
const NOT_WRITTEN: &[&str] = &[
    "xz", "bz2", "lz4", "zip", "7z", "lzma", "lzo", "z", "rar", "tar", "tgz", "tbz2", "txz", "bz", "bgz", "gzip",
    "zstd", "snappy", "brotli",
];
const PARQUET: &[&str] = &["parquet", "parq", "pq"];
/// Tables of other tools.
const TABLES: &[&str] = &["arrow", "feather", "orc", "avro", "xlsx"];
const TEXT: &[&str] = &[
    "txt", "text", "tsv", "tab", "csv", "json", "jsonl", "ndjson", "cdx", "cdxj", "log", "list", "html", "svg", "warc",
];

/// Refuses a file whose ending says that it holds something else; `option` names it.
pub(crate) fn refuse_other_format(option: &str, path: &Path, format: Format) -> anyhow::Result<()> {
    refuse(option, path, format, |stem, ending| format!("name it {}.{ending}", stem.display()))
}

/// [`refuse_other_format`] of an output that has the name of its input; `option` names the directory.
pub(crate) fn refuse_other_format_of_input(option: &str, path: &Path, format: Format) -> anyhow::Result<()> {
    refuse(option, path, format, |stem, ending| {
        format!(
            "name the input {}.{ending}, or give it to a run of its own with -o",
            stem.file_name().unwrap_or_default().display()
        )
    })
}

fn refuse(option: &str, path: &Path, format: Format, advice: impl Fn(&Path, &str) -> String) -> anyhow::Result<()> {
    let (mut stem, mut endings) = (path.to_owned(), Vec::new());
    while let Some(ending) = known_ending(&stem) {
        endings.push(ending);
        stem.set_extension("");
    }
    let (shown, advice) = (path.display(), |ending| advice(&stem, ending));
    let first_in = |lists: &[&[&str]]| endings.iter().find(|ending| lists.iter().any(|list| list.contains(*ending)));
    match format {
        Format::Text => {
            if let Some(ending) = first_in(&[NOT_WRITTEN]) {
                bail!("{shown}: {option} cannot write .{ending}, only plain text, .gz and .zst; {}", advice("zst"));
            }
            if let Some(ending) = first_in(&[PARQUET, TABLES]) {
                bail!(
                    "{shown}: {option} writes text here, and the name says .{ending}; {}. Parquet is written only where the inputs are \
                     Parquet files",
                    advice("txt")
                );
            }
        }
        Format::Parquet => {
            if first_in(&[COMPRESSED]).is_some() {
                bail!(
                    "{shown}: {option} writes Parquet, as the inputs are, in a file that is not compressed as a whole; {}",
                    advice("parquet")
                );
            }
            if let Some(ending) = first_in(&[NOT_WRITTEN, TABLES, TEXT]) {
                bail!(
                    "{shown}: {option} writes Parquet, as the inputs are, and the name says .{ending}; {}",
                    advice("parquet")
                );
            }
        }
        Format::Snapshot if !endings.is_empty() => bail!(
            "{shown}: {option} names the snapshot to write, which is neither text nor an archive and is not compressed; {}",
            advice("rsieve")
        ),
        Format::Snapshot => {}
    }
    Ok(())
}

/// The last ending of a name, if it says a format.
fn known_ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?;
    let mut all = [COMPRESSED, NOT_WRITTEN, PARQUET, TABLES, TEXT].into_iter().flatten().copied();
    all.find(|known| known.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_says_another_format_is_refused_with_one_that_fits() {
        for (format, name, advice) in [
            (Format::Text, "x.xz", "x.zst"),
            (Format::Text, "d.1/x.txt.BZ2", "d.1/x.zst"),
            (Format::Text, "x.lz4", "x.zst"),
            (Format::Text, "x.zip", "x.zst"),
            (Format::Text, "x.parquet", "x.txt"),
            (Format::Text, "x.parquet.zst", "x.txt"),
            (Format::Text, "x.arrow", "x.txt"),
            (Format::Parquet, "x.jsonl", "x.parquet"),
            (Format::Parquet, "x.csv.gz", "x.parquet"),
            (Format::Parquet, "x.parquet.gz", "x.parquet"),
            (Format::Parquet, "x.zst", "x.parquet"),
            (Format::Parquet, "x.xz", "x.parquet"),
            (Format::Snapshot, "x.warc.gz", "x.rsieve"),
            (Format::Snapshot, "x.zst", "x.rsieve"),
            (Format::Snapshot, "x.parquet", "x.rsieve"),
        ] {
            let err = refuse_other_format("-o", Path::new(name), format).unwrap_err().to_string();
            let advice = format!("name it {advice}");
            assert!(err.contains(&advice) && err.contains("-o") && err.starts_with(name), "{err}");
        }
    }

    #[test]
    fn other_names_are_free() {
        for (format, names) in [
            (Format::Text, &["x", "x.txt", "x.txt.gz", "x.zst", "x.GZ", "urls.br", "x.warc", "a.example"][..]),
            (Format::Parquet, &["x", "x.parquet", "x.PQ", "part-0.c000"]),
            (Format::Snapshot, &["x", "x.rsieve", "web.2024", "a.example"]),
        ] {
            for name in names {
                refuse_other_format("-o", Path::new(name), format).unwrap();
            }
        }
    }
}
