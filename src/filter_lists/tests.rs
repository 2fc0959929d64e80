//! The forms of a line, as a table; and properties of lines and of whole lists.

use super::entry::{Entry, EntryOptions, MAX_HOST, NotAnEntry, Scope, Scratch, parse_line};
use super::format::stored_form;
use super::read::{first_suffix, plain_suffix};
use super::text::{ListReport, MAX_LINE, read_entries};
use super::{FilterLists, ListCompiler, ListKind};
use crate::simd::AnyBackend;
use proptest::prelude::*;
use proptest::sample::select;
use std::io::{self, BufReader, Read};
use std::time::{Duration, Instant};

/// The lines and their meanings, as [`describe`] writes them.
const CASES: &str = include_str!("entries.tsv");

/// The entries and the rest of a line, in one text.
fn describe(line: &[u8], options: EntryOptions) -> String {
    let mut parts = Vec::new();
    let parsed = parse_line(
        line,
        options,
        &mut Scratch::default(),
        &mut |entry: Entry<'_>| parts.push(describe_entry(entry)),
    );
    let found = parsed.entries + parsed.cancellations;
    assert_eq!(found, parts.len() as u64);
    if parsed.skipped_names > 0 {
        parts.push(format!("{} skipped", parsed.skipped_names));
    }
    parts.extend(
        parsed
            .defect
            .map(|reason| format!("! {}", short_name(reason))),
    );
    parts.join("; ")
}

fn describe_entry(entry: Entry<'_>) -> String {
    let mut words = vec![match entry.scope {
        Scope::Domain => "domain".to_owned(),
        Scope::Host => "host".to_owned(),
    }];
    words.extend(entry.scheme.map(lossy));
    words.extend(entry.port.map(|port| format!(":{port}")));
    words.push(lossy(entry.host));
    words.extend(entry.path.map(lossy));
    let mark = if entry.is_exception { "@@" } else { "" };
    let cancel = if entry.is_cancellation { "cancel " } else { "" };
    format!("{cancel}{mark}{}", words.join(" "))
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn short_name(reason: NotAnEntry) -> &'static str {
    match reason {
        NotAnEntry::NoHost => "no host",
        NotAnEntry::HostCharacter => "character",
        NotAnEntry::LongHost => "long host",
        NotAnEntry::HostWildcard => "wildcard",
        NotAnEntry::Number => "number",
        NotAnEntry::AddressRange => "range",
        NotAnEntry::UserWithoutScheme => "user",
        NotAnEntry::OnlyFragment => "fragment",
        NotAnEntry::WhiteSpace => "white space",
        NotAnEntry::PublicSuffix => "suffix",
        NotAnEntry::Redirect => "redirect",
        NotAnEntry::ElementHiding => "hiding",
        NotAnEntry::RegularExpression => "regex",
        NotAnEntry::Options => "options",
        NotAnEntry::AdblockPattern => "pattern",
        NotAnEntry::CarriageReturn => "CR",
        NotAnEntry::LongLine => "long line",
        NotAnEntry::Scheme => "scheme",
        NotAnEntry::Key => "key",
        NotAnEntry::PortZero => "port 0",
        NotAnEntry::LongPath => "long path",
        NotAnEntry::OneLabel => "one label",
        NotAnEntry::Condition => "condition",
        NotAnEntry::WordCharacter => "word character",
        NotAnEntry::NotAscii => "not ASCII",
        NotAnEntry::SubstringBound => "bound",
        NotAnEntry::SubstringTable => "table",
        NotAnEntry::LongWord => "long word",
    }
}

