//! Checks a whole snapshot: every checksum, and every reference from one part to another.

use super::format::{NONE, Section};
use super::read::Snapshot;
use super::ruleset::Rules;
use super::text::Unpacker;
use super::wire::bytes;
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

impl<D: AsRef<[u8]> + Sync> Snapshot<D> {
    /// Checks every section's checksum and walks the whole structure, on all cores.
    ///
    /// Cost: reads the whole file once, decompresses every text and looks every origin up.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for the first thing found wrong.
    pub fn verify(&self) -> Result<()> {
        Section::ALL.par_iter().zip(self.table()).try_for_each(|(section, extent)| {
            let found = xxh3_64(self.section(*section));
            if found == extent.checksum {
                Ok(())
            } else {
                Err(Error::corrupt(format!("the section \"{}\" has another checksum", section.name())))
            }
        })?;
        self.verify_counts()?;
        self.verify_tokens()?;
        self.verify_origins()?;
        let starts = self.verify_rule_sets()?;
        self.verify_files(&starts)
    }

    fn verify_counts(&self) -> Result<()> {
        let counts = self.metadata()?.counts;
        let found = [u64::from(self.origin_count()), u64::from(self.file_count()), self.token_count()?];
        if found == [counts.origins, counts.files, counts.tokens] {
            Ok(())
        } else {
            Err(Error::corrupt("the metadata's counts are not those of the sections"))
        }
    }

    fn verify_tokens(&self) -> Result<()> {
        for number in 1..self.token_count()? {
            if self.token(number - 1)? >= self.token(number)? {
                return Err(Error::corrupt("the tokens are out of order"));
            }
        }
        Ok(())
    }

    /// Every origin is found under its key, and what it refers to is there.
    fn verify_origins(&self) -> Result<()> {
        (0..self.origin_count()).into_par_iter().try_for_each(|row| {
            let origin = self.origin_at(row)?;
            let key = origin.origin();
            let found = self.find(key.as_bytes())?.map(|entry| (entry.row, entry.class));
            if found != Some((row, origin.outcome().class)) {
                return Err(Error::corrupt(format!("the index does not lead to {key}")));
            }
            match origin.file().filter(|&file| file >= self.file_count()) {
                None => Ok(()),
                Some(_) => Err(Error::corrupt(format!("{key} refers to a robots.txt that is not there"))),
            }
        })
    }

    /// Walks the rule sets one behind the other; gives their places.
    fn verify_rule_sets(&self) -> Result<HashSet<u32>> {
        let total = self.section(Section::RuleSets).len();
        let (mut starts, mut at) = (HashSet::new(), 0);
        while at < total {
            let place = u32::try_from(at / 8).map_err(|_| Error::corrupt("the rule sets are too long"))?;
            let rules = self.rules(place)?;
            match rules {
                Rules::Set(set) => set.verify()?,
                Rules::Union(places) if places.iter().all(|place| starts.contains(&u32::from_le_bytes(*place))) => {}
                Rules::Union(_) => return Err(Error::corrupt("a union of rule sets that are not there")),
            }
            starts.insert(place);
            at += rules.encoded_len();
        }
        if starts.len() as u64 == self.metadata()?.counts.rule_sets {
            Ok(starts)
        } else {
            Err(Error::corrupt("the number of rule sets"))
        }
    }

    fn verify_files(&self, starts: &HashSet<u32>) -> Result<()> {
        let tokens = self.token_count()?;
        let dictionary = self.section(Section::Dictionary);
        let unpacker = || Unpacker::new(dictionary);
        (0..self.file_count()).into_par_iter().try_for_each_init(unpacker, |unpacker, number| {
            let file = self.file(number)?;
            let named = self.named(&file)?.iter().map(Self::named_row);
            let mut last = None;
            for row in named {
                if last >= Some(row.token) || u64::from(row.token) >= tokens || !starts.contains(&row.rule_set) {
                    return Err(Error::corrupt(format!("what robots.txt {number} says to its named agents")));
                }
                last = Some(row.token);
            }
            if file.global != NONE && !starts.contains(&file.global) {
                return Err(Error::corrupt(format!("the global rule set of robots.txt {number}")));
            }
            let start = usize::try_from(file.text_start).unwrap_or(usize::MAX);
            let frame = bytes(self.section(Section::Texts), start, file.text_len as usize, "a robots.txt's text")?;
            match unpacker {
                Ok(unpacker) => unpacker.unpack(frame, file.raw_len as usize).map(drop),
                Err(_) => Err(Error::corrupt("the dictionary")),
            }
        })
    }
}
