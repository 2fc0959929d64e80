//! The distinct condensed texts: each is compressed once and appended to temporary data.
//!
//! A digest stands for a text, so no text is read again while archives are read. It is the same on
//! every machine, so captures of one second sort by it.
//!
//! Comparing texts instead of digests would read back and decompress each equal text.

use crate::digest::{Digest, digest, digest_hash};
use crate::error::{ErrorKind, Result};
use crate::snapshot::text::Packer;
use crate::spool::{Spool, SpoolOptions, SpooledBytes};
use crate::threads::lock;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of a text of this compilation, in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextId(pub u32);

/// The digests of texts, by which captures of one second are sorted.
pub(crate) trait TextDigests: Sync {
    fn digest(&self, text: TextId) -> Digest;
}

/// Shards, each with a lock of its own, so that threads seldom wait for each other.
const SHARDS: usize = 64;

/// The texts so far. Several threads add to them.
#[derive(Debug)]
pub(crate) struct TextStore {
    /// Texts by digest.
    shards: Vec<Mutex<HashTable<(Digest, TextId)>>>,
    frames: Mutex<FrameList>,
}

#[derive(Debug)]
struct FrameList {
    /// The compressed texts, one after the other.
    spool: Spool,
    texts: Vec<StoredText>,
    /// The length of the texts before compression.
    raw_len: u64,
}

/// Where the frame of a text is, and its digest.
#[derive(Clone, Copy, Debug)]
struct StoredText {
    digest: Digest,
    /// An offset in the spooled frames; above [`PREVIOUS`], a file row of the previous snapshot.
    start: u64,
}

/// The first number that is a file row of the previous snapshot.
const PREVIOUS: u64 = 1 << 63;

impl TextStore {
    pub(crate) fn new(options: &SpoolOptions) -> Self {
        let shards = std::iter::repeat_with(Mutex::default).take(SHARDS);
        let frames = FrameList {
            spool: Spool::new(options, "robots.txt texts"),
            texts: Vec::new(),
            raw_len: 0,
        };
        Self {
            shards: shards.collect(),
            frames: Mutex::new(frames),
        }
    }

    /// The number of a text. Only a new text is compressed.
    ///
    /// # Errors
    /// I/O errors of temporary data; [`ErrorKind::TooLarge`] for four billion texts.
    pub(crate) fn intern(&self, text: &[u8], packer: &mut Packer) -> Result<TextId> {
        let digest = digest(text);
        if let Some(id) = self.find(&digest) {
            return Ok(id);
        }
        // Another thread may add the same text meanwhile; then this frame is dropped.
        self.intern_frame(digest, text.len() as u32, packer.pack(text)?)
    }

    /// The number of a text that is compressed already, given its digest and length.
    ///
    /// # Errors
    /// As [`intern`](Self::intern).
    pub(crate) fn intern_frame(
        &self,
        digest: Digest,
        raw_len: u32,
        frame: &[u8],
    ) -> Result<TextId> {
        self.insert(digest, |frames| {
            let start = frames.spool.len();
            frames.spool.append(frame)?;
            frames.raw_len += u64::from(raw_len);
            Ok(start)
        })
    }

    /// The number of a text that the previous snapshot has in a file row.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for four billion texts.
    pub(crate) fn intern_previous(&self, digest: Digest, row: u32) -> Result<TextId> {
        self.insert(digest, |_| Ok(PREVIOUS + u64::from(row)))
    }

    fn shard(&self, digest: &Digest) -> MutexGuard<'_, HashTable<(Digest, TextId)>> {
        lock(&self.shards[usize::from(digest[15]) % SHARDS])
    }

    fn find(&self, digest: &Digest) -> Option<TextId> {
        self.shard(digest)
            .find(digest_hash(digest), |(other, _)| other == digest)
            .map(|(_, id)| *id)
    }

    /// The number of the text with this digest; a new one is added at the offset that `add`
    /// returns.
    fn insert(
        &self,
        digest: Digest,
        add: impl FnOnce(&mut FrameList) -> Result<u64>,
    ) -> Result<TextId> {
        // The shard is locked until the text has a number, so no other thread adds it too.
        let mut shard = self.shard(&digest);
        match shard.entry(
            digest_hash(&digest),
            |(other, _)| *other == digest,
            |(other, _)| digest_hash(other),
        ) {
            Entry::Occupied(entry) => Ok(entry.get().1),
            Entry::Vacant(entry) => {
                let mut frames = lock(&self.frames);
                let id = u32::try_from(frames.texts.len())
                    .ok()
                    .filter(|&id| id != u32::MAX);
                let id = id.ok_or_else(|| {
                    ErrorKind::TooLarge("four billion robots.txt texts or more".to_owned())
                })?;
                let start = add(&mut frames)?;
                frames.texts.push(StoredText { digest, start });
                entry.insert((digest, TextId(id)));
                Ok(TextId(id))
            }
        }
    }

    /// The length of the distinct texts of captures, before compression.
    pub(crate) fn raw_len(&self) -> u64 {
        lock(&self.frames).raw_len
    }

    /// All texts, to be read. The hash table is freed.
    pub(crate) fn finish(self) -> Result<Texts> {
        let FrameList { spool, texts, .. } = self
            .frames
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(Texts {
            frames: spool.finish()?,
            texts,
        })
    }
}

impl TextDigests for TextStore {
    fn digest(&self, text: TextId) -> Digest {
        lock(&self.frames).texts[text.0 as usize].digest
    }
}

/// All texts of a compilation.
#[derive(Debug)]
pub(crate) struct Texts {
    frames: SpooledBytes,
    texts: Vec<StoredText>,
}

/// A compressed text.
pub(crate) enum TextFrame {
    Spooled(Vec<u8>),
    /// A file row of the previous snapshot.
    Previous(u32),
}

impl Texts {
    /// The number of texts.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The length of the frame of a text.
    pub(crate) fn stored_len(&self, text: TextId) -> u64 {
        // Texts of the previous snapshot come last, and have no frame here.
        let next = self
            .texts
            .get(text.0 as usize + 1)
            .map_or(PREVIOUS, |next| next.start);
        next.min(self.frames.len())
            .saturating_sub(self.texts[text.0 as usize].start)
    }

    /// # Errors
    /// I/O errors of temporary data.
    pub(crate) fn frame(&self, text: TextId) -> Result<TextFrame> {
        let StoredText { start, .. } = self.texts[text.0 as usize];
        if start >= PREVIOUS {
            return Ok(TextFrame::Previous((start - PREVIOUS) as u32));
        }
        let mut frame = vec![0; self.stored_len(text) as usize];
        self.frames.read_at(&mut frame, start)?;
        Ok(TextFrame::Spooled(frame))
    }
}

impl TextDigests for Texts {
    fn digest(&self, text: TextId) -> Digest {
        self.texts[text.0 as usize].digest
    }
}