#[test]
fn lines_mean_what_their_form_says() {
    let mut failures = Vec::new();
    let rows = CASES.lines().filter(|row| row.starts_with('"'));
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let [line, expected, why] = columns[..] else {
            panic!("{row:?} has {} columns", columns.len());
        };
        let text: String = serde_json::from_str(line).unwrap();
        let meaning = describe(text.as_bytes(), EntryOptions::default());
        let meaning = if meaning.is_empty() { "-" } else { &meaning };
        if meaning != expected {
            failures.push(format!("{line} ({why}): {meaning:?}, not {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn suffixes_are_domains_if_that_is_allowed() {
    let options = EntryOptions {
        allow_suffixes: true,
    };
    assert_eq!(describe(b"com", options), "domain com");
    assert_eq!(describe(b"||co.uk^", options), "domain co.uk");
    assert_eq!(describe("рф".as_bytes(), options), "domain xn--p1ai");
}

#[test]
fn hosts_have_a_greatest_length() {
    let options = EntryOptions::default();
    let host = format!("{}.example", "a.".repeat(200).get(..MAX_HOST - 8).unwrap());
    assert_eq!(host.len(), MAX_HOST);
    assert_eq!(describe(host.as_bytes(), options), format!("domain {host}"));
    let longer = format!("b{host}");
    assert_eq!(describe(longer.as_bytes(), options), "! long host");
}

#[test]
fn bytes_that_are_not_utf8_are_no_host() {
    let options = EntryOptions::default();
    assert_eq!(describe(b"ex\xff.example", options), "! character");
    assert_eq!(
        describe(b"a.example/\xff", options),
        "host a.example /\u{fffd}"
    );
}

/// What the lines of lists are made of.
const TOKENS: &[&str] = &[
    "@@",
    "||",
    "|",
    "^",
    "$",
    "$all",
    "$badfilter",
    "$third-party",
    "=",
    "*",
    "*.",
    ".",
    "..",
    "/",
    "//",
    "://",
    "http://",
    "https://",
    "ws://",
    ":",
    ":80",
    ":8080",
    "?",
    "#",
    "##",
    " #",
    " ",
    "\t",
    "@",
    ";",
    "%",
    "%2e",
    "[",
    "]",
    "[::1]",
    "::1",
    "fe80::1%lo0",
    "0.0.0.0",
    "127.0.0.1 ",
    "1.2.3.4",
    "0x7f",
    "16909060",
    "/24",
    "com",
    "co.uk",
    "example",
    "example.com",
    "a_b",
    "-",
    "xn--",
    "xn--p1ai",
    "bücher",
    "ß",
    "。",
    "address=/",
    "server=/",
    "local=/",
    "localhost",
    "!",
    "\u{feff}",
    "\0",
];

fn mixture() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(select(TOKENS), 0..9).prop_map(|tokens| tokens.concat().into_bytes())
}

/// Checks that the entries of a line have the form that [`Entry`] promises.
fn check_line(line: &[u8]) {
    for allow_suffixes in [false, true] {
        let options = EntryOptions { allow_suffixes };
        parse_line(
            line,
            options,
            &mut Scratch::default(),
            &mut |entry: Entry<'_>| {
                check_entry(entry, options);
            },
        );
    }
}

fn check_entry(entry: Entry<'_>, options: EntryOptions) {
    assert!((1..=MAX_HOST).contains(&entry.host.len()));
    assert!(entry.host.is_ascii() && !entry.host.ends_with(b"."));
    if let Some(path) = entry.path {
        assert!(path.starts_with(b"/") && path.len() > 1 && !path.contains(&b'#'));
    }
    // The host as a URL has itself as its host, and so has the line that only names it.
    let url = [b"http://", entry.host].concat();
    let mut key = Vec::new();
    let parts = crate::url::split(&url, crate::Profile::Google, &mut key).unwrap();
    assert_eq!(parts.origin, url, "{}", entry.host.escape_ascii());
    let host = lossy(entry.host);
    assert_eq!(describe(&url, options), format!("host http {host}"));
    if entry.scope == Scope::Domain && entry.host.contains(&b'.') {
        assert_eq!(describe(entry.host, options), format!("domain {host}"));
    }
}

proptest! {
    #[test]
    fn any_bytes_give_well_formed_entries(line in proptest::collection::vec(any::<u8>(), 0..60)) {
        check_line(&line);
    }

    #[test]
    fn any_mixture_of_forms_gives_well_formed_entries(line in mixture()) {
        check_line(&line);
    }

    /// A blank before a domain makes the parser take its general way.
    #[test]
    fn plain_domains_are_what_the_general_way_makes_of_them(
        line in "(xn--)?[a-z0-9-]{0,3}(\\.[a-z0-9-]{0,3}){0,4}(\\.(com|uk|k12|us|ma|1|0x7f|g))?\\.?",
    ) {
        let meanings = [line.clone(), format!(" {line}")].map(|line| {
            let mut entries = Vec::new();
            let mut scratch = Scratch::default();
            let options = EntryOptions::default();
            let parsed = parse_line(line.as_bytes(), options, &mut scratch, &mut |entry: Entry<'_>| {
                entries.push(describe_entry(entry));
            });
            (entries, parsed)
        });
        prop_assert_eq!(&meanings[0], &meanings[1]);
    }

    #[test]
    fn lists_are_their_lines(
        lines in proptest::collection::vec(mixture(), 0..8),
        capacity in select(vec![1usize, 2, 7, 64]),
    ) {
        let text = lines.join(b"\n".as_slice());
        let mut entries = Vec::new();
        let mut report = ListReport::default();
        let reader = BufReader::with_capacity(capacity, text.as_slice());
        read_entries(
            reader,
            EntryOptions::default(),
            &mut report,
            |entry, part: &mut Vec<String>| part.push(describe_entry(entry)),
            |part| entries.extend(part),
        )
        .unwrap();
        let mut expected = Vec::new();
        let mut defects = 0;
        for line in text.split(|&b| b == b'\n') {
            let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            let parsed = parse_line(
                line,
                EntryOptions::default(),
                &mut Scratch::default(),
                &mut |entry: Entry<'_>| expected.push(describe_entry(entry)),
            );
            defects += u64::from(parsed.defect.is_some());
        }
        let found = report.entries + report.cancellations;
        prop_assert_eq!(found, entries.len() as u64);
        prop_assert_eq!(report.not_entries.values().sum::<u64>(), defects);
        prop_assert_eq!(report.examples.len() as u64, defects.min(5));
        prop_assert_eq!(entries, expected);
    }
}

