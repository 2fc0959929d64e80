//! Looks things up in a snapshot's bytes, wherever they lie; every access is bounds-checked.

use crate::agent::{Agent, AgentMatch};
use crate::bytes::wire::{bytes, u64_at};
use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::snapshot::format::{
    Entry, FACTS_LEN, FILE_LEN, Facts, FileRow, HEADER_CHECKSUM_AT, Metadata, NONE, Section, SectionTable, decode_head,
};
use crate::snapshot::outcome::{Outcome, OutcomeClass};
use crate::snapshot::text::Unpacker;
use crate::snapshot::view::View;
use crate::url::Origin;
use ::bytes::Bytes;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// An opened snapshot: a mapped file ([`Snapshot::open`]) or bytes in memory ([`Snapshot::new`]).
///
/// Clones share the bytes.
///
/// Opening costs the same whatever the size: the header is checked, nothing is decoded or copied.
/// Reading damaged bytes gives [`Corrupt`](crate::ErrorKind::Corrupt) or, where only a checksum
/// could tell, another answer: [`Snapshot::verify_checksums`] finds every accidental damage, and
/// [`Snapshot::verify`] every contradiction too. Nothing panics.
///
/// ```
/// use robosieve::{Compiler, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// assert_eq!(snapshot.metadata()?.counts.origins, 1);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone)]
pub struct Snapshot {
    data: Bytes,
    table: SectionTable,
}

/// A longer dictionary is refused: that of this version has 3 KB.
const MAX_DICTIONARY: usize = 1 << 20;

/// What a snapshot holds of one origin.
#[derive(Clone, Debug)]
pub struct OriginEntry<'a> {
    key: &'a [u8],
    file: Option<u32>,
    facts: Facts,
    source: Option<&'a [u8]>,
    detail: Option<&'a [u8]>,
}

impl<'a> OriginEntry<'a> {
    /// The canonical origin, such as `https://example.com`.
    pub fn origin(&self) -> String {
        String::from_utf8_lossy(self.key).into_owned()
    }

    /// What fetching its robots.txt came to.
    pub fn outcome(&self) -> &Outcome {
        &self.facts.outcome
    }

    /// Whether a good copy from before the failures is kept.
    pub fn has_last_good(&self) -> bool {
        self.facts.last_good != NONE
    }

    /// The URL that answered in the end, if redirects led away from the origin's own `/robots.txt`.
    pub fn source(&self) -> Option<String> {
        self.source.map(|url| String::from_utf8_lossy(url).into_owned())
    }

    /// Why there was no answer, as the archive says.
    pub fn detail(&self) -> Option<String> {
        self.detail.map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// The URL of its robots.txt, such as `https://example.com/robots.txt`.
    pub fn robots_url(&self) -> String {
        self.origin() + "/robots.txt"
    }

    /// The number of the robots.txt whose rules hold, or else of the last good copy.
    pub(crate) fn file(&self) -> Option<u32> {
        self.file.or(self.last_good())
    }

    /// The number of the robots.txt whose rules hold.
    pub(crate) fn rules_file(&self) -> Option<u32> {
        self.file
    }

    /// The number of the last good copy.
    pub(crate) fn last_good(&self) -> Option<u32> {
        (self.facts.last_good != NONE).then_some(self.facts.last_good)
    }

    pub(crate) fn key(&self) -> &'a [u8] {
        self.key
    }

    /// [`source`](Self::source) and [`detail`](Self::detail) as they are stored.
    pub(crate) fn notes(&self) -> (Option<&'a [u8]>, Option<&'a [u8]>) {
        (self.source, self.detail)
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("len", &self.data.len()).finish_non_exhaustive()
    }
}

impl From<&Snapshot> for Arc<Snapshot> {
    /// A clone, which shares the bytes.
    fn from(snapshot: &Snapshot) -> Self {
        Self::new(snapshot.clone())
    }
}

