//! Any bytes as a Parquet file: an error, or outputs with all rows.

use crate::filter_stream::judge;
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use robosieve::job::{Input, Job, Output, Outputs};
use std::fs;
use std::path::Path;

pub(crate) fn run(input: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("in.parquet");
    fs::write(&file, input).unwrap();
    let judge = judge(input.len() as u8 & 1);
    let job = Job::new(&judge);

    let path = dir.path().join("annotated.parquet");
    let annotated = Input::open(&file)
        .and_then(|input| job.annotate(vec![input], Output::create(&path)?))
        .and_then(|written| written.commit());
    let paths = ["kept", "other", "unknown", "invalid"]
        .map(|name| dir.path().join(format!("{name}.parquet")));
    let filtered = Input::open(&file)
        .and_then(|input| {
            let [kept, other, unknown, invalid] = paths.each_ref().map(Output::create);
            let outputs = Outputs {
                kept: Some(kept?),
                other: Some(other?),
                unknown: Some(unknown?),
                invalid: Some(invalid?),
                ..Outputs::default()
            };
            job.filter(vec![input], outputs)
        })
        .and_then(|written| written.commit());

    match &annotated {
        Ok(stats) => {
            let verdicts = stats.allowed + stats.disallowed + stats.unknown + stats.invalid;
            assert_eq!(stats.lines, verdicts);
            assert_eq!(rows(&path), stats.lines, "rows of the annotated file");
        }
        Err(err) => {
            assert!(err.to_string().contains("in.parquet"), "{err}");
            assert!(!path.exists());
        }
    }
    match &filtered {
        Ok(stats) => {
            let counts = [
                stats.allowed,
                stats.disallowed,
                stats.unknown,
                stats.invalid,
            ];
            assert_eq!(stats.lines, counts.iter().sum::<u64>());
            let found = paths.each_ref().map(|path| rows(path));
            assert_eq!(found, counts, "rows of the outputs");
        }
        Err(err) => {
            assert!(err.to_string().contains("in.parquet"), "{err}");
            assert!(paths.iter().all(|path| !path.exists()));
        }
    }
    let left = fs::read_dir(dir.path()).unwrap().count();
    let expected = 1 + usize::from(annotated.is_ok()) + if filtered.is_ok() { 4 } else { 0 };
    assert_eq!(left, expected, "files after the jobs");
}

/// The rows of a file, which its row groups agree on.
fn rows(path: &Path) -> u64 {
    let reader = SerializedFileReader::new(Bytes::from(fs::read(path).unwrap())).unwrap();
    let metadata = reader.metadata();
    let groups: i64 = metadata
        .row_groups()
        .iter()
        .map(|group| group.num_rows())
        .sum();
    assert_eq!(groups, metadata.file_metadata().num_rows());
    groups as u64
}
