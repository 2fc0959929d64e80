//! Compiled lists that are compiled again, with others: the same bytes as from all the texts.

use super::reference::{line, rounds};
use super::word_tests::word;
use super::{FilterLists, ListCompiler, ListKind, WordsIn};
use crate::error::ErrorKind;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A list: its kind and its lines.
type List = (ListKind, Vec<String>);

/// How lists come into a file: as texts, or compiled before.
#[derive(Clone, Copy, Debug)]
enum Way {
    Texts,
    Compiled,
}

fn compiler() -> ListCompiler {
    ListCompiler::new().allow_suffixes(true)
}

fn finish(compiler: ListCompiler) -> FilterLists {
    let bytes = compiler.finish().unwrap().to_vec().unwrap();
    FilterLists::new(bytes).unwrap()
}

/// Adds lists under the numbers from `first` on.
fn add_texts(compiler: &mut ListCompiler, first: usize, lists: &[List]) {
    for (number, (kind, lines)) in (first..).zip(lists) {
        let text = lines.join("\n");
        let name = number.to_string();
        // Nothing but lines that are not entries is an error.
        if compiler.add(&name, *kind, text.as_bytes()).is_err() {
            compiler.add(&name, *kind, b"".as_slice()).unwrap();
        }
    }
}

fn add(compiler: &mut ListCompiler, first: usize, lists: &[List], way: Way) {
    match way {
        Way::Texts => add_texts(compiler, first, lists),
        Way::Compiled => {
            let mut own = self::compiler();
            add_texts(&mut own, first, lists);
            let added = compiler.add_compiled(&finish(own)).unwrap();
            assert_eq!(added.len(), lists.len());
        }
    }
}

fn list() -> impl Strategy<Value = List> {
    let block_kind = select(vec![ListKind::Block, ListKind::Allow]);
    // Compiled lists do not have the rules that cancel others any more.
    let entry = line().prop_map(|line| line.replace("$badfilter", ""));
    let word_kind = select(vec![
        ListKind::Words,
        ListKind::SoftWords,
        ListKind::Substrings,
    ]);
    prop_oneof![
        3 => (block_kind, vec(entry, 0..40)),
        1 => (word_kind, vec(word(), 0..6)),
    ]
}

fn way() -> impl Strategy<Value = Way> {
    select(vec![Way::Texts, Way::Compiled])
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: rounds(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn compiled_lists_and_texts_give_the_bytes_of_all_texts(
        lists in vec(list(), 0..6),
        ends in [0..6usize, 0..6usize],
        ways in [way(), way(), way()],
    ) {
        let mut texts = compiler();
        add_texts(&mut texts, 0, &lists);
        let expected = texts.finish().unwrap().to_vec().unwrap();
        let mut ends = ends.map(|end| end.min(lists.len()));
        ends.sort_unstable();
        let mut merged = compiler();
        for ((start, end), way) in [(0, ends[0]), (ends[0], ends[1]), (ends[1], lists.len())]
            .into_iter()
            .zip(ways)
        {
            add(&mut merged, start, &lists[start..end], way);
        }
        prop_assert!(merged.finish().unwrap().to_vec().unwrap() == expected);
    }
}

/// More hosts than a block has, with one and two bytes for a class.
#[test]
fn many_hosts_and_sets_are_taken_again() {
    for lists in [1, 300] {
        let lists: Vec<List> = (0..lists)
            .map(|list| {
                let hosts = (0..40).map(|host| format!("h{}.example", host * (list % 7 + 1)));
                let own = [format!("own{list}.example"), format!("p.example/{list}*x")];
                (ListKind::Block, hosts.chain(own).collect())
            })
            .collect();
        let mut texts = compiler();
        add_texts(&mut texts, 0, &lists);
        let mut merged = compiler();
        add(&mut merged, 0, &lists, Way::Compiled);
        let bytes = [texts, merged].map(|compiler| compiler.finish().unwrap().to_vec().unwrap());
        assert!(bytes[0] == bytes[1]);
    }
}

#[test]
fn words_are_looked_for_as_in_the_compiled_lists() {
    let compile_words = |part, threshold| {
        let mut compiler = ListCompiler::new().words_in(part).soft_threshold(threshold);
        for (name, kind) in [("hard", ListKind::Words), ("soft", ListKind::SoftWords)] {
            compiler.add(name, kind, b"casino".as_slice()).unwrap();
        }
        finish(compiler)
    };
    let lists = compile_words(WordsIn::Host, 3);
    let mut unset = ListCompiler::new();
    unset
        .add("own", ListKind::Words, b"poker".as_slice())
        .unwrap();
    unset.add_compiled(&lists).unwrap();
    unset
        .add_compiled(&compile_words(WordsIn::Host, 3))
        .unwrap();
    let merged = finish(unset);
    let metadata = merged.metadata().words.clone().unwrap();
    assert_eq!((metadata.part, metadata.soft_threshold), (WordsIn::Host, 3));
    for others in [
        ListCompiler::new().words_in(WordsIn::Url),
        ListCompiler::new().soft_threshold(2),
    ] {
        let mut others = others;
        let err = others.add_compiled(&lists).unwrap_err();
        assert!(matches!(err.kind(), ErrorKind::BadList(_)), "{err}");
        assert!(err.to_string().contains("`host`, 3"), "{err}");
    }
    // Without soft words, their threshold is nobody's wish.
    let mut hard = ListCompiler::new();
    hard.add("hard", ListKind::Words, b"casino".as_slice())
        .unwrap();
    let hard = finish(hard);
    let mut own = ListCompiler::new().soft_threshold(5);
    own.add_compiled(&hard).unwrap();
    own.add("soft", ListKind::SoftWords, b"live".as_slice())
        .unwrap();
    let metadata = finish(own).metadata().words.clone().unwrap();
    assert_eq!(metadata.soft_threshold, 5);
}

#[test]
fn rules_added_later_cancel_entries_of_compiled_lists() {
    let mut own = ListCompiler::new();
    own.add("ads", ListKind::Block, b"a.example\nb.example".as_slice())
        .unwrap();
    let mut merged = ListCompiler::new();
    merged.add_compiled(&finish(own)).unwrap();
    let cancel = b"||a.example^$badfilter".as_slice();
    merged.add("mine", ListKind::Block, cancel).unwrap();
    let merged = finish(merged);
    assert!(merged.find(b"http://a.example/").unwrap().is_none());
    assert!(merged.find(b"http://b.example/").unwrap().is_some());
}

#[test]
fn damaged_lists_add_nothing() {
    let mut own = ListCompiler::new();
    own.add("ads", ListKind::Block, b"a.example".as_slice())
        .unwrap();
    let mut bytes = own.finish().unwrap().to_vec().unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let mut merged = ListCompiler::new();
    let damaged = FilterLists::new(bytes).unwrap();
    let err = merged.add_compiled(&damaged).unwrap_err();
    assert!(
        matches!(err.kind(), ErrorKind::DamagedLists { .. }),
        "{err}"
    );
    let empty = ListCompiler::new().finish().unwrap().to_vec().unwrap();
    assert!(merged.finish().unwrap().to_vec().unwrap() == empty);
}
