//! Words in URLs, against a slow model that shares no code with the search.

use super::text::ListReport;
use super::word::{WordKind, parse_word};
use super::words::MAX_WORD;
use super::{FilterLists, ListCompiler, ListKind, WordMemory, WordsIn};
use crate::simd::AnyBackend;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The words of three lists.
#[derive(Clone, Debug, Default)]
struct Model {
    words: Vec<String>,
    soft_words: Vec<String>,
    substrings: Vec<String>,
    threshold: usize,
}

impl Model {
    fn compile(&self, part: WordsIn) -> FilterLists {
        let mut compiler = ListCompiler::new()
            .soft_threshold(self.threshold as u32)
            .words_in(part);
        let lists = [
            ("hard", ListKind::Words, &self.words),
            ("soft", ListKind::SoftWords, &self.soft_words),
            ("parts", ListKind::Substrings, &self.substrings),
        ];
        for (name, kind, words) in lists {
            let text = words.join("\n");
            compiler.add(name, kind, text.as_bytes()).unwrap();
        }
        let lists = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
        lists.verify().unwrap();
        lists
    }

    /// What decides about the text of a URL after its scheme.
    fn decide(&self, text: &[u8]) -> Option<String> {
        let text = text.split(|b| *b == b'#').next().unwrap_or_default();
        let text = unescape(text).to_ascii_lowercase();
        let is_other = |b: &u8| !b.is_ascii_lowercase() && !b.is_ascii_digit();
        let tokens: Vec<&str> = text
            .split(is_other)
            .map(|token| std::str::from_utf8(token).unwrap())
            .collect();
        let has = |words: &[String], token: &str| words.iter().any(|word| word == token);
        if let Some(word) = tokens.iter().find(|token| has(&self.words, token)) {
            return Some(format!("word:{word}"));
        }
        let mut soft: Vec<&str> = Vec::new();
        for token in &tokens {
            if has(&self.soft_words, token) && !soft.contains(token) {
                soft.push(token);
            }
        }
        match soft[..] {
            [first, ..] if self.threshold == 1 => return Some(format!("soft:{first}")),
            _ if soft.len() >= self.threshold => {
                return Some(format!("soft:{},{}", soft[0], soft[self.threshold - 1]));
            }
            _ => {}
        }
        let joined = tokens.concat();
        for start in 0..joined.len() {
            let beginning = self
                .substrings
                .iter()
                .filter(|word| joined[start..].starts_with(*word));
            if let Some(longest) = beginning.max_by_key(|word| word.len()) {
                return Some(format!("substring:{longest}"));
            }
        }
        None
    }
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let digits = text
            .get(at + 1..at + 3)
            .and_then(|d| std::str::from_utf8(d).ok());
        let is_hex = digits.is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        if text[at] == b'%' && is_hex {
            out.push(u8::from_str_radix(digits.unwrap(), 16).unwrap());
            at += 3;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// The entry that decides about a URL; all backends must agree on it.
fn entry_of(lists: &FilterLists, authority: &str, rest: &[u8]) -> Option<String> {
    let url = [b"https://", authority.as_bytes(), rest].concat();
    let found = lists
        .find(&url)
        .unwrap()
        .map(|found| found.entry().unwrap());
    let mut memory = WordMemory::default();
    let Some(mut search) = lists.word_search(&mut memory) else {
        return found;
    };
    // A host after `http://` begins where less than a whole tail is before it.
    let short = [b"http://", authority.as_bytes(), rest].concat();
    // A search may read beyond the URL.
    let longer = [&url[..], &[b'a'; 80]].concat();
    let longer_short = [&short[..], &[b'a'; 80]].concat();
    for backend in AnyBackend::all() {
        let mut decisions = vec![search.find(authority.as_bytes(), rest, backend)];
        for (scheme, text) in [(8, &url), (8, &longer), (7, &short), (7, &longer_short)] {
            let origin_len = scheme + authority.len();
            decisions.push(search.find_plain(text, origin_len, rest.len(), backend));
        }
        for decision in decisions {
            let entry = decision.unwrap().map(|decision| {
                let found = super::ListMatch::new(lists, decision);
                found.entry().unwrap()
            });
            assert_eq!(
                entry,
                found,
                "{backend:?}: {}",
                String::from_utf8_lossy(&url)
            );
        }
    }
    found
}

/// A word of more than two vectors of 16 bytes.
const LONG_LABEL: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

pub(super) fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[ab1]{1,3}",
        2 => "[ab]{6,10}",
        1 => "[ab]{15,17}",
        1 => select(vec!["http", "https", "com", LONG_LABEL]).prop_map(str::to_owned),
    ]
}

