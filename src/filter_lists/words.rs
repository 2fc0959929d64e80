//! Words: the search for listed words in a URL.
//!
//! A *token* is a run of ASCII letters and digits in the URL after its scheme and before its
//! fragment. Tokens are compared without case, after the percent escapes of the URL were decoded. A
//! hard word lists each URL that has it as a token, soft words list a URL that has several of them.
//! A *substring* lists a URL that has it after all other characters were removed.
//!
//! Vector instructions find the letters and digits of a URL, one bit for each byte. Each token then
//! reads one unit of a filter, which dismisses nearly all of them, and the texts of the words decide
//! about the rest: a binary search. An automaton of all words (aho-corasick) took two to four times as
//! long, because it reads a state per byte. [`substrings`](super::substrings) has the search for those.
//!
//! A URL is searched where it is. Only one with percent escapes or a fragment is copied: the copy of
//! all took a quarter of the time.

use super::decision::{EntryPlace, ListDecision};
use super::format::{ListsMetadata, WORD_ROW_LEN, WordFilter, WordRow, WordsIn, WordsMetadata};
use super::read::{FilterLists, plain_host};
use super::substrings::{Letters, Substrings};
use crate::bytes::wire::{bytes, u32_at};
use crate::error::{Error, Result};
use crate::simd::{Backend, Kernel, WordMasks};
use crate::snapshot::format::Section;
use crate::snapshot::section_file::SectionFile;
use std::ops::Range;
use std::sync::Arc;

/// The length of the longest word.
pub(super) const MAX_WORD: usize = 255;

/// The most soft words that a URL may need. Each token is compared with those that were found before.
pub(super) const MAX_SOFT_THRESHOLD: u32 = 1000;

/// The words of a file, besides its rows.
#[derive(Clone, Debug)]
pub(super) struct Words {
    metadata: WordsMetadata,
    substrings: Option<Arc<Substrings>>,
}

/// A thread's memory for the search of words.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordMemory {
    /// The text of a URL that had percent escapes or a fragment.
    unescaped: Vec<u8>,
    /// The soft words that were found, as rows.
    soft_words: Vec<u32>,
    /// The text in which substrings are looked for.
    letters: Letters,
}

/// The bytes of a token's end that its hash reads.
const TAIL: usize = 8;

/// This bit tells the letters of lower case from those of upper case, and digits have it.
pub(super) const LOWER_CASE: u8 = 0x20;

/// The bytes that one vector step scans.
const BLOCK: usize = 64;

/// Sets a text to the parts of a URL with percent escapes decoded and without its fragment, after
/// [`TAIL`] zeros.
fn set_unescaped(parts: [&[u8]; 2], text: &mut Vec<u8>) {
    text.clear();
    text.extend_from_slice(&[0; TAIL]);
    for part in parts {
        let end = memchr::memchr(b'#', part).unwrap_or(part.len());
        append_unescaped(&part[..end], text);
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
    let lower = byte | LOWER_CASE;
    let is_letter = lower.wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    if is_letter | is_digit { lower } else { 0 }
}

impl Words {
    /// The words of a file; `None` if it has none. Builds the filters of the substrings.
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
    /// The search for words, if any list has some.
    pub(crate) fn word_search<'a>(&'a self, memory: &'a mut WordMemory) -> Option<WordSearch<'a>> {
        Some(WordSearch {
            lists: self,
            words: self.words.as_ref()?,
            filter: WordFilter::new(self.file.section(Section::WordFilter)),
            memory,
        })
    }
}

/// The search for words in URLs.
pub(crate) struct WordSearch<'a> {
    lists: &'a FilterLists,
    words: &'a Words,
    filter: WordFilter<'a>,
    memory: &'a mut WordMemory,
}

/// The text that is searched: a part of one. At least [`TAIL`] bytes are before the end of each token
/// in it, and the text may extend beyond it, so that whole blocks can be loaded.
struct PartOfText<'t> {
    text: &'t [u8],
    part: Range<usize>,
    /// Whether percent escapes and a fragment end the search.
    may_be_escaped: bool,
}

/// The result of a search.
enum Search {
    /// The word that decides, if there is one.
    Finished(Option<ListDecision>),
    /// The text has percent escapes or a fragment.
    Escaped,
}

