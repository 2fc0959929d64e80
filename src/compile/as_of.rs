//! A snapshot as of a time, from the history of another one: no archive is read again.
//!
//! Reports, differences and exports read whole snapshots. So their answers about a time are those
//! about the snapshot of that time, which is compiled from the versions in force then.

use super::file_compiler::file_contents;
use super::report::CompileReport;
use super::{Compiled, DEFAULT_MEMORY, MEMORY_PARTS};
use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::snapshot::contents::{FileContents, OriginContents};
use crate::snapshot::format::NONE;
use crate::snapshot::history::Validity;
use crate::snapshot::text::Packer;
use crate::snapshot::text_reader::TextReader;
use crate::snapshot::write::{FileWriter, OriginWriter, SnapshotSections};
use crate::snapshot::{OriginEntry, Snapshot};
use crate::spool::SpoolOptions;
use rayon::prelude::*;

/// The origins of a chunk.
const CHUNK_ORIGINS: u32 = 1 << 12;

/// Texts per parallel task.
const TEXTS_PER_TASK: usize = 1 << 6;

impl Compiled {
    /// The snapshot as of `time`, in seconds since 1970, from a snapshot with a history.
    ///
    /// Verdicts by it are those of a snapshot that [`Compiler::as_of`](crate::Compiler::as_of)
    /// compiles from the same archives. It has no history. What only archives state is not in it:
    /// `max-age` and `Retry-After`, the causes of network errors, the digests of bodies, and redirects
    /// before failures. The time of an answer is that of its last capture, or of its first if the last
    /// one is newer than `time`: those between are not stored.
    ///
    /// Cost: a search in the history for each origin, and parsing each robots.txt of that time.
    ///
    /// ```
    /// use robosieve::compile::Compiled;
    /// use robosieve::{Compiler, Snapshot};
    /// let archive = br#"
    ///     {"url": "https://e.example/robots.txt", "status": 404, "fetched_at": 10}
    ///     {"url": "https://e.example/robots.txt", "body": "", "fetched_at": 20}"#;
    /// let mut compiler = Compiler::default().history(true);
    /// compiler.add_reader("memory", archive.as_slice())?;
    /// let history = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let mut statuses = Vec::new();
    /// for time in [10, 20] {
    ///     let snapshot = Snapshot::new(Compiled::as_of(&history, time)?.to_vec()?)?;
    ///     statuses.push(snapshot.origin_at(0)?.outcome().status);
    /// }
    /// assert_eq!(statuses, [404, 200]);
    /// assert_eq!(Compiled::as_of(&history, 9)?.report().counts.origins, 0);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`NoHistory`](crate::ErrorKind::NoHistory); [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes
    /// of the snapshot contradict each other; I/O errors of temporary files.
    pub fn as_of(history: &Snapshot, time: i64) -> Result<Self> {
        history.require_history()?;
        let profile = history.profile()?;
        let memory = (DEFAULT_MEMORY / MEMORY_PARTS / 2) as usize;
        let spools = SpoolOptions::new(std::env::temp_dir(), memory);
        let mut numbering = Numbering {
            writer: OriginWriter::new(&spools),
            numbers: vec![NONE; history.text_count() as usize],
            files: 0,
        };
        let mut files = FileWriter::new(&spools);
        let count = history.origin_count();
        for start in (0..count).step_by(CHUNK_ORIGINS as usize) {
            let rows = start..count.min(start.saturating_add(CHUNK_ORIGINS));
            let entries: Vec<Option<OriginEntry<'_>>> = rows
                .into_par_iter()
                .map(|row| history.origin_as_of(row, time, &mut Validity::ALWAYS.clone()))
                .collect::<Result<_>>()?;
            let new = numbering.append(entries.iter().flatten())?;
            for file in compile_texts(history, profile, &new)? {
                files.append(&file).map(drop)?;
            }
        }
        let sections = SnapshotSections::new(profile, numbering.writer, files, None)?;
        let mut report = CompileReport::new(profile);
        report.counts = sections.counts;
        Ok(Self {
            sections,
            report,
            decided: 0,
            old: None,
        })
    }
}

/// Numbers the texts of a time by first use, and appends origins with these numbers.
struct Numbering {
    writer: OriginWriter,
    /// The new number of each text of the history; [`NONE`] for texts that no origin uses so far.
    numbers: Vec<u32>,
    files: u32,
}

impl Numbering {
    /// Appends origins; returns their new texts, in the order of the new numbers.
    fn append<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e OriginEntry<'e>>,
    ) -> Result<Vec<u32>> {
        let mut new = Vec::new();
        for entry in entries {
            let file = self.number(entry.rules_file(), &mut new)?;
            let last_good = self.number(entry.last_good(), &mut new)?;
            let (source, _) = entry.strings();
            let detail = entry.detail();
            self.writer.append(&OriginContents {
                key: entry.key(),
                outcome: entry.outcome(),
                file,
                last_good,
                source,
                detail: detail.as_deref().map(str::as_bytes),
                payload: None,
                earlier_redirect: None,
            })?;
        }
        Ok(new)
    }

    fn number(&mut self, text: Option<u32>, new: &mut Vec<u32>) -> Result<Option<u32>> {
        let Some(text) = text else { return Ok(None) };
        let number = self.numbers.get_mut(text as usize).ok_or_else(|| {
            Error::corrupt("a version refers to a robots.txt that does not exist")
        })?;
        if *number == NONE {
            *number = self.files;
            self.files += 1;
            new.push(text);
        }
        Ok(Some(*number))
    }
}

/// Parses texts on all threads, in their order.
fn compile_texts(
    history: &Snapshot,
    profile: Profile,
    texts: &[u32],
) -> Result<Vec<FileContents<'static>>> {
    let compiled: Vec<Vec<FileContents<'static>>> = texts
        .par_chunks(TEXTS_PER_TASK)
        .map(|texts| {
            let mut reader = TextReader::new(history);
            let mut packer = Packer::new()?;
            let mut files = Vec::new();
            for &text in texts {
                let text = reader.read(text)?;
                let frame = packer.pack(&text)?.to_vec();
                files.push(file_contents(profile, &text, frame)?);
            }
            Ok(files)
        })
        .collect::<Result<_>>()?;
    Ok(compiled.into_iter().flatten().collect())
}
