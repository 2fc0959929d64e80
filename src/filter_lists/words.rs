//! Words: the search for listed words in a URL.
//!
//! A *token* is a run of ASCII letters and digits in the URL after its scheme and before its fragment. Tokens are compared
//! without case, after the percent escapes of the URL were decoded. A hard word lists each URL that
//! has it as a token, soft words list a URL that has several of them. A *substring* lists a URL that
//! has it after all other characters were removed.
//!
//! The text of a URL is copied once, in lower case and with 0 in place of all other characters. This
//! and the ends of tokens take vector instructions. Each token then reads one bit of a filter, which
//! dismisses nearly all of them, and the texts of the words decide about the rest: a binary search.
//! An automaton of all words (aho-corasick) took two to four times as long, because it reads a state
//! per byte. Substrings need one.

use super::format::{ListsMetadata, WORD_ROW_LEN, WordFilter, WordRow, WordsIn, WordsMetadata};
use super::read::{EntryPlace, FilterLists, ListDecision};
use crate::bytes::wire::{bytes, u32_at};
use crate::error::{Error, Result};
use crate::simd::{Backend, Kernel};
use crate::snapshot::format::Section;
use crate::snapshot::section_file::SectionFile;
use aho_corasick::automaton::Automaton;
use aho_corasick::{Anchored, MatchKind, StartKind, dfa};
use std::fmt;
use std::sync::Arc;

/// The length of the longest word.
pub(super) const MAX_WORD: usize = 255;

/// The most bytes of all substrings of a file. Their automaton takes 256 bytes for each.
pub(super) const MAX_SUBSTRING_BYTES: usize = 256 << 10;

/// What a file says about words besides its rows.
#[derive(Clone)]
pub(super) struct Words {
    metadata: WordsMetadata,
    substrings: Option<Arc<Substrings>>,
}

/// The automaton of the substrings.
struct Substrings {
    automaton: dfa::DFA,
    /// The rows of its patterns.
    rows: Vec<u32>,
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words")
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}

/// A thread's memory for the search of words.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordMemory {
    /// The text of a URL in lower case, with 0 in place of other characters than letters and digits.
    text: Vec<u8>,
    /// The soft words that were found, as rows.
    soft_words: Vec<u32>,
}

/// The zeros before the text, so that the eight bytes before each end of a token are there.
const START: usize = 8;

/// The bytes that one vector step compares.
const WINDOW: usize = 32;

impl WordMemory {
    /// Sets the text to the parts of a URL.
    #[inline(always)]
    fn set_text(&mut self, parts: [&[u8]; 2]) {
        self.text.clear();
        self.text.resize(START, 0);
        for part in parts {
            append_decoded(part, &mut self.text);
        }
        // Whole windows, and the eight bytes after each start of a token.
        let len = (self.text.len() + 8).next_multiple_of(WINDOW);
        self.text.resize(len, 0);
        for window in self.text.as_chunks_mut::<WINDOW>().0 {
            *window = window.map(fold);
        }
    }
}

/// Appends a part of a URL with its percent escapes decoded, as few have.
#[inline(always)]
fn append_decoded(part: &[u8], out: &mut Vec<u8>) {
    match memchr::memchr(b'%', part) {
        None => out.extend_from_slice(part),
        Some(first) => append_unescaped(part, first, out),
    }
}

