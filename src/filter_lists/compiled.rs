//! Compiled lists as sections in memory, and the file that they make.

use super::word::EncodedWords;
use crate::atomic::AtomicFile;
use crate::error::Result;
use crate::output::OutputFile;
use crate::snapshot::format::{FileKind, Section};
use crate::snapshot::index::BUCKET_LEN;
use crate::snapshot::sections::Sections;
use std::io::{Cursor, Seek, Write};
use std::path::Path;

/// Compiled lists, ready to be written.
#[derive(Debug)]
pub struct CompiledLists {
    pub(super) seed: u64,
    pub(super) metadata: Vec<u8>,
    pub(super) host_filter: Vec<u8>,
    pub(super) host_index: Vec<[u8; BUCKET_LEN]>,
    pub(super) host_texts: Vec<u8>,
    pub(super) host_blocks: Vec<u8>,
    pub(super) host_classes: Vec<u8>,
    pub(super) class_rows: Vec<u8>,
    pub(super) list_sets: Vec<u8>,
    pub(super) host_paths: Vec<u8>,
    pub(super) path_groups: Vec<u8>,
    pub(super) path_rules: Vec<u8>,
    pub(super) path_entries: Vec<u8>,
    pub(super) path_texts: Vec<u8>,
    pub(super) words: EncodedWords,
    pub(super) listed_hosts: u64,
    pub(super) top_labels: u64,
    pub(super) path_entries_len: u64,
}

impl CompiledLists {
    /// The number of distinct hosts with entries of their own.
    pub fn hosts(&self) -> u64 {
        self.listed_hosts
    }

    /// The number of distinct entries for paths, schemes or ports.
    pub fn paths(&self) -> u64 {
        self.path_entries_len
    }

    /// The number of distinct words, soft words and substrings.
    pub fn words(&self) -> u64 {
        self.words.counts.iter().sum()
    }

    /// Writes the file, which appears whole or not at all: to a temporary file, which is renamed.
    /// Returns its length in bytes.
    ///
    /// # Errors
    /// I/O errors with the path.
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<u64> {
        let path = path.as_ref();
        let mut file = AtomicFile::create(path)?;
        let len = self.write_atomic(&mut file).map_err(|err| err.at(path))?;
        file.commit()?;
        Ok(len)
    }

    /// Writes to a new file, which appears on commit: alone, or together with others
    /// ([`OutputFile::commit_all`]). Returns its length in bytes.
    ///
    /// # Errors
    /// As [`write_to`](Self::write_to); a file name with a compressed ending.
    pub fn write_into(&self, file: &mut OutputFile) -> Result<u64> {
        self.write_atomic(file.uncompressed()?)
    }

    fn write_atomic(&self, file: &mut AtomicFile) -> Result<u64> {
        if !file.is_stream() {
            return self.write(file);
        }
        // The head is written last, which a stream cannot do.
        let bytes = self.to_vec()?;
        file.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    fn write(&self, out: impl Write + Seek) -> Result<u64> {
        let contents: [(Section, &[u8]); Section::LISTS.len()] = [
            (Section::ListMetadata, &self.metadata),
            (Section::HostFilter, &self.host_filter),
            (Section::HostIndex, self.host_index.as_flattened()),
            (Section::HostTexts, &self.host_texts),
            (Section::HostBlocks, &self.host_blocks),
            (Section::HostClasses, &self.host_classes),
            (Section::ClassRows, &self.class_rows),
            (Section::ListSets, &self.list_sets),
            (Section::HostPaths, &self.host_paths),
            (Section::PathGroups, &self.path_groups),
            (Section::PathRules, &self.path_rules),
            (Section::PathEntries, &self.path_entries),
            (Section::PathTexts, &self.path_texts),
            (Section::Words, &self.words.rows),
            (Section::WordTexts, &self.words.texts),
            (Section::WordFilter, &self.words.filter),
        ];
        let mut sections = Sections::new(out, FileKind::FilterLists, contents.len() + 1);
        let slots = contents.map(|(section, bytes)| sections.reserve(section, bytes.len() as u64));
        for (slot, (_, bytes)) in slots.into_iter().zip(contents) {
            sections.fill(slot, |out| out.append(bytes))?;
        }
        sections.finish(self.seed)
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// None in practice: memory cannot fail to be written.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut out = Cursor::new(Vec::new());
        self.write(&mut out)?;
        Ok(out.into_inner())
    }
}
