//! An opened snapshot: look-ups by origin, row, file and agent name.
//!
//! Every access is bounds-checked, so damaged bytes never cause a panic. The look-ups here verify
//! the blocks that they read ([`blocks`](super::blocks)). A [`View`] does not: it is for judges,
//! whose users verify all blocks first.

use crate::agent::{Agent, AgentMatch};
use crate::bytes::wire::{bytes, u32_at};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::matcher::rule_set::{RuleSet, Rules};
use crate::profile::Profile;
use crate::robots::RobotsRef;
use crate::snapshot::contents::EarlierRedirect;
use crate::snapshot::details::missing_target;
use crate::snapshot::format::{
    EARLIER_REDIRECT_LEN, ENTRY_HEAD, EarlierRedirectRow, Entry, FILE_LEN, FileKind, FileRow,
    Metadata, NAMED_LEN, NO_PAYLOAD, NONE, ORIGIN_DETAILS_LEN, ORIGIN_METADATA_LEN, OriginMetadata,
    PAYLOAD_LEN, RuleSections, Section,
};
use crate::snapshot::freshness::Freshness;
use crate::snapshot::index::{self, BUCKET_LEN};
use crate::snapshot::outcome::{Outcome, OutcomeClass};
use crate::snapshot::section_file::SectionFile;
use crate::snapshot::text::{Unpacker, text_len};
use crate::snapshot::view::{TokenChain, View};
use crate::url::{Origin, default_port};
use ::bytes::Bytes;
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// An opened snapshot: a mapped file ([`Snapshot::open`]) or bytes in memory ([`Snapshot::new`]).
///
/// Clones share the bytes.
///
/// The cost of opening does not depend on the size: only the header is checked, and nothing is
/// decoded or copied. Look-ups, such as [`origin`](Self::origin) and
/// [`Judge::explain`](crate::Judge::explain), verify the blocks of 64 KiB that they read, each
/// once, and give [`Corrupt`](crate::ErrorKind::Corrupt) for damaged ones. So a look-up takes some
/// 0.1 ms for its first reads of a snapshot of any size. A [`Judge`](crate::Judge) of many URLs
/// does not verify what it reads: call [`verify_judging_checksums`](Self::verify_judging_checksums)
/// first, or damage may change verdicts silently. [`verify_checksums`](Self::verify_checksums)
/// finds all accidental damage, and [`verify`](Self::verify) also finds contradictions. Nothing
/// panics.
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
    pub(super) sections: SectionFile,
}

/// The longest accepted dictionary. That of this version has 3 KB.
const MAX_DICTIONARY: usize = 1 << 20;

/// An origin of a snapshot: its outcome, and a reference to its robots.txt.
#[derive(Clone, Debug)]
pub struct OriginEntry<'a> {
    key: &'a [u8],
    row: u32,
    file: Option<u32>,
    metadata: OriginMetadata,
    source: Option<&'a [u8]>,
    detail: Option<&'a [u8]>,
    /// As of an earlier time: the target of a redirect that the archive lacks.
    missing: Option<&'a [u8]>,
}

impl<'a> OriginEntry<'a> {
    /// The canonical origin, such as `https://example.com`.
    pub fn origin(&self) -> String {
        String::from_utf8_lossy(self.key).into_owned()
    }

    /// The scheme, the host and the port of the key.
    fn parts(&self) -> (&'a str, &'a str, Option<u16>) {
        let key = std::str::from_utf8(self.key).unwrap_or_default();
        let (scheme, authority) = key.split_once("://").unwrap_or(("", key));
        // Colons within an IPv6 address are in brackets.
        let port = authority
            .rsplit_once(':')
            .filter(|(_, port)| !port.contains(']'));
        match port.and_then(|(host, port)| Some((host, port.parse().ok()?))) {
            Some((host, port)) => (scheme, host, Some(port)),
            None => (scheme, authority, default_port(scheme.as_bytes())),
        }
    }

