//! `lists`: your own lists, compiled into one file, and the entries that decide about URLs.

use crate::command::{assert_has, robosieve_with};
use crate::test_dir::{TestDir, gz};
use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
use serde_json::{Value, json};

/// A directory with lists in the forms in which they are published.
fn lists_dir() -> TestDir {
    let dir = TestDir::new();
    dir.write(
        "domains",
        "adult.example\nsub.adult.example\n\nM\u{fc}nchen.example\n192.0.2.7\n",
    );
    dir.write(
        "hosts.txt",
        "# a hosts file\n127.0.0.1 localhost\n::1 localhost\n0.0.0.0 ads.example # banners\n",
    );
    dir.write(
        "rules.txt",
        "[Adblock Plus 2.0]\n! a comment\n||tracker.example^\n@@||good.tracker.example^\n\
         shop.example/cart\nhttps://shop.example:8443/*/print$\n=exact.example\n",
    );
    dir.write("ours.txt", "www.adult.example\n");
    dir
}

const ALL: &str = "adult=domains ads=hosts.txt rules.txt --allow ours.txt";

/// URLs, and what is found for them: the word, the lists, and the entry.
const FOUND: [(&str, &str); 19] = [
    ("https://adult.example/", "listed\tadult\tadult.example"),
    (
        "http://a.b.adult.example:81/x",
        "listed\tadult\tadult.example",
    ),
    (
        "https://x.sub.adult.example/",
        "listed\tadult\tsub.adult.example",
    ),
    (
        "https://www.adult.example/",
        "exception\tours\t@@www.adult.example",
    ),
    ("https://notadult.example/", "-\t-\t-"),
    (
        "HTTPS://u@ADULT.example.:443/",
        "listed\tadult\tadult.example",
    ),
    (
        "https://www.xn--mnchen-3ya.example/",
        "listed\tadult\txn--mnchen-3ya.example",
    ),
    ("http://0xc0000207/", "listed\tadult\t192.0.2.7"),
    ("http://1.192.0.2.7.example/", "-\t-\t-"),
    ("https://x.ads.example/", "listed\tads\tads.example"),
    ("http://localhost/", "-\t-\t-"),
    (
        "https://a.tracker.example/",
        "listed\trules\ttracker.example",
    ),
    (
        "https://good.tracker.example/x",
        "exception\trules\t@@good.tracker.example",
    ),
    (
        "https://shop.example/cart/1",
        "listed\trules\tshop.example/cart",
    ),
    ("https://shop.example/", "-\t-\t-"),
    (
        "https://shop.example:8443/a/print",
        "listed\trules\thttps://shop.example:8443/*/print$",
    ),
    ("https://exact.example/", "listed\trules\t=exact.example"),
    ("https://www.exact.example/", "-\t-\t-"),
    ("mailto:a@adult.example", "invalid\t-\t-"),
];

fn find_options() -> String {
    let options = FOUND.map(|(url, _)| format!("--find {url}"));
    options.join(" ")
}

fn expected() -> String {
    let lines = FOUND.map(|(url, found)| format!("{found}\t{url}\n"));
    lines.concat()
}

#[test]
fn compiled_lists_and_texts_find_the_same_entries() {
    let dir = lists_dir();
    dir.done_line(&format!("lists -q -o own.rlists {ALL}"));
    let find = find_options();
    assert_eq!(
        dir.stdout_of(&format!("lists own.rlists {find}")),
        expected()
    );
    assert_eq!(dir.stdout_of(&format!("lists -q {ALL} {find}")), expected());
    // The library gives the same bytes, and the same answers.
    let mut compiler = ListCompiler::new();
    for (name, kind, path) in [
        ("adult", ListKind::Block, "domains"),
        ("ads", ListKind::Block, "hosts.txt"),
        ("rules", ListKind::Block, "rules.txt"),
        ("ours", ListKind::Allow, "ours.txt"),
    ] {
        compiler.add_path(name, kind, &dir.path(path)).unwrap();
    }
    let compiled = compiler.finish().unwrap();
    assert_eq!(compiled.to_vec().unwrap(), dir.read("own.rlists"));
    let lists = FilterLists::open(dir.path("own.rlists")).unwrap();
    for (url, found) in FOUND {
        let is_found = lists.find(url.as_bytes()).unwrap().is_some();
        assert_eq!(
            is_found,
            found.starts_with("listed") || found.starts_with("exception")
        );
    }
}

