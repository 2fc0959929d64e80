//! Texts of SVG files, which have no layout: the width of a text is estimated.

use std::fmt::Write as _;

/// An estimate of the width of a text of 12 pixels, rather too large than too small.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ' ' | '·' | '|' | '\'' => 4.0,
        '0'..='9' => 7.6,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 12.0,
        'A'..='Z' => 9.4,
        ' '..='~' => 7.8,
        _ => 13.0,
    }
}

/// The longest prefix that fits, with an ellipsis if the text is longer.
pub(crate) fn cut_to_width(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let mut prefix = String::new();
    let mut used = char_width('…');
    for c in text.chars() {
        used += char_width(c);
        if used > room {
            break;
        }
        prefix.push(c);
    }
    prefix.push('…');
    prefix
}

/// Appends a text that begins or ends at `x`, as its class says, with its baseline at `y`.
pub(crate) fn push_text(out: &mut String, x: f64, y: f64, class: &str, text: &str) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y}\">{text}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_to_their_room() {
        for text in ["", "GPTBot", "iiii", "日本"] {
            assert_eq!(cut_to_width(text, text_width(text)), text);
        }
        let text = cut_to_width("A-crawler-with-a-long-name", 100.0);
        assert!(text.ends_with('…') && text_width(&text) <= 100.0, "{text}");
    }

    #[test]
    fn markup_in_texts_is_escaped() {
        let mut out = String::new();
        push_text(&mut out, 1.0, 2.0, "b", "<a> & b");
        assert_eq!(
            out,
            "<text class=\"b\" x=\"1.0\" y=\"2\">&lt;a&gt; &amp; b</text>\n"
        );
    }
}
