//! The periods of `--every` and `--disallowed-since`: the instants at which a series looks at a
//! history, and the spans of time in which sites began to disallow.

use super::series_labels::LabelledSnapshot;
use crate::time::time;
use anyhow::{Context, bail};
use clap::ValueEnum;
use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use robosieve::Snapshot;
use std::path::Path;

/// The length of a period of `--every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Period {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// The most points of a series. Each is a snapshot that is made in memory.
const MAX_POINTS: usize = 10_000;

impl Period {
    /// The first day of the period with this day.
    fn first_day(self, day: Date) -> anyhow::Result<Date> {
        Ok(match self {
            Self::Day => day,
            Self::Week => {
                let week = day.iso_week_date();
                ISOWeekDate::new(week.year(), week.week(), Weekday::Monday)?.date()
            }
            Self::Month => day.first_of_month(),
            Self::Quarter => Date::new(day.year(), (day.month() - 1) / 3 * 3 + 1, 1)?,
            Self::Year => day.first_of_year(),
        })
    }

    /// The first day of the next period.
    fn next(self, first: Date) -> anyhow::Result<Date> {
        let span = match self {
            Self::Day => 1.day(),
            Self::Week => 1.week(),
            Self::Month => 1.month(),
            Self::Quarter => 3.months(),
            Self::Year => 1.year(),
        };
        Ok(first.checked_add(span)?)
    }

    /// The label of the period with a time; `None` for a time beyond the calendar.
    pub(super) fn label_of(self, seconds: i64) -> Option<String> {
        let timestamp = Timestamp::from_second(seconds).ok()?;
        let day = timestamp.to_zoned(TimeZone::UTC).date();
        // Labels of years before 0 would not be in order.
        let first = self.first_day(day).ok()?;
        (first.year() >= 0).then(|| self.label(first))
    }

    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    /// The label of the period that begins with this day, as ISO 8601 writes it where it does.
    fn label(self, first: Date) -> String {
        let (year, month) = (first.year(), first.month());
        match self {
            Self::Day => first.to_string(),
            Self::Week => {
                let week = first.iso_week_date();
                format!("{}-W{:02}", week.year(), week.week())
            }
            Self::Month => format!("{year}-{month:02}"),
            Self::Quarter => format!("{year}-Q{}", (month - 1) / 3 + 1),
            Self::Year => year.to_string(),
        }
    }
}

/// The snapshots of a history at the end of each period, from that of its first capture to that of
/// its last.
pub(super) fn points_of(
    history: &Snapshot,
    path: &Path,
    every: Period,
) -> anyhow::Result<Vec<LabelledSnapshot>> {
    let span = history
        .history_span()
        .map_err(|err| err.at(path))?
        .with_context(|| {
            format!(
                "{}: no capture has a time, so there are no periods",
                path.display()
            )
        })?;
    let last = day_of(span.newest)?;
    let mut first = every.first_day(day_of(span.oldest)?)?;
    let mut points = Vec::new();
    while first <= last {
        let next = every.next(first)?;
        let end = next.to_zoned(TimeZone::UTC)?.timestamp().as_second() - 1;
        points.push(LabelledSnapshot {
            label: every.label(first),
            path: path.to_owned(),
            as_of: Some(end),
        });
        if points.len() > MAX_POINTS {
            bail!(
                "--every: the captures from {} to {} have over {MAX_POINTS} periods; choose a \
                 longer one",
                time(span.oldest),
                time(span.newest)
            );
        }
        first = next;
    }
    Ok(points)
}

/// The day of a time in UTC.
fn day_of(seconds: i64) -> anyhow::Result<Date> {
    let timestamp = Timestamp::from_second(seconds)
        .with_context(|| format!("the time {} is too far away", time(seconds)))?;
    Ok(timestamp.to_zoned(TimeZone::UTC).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_begin_and_end_with_their_days() {
        for (period, day, first, next, label) in [
            (
                Period::Day,
                "2024-02-29",
                "2024-02-29",
                "2024-03-01",
                "2024-02-29",
            ),
            (
                Period::Week,
                "2025-01-01",
                "2024-12-30",
                "2025-01-06",
                "2025-W01",
            ),
            (
                Period::Month,
                "2024-02-29",
                "2024-02-01",
                "2024-03-01",
                "2024-02",
            ),
            (
                Period::Quarter,
                "2024-12-31",
                "2024-10-01",
                "2025-01-01",
                "2024-Q4",
            ),
            (
                Period::Year,
                "2024-12-31",
                "2024-01-01",
                "2025-01-01",
                "2024",
            ),
        ] {
            let begins = period.first_day(day.parse().unwrap()).unwrap();
            assert_eq!(begins.to_string(), first, "{period:?}");
            assert_eq!(period.next(begins).unwrap().to_string(), next, "{period:?}");
            assert_eq!(period.label(begins), label, "{period:?}");
            let time = day
                .parse::<Date>()
                .unwrap()
                .to_zoned(TimeZone::UTC)
                .unwrap();
            let seconds = time.timestamp().as_second() + 86_399;
            assert_eq!(
                period.label_of(seconds).as_deref(),
                Some(label),
                "{period:?}"
            );
            assert_eq!(period.label_of(i64::MAX), None);
        }
    }
}