#[test]
fn lists_may_be_compressed_or_piped() {
    let dir = lists_dir();
    dir.write("packed.gz", gz(dir.read("domains")));
    for (command, stdin) in [
        ("lists -q -o new packed=packed.gz", ""),
        ("lists -q -o new packed=domains", ""),
        ("lists -q -o new packed=-", "domains"),
    ] {
        let stdin = if stdin.is_empty() {
            Vec::new()
        } else {
            dir.read(stdin)
        };
        let args: Vec<&str> = command.split(' ').collect();
        let ran = robosieve_with(dir.root(), &args, &stdin);
        ran.succeeds();
        let found = dir.stdout_of("lists new --find https://adult.example/");
        assert_eq!(
            found,
            "listed\tpacked\tadult.example\thttps://adult.example/\n"
        );
    }
}

#[test]
fn equal_entries_keep_the_names_of_all_their_lists() {
    let dir = TestDir::new();
    for name in ["b", "a", "c"] {
        dir.write(name, format!("x.example\n{name}.example\n"));
    }
    for (lists, names) in [("b a c", "b,a,c"), ("c b", "c,b")] {
        let found = dir.stdout_of(&format!("lists -q {lists} --find http://x.example/"));
        assert_eq!(
            found,
            format!("listed\t{names}\tx.example\thttp://x.example/\n")
        );
    }
}

#[test]
fn lines_that_are_not_entries_are_named() {
    let dir = TestDir::new();
    dir.write(
        "list.txt",
        "good.example\nexample.com##.ad\n/banner[0-9]+/\nco.uk\nblogspot.com\n||a.example^$third-party\n",
    );
    let ran = dir.done_line("lists list.txt -o own.rlists --stats-json stats.json");
    for part in [
        "warning: list.txt: 4 lines are not entries and are skipped: line 2 is `example.com##.ad` \
         (an element-hiding rule), line 3 is `/banner[0-9]+/` (a regular expression), \
         line 4 is `co.uk` (a public suffix)",
        "compiled 1 list in ",
    ] {
        assert_has(&ran.stderr, part);
    }
    let stats: Value = serde_json::from_str(&dir.read_text("stats.json")).unwrap();
    assert_eq!(
        stats["lists"],
        json!([{
            "name": "list", "path": "list.txt", "kind": "block", "lines": 6, "blank_lines": 0,
            "entries": 2, "exceptions": 0, "cancellations": 0, "skipped_names": 0,
            "not_entries": {
                "a public suffix": 1,
                "a regular expression": 1,
                "an element-hiding rule": 1,
                "options after `$` are not supported": 1,
            },
        }])
    );
    assert_eq!(stats["hosts"], 2);
    dir.fails_as(
        "lists list.txt --strict-lists -o new.rlists | list.txt: 4 lines are not entries | \
         leave --strict-lists out",
    );
    let allowed = dir.done_line("lists -q list.txt --allow-suffixes --find http://x.co.uk/");
    assert_eq!(allowed.stdout, b"listed\tlist\tco.uk\thttp://x.co.uk/\n");
    assert_has(&allowed.stderr, "3 lines are not entries");
}

#[test]
fn a_list_without_entries_gives_a_warning_or_an_error() {
    let dir = TestDir::new();
    dir.write("empty.txt", "");
    dir.write("comments.txt", "# none yet\n\n127.0.0.1 localhost\n");
    dir.write("badfilter.txt", "||a.example^$badfilter\n");
    for list in ["empty.txt", "comments.txt"] {
        let find = format!("lists -q {list} --find http://a.example/");
        let ran = dir.done_line(&find);
        assert_has(
            &ran.stderr,
            &format!("warning: {list}: the list has no entry"),
        );
        dir.fails_as(&format!(
            "{find} --strict-lists | {list}: the list has no entry; remove it"
        ));
    }
    let ran = dir.done_line("lists -q badfilter.txt --strict-lists --find http://a.example/");
    assert_eq!(ran.stderr, "");
}