    /// The scheme, such as `https`.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("http://[2001:db8::7]:8080", b"")?;
    /// compiler.add_robots("https://e.example", b"")?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let [a, b] = [0, 1].map(|row| snapshot.origins().nth(row).unwrap());
    /// let (a, b) = (a?, b?);
    /// assert_eq!((a.scheme(), a.host(), a.port()), ("http", "[2001:db8::7]", Some(8080)));
    /// assert_eq!((b.scheme(), b.host(), b.port()), ("https", "e.example", Some(443)));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn scheme(&self) -> &'a str {
        self.parts().0
    }

    /// The host: a name in Punycode, or an address, with brackets if it is an IPv6 address.
    pub fn host(&self) -> &'a str {
        self.parts().1
    }

    /// The port: that of the origin, or else the default of http, https or ftp. `None` for other
    /// schemes without a port.
    pub fn port(&self) -> Option<u16> {
        self.parts().2
    }

    /// The outcome of fetching its robots.txt.
    pub fn outcome(&self) -> &Outcome {
        &self.metadata.outcome
    }

    /// Whether the snapshot has a last good copy: the robots.txt before the current failures.
    pub fn has_last_good(&self) -> bool {
        self.metadata.last_good != NONE
    }

    /// The URL that answered, if the origin's own `/robots.txt` redirects.
    pub fn source(&self) -> Option<String> {
        self.source
            .map(|url| String::from_utf8_lossy(url).into_owned())
    }

    /// The reason for a missing answer, in the words of the archive.
    pub fn detail(&self) -> Option<String> {
        if let Some(target) = self.missing {
            return Some(missing_target(target));
        }
        self.detail
            .map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// The URL of its robots.txt, such as `https://example.com/robots.txt`.
    pub fn robots_url(&self) -> String {
        self.origin() + "/robots.txt"
    }

    /// Its row: [`Snapshot::origin_at`] of it is this origin.
    pub fn row(&self) -> u32 {
        self.row
    }

    /// The number of the current robots.txt, or else of the last good copy.
    pub(crate) fn file(&self) -> Option<u32> {
        self.file.or(self.last_good())
    }

    /// The number of the current robots.txt.
    pub(crate) fn rules_file(&self) -> Option<u32> {
        self.file
    }

    /// The number of the last good copy.
    pub(crate) fn last_good(&self) -> Option<u32> {
        (self.metadata.last_good != NONE).then_some(self.metadata.last_good)
    }

    /// The same origin with another outcome, as of an earlier time.
    pub(super) fn with_outcome(
        self,
        metadata: OriginMetadata,
        file: Option<u32>,
        source: Option<&'a [u8]>,
        detail: Option<&'a [u8]>,
        missing: Option<&'a [u8]>,
    ) -> Self {
        Self {
            key: self.key,
            row: self.row,
            file,
            metadata,
            source,
            detail,
            missing,
        }
    }

    /// The canonical key, as [`origin`](Self::origin).
    pub(crate) fn key(&self) -> &'a [u8] {
        self.key
    }

    /// The stored bytes of [`source`](Self::source) and [`detail`](Self::detail).
    pub(crate) fn strings(&self) -> (Option<&'a [u8]>, Option<&'a [u8]>) {
        (self.source, self.detail)
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("len", &self.byte_len())
            .finish_non_exhaustive()
    }
}

impl From<&Snapshot> for Arc<Snapshot> {
    /// Clones the snapshot. The clone shares the bytes.
    fn from(snapshot: &Snapshot) -> Self {
        Self::new(snapshot.clone())
    }
}

impl Snapshot {
    /// Opens a snapshot in memory. The cost does not depend on the number of bytes.
    ///
    /// # Errors
    /// [`NotASnapshot`](crate::ErrorKind::NotASnapshot),
    /// [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion), and
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if header and section table contradict the bytes.
    pub fn new(data: impl Into<Bytes>) -> Result<Self> {
        let sections = SectionFile::new(data.into(), FileKind::Snapshot)?;
        Ok(Self { sections })
    }

