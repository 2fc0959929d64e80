//! The pattern of a rule, and paths that match it.

use crate::random::Dice;
use crate::statistics::{
    ANCHORED_RULES, CAPITAL_RULES, ESCAPING_RULES, FORMS, PATTERN_LENGTH, PRIVATE_RULES,
    QUERY_RULES, WILD_RULES,
};
use crate::vocabulary::{FILE_ENDINGS, PARAMETERS, PRIVATE, WORDS, push_number, push_path};

/// The kinds of patterns in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PatternStyle {
    pub wild: bool,
    pub anchored: bool,
    pub escaping: bool,
}

/// Appends a pattern. The first rule of a file has all kinds in its style.
pub(super) fn push_pattern(style: PatternStyle, first: bool, dice: &mut Dice, out: &mut Vec<u8>) {
    let anchored = if style.wild && (first || dice.chance(WILD_RULES)) {
        push_wild(dice.weighted(FORMS), dice, out)
    } else {
        push_plain(dice, out);
        first || dice.chance(ANCHORED_RULES)
    };
    if style.escaping && (first || dice.chance(ESCAPING_RULES)) {
        out.extend_from_slice(b"caf%C3%A9");
    }
    if style.anchored && anchored {
        out.push(b'$');
    }
}

/// Appends a pattern of one of the [`FORMS`]; returns whether it ends in a file extension.
fn push_wild(form: &str, dice: &mut Dice, out: &mut Vec<u8>) -> bool {
    // Two words, because the vocabulary is small: one word would match every other URL.
    let words = [dice.one_of(&WORDS), dice.one_of(&WORDS)].join("-");
    let parameter = dice.one_of(&PARAMETERS);
    let ending = dice.one_of(&FILE_ENDINGS);
    for byte in form.bytes() {
        match byte {
            b'P' => push_plain(dice, out),
            b'W' => out.extend_from_slice(words.as_bytes()),
            b'Q' => out.extend_from_slice(parameter.as_bytes()),
            b'E' => out.extend_from_slice(ending.as_bytes()),
            byte => out.push(byte),
        }
    }
    form.ends_with('E')
}

fn push_plain(dice: &mut Dice, out: &mut Vec<u8>) {
    let len = dice.quantile(&PATTERN_LENGTH);
    if dice.chance(PRIVATE_RULES) {
        let beginning = dice.one_of(&PRIVATE).as_bytes();
        out.extend_from_slice(beginning);
        if len > 18 && beginning.ends_with(b"/") {
            out.pop();
            push_path(len - 18, false, dice, out);
        }
    } else {
        // Shorter ones would match most pages.
        push_path(len.max(12), dice.chance(CAPITAL_RULES), dice, out);
    }
    if dice.chance(QUERY_RULES) {
        out.extend([b"?", dice.one_of(&PARAMETERS).as_bytes(), b"="].concat());
    }
}

/// Appends a path that matches a pattern, usually with more text after it if the pattern allows
/// that.
pub(super) fn push_path_for(pattern: &[u8], dice: &mut Dice, out: &mut Vec<u8>) {
    let start = out.len();
    for &byte in pattern.strip_suffix(b"$").unwrap_or(pattern) {
        match byte {
            b'*' if out.len() == start => out.push(b'/'),
            b'*' => out.extend_from_slice(dice.one_of(&WORDS).as_bytes()),
            byte => out.push(byte),
        }
    }
    if !pattern.ends_with(b"$") && dice.chance(0.8) {
        push_number(dice.bits(), out);
    }
}
