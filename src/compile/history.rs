//! The history of a snapshot: the versions of all URLs that count, and the texts that only old
//! versions have.
//!
//! While the origins are resolved, the versions of each are appended, with the numbers of texts. Then
//! come the other URLs that redirects lead to, from these and from each other. At the end, texts that
//! no origin has now are numbered and compressed: as differences to the newest text of their URL, and
//! every sixteenth one whole. Where sites add a line now and then, a difference takes some 20 bytes, and
//! a whole frame 130. The rules of short texts are stored, too, as judging asks for them.

use super::build::BuildInputs;
use super::file_compiler::{PreviousTexts, file_contents};
use super::incremental::previous::PreviousSnapshot;
use super::ingest::text_store::{TextFrame, TextId, Texts};
use super::ingest::url_key::UrlKey;
use super::resolve::resolver::Resolver;
use super::resolve::versions::{AnswerBefore, RedirectTarget, UrlAnswer, UrlVersion};
use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::snapshot::contents::FileContents;
use crate::snapshot::format::{BodyBits, NONE};
use crate::snapshot::history::{
    BeforeFailures, RedirectLink, VERSION_FAILURE_LEN, VERSION_LEN, Version, VersionAnswer,
    VersionFailure,
};
use crate::snapshot::text::{DICTIONARY, DeltaBase, DeltaPacker, Unpacker};
use crate::snapshot::write::{FileWriter, OriginWriter};
use crate::snapshot::write_history::{
    HistorySections, HistoryTextWriter, VersionWriter, WrittenVersions,
};
use crate::spool::{Spool, SpoolOptions};
use crate::url::ROBOTS_PATH;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The differences to a text before the next text is stored whole: later versions differ from it
/// more and more.
const DELTAS_PER_BASE: usize = 15;

/// The most bytes of an old text whose rules are stored, and of these rules.
///
/// Others are parsed when a URL asks for their time. With the rules of all versions, an archive of
/// years takes 94 times the space of its newest answers, and 20 hosts with long lists hold three
/// quarters of it.
const MAX_STORED_RULES: usize = 8 << 10;

/// The versions that are renumbered at once, unless a single node has more.
const VERSIONS_PER_CHUNK: usize = 1 << 16;

/// The most nodes that are renumbered at once.
const NODES_PER_CHUNK: u64 = 1 << 12;

/// The URLs whose versions are found at once.
const URLS_PER_CHUNK: usize = 1 << 12;

/// The counts of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HistoryCounts {
    pub versions: u64,
    pub urls: u64,
    pub texts: u64,
}

/// Gathers the versions of all URLs.
pub(super) struct HistoryBuilder {
    writer: VersionWriter,
    /// The URLs that redirects lead to, other than the robots.txt of an origin.
    targets: BTreeSet<UrlKey>,
}

impl HistoryBuilder {
    pub(super) fn new(spools: &SpoolOptions) -> Self {
        Self {
            writer: VersionWriter::new(spools),
            targets: BTreeSet::new(),
        }
    }

    /// Appends the next node: a URL with these versions. The targets of its redirects become
    /// strings of `origins`.
    pub(super) fn append(
        &mut self,
        versions: &[UrlVersion],
        origins: &mut OriginWriter,
    ) -> Result<()> {
        self.writer.begin_node()?;
        for version in versions {
            self.add_target(version);
            let mut failure = None;
            let answer = match &version.answer {
                UrlAnswer::Rules { text, flags } => VersionAnswer::Rules {
                    file: text.0,
                    flags: BodyBits::new(flags.looks_like, flags.past_limit, flags.cut_short),
                },
                UrlAnswer::ClientError => VersionAnswer::ClientError,
                UrlAnswer::Redirect(None) => VersionAnswer::Redirect(RedirectLink {
                    target: NONE,
                    skipped: 0,
                }),
                UrlAnswer::Redirect(Some(target)) => match link_to(target, origins)? {
                    None => VersionAnswer::LostRedirect,
                    Some(link) => VersionAnswer::Redirect(link),
                },
                UrlAnswer::LostRedirect => VersionAnswer::LostRedirect,
                UrlAnswer::Failure {
                    class,
                    first_failure,
                    first_unreachable,
                    before,
                } => {
                    failure = Some(VersionFailure {
                        first_failure: *first_failure,
                        first_unreachable: *first_unreachable,
                        before: before_failures(before, origins)?,
                    });
                    VersionAnswer::Failure {
                        class: *class,
                        row: self.writer.next_failure(),
                    }
                }
            };
            let version = Version {
                from: version.from,
                last_seen: version.last_seen,
                status: version.status,
                answer,
            };
            self.writer.append(&version, failure.as_ref())?;
        }
        Ok(())
    }

