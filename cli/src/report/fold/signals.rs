//! Counts of declared preferences about the use of content: `Content-Signal`, `Content-Usage` and
//! `License`.

use super::model::{SignalReport, SignalValue};
use robosieve::preferences::license_host;
use robosieve::{Profile, RobotsRef};
use std::collections::{BTreeSet, HashMap};

/// The fields, in the order of the report.
const FIELDS: [&str; 3] = ["content-signal", "content-usage", LICENSE];

/// The field whose value is a URL. It counts by host: nearly every site has a licence of its own.
const LICENSE: &str = "license";

/// The length of values at most. A longer word counts as `other`.
const MAX_VALUE: usize = 64;

/// The number of distinct values per file at most, so that a hostile file cannot use much memory.
const MAX_VALUES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct SignalCounts([FieldCounts; FIELDS.len()]);

/// The counts of a field; see [`SignalReport`].
#[derive(Debug, Default)]
struct FieldCounts {
    files: u64,
    origins: u64,
    with_path: u64,
    values: HashMap<String, u64>,
    other: u64,
}

impl SignalCounts {
    pub(super) fn merge(&mut self, later: Self) {
        for (sum, part) in self.0.iter_mut().zip(later.0) {
            sum.files += part.files;
            sum.origins += part.origins;
            sum.with_path += part.with_path;
            sum.other += part.other;
            for (value, origins) in part.values {
                *sum.values.entry(value).or_default() += origins;
            }
        }
    }

    /// Counts the lines of a file's condensed text. `origins` is the number of origins that use it.
    pub(super) fn add_file(&mut self, text: &[u8], origins: u64) {
        if !may_have_fields(text) {
            return;
        }
        let robots = RobotsRef::parse(text, Profile::default());
        for (field, counts) in FIELDS.iter().zip(&mut self.0) {
            let lines = robots
                .other_fields()
                .iter()
                .filter(|line| line.name() == *field)
                .map(|line| line.value());
            if *field == LICENSE {
                counts.add_licenses(lines, origins);
            } else {
                counts.add_lines(lines, origins);
            }
        }
    }

    /// The report of each field, with its most frequent values.
    pub(super) fn report(self, limit: usize) -> Vec<SignalReport> {
        FIELDS
            .into_iter()
            .zip(self.0)
            .map(|(field, counts)| counts.report(field, limit))
            .collect()
    }
}

impl FieldCounts {
    /// Counts the values of a file's lines with this field. Each origin counts once for each value.
    fn add_lines<'l>(&mut self, lines: impl Iterator<Item = &'l [u8]>, origins: u64) {
        let mut any = false;
        let mut path = false;
        let mut other = false;
        let mut values = BTreeSet::new();
        for line in lines {
            any = true;
            // The set is bounded: a hostile file could have very many different values.
            for word in line
                .split(|b| *b == b',' || b.is_ascii_whitespace())
                .filter(|word| !word.is_empty())
            {
                match value(word) {
                    _ if word.starts_with(b"/") => path = true,
                    Some(value) if values.len() < MAX_VALUES => drop(values.insert(value)),
                    _ => other = true,
                }
            }
        }
        self.with_path += u64::from(path) * origins;
        self.add_values(any, values, other, origins);
    }

    /// Counts the hosts of the licences in a file's lines.
    fn add_licenses<'l>(&mut self, lines: impl Iterator<Item = &'l [u8]>, origins: u64) {
        let mut any = false;
        let mut other = false;
        let mut hosts = BTreeSet::new();
        for line in lines {
            any = true;
            match license_host(line) {
                Some(host) if hosts.len() < MAX_VALUES => drop(hosts.insert(host)),
                _ => other = true,
            }
        }
        self.add_values(any, hosts, other, origins);
    }

    /// Adds a file with these values. `any`: it has the field. `other`: it has other values too.
    fn add_values(&mut self, any: bool, values: BTreeSet<String>, other: bool, origins: u64) {
        self.files += u64::from(any);
        self.origins += u64::from(any) * origins;
        self.other += u64::from(other) * origins;
        values
            .into_iter()
            .for_each(|value| *self.values.entry(value).or_default() += origins);
    }

    fn report(self, field: &'static str, limit: usize) -> SignalReport {
        let Self {
            files,
            origins,
            with_path,
            values,
            other,
        } = self;
        let mut values: Vec<SignalValue> = values
            .into_iter()
            .map(|(value, origins)| SignalValue {
                value,
                origins,
                interval: None,
            })
            .collect();
        // By frequency, then by text, so that the order does not depend on the threads.
        values.sort_by(|a, b| {
            b.origins
                .cmp(&a.origins)
                .then_with(|| a.value.cmp(&b.value))
        });
        let more = (values.len() as u64).saturating_sub(limit as u64);
        values.truncate(limit);
        SignalReport {
            field,
            files,
            origins,
            interval: None,
            with_path,
            values,
            more,
            other,
        }
    }
}

