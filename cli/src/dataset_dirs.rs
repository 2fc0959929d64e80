//! The directories that query engines write: markers that are not inputs, and tables with a log.
//!
//! Spark and other engines put markers beside the data, such as `_SUCCESS` and `_temporary`. Other
//! names that begin with `_` are inputs: a list that is skipped without a word is lost.
//!
//! A table of Delta Lake, Iceberg or Hudi is a directory of data files, and a log that lists those
//! which hold its rows. The others hold rows that were deleted or replaced, and stay for older
//! versions of the table. The log may also delete single rows of a file. Only the engine of the
//! table knows its rows.

use anyhow::bail;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

/// Files and directories of Hadoop, Spark, Hive, Impala, parquet-java and Delta Lake. `_temporary`
/// and the like hold files of tasks that have not ended or have failed.
const MARKERS: &[&str] = &[
    "_SUCCESS",
    "_metadata",
    "_common_metadata",
    "_temporary",
    "_logs",
    "_spark_metadata",
    "_impala_insert_staging",
    "_delta_log",
    "_delta_index",
    "_change_data",
    "_symlink_format_manifest",
];
/// The files of Databricks' commit protocol, with the number of a transaction after them.
const MARKER_PREFIXES: &[&str] = &["_committed_", "_started_"];
/// The end of the name of a file that `hdfs dfs -put` has not completed.
const INCOMPLETE: &str = "._COPYING_";

/// Whether a file or directory has the name of an engine's marker.
pub(crate) fn is_marker(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        MARKERS.contains(&name)
            || MARKER_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
            || name.ends_with(INCOMPLETE)
    })
}

/// Refuses directories of tables whose log decides which rows they have: the directory of a table,
/// and those below it.
///
/// Cost: three look-ups for each directory, and for each one above it that is not yet seen.
pub(crate) fn refuse_tables<'p>(dirs: impl IntoIterator<Item = &'p Path>) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    let mut last = None;
    for dir in dirs {
        // The files of a glob are sorted, so those of one directory follow each other.
        if last.replace(dir) == Some(dir) {
            continue;
        }
        let here = Path::new(".");
        let shown = if dir.as_os_str().is_empty() {
            here
        } else {
            dir
        };
        // Links are followed, and `..` is resolved. The run names a directory that it cannot read.
        let Ok(real) = shown.canonicalize() else {
            continue;
        };
        for above in real.ancestors() {
            if !seen.insert(above.to_owned()) {
                break;
            }
            if let Some(table) = Table::at(above) {
                bail!(
                    "{}: belongs to the {} table {}, whose files also hold rows that were deleted \
                     or replaced; write its current rows to plain files with its engine, or judge \
                     the column of URLs there (robosieve.spark.with_verdicts, Snapshot.verdicts of \
                     the Python package). Files that are named one by one are read as they are",
                    shown.display(),
                    table.name(),
                    above.display()
                );
            }
        }
    }
    Ok(())
}

/// A kind of table with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    DeltaLake,
    Iceberg,
    Hudi,
}

impl Table {
    /// The kind of the table in a directory, by its log.
    fn at(dir: &Path) -> Option<Self> {
        if dir.join("_delta_log").is_dir() {
            Some(Self::DeltaLake)
        } else if dir.join(".hoodie").is_dir() {
            Some(Self::Hudi)
        } else {
            let mut entries = std::fs::read_dir(dir.join("metadata")).ok()?.flatten();
            entries
                .any(|entry| is_iceberg_metadata(&entry.file_name()))
                .then_some(Self::Iceberg)
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::DeltaLake => "Delta Lake",
            Self::Iceberg => "Iceberg",
            Self::Hudi => "Hudi",
        }
    }
}

/// Whether a file has the name of Iceberg's table metadata: `v3.metadata.json`, or
/// `00003-UUID.metadata.json`. Either may be compressed (`v3.gz.metadata.json`,
/// `v3.metadata.json.gz`).
fn is_iceberg_metadata(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let Some(version) = name.strip_suffix(".metadata.json") else {
        return false;
    };
    let digits = version.strip_prefix('v').unwrap_or(version);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_known_by_name() {
        for name in [
            "_SUCCESS",
            "_committed_8823456789",
            "_started_8823456789",
            "_metadata",
            "_common_metadata",
            "_temporary",
            "part-0.parquet._COPYING_",
        ] {
            assert!(is_marker(OsStr::new(name)), "{name}");
        }
        for name in ["_urls.txt", "_lang=de", "_SUCCESS.txt", "SUCCESS", "part-0"] {
            assert!(!is_marker(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn iceberg_metadata_is_known_by_name() {
        for name in [
            "v1.metadata.json",
            "v12.gz.metadata.json",
            "v3.metadata.json.gz",
            "00000-f463ba78-a472-4032-a02a-4cedf9c8ccf3.metadata.json",
        ] {
            assert!(is_iceberg_metadata(OsStr::new(name)), "{name}");
        }
        for name in ["crawl.metadata.json", "metadata.json", "v1.json"] {
            assert!(!is_iceberg_metadata(OsStr::new(name)), "{name}");
        }
    }
}
