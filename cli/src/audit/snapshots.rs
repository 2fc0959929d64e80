//! The snapshots of an audit: one file, or several with dates (`2026-08=august.rsieve`).

use crate::time::parse_instant;
use anyhow::{anyhow, bail};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A snapshot, and the time from which it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnapshotArg {
    /// Seconds since 1970.
    pub from: Option<i64>,
    pub path: PathBuf,
}

impl FromStr for SnapshotArg {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let Some((date, path)) = text.split_once('=').filter(|_| !Path::new(text).exists()) else {
            return Ok(Self {
                from: None,
                path: PathBuf::from(text),
            });
        };
        let from = parse_date(date).map_err(|what| anyhow!("-s {text}: {date}: {what}"))?;
        Ok(Self {
            from: Some(from),
            path: PathBuf::from(path),
        })
    }
}

/// Whether an argument is a dated snapshot: `2026-08=august.rsieve`, and no file has this name.
pub(super) fn is_dated(argument: &Path) -> bool {
    let parsed = argument
        .to_str()
        .and_then(|text| text.parse::<SnapshotArg>().ok());
    parsed.is_some_and(|snapshot| snapshot.from.is_some() && snapshot.path.exists())
}

/// Whether a text is `shape` with any digits in place of its zeros.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| {
            if wanted == b'0' {
                byte.is_ascii_digit()
            } else {
                byte == wanted
            }
        })
}

/// The first second of a year, a month or a date, or a time.
fn parse_date(text: &str) -> Result<i64, String> {
    if has_shape(text, "0000") {
        return parse_instant(&format!("{text}-01-01"));
    }
    if has_shape(text, "0000-00") {
        return parse_instant(&format!("{text}-01"));
    }
    parse_instant(text)
}

/// Refuses several snapshots unless each has a date.
pub(super) fn refuse_undated(snapshots: &[SnapshotArg]) -> anyhow::Result<()> {
    match snapshots.iter().find(|snapshot| snapshot.from.is_none()) {
        Some(undated) if snapshots.len() > 1 => bail!(
            "-s {}: of several snapshots, each needs the date from which it is valid: \
             -s 2026-08={0}",
            undated.path.display()
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_name_their_first_second() {
        for (text, from, path) in [
            ("a.rsieve", None, "a.rsieve"),
            ("1970=a", Some(0), "a"),
            ("1970-02=a=b", Some(31 * 86_400), "a=b"),
            ("1970-01-02=a", Some(86_400), "a"),
            ("1970-01-01T00:00:07Z=a", Some(7), "a"),
        ] {
            assert_eq!(
                text.parse::<SnapshotArg>().unwrap(),
                SnapshotArg {
                    from,
                    path: path.into()
                }
            );
        }
        for text in ["august=a", "1970-13=a", "=a"] {
            assert!(text.parse::<SnapshotArg>().is_err(), "{text}");
        }
    }
}