    fn add_target(&mut self, version: &UrlVersion) {
        if let Some(target) = version.target()
            && target.split().1 != ROBOTS_PATH
        {
            self.targets.insert(target.clone());
        }
    }

    /// Appends the URLs that redirects lead to, renumbers all texts, and compresses those that no
    /// origin has now. `numbers` has the file of each text, or [`NONE`]; `files` is their number.
    ///
    /// # Errors
    /// I/O errors of temporary data; [`TooLarge`](crate::ErrorKind::TooLarge).
    pub(super) fn finish(
        mut self,
        resolver: &Resolver<'_>,
        inputs: &BuildInputs<'_>,
        numbers: Vec<u32>,
        files: u32,
        origins: &mut OriginWriter,
    ) -> Result<(HistorySections, HistoryCounts)> {
        let mut urls = Spool::new(inputs.spools, "history URLs");
        let reachable = self.reachable_urls(resolver)?;
        for reachable in reachable.chunks(URLS_PER_CHUNK) {
            // Their versions are found again, so that those of all need not fit in memory.
            for (url, versions) in reachable.iter().zip(versions_of(reachable, resolver)?) {
                // A URL without captures has no node.
                if !versions.is_empty() && is_storable(url) {
                    let offset = intern(url, origins)?;
                    urls.append(&offset.to_le_bytes())?;
                    self.append(&versions, origins)?;
                }
            }
        }
        let urls = urls.finish()?;
        let written = self.writer.finish()?;
        let mut renumbering = Renumbering {
            texts: inputs.texts,
            previous: inputs.previous.map(|previous| previous.previous),
            numbers,
            files,
            next: files,
            versions: VersionWriter::new(inputs.spools),
            text_writer: HistoryTextWriter::new(inputs.spools),
            rules: FileWriter::new(inputs.spools),
            profile: inputs.profile,
        };
        renumbering.run(&written)?;
        let counts = HistoryCounts {
            versions: written.versions.len() / VERSION_LEN as u64,
            urls: written.starts.len() / 4 - 1,
            texts: u64::from(renumbering.next - files),
        };
        let (texts, frames) = renumbering.text_writer.finish()?;
        let sections = HistorySections {
            versions: renumbering.versions.finish()?,
            urls,
            texts,
            frames,
            rules: renumbering.rules.finish()?,
        };
        Ok((sections, counts))
    }

    /// The URLs that redirects lead to, sorted. Redirects lead from them to more.
    fn reachable_urls(&mut self, resolver: &Resolver<'_>) -> Result<Vec<UrlKey>> {
        let mut known = BTreeSet::new();
        let mut new = std::mem::take(&mut self.targets);
        while !new.is_empty() {
            let urls: Vec<UrlKey> = new.iter().cloned().collect();
            known.append(&mut new);
            for urls in urls.chunks(URLS_PER_CHUNK) {
                for version in versions_of(urls, resolver)?.iter().flatten() {
                    self.add_target(version);
                }
            }
            new = std::mem::take(&mut self.targets);
            new.retain(|url| !known.contains(url));
        }
        Ok(known.into_iter().collect())
    }
}

