//! Words: the search for listed words in a URL.
//!
//! A *token* is a run of ASCII letters and digits in the URL after its scheme and before its
//! fragment. Tokens are compared without case, after the percent escapes of the URL were decoded. A
//! hard word lists each URL that has it as a token, soft words list a URL that has several of them.
//! A *substring* lists a URL that has it after all other characters were removed.
//!
//! The text of a URL is copied once, in lower case and with 0 in place of all other characters. This
//! and the ends of tokens take vector instructions. Each token then reads one unit of a filter, which
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

/// The most soft words that a URL may need. Each token is compared with those that were found before.
pub(super) const MAX_SOFT_THRESHOLD: u32 = 1000;

/// The words of a file, besides its rows.
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
    /// [`START`] zeros are before it, and at least [`END`] after it. The memory may be longer.
    text: Vec<u8>,
    /// The bytes of `text` that the URL takes: a multiple of [`WINDOW`].
    len: usize,
    /// The parts of a URL with percent escapes or a fragment, as few have them.
    unescaped: Vec<u8>,
    /// The soft words that were found, as rows.
    soft_words: Vec<u32>,
}

/// The zeros before the text, so that the eight bytes before each end of a token are there.
const START: usize = 8;

/// The zeros after it: the eight bytes after each start of a token.
const END: usize = 8;

/// The bytes that one vector step compares.
const WINDOW: usize = 32;

impl WordMemory {
    /// Sets the text to the parts of a URL, without its fragment and its percent escapes.
    #[inline(always)]
    fn set_text(&mut self, parts: [&[u8]; 2], backend: impl Backend) {
        self.copy(parts);
        if !self.fold(backend) {
            self.set_unescaped(parts);
            self.fold(backend);
        }
    }

    /// Copies the parts, and zeros around them.
    #[inline(always)]
    fn copy(&mut self, [first, second]: [&[u8]; 2]) {
        let second_at = START + first.len();
        let end = second_at + second.len();
        self.len = (end + END).next_multiple_of(WINDOW);
        if self.text.len() < self.len {
            self.text.resize(self.len, 0);
        }
        self.text[START..second_at].copy_from_slice(first);
        self.text[second_at..end].copy_from_slice(second);
        self.text[end..self.len].fill(0);
    }

    /// Replaces upper case, and all characters but letters and digits. Returns whether the text had
    /// neither percent signs nor a fragment.
    #[inline(always)]
    fn fold(&mut self, backend: impl Backend) -> bool {
        let mut special = 0;
        for window in self.text[..self.len].as_chunks_mut::<WINDOW>().0 {
            special |= backend.equal_bytes(window, &[b'%'; WINDOW])
                | backend.equal_bytes(window, &[b'#'; WINDOW]);
            for byte in window {
                *byte = fold(*byte);
            }
        }
        special == 0
    }

    /// Copies the parts without the fragment, and with percent escapes decoded.
    #[inline(never)]
    fn set_unescaped(&mut self, [first, second]: [&[u8]; 2]) {
        let mut unescaped = std::mem::take(&mut self.unescaped);
        unescaped.clear();
        let end = memchr::memchr(b'#', second).unwrap_or(second.len());
        append_unescaped(first, &mut unescaped);
        append_unescaped(&second[..end], &mut unescaped);
        // What is special now was escaped.
        self.copy([&unescaped, b""]);
        self.unescaped = unescaped;
    }

    /// The text of the URL, with the zeros around it.
    #[inline(always)]
    fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }
}

/// Appends a part of a URL with its percent escapes decoded.
fn append_unescaped(part: &[u8], out: &mut Vec<u8>) {
    let mut rest = part;
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
        if !(1..=MAX_SOFT_THRESHOLD).contains(&metadata.soft_threshold) {
            let threshold = metadata.soft_threshold;
            return Err(Error::corrupt(format!(
                "a threshold of {threshold} soft words"
            )));
        }
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
    /// Cost: linear in the URL; some 70 ns for most, and twice that with substrings.
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
        self.memory.set_text(self.parts, backend);
        self.memory.soft_words.clear();
        if let Some(found) = self.find_in_tokens(backend)? {
            return Ok(Some(found));
        }
        let Some(substrings) = &self.words.substrings else {
            return Ok(None);
        };
        let Some(word) = substrings.find(self.memory.text()) else {
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
        let text = &self.memory.text[..self.memory.len];
        let soft_words = &mut self.memory.soft_words;
        // The start of the next token, which may end in a later window.
        let mut start = 0;
        let mut is_inside = 0;
        for (number, window) in text.as_chunks::<WINDOW>().0.iter().enumerate() {
            let at = number * WINDOW;
            let inside = !backend.equal_bytes(window, &[0; WINDOW]);
            let before = inside << 1 | is_inside;
            let mut starts = inside & !before;
            let mut ends = !inside & before;
            if is_inside == 0 {
                start = at + starts.trailing_zeros() as usize;
                starts &= starts.wrapping_sub(1);
            }
            while ends != 0 {
                let end = at + ends.trailing_zeros() as usize;
                ends &= ends - 1;
                if filter.may_have(text, start, end)
                    && let Some(found) =
                        look_up(self.file, self.words, &text[start..end], soft_words)?
                {
                    return Ok(Some(found));
                }
                start = at + starts.trailing_zeros() as usize;
                starts &= starts.wrapping_sub(1);
            }
            is_inside = inside >> 31;
        }
        self.decide_by_soft_words()
    }

    /// The soft words that were found, if they are enough.
    #[inline(always)]
    fn decide_by_soft_words(&self) -> Result<Option<ListDecision>> {
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

/// Looks a token up. Returns it if it is a hard word, and notes it if it is a soft one.
#[inline(never)]
fn look_up(
    file: &SectionFile,
    words: &Words,
    token: &[u8],
    soft_words: &mut Vec<u32>,
) -> Result<Option<ListDecision>> {
    if token.len() > MAX_WORD {
        return Ok(None);
    }
    let Some(word) = find_word(file, token)? else {
        return Ok(None);
    };
    let row = WordRow::decode(file.section(Section::Words), word)?;
    if row.word != 0 {
        let entry = EntryPlace::Word { word };
        return Ok(Some(ListDecision::listed(row.word, entry)));
    }
    let is_counted = soft_words.len() < words.metadata.soft_threshold as usize;
    if row.soft_word != 0 && is_counted && !soft_words.contains(&word) {
        soft_words.push(word);
    }
    Ok(None)
}
