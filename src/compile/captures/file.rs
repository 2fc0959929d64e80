//! A captures file, described and verified.

use crate::archive::captures_file::{
    BlockReader, CapturesBlock, CapturesCounts, CapturesEnd, CapturesHeader, END_LEN,
};
use crate::compile::ingest::block_captures::BlockCaptures;
use crate::compile::ingest::capture_record::CaptureRecord;
use crate::compile::ingest::text_store::{TextDigests, TextId};
use crate::compile::sort::table::CaptureCounter;
use crate::decode::read_whole;
use crate::digest::{Digest, digest};
use crate::error::{Error, Result};
use crate::file_format::CAPTURES_MAGIC;
use crate::snapshot::text::Unpacker;
use crate::time_span::TimeSpan;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A captures file: sorted captures with their condensed texts, which compilations read in place of
/// archives.
///
/// [`Compiler::write_captures`](crate::Compiler::write_captures) writes one, and
/// [`Compiler::add_path`](crate::Compiler::add_path) reads it. This type describes and verifies it.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("web.captures");
/// use robosieve::Compiler;
/// use robosieve::compile::CapturesFile;
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
/// compiler.write_captures(&path)?;
///
/// let file = CapturesFile::open(&path)?;
/// file.verify()?;
/// assert_eq!((file.counts().captures, file.counts().origins, file.counts().texts), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CapturesFile {
    path: PathBuf,
    header: Arc<CapturesHeader>,
    end: CapturesEnd,
    len: u64,
}

impl CapturesFile {
    /// Whether a file begins as a captures file.
    ///
    /// # Errors
    /// I/O errors, with the name of the file.
    pub fn recognises(path: impl AsRef<Path>) -> Result<bool> {
        let path = path.as_ref();
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| {
            file.take(CAPTURES_MAGIC.len() as u64)
                .read_to_end(&mut start)
        });
        read.map_err(|err| Error::io(path, err))?;
        Ok(start == CAPTURES_MAGIC)
    }

    /// Opens a captures file, and reads its header and its end only.
    ///
    /// # Errors
    /// [`UnknownSource`](crate::ErrorKind::UnknownSource) for another format or format version;
    /// [`Damaged`](crate::ErrorKind::Damaged) for a damaged header or end; I/O errors. All name the
    /// file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::read(path).map_err(|err| err.at(path))
    }

    fn read(path: &Path) -> Result<Self> {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let header = BlockReader::new(&file)?.header;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(len.saturating_sub(END_LEN as u64)))?;
        file.take(END_LEN as u64).read_to_end(&mut bytes)?;
        let end = CapturesEnd::decode(&bytes);
        let end =
            end.ok_or_else(|| Error::damaged(len, "the captures file lacks its end", false))?;
        Ok(Self {
            path: path.to_owned(),
            header,
            end,
            len,
        })
    }

    /// The version of its layout.
    pub fn format_version(&self) -> u32 {
        self.header.version
    }

    /// The program and version that wrote it.
    pub fn tool(&self) -> &str {
        &self.header.tool
    }

    /// The totals that its end states.
    pub fn counts(&self) -> &CapturesCounts {
        &self.end.counts
    }

    /// The number of blocks, not counting the one at the end.
    pub fn blocks(&self) -> u64 {
        self.end.blocks
    }

    /// The length of the file.
    pub fn byte_len(&self) -> u64 {
        self.len
    }

    /// Compares all checksums, which detects damage, but not a forged file. Reads the file once.
    ///
    /// # Errors
    /// [`Damaged`](crate::ErrorKind::Damaged), with the position; I/O errors.
    pub fn verify_checksums(&self) -> Result<()> {
        self.for_each_block(|block| block.verify_checksum())
    }

    /// Verifies the whole content: every capture is valid and in its place in the order, every text
    /// has its digest, and the totals are right. Decompresses every text, and keeps 16 bytes of
    /// each distinct one.
    ///
    /// # Errors
    /// As [`verify_checksums`](Self::verify_checksums).
    pub fn verify(&self) -> Result<()> {
        let unpacker = Unpacker::new(&self.header.dictionary)
            .map_err(|_| Error::damaged(0, "the dictionary of its texts", false).at(&self.path));
        let mut verifier = Verifier {
            unpacker: unpacker?,
            counter: TotalsCounter::default(),
            distinct: HashSet::new(),
            last: Vec::new(),
            last_text: Digest::default(),
        };
        self.for_each_block(|block| verifier.add(block))?;
        if verifier.counter.totals() == self.end.counts {
            return Ok(());
        }
        let offset = self.len.saturating_sub(END_LEN as u64);
        Err(
            Error::damaged(offset, "the totals at the end of the captures file", false)
                .at(&self.path),
        )
    }

    /// Passes the blocks to `check`. Damage found here is not skippable.
    fn for_each_block(&self, mut check: impl FnMut(&CapturesBlock) -> Result<()>) -> Result<()> {
        self.try_for_each_block(&mut check)
            .map_err(|err| err.final_damage().at(&self.path))
    }

    /// The same, with errors that do not name the file.
    fn try_for_each_block(
        &self,
        check: &mut dyn FnMut(&CapturesBlock) -> Result<()>,
    ) -> Result<()> {
        let mut reader = BlockReader::new(BufReader::new(read_whole(File::open(&self.path)?)))?;
        while let Some(block) = reader.next_block()? {
            check(&block)?;
        }
        Ok(())
    }
}