fn report_of(text: &[u8]) -> ListReport {
    let mut report = ListReport::default();
    read_entries(
        text,
        EntryOptions::default(),
        &mut report,
        |_, ()| {},
        |()| {},
    )
    .unwrap();
    report
}

#[test]
fn a_report_counts_each_kind_of_line() {
    let text = "\u{feff}# list\r\n\r\nexample.com\r\n@@=www.example.com\r\n\
                127.0.0.1 localhost a.example\r\n0.0.0.0 com b.example\r\ncom\r\na b";
    let report = report_of(text.as_bytes());
    assert_eq!(report.lines, 8);
    assert_eq!(report.blank_lines, 2);
    assert_eq!(report.entries, 4);
    assert_eq!(report.exceptions, 1);
    assert_eq!(report.skipped_names, 1);
    let reasons: Vec<_> = report.not_entries.into_iter().collect();
    let expected = [(NotAnEntry::WhiteSpace, 1), (NotAnEntry::PublicSuffix, 2)];
    assert_eq!(reasons, expected);
    let lines: Vec<u64> = report.examples.iter().map(|example| example.line).collect();
    assert_eq!(lines, [6, 7, 8]);
    assert_eq!(report.examples[0].text, "0.0.0.0 com b.example");
}

#[test]
fn lines_of_a_condition_that_does_not_hold_are_counted() {
    let text = "a.example\n!#if env_firefox\n! note\nb.example\n@@c.example\nnot an entry\n!#else\n\
                d.example\n!#endif\ne.example\n";
    let report = report_of(text.as_bytes());
    assert_eq!((report.entries, report.exceptions), (3, 0));
    assert_eq!((report.lines, report.blank_lines), (10, 4));
    let reasons: Vec<_> = report.not_entries.into_iter().collect();
    assert_eq!(reasons, [(NotAnEntry::Condition, 3)]);
    assert_eq!(report.examples[0].text, "b.example");
}

