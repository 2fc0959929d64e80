//! Counts of findings over all origins of a snapshot.

use crate::error::Result;
use crate::file_pass::{FileReader, FileUses, UsedFile};
use crate::lint::code::{Code, InSnapshot};
use crate::lint::text::lint_condensed;
use crate::snapshot::Snapshot;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many robots.txt files and origins of a snapshot have each code; returned by [`survey`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Survey {
    /// Origins whose newest answer is a robots.txt.
    pub origins: u64,
    /// Distinct robots.txt files of these origins.
    pub files: u64,
    /// Files without any finding.
    pub clean_files: u64,
    /// Origins of those files.
    pub clean_origins: u64,
    /// The codes that a snapshot can show, in the order of [`Code::ALL`].
    pub codes: Vec<CodeCount>,
}

/// The number of files and origins with a code.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CodeCount {
    /// The code.
    pub code: Code,
    /// Distinct robots.txt files with it.
    pub files: u64,
    /// Origins with one of these files.
    pub origins: u64,
    /// The first of these origins, by key.
    pub example: Option<String>,
}

/// Counts by code that several threads add to.
struct AtomicCount {
    files: AtomicU64,
    origins: AtomicU64,
    /// The least row of an origin with the code.
    first_row: AtomicU32,
}

impl AtomicCount {
    fn new() -> Self {
        Self {
            files: AtomicU64::new(0),
            origins: AtomicU64::new(0),
            first_row: AtomicU32::new(u32::MAX),
        }
    }

    fn add(&self, used: UsedFile) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.origins
            .fetch_add(u64::from(used.origins), Ordering::Relaxed);
        self.first_row.fetch_min(used.first_row, Ordering::Relaxed);
    }
}

/// Counts, for each code, the robots.txt files of a snapshot and their origins.
///
/// Origins count whose newest answer is a robots.txt; last good copies do not. The texts are the
/// condensed ones of the snapshot, so codes are found as [`Code::in_snapshot`] says.
///
/// The codes in `allowed` are left out, so a file with no others counts as one without findings.
///
/// `progress` is called from several threads with numbers of read bytes; their sum is the length of
/// the section `texts`, or less if some copies are not current ones.
///
/// Cost: a pass over all origins, and one over the distinct files, each decompressed and checked
/// once, on all threads of the current rayon pool. Memory: 8 bytes per file, and one text per
/// thread.
///
/// ```
/// use robosieve::lint::{Code, survey};
/// use robosieve::{Compiler, Snapshot};
/// let mut compiler = Compiler::default();
/// for host in ["https://a.example", "https://b.example"] {
///     compiler.add_robots(host, b"User-agent: *\nDisallow: private")?;
/// }
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let survey = survey(&snapshot, &[], |_| ())?;
/// let row = survey.codes.iter().find(|row| row.code == Code::NoLeadingSlash).unwrap();
/// assert_eq!((survey.origins, row.files, row.origins), (2, 1, 2));
/// assert_eq!(row.example.as_deref(), Some("https://a.example"));
/// # Ok::<(), robosieve::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each other.
pub fn survey(
    snapshot: &Snapshot,
    allowed: &[Code],
    progress: impl Fn(u64) + Sync,
) -> Result<Survey> {
    // Files are checked in any order on all threads, so the counters are atomic.
    let uses = FileUses::of_newest_answers(snapshot)?;
    let clean = AtomicCount::new();
    let counts: Vec<AtomicCount> = Code::ALL.iter().map(|_| AtomicCount::new()).collect();
    uses.files().try_for_each_init(
        || FileReader::new(snapshot),
        |reader, used| -> Result<()> {
            let text = reader.text(used.file)?;
            let codes: HashSet<Code> = codes_of(&text, allowed);
            if codes.is_empty() {
                clean.add(used);
            }
            codes
                .into_iter()
                .for_each(|code| counts[code as usize].add(used));
            progress(reader.stored_text_len(used.file)?);
            Ok(())
        },
    )?;
    let rows = Code::ALL
        .iter()
        .zip(&counts)
        .filter(|(code, _)| is_counted(**code, allowed));
    Ok(Survey {
        origins: uses.origins(),
        files: uses.files().count() as u64,
        clean_files: clean.files.into_inner(),
        clean_origins: clean.origins.into_inner(),
        codes: rows
            .map(|(code, count)| code_count(snapshot, *code, count))
            .collect::<Result<_>>()?,
    })
}

fn is_counted(code: Code, allowed: &[Code]) -> bool {
    code.in_snapshot() != InSnapshot::No && !allowed.contains(&code)
}

/// The codes of a condensed text.
fn codes_of(text: &[u8], allowed: &[Code]) -> HashSet<Code> {
    let codes = lint_condensed(text).into_iter().map(|finding| finding.code);
    codes.filter(|code| is_counted(*code, allowed)).collect()
}

fn code_count(snapshot: &Snapshot, code: Code, count: &AtomicCount) -> Result<CodeCount> {
    let [files, origins] =
        [&count.files, &count.origins].map(|count| count.load(Ordering::Relaxed));
    let first = count.first_row.load(Ordering::Relaxed);
    let example = if files == 0 {
        None
    } else {
        Some(snapshot.origin_at(first)?.origin())
    };
    Ok(CodeCount {
        code,
        files,
        origins,
        example,
    })
}
