//! One robots.txt: what kind it is, its rules one by one, and its text.

use crate::synthetic::kinds::Single;
use crate::synthetic::patterns::{Taste, push_path_for, push_pattern};
use crate::synthetic::profile::*;
use crate::synthetic::random::{Dice, Purpose, Quantiles};
use crate::synthetic::words::push_syllables;

/// A robots.txt that is not one of the well-known ones. Its rules follow from its number, so each can be had without the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    seed: u64,
    number: u64,
    /// Rules for all agents.
    rules: u64,
    single: Single,
    /// Groups for named agents.
    groups: u64,
    stacked: bool,
    groups_are_more: bool,
    global: bool,
    second_global: bool,
    taste: Taste,
    allowing: bool,
    form: TextForm,
}

/// What has no bearing on verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextForm {
    crlf: bool,
    byte_order_mark: bool,
    open_end: bool,
    comments: u64,
    crawl_delay: Option<u64>,
}

/// No file is made longer: readers take the first 500 KiB.
const MAX_TEXT: usize = 500 << 10;

impl File {
    /// The file of a number, with as many rules as the distribution has it.
    pub(super) fn new(seed: u64, number: u64, rules: &Quantiles) -> Self {
        let dice = &mut Dice::new(seed, Purpose::File, number, 0);
        let rules = dice.quantile(rules);
        let wild = WILD_FILES.iter().find(|(to, _)| rules <= *to).is_some_and(|(_, share)| dice.chance(*share));
        Self {
            seed,
            number,
            rules,
            single: if rules == 1 { dice.weighted(SINGLES) } else { Single::Pattern },
            groups: dice.quantile(&GROUPS) - 1,
            stacked: dice.chance(STACKED),
            groups_are_more: dice.chance(GROUPS_ARE_MORE),
            global: !dice.chance(NO_GLOBAL),
            second_global: dice.chance(SECOND_GLOBAL),
            taste: Taste { wild, anchored: dice.chance(ANCHORED_FILES), escaping: dice.chance(ESCAPING_FILES) },
            allowing: dice.chance(ALLOWING_FILES),
            form: TextForm {
                crlf: dice.chance(CRLF),
                byte_order_mark: dice.chance(BYTE_ORDER_MARK),
                open_end: dice.chance(OPEN_END),
                comments: dice.quantile(&COMMENTS) - 1,
                crawl_delay: dice.chance(CRAWL_DELAY).then(|| dice.one_of(CRAWL_DELAYS)),
            },
        }
    }

    /// The same, but not closed to all agents.
    pub(super) fn open(mut self) -> Self {
        if self.single == Single::DisallowAll {
            self.single = Single::DisallowNothing;
        }
        self
    }

    /// Appends the text, with the Sitemap line of a site if it names one.
    pub(super) fn push_text(&self, sitemap_of: Option<&[u8]>, out: &mut Vec<u8>) {
        let start = out.len();
        if self.form.byte_order_mark {
            out.extend_from_slice(b"\xef\xbb\xbf");
        }
        let mut text = Text { out, end: if self.form.crlf { b"\r\n" } else { b"\n" }, limit: start + MAX_TEXT };
        for line in 0..self.form.comments {
            text.line(if line % 3 == 2 { b"#" } else { b"# Pages that crawlers need not visit" }, b"");
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
        if self.form.open_end {
            text.open_end();
        }
    }

    fn push_global(&self, rules: std::ops::Range<u64>, text: &mut Text<'_>) {
        text.line(b"User-agent: *", b"");
        if let Some(seconds) = self.form.crawl_delay {
            text.line(b"Crawl-delay: ", seconds.to_string().as_bytes());
        }
        self.push_rules(self.single, rules, text);
    }

    fn push_rules(&self, single: Single, rules: std::ops::Range<u64>, text: &mut Text<'_>) {
        match single {
            Single::DisallowNothing => text.line(b"Disallow:", b""),
            Single::AllowAll => text.line(b"Allow: ", b"/"),
            Single::DisallowAll => text.line(b"Disallow: ", b"/"),
            Single::Pattern => self.push_patterns(rules, text),
        }
        text.line(b"", b"");
    }

    fn push_patterns(&self, rules: std::ops::Range<u64>, text: &mut Text<'_>) {
        let mut pattern = Vec::new();
        for rule in rules {
            let kind = if self.pattern(rule, &mut pattern) { &b"Allow: "[..] } else { b"Disallow: " };
            text.line(kind, &pattern);
        }
    }

    /// The groups for named agents. Their rules are numbered from where no global rule can be.
    fn push_groups(&self, text: &mut Text<'_>) {
        let dice = &mut Dice::new(self.seed, Purpose::Group, self.number, 0);
        // The smaller of two, as lists tend to begin with the best known.
        let first_agent = dice.place_in(AGENTS).min(dice.place_in(AGENTS));
        for group in 0..self.groups {
            if (group as usize) < AGENTS.len() {
                let (_, agent) = AGENTS[(first_agent + group as usize) % AGENTS.len()];
                text.line(b"User-agent: ", agent.as_bytes());
            } else {
                text.line(b"User-agent: crawler-", &made_up_name(group));
            }
            if self.stacked && group + 1 < self.groups {
                continue;
            }
            let (first, rules) = ((group + 1) << 32, dice.quantile(&GROUP_RULES));
            let single = if self.groups_are_more { Single::Pattern } else { dice.weighted(GROUP_SINGLES) };
            self.push_rules(single, first..first + rules, text);
        }
    }

    /// Makes `pattern` that of a rule; gives whether the rule allows.
    fn pattern(&self, rule: u64, pattern: &mut Vec<u8>) -> bool {
        let dice = &mut Dice::new(self.seed, Purpose::Rule, self.number, rule);
        pattern.clear();
        push_pattern(self.taste, rule == 0, dice, pattern);
        self.allowing && (rule == 1 || dice.chance(ALLOWING_RULES))
    }

    /// Appends a path that one of the rules for all agents matches; `false` if there is none of interest.
    pub(super) fn push_path_for_a_rule(&self, dice: &mut Dice, out: &mut Vec<u8>) -> bool {
        if self.single != Single::Pattern || !self.global {
            return false;
        }
        let mut pattern = Vec::new();
        self.pattern(dice.below(self.rules), &mut pattern);
        push_path_for(&pattern, dice, out);
        true
    }
}

fn made_up_name(number: u64) -> Vec<u8> {
    let mut name = Vec::new();
    push_syllables(number, 3, &mut name);
    name
}

/// A text that grows by lines.
struct Text<'o> {
    out: &'o mut Vec<u8>,
    end: &'static [u8],
    limit: usize,
}

impl Text<'_> {
    fn line(&mut self, field: &[u8], value: &[u8]) {
        if self.out.len() + field.len() + value.len() + self.end.len() <= self.limit {
            self.out.extend_from_slice(field);
            self.out.extend_from_slice(value);
            self.out.extend_from_slice(self.end);
        }
    }

    /// Takes the line ends away that the text ends with.
    fn open_end(&mut self) {
        while self.out.ends_with(b"\n") || self.out.ends_with(b"\r") {
            self.out.pop();
        }
    }
}
