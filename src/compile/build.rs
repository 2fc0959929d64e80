//! The pass over all origins in the order of the snapshot: outcomes, then files, then sections.
//!
//! ```text
//! chunk k+2   read and resolve, on all threads
//! chunk k+1   number new files and append origins, then parse the new files on all threads
//! chunk k     append the rule sets and texts of the new files
//! ```
//!
//! Numbers are given by first use, which is the order of appending. So little must be done in
//! order, and the three steps work on three chunks at the same time.

use super::file_compiler::{CompiledFile, FileCompiler, InheritedOffsets};
use super::history::{HistoryBuilder, HistoryCounts};
use super::incremental::previous::PreviousSnapshot;
use super::incremental::previous_urls::PreviousUrls;
use super::ingest::text_store::{TextId, Texts};
use super::ingest::url_key::UrlKey;
use super::new_failures::NewFailures;
use super::progress::{CompilePhase, CompileProgress, ShowProgress};
use super::resolve::payloads::Payloads;
use super::resolve::resolved_origin::{DecidedBy, ResolvedOrigin};
use super::resolve::resolver::{Resolver, SharedHistories};
use super::sort::table::{RobotsCaptures, SortedTable, TableReader};
use crate::error::Result;
use crate::profile::Profile;
use crate::snapshot::contents::{EarlierRedirect, OriginContents};
use crate::snapshot::format::NONE;
use crate::snapshot::write::{FileWriter, OriginWriter, SnapshotSections};
use crate::spool::SpoolOptions;
use rayon::prelude::*;

/// The sources of a snapshot.
pub(super) struct BuildInputs<'c> {
    pub profile: Profile,
    pub table: &'c SortedTable,
    pub texts: &'c Texts,
    pub payloads: &'c Payloads,
    pub previous: Option<&'c PreviousUrls<'c>>,
    /// Whether the snapshot gets a history.
    pub with_history: bool,
    pub spools: &'c SpoolOptions,
}

/// A snapshot, with counts of how its origins were decided.
pub(super) struct BuiltSnapshot {
    pub sections: SnapshotSections,
    /// Origins decided by a capture of their own robots.txt.
    pub by_capture: u64,
    /// Captured origins for which the previous snapshot has something newer.
    pub outdated: u64,
    /// Origins inherited from the previous snapshot, unchanged.
    pub inherited: u64,
    /// Origins of the previous snapshot that captures of their redirects' ends decide.
    pub by_redirects: u64,
    pub failures: NewFailures,
    pub history: Option<HistoryCounts>,
}

/// The origins of a chunk.
const CHUNK_ORIGINS: usize = 1 << 12;

/// A chunk ends early with this many captures: archives of years have many per origin.
const CHUNK_CAPTURES: usize = 1 << 18;

/// Origins per parallel task.
const ORIGINS_PER_TASK: usize = 1 << 6;

/// Texts per parallel task.
const TEXTS_PER_TASK: usize = 1 << 6;

