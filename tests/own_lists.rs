//! `filter` and `annotate` with own lists: each record goes to the output that single look-ups give,
//! in every container, with a snapshot and without.

use crate::command::{assert_has, checkout, words};
use crate::outputs::parquet_of;
use crate::test_dir::{TestDir, gz};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, RowAccessor};
use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
use robosieve::job::{Input, Job, Outputs};
use robosieve::{Compiler, ErrorKind, Judge, JudgeOptions, Snapshot, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Entries of all forms about the hosts of `datasets/small`.
const SHOP: &str = "shop.example/cart\nhttps://shop.example:444\n*.shop.example/images/*.png$\n\
                    @@||www.shop.example^\n";
const OTHERS: &str = "0.0.0.0 wiki.example\nshop.example/cart\n=down.example\n[2001:db8::1]\n";
const GOOD: &str = "wiki.example/wiki/Tea\n";
const WORDS: &str = "# of products\nreviews\nPRICE\n";
const SOFT: &str = "products\npage\nred\n";
const PARTS: &str = "search/helpers\n";

/// The options that name these lists as texts.
const TEXTS: &str = "--block shop.txt --block others.hosts --allow good --block-words words.txt \
                     --soft-words soft.txt --block-substrings parts.txt";

/// The same lists, some of them compiled before.
const MIXED: &str = "--lists hosts.rlists --lists words.rlists --soft-words soft.txt \
                     --block-substrings parts.txt --allow good";

/// The names of the lists, in their order: exceptions are last.
const NAMES: [&str; 6] = ["shop", "others", "words", "soft", "parts", "good"];

/// Records that no line of `datasets/small` is.
const MORE: &str = "https://[2001:db8::1]/x\nhttp://a.wiki.example/\nhttps://sub.down.example/\n\
                    https://nowhere.example/cart\nno URL\n\nhttps://wiki.example/wiki/Tea/x\n";

/// A directory with the snapshot `s`, the lists as texts and compiled, and URLs.
fn lists_dir() -> TestDir {
    let dir = TestDir::new();
    dir.compile_small("s");
    dir.write("shop.txt", SHOP);
    dir.write("others.hosts", OTHERS);
    dir.write("good", GOOD);
    dir.write("words.txt", WORDS);
    dir.write("soft.txt", SOFT);
    dir.write("parts.txt", PARTS);
    dir.done_line(&format!(
        "lists -q -o own.rlists {}",
        TEXTS.replace("--block ", "")
    ));
    dir.done_line("lists -q -o hosts.rlists shop.txt others.hosts");
    dir.done_line("lists -q -o words.rlists --block-words words.txt");
    dir
}

/// The URLs of `datasets/small`, and more. Every third comes again, in another order.
fn urls() -> Vec<String> {
    let small = std::fs::read_to_string(checkout().join("datasets/small/urls.txt")).unwrap();
    let once: Vec<String> = small
        .lines()
        .chain(MORE.lines())
        .map(str::to_owned)
        .collect();
    let again = once.iter().rev().step_by(3).cloned();
    once.iter().cloned().chain(again).collect()
}

fn own_lists(dir: &TestDir) -> FilterLists {
    FilterLists::open(dir.path("own.rlists")).unwrap()
}

/// The names of the outputs, as the options and the test have them.
const OUTPUTS: [&str; 5] = ["kept", "disallowed", "unknown", "invalid", "listed"];

/// What each output gets, by one look-up in the lists and one question to the judge for each URL.
fn expected(dir: &TestDir, has_snapshot: bool) -> BTreeMap<&'static str, Vec<String>> {
    let lists = own_lists(dir);
    let snapshot = Snapshot::open(dir.path("s")).unwrap();
    let judge = Judge::new(
        snapshot,
        &["GPTBot".parse().unwrap()],
        JudgeOptions::default(),
    )
    .unwrap();
    let mut outputs: BTreeMap<&str, Vec<String>> =
        OUTPUTS.iter().map(|name| (*name, Vec::new())).collect();
    for url in urls() {
        let found = lists.find(url.as_bytes()).unwrap();
        let is_listed = found.is_some_and(|found| !found.is_exception());
        let verdict = judge.judge(url.as_bytes()).unwrap().get(0);
        let output = match verdict {
            Verdict::Invalid => "invalid",
            _ if is_listed => "listed",
            _ if !has_snapshot => "kept",
            Verdict::Allowed => "kept",
            Verdict::Disallowed => "disallowed",
            Verdict::Unknown => "unknown",
        };
        outputs.get_mut(output).unwrap().push(url);
    }
    outputs
}