fn rest() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => word().prop_map(String::into_bytes),
        2 => word().prop_map(|word| word.to_ascii_uppercase().into_bytes()),
        4 => select(vec!["/", "-", "_", ".", "?", "&", "=", "#", "+", "%20", "%2f", "%41", "%62%",
            "%", "%4", "\u{e9}", "%C3%A9", "@[`{:", "%00"]).prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(128..=255u8, 1..3),
    ];
    vec(piece, 0..16).prop_map(|pieces| [b"/".to_vec(), pieces.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: super::reference::rounds(), ..ProptestConfig::default() })]

    #[test]
    fn words_decide_as_the_model(
        words in vec(word(), 0..6),
        soft_words in vec(word(), 0..8),
        substrings in vec("[ab1]{2,6}", 0..3),
        threshold in 1..4usize,
        hosts in vec("[ab1]{1,4}(-[ab]{1,2})?\\.(com|net)", 1..3),
        rests in vec(rest(), 1..40),
    ) {
        let model = Model { words, soft_words, substrings, threshold };
        for part in [WordsIn::Url, WordsIn::Host, WordsIn::Path] {
            let lists = model.compile(part);
            for (host, rest) in hosts.iter().cycle().zip(&rests) {
                let text = match part {
                    WordsIn::Url => [host.as_bytes(), rest].concat(),
                    WordsIn::Host => host.clone().into_bytes(),
                    WordsIn::Path => rest.clone(),
                };
                let found = entry_of(&lists, host, rest);
                prop_assert_eq!(found, model.decide(&text), "{}", String::from_utf8_lossy(&text));
            }
        }
    }
}

/// Each length of a word at each distance from the start of a vector.
#[test]
fn words_of_any_length_are_found_anywhere() {
    for len in (1..=40).chain([63, 64, 65, 254, 255]) {
        let word: String = ('a'..='z').cycle().take(len).collect();
        let model = Model {
            words: vec![word.clone()],
            threshold: 2,
            ..Model::default()
        };
        let lists = model.compile(WordsIn::Path);
        for before in 0..70 {
            let start = "-".repeat(before);
            let expected = Some(format!("word:{word}"));
            let found = |text: String| entry_of(&lists, "h.example", text.as_bytes());
            assert_eq!(found(format!("/{start}{word}")), expected, "{len} {before}");
            assert_eq!(
                found(format!("/{start}{word}/")),
                expected,
                "{len} {before}"
            );
            assert_eq!(found(format!("/{start}{word}x")), None, "{len} {before}");
            assert_eq!(found(format!("/{start}x{word}")), None, "{len} {before}");
        }
    }
}