    /// Verifies the blocks with these bytes of a section.
    #[inline]
    pub(super) fn verify_range(&self, section: Section, start: usize, len: usize) -> Result<()> {
        self.sections.verify_range(section, start, len)
    }

    /// Verifies the blocks of a section that is read as a whole.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged block.
    pub(crate) fn verify_section(&self, section: Section) -> Result<()> {
        self.verify_range(section, 0, usize::MAX)
    }

    /// Verifies all blocks of all sections again, as [`verify_sections`](Self::verify_sections) does.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged block.
    pub(super) fn verify_all(&self) -> Result<()> {
        self.sections.verify_all()
    }

    /// Verifies all blocks of some sections again, on all threads of the current rayon pool.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) for a damaged block.
    pub(super) fn verify_sections(&self, sections: &[Section]) -> Result<()> {
        self.sections.verify_sections(sections)
    }

    /// Counts all blocks as verified: look-ups of this snapshot and of its clones no longer verify
    /// what they read, so a damaged file may give wrong answers silently.
    ///
    /// For files that were verified in another way, and to see what is left of a damaged one.
    /// [`verify_checksums`](Self::verify_checksums) and [`verify`](Self::verify) still verify all
    /// blocks.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"")?;
    /// let mut bytes = compiler.finish()?.to_vec()?;
    /// let metadata = bytes.windows(6).position(|window| window == b"google").unwrap();
    /// bytes[metadata..][..6].copy_from_slice(b"gooble");
    /// let snapshot = Snapshot::new(bytes)?;
    /// assert!(snapshot.profile().unwrap_err().to_string().contains("another checksum"));
    /// snapshot.assume_verified();
    /// assert!(snapshot.profile().unwrap_err().to_string().contains("gooble"));
    /// assert!(snapshot.verify_checksums().is_err());
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn assume_verified(&self) {
        self.sections.assume_verified();
    }

    /// The bytes of a section. `new` has checked its extent.
    #[inline]
    pub(crate) fn section(&self, section: Section) -> &[u8] {
        self.sections.section(section)
    }

    /// Whether this is a clone of the other snapshot.
    pub(super) fn shares_bytes_with(&self, other: &Self) -> bool {
        self.sections.shares_bytes_with(&other.sections)
    }

    /// The length of the whole snapshot in bytes.
    pub fn byte_len(&self) -> u64 {
        self.sections.byte_len()
    }

