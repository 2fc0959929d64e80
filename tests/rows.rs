//! Columns in the layouts of Apache Arrow: the verdicts of `Judge::judge_rows` are those of
//! `Judge::judge` on each row.

use crate::generate::{ORIGIN, config, robots_txt, url};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
use robosieve::judge::{Require, Rows, UnknownOrigin};
use robosieve::{Agent, Compiler, ErrorKind, Judge, JudgeOptions, Snapshot, Verdict};

/// An origin whose host is longer than a vector of 32 bytes.
const LONG_ORIGIN: &str = "https://a-host-with-a-name-that-no-vector-holds.of.32.bytes.example";

fn judge(body: &[u8]) -> Judge {
    let mut compiler = Compiler::default();
    for origin in [ORIGIN, "https://h.example", LONG_ORIGIN] {
        compiler.add_robots(origin, body).unwrap();
    }
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let agents: Vec<Agent> = ["FooBot", "BarBot"]
        .map(|name| name.parse().unwrap())
        .to_vec();
    Judge::new(snapshot, &agents, JudgeOptions::default()).unwrap()
}

/// The verdicts of each row, one text per row. Asserts that every row comes once and in order.
fn letters(judge: &Judge, rows: Rows<'_>) -> Vec<String> {
    let mut found = Vec::new();
    judge
        .judge_rows(rows, |rows, verdicts| {
            assert_eq!(rows.start, found.len());
            let letters: String = verdicts.iter().map(Verdict::letter).collect();
            found.resize(rows.end, letters);
            Ok(())
        })
        .unwrap();
    assert_eq!(found.len(), rows.len());
    found
}

/// A column in each layout.
struct Column {
    data: Vec<u8>,
    offsets: Vec<i64>,
    views: Vec<[u8; 16]>,
}

impl Column {
    fn new(rows: &[Vec<u8>]) -> Self {
        let mut column = Self {
            data: Vec::new(),
            offsets: vec![0],
            views: Vec::new(),
        };
        for row in rows {
            let mut view = [0; 16];
            view[..4].copy_from_slice(&(row.len() as u32).to_le_bytes());
            if row.len() <= 12 {
                view[4..4 + row.len()].copy_from_slice(row);
            } else {
                view[4..8].copy_from_slice(&row[..4]);
                view[8] = 1;
                view[12..].copy_from_slice(&(column.data.len() as u32).to_le_bytes());
            }
            column.data.extend_from_slice(row);
            column.offsets.push(column.data.len() as i64);
            column.views.push(view);
        }
        column
    }
}

/// Rows whose ends matter: origins without a path, which the next row would continue, texts that
/// are no URL, blanks at both ends, and whole URLs.
fn row() -> impl Strategy<Value = Vec<u8>> {
    let starts = vec![
        ORIGIN,
        "https://h.example",
        "https://h.exam",
        "http://unknown.example",
        LONG_ORIGIN,
        "",
        " ",
    ];
    let tails = vec![
        "", "/", "/x", "ple/x", "/x ", ".", ":80/x", "\n", "\r\n", "/%78", "?x",
    ];
    let odd = (select(starts), select(tails))
        .prop_map(|(start, tail)| format!("{start}{tail}").into_bytes());
    prop_oneof![
        url().prop_map(String::into_bytes),
        odd,
        vec(any::<u8>(), 0..40)
    ]
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn rows_are_judged_like_single_urls(body in robots_txt(), rows in vec(row(), 0..200), first in 0..5usize) {
        let judge = judge(body.as_bytes());
        let each = |row: &Vec<u8>| judge.judge(row).unwrap().iter().map(Verdict::letter).collect::<String>();
        let expected: Vec<String> = rows.iter().map(each).collect();
        let Column { data, offsets, views } = Column::new(&rows);
        let short: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
        prop_assert_eq!(&letters(&judge, Rows::Offsets32 { data: &data, offsets: &short }), &expected);
        prop_assert_eq!(&letters(&judge, Rows::Offsets64 { data: &data, offsets: &offsets }), &expected);
        prop_assert_eq!(&letters(&judge, Rows::Views { views: &views, buffers: &[b"unused", &data] }), &expected);
        let slices: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(&letters(&judge, Rows::Slices(&slices)), &expected);
        // A slice of a column has offsets that do not begin at 0.
        let first = first.min(rows.len());
        let part = Rows::Offsets64 { data: &data, offsets: &offsets[first..] };
        prop_assert_eq!(&letters(&judge, part), &expected[first..]);
        let all: Vec<bool> = expected.iter().map(|letters| letters == "AA").collect();
        let any: Vec<bool> = expected.iter().map(|letters| letters.contains('A')).collect();
        let views = Rows::Views { views: &views, buffers: &[b"unused", &data] };
        prop_assert_eq!(judge.allowed(views, Require::All).unwrap(), all);
        prop_assert_eq!(judge.allowed(Rows::Slices(&slices), Require::Any).unwrap(), any);
    }
}

