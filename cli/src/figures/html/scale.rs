//! Axes of shares: the share at the end of a bar or at the top of a chart, and the ticks.

use maud::{Markup, html};

/// The steps of an axis within a decade. Half of each has few digits.
const STEPS: [f64; 9] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];

/// An axis from 0 to `top` per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShareScale {
    pub top: f64,
}

impl ShareScale {
    /// The axis of all shares, up to 100 %.
    pub(crate) const WHOLE: Self = Self { top: 100.0 };

    /// The smallest axis with round ticks for shares up to `most` per cent; [`WHOLE`](Self::WHOLE)
    /// if there are none above 0.
    pub(crate) fn of(most: f64) -> Self {
        if !(most > 0.0 && most < 100.0) {
            return Self::WHOLE;
        }
        // Smaller shares than a thousandth of a per cent share one axis.
        let decade = 10f64.powf(most.max(0.001).log10().floor());
        let step = STEPS
            .into_iter()
            .find(|step| step * decade >= most)
            .unwrap_or(10.0);
        Self { top: step * decade }
    }

    /// The axis of bars: [`WHOLE`](Self::WHOLE) if a share exceeds one half.
    pub(super) fn of_bars(most: f64) -> Self {
        if most > 50.0 {
            Self::WHOLE
        } else {
            Self::of(most)
        }
    }

    pub(super) fn is_whole(self) -> bool {
        self == Self::WHOLE
    }

    /// The position of a part of a whole on the axis, in per cent of its length.
    pub(crate) fn position(self, part: f64, whole: f64) -> f64 {
        if whole > 0.0 {
            part * 100.0 / whole * 100.0 / self.top
        } else {
            0.0
        }
    }

    /// [`position`](Self::position) as a length in SVG.
    pub(super) fn percentage(self, part: f64, whole: f64) -> String {
        format!("{:.3}%", self.position(part, whole))
    }

    /// The labels of the ticks at 0, at the half and at the top.
    pub(crate) fn ticks(self) -> [String; 3] {
        [0.0, self.top / 2.0, self.top].map(tick)
    }
}

/// A tick without superfluous digits.
fn tick(percent: f64) -> String {
    let text = format!("{percent:.5}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}\u{a0}%")
}

/// The line of ticks above bars of this scale.
pub(super) fn axis(scale: ShareScale) -> Markup {
    let [first, half, top] = scale.ticks();
    html! {
        div.bars aria-hidden="true" {
            div {}
            div.ticks { span { (first) } span { (half) } span { (top) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_round_tops() {
        for (most, top) in [
            (0.0, 100.0),
            (f64::NAN, 100.0),
            (100.0, 100.0),
            (50.1, 60.0),
            (50.0, 50.0),
            (30.01, 40.0),
            (5.5, 6.0),
            (1.0, 1.0),
            (0.35, 0.4),
            (1e-9, 0.001),
        ] {
            let scale = ShareScale::of(most);
            assert!((scale.top - top).abs() < 1e-9, "{most}: {scale:?}");
            assert!(most.is_nan() || scale.top >= most);
        }
        assert!(ShareScale::of_bars(50.1).is_whole() && !ShareScale::of_bars(50.0).is_whole());
        assert_eq!(
            ShareScale::of(5.5).ticks(),
            ["0\u{a0}%", "3\u{a0}%", "6\u{a0}%"]
        );
        assert_eq!(
            ShareScale::of(0.25).ticks(),
            ["0\u{a0}%", "0.15\u{a0}%", "0.3\u{a0}%"]
        );
        assert_eq!(ShareScale::WHOLE.position(1.0, 0.0), 0.0);
    }
}