/// The lines that each list names, of those in its order: those of `--allow` name none.
fn lines_by_list(dir: &TestDir) -> [u64; 6] {
    let lists = own_lists(dir);
    let mut counts = BTreeMap::from(NAMES.map(|name| (name, 0)));
    for url in urls() {
        let found = lists.find(url.as_bytes()).unwrap();
        for name in found
            .filter(|found| !found.is_exception())
            .iter()
            .flat_map(|found| found.lists())
        {
            *counts.get_mut(name).unwrap() += 1;
        }
    }
    // Each of the others names a line, and two name the cart.
    let unused = counts.iter().filter(|(_, lines)| **lines == 0);
    assert_eq!(unused.collect::<Vec<_>>(), [(&"good", &0)]);
    NAMES.map(|name| counts[name])
}

/// A container: its file with these URLs, and the URLs of a file.
struct Container {
    extension: &'static str,
    write: fn(&[String]) -> Vec<u8>,
    read: fn(&[u8]) -> Vec<String>,
}

const CONTAINERS: [Container; 5] = [
    Container {
        extension: "txt",
        write: |urls| (urls.join("\n") + "\n").into(),
        read: |text| text_lines(text).map(str::to_owned).collect(),
    },
    Container {
        extension: "csv",
        write: |urls| {
            let rows = urls.iter().map(|url| format!("1,\"{url}\"\n"));
            format!("n,url\n{}", rows.collect::<String>()).into()
        },
        read: |text| {
            let rows = text_lines(text).filter(|row| *row != "n,url");
            rows.map(|row| row[2..].trim_matches('"').to_owned())
                .collect()
        },
    },
    Container {
        extension: "jsonl",
        write: |urls| {
            let rows = urls
                .iter()
                .map(|url| json!({ "url": url }).to_string() + "\n");
            rows.collect::<String>().into()
        },
        read: |text| {
            let rows = text_lines(text).map(|row| serde_json::from_str::<Value>(row).unwrap());
            rows.map(|row| row["url"].as_str().unwrap().to_owned())
                .collect()
        },
    },
    Container {
        extension: "parquet",
        write: |urls| {
            let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
            parquet_of(&urls, Default::default())
        },
        read: |bytes| {
            let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.to_vec())).unwrap();
            let rows = reader.get_row_iter(None).unwrap();
            rows.map(|row| row.unwrap().get_string(0).unwrap().clone())
                .collect()
        },
    },
    Container {
        extension: "warc",
        write: |urls| {
            let records = urls.iter().map(|url| {
                format!(
                    "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\n\
                     Content-Length: 1\r\n\r\nx\r\n\r\n"
                )
            });
            records.collect::<String>().into()
        },
        read: |text| {
            let lines = text_lines(text).map(str::trim_end);
            lines
                .filter_map(|line| line.strip_prefix("WARC-Target-URI:"))
                .map(|url| url.trim().to_owned())
                .collect()
        },
    },
];

fn text_lines(text: &[u8]) -> impl Iterator<Item = &str> {
    std::str::from_utf8(text).unwrap().lines()
}