/// Whether a condensed text may have one of the fields. In such a text each line begins with its
/// field, and most texts are not parsed for the fields.
fn may_have_fields(text: &[u8]) -> bool {
    text.split(|b| *b == b'\n').any(|line| {
        let starts_with = |field: &[u8]| {
            let start = line.get(..field.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(field))
        };
        starts_with(b"content-") || starts_with(LICENSE.as_bytes())
    })
}

/// A word of the form `key=value`, in lower case.
fn value(word: &[u8]) -> Option<String> {
    let equals = memchr::memchr(b'=', word)?;
    let (key, value) = (&word[..equals], &word[equals + 1..]);
    let plain = word.len() <= MAX_VALUE && !key.is_empty() && !value.is_empty();
    (plain && key.iter().chain(value).all(is_plain))
        .then(|| String::from_utf8_lossy(word).to_ascii_lowercase())
}

fn is_plain(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.".contains(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_by_file_and_by_origin() {
        let mut signals = SignalCounts::default();
        signals.add_file(
            b"user-agent: *\n\
              Content-Signal: search=yes, AI-train=no,ai-train=no\n\
              content-signal: x\n",
            3,
        );
        signals.add_file(
            b"content-usage: /a/ train-ai=n\n\ncontent-signal: search=yes\n\
              license: https://E.example/a\nlicense: https://e.example/b\nlicense: /c",
            2,
        );
        signals.add_file(
            b"user-agent: content-signal\ndisallow: /content-usage: a=b",
            100,
        );
        let [signal, usage, license] = signals.report(5).try_into().unwrap();
        let values = |report: &SignalReport| -> Vec<(String, u64)> {
            report
                .values
                .iter()
                .map(|value| (value.value.clone(), value.origins))
                .collect()
        };
        assert_eq!(
            (
                signal.files,
                signal.origins,
                signal.with_path,
                signal.other,
                signal.more
            ),
            (2, 5, 0, 3, 0)
        );
        assert_eq!(
            values(&signal),
            [("search=yes".to_owned(), 5), ("ai-train=no".to_owned(), 3)]
        );
        assert_eq!(
            (usage.files, usage.origins, usage.with_path, usage.other),
            (1, 2, 2, 0)
        );
        assert_eq!(values(&usage), [("train-ai=n".to_owned(), 2)]);
        assert_eq!((license.files, license.origins, license.other), (1, 2, 2));
        assert_eq!(values(&license), [("e.example".to_owned(), 2)]);
    }

    #[test]
    fn hostile_values_are_bounded() {
        let mut signals = SignalCounts::default();
        let text: String = (0..1000)
            .map(|i| format!("content-signal: k{i}={}\n", "x".repeat(i % 100)))
            .collect();
        signals.add_file(text.as_bytes(), 1);
        let [signal, _, _] = signals.report(10).try_into().unwrap();
        assert_eq!(
            (signal.values.len(), signal.more, signal.other),
            (10, MAX_VALUES as u64 - 10, 1)
        );
    }
}
