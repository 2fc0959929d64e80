//! What robots.txt files say about the use of content: `Content-Signal` and `Content-Usage` lines.

use crate::analysis::report::counts::Sum;
use crate::analysis::report::model::{SignalReport, SignalValue};
use crate::profile::Profile;
use crate::robots::Robots;
use std::collections::{BTreeSet, HashMap};

/// The fields, in the order of the report.
const FIELDS: [&str; 2] = ["content-signal", "content-usage"];

/// What both begin with; a file without a line of this kind is not read further.
const BEGINNING: &[u8] = b"content-";

/// A longer word is no value. Of the lines of one file so many different values count.
const MAX_VALUE: usize = 64;
const MAX_VALUES: usize = 64;

/// Counts for each field.
#[derive(Debug, Default)]
pub(super) struct Signals([Counts; FIELDS.len()]);

#[derive(Debug, Default)]
struct Counts {
    files: u64,
    origins: u64,
    with_path: u64,
    values: HashMap<String, u64>,
    other: u64,
}

impl Sum for Signals {
    fn add(&mut self, later: Self) {
        for (sum, part) in self.0.iter_mut().zip(later.0) {
            sum.files += part.files;
            sum.origins += part.origins;
            sum.with_path += part.with_path;
            sum.other += part.other;
            part.values.into_iter().for_each(|(value, n)| *sum.values.entry(value).or_default() += n);
        }
    }
}

impl Signals {
    /// Counts what the condensed text of a file says, for so many origins.
    pub(super) fn read(&mut self, text: &[u8], origins: u64) {
        let begins = |line: &[u8]| line.get(..BEGINNING.len()).is_some_and(|l| l.eq_ignore_ascii_case(BEGINNING));
        if !text.split(|b| *b == b'\n').any(begins) {
            return;
        }
        let robots = Robots::parse(text, Profile::default());
        for (field, counts) in FIELDS.iter().zip(&mut self.0) {
            let lines = robots.other_fields().iter().filter(|line| line.name() == *field).map(|line| line.value());
            counts.count(lines, origins);
        }
    }

    /// The figures, with at most so many values of each field.
    pub(super) fn report(self, limit: usize) -> Vec<SignalReport> {
        FIELDS.into_iter().zip(self.0).map(|(field, counts)| counts.report(field, limit)).collect()
    }
}

impl Counts {
    fn count<'l>(&mut self, lines: impl Iterator<Item = &'l [u8]>, origins: u64) {
        let (mut any, mut path, mut other) = (false, false, false);
        let mut values = BTreeSet::new();
        for line in lines {
            any = true;
            for word in line.split(|b| *b == b',' || b.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
                match value(word) {
                    _ if word.starts_with(b"/") => path = true,
                    Some(value) if values.len() < MAX_VALUES => drop(values.insert(value)),
                    _ => other = true,
                }
            }
        }
        let count = |is_so: bool| u64::from(is_so) * origins;
        self.files += u64::from(any);
        self.origins += count(any);
        self.with_path += count(path);
        self.other += count(other);
        values.into_iter().for_each(|value| *self.values.entry(value).or_default() += origins);
    }

    fn report(self, field: &'static str, limit: usize) -> SignalReport {
        let Self { files, origins, with_path, values, other } = self;
        let mut values: Vec<SignalValue> =
            values.into_iter().map(|(value, origins)| SignalValue { value, origins }).collect();
        values.sort_by(|a, b| b.origins.cmp(&a.origins).then_with(|| a.value.cmp(&b.value)));
        let more = (values.len() as u64).saturating_sub(limit as u64);
        values.truncate(limit);
        SignalReport { field, files, origins, with_path, values, more, other }
    }
}

/// A word of the form `key=value`, in lower case.
fn value(word: &[u8]) -> Option<String> {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    let equals = word.iter().position(|b| *b == b'=')?;
    let (key, value) = (&word[..equals], &word[equals + 1..]);
    let plain = word.len() <= MAX_VALUE && !key.is_empty() && !value.is_empty();
    (plain && key.iter().chain(value).all(is_plain)).then(|| String::from_utf8_lossy(word).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_by_file_and_by_origin() {
        let mut signals = Signals::default();
        signals.read(b"user-agent: *\nContent-Signal: search=yes, AI-train=no,ai-train=no\ncontent-signal: x\n", 3);
        signals.read(b"content-usage: /a/ train-ai=n\n\ncontent-signal: search=yes", 2);
        signals.read(b"user-agent: content-signal\ndisallow: /content-usage: a=b", 100);
        let [signal, usage] = signals.report(5).try_into().unwrap();
        let values = |report: &SignalReport| -> Vec<(String, u64)> {
            report.values.iter().map(|value| (value.value.clone(), value.origins)).collect()
        };
        assert_eq!((signal.files, signal.origins, signal.with_path, signal.other, signal.more), (2, 5, 0, 3, 0));
        assert_eq!(values(&signal), [("search=yes".to_owned(), 5), ("ai-train=no".to_owned(), 3)]);
        assert_eq!((usage.files, usage.origins, usage.with_path, usage.other), (1, 2, 2, 0));
        assert_eq!(values(&usage), [("train-ai=n".to_owned(), 2)]);
    }

    #[test]
    fn hostile_values_are_bounded() {
        let mut signals = Signals::default();
        let text: String = (0..1000).map(|i| format!("content-signal: k{i}={}\n", "x".repeat(i % 100))).collect();
        signals.read(text.as_bytes(), 1);
        let [signal, _] = signals.report(10).try_into().unwrap();
        assert_eq!((signal.values.len(), signal.more, signal.other), (10, MAX_VALUES as u64 - 10, 1));
    }
}
