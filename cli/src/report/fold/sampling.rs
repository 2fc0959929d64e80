//! A uniform random sample of the units, and intervals for the shares that are estimated from it.
//!
//! The sample is a bottom-k sample: each unit has a hash of its name, and the k units with the
//! smallest hashes are drawn (Broder, "On the resemblance and containment of documents", 1997;
//! Cohen and Kaplan, "Summarizing data using bottom-k sketches", 2007). So it depends on the names
//! and the seed alone, and neither on the order of the inputs nor on the number of threads. A unit
//! has the same hash in every snapshot, so the samples of a series share most of their units.

use serde::Serialize;

/// The sample that a report draws from its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The number of units to draw; with groups, also of each group. Smaller wholes are counted
    /// completely.
    pub size: u32,
    /// The seed of the hash. Another seed draws another sample.
    pub seed: u64,
}

impl Sampling {
    /// A sample of so many units.
    pub(super) fn facts(self, units: u64, of: u64) -> SampleFacts {
        let Self { size, seed } = self;
        SampleFacts {
            size,
            seed,
            units,
            of,
        }
    }
}

/// The sample of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SampleFacts {
    /// The number of units to draw.
    pub size: u32,
    /// The seed.
    pub seed: u64,
    /// The number of units that were drawn and counted.
    pub units: u64,
    /// The number of units that they were drawn from.
    pub of: u64,
}

/// A 95 % confidence interval of a share, as fractions from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl SampleFacts {
    /// The interval of the share `part` of `whole`, both counted on the sample.
    ///
    /// This is the score interval (Wilson, "Probable inference, the law of succession, and
    /// statistical inference", 1927). It has a finite population correction: n of N units count as
    /// n (N − 1) / (N − n) drawn with replacement (Cochran, "Sampling Techniques", 1977, §2.6). So
    /// the interval of all units is the share itself. Without any unit, it is 0 to 1.
    pub fn interval(&self, part: u64, whole: u64) -> Interval {
        wilson_interval(part, whole, self.units, self.of)
    }
}

/// The score interval of the share `part` of `whole` units, of a sample of `drawn` units of
/// `population`.
fn wilson_interval(part: u64, whole: u64, drawn: u64, population: u64) -> Interval {
    if whole == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let share = part as f64 / whole as f64;
    if drawn >= population {
        return Interval {
            low: share,
            high: share,
        };
    }
    let correction = (population - 1) as f64 / (population - drawn) as f64;
    let n = whole as f64 * correction;
    let spread = Z * Z / n;
    let centre = (share + spread / 2.0) / (1.0 + spread);
    let half = Z / (1.0 + spread) * (share * (1.0 - share) / n + spread / (4.0 * n)).sqrt();
    // The ends of 0 and 1 are exact in theory, and rounding would hide that.
    Interval {
        low: if part == 0 {
            0.0
        } else {
            (centre - half).max(0.0)
        },
        high: if part == whole {
            1.0
        } else {
            (centre + half).min(1.0)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_equal_those_of_a_table() {
        // Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I,
        // method 3, for a sample of an endless population.
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let found = wilson_interval(part, whole, whole, u64::MAX / 2);
            assert!((found.low - low).abs() < 5e-5, "{part}/{whole}: {found:?}");
            assert!(
                (found.high - high).abs() < 5e-5,
                "{part}/{whole}: {found:?}"
            );
        }
    }

    #[test]
    fn intervals_shrink_to_the_share_of_all_units() {
        let width = |drawn: u64| {
            let of = wilson_interval(drawn / 4, drawn, drawn, 1000);
            assert!(of.low <= 0.25 && 0.25 <= of.high, "{drawn}: {of:?}");
            of.high - of.low
        };
        let widths = [4, 100, 400, 800, 996, 1000].map(width);
        assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
        assert_eq!(widths[5], 0.0);
        let ends = |part, whole| wilson_interval(part, whole, 10, 100);
        assert_eq!((ends(0, 10).low, ends(10, 10).high), (0.0, 1.0));
        assert_eq!(
            ends(0, 0),
            Interval {
                low: 0.0,
                high: 1.0
            }
        );
        assert_eq!(
            wilson_interval(1, 1, 1, 1),
            Interval {
                low: 1.0,
                high: 1.0
            }
        );
    }
}