impl WordSearch<'_> {
    /// The word that lists a URL, given by the host, with its port if it has one, and the rest after
    /// it, with or without a fragment. No entry for its host or path decides.
    pub(crate) fn find(
        &mut self,
        authority: &[u8],
        rest: &[u8],
        backend: impl Backend,
    ) -> Result<Option<ListDecision>> {
        let parts = match self.words.metadata.part {
            WordsIn::Url => [authority, rest],
            WordsIn::Host => [authority, b""],
            WordsIn::Path => [b"", rest],
        };
        self.find_unescaped(parts, backend)
    }

    /// The same for a URL with a plain origin of `origin_len` bytes and a rest of `rest_len` bytes,
    /// which are at the start of `text`.
    ///
    /// Cost: linear in the URL; some 80 ns for most, and twice that with substrings.
    #[inline(always)]
    pub(crate) fn find_plain(
        &mut self,
        text: &[u8],
        origin_len: usize,
        rest_len: usize,
        backend: impl Backend,
    ) -> Result<Option<ListDecision>> {
        let host = origin_len - plain_host(&text[..origin_len]).len();
        let part = match self.words.metadata.part {
            WordsIn::Url => host..origin_len + rest_len,
            WordsIn::Host => host..origin_len,
            WordsIn::Path => origin_len..origin_len + rest_len,
        };
        let unchanged = PartOfText {
            text,
            part: part.clone(),
            may_be_escaped: true,
        };
        match self.find_in(&unchanged, backend) {
            Ok(Search::Finished(found)) => Ok(found),
            Ok(Search::Escaped) => self.find_unescaped([&text[part], b""], backend),
            Err(err) => Err(self.lists.damage(err)),
        }
    }

    /// The word in parts of a URL that may have percent escapes and a fragment.
    #[inline(never)]
    fn find_unescaped(
        &mut self,
        parts: [&[u8]; 2],
        backend: impl Backend,
    ) -> Result<Option<ListDecision>> {
        let mut text = std::mem::take(&mut self.memory.unescaped);
        set_unescaped(parts, &mut text);
        let searched = PartOfText {
            text: &text,
            part: TAIL..text.len(),
            // What is special now was escaped.
            may_be_escaped: false,
        };
        let found = backend.run(FindWord {
            search: self,
            searched,
        });
        self.memory.unescaped = text;
        match found {
            Ok(Search::Finished(found)) => Ok(found),
            Ok(Search::Escaped) => Ok(None),
            Err(err) => Err(self.lists.damage(err)),
        }
    }

    /// The word in a part of a text: the first token that is a hard word, else enough tokens that are
    /// soft words, else the first substring.
    #[inline(always)]
    fn find_in(&mut self, searched: &PartOfText<'_>, backend: impl Backend) -> Result<Search> {
        let text = searched.text;
        let part = &searched.part;
        let substrings = self.words.substrings.as_deref();
        let filter = self.filter;
        let has_tokens = !filter.is_empty();
        self.memory.soft_words.clear();
        if substrings.is_some() {
            self.memory.letters.clear_for(part.len());
        }
        // The host of `http://` begins where no whole tail is before the first block.
        let mut at = part.start.max(TAIL);
        // The start of the next token, which may end in a later block.
        let mut start = part.start;
        let skipped = text[part.clone()].first().filter(|_| part.start < at);
        let mut is_inside = u64::from(skipped.is_some_and(|byte| fold(*byte) != 0));
        loop {
            let left = part.end.saturating_sub(at);
            let copy;
            let block: &[u8; TAIL + BLOCK] = match text[at - TAIL..].first_chunk() {
                Some(block) => block,
                None => {
                    copy = padded(&text[at - TAIL..part.end]);
                    &copy
                }
            };
            let masks = match block[TAIL..].first_chunk() {
                Some(block) => backend.scan_words(block),
                None => WordMasks::default(),
            };
            let in_part = !u64::MAX.unbounded_shl(left.min(BLOCK) as u32);
            // A word that was found before this block decides: it ends with another character.
            if searched.may_be_escaped && masks.special & in_part != 0 {
                return Ok(Search::Escaped);
            }
            let inside = masks.inside & in_part;
            let before = inside << 1 | is_inside;
            let starts = inside & !before;
            let tokens = BlockTokens::new(
                at,
                starts,
                before & !inside,
                (is_inside == 1).then_some(start),
            );
            for token in tokens {
                let tail = tail_before(block, token.end - at);
                if has_tokens
                    && filter.may_have(tail, token.end - token.start)
                    && let Some(found) = self.look_up(&text[token.start..token.end])?
                {
                    return Ok(Search::Finished(Some(found)));
                }
                if substrings.is_some() {
                    self.memory.letters.append(text, token.start..token.end);
                }
            }
            is_inside = inside >> (BLOCK - 1);
            if starts != 0 {
                start = at + (BLOCK - 1) - starts.leading_zeros() as usize;
            }
            if left < BLOCK {
                break;
            }
            at += BLOCK;
        }
        if let Some(found) = self.decide_by_soft_words()? {
            return Ok(Search::Finished(Some(found)));
        }
        let Some(substrings) = substrings else {
            return Ok(Search::Finished(None));
        };
        let found = substrings.find(&self.lists.file, &self.memory.letters)?;
        let found = found.map(|word| self.decide_by_substring(word));
        found.transpose().map(Search::Finished)
    }

    /// Looks a token up. Returns it if it is a hard word, and notes it if it is a soft one.
    #[inline(never)]
    fn look_up(&mut self, token: &[u8]) -> Result<Option<ListDecision>> {
        let mut word = [0; MAX_WORD];
        let Some(word) = word.get_mut(..token.len()) else {
            return Ok(None);
        };
        for (folded, byte) in word.iter_mut().zip(token) {
            *folded = fold(*byte);
        }
        let file = &self.lists.file;
        let Some(number) = find_word(file, word)? else {
            return Ok(None);
        };
        let row = WordRow::decode(file.section(Section::Words), number)?;
        if row.word != 0 {
            let entry = EntryPlace::Word { word: number };
            return Ok(Some(ListDecision::listed(row.word, entry)));
        }
        let soft_words = &mut self.memory.soft_words;
        let is_counted = soft_words.len() < self.words.metadata.soft_threshold as usize;
        if row.soft_word != 0 && is_counted && !soft_words.contains(&number) {
            soft_words.push(number);
        }
        Ok(None)
    }

    /// The decision by a substring that was found.
    fn decide_by_substring(&self, word: u32) -> Result<ListDecision> {
        let row = WordRow::decode(self.lists.file.section(Section::Words), word)?;
        let entry = EntryPlace::Substring { word };
        Ok(ListDecision::listed(row.substring, entry))
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
        let row = WordRow::decode(self.lists.file.section(Section::Words), *last)?;
        let entry = EntryPlace::SoftWords {
            first: *first,
            last: *last,
        };
        Ok(Some(ListDecision::listed(row.soft_word, entry)))
    }
}