/// Resolves all origins and writes the sections.
///
/// # Errors
/// [`TooLarge`](crate::ErrorKind::TooLarge); I/O errors of temporary data; damage in the previous
/// snapshot.
pub(super) fn build(
    inputs: &BuildInputs<'_>,
    progress: &ShowProgress<'_>,
) -> Result<BuiltSnapshot> {
    let mut source = OriginSource::new(inputs)?;
    let mut numbering = Numbering {
        writer: OriginWriter::new(inputs.spools),
        numbers: vec![NONE; inputs.texts.len()],
        files: 0,
        decided: DecisionCounts::default(),
        failures: NewFailures::default(),
        history: inputs
            .with_history
            .then(|| HistoryBuilder::new(inputs.spools)),
    };
    let mut files = FileWriter::new(inputs.spools);
    let mut offsets = InheritedOffsets::default();
    let resolver = Resolver {
        table: inputs.table,
        texts: inputs.texts,
        payloads: inputs.payloads,
        previous: inputs.previous,
        histories: SharedHistories::default(),
        with_versions: inputs.with_history,
    };
    let mut resolved = source.resolve_chunk(&resolver)?;
    let mut compiled = Vec::new();
    // Each round runs one step of each of three chunks. The order within a step is fixed, so the
    // bytes do not depend on the threads.
    while !resolved.is_empty() || !compiled.is_empty() {
        let (next, (parsed, appended)) = rayon::join(
            || source.resolve_chunk(&resolver),
            || {
                rayon::join(
                    || {
                        numbering
                            .append(&resolved)
                            .and_then(|texts| compile_files(&texts, inputs, &offsets))
                    },
                    || append_files(std::mem::take(&mut compiled), &mut files),
                )
            },
        );
        offsets.extend(appended?);
        resolved = next?;
        compiled = parsed?;
        progress(CompileProgress::of(
            CompilePhase::Build,
            source.done,
            source.total,
        ));
    }
    let Numbering {
        mut writer,
        numbers,
        files: file_count,
        decided,
        failures,
        history,
    } = numbering;
    let (history, history_counts) = match history {
        Some(history) => {
            let (sections, counts) =
                history.finish(&resolver, inputs, numbers, file_count, &mut writer)?;
            (Some(sections), Some(counts))
        }
        None => (None, None),
    };
    let DecisionCounts {
        by_capture,
        outdated,
        inherited,
        by_redirects,
    } = decided;
    let sections = SnapshotSections::new(inputs.profile, writer, files, history)?;
    Ok(BuiltSnapshot {
        sections,
        by_capture,
        outdated,
        inherited,
        by_redirects,
        failures,
        history: history_counts,
    })
}

/// Merges captured origins with the rows of the previous snapshot, in the order of keys.
struct OriginSource<'c> {
    captured: TableReader<'c>,
    next: Option<RobotsCaptures>,
    previous: Option<&'c PreviousSnapshot>,
    /// The next row of the previous snapshot.
    row: u32,
    /// The first row whose key is not less than that of the next captured origin.
    row_end: u32,
    /// Captured origins and rows so far, and all of them.
    done: u64,
    total: u64,
}

/// An origin on its way to its outcome.
enum UnresolvedOrigin {
    Captured(RobotsCaptures),
    /// Without captures; the row in the previous snapshot.
    Previous(u32),
}

impl<'c> OriginSource<'c> {
    fn new(inputs: &BuildInputs<'c>) -> Result<Self> {
        let captured = inputs.table.reader()?;
        let previous = inputs.previous.map(|previous| previous.previous);
        let rows = previous.map_or(0, |previous| previous.snapshot.origin_count());
        let total = inputs.table.counts.origins + u64::from(rows);
        let mut source = Self {
            captured,
            next: None,
            previous,
            row: 0,
            row_end: 0,
            done: 0,
            total,
        };
        source.read_captured()?;
        Ok(source)
    }

    /// Reads the next captured origin, and finds its position among the rows.
    fn read_captured(&mut self) -> Result<()> {
        self.next = self.captured.next_origin()?;
        if let Some(previous) = self.previous {
            self.row_end = match &self.next {
                Some(next) => previous.first_row_from(&next.origin, self.row)?,
                None => previous.snapshot.origin_count(),
            };
        }
        Ok(())
    }

    /// The next origin. A captured one replaces the row of the same key.
    fn next(&mut self) -> Result<Option<UnresolvedOrigin>> {
        if self.row < self.row_end {
            self.pass_row();
            return Ok(Some(UnresolvedOrigin::Previous(self.row - 1)));
        }
        let Some(robots) = self.next.take() else {
            return Ok(None);
        };
        self.done += 1;
        if let Some(previous) = self.previous
            && self.row < previous.snapshot.origin_count()
            && previous.origin(self.row)?.key() == &*robots.origin
        {
            self.pass_row();
        }
        self.read_captured()?;
        Ok(Some(UnresolvedOrigin::Captured(robots)))
    }

    fn pass_row(&mut self) {
        self.row += 1;
        self.done += 1;
    }