#[test]
fn every_container_routes_records_as_single_look_ups_say() {
    let dir = lists_dir();
    for has_snapshot in [true, false] {
        let expected = expected(&dir, has_snapshot);
        // Each output has something to show, so none can be mistaken for another.
        for (name, urls) in &expected {
            let is_used = has_snapshot || !["disallowed", "unknown"].contains(name);
            assert_eq!(!urls.is_empty(), is_used, "{name}");
        }
        for Container {
            extension,
            write,
            read,
        } in CONTAINERS
        {
            let input = format!("in.{extension}");
            dir.write(&input, write(&urls()));
            let [judging, outputs] = if has_snapshot {
                [
                    "-s s -a GPTBot",
                    "--disallowed-to disallowed.EXT --unknown-to unknown.EXT",
                ]
            } else {
                ["", ""]
            };
            for lists in ["--lists own.rlists", TEXTS, MIXED] {
                for threads in [1, 3] {
                    let line = format!(
                        "filter -q -j {threads} {judging} {lists} -o kept.EXT {outputs} \
                         --invalid-to invalid.EXT --listed-to listed.EXT --stats-json stats {input}"
                    );
                    dir.done_line(&line.replace("EXT", extension));
                    let stats: Value = serde_json::from_slice(&dir.read("stats")).unwrap();
                    for (name, urls) in &expected {
                        let count = match *name {
                            "kept" if has_snapshot => &stats["allowed"],
                            "kept" => &stats["not_listed"],
                            name => &stats[name],
                        };
                        if !line.contains(name) {
                            // What was not asked has no count, not even 0.
                            assert_eq!(*count, Value::Null, "{line}: {name}");
                            continue;
                        }
                        assert_eq!(*count, urls.len(), "{line}: {name}");
                        let found = read(&dir.read(&format!("{name}.{extension}")));
                        // The field of a WARC record has no white space around it.
                        let is_same = |(one, other): (&String, &String)| one.trim() == other.trim();
                        assert_eq!(found.len(), urls.len(), "{line}: {name}");
                        assert!(
                            found.iter().zip(urls).all(is_same),
                            "{line}: {name}: {found:?}"
                        );
                    }
                    assert_eq!(stats["lines"], urls().len());
                    assert_eq!(stats["listed_by"], json!(lines_by_list(&dir)), "{line}");
                    assert_eq!(stats["lists"]["names"], json!(NAMES));
                }
            }
        }
    }
}

/// The values that `annotate` adds: the lists with commas between them, and the entry.
fn added_values(dir: &TestDir) -> Vec<[Option<String>; 2]> {
    let lists = own_lists(dir);
    let values = urls().into_iter().map(|url| {
        let found = lists.find(url.as_bytes()).unwrap();
        let found = found.filter(|found| !found.is_exception());
        let names = found.map(|found| found.lists().collect::<Vec<_>>().join(","));
        [names, found.map(|found| found.entry().unwrap())]
    });
    values.collect()
}