#[inline(never)]
fn append_unescaped(part: &[u8], first: usize, out: &mut Vec<u8>) {
    let (start, mut rest) = part.split_at(first);
    out.extend_from_slice(start);
    while let Some((first, after)) = rest.split_first() {
        let escaped = match after {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                out.push(high << 4 | low);
                rest = &after[2..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// A letter in lower case, a digit as it is, and 0 for every other byte.
#[inline(always)]
pub(super) fn fold(byte: u8) -> u8 {
    let lower = byte | 0x20;
    let is_letter = lower.wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    if is_letter | is_digit { lower } else { 0 }
}

impl Words {
    /// The words of a file; `None` if it has none. Builds the automaton of the substrings.
    pub(super) fn of_file(file: &SectionFile, metadata: &ListsMetadata) -> Result<Option<Self>> {
        let Some(metadata) = metadata.words.clone() else {
            return Ok(None);
        };
        let substrings = match metadata.substrings {
            0 => None,
            _ => Some(Arc::new(Substrings::of_file(file)?)),
        };
        Ok(Some(Self {
            metadata,
            substrings,
        }))
    }
}

impl Substrings {
    fn of_file(file: &SectionFile) -> Result<Self> {
        let mut patterns = Vec::new();
        let mut rows = Vec::new();
        let mut len = 0;
        for number in 0..word_count(file) {
            if WordRow::decode(file.section(Section::Words), number)?.substring == 0 {
                continue;
            }
            let text = word_text(file, number)?;
            len += text.len();
            if len > MAX_SUBSTRING_BYTES || text.is_empty() {
                return Err(Error::corrupt("an empty substring, or too many"));
            }
            // A state of the automaton stores each substring that ends there. Of different texts these
            // are at most `MAX_WORD`; equal ones would make the automaton grow with their square.
            if text.len() > MAX_WORD || patterns.last().is_some_and(|last| *last >= text) {
                return Err(Error::corrupt(
                    "substrings that are equal, too long or out of order",
                ));
            }
            patterns.push(text);
            rows.push(number);
        }
        let automaton = dfa::DFA::builder()
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Unanchored)
            .build(patterns)
            .map_err(|err| Error::corrupt(format!("substrings ({err})")))?;
        Ok(Self { automaton, rows })
    }

    /// The row of the substring that ends first in a text whose zeros are skipped. Of those that end
    /// at the same place, it is the longest.
    fn find(&self, text: &[u8]) -> Option<u32> {
        let automaton = &self.automaton;
        let mut state = automaton.start_state(Anchored::No).ok()?;
        for byte in text.iter().filter(|byte| **byte != 0) {
            state = automaton.next_state(Anchored::No, state, *byte);
            if automaton.is_special(state) && automaton.is_match(state) {
                let pattern = automaton.match_pattern(state, 0);
                return self.rows.get(pattern.as_usize()).copied();
            }
        }
        None
    }
}

/// The number of words of a file: its last row has the end of their texts.
pub(super) fn word_count(file: &SectionFile) -> u32 {
    let rows = file.section(Section::Words).len() / WORD_ROW_LEN;
    u32::try_from(rows).unwrap_or(u32::MAX).saturating_sub(1)
}

/// The text of the word with a number.
pub(super) fn word_text(file: &SectionFile, number: u32) -> Result<&[u8]> {
    let rows = file.section(Section::Words);
    let at = (number as usize).saturating_mul(WORD_ROW_LEN);
    let start = u32_at(rows, at, "the start of a word")? as usize;
    let end = u32_at(rows, at.saturating_add(WORD_ROW_LEN), "the end of a word")? as usize;
    let texts = file.section(Section::WordTexts);
    bytes(
        texts,
        start,
        end.saturating_sub(start),
        "the text of a word",
    )
}

/// The number of a word.
pub(super) fn find_word(file: &SectionFile, word: &[u8]) -> Result<Option<u32>> {
    let (mut low, mut high) = (0, word_count(file));
    while low < high {
        let middle = low + (high - low) / 2;
        if word_text(file, middle)? < word {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let is_found = low < word_count(file) && word_text(file, low)? == word;
    Ok(is_found.then_some(low))
}

impl FilterLists {
    /// Whether any list has words.
    #[inline]
    pub(crate) fn have_words(&self) -> bool {
        self.words.is_some()
    }

    /// The word that lists a URL, given by the authority and the rest after it, with or without a
    /// fragment. No entry for its host or path decides.
    ///
    /// Cost: linear in the URL; some 50 ns for most, and twice that with substrings.
    #[inline(always)]
    pub(crate) fn decide_by_words(
        &self,
        authority: &[u8],
        rest: &[u8],
        memory: &mut WordMemory,
        backend: impl Backend,
    ) -> Result<Option<ListDecision>> {
        let Some(words) = &self.words else {
            return Ok(None);
        };
        let rest = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
        let parts = match words.metadata.part {
            WordsIn::Url => [authority, rest],
            WordsIn::Host => [authority, b""],
            WordsIn::Path => [b"", rest],
        };
        backend
            .run(FindWord {
                file: &self.file,
                words,
                parts,
                memory,
            })
            .map_err(|err| self.damage(err))
    }
}

/// The search for words in a URL.
struct FindWord<'a> {
    file: &'a SectionFile,
    words: &'a Words,
    parts: [&'a [u8]; 2],
    memory: &'a mut WordMemory,
}

impl Kernel for FindWord<'_> {
    type Output = Result<Option<ListDecision>>;

    #[inline(always)]
    fn run(mut self, backend: impl Backend) -> Self::Output {
        self.memory.set_text(self.parts);
        self.memory.soft_words.clear();
        if let Some(found) = self.find_in_tokens(backend)? {
            return Ok(Some(found));
        }
        let Some(substrings) = &self.words.substrings else {
            return Ok(None);
        };
        let Some(word) = substrings.find(&self.memory.text) else {
            return Ok(None);
        };
        let row = WordRow::decode(self.file.section(Section::Words), word)?;
        let entry = EntryPlace::Substring { word };
        Ok(Some(ListDecision::listed(row.substring, entry)))
    }
}

impl FindWord<'_> {
    /// The first token that is a hard word, else enough tokens that are soft words.
    #[inline(always)]
    fn find_in_tokens(&mut self, backend: impl Backend) -> Result<Option<ListDecision>> {
        let filter = WordFilter::new(self.file.section(Section::WordFilter));
        if filter.is_empty() {
            return Ok(None);
        }
        // Windows overlap tokens, so the start of one is kept until its end comes.
        let mut start = 0;
        let mut is_inside = false;
        for at in (0..self.memory.text.len()).step_by(WINDOW) {
            let Some(window) = self.memory.text[at..].first_chunk::<WINDOW>() else {
                break;
            };
            let inside = !backend.equal_bytes(window, &[0; WINDOW]);
            // A bit is set where a token begins, and where one has ended.
            let mut edges = inside ^ (inside << 1 | u32::from(is_inside));
            while edges != 0 {
                let edge = at + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                is_inside = !is_inside;
                if is_inside {
                    start = edge;
                } else if filter.may_have(&self.memory.text, start, edge)
                    && let Some(found) = self.look_up(start, edge)?
                {
                    return Ok(Some(found));
                }
            }
        }
        self.soft_words()
    }

    /// Looks a token up. Returns it if it is a hard word, and notes it if it is a soft one.
    #[inline(never)]
    fn look_up(&mut self, start: usize, end: usize) -> Result<Option<ListDecision>> {
        let token = &self.memory.text[start..end];
        if token.len() > MAX_WORD {
            return Ok(None);
        }
        let Some(word) = find_word(self.file, token)? else {
            return Ok(None);
        };
        let row = WordRow::decode(self.file.section(Section::Words), word)?;
        if row.word != 0 {
            return Ok(Some(ListDecision::listed(
                row.word,
                EntryPlace::Word { word },
            )));
        }
        let soft_words = &mut self.memory.soft_words;
        let is_counted = soft_words.len() < self.words.metadata.soft_threshold as usize;
        if row.soft_word != 0 && is_counted && !soft_words.contains(&word) {
            soft_words.push(word);
        }
        Ok(None)
    }

    /// The soft words that were found, if they are enough.
    #[inline(always)]
    fn soft_words(&self) -> Result<Option<ListDecision>> {
        let found = &self.memory.soft_words;
        let (Some(first), Some(last)) = (found.first(), found.last()) else {
            return Ok(None);
        };
        if found.len() < self.words.metadata.soft_threshold as usize {
            return Ok(None);
        }
        let row = WordRow::decode(self.file.section(Section::Words), *last)?;
        let entry = EntryPlace::SoftWords {
            first: *first,
            last: *last,
        };
        Ok(Some(ListDecision::listed(row.soft_word, entry)))
    }
}
