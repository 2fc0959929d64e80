//! A generated robots.txt: its properties, its rules one by one, and its text.

use crate::patterns::{PatternStyle, push_path_for, push_pattern};
use crate::random::{Decision, Dice, Quantiles};
use crate::statistics::*;
use crate::vocabulary::push_syllables;
use std::ops::Range;

/// A robots.txt that is not one of the well-known ones. Each rule is a function of the file and its
/// index, so it can be generated without the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GeneratedFile {
    seed: u64,
    number: u64,
    /// The number of rules for all agents.
    rules: u64,
    single: SingleRule,
    /// The number of groups for named agents.
    groups: u64,
    stacked: bool,
    groups_are_more: bool,
    global: bool,
    second_global: bool,
    style: PatternStyle,
    allowing: bool,
    // Properties of the text that do not affect verdicts.
    crlf: bool,
    byte_order_mark: bool,
    open_end: bool,
    comments: u64,
    crawl_delay: Option<u64>,
}

/// The maximum size: readers ignore all bytes after 500 KiB.
const MAX_TEXT: usize = 500 << 10;

impl GeneratedFile {
    /// The file with this number, its number of rules drawn from `rules`.
    pub(super) fn new(seed: u64, number: u64, rules: &Quantiles) -> Self {
        let dice = &mut Dice::new(seed, Decision::File, number, 0);
        let rules = dice.quantile(rules);
        // The draws are in a fixed order, because a seed must always give the same file.
        let wild = WILD_FILES
            .iter()
            .find(|(to, _)| rules <= *to)
            .is_some_and(|(_, share)| dice.chance(*share));
        Self {
            seed,
            number,
            rules,
            single: if rules == 1 {
                dice.weighted(SINGLES)
            } else {
                None
            },
            groups: dice.quantile(&GROUPS) - 1,
            stacked: dice.chance(STACKED),
            groups_are_more: dice.chance(GROUPS_ARE_MORE),
            global: !dice.chance(NO_GLOBAL),
            second_global: dice.chance(SECOND_GLOBAL),
            style: PatternStyle {
                wild,
                anchored: dice.chance(ANCHORED_FILES),
                escaping: dice.chance(ESCAPING_FILES),
            },
            allowing: dice.chance(ALLOWING_FILES),
            crlf: dice.chance(CRLF),
            byte_order_mark: dice.chance(BYTE_ORDER_MARK),
            open_end: dice.chance(OPEN_END),
            comments: dice.quantile(&COMMENTS) - 1,
            crawl_delay: dice.chance(CRAWL_DELAY).then(|| dice.one_of(CRAWL_DELAYS)),
        }
    }

    /// The same file without a `Disallow: /` for all agents.
    pub(super) fn open(mut self) -> Self {
        if self.single == Some(DISALLOW_ALL) {
            self.single = Some(DISALLOW_NOTHING);
        }
        self
    }

    /// Appends the text, with a Sitemap line if an origin is given.
    pub(super) fn push_text(&self, sitemap_of: Option<&[u8]>, out: &mut Vec<u8>) {
        let start = out.len();
        if self.byte_order_mark {
            out.extend_from_slice(b"\xef\xbb\xbf");
        }
        let mut text = TextWriter {
            out,
            end: if self.crlf { b"\r\n" } else { b"\n" },
            limit: start + MAX_TEXT,
        };
        // Real files begin with comments, which a compiler has to skip.
        for line in 0..self.comments {
            text.line(
                if line % 3 == 2 {
                    b"#"
                } else {
                    b"# Pages that crawlers need not visit"
                },
                b"",
            );
        }
        if self.global {
            self.push_global(0..self.rules, &mut text);
        }
        self.push_groups(&mut text);
        if self.global && self.second_global {
            self.push_global(self.rules..self.rules + 2, &mut text);
        }
        if let Some(origin) = sitemap_of {
            text.line(b"Sitemap: ", &[origin, b"/sitemap.xml"].concat());
        }
        if self.open_end {
            text.open_end();
        }
    }

    fn push_global(&self, rules: Range<u64>, text: &mut TextWriter<'_>) {
        text.line(b"User-agent: *", b"");
        if let Some(seconds) = self.crawl_delay {
            text.line(b"Crawl-delay: ", seconds.to_string().as_bytes());
        }
        self.push_rules(self.single, rules, text);
    }

    /// Appends the rules of a group: a single line, or patterns.
    fn push_rules(&self, single: SingleRule, rules: Range<u64>, text: &mut TextWriter<'_>) {
        match single {
            Some(line) => text.line(line.as_bytes(), b""),
            None => {
                let mut pattern = Vec::new();
                for rule in rules {
                    let kind = if self.pattern(rule, &mut pattern) {
                        &b"Allow: "[..]
                    } else {
                        b"Disallow: "
                    };
                    text.line(kind, &pattern);
                }
            }
        }
        text.line(b"", b"");
    }

    /// Appends the groups for named agents. Their rules have indices above those of all global
    /// rules.
    fn push_groups(&self, text: &mut TextWriter<'_>) {
        let dice = &mut Dice::new(self.seed, Decision::Group, self.number, 0);
        // The smaller of two draws, because lists tend to begin with the best-known agents.
        let first_agent = dice.weighted_index(AGENTS).min(dice.weighted_index(AGENTS));
        for group in 0..self.groups {
            if (group as usize) < AGENTS.len() {
                let (_, agent) = AGENTS[(first_agent + group as usize) % AGENTS.len()];
                text.line(b"User-agent: ", agent.as_bytes());
            } else {
                let mut name = Vec::new();
                push_syllables(group, 3, &mut name);
                text.line(b"User-agent: crawler-", &name);
            }
            if self.stacked && group + 1 < self.groups {
                continue;
            }
            let first = (group + 1) << 32;
            let rules = dice.quantile(&GROUP_RULES);
            let single = if self.groups_are_more {
                None
            } else {
                dice.weighted(GROUP_SINGLES)
            };
            self.push_rules(single, first..first + rules, text);
        }
    }

    /// Writes the pattern of a rule to `pattern`; returns whether it is an allow rule.
    fn pattern(&self, rule: u64, pattern: &mut Vec<u8>) -> bool {
        let dice = &mut Dice::new(self.seed, Decision::Rule, self.number, rule);
        pattern.clear();
        push_pattern(self.style, rule == 0, dice, pattern);
        self.allowing && (rule == 1 || dice.chance(ALLOWING_RULES))
    }

    /// Appends a path that matches a rule for all agents; `false` if no such rule has a pattern.
    pub(super) fn push_path_for_a_rule(&self, dice: &mut Dice, out: &mut Vec<u8>) -> bool {
        if self.single.is_some() || !self.global {
            return false;
        }
        let mut pattern = Vec::new();
        self.pattern(dice.below(self.rules), &mut pattern);
        push_path_for(&pattern, dice, out);
        true
    }
}

/// Appends lines to a text, up to a limit.
struct TextWriter<'o> {
    out: &'o mut Vec<u8>,
    end: &'static [u8],
    limit: usize,
}

impl TextWriter<'_> {
    fn line(&mut self, field: &[u8], value: &[u8]) {
        if self.out.len() + field.len() + value.len() + self.end.len() <= self.limit {
            self.out.extend_from_slice(field);
            self.out.extend_from_slice(value);
            self.out.extend_from_slice(self.end);
        }
    }

    /// Removes the line ends at the end of the text.
    fn open_end(&mut self) {
        while self.out.ends_with(b"\n") || self.out.ends_with(b"\r") {
            self.out.pop();
        }
    }
}