    /// The outcomes of the next origins, on all threads; empty at the end.
    fn resolve_chunk(&mut self, resolver: &Resolver<'c>) -> Result<Vec<ResolvedOrigin<'c>>> {
        let mut chunk = Vec::new();
        let mut captures = 0;
        while chunk.len() < CHUNK_ORIGINS && captures < CHUNK_CAPTURES {
            let Some(origin) = self.next()? else { break };
            if let UnresolvedOrigin::Captured(robots) = &origin {
                captures += robots.captures.len();
            }
            chunk.push(origin);
        }
        chunk
            .into_par_iter()
            .with_min_len(ORIGINS_PER_TASK)
            .map(|origin| match origin {
                UnresolvedOrigin::Captured(robots) => resolver.resolve(robots),
                UnresolvedOrigin::Previous(row) => resolver.resolve_previous(row),
            })
            .collect()
    }
}

/// Numbers files by first use, and appends origins with these numbers.
struct Numbering {
    writer: OriginWriter,
    /// Files by text; [`NONE`] for texts that no origin uses so far.
    numbers: Vec<u32>,
    files: u32,
    decided: DecisionCounts,
    failures: NewFailures,
    history: Option<HistoryBuilder>,
}

#[derive(Clone, Copy, Debug, Default)]
struct DecisionCounts {
    by_capture: u64,
    outdated: u64,
    inherited: u64,
    by_redirects: u64,
}

impl Numbering {
    /// Appends origins; returns the texts of new files, in the order of their numbers.
    fn append(&mut self, origins: &[ResolvedOrigin<'_>]) -> Result<Vec<TextId>> {
        let mut new = Vec::new();
        for origin in origins {
            let file = self.number(origin.file, &mut new);
            let last_good = self.number(origin.last_good, &mut new);
            self.writer.append(&OriginContents {
                key: &origin.key,
                outcome: &origin.outcome,
                file,
                last_good,
                source: origin.source.as_deref(),
                detail: origin.detail.as_deref(),
                payload: origin.payload,
                earlier_redirect: origin.earlier_redirect.as_ref().map(|redirect| {
                    EarlierRedirect {
                        status: redirect.status,
                        end: redirect.end.as_ref().map(UrlKey::text),
                        hops: redirect.hops,
                    }
                }),
            })?;
            match origin.decided_by {
                DecidedBy::Capture => self.decided.by_capture += 1,
                DecidedBy::NewerPrevious => self.decided.outdated += 1,
                DecidedBy::Previous => self.decided.inherited += 1,
                DecidedBy::Redirects => self.decided.by_redirects += 1,
            }
            self.failures.count(origin);
            if let Some(history) = &mut self.history {
                history.append(&origin.versions, &mut self.writer)?;
            }
        }
        Ok(new)
    }

    /// The number of a file; a new one is added to `new`.
    fn number(&mut self, text: Option<TextId>, new: &mut Vec<TextId>) -> Option<u32> {
        let text = text?;
        let number = &mut self.numbers[text.0 as usize];
        if *number == NONE {
            *number = self.files;
            self.files += 1;
            new.push(text);
        }
        Some(*number)
    }
}

/// Parses texts on all threads; the files are in the order of the texts.
fn compile_files<'c>(
    texts: &[TextId],
    inputs: &BuildInputs<'c>,
    offsets: &InheritedOffsets,
) -> Result<Vec<Vec<CompiledFile<'c>>>> {
    let previous = inputs.previous.map(|previous| previous.previous);
    let compile = |compiler: &mut Option<FileCompiler<'c>>, texts: &[TextId]| {
        let compiler = match compiler {
            Some(compiler) => compiler,
            None => compiler.insert(FileCompiler::new(inputs.profile, inputs.texts, previous)?),
        };
        texts
            .iter()
            .map(|&text| compiler.compile(text, offsets))
            .collect()
    };
    // To make a decompressor for each task takes longer than to copy a few encoded files.
    texts
        .par_chunks(TEXTS_PER_TASK)
        .map_init(|| None, compile)
        .collect()
}

/// Appends files; returns the new offsets of the rules that they inherit.
fn append_files(
    compiled: Vec<Vec<CompiledFile<'_>>>,
    writer: &mut FileWriter,
) -> Result<InheritedOffsets> {
    let mut offsets = InheritedOffsets::default();
    for CompiledFile {
        contents,
        previous_offsets,
    } in compiled.into_iter().flatten()
    {
        offsets.extend(previous_offsets.into_iter().zip(writer.append(&contents)?));
    }
    Ok(offsets)
}