#[test]
fn annotated_records_name_the_lists_and_the_entry() {
    let dir = lists_dir();
    let expected = added_values(&dir);
    assert!(expected.contains(&[
        Some("shop,others".to_owned()),
        Some("shop.example/cart".to_owned())
    ]));
    dir.write("in.txt", urls().join("\n"));
    let urls_of_parquet: Vec<String> = urls();
    let urls_of_parquet: Vec<&str> = urls_of_parquet.iter().map(String::as_str).collect();
    dir.write(
        "in.parquet",
        parquet_of(&urls_of_parquet, Default::default()),
    );
    for judging in ["", "-s s -a GPTBot,FooBot"] {
        let annotate = format!("annotate -q {judging} --lists own.rlists --add list,entry");
        let text = dir.stdout_of(&format!("{annotate} --as jsonl in.txt"));
        let objects: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of_keys = objects.iter().map(|object| {
            ["robots_list", "robots_entry"].map(|key| object[key].as_str().map(str::to_owned))
        });
        assert_eq!(of_keys.collect::<Vec<_>>(), expected);
        // Without agents there are no verdicts, not even an empty object of them.
        let has_verdicts = objects.iter().all(|object| object.get("robots").is_some());
        assert_eq!(has_verdicts, !judging.is_empty());

        dir.done_line(&format!("{annotate} in.parquet -o out.parquet"));
        let bytes = bytes::Bytes::from(dir.read("out.parquet"));
        let reader = SerializedFileReader::new(bytes).unwrap();
        let fields = reader.metadata().file_metadata().schema().get_fields();
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let of_verdicts = if judging.is_empty() {
            &[][..]
        } else {
            &["robots_allowed"]
        };
        let all = [&["url"], of_verdicts, &["robots_list", "robots_entry"]].concat();
        assert_eq!(names, all);
        let rows = reader.get_row_iter(None).unwrap().map(|row| {
            let columns: Vec<Field> = row
                .unwrap()
                .into_columns()
                .into_iter()
                .map(|c| c.1)
                .collect();
            let [.., list, entry] = &columns[..] else {
                panic!("{columns:?}");
            };
            [list, entry].map(|field| match field {
                Field::Str(text) => Some(text.clone()),
                _ => None,
            })
        });
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
    // A column of a table comes in front of the line, also without verdicts.
    dir.write(
        "in.csv",
        "url,n\nhttps://shop.example/cart,1\nhttps://x.example/,2\n",
    );
    assert_eq!(
        dir.stdout_of("annotate -q --block shop.txt --as csv --add entry,list in.csv"),
        "robots_entry,robots_list,url,n\nshop.example/cart,shop,https://shop.example/cart,1\n\
         ,,https://x.example/,2\n"
    );
}

#[test]
fn parquet_outputs_name_the_lists_of_their_run() {
    let dir = lists_dir();
    let urls = ["https://shop.example/cart", "https://x.example/"];
    dir.write("in.parquet", parquet_of(&urls, Default::default()));
    dir.done_line("filter -q --lists own.rlists in.parquet -o kept.parquet --listed-to l.parquet");
    let find = |name: &str, key: &str| {
        let reader = SerializedFileReader::new(bytes::Bytes::from(dir.read(name))).unwrap();
        let entries = reader.metadata().file_metadata().key_value_metadata();
        let entries = entries.unwrap().iter();
        let mut values = entries.filter(|entry| entry.key == key);
        values.next().map(|entry| entry.value.clone().unwrap())
    };
    let entry = |name: &str, key: &str| find(name, key).unwrap();
    for (name, destination) in [("kept.parquet", "not-listed"), ("l.parquet", "listed")] {
        let lists: Value = serde_json::from_str(&entry(name, "robosieve.filter.1.lists")).unwrap();
        let checksum = format!("{:016x}", own_lists(&dir).checksum());
        let names = NAMES;
        assert_eq!(lists, json!({ "checksum": checksum, "names": names }));
        assert_eq!(entry(name, "robosieve.filter.1.verdict"), destination);
        let counts: Value =
            serde_json::from_str(&entry(name, "robosieve.filter.1.counts")).unwrap();
        // Nothing says that a robots.txt was asked.
        let expected = json!({
            "lines": 2, "not_listed": 1, "listed": 1, "listed_by": [1, 1, 0, 0, 0, 0], "invalid": 0, "blank": 0,
            "bytes": 43
        });
        assert_eq!(counts, expected);
        for key in [
            "agents", "snapshot", "options", "keep", "require", "reasons",
        ] {
            assert_eq!(
                find(name, &format!("robosieve.filter.1.{key}")),
                None,
                "{key}"
            );
        }
    }
}

#[test]
fn summaries_count_what_was_looked_at() {
    let dir = lists_dir();
    dir.write(
        "in.txt",
        "https://shop.example/cart\nhttps://shop.example/x\nno\n",
    );
    let alone = dir.done_line("filter --lists own.rlists in.txt -o kept.txt");
    assert_has(&alone.stderr, "lines 3  not listed 1  listed 1  invalid 1");
    assert_has(&alone.stderr, "listed by list: shop 1, others 1\n");
    assert_has(
        &alone.stderr,
        "not written: 1 line that a list names (--listed-to FILE writes them)",
    );
    assert!(!alone.stderr.contains("allowed"), "{}", alone.stderr);
    let both = dir.done_line("filter -s s -a GPTBot --block good in.txt -o kept.txt");
    assert_has(
        &both.stderr,
        "lines 3  allowed 1  disallowed 1  unknown 0  listed 0  invalid 1",
    );
    // Listed lines are not counted for agents: the verdicts are those of the robots.txt all the same.
    dir.write(
        "in.txt",
        "https://wiki.example/\nhttps://shop.example/tea\nno\n",
    );
    let annotate = "annotate -s s -a GPTBot,FooBot --lists own.rlists --as jsonl --add list";
    let annotated = dir.done_line(&format!("{annotate} in.txt -o a"));
    assert_has(
        &annotated.stderr,
        "lines 3  allowed 1  disallowed 0  unknown 0  listed 1",
    );
    assert_has(
        &annotated.stderr,
        "FooBot                     allowed              1",
    );
    let first = dir.read_text("a").lines().next().unwrap().to_owned();
    assert_has(
        &first,
        r#""robots":{"GPTBot":"allowed","FooBot":"allowed"},"robots_list":"others""#,
    );
}

#[test]
fn impossible_combinations_are_refused() {
    let dir = lists_dir();
    dir.write("in.txt", "https://a.example/\n");
    dir.write("in.csv", "url,n\nhttps://a.example/,1\n");
    dir.write(
        "in.parquet",
        parquet_of(&["https://a.example/"], Default::default()),
    );
    dir.write("damaged", {
        let mut bytes = dir.read("own.rlists");
        let last = bytes.len() - 20;
        bytes[last] ^= 1;
        bytes
    });
    dir.all_fail(&[
        "filter in.txt | not provided:\n  <--snapshot <SNAP>|--lists <FILE>|--block <[NAME=]LIST>|",
        "filter -s s --lists own.rlists in.txt | not provided:\n  <--agent <AGENT>|--agents-from <FILE>>",
        "filter -a GPTBot --lists own.rlists in.txt | not provided:\n  --snapshot <SNAP>\n",
        "filter --lists own.rlists --keep disallowed in.txt | not provided:\n  --snapshot <SNAP>\n",
        "filter --lists own.rlists --as-of 2024 in.txt | not provided:\n  --snapshot <SNAP>\n",
        "filter --lists own.rlists --disallowed-to x in.txt | not provided:\n  --snapshot <SNAP>\n",
        "annotate --lists own.rlists --preferences --as jsonl --add list in.txt | not provided:\n  --snapshot <SNAP>\n",
        "filter -s s -a GPTBot --listed-to x in.txt | not provided:\n  <--lists <FILE>|--block <[NAME=]LIST>|",
        "filter --block shop.txt --words-in host in.txt | not provided:\n  <--block-words <[NAME=]LIST>|",
        "filter --block-words words.txt --soft-threshold 2 in.txt | not provided:\n  --soft-words <",
        "filter --soft-words soft.txt --soft-threshold 0 in.txt | invalid value '0'",
        "filter --block-words words.txt --words-in query in.txt | possible values: url, host, path",
        "filter --block-words s in.txt | s: a robosieve snapshot",
        "filter -s s -a GPTBot --allow good in.txt | not provided:\n  <--lists <FILE>|--block <[NAME=]LIST>|",
        "filter --lists shop.txt in.txt | shop.txt: not a compiled file of filter lists; | --block LIST",
        "filter --lists s in.txt | not a compiled file of filter lists but a robosieve snapshot",
        "filter --block own.rlists in.txt | own.rlists: compiled lists; give them with --lists FILE",
        "filter --lists damaged in.txt -o kept | damaged: damaged filter lists",
        "filter --lists own.rlists --block shop.txt in.txt | own.rlists and shop.txt have the name shop; give each its own with NAME=LIST",
        "filter --lists own.rlists --lists hosts.rlists in.txt | own.rlists and hosts.rlists have the name shop; compile one of them again, with other names",
        "filter --lists own.rlists --block-words new=words.txt --words-in host in.txt | own.rlists: its words are looked for in another part of URLs | `url`, 2",
        "filter --lists damaged --allow new=good in.txt | damaged: damaged filter lists",
        "filter --lists own.rlists --lists - in.txt | --lists -: compiled lists are mapped",
        "filter --lists words.rlists --lists hosts.rlists in.txt -o hosts.rlists | is the same file as a list (hosts.rlists)",
        "filter --block shop.txt --block a/shop.txt in.txt | have the name shop; give each its own",
        "filter --block others.hosts --strict-lists --block x=s in.txt | s: a robosieve snapshot",
        "filter --lists own.rlists in.txt -o own.rlists | is the same file as a list (own.rlists)",
        "filter --block shop.txt --allow good in.txt --listed-to good | is the same file as a list (good)",
        "filter --lists own.rlists in.txt -o x --listed-to x | named for two outputs, -o and --listed-to",
        "filter -s s -a GPTBot --lists own.rlists --keep disallowed --disallowed-add list in.txt | \
         annotating writes the list and the entry of each record",
        "annotate --lists own.rlists --add list in.txt | without agents there are no verdicts to write | \
         (--add list,entry; of lines with --as jsonl)",
        "annotate --lists own.rlists --as jsonl in.txt | --add list,entry (of lines with --as jsonl)",
        "annotate -s s -a GPTBot --lists own.rlists --as mask in.txt | nothing would show the lists",
        "annotate --lists own.rlists --as jsonl --add list,reason in.txt | \
         no reason and no line that decides | (-s SNAP -a AGENT)",
        "annotate --lists own.rlists --as csv --add list,rule in.csv | (-s SNAP -a AGENT)",
        "annotate --lists own.rlists --add list,crawl_delay in.parquet -o x.parquet | (-s SNAP -a AGENT)",
        "annotate --lists own.rlists --as int8 --add list in.parquet -o x.parquet | have no form",
        "filter --lists - in.txt | compiled lists are mapped into memory; write them to a file first",
        "annotate -s s -a GPTBot --add list --as jsonl in.txt | come from filter lists, and there are \
         none (--lists FILE or --block LIST)",
    ]);
}

#[test]
fn resumed_runs_notice_other_lists() {
    let dir = lists_dir();
    dir.write(
        "in/a.txt",
        "https://shop.example/cart\nhttps://shop.example/\n",
    );
    let run = "filter --lists own.rlists --out-dir out --listed-to listed --resume in/a.txt";
    dir.done_line(run);
    assert_eq!(dir.read_text("listed/a.txt"), "https://shop.example/cart\n");
    let again = dir.done_line(run);
    assert_has(&again.stderr, "1 of 1 file is complete and skipped");
    assert_has(
        &again.stderr,
        "skipped files: lines 2  not listed 1  listed 1  invalid 0",
    );
    // The same lists as texts, or in parts, are the same lists.
    let texts = run.replace("--lists own.rlists", TEXTS);
    for same in [&texts, &run.replace("--lists own.rlists", MIXED)] {
        assert_has(
            &dir.done_line(same).stderr,
            "1 of 1 file is complete and skipped",
        );
    }
    // With another threshold they are others.
    let other = dir.done_line(&texts.replace("--resume", "--resume --soft-threshold 3"));
    assert_has(&other.stderr, "made by other lists");
    dir.done_line(run);
    dir.done_line("lists -q -o own.rlists good");
    let other = dir.done_line(run);
    assert_has(&other.stderr, "made by other lists");
    assert_eq!(dir.read_text("listed/a.txt"), "");
}

#[test]
fn gzip_lists_and_lists_of_standard_input_are_read() {
    let dir = lists_dir();
    dir.write("shop.gz", gz(SHOP));
    dir.write(
        "in.txt",
        "https://shop.example/cart\nhttps://shop.example/\n",
    );
    assert_eq!(
        dir.stdout_of("filter -q --block shop.gz in.txt"),
        "https://shop.example/\n"
    );
    let ran = crate::command::robosieve_with(
        dir.root(),
        &words("filter -q --block own=- in.txt"),
        SHOP.as_bytes(),
    );
    assert_eq!(ran.stdout, b"https://shop.example/\n");
    // Both cannot be read from it.
    dir.fails_as("filter -q --block own=- | a list and another file are both standard input");
}

/// A judge over lists whose bytes were damaged after the check of their head, from `at` on.
fn judge_with_damage(lists: &[u8], at: usize) -> Option<Judge> {
    let mut bytes = lists.to_vec();
    for byte in bytes.iter_mut().skip(at).take(16) {
        *byte = !*byte;
    }
    let lists = FilterLists::new(bytes).ok()?;
    Some(judge_of_shop().with_lists(lists))
}

/// A judge of a snapshot with one site.
fn judge_of_shop() -> Judge {
    let mut compiler = Compiler::default();
    compiler.add_robots("https://shop.example", b"").unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let agents = ["GPTBot".parse().unwrap()];
    Judge::new(snapshot, &agents, JudgeOptions::default()).unwrap()
}

#[test]
fn damaged_lists_are_blamed_while_urls_are_judged() {
    let mut compiler = ListCompiler::new();
    compiler
        .add("shop", ListKind::Block, SHOP.as_bytes())
        .unwrap();
    let lists = compiler.finish().unwrap().to_vec().unwrap();
    let urls =
        "https://shop.example/cart\nhttps://shop.example/x\nhttps://a.shop.example/images/a.png\n";
    let mut errors = 0;
    for at in (0..lists.len()).step_by(16) {
        let Some(judge) = judge_with_damage(&lists, at) else {
            continue;
        };
        let single = urls
            .lines()
            .map(|url| judge.judge(url.as_bytes()).map(drop));
        let list = Input::from_reader("list", urls.as_bytes());
        let filtered = Job::new(&judge).filter(vec![list], Outputs::default());
        for result in single.chain([filtered.map(drop)]) {
            if let Err(err) = result {
                errors += 1;
                assert!(
                    matches!(err.kind(), ErrorKind::DamagedLists { .. }),
                    "{at}: {err}"
                );
            }
        }
    }
    assert!(errors > 10, "{errors}");
}

#[test]
fn check_names_the_entry_next_to_the_verdicts() {
    let dir = lists_dir();
    let [cart, www, other] = [
        "https://shop.example/cart",
        "https://www.shop.example/",
        "https://news.example/",
    ];
    let line = format!("check -s s -a Googlebot,FooBot --lists own.rlists {cart}");
    let ran = dir.run_line(&line);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(
        text.ends_with(&format!(
            "FooBot\t{cart}\nlisted\tshop,others\tshop.example/cart\t{cart}\n"
        )),
        "{text}"
    );
    // A listed URL is refused, also if its robots.txt allows it.
    for (lists, url, code) in [
        (
            "--block others.hosts --allow-suffixes",
            "https://wiki.example/wiki/Tea",
            1,
        ),
        (
            "--block others.hosts --allow good",
            "https://wiki.example/wiki/Tea",
            0,
        ),
        ("--lists own.rlists", www, 0),
        ("", "https://wiki.example/wiki/Tea", 0),
    ] {
        let ran = dir.run_line(&format!("check -s s -a Googlebot {lists} {url}"));
        assert_eq!(ran.code, Some(code), "{lists} {url}: {ran:?}");
    }
    for (url, list_match) in [
        (
            cart,
            json!({"is_exception": false, "lists": ["shop", "others"], "entry": "shop.example/cart"}),
        ),
        (
            www,
            json!({"is_exception": true, "lists": ["shop"], "entry": "@@www.shop.example"}),
        ),
        (other, Value::Null),
    ] {
        let ran = dir.run_line(&format!(
            "check -s s -a GPTBot --lists own.rlists --json {url}"
        ));
        let object: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(object["list_match"], list_match, "{url}");
    }
    // Without lists there is no such key: nothing was looked at.
    let ran = dir.run_line(&format!("check -s s -a GPTBot --json {cart}"));
    let object: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(object.get("list_match"), None);
    dir.write("robots.txt", "user-agent: *\n");
    let ran = dir.run_line(&format!(
        "check --robots robots.txt -a GPTBot --block shop.txt {cart}"
    ));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    dir.fails_as(
        "check --robots robots.txt -a GPTBot --block shop.txt /cart | write the whole URL",
    );
    // A listed URL needs no verdict of a robots.txt; another of an unknown origin does.
    dir.write("new.txt", "new.example\n");
    let check = "check -s s -a GPTBot --block new.txt https://new.example/";
    assert_eq!(dir.run_line(check).code, Some(1));
    let other = dir.run_line(&format!("{check} https://other.example/"));
    assert_eq!(other.code, Some(2));
    assert_has(
        &other.stderr,
        "does not have the origin of https://other.example/",
    );
}

#[cfg(unix)]
#[test]
fn lists_that_change_during_a_run_are_an_error() {
    let dir = lists_dir();
    let path = dir.path("own.rlists");
    let lists = FilterLists::open(&path).unwrap();
    let judge = judge_of_shop().with_lists(lists);
    let job = || {
        let list = Input::from_reader("list", b"https://shop.example/cart\n".as_slice());
        Job::new(&judge).filter(vec![list], Outputs::default())
    };
    assert_eq!(job().unwrap().stats().listed(), 1);
    // The program that made the file is not asked for answers, but its name is a part of the file.
    let bytes = dir.read("own.rlists");
    let at = bytes
        .windows(9)
        .position(|part| part == b"robosieve")
        .unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, b"R", at as u64).unwrap();
    let err = job().unwrap_err();
    assert!(
        matches!(err.kind(), ErrorKind::DamagedLists { .. }),
        "{err}"
    );
    assert_has(&err.to_string(), "own.rlists: ");
    assert_has(&err.to_string(), "overwritten while it was read");
}