#[test]
fn entries_for_hosts_and_paths_decide_before_words() {
    let mut compiler = ListCompiler::new();
    let lists = [
        (
            "hosts",
            ListKind::Block,
            "listed.example\npart.example/listed\n",
        ),
        ("ours", ListKind::Allow, "good.example\npart.example/good\n"),
        ("words", ListKind::Words, "casino\n"),
        ("more", ListKind::Words, "casino\npoker\n"),
    ];
    for (name, kind, text) in lists {
        compiler.add(name, kind, text.as_bytes()).unwrap();
    }
    let lists = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    lists.verify().unwrap();
    for (url, expected) in [
        ("https://listed.example/casino", "hosts listed.example"),
        ("https://good.example/casino", "ours @@good.example"),
        (
            "https://part.example/good/casino",
            "ours @@part.example/good",
        ),
        ("https://part.example/casino", "words,more word:casino"),
        (
            "HTTPS://u:p@Other.Example:443/CASINO?x",
            "words,more word:casino",
        ),
        ("https://casino.example", "words,more word:casino"),
        ("https://other.example/p%6Fker#x", "more word:poker"),
        ("https://other.example/#poker", "-"),
        ("https://other.example/%23poker", "more word:poker"),
        ("https://casino:pass@other.example/", "-"),
        ("casino://other.example/", "-"),
        ("https://other.example/casinos", "-"),
    ] {
        let found = lists.find(url.as_bytes()).unwrap();
        let found = found.map_or("-".to_owned(), |found| {
            let names: Vec<&str> = found.lists().collect();
            format!("{} {}", names.join(","), found.entry().unwrap())
        });
        assert_eq!(found, expected, "{url}");
    }
}

/// A line, its kind, and the word or the start of the reason.
const LINES: &[(&str, WordKind, &str)] = &[
    ("casino", WordKind::Word, "casino"),
    (" Casino\t", WordKind::Word, "casino"),
    ("x1", WordKind::SoftWord, "x1"),
    ("# casino", WordKind::Word, ""),
    ("!casino", WordKind::Substring, ""),
    ("", WordKind::Word, ""),
    ("casino # gambling sites", WordKind::Word, "casino"),
    ("big win\t# gambling sites", WordKind::Substring, "bigwin"),
    ("c#x", WordKind::Substring, "cx"),
    ("word,category,3", WordKind::Substring, "a row of a table"),
    ("word;category", WordKind::Substring, "a row of a table"),
    ("word\tcategory", WordKind::Substring, "a row of a table"),
    ("a \"word\" b", WordKind::Substring, "a row of a table"),
    ("sex-shop", WordKind::Word, "a word with other characters"),
    (
        "two words",
        WordKind::SoftWord,
        "a word with other characters",
    ),
    ("caf\u{e9}", WordKind::Word, "characters beyond ASCII"),
    ("caf\u{e9}", WordKind::Substring, "characters beyond ASCII"),
    ("Big Win", WordKind::Substring, "bigwin"),
    ("d'oh", WordKind::Substring, "doh"),
    (
        "c++",
        WordKind::Substring,
        "a substring that does not begin and end",
    ),
    (
        ".com",
        WordKind::Substring,
        "a substring that does not begin and end",
    ),
    (
        "-",
        WordKind::Substring,
        "a substring that does not begin and end",
    ),
];

#[test]
fn lines_of_words_have_letters_and_digits() {
    let mut word = Vec::new();
    for (line, kind, expected) in LINES {
        let parsed = parse_word(line.as_bytes(), *kind, &mut word);
        let found = match parsed.defect {
            Some(reason) => reason.to_string(),
            None if parsed.entries == 0 => String::new(),
            None => String::from_utf8(word.clone()).unwrap(),
        };
        let is_reason = parsed.defect.is_some() && found.starts_with(expected);
        assert!(
            found == *expected || is_reason,
            "{line:?}: {found:?}, not {expected:?}"
        );
    }
    for (len, is_word) in [(MAX_WORD, true), (MAX_WORD + 1, false)] {
        let parsed = parse_word("x".repeat(len).as_bytes(), WordKind::Word, &mut word);
        assert_eq!(parsed.entries == 1, is_word, "{len}");
    }
}

#[test]
fn a_report_counts_the_lines_of_words() {
    let mut compiler = ListCompiler::new();
    let text = "\u{feff}casino\r\n# comment\n\nCASINO\ntwo words\n";
    let report = compiler.add("w", ListKind::Words, text.as_bytes()).unwrap();
    let ListReport {
        lines,
        blank_lines,
        entries,
        ..
    } = report;
    assert_eq!([lines, blank_lines, entries], [5, 2, 2]);
    assert_eq!(report.examples[0].line, 5);
    let compiled = compiler.finish().unwrap();
    assert_eq!(compiled.words(), 1);
    let lists = FilterLists::new(compiled.to_vec().unwrap()).unwrap();
    let words = lists.metadata().words.clone().unwrap();
    assert_eq!([words.words, words.soft_words, words.substrings], [1, 0, 0]);
    assert_eq!((words.soft_threshold, words.part), (2, WordsIn::Url));
}