#[test]
fn other_files_than_lists_are_refused() {
    let dir = lists_dir();
    dir.write(
        "page.html",
        "<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
    );
    dir.write("words.txt", "casino\nviagra\n");
    dir.write("bad-words.txt", "viagra\ncasino\n");
    dir.write("zones.txt", "||win^\n||co.uk^\n");
    dir.write("fake.gz", "adult.example\n");
    dir.write("table.parquet", b"PAR1\x15\x04\x15\x10\x15\x14\x4c\x15");
    dir.done_line("lists -q -o own.rlists domains");
    let mut magic = dir.read("own.rlists");
    magic[6] ^= 0x20;
    dir.write("magic", magic);
    dir.compile_small("web.rsieve");
    dir.all_fail(&[
        "lists page.html --find http://x/ | page.html: no line is an entry of a list: line 1 is `<!DOCTYPE html>`",
        "lists words.txt --find http://x/ | line 1 is `casino` (a public suffix); if its lines are words, name it as a list of words; if they are suffixes, allow suffixes (allow_suffixes)",
        "lists bad-words.txt --find http://x/ | line 1 is `viagra` (a name of one label; = before it stands for the host alone); if its lines are words, name it as a list of words",
        "lists zones.txt --find http://x/ | line 1 is `||win^` (a public suffix); if its lines are suffixes, allow suffixes (allow_suffixes)",
        "lists fake.gz --find http://x/ | not compressed as its name says (.gz)",
        "lists table.parquet --find http://x/ | a Parquet file, not a list of domains",
        "lists web.rsieve --find http://x/ | a robosieve snapshot, not a list of domains",
        "lists x=own.rlists -o new.rlists | own.rlists: a file of filter lists, not a list of domains; compiled already; add it as compiled lists",
        "lists domains --allow own.rlists -o new.rlists | own.rlists: a file of filter lists, not a list of domains; compiled already",
        "lists domains own.rlists -o new.rlists | domains and own.rlists have the name domains; give each its own with NAME=LIST",
        "lists own.rlists own.rlists -o new.rlists | have the name domains; compile one of them again",
        "lists own.rlists --allow ours.txt | nothing to do with own.rlists, ours.txt",
        "lists own.rlists x=domains -o own.rlists | own.rlists | would be overwritten",
        "lists domains --verify --find http://x/ | --verify is for a compiled file",
        "lists missing --find http://x/ | missing: No such file",
        "lists domains ours.txt | nothing to do with domains, ours.txt: | -o FILE | --find URL",
        "lists magic --find http://x/ | magic: binary data, not a list of domains",
        "lists domains -o new.txt | name it new.rlists",
        "lists domains -o - | cannot be written to standard output",
        "lists domains -o domains | domains | would be overwritten",
        "lists domains domains -o new | have the name domains | NAME=LIST",
        "lists - -o new | give the list a name",
        "lists a=- b=- -o new | standard input is named twice",
        "lists . -o new | give the list a name",
        "lists a=. -o new | .: a directory; name the files in it",
        "lists x=https://lists.example/hosts -o new | https://lists.example/hosts",
        "filter -s own.rlists -a FooBot domains | not a robosieve snapshot but a file of filter lists",
        "inspect own.rlists | a file of filter lists",
    ]);
}

#[test]
fn compiled_files_are_compiled_again_with_others() {
    let dir = lists_dir();
    dir.done_line(&format!("lists -q -o whole.rlists {ALL}"));
    dir.done_line("lists -q -o domains.rlists adult=domains");
    let rest = ALL.replacen("adult=domains", "domains.rlists", 1);
    let ran = dir.done_line(&format!("lists -o new.rlists --stats-json stats {rest}"));
    assert_has(&ran.stderr, "compiled ");
    assert!(dir.read("new.rlists") == dir.read("whole.rlists"));
    // Alone it is written again, byte for byte.
    dir.done_line("lists -q -o again.rlists domains.rlists");
    assert!(dir.read("again.rlists") == dir.read("domains.rlists"));
    let stats: Value = serde_json::from_slice(&dir.read("stats")).unwrap();
    let compiled = json!({
        "name": "adult", "path": "domains.rlists", "kind": "compiled", "entries": 4,
        "exceptions": 0,
    });
    let lists = stats["lists"].as_array().unwrap();
    assert!(lists.contains(&compiled), "{lists:?}");
    let found = dir.stdout_of(&format!("lists -q {rest} {}", find_options()));
    assert_eq!(
        found,
        dir.stdout_of(&format!("lists whole.rlists {}", find_options()))
    );
}

#[test]
fn damaged_and_newer_files_are_refused() {
    let dir = lists_dir();
    dir.done_line("lists -q -o own.rlists domains");
    let good = dir.read("own.rlists");
    let mut damaged = good.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    dir.write("damaged", damaged);
    dir.write("cut", &good[..good.len() - 9]);
    let mut newer = good;
    newer[8] = 9;
    dir.write("newer", newer);
    dir.all_fail(&[
        "lists damaged --find http://x/ | damaged: damaged filter lists | compile them again",
        "lists cut --find http://x/ | cut: damaged filter lists",
        "lists newer --find http://x/ | newer: not a compiled file of filter lists of version 2, but of version 9",
    ]);
}

#[test]
fn compiled_files_are_described() {
    let dir = lists_dir();
    dir.done_line(&format!("lists -q -o own.rlists {ALL}"));
    let described = dir.stdout_of("lists own.rlists");
    assert_eq!(dir.stdout_of("lists own.rlists --verify"), described);
    for part in [
        "filter lists by robosieve ",
        "hosts ",
        "entries for paths",
        "adult ",
        "exceptions",
    ] {
        assert_has(&described, part);
    }
}
