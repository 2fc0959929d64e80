//! A worker that fails or panics ends the run of its pipeline: no other thread waits forever.

use crate::parquet::write_column;
use crate::snapshots::{judge_for, snapshot_of_robots};
use crate::test_dir::gz;
use crate::waiting::bounded;
use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use robosieve::job::{FilterStats, Input, Job, Output, Outputs, Progress, Written};
use robosieve::{Compiler, ErrorKind, Judge, Result, Snapshot};
use std::io::{self, Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const THREADS: [usize; 3] = [1, 2, 5];

/// The outcome of `work` on a pool of `threads` threads: `Err` for a panic. Fails if `work` hangs.
fn outcome<T: Send + 'static>(
    threads: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> thread::Result<T> {
    bounded(move |step| {
        step(format!("the work on {threads} threads"));
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(work)
    })
}

fn snapshot() -> Snapshot {
    snapshot_of_robots("https://a.example", b"user-agent: *\ndisallow: /x")
}

fn judge(snapshot: &Snapshot) -> Judge {
    judge_for(snapshot, "one")
}

/// A reader that returns some bytes, then panics.
struct PanicsAfter(Cursor<Vec<u8>>);

impl Read for PanicsAfter {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buf)?;
        assert!(n > 0, "this reader panics");
        Ok(n)
    }
}

fn lines(count: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|n| format!("https://a.example/{n}\n").into_bytes())
        .collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    text.chunks(1000).flat_map(gz).collect()
}

#[test]
fn reader_panics_end_a_filter() {
    for threads in THREADS {
        for (name, text) in [("list", lines(100_000)), ("list.gz", gzip(&lines(100_000)))] {
            let ran = outcome(threads, move || {
                let snapshot = snapshot();
                let mut inputs = vec![Input::from_reader("first", Cursor::new(lines(100_000)))];
                inputs.push(Input::from_reader(name, PanicsAfter(Cursor::new(text))));
                inputs.push(Input::from_reader("last", Cursor::new(lines(100_000))));
                Job::new(&judge(&snapshot))
                    .filter(inputs, Outputs::default())
                    .map(drop)
            });
            assert!(ran.is_err(), "{threads}, {name}: the panic is lost");
        }
    }
}

/// A writer that accepts some bytes, then fails or panics.
struct EndsAfter {
    left: usize,
    by_panic: bool,
}

impl Write for EndsAfter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        assert!(
            !self.by_panic || self.left >= buf.len(),
            "this writer panics"
        );
        self.left = self
            .left
            .checked_sub(buf.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn failing_writers_end_a_filter() {
    for threads in THREADS {
        for by_panic in [false, true] {
            let ran = outcome(threads, move || {
                let snapshot = snapshot();
                let inputs = (0..9)
                    .map(|_| Input::from_reader("list", Cursor::new(gzip(&lines(50_000)))))
                    .collect();
                let mut out = EndsAfter {
                    left: 1 << 20,
                    by_panic,
                };
                Job::new(&judge(&snapshot))
                    .annotate(inputs, Output::from_writer(&mut out))
                    .map(drop)
            });
            assert_eq!(ran.is_err(), by_panic, "{threads}");
            assert!(
                ran.map_or(true, |result| result.is_err()),
                "{threads}: the error is lost"
            );
        }
    }
}

#[test]
fn reader_panics_end_a_compilation() {
    let line = |n: usize| {
        format!("{{\"url\":\"https://a{n}.example/robots.txt\",\"body\":\"user-agent: *\"}}\n")
    };
    for threads in THREADS {
        for origins in [1, 20_000] {
            let text: String = (0..origins).map(line).collect();
            let ran = outcome(threads, move || {
                let mut compiler = Compiler::default();
                compiler.add_reader("archive", PanicsAfter(Cursor::new(text.into_bytes())))
            });
            assert!(ran.is_err(), "{threads}, {origins}: the panic is lost");
        }
    }
}

/// Row groups of two rows, each column with a Bloom filter; that of column `n` in the first row
/// group is damaged.
fn with_damaged_copy(groups: usize) -> Vec<u8> {
    let schema =
        parse_message_type("message m { required binary url (STRING); required int64 n; }")
            .unwrap();
    let properties = WriterProperties::builder()
        .set_bloom_filter_enabled(true)
        .build();
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema.into(), Arc::new(properties)).unwrap();
    for _ in 0..groups {
        let mut group = file.next_row_group().unwrap();
        let urls = ["https://a.example/x", "https://a.example/"].map(ByteArray::from);
        write_column::<ByteArrayType>(&mut group, &urls, None, None);
        write_column::<Int64Type>(&mut group, &[1, 2], None, None);
        group.close().unwrap();
    }
    let mut bytes = file.into_inner().unwrap();
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    let start = reader
        .metadata()
        .row_group(0)
        .column(1)
        .bloom_filter_offset()
        .unwrap() as usize;
    bytes[start..start + 16].fill(0xff);
    bytes
}

fn annotate(table: &Path, out: &Path, progress: &(dyn Fn(Progress) + Sync)) -> Result<FilterStats> {
    let snapshot = snapshot();
    Job::new(&judge(&snapshot))
        .progress(progress)
        .annotate(vec![Input::open(table)?], Output::create(out)?)
        .and_then(Written::commit)
}

#[test]
fn uncopyable_columns_end_annotating() {
    for threads in THREADS {
        for groups in [1, 4, 5, 40] {
            let dir = tempfile::tempdir().unwrap();
            let (table, out) = (
                dir.path().join("in.parquet"),
                dir.path().join("out.parquet"),
            );
            std::fs::write(&table, with_damaged_copy(groups)).unwrap();
            let ran = outcome(threads, move || annotate(&table, &out, &|_| {}).map(drop)).unwrap();
            let err = ran.unwrap_err();
            assert!(
                matches!(err.kind(), ErrorKind::BadTable(_)),
                "{groups}: {err}"
            );
            assert!(
                err.path().is_some_and(|path| path.ends_with("in.parquet")),
                "{groups}: {err}"
            );
        }
    }
}

#[test]
fn caller_panics_end_annotating() {
    for threads in THREADS {
        let dir = tempfile::tempdir().unwrap();
        let (table, out) = (
            dir.path().join("in.parquet"),
            dir.path().join("out.parquet"),
        );
        let mut bytes = with_damaged_copy(40);
        // Without damage: the Bloom filter of another row group has the same content.
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
        let filter = |group| {
            reader
                .metadata()
                .row_group(group)
                .column(1)
                .bloom_filter_offset()
                .unwrap() as usize
        };
        bytes.copy_within(filter(1)..filter(1) + 16, filter(0));
        std::fs::write(&table, bytes).unwrap();
        let ran = outcome(threads, move || {
            let calls = AtomicUsize::new(0);
            let progress = |_| {
                assert!(
                    calls.fetch_add(1, Ordering::Relaxed) < 20,
                    "this caller panics"
                )
            };
            annotate(&table, &out, &progress).map(drop)
        });
        assert!(ran.is_err(), "{threads}: the panic is lost");
    }
}