impl Snapshot {
    /// Opens a snapshot over its bytes. The cost does not depend on their number.
    ///
    /// # Errors
    /// [`NotASnapshot`](crate::ErrorKind::NotASnapshot), [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion), and [`Corrupt`](crate::ErrorKind::Corrupt) where header and
    /// section table contradict the bytes.
    pub fn new(data: impl Into<Bytes>) -> Result<Self> {
        let data = data.into();
        let table = decode_head(&data)?;
        Ok(Self { data, table })
    }

    /// The bytes of a section; `new` has checked that they are there.
    #[inline]
    pub(crate) fn section(&self, section: Section) -> &[u8] {
        let extent = &self.table[section as usize - 1];
        let (start, end) = (extent.offset as usize, (extent.offset + extent.len) as usize);
        self.data.get(start..end).unwrap_or_default()
    }

    /// The bytes of the file from `start` to `end`.
    pub(super) fn bytes(&self, start: u64, end: u64) -> Result<&[u8]> {
        let range = start as usize..end as usize;
        self.data.get(range).ok_or_else(|| Error::corrupt("the sections overlap"))
    }

    pub(super) fn table(&self) -> &SectionTable {
        &self.table
    }

    /// The length of the whole snapshot in bytes.
    pub fn byte_len(&self) -> u64 {
        self.data.len() as u64
    }

