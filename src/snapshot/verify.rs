//! Verification of a whole snapshot: every checksum, and every reference between sections.
//!
//! Checksums detect accidental damage. The walk over the structure detects files whose checksums
//! are right but whose content is contradictory, as from a forger or from a faulty writer.

use crate::error::{Error, Result};
use crate::matcher::rule_set::Rules;
use crate::snapshot::format::{
    EARLIER_REDIRECT_LEN, FILE_LEN, NAMED_LEN, NONE, NamedRow, ORIGIN_DETAILS_LEN, OriginMetadata,
    PAYLOAD_LEN, RuleSections, Section,
};
use crate::snapshot::index;
use crate::snapshot::outcome::OutcomeClass;
use crate::snapshot::read::{OriginEntry, Snapshot};
use rayon::prelude::*;
use std::collections::HashSet;

/// The sections that judging reads: all except texts, their dictionary, and strings.
const JUDGING: [Section; 9] = [
    Section::Metadata,
    Section::Index,
    Section::Origins,
    Section::OriginMetadata,
    Section::OriginDetails,
    Section::Files,
    Section::Named,
    Section::RuleSets,
    Section::Tokens,
];

/// Origins per parallel task.
const ROWS_PER_TASK: u32 = 1 << 12;

impl Snapshot {
    /// Checks every section's checksum and all references between sections, on all threads of the
    /// current rayon pool.
    ///
    /// Cost: reads the whole file once, decompresses every text, and looks up every origin.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for the first contradiction.
    pub fn verify(&self) -> Result<()> {
        self.verify_and_map_texts(|_| ()).map(drop)
    }

