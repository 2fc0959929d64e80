//! Conditions of adblock lists: the lines between `!#if env_firefox` and `!#endif`.
//!
//! Each name in a condition is a program that reads the list, or a thing that it can do. Here none of
//! them reads it, so every name is false: the lines of `!#if !env_mobile` count, and those of
//! `!#if env_mobile` and `!#if false` do not.

use super::text::BOM;
use crate::bytes::{is_white_space, trim};
use bstr::ByteSlice;

/// The deepest nesting of conditions, and of parentheses in one. Lists have three levels.
const MAX_DEPTH: u32 = 64;

/// The conditions around a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conditions {
    /// How many conditions are open.
    depth: u32,
    /// Those that do not hold; the outermost is the lowest bit. Deeper ones hold.
    failed: u64,
}

impl Conditions {
    /// Whether lines here count.
    pub(super) fn hold(self) -> bool {
        self.failed == 0
    }

    /// Reads a line, and returns whether it is an `!#if`, an `!#else` or an `!#endif`.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        let Some(directive) = trim(line).strip_prefix(b"!#") else {
            return false;
        };
        let end = directive
            .chars()
            .take_while(|c| c.is_ascii_alphabetic())
            .count();
        let (name, condition) = directive.split_at(end);
        let bit = |depth: u32| 1u64.checked_shl(depth).unwrap_or(0);
        match name {
            b"if" => {
                if !holds(condition) {
                    self.failed |= bit(self.depth);
                }
                self.depth = self.depth.saturating_add(1);
            }
            b"else" if self.depth > 0 => self.failed ^= bit(self.depth - 1),
            b"endif" if self.depth > 0 => {
                self.depth -= 1;
                self.failed &= !bit(self.depth);
            }
            _ => return false,
        }
        true
    }

    /// Reads the conditions of a text of whole lines, with or without byte order marks.
    pub(super) fn read_lines(&mut self, text: &[u8]) {
        // Most lists have none.
        for at in text.find_iter(b"!#") {
            let before = text[..at]
                .rsplit(|b| *b == b'\n')
                .next()
                .unwrap_or_default();
            if trim(before.strip_prefix(BOM).unwrap_or(before)).is_empty() {
                let line = text[at..].split(|b| *b == b'\n').next().unwrap_or_default();
                self.read(line);
            }
        }
    }
}

/// Whether a condition holds if every name in it is false. One that cannot be read does not.
fn holds(condition: &[u8]) -> bool {
    let mut parser = Parser {
        rest: condition,
        depth: 0,
    };
    let value = parser.any();
    value == Some(true) && parser.skip_blanks().is_empty()
}

/// A parser of names with `!`, `&&`, `||` and parentheses, by recursive descent.
struct Parser<'c> {
    rest: &'c [u8],
    /// The parentheses that are open.
    depth: u32,
}

impl<'c> Parser<'c> {
    /// `a || b`
    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.eat(b"||") {
            value |= self.all()?;
        }
        Some(value)
    }

    /// `a && b`
    fn all(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.eat(b"&&") {
            value &= self.one()?;
        }
        Some(value)
    }

    /// `a`, `!a` and `(a)`
    fn one(&mut self) -> Option<bool> {
        let mut is_negated = false;
        while self.eat(b"!") {
            is_negated = !is_negated;
        }
        let value = if self.eat(b"(") {
            self.depth += 1;
            let inner = (self.depth <= MAX_DEPTH).then(|| self.any())??;
            self.depth -= 1;
            self.eat(b")").then_some(inner)?
        } else {
            let is_name = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
            let end = self.rest.iter().take_while(is_name).count();
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest;
            (!name.is_empty()).then_some(name == b"true")?
        };
        Some(value != is_negated)
    }

    /// Skips a sign, if it is next.
    fn eat(&mut self, sign: &[u8]) -> bool {
        let rest = self.skip_blanks().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_blanks(&mut self) -> &'c [u8] {
        self.rest = self.rest.trim_start_with(is_white_space);
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_conditions_are_false() {
        for condition in [
            " true",
            " !env_mobile",
            "!env_firefox",
            " !false",
            " !a && !b",
            " a || !b",
            " !(a || b)",
            " !!true ",
            " (((!a)))",
        ] {
            assert!(holds(condition.as_bytes()), "{condition}");
        }
        let deep = "(".repeat(100_000);
        for condition in [
            "",
            " false",
            " env_firefox",
            " !a && b",
            " (a",
            " !",
            " a b",
            " !a b",
            &deep,
        ] {
            assert!(!holds(condition.as_bytes()), "{condition:.40}");
        }
    }

    #[test]
    fn lines_between_conditions_count_if_all_hold() {
        let text = "a\n!#if x\n-\n!#if !x\n-\n!#else\n-\n!#endif\n-\n!#else\nb\n  !#if false\n-\n\
                    !#endif\nc\n!#endif\nd\n!#endif\ne\n! #if x\nf\n# !#if x\ng\n!#include y\nh\n";
        let mut conditions = Conditions::default();
        for (number, line) in text.lines().enumerate() {
            if !conditions.read(line.as_bytes()) && line.len() == 1 {
                assert_eq!(conditions.hold(), line != "-", "{number}: {line}");
            }
            // A part of the list may begin anywhere.
            let start: usize = text
                .lines()
                .take(number + 1)
                .map(|line| line.len() + 1)
                .sum();
            let mut of_start = Conditions::default();
            of_start.read_lines(&text.as_bytes()[..start]);
            assert_eq!(of_start.hold(), conditions.hold(), "{number}: {line}");
        }
    }

    #[test]
    fn conditions_beyond_the_deepest_level_hold() {
        let mut conditions = Conditions::default();
        for _ in 0..100 {
            conditions.read(b"!#if a");
        }
        for _ in 0..100 {
            assert!(!conditions.hold());
            conditions.read(b"!#endif");
        }
        assert!(conditions.hold());
    }
}
