//! A slow model of filter lists, and random lists that compare it with the compiled file.
//!
//! The model compares each entry with each URL, label by label. It shares the parser of entries with
//! the compiler, and nothing of the search.

use super::entry::{Entry, EntryOptions, Scope, Scratch, parse_line};
use super::{FilterLists, ListCompiler, ListKind};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OwnedEntry {
    host: String,
    is_domain: bool,
    scheme: Option<String>,
    port: Option<u16>,
    path: Option<String>,
    is_exception: bool,
}

impl OwnedEntry {
    fn of(entry: &Entry<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            host: text(entry.host),
            is_domain: entry.scope == Scope::Domain,
            scheme: entry.scheme.map(text),
            port: entry.port,
            path: entry.path.map(text),
            is_exception: entry.is_exception,
        }
    }

    /// How specific the entry is, if it covers the URL: labels of its host, and the length of its
    /// path.
    fn specificity(&self, url: &UrlParts) -> Option<(usize, usize)> {
        let labels: Vec<&str> = self.host.rsplit('.').collect();
        let own: Vec<&str> = url.host.rsplit('.').collect();
        let is_address = self.host.parse::<std::net::Ipv4Addr>().is_ok();
        let covers_host = if self.is_domain && !is_address {
            own.starts_with(&labels)
        } else {
            own == labels
        };
        let covers_origin = match (&self.scheme, self.port) {
            (None, None) => true,
            (None, Some(port)) => url.port == port,
            (Some(scheme), port) => {
                let default = if scheme == "https" { 443 } else { 80 };
                *scheme == url.scheme && port.unwrap_or(default) == url.port
            }
        };
        if !covers_host || !covers_origin {
            return None;
        }
        let is_whole = self.scheme.is_none() && self.port.is_none();
        let priority = match &self.path {
            None if is_whole => 0,
            None => 1,
            Some(path) if matches(path.as_bytes(), url.path.as_bytes()) => path.len(),
            Some(_) => return None,
        };
        Some((labels.len(), priority))
    }
}

/// Whether a pattern matches a path: `*` is any text, `$` at the end is the end.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], _) | ([b'$'], []) => true,
        ([b'*', rest @ ..], _) => (0..=path.len()).any(|at| matches(rest, &path[at..])),
        ([one, rest @ ..], [other, path @ ..]) => one == other && matches(rest, path),
        (_, []) => false,
    }
}

#[derive(Clone, Debug)]
struct UrlParts {
    scheme: String,
    host: String,
    port: u16,
    path: String,
}

/// The deciding entry by the model: whether it is an exception, the first list that has one as
/// specific, and the sets of lists of all such entries.
fn decide(
    lists: &[Vec<OwnedEntry>],
    url: &UrlParts,
) -> Option<(bool, usize, BTreeSet<Vec<usize>>)> {
    let all = || {
        let numbered = lists.iter().enumerate();
        numbered.flat_map(|(list, entries)| entries.iter().map(move |entry| (list, entry)))
    };
    let best = all()
        .filter_map(|(_, entry)| entry.specificity(url))
        .max()?;
    let equal: Vec<(usize, &OwnedEntry)> = all()
        .filter(|(_, entry)| entry.specificity(url) == Some(best))
        .collect();
    let is_exception = equal.iter().any(|(_, entry)| entry.is_exception);
    let deciding = equal
        .into_iter()
        .filter(|(_, entry)| entry.is_exception == is_exception);
    let deciding: Vec<(usize, &OwnedEntry)> = deciding.collect();
    let first = deciding.iter().map(|(list, _)| *list).min()?;
    let names = deciding.iter().map(|(_, entry)| {
        let has_entry = |list: &usize| lists[*list].contains(entry);
        (0..lists.len()).filter(has_entry).collect()
    });
    Some((is_exception, first, names.collect()))
}