/// The versions of some URLs, on all threads.
fn versions_of(urls: &[UrlKey], resolver: &Resolver<'_>) -> Result<Vec<Vec<UrlVersion>>> {
    urls.par_iter()
        .map(|url| resolver.versions_of(url))
        .collect()
}

/// Whether a URL fits in the section `strings`.
fn is_storable(url: &UrlKey) -> bool {
    url.text().len() <= usize::from(u16::MAX)
}

/// The offset of a URL in the section `strings`; [`NONE`] if it is too long for that.
fn intern(url: &UrlKey, origins: &mut OriginWriter) -> Result<u32> {
    origins.intern(Some(url.text()).filter(|_| is_storable(url)))
}

/// The link to the target of a redirect; `None` for a URL that is too long to be stored.
fn link_to(target: &RedirectTarget, origins: &mut OriginWriter) -> Result<Option<RedirectLink>> {
    let offset = intern(&target.url, origins)?;
    let link = RedirectLink {
        target: offset,
        skipped: target.hops.saturating_sub(1),
    };
    Ok(Some(link).filter(|_| offset != NONE))
}

fn before_failures(before: &AnswerBefore, origins: &mut OriginWriter) -> Result<BeforeFailures> {
    Ok(match before {
        AnswerBefore::Nothing => BeforeFailures::Nothing,
        AnswerBefore::Text(text) => BeforeFailures::File(text.0),
        AnswerBefore::Redirect(target) => {
            link_to(target, origins)?.map_or(BeforeFailures::Nothing, BeforeFailures::Redirect)
        }
    })
}

/// Gives texts their final numbers, in the order of their first use.
struct Renumbering<'c> {
    texts: &'c Texts,
    previous: Option<&'c PreviousSnapshot>,
    /// The number of each text, or [`NONE`] before its first use.
    numbers: Vec<u32>,
    files: u32,
    /// The next number.
    next: u32,
    versions: VersionWriter,
    text_writer: HistoryTextWriter,
    /// The rules of short texts.
    rules: FileWriter,
    profile: Profile,
}

/// A text to compress.
struct NewText {
    text: TextId,
    /// The text whose difference it is stored as.
    base: Option<Base>,
}

#[derive(Clone, Copy)]
struct Base {
    text: TextId,
    number: u32,
}

/// The versions of some nodes, with the numbers of texts.
#[derive(Default)]
struct VersionChunk {
    versions: Vec<Version>,
    failures: Vec<VersionFailure>,
    /// The end of each node.
    ends: Vec<usize>,
}