#[test]
fn only_allowed_rows_are_allowed() {
    let judge = judge(b"user-agent: FooBot\ndisallow: /foo\n\nuser-agent: BarBot\ndisallow: /bar");
    // By hand: to both agents, to one of them or more, and to both with unknown origins allowed.
    let rows: [(&[u8], [bool; 3]); 7] = [
        (b"https://h.example/", [true, true, true]),
        (b"https://h.example/foo", [false, true, false]),
        (b"https://h.example/bar", [false, true, false]),
        (b"https://unknown.example/", [false, false, true]),
        (b"/foo", [false, false, false]),
        (b"", [false, false, false]),
        (b"https://h.example/x", [true, true, true]),
    ];
    let urls = rows.map(|(url, _)| url);
    for (require, unknown, case) in [
        (Require::All, None, 0),
        (Require::Any, None, 1),
        (Require::All, Some(UnknownOrigin::Allow), 2),
        (Require::All, Some(UnknownOrigin::Disallow), 0),
    ] {
        let options = JudgeOptions::default().unknown(unknown);
        let judge = Judge::new(judge.snapshot().clone(), judge.agents(), options).unwrap();
        let expected = rows.map(|(_, allowed)| allowed[case]);
        assert_eq!(
            judge.allowed(Rows::Slices(&urls), require).unwrap(),
            expected,
            "{require} {unknown:?}"
        );
    }
}

#[test]
fn listed_rows_are_not_allowed() {
    let mut compiler = ListCompiler::new();
    compiler
        .add("own", ListKind::Block, b"h.example/x\n".as_slice())
        .unwrap();
    let lists = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let judge = judge(b"").with_lists(lists);
    let rows = Rows::Slices(&[b"https://h.example/x/1", b"https://h.example/y"]);
    for require in [Require::All, Require::Any] {
        assert_eq!(judge.allowed(rows, require).unwrap(), [false, true]);
    }
}

#[test]
fn empty_columns_have_no_rows() {
    let judge = judge(b"");
    let cases = [
        Rows::Offsets32 {
            data: b"",
            offsets: &[],
        },
        Rows::Offsets64 {
            data: b"x",
            offsets: &[1],
        },
        Rows::Views {
            views: &[],
            buffers: &[],
        },
        Rows::Slices(&[]),
    ];
    for rows in cases {
        assert!(rows.is_empty() && letters(&judge, rows).is_empty());
        assert!(judge.allowed(rows, Require::All).unwrap().is_empty());
    }
}

#[test]
fn wrong_offsets_are_errors() {
    let judge = judge(b"");
    let view = |len: u32, buffer: u8, offset: u8| {
        let mut view = [0; 16];
        view[..4].copy_from_slice(&len.to_le_bytes());
        (view[8], view[12]) = (buffer, offset);
        view
    };
    let buffers: &[&[u8]] = &[b"https://e.example/"];
    let cases = [
        (
            Rows::Offsets32 {
                data: b"ab",
                offsets: &[0, 2, 1],
            },
            "the offsets descend",
        ),
        (
            Rows::Offsets32 {
                data: b"ab",
                offsets: &[-1, 2],
            },
            "an offset of -1 in 2 bytes of data",
        ),
        (
            Rows::Offsets64 {
                data: b"ab",
                offsets: &[0, 3],
            },
            "an offset of 3 in 2 bytes of data",
        ),
        (
            Rows::Views {
                views: &[view(18, 0, 1)],
                buffers,
            },
            "the view of row 0 exceeds its buffer",
        ),
        (
            Rows::Views {
                views: &[view(2, 0, 0), view(18, 1, 0)],
                buffers,
            },
            "the view of row 1 exceeds its buffer",
        ),
        (
            Rows::Views {
                views: &[view(u32::MAX, 0, 0)],
                buffers,
            },
            "the view of row 0 exceeds its buffer",
        ),
    ];
    for (rows, what) in cases {
        let err = judge
            .judge_rows(rows, |_, _| panic!("a row is judged"))
            .unwrap_err();
        assert!(
            matches!(err.kind(), ErrorKind::BadColumn(found) if found == what),
            "{err}"
        );
        let err = judge.allowed(rows, Require::All).unwrap_err();
        assert!(matches!(err.kind(), ErrorKind::BadColumn(found) if found == what));
    }
}

#[test]
fn the_first_error_of_the_callback_ends_the_work() {
    let judge = judge(b"user-agent: *\ndisallow: /x");
    // More rows than a batch has, each with another verdict than its neighbours.
    let rows: Vec<&[u8]> = [&b"https://h.example/x"[..], b"https://h.example/y"].repeat(1000);
    let mut calls = 0;
    let err = judge
        .judge_rows(Rows::Slices(&rows), |_, _| {
            calls += 1;
            Err(ErrorKind::BadColumn(format!("call {calls}")).into())
        })
        .unwrap_err();
    assert!(matches!(err.kind(), ErrorKind::BadColumn(found) if found == "call 1"));
    assert_eq!(calls, 1);
}