/// Substrings that begin with each other, those around each length of a filter and of a window, and
/// URLs that end in the middle of one.
fn substring() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab]{1,4}",
        4 => "[ab1]{4,9}",
        2 => "[ab]{14,18}",
        1 => (1..40usize).prop_map(|len| "a".repeat(len)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: super::reference::rounds(), ..ProptestConfig::default() })]

    #[test]
    fn substrings_decide_as_the_model(
        substrings in vec(substring(), 1..12),
        rests in vec(rest(), 1..30),
    ) {
        let model = Model { substrings, threshold: 2, ..Model::default() };
        let lists = model.compile(WordsIn::Path);
        for rest in rests {
            let found = entry_of(&lists, "h.example", &rest);
            prop_assert_eq!(found, model.decide(&rest), "{}", String::from_utf8_lossy(&rest));
        }
    }
}

/// One substring of each length, with other characters within it, at the end of a URL and before it.
#[test]
fn substrings_of_any_length_are_found_anywhere() {
    for len in (1..=40).chain([63, 64, 65, 254, 255]) {
        let word: String = ('a'..='z').cycle().take(len).collect();
        let model = Model {
            substrings: vec![word.clone()],
            threshold: 2,
            ..Model::default()
        };
        let lists = model.compile(WordsIn::Path);
        let divided = word.chars().map(|letter| format!("{letter}-"));
        let divided: String = divided.collect();
        for before in (0..20).chain(54..70) {
            let start = "0".repeat(before);
            let expected = Some(format!("substring:{word}"));
            let found = |text: &str| entry_of(&lists, "h.example", text.as_bytes());
            for text in [
                format!("/{start}{word}"),
                format!("/{start}{word}/"),
                format!("/{start}{divided}1"),
                format!("/{start}{}", word.to_uppercase()),
            ] {
                assert_eq!(found(&text), expected, "{text}");
            }
            assert_eq!(found(&format!("/{start}{}", &word[1..])), None);
            assert_eq!(found(&format!("/{start}{}#{word}", &word[..len - 1])), None);
        }
    }
}

/// Many substrings that begin alike, of which those that are listed begin with each other.
#[test]
fn substrings_that_share_their_first_letters_are_told_apart() {
    let mut substrings: Vec<String> = (0..5000).map(|number| format!("number{number}")).collect();
    substrings.push("number".to_owned() + &"7".repeat(200));
    let model = Model {
        substrings,
        threshold: 2,
        ..Model::default()
    };
    let lists = model.compile(WordsIn::Path);
    for (path, expected) in [
        ("/number-12", Some("number12")),
        ("/number-4999-9", Some("number4999")),
        ("/number-5000", Some("number500")),
        ("/numbernumber0", Some("number0")),
        ("/number-x", None),
        ("/numbe", None),
    ] {
        let expected = expected.map(|text| format!("substring:{text}"));
        assert_eq!(entry_of(&lists, "h.example", path.as_bytes()), expected);
        assert_eq!(model.decide(path.as_bytes()), expected);
    }
    let long = format!("/number{}", "7".repeat(300));
    let found = entry_of(&lists, "h.example", long.as_bytes());
    assert_eq!(found, Some(format!("substring:number{}", "7".repeat(200))));
}

/// A file without words has no word in its metadata: it is the same as before there were any.
#[test]
fn files_without_words_say_nothing_of_them() {
    let mut compiler = ListCompiler::new();
    compiler
        .add("own", ListKind::Block, "a.example".as_bytes())
        .unwrap();
    compiler
        .add("none", ListKind::Words, "# nothing".as_bytes())
        .unwrap();
    let lists = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    assert!(lists.metadata().words.is_none());
    assert!(lists.word_search(&mut WordMemory::default()).is_none());
    lists.verify().unwrap();
}