impl Renumbering<'_> {
    fn run(&mut self, written: &WrittenVersions) -> Result<()> {
        let nodes = written.starts.len() / 4 - 1;
        let mut reader = VersionChunkReader {
            written,
            node: 0,
            failure: 0,
        };
        while reader.node < nodes {
            let chunk = reader.next(nodes)?;
            let new = self.number(&chunk);
            let packed: Vec<PackedText> = new
                .par_chunks(64)
                .map_init(
                    || None,
                    |packer: &mut Option<HistoryPacker<'_>>, texts| -> Result<Vec<_>> {
                        let packer = match packer {
                            Some(packer) => packer,
                            none => none.insert(self.packer()?),
                        };
                        texts.iter().map(|text| packer.pack(text)).collect()
                    },
                )
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect();
            for PackedText { base, frame, rules } in packed {
                let row = match rules {
                    Some(rules) => {
                        let row = self.rules.count() as u32;
                        let _offsets = self.rules.append(&rules)?;
                        row
                    }
                    None => NONE,
                };
                self.text_writer.append(base, row, &frame)?;
            }
            self.append(&chunk)?;
        }
        Ok(())
    }

    fn packer(&self) -> Result<HistoryPacker<'_>> {
        Ok(HistoryPacker {
            texts: self.texts,
            profile: self.profile,
            previous: self.previous.map(PreviousTexts::new),
            unpacker: Unpacker::new(DICTIONARY)?,
            deltas: DeltaPacker::new(),
            base: None,
        })
    }

    /// Numbers the new texts of a chunk; returns them in the order of their numbers.
    fn number(&mut self, chunk: &VersionChunk) -> Vec<NewText> {
        let mut new = Vec::new();
        let mut start = 0;
        for &end in &chunk.ends {
            // From the newest version on: its text is the base of those before.
            let mut base: Option<Base> = None;
            let mut deltas = 0;
            for version in chunk.versions[start..end].iter().rev() {
                let texts = [self.text_before(version, chunk), text_of(version)];
                for text in texts.into_iter().flatten() {
                    let number = self.numbers[text.0 as usize];
                    if number != NONE {
                        // A file is always whole.
                        if base.is_none() && number < self.files {
                            base = Some(Base { text, number });
                        }
                        continue;
                    }
                    if deltas == DELTAS_PER_BASE {
                        base = None;
                        deltas = 0;
                    }
                    new.push(NewText { text, base });
                    self.numbers[text.0 as usize] = self.next;
                    match base {
                        Some(_) => deltas += 1,
                        None => {
                            base = Some(Base {
                                text,
                                number: self.next,
                            });
                        }
                    }
                    self.next += 1;
                }
            }
            start = end;
        }
        new
    }

    /// The text before the failures of a version.
    fn text_before(&self, version: &Version, chunk: &VersionChunk) -> Option<TextId> {
        let VersionAnswer::Failure { row, .. } = version.answer else {
            return None;
        };
        match chunk.failures.get(row as usize)?.before {
            BeforeFailures::File(text) => Some(TextId(text)),
            _ => None,
        }
    }

    /// Appends the nodes of a chunk with the final numbers.
    fn append(&mut self, chunk: &VersionChunk) -> Result<()> {
        let mut start = 0;
        for &end in &chunk.ends {
            self.versions.begin_node()?;
            for version in &chunk.versions[start..end] {
                let mut version = *version;
                let mut failure = None;
                match &mut version.answer {
                    VersionAnswer::Rules { file, .. } => *file = self.numbers[*file as usize],
                    VersionAnswer::Failure { row, .. } => {
                        let mut found = chunk.failures[*row as usize];
                        if let BeforeFailures::File(file) = &mut found.before {
                            *file = self.numbers[*file as usize];
                        }
                        *row = self.versions.next_failure();
                        failure = Some(found);
                    }
                    _ => {}
                }
                self.versions.append(&version, failure.as_ref())?;
            }
            start = end;
        }
        Ok(())
    }
}

/// The text of a version with rules.
fn text_of(version: &Version) -> Option<TextId> {
    match version.answer {
        VersionAnswer::Rules { file, .. } => Some(TextId(file)),
        _ => None,
    }
}

/// Reads versions chunk by chunk. Rows of failures are numbered within their chunk.
struct VersionChunkReader<'w> {
    written: &'w WrittenVersions,
    node: u64,
    failure: u64,
}

impl VersionChunkReader<'_> {
    fn next(&mut self, nodes: u64) -> Result<VersionChunk> {
        let count = (nodes - self.node).min(NODES_PER_CHUNK);
        let mut starts = vec![0; (count as usize + 1) * 4];
        self.written.starts.read_at(&mut starts, self.node * 4)?;
        let starts: Vec<u32> = starts
            .as_chunks()
            .0
            .iter()
            .map(|start| u32::from_le_bytes(*start))
            .collect();
        let mut chunk = VersionChunk::default();
        let Some((first, ends)) = starts.split_first() else {
            return Ok(chunk);
        };
        // One node at least, however many versions it has.
        for end in ends {
            let end = (end - first) as usize;
            if end > VERSIONS_PER_CHUNK && !chunk.ends.is_empty() {
                break;
            }
            chunk.ends.push(end);
        }
        self.node += chunk.ends.len() as u64;
        let versions = chunk.ends.last().copied().unwrap_or_default();
        let mut rows = vec![0; versions * VERSION_LEN];
        let at = u64::from(*first) * VERSION_LEN as u64;
        self.written.versions.read_at(&mut rows, at)?;
        for row in rows.as_chunks().0 {
            chunk.versions.push(Version::decode(row)?);
        }
        self.read_failures(&mut chunk)?;
        Ok(chunk)
    }

    /// Reads the failures of the versions of a chunk, and numbers them within it.
    fn read_failures(&mut self, chunk: &mut VersionChunk) -> Result<()> {
        let mut count = 0;
        for version in &mut chunk.versions {
            if let VersionAnswer::Failure { row, .. } = &mut version.answer {
                *row = count;
                count += 1;
            }
        }
        let mut rows = vec![0; count as usize * VERSION_FAILURE_LEN];
        let at = self.failure * VERSION_FAILURE_LEN as u64;
        self.written.failures.read_at(&mut rows, at)?;
        for row in rows.as_chunks().0 {
            chunk.failures.push(VersionFailure::decode(row)?);
        }
        self.failure += u64::from(count);
        Ok(())
    }
}

