//! Parses one line of a list of words, and compiles the words of all lists.
//!
//! A word has ASCII letters and digits only, because only they are compared: other characters divide
//! the tokens of a URL. A substring may have others between them, such as blanks, which are removed
//! there as they are in URLs.

use super::builder::ListSets;
use super::entry::{NotAnEntry, ParsedLine, before_comment};
use super::format::{WordFilter, WordRow};
use super::words::{MAX_WORD, fold};
use crate::bytes::trim;
use crate::error::{ErrorKind, Result};
use std::collections::BTreeSet;

/// What a word must be in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordKind {
    /// A token.
    Word,
    /// A token, next to others.
    SoftWord,
    /// A part of the URL without other characters than letters and digits.
    Substring,
}

/// Parses a line without its line end. If it has a word, sets `word` to its text in lower case.
///
/// `#` and `!` begin a comment as in a list of entries. White space around the line is ignored.
pub(super) fn parse_word(line: &[u8], kind: WordKind, word: &mut Vec<u8>) -> ParsedLine {
    let text = before_comment(trim(line));
    if text.is_empty() {
        return ParsedLine::default();
    }
    word.clear();
    word.extend(text.iter().map(|b| fold(*b)).filter(|b| *b != 0));
    let defect = match kind {
        _ if !text.is_ascii() => Some(NotAnEntry::NotAscii),
        WordKind::Word | WordKind::SoftWord => {
            (word.len() < text.len()).then_some(NotAnEntry::WordCharacter)
        }
        WordKind::Substring if text.iter().any(|b| b",;\t\"".contains(b)) => {
            Some(NotAnEntry::SubstringTable)
        }
        // `c++` would list each URL with a `c`.
        WordKind::Substring => {
            let ends = [text.first(), text.last()];
            let is_bounded = ends.iter().flatten().all(|b| fold(**b) != 0);
            (!is_bounded).then_some(NotAnEntry::SubstringBound)
        }
    };
    let defect = defect.or((word.len() > MAX_WORD).then_some(NotAnEntry::LongWord));
    ParsedLine {
        entries: defect.is_none().into(),
        defect,
        ..ParsedLine::default()
    }
}

/// The words of all lists in their order, each once per kind and list.
#[derive(Debug, Default)]
pub(super) struct WordEntries {
    entries: BTreeSet<WordEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WordEntry {
    text: Box<[u8]>,
    kind: WordKind,
    list: u16,
}

/// The sections of words.
#[derive(Debug, Default)]
pub(super) struct EncodedWords {
    pub rows: Vec<u8>,
    pub texts: Vec<u8>,
    pub filter: Vec<u8>,
    /// The numbers of distinct words, soft words and substrings.
    pub counts: [u64; 3],
}

impl WordEntries {
    pub(super) fn push(&mut self, word: &[u8], kind: WordKind, list: u16) {
        self.entries.insert(WordEntry {
            text: word.into(),
            kind,
            list,
        });
    }

    /// Adds the words of another part of the lists.
    pub(super) fn append(&mut self, mut part: Self) {
        self.entries.append(&mut part.entries);
    }

    /// Encodes the words. Their sets of lists join those of hosts and paths.
    ///
    /// # Errors
    /// [`TooLarge`](ErrorKind::TooLarge) for 4 GiB of words, and for more sets than a file may have.
    pub(super) fn encode(self, sets: &mut ListSets) -> Result<EncodedWords> {
        let mut encoded = EncodedWords::default();
        let entries: Vec<WordEntry> = self.entries.into_iter().collect();
        let mut tokens = Vec::new();
        for same in entries.chunk_by(|a, b| a.text == b.text) {
            let text = &same[0].text;
            let mut row = WordRow {
                text: text_offset(&encoded.texts)?,
                ..WordRow::default()
            };
            for of_kind in same.chunk_by(|a, b| a.kind == b.kind) {
                let lists: Vec<u16> = of_kind.iter().map(|entry| entry.list).collect();
                let set = sets.number_of(&lists)?;
                let kind = of_kind[0].kind;
                match kind {
                    WordKind::Word => row.word = set,
                    WordKind::SoftWord => row.soft_word = set,
                    WordKind::Substring => row.substring = set,
                }
                encoded.counts[kind as usize] += 1;
            }
            if row.is_token() {
                tokens.push(text);
            }
            row.encode(&mut encoded.rows);
            encoded.texts.extend_from_slice(text);
        }
        if !entries.is_empty() {
            let end = WordRow {
                text: text_offset(&encoded.texts)?,
                ..WordRow::default()
            };
            end.encode(&mut encoded.rows);
        }
        encoded.filter = WordFilter::encode(&tokens);
        Ok(encoded)
    }
}

/// The offset of the next text.
fn text_offset(texts: &[u8]) -> Result<u32> {
    u32::try_from(texts.len())
        .map_err(|_| ErrorKind::TooLarge("over 4 GiB of words".to_owned()).into())
}