fn label() -> impl Strategy<Value = &'static str> {
    select(vec![
        "a", "b", "www", "a-b", "com", "co", "uk", "xn--a", "1a",
    ])
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => vec(label(), 1..5).prop_map(|labels| labels.join(".")),
        1 => Just("192.0.2.7".to_owned()),
        1 => Just("2.192.0.2".to_owned()),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let part = select(vec!["/", "a", "b", "ab", "?", "x=1", "index.html"]);
    vec(part, 0..5).prop_map(|parts| format!("/{}", parts.concat()))
}

fn pattern() -> impl Strategy<Value = String> {
    let part = select(vec!["/", "a", "b", "*", "ab", "x=1"]);
    let end = select(vec!["", "", "$"]);
    (vec(part, 0..5), end).prop_map(|(parts, end)| format!("/{}{end}", parts.concat()))
}

pub(super) fn line() -> impl Strategy<Value = String> {
    let host_form = select(vec![
        "", "", "*.", "||", "=", "0.0.0.0 ", "https://", "http://",
    ]);
    let port = select(vec!["", "", "", ":80", ":443", ":8080"]);
    let exception = select(vec!["", "", "@@"]);
    let path = prop_oneof![3 => Just(String::new()), 2 => path(), 2 => pattern()];
    let option = prop_oneof![15 => Just(""), 1 => Just("$badfilter")];
    (exception, host_form, host(), port, path, option).prop_map(
        |(exception, form, host, port, path, option)| {
            format!("{exception}{form}{host}{port}{path}{option}")
        },
    )
}

fn url() -> impl Strategy<Value = UrlParts> {
    let scheme = select(vec!["http", "https"]);
    let port = select(vec![None, None, Some(80), Some(443), Some(8080)]);
    (scheme, host(), port, path()).prop_map(|(scheme, host, port, path)| UrlParts {
        port: port.unwrap_or(if scheme == "https" { 443 } else { 80 }),
        scheme: scheme.to_owned(),
        host,
        path,
    })
}

