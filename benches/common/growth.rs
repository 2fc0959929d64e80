//! Sites with any number of rules of the same kind, to measure the cost of a URL as rules grow.

use super::{ORIGIN, Random, Site};
use std::cell::OnceCell;

/// A site with this number of rules, all without wildcards.
pub fn literal(rules: usize) -> Site {
    let mut random = Random::new(1);
    site(rules, |i| match i % 4 {
        0 => format!("/{}/{}/", locale(i), random.words()),
        1 => format!("/{}/{}-{i}", random.word(), random.words()),
        2 => format!("/{}/{}.php", locale(i), random.words()),
        _ => format!("/{}/{}?{}=", locale(i), random.word(), random.words()),
    })
}

/// A site with this number of rules, all with wildcards. Most begin with one of forty common
/// prefixes, as on sites in many languages.
pub fn wild(rules: usize) -> Site {
    let mut random = Random::new(2);
    site(rules, |i| match i % 8 {
        0 => format!("/*?{}=", random.words()),
        1 => format!("/*/{}/", random.words()),
        2 | 3 => format!("/{}/search*{}=", locale(i), random.words()),
        4 => format!("/{}/{}/*/{}", locale(i), random.word(), random.words()),
        5 => format!("/{}/{}/*.{}$", locale(i), random.words(), random.word()),
        _ => format!("/{}/*{}=", locale(i), random.words()),
    })
}

impl Random {
    /// Two words joined, so that few segments are equal.
    fn words(&mut self) -> String {
        self.word() + &self.word()
    }

    /// A path that a pattern matches.
    fn example_of(&mut self, pattern: &str) -> String {
        let text = pattern.replace('*', &self.path()[1..]);
        text.strip_suffix('$')
            .map_or_else(|| text.clone() + &self.word(), str::to_owned)
    }

    /// A path similar to the rules, which may match one of them.
    fn near_path(&mut self) -> String {
        let i = self.below(1000);
        match i % 4 {
            0 => format!("/{}/search?{}={i}", locale(i), self.words()),
            1 => format!("/{}/{}/{}-{i}.html", locale(i), self.word(), self.words()),
            2 => format!("/{}{}?page={i}", locale(i), self.path()),
            _ => format!("{}/{}.html", self.path(), self.words()),
        }
    }
}

fn locale(i: usize) -> String {
    let language = ["ca", "de", "en", "ie", "jp", "mx", "nl", "sg"][i / 8 % 8];
    language.to_owned() + ["", "-en", "-fr", "-de", "-us"][i / 64 % 5]
}

/// A site that disallows these patterns, and 1,000 URLs. Half of the URLs are derived from rules,
/// and the rest match no rule.
fn site(rules: usize, pattern: impl FnMut(usize) -> String) -> Site {
    let patterns: Vec<String> = (0..rules).map(pattern).collect();
    let mut random = Random::new(3);
    let mut path = |i: usize| match i % 2 {
        0 => {
            let rule = random.below(rules);
            random.example_of(&patterns[rule])
        }
        _ => loop {
            let path = random.near_path();
            if !patterns.iter().any(|pattern| matches(pattern, &path)) {
                break path;
            }
        },
    };
    let urls: Vec<String> = (0..1000).map(|i| format!("{ORIGIN}{}", path(i))).collect();
    let lines: String = patterns
        .iter()
        .map(|pattern| format!("Disallow: {pattern}\n"))
        .collect();
    let robots = format!("User-agent: *\n{lines}Sitemap: {ORIGIN}/sitemap.xml\n");
    Site {
        robots,
        urls,
        expected: OnceCell::from(Vec::from_iter((0..1000).map(|i| i % 2 == 1))),
    }
}

/// Whether a path matches a pattern: finds each segment between wildcards at its first position, in
/// order. The reference judge takes minutes with 10,000 rules.
fn matches(pattern: &str, path: &str) -> bool {
    let (text, anchored) = pattern
        .strip_suffix('$')
        .map_or((pattern, false), |text| (text, true));
    let mut segments = text.split('*').peekable();
    let Some(mut rest) = segments.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    while let Some(segment) = segments.next() {
        if anchored && segments.peek().is_none() {
            return rest.ends_with(segment);
        }
        let Some(start) = rest.find(segment) else {
            return false;
        };
        rest = &rest[start + segment.len()..];
    }
    !anchored || rest.is_empty()
}
