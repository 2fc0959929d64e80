//! Random test data, for all tests: proptest strategies for robots.txt files, rules and URLs, and a
//! seeded generator for data in bulk.
//!
//! The unit tests of the matcher include this file too, so it uses nothing of robosieve.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::ops::Range;

/// The origin of all generated URLs.
pub(crate) const ORIGIN: &str = "http://h.example";

/// Agents that share prefixes, differ in case, use letters outside the RFC's alphabet, or have
/// fallbacks.
pub(crate) const AGENTS: &[&str] = &["a", "ab", "MJ12bot", "b c", "x:a", "ab:a", "*", "zz"];

/// Segments of rule paths and URL paths: every byte with a special meaning, and texts that often
/// match each other.
pub(crate) const SEGMENTS: &[&str] = &[
    "/",
    "a",
    "b",
    "ab",
    ".",
    "?",
    "=",
    "*",
    "**",
    "$",
    "%",
    "%41",
    "%2a",
    "%2A",
    "%24",
    "%c3%A4",
    "%c3%a4",
    "ä",
    ";",
    "//",
    "index.htm",
    "/index.html",
    "robots.txt",
    "abcdefghij",
    "/a/b/c/d/e/f",
    "-",
    " ",
    "\u{1}",
    // At the end, because stored inputs of the fuzz targets count the segments.
    ":",
    "%3A",
    "%2f",
    "%3F",
    "%26",
    "%3d",
    "%2B",
];

/// The configuration of a property that runs `cases` times. No failure is written to disk: proptest
/// prints the shrunk input, which becomes a test of its own.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Some of the given texts, concatenated.
pub(crate) fn concat(texts: &'static [&'static str], count: Range<usize>) -> BoxedStrategy<String> {
    vec(select(texts), count)
        .prop_map(|texts| texts.concat())
        .boxed()
}

/// A text of a path: segments, as many as `count` allows.
pub(crate) fn text(count: Range<usize>) -> BoxedStrategy<String> {
    concat(SEGMENTS, count)
}

/// The path of a rule: with and without a first `/`, stars alone, `$` alone, escapes, many stars at
/// the end.
pub(crate) fn rule_path() -> BoxedStrategy<String> {
    let starts = select(vec![
        "/", "/", "/", "/", "/*", "/*", "*", "**", "", "$", "a", "%2A", "/%2f",
    ]);
    let ends = select(vec![
        "",
        "",
        "",
        "",
        "$",
        "*",
        "*$",
        "**",
        "**$",
        " *",
        "****************",
        "****************$",
    ]);
    (starts, text(0..6), ends)
        .prop_map(|(start, middle, end)| format!("{start}{middle}{end}"))
        .boxed()
}

/// A URL on [`ORIGIN`], without white space at its end.
pub(crate) fn url() -> BoxedStrategy<String> {
    let start = select(vec!["", "/", "/", "/", "/", "?", ";"]);
    let url = (
        start,
        text(0..6),
        select(vec!["", "", "", "#f", "#/x", " #f"]),
    )
        .prop_map(|(start, path, fragment)| {
            // A blank after the host is an error, and `#` ends the host too.
            let (path, fragment) = match start {
                "" => ("", fragment.trim_start()),
                _ => (path.as_str(), fragment),
            };
            let url = format!("{ORIGIN}{start}{path}{fragment}");
            url.trim_end().to_owned()
        });
    url.boxed()
}

/// The value of a `user-agent` line; most of them name one of [`AGENTS`].
pub(crate) fn agent_value() -> BoxedStrategy<&'static str> {
    select(vec![
        "a",
        "A/2",
        "ab",
        "*",
        "* x",
        "*x",
        "mj12bot",
        "MJ12bot/1",
        "b  c",
        "b",
        "",
        "zzz",
    ])
    .boxed()
}

/// A line of a robots.txt, without its end.
fn robots_line() -> BoxedStrategy<String> {
    let colon = select(vec![": ", ":", " : ", " ", "\t"]);
    let field = |keys: &[&'static str], value: BoxedStrategy<String>| {
        (select(keys.to_vec()), colon.clone(), value)
            .prop_map(|(key, colon, value)| format!("{key}{colon}{value}"))
    };
    let other = [
        "sitemap: /s",
        "crawl-delay: 1",
        "# c",
        "",
        "noise",
        "x: y",
        "allow: /a # c",
        "\0disallow: /",
    ];
    let line = prop_oneof![
        3 => field(&["user-agent", "User-Agent", "user-agent", "useragent"], agent_value().prop_map(str::to_owned).boxed()),
        4 => field(&["allow", "Allow", "allow", "allowed"], rule_path()),
        4 => field(&["disallow", "DISALLOW", "disallow", "disalow"], rule_path()),
        1 => select(other.to_vec()).prop_map(str::to_owned),
    ];
    line.boxed()
}

/// A robots.txt with every kind of line end, some with a byte order mark.
pub(crate) fn robots_txt() -> BoxedStrategy<String> {
    let end = select(vec!["\n", "\n", "\n", "\r\n", "\r", "\n\r", "\r\r\n"]);
    (
        select(vec!["", "", "", "\u{feff}"]),
        vec((robots_line(), end), 0..24),
    )
        .prop_map(|(mark, lines)| {
            lines
                .into_iter()
                .fold(mark.to_owned(), |text, (line, end)| text + &line + end)
        })
        .boxed()
}

/// A seeded generator (SplitMix64): the same seed gives the same data in every run.
pub(crate) struct Random(pub u64);

impl Random {
    /// The next 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is at least 1.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One of the items.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// Shuffles the items (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}