/// The number of random cases of each property.
pub(super) fn rounds() -> u32 {
    let rounds = std::env::var("ROBOSIEVE_TEST_LIST_ROUNDS");
    rounds.map_or(400, |rounds| rounds.parse().unwrap())
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: rounds(),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// More than 256 classes, so that each host has two bytes for its class.
#[test]
fn many_sets_of_lists_are_told_apart() {
    for lists in [255, 256, 257, 300] {
        let mut compiler = ListCompiler::new();
        for number in 0..lists {
            let text = format!("own{number}.example\nshared{}.example\n", number / 2);
            compiler
                .add(&number.to_string(), ListKind::Block, text.as_bytes())
                .unwrap();
        }
        let compiled = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
        compiled.verify().unwrap();
        for number in 0..lists {
            let names_of = |host: String| -> Vec<usize> {
                let url = format!("https://www.{host}.example/");
                let found = compiled.find(url.as_bytes()).unwrap().unwrap();
                found.lists().map(|name| name.parse().unwrap()).collect()
            };
            assert_eq!(names_of(format!("own{number}")), [number]);
            let pair = number / 2 * 2..(number / 2 * 2 + 2).min(lists);
            assert_eq!(
                names_of(format!("shared{}", number / 2)),
                pair.collect::<Vec<_>>()
            );
        }
    }
}

/// Hosts with 200 different sets of lists, whose classes change when their subdomains are found. So
/// there are 401 classes, and at the end 201.
#[test]
fn classes_that_no_host_has_any_more_take_no_space() {
    let mut texts = vec![String::new(); 9];
    for host in 1..=200 {
        for (list, text) in texts.iter_mut().enumerate() {
            if host >> list & 1 == 1 {
                *text += &format!("h{host}.example\n");
            }
        }
        texts[8] += &format!("sub.h{host}.example\n");
    }
    let mut compiler = ListCompiler::new();
    for (list, text) in texts.iter().enumerate() {
        let name = format!("k{list}");
        compiler
            .add(&name, ListKind::Block, text.as_bytes())
            .unwrap();
    }
    let compiled = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    compiled.verify().unwrap();
    for host in 1..=200u32 {
        let url = format!("http://x.h{host}.example/");
        let found = compiled.find(url.as_bytes()).unwrap().unwrap();
        let expected: Vec<usize> = (0..8).filter(|list| host >> list & 1 == 1).collect();
        assert_eq!(found.list_numbers().collect::<Vec<_>>(), expected, "{url}");
    }
}

#[test]
fn names_of_lists_are_those_that_columns_may_have() {
    for name in ["", "a b", "a,b", "a\nb", "-a", ".a", "\u{fc}"] {
        let mut compiler = ListCompiler::new();
        let err = compiler
            .add(name, ListKind::Block, b"a.example".as_slice())
            .unwrap_err();
        assert!(
            err.to_string().contains("other characters than letters"),
            "{err}"
        );
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn compiled_lists_decide_as_the_model(
        lists in vec(vec(line(), 0..40), 1..5),
        exceptions in vec(line(), 0..10),
        urls in vec(url(), 60),
    ) {
        let options = EntryOptions { allow_suffixes: true };
        let mut compiler = ListCompiler::new().allow_suffixes(true);
        let mut scratch = Scratch::default();
        let mut model = Vec::new();
        let mut cancelled = Vec::new();
        for (number, lines) in lists.iter().chain([&exceptions]).enumerate() {
            let is_allow = number == lists.len();
            let mut entries = Vec::new();
            for line in lines {
                parse_line(line.as_bytes(), options, &mut scratch, &mut |entry: Entry<'_>| {
                    let is_cancellation = entry.is_cancellation;
                    let mut entry = OwnedEntry::of(&entry);
                    entry.is_exception |= is_allow;
                    if is_cancellation {
                        cancelled.push(entry);
                    } else {
                        entries.push(entry);
                    }
                });
            }
            let text = lines.join("\n");
            let name = number.to_string();
            let kind = if is_allow { ListKind::Allow } else { ListKind::Block };
            let added = compiler.add(&name, kind, text.as_bytes());
            prop_assert!(added.is_ok() || entries.is_empty());
            if added.is_err() {
                compiler.add(&name, kind, b"".as_slice()).unwrap();
            }
            model.push(entries);
        }
        for entries in &mut model {
            entries.retain(|entry| !cancelled.contains(entry));
        }
        let compiled = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
        compiled.verify().unwrap();
        let mut searcher = compiled.searcher();
        for url in &urls {
            let text = format!("{}://{}:{}{}", url.scheme, url.host, url.port, url.path);
            let found = searcher.find(text.as_bytes()).unwrap();
            let expected = decide(&model, url);
            let Some((is_exception, first, names)) = expected else {
                prop_assert!(found.is_none(), "{text}: {found:?}");
                continue;
            };
            prop_assert!(found.is_some(), "{text}: {is_exception} {first}");
            let found = found.unwrap();
            prop_assert_eq!(found.is_exception(), is_exception, "{}", text);
            let lists: Vec<usize> = found.lists().map(|name| name.parse().unwrap()).collect();
            prop_assert_eq!(lists.first(), Some(&first), "{}", text);
            prop_assert!(names.contains(&lists), "{}: {:?} of {:?}", text, lists, names);
            // The text of the entry covers the URL, as a list of its own.
            let mut alone = ListCompiler::new().allow_suffixes(true);
            alone.add("entry", ListKind::Block, found.entry().unwrap().as_bytes()).unwrap();
            let alone = FilterLists::new(alone.finish().unwrap().to_vec().unwrap()).unwrap();
            let again = alone.find(text.as_bytes()).unwrap();
            prop_assert!(again.is_some(), "{}: {}", text, found.entry().unwrap());
            prop_assert_eq!(again.unwrap().entry().unwrap(), found.entry().unwrap());
        }
    }
}
