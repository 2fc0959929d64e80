//! The pattern of one rule, and paths that meet it.

use crate::synthetic::kinds::Form;
use crate::synthetic::profile::{
    ANCHORED_RULES, CAPITAL_RULES, ESCAPING_RULES, FORMS, PATTERN_LENGTH, PRIVATE_RULES, QUERY_RULES, WILD_RULES,
};
use crate::synthetic::random::Dice;
use crate::synthetic::words::{FILE_ENDINGS, PARAMETERS, PRIVATE, WORDS, push_number, push_path};

/// What the rules of a file are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taste {
    pub wild: bool,
    pub anchored: bool,
    pub escaping: bool,
}

/// Appends a pattern. That of a file's first rule has all that the file has a taste for.
pub(super) fn push_pattern(taste: Taste, first: bool, dice: &mut Dice, out: &mut Vec<u8>) {
    let anchored = if taste.wild && (first || dice.chance(WILD_RULES)) {
        push_wild(dice.weighted(FORMS), dice, out)
    } else {
        push_plain(dice, out);
        first || dice.chance(ANCHORED_RULES)
    };
    if taste.escaping && (first || dice.chance(ESCAPING_RULES)) {
        out.extend_from_slice(b"caf%C3%A9");
    }
    if taste.anchored && anchored {
        out.push(b'$');
    }
}

/// Appends a pattern with wildcards; gives whether it names an ending.
fn push_wild(form: Form, dice: &mut Dice, out: &mut Vec<u8>) -> bool {
    // Two words, as one of so small a vocabulary would be in every other URL.
    let words = [dice.one_of(&WORDS), dice.one_of(&WORDS)].join("-");
    let word = words.as_bytes();
    let parameter = dice.one_of(&PARAMETERS).as_bytes();
    let ending = dice.one_of(&FILE_ENDINGS).as_bytes();
    if matches!(form, Form::Under | Form::Within | Form::WithinTwice | Form::WithinEnding) {
        push_plain(dice, out);
    }
    let parts: &[&[u8]] = match form {
        Form::Anywhere => &[b"/*/", word],
        Form::AnywhereTwice => &[b"/*-", word, b"*"],
        Form::AnywhereParameter => &[b"/*?", parameter, b"="],
        Form::AnywhereEnding => &[b"/*", ending],
        Form::BareParameter => &[b"*?", parameter, b"="],
        Form::Under => &[b"*"],
        Form::Within => &[b"*/", word, b"/"],
        Form::WithinTwice => &[b"*", word, b"*"],
        Form::WithinEnding => &[b"*", ending],
    };
    parts.iter().for_each(|part| out.extend_from_slice(part));
    matches!(form, Form::AnywhereEnding | Form::WithinEnding)
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
        // Shorter ones would be the beginnings of most pages.
        push_path(len.max(12), dice.chance(CAPITAL_RULES), dice, out);
    }
    if dice.chance(QUERY_RULES) {
        out.extend([b"?", dice.one_of(&PARAMETERS).as_bytes(), b"="].concat());
    }
}

/// Appends a path that a pattern matches, made longer where the pattern lets it be.
pub(super) fn push_path_for(pattern: &[u8], dice: &mut Dice, out: &mut Vec<u8>) {
    let (pattern, anchored) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let start = out.len();
    for &byte in pattern {
        match byte {
            b'*' if out.len() == start => out.push(b'/'),
            b'*' => out.extend_from_slice(dice.one_of(&WORDS).as_bytes()),
            byte => out.push(byte),
        }
    }
    if !anchored && dice.chance(0.8) {
        push_number(dice.bits(), out);
    }
}