/// The state of a verification between blocks.
struct Verifier {
    unpacker: Unpacker,
    counter: TotalsCounter,
    /// The digests of the texts so far.
    distinct: HashSet<Digest>,
    /// The last record, whose text has number 0, and the digest of this text.
    last: Vec<u8>,
    last_text: Digest,
}

/// The digest of the text of the last record, then those of a block.
struct DigestList(Vec<Digest>);

impl TextDigests for DigestList {
    fn digest(&self, text: TextId) -> Digest {
        self.0.get(text.0 as usize).copied().unwrap_or_default()
    }
}

impl Verifier {
    fn add(&mut self, block: &CapturesBlock) -> Result<()> {
        let content = block.content()?;
        for (number, text) in content.texts.iter().enumerate() {
            let is_right = self.unpacker.unpack(text.frame).is_ok_and(|unpacked| {
                unpacked.len() == text.raw_len as usize && digest(&unpacked) == text.digest
            });
            if !is_right {
                return Err(block.damaged(&format!("its text {number}")));
            }
            if self.distinct.insert(text.digest) {
                self.counter.count_text(text.raw_len);
            }
        }
        let mut digests = DigestList(vec![self.last_text]);
        digests
            .0
            .extend(content.texts.iter().map(|text| text.digest));
        let mut record_bytes = Vec::new();
        for record in BlockCaptures::new(block, &content)?.records() {
            // Number 0 is the text of the last record.
            record_bytes.clear();
            match record.text() {
                Some(text) => record.append_with_text(TextId(text.0 + 1), &mut record_bytes),
                None => record_bytes.extend_from_slice(record.bytes()),
            }
            let is_sorted = match (
                CaptureRecord::first_of(&self.last),
                CaptureRecord::first_of(&record_bytes),
            ) {
                (Some(last), Some(record)) => last.order(&record, &digests).is_le(),
                _ => true,
            };
            if !is_sorted {
                return Err(block.damaged("captures that are not sorted"));
            }
            self.counter.count(&record);
            std::mem::swap(&mut self.last, &mut record_bytes);
        }
        // The text of the last record gets number 0 for the next block.
        if let Some(last) = CaptureRecord::first_of(&self.last)
            && let Some(text) = last.text()
        {
            self.last_text = digests.digest(text);
            record_bytes.clear();
            last.append_with_text(TextId(0), &mut record_bytes);
            self.last = record_bytes;
        }
        Ok(())
    }
}

/// Counts sorted captures and distinct texts, for the writer of a file and for its verification.
#[derive(Default)]
pub(super) struct TotalsCounter {
    captures: CaptureCounter,
    /// The counts that are not kept there.
    others: CapturesCounts,
}

impl TotalsCounter {
    pub(super) fn count(&mut self, record: &CaptureRecord<'_>) {
        self.captures.count(record);
        let Some(time) = record.time() else {
            self.others.undated += 1;
            return;
        };
        self.others.captured = Some(TimeSpan::extended(self.others.captured, time));
    }

    /// Counts a text that was not counted before.
    pub(super) fn count_text(&mut self, raw_len: u32) {
        self.others.texts += 1;
        self.others.text_bytes += u64::from(raw_len);
    }

    pub(super) fn totals(&self) -> CapturesCounts {
        let counts = self.captures.counts;
        CapturesCounts {
            captures: counts.captures,
            origins: counts.origins,
            other_urls: counts.other_urls,
            ..self.others
        }
    }
}