/// The search for words in a text, as a function of its own.
struct FindWord<'s, 'a> {
    search: &'s mut WordSearch<'a>,
    searched: PartOfText<'s>,
}

impl Kernel for FindWord<'_, '_> {
    type Output = Result<Search>;

    #[inline(always)]
    fn run(self, backend: impl Backend) -> Self::Output {
        self.search.find_in(&self.searched, backend)
    }
}

/// A run of letters and digits in a text.
#[derive(Clone, Copy, Debug)]
struct Token {
    start: usize,
    end: usize,
}

/// The tokens that end in a block, in their order.
struct BlockTokens {
    /// The start of the block in the text.
    at: usize,
    /// The start of the next token.
    start: usize,
    /// The starts of those after it: bit `i` stands for byte `i` of the block.
    starts: u64,
    /// The ends of the next one and of those after it.
    ends: u64,
}

impl BlockTokens {
    /// The tokens with these starts and ends in the block, after one that began before it.
    #[inline(always)]
    fn new(at: usize, starts: u64, ends: u64, began: Option<usize>) -> Self {
        let mut tokens = Self {
            at,
            start: 0,
            starts,
            ends,
        };
        match began {
            Some(start) => tokens.start = start,
            None => tokens.advance(),
        }
        tokens
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.start = self.at + self.starts.trailing_zeros() as usize;
        self.starts &= self.starts.wrapping_sub(1);
    }
}

impl Iterator for BlockTokens {
    type Item = Token;

    #[inline(always)]
    fn next(&mut self) -> Option<Token> {
        if self.ends == 0 {
            return None;
        }
        let token = Token {
            start: self.start,
            end: self.at + self.ends.trailing_zeros() as usize,
        };
        self.ends &= self.ends - 1;
        self.advance();
        Some(token)
    }
}

/// The last bytes of a text, as a block after its tail.
#[inline(never)]
fn padded(text: &[u8]) -> [u8; TAIL + BLOCK] {
    let mut block = [0; TAIL + BLOCK];
    for (to, from) in block.iter_mut().zip(text) {
        *to = *from;
    }
    block
}

/// The eight bytes before the end of a token in a block, its letters in lower case.
#[inline(always)]
fn tail_before(block: &[u8; TAIL + BLOCK], end: usize) -> u64 {
    const ALL_LOWER_CASE: u64 = u64::from_le_bytes([LOWER_CASE; TAIL]);
    match block
        .get(end..end + TAIL)
        .and_then(|tail| tail.first_chunk())
    {
        Some(tail) => u64::from_le_bytes(*tail) | ALL_LOWER_CASE,
        None => 0,
    }
}