/// A project publishes the same domains in these forms, each with comments of its kind.
#[test]
fn the_forms_of_one_list_compile_to_the_same_bytes() {
    let domains = [
        "0.go8.example",
        "ads.example",
        "xn--bcher-kva.example",
        "b_d.example",
    ];
    let forms = [
        ("# a list\n", "", ""),
        ("# a list\n", "0.0.0.0 ", ""),
        (
            "#\t<localhost>\n127.0.0.1 localhost\n",
            "127.0.0.1\t",
            " # seen",
        ),
        ("! Title: a list\n", "||", "^"),
        ("# a list\n", "server=/", "/"),
        ("# a list\n", "address=/", "/0.0.0.0"),
        ("# a list\n", "*.", ""),
    ];
    let compiled = forms.map(|(head, before, after)| {
        let lines = domains.map(|domain| format!("{before}{domain}{after}\r\n"));
        let text = head.to_owned() + &lines.concat();
        let mut compiler = ListCompiler::new();
        let report = compiler
            .add("own", ListKind::Block, text.as_bytes())
            .unwrap();
        assert_eq!(report.entries, domains.len() as u64, "{text}");
        assert_eq!(report.examples, [], "{text}");
        compiler.finish().unwrap().to_vec().unwrap()
    });
    for (bytes, form) in compiled.iter().zip(forms) {
        assert!(*bytes == compiled[0], "{form:?}");
    }
}

/// The entries of lists, as they are found for their hosts and paths.
fn compiled_entries(lists: &[(ListKind, &str)], urls: &[&str]) -> Vec<Option<String>> {
    let mut compiler = ListCompiler::new();
    for (number, (kind, text)) in lists.iter().enumerate() {
        compiler
            .add(&number.to_string(), *kind, text.as_bytes())
            .unwrap();
    }
    let compiled = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    compiled.verify().unwrap();
    let entry_of = |url: &&str| {
        let found = compiled.find(url.as_bytes()).unwrap();
        found.map(|found| found.entry().unwrap().to_string())
    };
    urls.iter().map(entry_of).collect()
}

#[test]
fn badfilter_cancels_the_equal_entries_of_all_lists() {
    let urls = [
        "http://a.example/",
        "http://b.example/x",
        "http://c.example/",
        "http://d.example/",
    ];
    let block = "||a.example^\n||b.example/x\n||b.example/xy\nc.example\n=a.example\n\
                 @@c.example\nd.example\n";
    let listed = ["a.example", "||b.example/x", "@@c.example", "d.example"];
    let found = compiled_entries(&[(ListKind::Block, block)], &urls);
    assert_eq!(found, listed.map(|entry| Some(entry.to_owned())));
    // One entry for a host, one for a path, and an exception. `=a.example` is another entry.
    let cancel = "||a.example^$badfilter\n||b.example/x$badfilter\n@@||c.example^$badfilter\n";
    let left = ["=a.example", "", "c.example", "d.example"];
    let left = left.map(|entry| (!entry.is_empty()).then(|| entry.to_owned()));
    for (first, second) in [(block, cancel), (cancel, block)] {
        let lists = [(ListKind::Block, first), (ListKind::Block, second)];
        assert_eq!(compiled_entries(&lists, &urls), left);
    }
    let twice = [
        (ListKind::Block, block),
        (ListKind::Block, block),
        (ListKind::Block, cancel),
    ];
    assert_eq!(compiled_entries(&twice, &urls), left);
    // An entry of `--allow` is an exception, so the rule for the listed entry leaves it.
    let allowed = [
        (ListKind::Block, cancel),
        (ListKind::Allow, "a.example\nd.example\n"),
    ];
    let found = compiled_entries(&allowed, &urls[..1]);
    assert_eq!(found, [Some("@@a.example".to_owned())]);
}

#[test]
fn a_report_counts_cancellations_apart() {
    let report = report_of(b"||a.example^$badfilter\n@@||b.example^$badfilter\nc.example\n");
    assert_eq!(report.cancellations, 2);
    assert_eq!((report.entries, report.exceptions), (1, 0));
    assert_eq!(report.blank_lines, 0);
}

