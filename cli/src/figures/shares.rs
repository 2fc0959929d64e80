//! Shares in per cent, for people.

/// A share in per cent; 0 and 100 are exact, never rounded.
pub(crate) fn share(part: u64, whole: u64) -> String {
    match part {
        0 => "0 %".to_owned(),
        _ if part == whole => "100 %".to_owned(),
        _ => percent(part as f64 * 100.0 / whole.max(1) as f64),
    }
}

/// A share of a sum of weights in per cent. The sums may differ by rounding.
pub(crate) fn weight_share(part: f64, whole: f64) -> String {
    if part <= 0.0 || whole <= 0.0 {
        return "0 %".to_owned();
    }
    if (whole - part).abs() <= whole * 1e-12 {
        "100 %".to_owned()
    } else {
        percent(part * 100.0 / whole)
    }
}

/// The interval of a share in per cent, rounded outwards: `18.1–23.9`. Its unit is next to it.
pub(crate) fn interval(low: f64, high: f64) -> String {
    let tenths = |fraction: f64| match fraction {
        _ if fraction <= 0.0 => "0".to_owned(),
        _ if fraction >= 1000.0 => "100".to_owned(),
        _ => format!("{:.1}", fraction / 10.0),
    };
    // The least excess is the error of the computation, and no reason for another tenth.
    let low = (low * 1000.0 + 1e-9).floor();
    let high = (high * 1000.0 - 1e-9).ceil();
    format!("{}\u{2013}{}", tenths(low), tenths(high))
}

fn percent(percent: f64) -> String {
    match percent {
        _ if percent < 0.1 => "< 0.1 %".to_owned(),
        _ if percent > 99.9 => "> 99.9 %".to_owned(),
        _ => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_round_to_0_or_100() {
        for (part, whole, text) in [
            (0, 0, "0 %"),
            (0, 7, "0 %"),
            (7, 7, "100 %"),
            (1, 100_000, "< 0.1 %"),
            (99_999, 100_000, "> 99.9 %"),
            (1, 3, "33.3 %"),
        ] {
            assert_eq!(share(part, whole), text);
            assert_eq!(weight_share(part as f64 / 8.0, whole as f64 / 8.0), text);
        }
        assert_eq!(weight_share(0.1 + 0.2, 0.3), "100 %");
    }

    #[test]
    fn intervals_are_rounded_outwards() {
        for (low, high, text) in [
            (0.0, 1.0, "0\u{2013}100"),
            (0.181_99, 0.239_01, "18.1\u{2013}24.0"),
            (0.25, 0.25, "25.0\u{2013}25.0"),
            (0.000_1, 0.999_9, "0\u{2013}100"),
            (0.003, 0.998, "0.3\u{2013}99.8"),
        ] {
            assert_eq!(interval(low, high), text);
        }
    }
}