    /// The header checksum of `docs/FORMAT.md`, which identifies the content of a snapshot.
    ///
    /// It covers the checksums of all sections. The same archives compiled with the same version
    /// give the same number. It does not detect forgery, and identifies undamaged files only
    /// ([`verify`](Self::verify)). It is stored, so the call is one read.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let compile = |robots: &[u8]| -> robosieve::Result<u64> {
    ///     let mut compiler = Compiler::default();
    ///     compiler.add_robots("https://e.example", robots)?;
    ///     Ok(Snapshot::new(compiler.finish()?.to_vec()?)?.checksum())
    /// };
    /// let checksum = compile(b"user-agent: *\ndisallow: /a")?;
    /// assert_eq!(checksum, compile(b"user-agent: *\ndisallow: /a")?);
    /// assert_ne!(checksum, compile(b"user-agent: *\ndisallow: /b")?);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn checksum(&self) -> u64 {
        self.sections.checksum()
    }

    /// The sections that judging reads.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        self.view_of(RuleSections::NEWEST)
    }

    /// As [`view`](Self::view), with the rules of these sections.
    #[inline]
    pub(crate) fn view_of(&self, rules: RuleSections) -> View<'_> {
        View {
            seed: self.sections.seed(),
            index: self.section(Section::Index).as_chunks().0,
            origins: self.section(Section::Origins),
            origin_metadata: self.section(Section::OriginMetadata),
            origin_details: self.section(Section::OriginDetails),
            files: self.section(rules.files),
            named: self.section(rules.named),
            rule_sets: self.section(rules.rule_sets),
        }
    }

    /// The name and the length in bytes of every section, in the order of the file.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.sections.sections()
    }

    /// The stored description of the snapshot. Cost: parses a short JSON text.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if it is not the documented JSON.
    pub fn metadata(&self) -> Result<Metadata> {
        self.verify_section(Section::Metadata)?;
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

    /// Looks `origin` up; `None` if the snapshot does not contain it. Cost: one look-up in the
    /// index.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes that it reads are damaged.
    pub fn origin(&self, origin: &Origin) -> Result<Option<OriginEntry<'_>>> {
        match self.find(origin.as_str().as_bytes())? {
            Some(entry) => self.origin_at(entry.row).map(Some),
            None => Ok(None),
        }
    }

    /// The entry of a canonical key. Verifies the blocks that [`View::find`] reads for it.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<Entry<'_>>> {
        let view = self.view();
        let hash = view.hash(key);
        let mut verified = Ok(());
        index::probed_buckets(view.index, hash, |bucket| {
            verified = self.verify_range(Section::Index, bucket * BUCKET_LEN, BUCKET_LEN);
            verified.is_ok()
        });
        verified?;
        for offset in index::candidates(view.index, hash, index::Load::Half) {
            self.verify_range(
                Section::Origins,
                offset as usize * 8,
                ENTRY_HEAD + key.len(),
            )?;
            if let Some(entry) = view.find_at(offset, key)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// The number of origins.
    pub fn origin_count(&self) -> u32 {
        (self.section(Section::OriginMetadata).len() / ORIGIN_METADATA_LEN) as u32
    }

    /// All origins, sorted by key.
    pub fn origins(&self) -> impl Iterator<Item = Result<OriginEntry<'_>>> + '_ {
        (0..self.origin_count()).map(|row| self.origin_at(row))
    }

    /// How long the robots.txt files of this snapshot are fresh, by its profile.
    ///
    /// # Errors
    /// As [`profile`](Self::profile).
    pub fn freshness(&self) -> Result<Freshness> {
        self.profile().map(Freshness::new)
    }

    /// The origins whose robots.txt should be fetched again at `time`, in seconds since 1970 (see
    /// [`Freshness::is_stale_at`]), sorted by key. Cost: one pass over the metadata of all origins.
    ///
    /// ```
    /// use robosieve::{Compiler, Snapshot};
    /// let mut compiler = Compiler::default();
    /// let url = "https://e.example/robots.txt";
    /// let time = "1970-01-01T00:00:00Z";
    /// let capture = format!(r#"{{"url": "{url}", "status": 404, "fetched_at": "{time}"}}"#);
    /// compiler.add_reader("memory", capture.as_bytes())?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let freshness = snapshot.freshness()?;
    /// assert_eq!(snapshot.stale_at(86_399, freshness).count(), 0);
    /// assert_eq!(snapshot.stale_at(86_400, freshness).next().unwrap()?.robots_url(), url);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn stale_at(
        &self,
        time: i64,
        freshness: Freshness,
    ) -> impl Iterator<Item = Result<OriginEntry<'_>>> + '_ {
        self.origins().filter(move |entry| match entry {
            Ok(entry) => freshness.is_stale_at(entry.outcome(), time),
            Err(_) => true,
        })
    }

    /// The origin in a row of [`origins`](Self::origins), from 0.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if there is no such row, or if the bytes
    /// of the snapshot contradict each other.
    pub fn origin_at(&self, row: u32) -> Result<OriginEntry<'_>> {
        let metadata = self.origin_metadata(row)?;
        let origins = self.section(Section::Origins);
        let start = metadata.entry as usize * 8;
        self.verify_range(Section::Origins, start, ENTRY_HEAD)?;
        let key_len = usize::from(Entry::key_len(origins, metadata.entry)?);
        self.verify_range(Section::Origins, start, ENTRY_HEAD + key_len)?;
        let entry = Entry::decode(origins, metadata.entry)?;
        if entry.row != row || !entry.is_of(&metadata.outcome) {
            return Err(Error::corrupt("an origin has the metadata of another"));
        }
        // Otherwise, entries of 64 KiB could begin every few bytes, so that a small file has
        // gigabytes of keys.
        let len = (ENTRY_HEAD + key_len).next_multiple_of(8);
        if start + len != self.entry_start(row + 1)? {
            return Err(Error::corrupt(format!(
                "the entry of origin {row} does not end where the next one begins"
            )));
        }
        Ok(OriginEntry {
            key: entry.key,
            row,
            file: (entry.file != NONE).then_some(entry.file),
            source: self.string(metadata.source)?,
            detail: self.string(metadata.detail)?,
            missing: None,
            metadata,
        })
    }

    /// The offset in the section `origins` where the entry of an origin begins; the length of the
    /// section after the last one.
    fn entry_start(&self, row: u32) -> Result<usize> {
        if row == self.origin_count() {
            return Ok(self.section(Section::Origins).len());
        }
        let at = row as usize * ORIGIN_METADATA_LEN;
        self.verify_range(Section::OriginMetadata, at, 4)?;
        let rows = self.section(Section::OriginMetadata);
        Ok(u32_at(rows, at, "the offset of an origin's entry")? as usize * 8)
    }

    /// A row of the section `origin metadata`, with its details.
    pub(crate) fn origin_metadata(&self, row: u32) -> Result<OriginMetadata> {
        self.verify_range(
            Section::OriginMetadata,
            row as usize * ORIGIN_METADATA_LEN,
            ORIGIN_METADATA_LEN,
        )?;
        if let Some(row) = OriginMetadata::details_row(self.section(Section::OriginMetadata), row)?
        {
            self.verify_range(
                Section::OriginDetails,
                row as usize * ORIGIN_DETAILS_LEN,
                ORIGIN_DETAILS_LEN,
            )?;
        }
        self.view().origin_metadata(row)
    }

    /// The digest that the archive stated for the robots.txt of an origin, or for its last good copy.
    pub(crate) fn payload(&self, row: u32) -> Result<Option<Digest>> {
        let payloads = self.section(Section::Payloads);
        if payloads.is_empty() {
            return Ok(None);
        }
        let at = row as usize * PAYLOAD_LEN;
        self.verify_range(Section::Payloads, at, PAYLOAD_LEN)?;
        let digest: Digest = crate::bytes::wire::array(payloads, at, "the digest of a payload")?;
        Ok((digest != NO_PAYLOAD).then_some(digest))
    }

    /// The redirects before the failures of the origin in a row. Cost: a binary search.
    pub(crate) fn earlier_redirect(&self, row: u32) -> Result<Option<EarlierRedirect<'_>>> {
        let mut low = 0;
        let mut high = self.earlier_redirect_count();
        while low < high {
            let middle = low + (high - low) / 2;
            let redirect = self.earlier_redirect_at(middle)?;
            match redirect.origin.cmp(&row) {
                Ordering::Equal => {
                    return Ok(Some(EarlierRedirect {
                        status: redirect.status,
                        end: self.string(redirect.end)?,
                        hops: redirect.hops,
                    }));
                }
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// The number of rows of the section `earlier redirects`.
    pub(super) fn earlier_redirect_count(&self) -> usize {
        self.section(Section::EarlierRedirects).len() / EARLIER_REDIRECT_LEN
    }

    pub(super) fn earlier_redirect_at(&self, position: usize) -> Result<EarlierRedirectRow> {
        self.verify_range(
            Section::EarlierRedirects,
            position * EARLIER_REDIRECT_LEN,
            EARLIER_REDIRECT_LEN,
        )?;
        EarlierRedirectRow::decode(self.section(Section::EarlierRedirects), position)
    }

    /// The number of distinct robots.txt files.
    pub(crate) fn file_count(&self) -> u32 {
        self.view().file_count()
    }

    /// The row of a robots.txt.
    pub(crate) fn file(&self, file: u32) -> Result<FileRow> {
        self.file_of(RuleSections::NEWEST, file)
    }

    /// A row of the files of these sections.
    fn file_of(&self, of: RuleSections, file: u32) -> Result<FileRow> {
        self.verify_range(of.files, file as usize * FILE_LEN, 2 * FILE_LEN)?;
        self.view_of(of).file(file)
    }

    /// Calls `each` with the number of each agent and the offset of the rules that a file of these
    /// sections has for it, or [`NONE`]. The blocks of the rules are verified before. The agents are
    /// given by their tokens in the order of the fallback.
    ///
    /// Cost: rules that several agents share are verified once.
    pub(crate) fn visit_rules_of(
        &self,
        of: RuleSections,
        file: u32,
        chains: &[TokenChain],
        mut each: impl FnMut(usize, u32) -> Result<()>,
    ) -> Result<()> {
        let file = self.file_of(of, file)?;
        let view = self.view_of(of);
        let start = file.named.0 as usize * NAMED_LEN;
        let len = file.named_len() as usize * NAMED_LEN;
        self.verify_range(of.named, start, len)?;
        let named = view.named(&file)?;
        // Most agents share their rules with others, and a union may have thousands of rule sets.
        let mut verified: Vec<u32> = Vec::new();
        for (agent, chain) in chains.iter().enumerate() {
            let offset = View::rules_for(&file, named, chain);
            if offset != NONE && !verified.contains(&offset) {
                self.verify_rules(of, offset)?;
                verified.push(offset);
            }
            each(agent, offset)?;
        }
        Ok(())
    }

    /// Verifies the blocks with the rules that a robots.txt has for agents.
    pub(crate) fn verify_rules_of(&self, file: u32, chains: &[TokenChain]) -> Result<()> {
        self.visit_rules_of(RuleSections::NEWEST, file, chains, |_, _| Ok(()))
    }

    /// Verifies the blocks of the rule set or union at an offset, and those of the sets in a union.
    fn verify_rules(&self, of: RuleSections, offset: u32) -> Result<()> {
        if let Rules::Union(parts) = self.verified_rules(of, offset)? {
            for part in parts {
                self.verified_rules(of, u32::from_le_bytes(*part))?;
            }
        }
        Ok(())
    }

    /// The rule set or union at an offset, whose blocks it verifies.
    fn verified_rules(&self, of: RuleSections, offset: u32) -> Result<Rules<'_>> {
        let start = offset as usize * 8;
        // The head states the length.
        self.verify_range(of.rule_sets, start, RuleSet::HEAD_LEN)?;
        let rules = self.view_of(of).rules(offset)?;
        self.verify_range(of.rule_sets, start, rules.encoded_len())?;
        Ok(rules)
    }

    /// The length of the condensed text of a robots.txt. Cost: reads the head of its frame.
    pub(crate) fn text_len(&self, file: u32) -> Result<u32> {
        text_len(self.frame(&self.file(file)?)?)
    }

    /// The stored text of a robots.txt: a zstd frame, compressed with
    /// [`dictionary`](Self::dictionary).
    pub(crate) fn frame(&self, row: &FileRow) -> Result<&[u8]> {
        let (start, end) = row.text;
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let len = usize::try_from(end)
            .unwrap_or(usize::MAX)
            .saturating_sub(start);
        self.verify_range(Section::Texts, start, len)?;
        bytes(
            self.section(Section::Texts),
            start,
            len,
            "a robots.txt's text",
        )
    }

    /// A decompressor for texts. Cost: copies the dictionary, which is short.
    pub(crate) fn unpacker(&self) -> Result<Unpacker> {
        if self.dictionary().len() > MAX_DICTIONARY {
            return Err(Error::corrupt(format!(
                "a dictionary of {} bytes",
                self.dictionary().len()
            )));
        }
        self.verify_section(Section::Dictionary)?;
        Unpacker::new(self.dictionary())
    }

    /// The dictionary that texts are compressed with.
    pub(crate) fn dictionary(&self) -> &[u8] {
        self.section(Section::Dictionary)
    }

    /// The condensed text of an origin's robots.txt, or else of its last good copy.
    ///
    /// It has the lines of known fields without comments. All other lines are blank, so line
    /// numbers are those of the file as served.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes contradict each other.
    pub fn robots_text(&self, entry: &OriginEntry<'_>) -> Result<Option<Vec<u8>>> {
        entry.file().map(|file| self.text(file)).transpose()
    }

    /// The crawl-delay of an origin for `agent`, as [`RobotsRef::crawl_delay`] finds it in
    /// [`robots_text`](Self::robots_text). `None` if the robots.txt gives none, and if the snapshot
    /// has neither a robots.txt of the origin nor the origin.
    ///
    /// The text is that of the newest answer, through redirects. If that answer is a failure, it is
    /// the last good copy, whose rules may apply too. Status policies play no part. Cost: one
    /// look-up in the index; decompresses and parses the text.
    ///
    /// ```
    /// use robosieve::{AgentMatch, Compiler, Origin, Snapshot};
    /// use std::time::Duration;
    /// let mut compiler = Compiler::default();
    /// let robots = b"User-agent: *\nCrawl-delay: 2.5\nSitemap: /map.xml";
    /// compiler.add_robots("https://e.example", robots)?;
    /// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    /// let origin = Origin::of(b"https://e.example/page").unwrap();
    /// let delay = snapshot.crawl_delay(&origin, &"FooBot".parse()?, AgentMatch::Extended)?;
    /// assert_eq!(delay, Some(Duration::from_millis(2500)));
    /// assert_eq!(snapshot.sitemaps(&origin)?, [b"/map.xml"]);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) if the bytes contradict each other.
    pub fn crawl_delay(
        &self,
        origin: &Origin,
        agent: &Agent,
        how: AgentMatch,
    ) -> Result<Option<Duration>> {
        let Some(text) = self.text_of_origin(origin)? else {
            return Ok(None);
        };
        Ok(RobotsRef::parse(&text, self.profile()?).crawl_delay(agent, how))
    }

    /// The sitemaps of an origin, as [`RobotsRef::sitemaps`] finds them in
    /// [`robots_text`](Self::robots_text): in the order of the file, as written, without
    /// repetitions. Empty if the snapshot has neither a robots.txt of the origin nor the origin.
    ///
    /// Resolve relative ones against the URL of the robots.txt: [`OriginEntry::source`] if there is
    /// one, or else [`OriginEntry::robots_url`]. Text and cost are those of
    /// [`crawl_delay`](Self::crawl_delay), which has an example.
    ///
    /// # Errors
    /// As [`crawl_delay`](Self::crawl_delay).
    pub fn sitemaps(&self, origin: &Origin) -> Result<Vec<Vec<u8>>> {
        let Some(text) = self.text_of_origin(origin)? else {
            return Ok(Vec::new());
        };
        Ok(RobotsRef::parse(&text, self.profile()?)
            .sitemaps()
            .map(|field| field.value().to_vec())
            .collect())
    }

    /// The condensed text of the origin's robots.txt, if the snapshot has both.
    fn text_of_origin(&self, origin: &Origin) -> Result<Option<Vec<u8>>> {
        match self.origin(origin)? {
            Some(entry) => self.robots_text(&entry),
            None => Ok(None),
        }
    }

    /// The string at an offset, in units of 4 bytes; `None` for [`NONE`].
    pub(crate) fn string(&self, offset: u32) -> Result<Option<&[u8]>> {
        if offset == NONE {
            return Ok(None);
        }
        let strings = self.section(Section::Strings);
        let at = offset as usize * 4;
        self.verify_range(Section::Strings, at, 2)?;
        let len = u16::from_le_bytes(crate::bytes::wire::array(strings, at, "a string's length")?);
        self.verify_range(Section::Strings, at + 2, usize::from(len))?;
        bytes(strings, at + 2, usize::from(len), "a string").map(Some)
    }

    /// The number of origins with each outcome, in the order of the classes.
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
