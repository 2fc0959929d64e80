//! Parquet files of other writers: empty row groups, and column names in another case.

use crate::parquet::write_column;
use crate::snapshots::compile_robots;
use crate::test_dir::TestDir;
use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use ::parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, TrackedWrite};
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;
use std::fs;
use std::io::Write;

/// The header of a dictionary page without values, as pyarrow writes it.
const EMPTY_DICTIONARY: &[u8] = b"\x15\x04\x15\x00\x15\x00\x4c\x15\x00\x15\x00\x12\x00\x00";

/// A file whose row groups have these numbers of rows. As in files of pyarrow, a column chunk of an
/// empty row group has a dictionary page but no data page, and its data page offset is 0.
fn as_by_pyarrow(schema: &str, groups: &[usize]) -> Vec<u8> {
    let schema = parse_message_type(schema).unwrap();
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).unwrap();
    for &rows in groups {
        let mut group = file.next_row_group().unwrap();
        let urls: Vec<ByteArray> = (0..rows)
            .map(|row| ["https://a.example/x", "https://a.example/"][row % 2].into())
            .collect();
        write_column::<ByteArrayType>(&mut group, &urls, None, None);
        write_column::<Int64Type>(&mut group, &vec![7; rows], None, None);
        group.close().unwrap();
    }
    let mut bytes = file.into_inner().unwrap();
    let meta = ParquetMetaDataReader::new()
        .parse_and_finish(&Bytes::from(bytes.clone()))
        .unwrap();
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    bytes.truncate(bytes.len() - 8 - footer);
    let groups = meta.row_groups().iter().cloned().map(|group| {
        let mut columns = group.columns().to_vec();
        for column in columns.iter_mut().filter(|_| group.num_rows() == 0) {
            let dictionary = bytes.len() as i64;
            bytes.extend_from_slice(EMPTY_DICTIONARY);
            let builder = column.clone().into_builder();
            let builder = builder
                .set_dictionary_page_offset(Some(dictionary))
                .set_data_page_offset(0);
            let builder = builder.set_total_compressed_size(EMPTY_DICTIONARY.len() as i64);
            *column = builder
                .set_total_uncompressed_size(EMPTY_DICTIONARY.len() as i64)
                .build()
                .unwrap();
        }
        group
            .into_builder()
            .set_column_metadata(columns)
            .build()
            .unwrap()
    });
    let groups = groups.collect();
    let meta = meta.into_builder().set_row_groups(groups).build();
    let mut out = TrackedWrite::new(Vec::new());
    out.write_all(&bytes).unwrap();
    ParquetMetaDataWriter::new_with_tracked(TrackedWrite::new(&mut out), &meta)
        .finish()
        .unwrap();
    out.into_inner().unwrap()
}

/// A directory with the snapshot `s`.
fn snapshot_dir() -> TestDir {
    let dir = TestDir::new();
    std::fs::write(
        dir.path("s"),
        compile_robots("https://a.example", b"user-agent: *\ndisallow: /x"),
    )
    .unwrap();
    dir
}

impl TestDir {
    /// Reads a whole file: its column names and its rows.
    fn read_parquet(&self, name: &str) -> (Vec<String>, Vec<String>) {
        let file =
            SerializedFileReader::new(Bytes::from(fs::read(self.path(name)).unwrap())).unwrap();
        let schema = file.metadata().file_metadata().schema_descr();
        let columns = schema
            .columns()
            .iter()
            .map(|column| column.name().to_owned())
            .collect();
        (
            columns,
            file.get_row_iter(None)
                .unwrap()
                .map(|row| row.unwrap().to_string())
                .collect(),
        )
    }
}

#[test]
fn empty_row_groups_are_valid() {
    let dir = snapshot_dir();
    for groups in [&[0][..], &[0, 0], &[2, 0, 4], &[0, 2], &[3, 0]] {
        let table = as_by_pyarrow(
            "message m { required binary url (STRING); required int64 n; }",
            groups,
        );
        dir.write("in.parquet", table);
        let rows: usize = groups.iter().sum();
        for args in [
            "annotate -s s -a one in.parquet -o A",
            "annotate -s s -a one,two --as int8 in.parquet -o A",
            "filter -s s -a one in.parquet -o A --disallowed-to D",
            "filter -s s -a one in.parquet --out-dir out",
            // Annotate the annotated file again.
            "annotate -s s -a one A --as-name again -o B",
            "report -q -s s -a one in.parquet --json-to report.json",
        ] {
            let ran = dir.run_line(args);
            assert_eq!(ran.code, Some(0), "{groups:?}: {args}: {}", ran.stderr);
            if args.starts_with("annotate") && args.ends_with("-o A") {
                let (columns, read) = dir.read_parquet("A");
                assert!(columns.len() > 2, "{groups:?}: {args}: {columns:?}");
                assert!(read.len() == rows, "{groups:?}: {args}: {columns:?}");
            }
        }
        assert_eq!(dir.read_parquet("B").0, ["url", "n", "again"], "{groups:?}");
    }
}

#[test]
fn column_names_ignore_case_if_unambiguous() {
    let dir = snapshot_dir();
    for ((first, second), args, expected) in [
        (("URL", "n"), "", None),
        (("Url", "n"), "--field uRL", None),
        (("url", "Url"), "", None),
        (
            ("Url", "url"),
            "--field url",
            Some("column \"url\" holds INT64"),
        ),
        (
            ("URL", "Url"),
            "",
            Some(
                "several that differ in case only: URL, Url; name the column of the URLs with --field",
            ),
        ),
        (
            ("link", "n"),
            "",
            Some("has no column \"url\", only link, n; name the column of the URLs with --field"),
        ),
    ] {
        let schema =
            format!("message m {{ required binary {first} (STRING); required int64 {second}; }}");
        dir.write("in.parquet", as_by_pyarrow(&schema, &[2]));
        let ran = dir.run_line(&format!("annotate -s s -a one {args} in.parquet -o out"));
        match expected {
            Some(error) => assert!(
                ran.code == Some(2) && ran.stderr.contains(error),
                "{first}: {}",
                ran.stderr
            ),
            None => {
                assert_eq!(ran.code, Some(0), "{first}: {}", ran.stderr);
                let (_, rows) = dir.read_parquet("out");
                assert!(rows[0].ends_with("robots_allowed: 0}"), "{rows:?}");
                assert!(rows[1].ends_with("robots_allowed: 1}"), "{rows:?}");
            }
        }
    }
}