#[test]
fn an_empty_list_has_no_lines() {
    assert_eq!(report_of(b""), ListReport::default());
    assert_eq!(report_of(b"\n").lines, 1);
    assert_eq!(report_of(b"a.example\n").lines, 1);
    assert_eq!(report_of("\u{feff}".as_bytes()).blank_lines, 1);
}

/// `cat` of two files has the mark of the second one within the list.
#[test]
fn byte_order_marks_at_the_starts_of_lines_are_skipped() {
    let text = "\u{feff}a.example\n\u{feff}0.0.0.0 b.example\n\u{feff}# c\n\u{feff}||d.example^\n";
    let report = report_of(text.as_bytes());
    assert_eq!((report.entries, report.blank_lines), (3, 1));
    assert_eq!(report.examples, []);
    // The mark counts for the limit, so that no line is parsed that was cut.
    let long = format!("\u{feff}a.example/{}", "x".repeat(MAX_LINE));
    let report = report_of(long.as_bytes());
    assert_eq!((report.entries, report.examples.len()), (0, 1));
}

/// A file of an old Mac is one line, which may look like a comment.
#[test]
fn a_cr_within_a_line_is_a_defect() {
    let long = format!("# hosts\r{}", "0.0.0.0 a.example\r".repeat(10_000));
    for text in [
        "# hosts\r0.0.0.0 a.example\r0.0.0.0 b.example\r",
        "a.example\rb.example",
        "a.example\rb.example\r\n",
        &long,
    ] {
        let report = report_of(text.as_bytes());
        assert_eq!((report.lines, report.entries), (1, 0), "{text}");
        let reasons: Vec<_> = report.not_entries.into_keys().collect();
        assert_eq!(reasons, [NotAnEntry::CarriageReturn], "{text}");
    }
    let report = report_of(b"\ra.example\r\r\n\r\n# b\r\nc.example\r");
    assert_eq!((report.entries, report.blank_lines), (2, 2));
    assert_eq!(report.examples, []);
}

#[test]
fn lines_up_to_the_limit_are_parsed() {
    for over in [-2i32, -1, 0, 1, 2, 70_000] {
        let len = (MAX_LINE as i32 + over) as usize;
        let mut text = b"a.example/".to_vec();
        text.resize(len, b'x');
        text.extend_from_slice(b"\nb.example");
        let report = report_of(&text);
        let is_long = u64::from(over > 0);
        assert_eq!(report.lines, 2, "{over}");
        assert_eq!(report.entries, 2 - is_long, "{over}");
        let counted = report.not_entries.get(&NotAnEntry::LongLine);
        assert_eq!(counted.copied().unwrap_or(0), is_long, "{over}");
    }
}

#[test]
fn examples_are_harmless_and_short() {
    let report = report_of("a b\u{1b}[31m\u{202e}\u{200b}\u{2028}é\u{7f}\tc\n".as_bytes());
    let text = &report.examples[0].text;
    assert_eq!(
        text,
        "a b\\u{1b}[31m\\u{202e}\\u{200b}\\u{2028}é\\u{7f}\\u{9}c"
    );
    let report = report_of("good.example\u{a0}\n \u{3000}a b\n".as_bytes());
    let texts: Vec<&str> = report
        .examples
        .iter()
        .map(|example| &*example.text)
        .collect();
    assert_eq!(texts, ["good.example\\u{a0}", "\\u{3000}a b"]);
    let report = report_of(format!("a {}", "é".repeat(100)).as_bytes());
    assert_eq!(report.examples[0].text, format!("a {}…", "é".repeat(58)));
    let report = report_of(format!("a {}", "😀".repeat(58)).as_bytes());
    assert_eq!(report.examples[0].text, format!("a {}", "😀".repeat(58)));
    assert_eq!(report_of("a b\n".repeat(7).as_bytes()).examples.len(), 5);
}

/// A reader that fails after its text.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("gone")),
            len => Ok(len),
        }
    }
}