    /// As [`verify`](Self::verify); returns the result of `of_text` for each robots.txt, and then for
    /// each old text of a history. Texts take the most time to decompress, so nobody should do it twice.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub(crate) fn verify_and_map_texts<T: Send>(
        &self,
        of_text: impl Fn(&[u8]) -> T + Sync + Send,
    ) -> Result<Vec<T>> {
        self.verify_checksums()?;
        self.sections.verify_padding()?;
        self.verify_counts()?;
        self.tokens_of(RuleSections::NEWEST).verify()?;
        self.verify_index()?;
        self.verify_origins()?;
        self.verify_details()?;
        self.verify_optional_sections()?;
        let rule_sets = self.verify_rule_sets(RuleSections::NEWEST)?;
        let counts = self.metadata()?.counts;
        if [rule_sets.offsets.len() as u64, rule_sets.rules] != [counts.rule_sets, counts.rules] {
            return Err(Error::corrupt(
                "the number of rule sets, or of the rules in them",
            ));
        }
        let old_texts = self.verify_history(&of_text)?;
        let mut mapped = self.verify_files(&rule_sets.offsets, of_text)?;
        mapped.extend(old_texts);
        Ok(mapped)
    }

    /// Checks the checksums of all blocks, on all threads of the current rayon pool, and that no two
    /// robots.txt files share their text or their agents.
    ///
    /// This detects a changed bit anywhere in a section, but not a forged file, whose checksums are
    /// right. [`verify`](Self::verify) also checks the references between sections.
    ///
    /// Cost: reads the whole file once, in order, which also loads it into the page cache.
    ///
    /// ```
    /// use robosieve::{Compiler, ErrorKind, Snapshot};
    /// let mut compiler = Compiler::default();
    /// compiler.add_robots("https://e.example", b"user-agent: *\ndisallow: /private")?;
    /// let mut bytes = compiler.finish()?.to_vec()?;
    /// Snapshot::new(bytes.clone())?.verify_checksums()?;
    /// let at = bytes.len() / 2;
    /// bytes[at] ^= 1;
    /// let err = Snapshot::new(bytes)?.verify_checksums().unwrap_err();
    /// assert!(matches!(err.kind(), ErrorKind::Corrupt { .. }));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) with the section and the position of a
    /// block whose checksum is wrong.
    pub fn verify_checksums(&self) -> Result<()> {
        self.verify_all()?;
        self.verify_file_rows()
    }

    /// Like [`verify_checksums`](Self::verify_checksums), but only for the sections that a
    /// [`Judge`](crate::Judge) needs for verdicts.
    ///
    /// It skips strings and the texts of robots.txt files, which explanations and preferences need.
    ///
    /// # Errors
    /// As [`verify_checksums`](Self::verify_checksums).
    pub fn verify_judging_checksums(&self) -> Result<()> {
        self.verify_sections(&JUDGING)?;
        self.verify_file_rows()
    }

    /// Checks that a search in the index visits the next bucket only where the writer's did, and
    /// that there is a slot for each origin. Otherwise every search could visit sixteen buckets.
    fn verify_index(&self) -> Result<()> {
        let found = index::count_keys(self.view().index)
            .ok_or_else(|| Error::corrupt("a marked bucket of the index that has room"))?;
        if found == u64::from(self.origin_count()) {
            Ok(())
        } else {
            Err(Error::corrupt(format!(
                "an index of {found} keys for {} origins",
                self.origin_count()
            )))
        }
    }

    fn verify_counts(&self) -> Result<()> {
        let counts = self.metadata()?.counts;
        let found = [
            u64::from(self.origin_count()),
            u64::from(self.file_count()),
            self.token_count()?,
        ];
        if found == [counts.origins, counts.files, counts.tokens] {
            Ok(())
        } else {
            Err(Error::corrupt(
                "the metadata's counts are not those of the sections",
            ))
        }
    }

    /// Checks that the origins are sorted, that the index leads to every one, and that their files
    /// exist. Reading an origin checks that its entry ends where the next one begins.
    fn verify_origins(&self) -> Result<()> {
        let count = self.origin_count();
        if count > 0 && self.origin_metadata(0)?.entry != 0 {
            return Err(Error::corrupt("bytes before the first origin"));
        }
        (0..count.div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .try_for_each(|task| {
                let start = task * ROWS_PER_TASK;
                let mut last = start
                    .checked_sub(1)
                    .map(|row| self.origin_at(row))
                    .transpose()?
                    .map(|origin| origin.key());
                for row in start..count.min(start.saturating_add(ROWS_PER_TASK)) {
                    let origin = self.origin_at(row)?;
                    if last >= Some(origin.key()) {
                        return Err(Error::corrupt("the origins are out of order"));
                    }
                    last = Some(origin.key());
                    self.verify_origin(row, &origin)?;
                }
                Ok(())
            })
    }

    fn verify_origin(&self, row: u32, origin: &OriginEntry<'_>) -> Result<()> {
        let outcome = origin.outcome();
        let found = self
            .view()
            .find(origin.key())?
            .filter(|entry| entry.row == row && entry.is_of(outcome));
        let Some(entry) = found else {
            return Err(Error::corrupt(format!(
                "the index does not lead to {}",
                origin.origin()
            )));
        };
        let has_rules = outcome.class != OutcomeClass::Rules || entry.file != NONE;
        let last_good = origin.last_good().unwrap_or(NONE);
        if has_rules && self.is_file_or_none(entry.file) && self.is_file_or_none(last_good) {
            Ok(())
        } else {
            Err(Error::corrupt(format!(
                "{} refers to a robots.txt that does not exist",
                origin.origin()
            )))
        }
    }

    fn is_file_or_none(&self, number: u32) -> bool {
        number == NONE || number < self.file_count()
    }

    /// Checks all rule sets and unions of these sections.
    pub(super) fn verify_rule_sets(&self, of: RuleSections) -> Result<VerifiedRuleSets> {
        let view = self.view_of(of);
        let offsets = view.rule_offsets()?;
        // Encoding the rules of each set again takes half of the whole verification.
        let rules = offsets
            .par_iter()
            .map(|&offset| match view.rules(offset)? {
                Rules::Set(set) => set
                    .verify(view.rule_bytes(offset)?)
                    .map(|()| set.len() as u64),
                Rules::Union(_) => Ok(0),
            })
            .try_reduce(|| 0, |a, b| Ok(a + b))?;
        let mut sets = HashSet::new();
        let mut unions = HashSet::new();
        for offset in offsets {
            match view.rules(offset)? {
                Rules::Set(_) => {
                    sets.insert(offset);
                }
                Rules::Union(offsets) => {
                    view.union_sets(offsets).try_for_each(|set| set.map(drop))?;
                    // A union that repeats its members would make judging by a short file slow.
                    let mut members = HashSet::new();
                    let mut offsets = offsets.iter().map(|offset| u32::from_le_bytes(*offset));
                    if !offsets.all(|offset| sets.contains(&offset) && members.insert(offset)) {
                        return Err(Error::corrupt(
                            "a union with a missing or repeated rule set",
                        ));
                    }
                    unions.insert(offset);
                }
            }
        }
        sets.extend(unions);
        Ok(VerifiedRuleSets {
            offsets: sets,
            rules,
        })
    }

    /// Checks that the rows of details are those of the origins that refer to details, in order.
    fn verify_details(&self) -> Result<()> {
        let rows = self.section(Section::OriginMetadata);
        let mut next = 0;
        for row in 0..self.origin_count() {
            if let Some(details) = OriginMetadata::details_row(rows, row)? {
                if details != next {
                    return Err(Error::corrupt(
                        "the details of the origins are out of order",
                    ));
                }
                next += 1;
            }
        }
        if next as usize * ORIGIN_DETAILS_LEN == self.section(Section::OriginDetails).len() {
            Ok(())
        } else {
            Err(Error::corrupt("details of no origin"))
        }
    }

    /// Checks the sections that may be absent: a digest for each origin, and earlier redirects of
    /// failing origins without a last good copy, in order.
    fn verify_optional_sections(&self) -> Result<()> {
        let payloads = self.section(Section::Payloads).len();
        if payloads > 0 && payloads != self.origin_count() as usize * PAYLOAD_LEN {
            return Err(Error::corrupt("the digests of another number of origins"));
        }
        let redirects = self.section(Section::EarlierRedirects).len();
        if !redirects.is_multiple_of(EARLIER_REDIRECT_LEN) {
            return Err(Error::corrupt("a part of an earlier redirect"));
        }
        let mut last = None;
        for position in 0..self.earlier_redirect_count() {
            let redirect = self.earlier_redirect_at(position)?;
            if last >= Some(redirect.origin) || redirect.origin >= self.origin_count() {
                return Err(Error::corrupt("the earlier redirects are out of order"));
            }
            last = Some(redirect.origin);
            let metadata = self.origin_metadata(redirect.origin)?;
            if !metadata.outcome.class.is_failure()
                || metadata.last_good != NONE
                || !(1..=5).contains(&redirect.hops)
            {
                return Err(Error::corrupt(
                    "an earlier redirect of an origin that has none",
                ));
            }
            self.string(redirect.end)?;
        }
        Ok(())
    }

    /// Checks that the rows of files are in order: then their texts and their named agents do not
    /// overlap, and a small file cannot stand for a huge one.
    fn verify_file_rows(&self) -> Result<()> {
        self.verify_rows_of(RuleSections::NEWEST, self.section(Section::Texts).len())
    }

    /// The same for the files of these sections, whose texts have this length.
    pub(super) fn verify_rows_of(&self, of: RuleSections, texts: usize) -> Result<()> {
        let view = self.view_of(of);
        let mut text = 0;
        let mut named = 0;
        for number in 0..view.file_count() {
            let file = view.file(number)?;
            if (file.text.0, file.named.0) != (text, named)
                || file.text.1 < text
                || file.named.1 < named
            {
                return Err(Error::corrupt("the robots.txt files are out of order"));
            }
            text = file.text.1;
            named = file.named.1;
        }
        // The last row ends where the sections do, so no byte belongs to no file.
        let rows = (u64::from(view.file_count()) + 1) * FILE_LEN as u64;
        let ends = [text, u64::from(named) * NAMED_LEN as u64, rows];
        let [named, files] = [of.named, of.files].map(|section| self.section(section).len());
        if ends == [texts, named, files].map(|len| len as u64) {
            Ok(())
        } else {
            Err(Error::corrupt("texts or named agents of no robots.txt"))
        }
    }

    /// Checks every robots.txt: its names are sorted, its rule sets exist, and its text
    /// decompresses. Returns the result of `of_text` for each.
    fn verify_files<T: Send>(
        &self,
        rule_sets: &HashSet<u32>,
        of_text: impl Fn(&[u8]) -> T + Sync + Send,
    ) -> Result<Vec<T>> {
        self.verify_agents(RuleSections::NEWEST, rule_sets)?;
        (0..self.file_count())
            .into_par_iter()
            .map_init(
                || self.unpacker(),
                |unpacker, number| {
                    let file = self.view().file(number)?;
                    match unpacker {
                        Ok(unpacker) => unpacker
                            .unpack(self.frame(&file)?)
                            .map(|text| of_text(&text)),
                        Err(_) => Err(Error::corrupt("the dictionary")),
                    }
                },
            )
            .collect()
    }

    /// Checks that the names of each file of these sections are sorted and exist, and so do its rule
    /// sets.
    pub(super) fn verify_agents(&self, of: RuleSections, rule_sets: &HashSet<u32>) -> Result<()> {
        let view = self.view_of(of);
        let tokens = self.tokens_of(of).count()?;
        (0..view.file_count())
            .into_par_iter()
            .try_for_each(|number| {
                let file = view.file(number)?;
                // Names are found by binary search, so a wrong order would hide some of them.
                let mut last = None;
                for row in view.named(&file)?.iter().map(NamedRow::decode) {
                    if last >= Some(row.token)
                        || u64::from(row.token) >= tokens
                        || !rule_sets.contains(&row.rule_set)
                    {
                        return Err(Error::corrupt(format!(
                            "the named agents of robots.txt {number}"
                        )));
                    }
                    last = Some(row.token);
                }
                if file.global != NONE && !rule_sets.contains(&file.global) {
                    return Err(Error::corrupt(format!(
                        "the global rule set of robots.txt {number}"
                    )));
                }
                Ok(())
            })
    }
}

/// The rule sets of some sections, which contradict nothing.
pub(super) struct VerifiedRuleSets {
    /// The offsets of all sets and unions.
    pub offsets: HashSet<u32>,
    /// The number of rules in the sets.
    pub rules: u64,
}