/// An old text as it is stored.
struct PackedText {
    /// The number of the text that the frame is a difference to, or [`NONE`].
    base: u32,
    frame: Vec<u8>,
    /// Its rules, if they are stored.
    rules: Option<FileContents<'static>>,
}

/// Compresses old texts, and encodes the rules of short ones; one per thread.
struct HistoryPacker<'c> {
    texts: &'c Texts,
    profile: Profile,
    previous: Option<PreviousTexts<'c>>,
    unpacker: Unpacker,
    deltas: DeltaPacker,
    /// The last base, if differences to it can be stored. Those to one base follow each other.
    base: Option<(TextId, Option<DeltaBase>)>,
}

impl HistoryPacker<'_> {
    fn pack(&mut self, new: &NewText) -> Result<PackedText> {
        let whole = self.frame(new.text)?;
        let text = self.unpacker.unpack(&whole)?;
        let rules = short_rules(self.profile, &text)?;
        let difference = match new.base {
            Some(base) => self.difference(&text, base)?,
            None => None,
        };
        // A difference that is not shorter is not used.
        Ok(match (difference, new.base) {
            (Some(frame), Some(base)) if frame.len() < whole.len() => PackedText {
                base: base.number,
                frame,
                rules,
            },
            _ => PackedText {
                base: NONE,
                frame: whole,
                rules,
            },
        })
    }

    /// The frame of a text as the difference to a base, if that can be one.
    fn difference(&mut self, text: &[u8], base: Base) -> Result<Option<Vec<u8>>> {
        let known = self.base.take().filter(|(id, _)| *id == base.text);
        let (_, delta_base) = match known {
            Some(known) => self.base.insert(known),
            None => {
                let frame = self.frame(base.text)?;
                let text = self.unpacker.unpack(&frame)?;
                self.base.insert((base.text, DeltaBase::new(&text)))
            }
        };
        match delta_base {
            Some(base) => Ok(Some(self.deltas.pack(text, base)?.to_vec())),
            None => Ok(None),
        }
    }

    /// The whole frame of a text.
    fn frame(&mut self, text: TextId) -> Result<Vec<u8>> {
        match self.texts.frame(text)? {
            TextFrame::Spooled(frame) => Ok(frame),
            TextFrame::Previous(number) => match &mut self.previous {
                Some(previous) => Ok(previous.text(number)?.frame),
                None => Err(Error::corrupt(
                    "a text of a previous snapshot that is not there",
                )),
            },
        }
    }
}

/// The rules of a text, if both are short.
fn short_rules(profile: Profile, text: &[u8]) -> Result<Option<FileContents<'static>>> {
    if text.len() > MAX_STORED_RULES {
        return Ok(None);
    }
    let contents = file_contents(profile, text, Vec::new())?;
    // Overlapping groups may make many rules of a short text.
    let len = contents.encoded_len();
    Ok(Some(contents).filter(|_| len <= MAX_STORED_RULES))
}