#[test]
fn a_failing_reader_ends_the_list() {
    let mut report = ListReport::default();
    let reader = BufReader::new(Failing(b"a.example\nb.exam"));
    let result = read_entries(
        reader,
        EntryOptions::default(),
        &mut report,
        |_, ()| {},
        |()| {},
    );
    assert_eq!(result.unwrap_err().to_string(), "gone");
    // The line that the error cuts would be another host.
    assert_eq!(report.entries, 1);
}

/// How long the parser takes for a line this many times.
fn time_of_lines(line: &str, times: usize) -> Duration {
    let start = Instant::now();
    (0..times).for_each(|_| check_line(line.as_bytes()));
    start.elapsed()
}

/// A search that starts again at each byte would take sixteen times as long for a long line as for as
/// many bytes in short ones. Other programs disturb both times, so one of several tries has to show it.
#[test]
fn long_lines_take_linear_time() {
    const SHORTER: usize = 16;
    let parts = [
        "$", "$,", "#@", "#", " #", "a ", "0.0.0.0 ", "|", "^", "*", "*.", ".", "a.", "://", "/$",
        "@", "%", "%41", "[", ":", "ü", "\u{4e00}", "a\u{300}", "xn--", "-", "/", "=", "~",
    ];
    for prefix in ["", "||", "0.0.0.0 a ", "address=/", "http://"] {
        for part in parts {
            let long = format!("{prefix}{}", part.repeat(MAX_LINE / part.len()));
            let short = format!("{prefix}{}", part.repeat(MAX_LINE / SHORTER / part.len()));
            let is_linear = (0..20).any(|_| {
                let of_long = time_of_lines(&long, 1);
                of_long < 4 * time_of_lines(&short, SHORTER)
            });
            assert!(is_linear, "{prefix:?} and {part:?}");
        }
    }
}

proptest! {
    #[test]
    fn plain_origins_have_the_first_suffixes_of_their_hosts(
        scheme in select(vec!["http://", "https://"]),
        host in "[a-c.-]{0,40}",
        rest in select(vec!["", "/", "/a.b.c/very.long.path.of.several.labels"]),
    ) {
        let origin = format!("{scheme}{host}");
        let text = format!("{origin}{rest}");
        for backend in AnyBackend::all() {
            let suffix = plain_suffix(text.as_bytes(), origin.len(), backend);
            prop_assert_eq!(suffix, first_suffix(host.as_bytes()), "{}", text);
        }
    }
}

proptest! {
    /// Short labels, so that hosts have much in common, and one is often the start of another.
    #[test]
    fn texts_of_hosts_are_compared_as_their_decoded_forms(
        hosts in proptest::collection::vec("[ab]{1,2}(\\.[ab]{1,2}){1,3}|1\\.2\\.3\\.[4-6]", 1..60),
        others in proptest::collection::vec("[ab.]{0,8}|1\\.2\\.3\\.[4-6]", 20),
    ) {
        let mut compiler = ListCompiler::new().allow_suffixes(true);
        compiler.add("own", ListKind::Block, hosts.join("\n").as_bytes()).unwrap();
        let lists = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
        for number in 0.. {
            let Ok(stored) = lists.stored_host(number) else {
                break;
            };
            for host in hosts.iter().chain(&others).map(String::as_bytes) {
                let is_equal = stored_form(host).eq(stored.iter().copied());
                prop_assert_eq!(lists.has_text(number, host).unwrap(), is_equal);
            }
        }
    }
}

/// Among these names, some have the tag of a host in the index.
#[test]
fn hosts_with_equal_tags_are_told_apart() {
    let mut compiler = ListCompiler::new();
    let entries = "listed.example\ndeeper.ancestor.example\n";
    compiler
        .add("own", ListKind::Block, entries.as_bytes())
        .unwrap();
    let lists = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let mut candidates = 0;
    for number in 0..1_000_000 {
        let host = format!("{number}.example");
        candidates += usize::from(lists.has_candidate(host.as_bytes()));
        assert_eq!(lists.find_host(host.as_bytes()).unwrap(), None, "{host}");
        let url = format!("http://deeper.{host}/");
        assert!(lists.find(url.as_bytes()).unwrap().is_none(), "{url}");
    }
    assert!(candidates > 20, "{candidates}");
}