    /// A number that tells snapshots of different content apart: the header checksum of `docs/FORMAT.md`, which covers the
    /// checksums of all sections. The same archives compiled by the same version give the same number. It is no proof against
    /// forgery, and speaks for undamaged files only ([`verify`](Self::verify)). Costs nothing: it is stored.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let compile = |robots: &[u8]| -> robosieve::Result<u64> {
    ///     let mut compiler = Compiler::default();
    ///     compiler.add_robots("https://e.example", robots)?;
    ///     Ok(Snapshot::new(compiler.finish()?.to_vec()?)?.checksum())
    /// };
    /// assert_eq!(compile(b"user-agent: *\ndisallow: /a")?, compile(b"user-agent: *\ndisallow: /a")?);
    /// assert_ne!(compile(b"user-agent: *\ndisallow: /a")?, compile(b"user-agent: *\ndisallow: /b")?);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn checksum(&self) -> u64 {
        // `new` has found it there.
        u64_at(&self.data, HEADER_CHECKSUM_AT, "the header checksum").unwrap_or_default()
    }

    /// What judging URLs looks at.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        View {
            index: self.section(Section::Index).as_chunks().0,
            origins: self.section(Section::Origins),
            facts: self.section(Section::Facts),
            files: self.section(Section::Files),
            named: self.section(Section::Named),
            rule_sets: self.section(Section::RuleSets),
            patterns: self.section(Section::Patterns),
        }
    }

    /// Name and length in bytes of every section, in the order of the file.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Section::ALL.iter().zip(&self.table).map(|(section, extent)| (section.name(), extent.len))
    }

    /// What the snapshot says of itself.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it is not the documented JSON.
    pub fn metadata(&self) -> Result<Metadata> {
        serde_json::from_slice(self.section(Section::Metadata))
            .map_err(|err| Error::corrupt(format!("the metadata ({err})")))
    }

    /// The profile it was compiled for.
    ///
    /// # Errors
    /// As [`metadata`](Self::metadata).
    pub fn profile(&self) -> Result<Profile> {
        Ok(self.metadata()?.profile)
    }

    /// What it holds of `origin`, if anything. One look-up in the index.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) where the bytes contradict each other.
    pub fn origin(&self, origin: &Origin) -> Result<Option<OriginEntry<'_>>> {
        match self.view().find(origin.as_str().as_bytes())? {
            Some(entry) => self.origin_at(entry.row).map(Some),
            None => Ok(None),
        }
    }

    /// The number of origins.
    pub fn origin_count(&self) -> u32 {
        (self.section(Section::Facts).len() / FACTS_LEN) as u32
    }

    /// All origins, sorted by key.
    pub fn origins(&self) -> impl Iterator<Item = Result<OriginEntry<'_>>> + '_ {
        (0..self.origin_count()).map(|row| self.origin_at(row))
    }

    /// The origins whose robots.txt should be fetched again at `time`, in seconds since 1970 (see
    /// [`Outcome::is_stale_at`]), sorted by key. Cost: one pass over the facts of all.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let mut compiler = Compiler::default();
    /// let capture = br#"{"url": "https://e.example/robots.txt", "status": 404, "fetched_at": "1970-01-01T00:00:00Z"}"#;
    /// compiler.add_reader("memory", capture.as_slice())?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// assert_eq!(snapshot.stale_at(86_399).count(), 0);
    /// let due: Vec<String> = snapshot.stale_at(86_400).map(|entry| Ok(entry?.robots_url())).collect::<robosieve::Result<_>>()?;
    /// assert_eq!(due, ["https://e.example/robots.txt"]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn stale_at(&self, time: i64) -> impl Iterator<Item = Result<OriginEntry<'_>>> + '_ {
        let is_stale = move |entry: &Result<OriginEntry<'_>>| match entry {
            Ok(entry) => entry.outcome().is_stale_at(time),
            Err(_) => true,
        };
        self.origins().filter(is_stale)
    }

    /// The origin in a row of the section `facts`.
    pub(crate) fn origin_at(&self, row: u32) -> Result<OriginEntry<'_>> {
        let facts = self.origin_metadata(row)?;
        let entry = Entry::decode(self.section(Section::Origins), facts.entry)?;
        if entry.row != row || entry.class != facts.outcome.class {
            return Err(Error::corrupt("an origin whose facts belong to another"));
        }
        Ok(OriginEntry {
            key: entry.key,
            file: (entry.file != NONE).then_some(entry.file),
            source: self.note(facts.source)?,
            detail: self.note(facts.detail)?,
            facts,
        })
    }

    /// Makes sure that no origin has this key, after the index has led to none: origins are sorted
    /// by key, so a damaged index does not hide one. Cost: a binary search.
    pub(crate) fn confirm_absent(&self, key: &[u8]) -> Result<()> {
        let (mut low, mut high) = (0, self.origin_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.origin_at(middle)?.key.cmp(key) {
                std::cmp::Ordering::Equal => {
                    return Err(Error::corrupt(format!("the index does not lead to {}", String::from_utf8_lossy(key))));
                }
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(())
    }

    pub(crate) fn origin_metadata(&self, row: u32) -> Result<Facts> {
        Facts::decode(self.section(Section::Facts), row)
    }

    /// The number of distinct robots.txt files.
    pub(crate) fn file_count(&self) -> u32 {
        (self.section(Section::Files).len() / FILE_LEN) as u32
    }

    /// The condensed text of a robots.txt: the lines that say something, on their own line numbers.
    pub(crate) fn text(&self, file: u32) -> Result<Vec<u8>> {
        let row = self.view().file(file)?;
        self.unpacker()?.unpack(self.frame(&row)?, row.raw_len as usize)
    }

    /// The condensed text of a robots.txt as it is stored, compressed with [`dictionary`](Self::dictionary).
    pub(crate) fn frame(&self, row: &FileRow) -> Result<&[u8]> {
        let start = usize::try_from(row.text_start).unwrap_or(usize::MAX);
        bytes(self.section(Section::Texts), start, row.text_len as usize, "a robots.txt's text")
    }

    /// Reads compressed texts, after a look at the dictionary's checksum: each damaged byte of it would change many texts, by as many
    /// bytes as they repeat, and no other check finds that. Cost: copies the dictionary, which is short.
    pub(crate) fn unpacker(&self) -> Result<Unpacker> {
        if self.dictionary().len() > MAX_DICTIONARY {
            return Err(Error::corrupt(format!("a dictionary of {} bytes", self.dictionary().len())));
        }
        self.verify_section(Section::Dictionary)?;
        Unpacker::new(self.dictionary())
    }

    /// Checks the checksum of a section.
    pub(super) fn verify_section(&self, section: Section) -> Result<()> {
        if xxh3_64(self.section(section)) == self.table[section as usize - 1].checksum {
            Ok(())
        } else {
            Err(Error::corrupt(format!("the section \"{}\" has another checksum", section.name())))
        }
    }

    /// What the texts are compressed with.
    pub(crate) fn dictionary(&self) -> &[u8] {
        self.section(Section::Dictionary)
    }

    /// The condensed text of the robots.txt that an origin obeys, or obeyed before the failures; `None` if there is none.
    ///
    /// It holds the lines of known fields without comments, every other line blank, so that line numbers are those of
    /// the file as served.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) where the bytes contradict each other.
    pub fn robots_text(&self, entry: &OriginEntry<'_>) -> Result<Option<Vec<u8>>> {
        entry.file().map(|file| self.text(file)).transpose()
    }

    fn note(&self, place: u32) -> Result<Option<&[u8]>> {
        if place == NONE {
            return Ok(None);
        }
        let notes = self.section(Section::Notes);
        let at = place as usize * 4;
        let len = u16::from_le_bytes(crate::bytes::wire::array(notes, at, "a note's length")?);
        bytes(notes, at + 2, usize::from(len), "a note").map(Some)
    }

    /// The number of agent names in the dictionary.
    pub(crate) fn token_count(&self) -> Result<u64> {
        u64_at(self.section(Section::Tokens), 0, "the number of tokens")
    }

    /// The agent name of a number.
    pub(crate) fn token(&self, number: u64) -> Result<&[u8]> {
        let section = self.section(Section::Tokens);
        let count = self.token_count()?;
        let heads = count.checked_add(2).and_then(|rows| usize::try_from(rows.checked_mul(8)?).ok());
        let heads = heads.ok_or_else(|| Error::corrupt("the number of tokens"))?;
        let at = usize::try_from(number).ok().and_then(|n| n.checked_mul(8)?.checked_add(8));
        let at = at.ok_or_else(|| Error::corrupt("a token's number"))?;
        let (start, end) = (u64_at(section, at, "a token's start")?, u64_at(section, at + 8, "a token's end")?);
        let text = section.get(heads..).unwrap_or_default();
        let range = usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
        text.get(range).ok_or_else(|| Error::corrupt("a token's text"))
    }

    /// The number of an agent name, if any robots.txt names it. Cost: a binary search.
    pub(crate) fn token_number(&self, name: &[u8]) -> Result<Option<u32>> {
        let (mut low, mut high) = (0, self.token_count()?);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.token(middle)?.cmp(name) {
                std::cmp::Ordering::Equal => return Ok(u32::try_from(middle).ok()),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// The numbers of the names of `agent`'s chain that any robots.txt of the snapshot names, first choice first.
    pub(crate) fn agent_tokens(&self, agent: &Agent, how: AgentMatch) -> Result<Vec<u32>> {
        agent.keys(how).filter_map(|key| self.token_number(key).transpose()).collect()
    }

    /// How many origins came to each outcome, in the order of the classes.
    ///
    /// # Errors
    /// As [`metadata`](Self::metadata).
    pub fn outcome_counts(&self) -> Result<[(OutcomeClass, u64); 5]> {
        let counts = self.metadata()?.counts;
        Ok([
            (OutcomeClass::Rules, counts.outcome_rules),
            (OutcomeClass::ClientError, counts.outcome_client_error),
            (OutcomeClass::ServerError, counts.outcome_server_error),
            (OutcomeClass::Unreachable, counts.outcome_unreachable),
            (OutcomeClass::Unresolved, counts.outcome_unresolved),
        ])
    }
}
