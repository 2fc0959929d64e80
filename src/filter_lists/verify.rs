//! Verification of a whole file of filter lists: every checksum, and every rule of its structure.
//!
//! Checksums detect accidental damage. The walk over the structure detects files whose checksums are
//! right but whose content is contradictory, as from a forger or from a faulty writer.

use super::builder::{encode_group, group_rule};
use super::entries::{PathEntry, is_stored_byte};
use super::entry::MAX_HOST;
use super::format::{
    CLASS_ROW_LEN, ClassRow, HOST_PATHS_LEN, HOSTS_PER_BLOCK, HostFilter, HostPathsRow, LABEL_END,
    PATH_ENTRY_LEN, PATH_GROUP_LEN, PathEntryRow, PathGroupRow, WORD_ROW_LEN, WordFilter, WordRow,
    class_width, hash_host, is_list_name, is_top_label,
};
use super::read::FilterLists;
use super::words::{MAX_WORD, fold, word_count, word_text};
use crate::bytes::wire::{bytes, u32_at};
use crate::error::{Error, Result};
use crate::matcher::rule_set::RuleSet;
use crate::robots::pattern::MAX_PRIORITY;
use crate::snapshot::format::{NONE, Section};
use crate::snapshot::index::{self, BUCKET_LEN, IndexBuilder, Load};
use rayon::prelude::*;
use std::collections::HashSet;
use std::ops::Range;

/// The blocks of hosts that a task verifies: 4,096 hosts.
const BLOCKS_PER_TASK: usize = 256;

impl FilterLists {
    /// Checks every checksum and every rule of the structure, on all threads of the current rayon
    /// pool. Call it for a file from elsewhere: it detects forged files too.
    ///
    /// What a verified file says about a URL is what its lists say, in the order of its metadata.
    /// Whether somebody has made these lists is not checked.
    ///
    /// Cost: reads the whole file, looks up every host, and encodes the rules of each group again.
    /// Never panics.
    ///
    /// # Errors
    /// [`DamagedLists`](crate::ErrorKind::DamagedLists) for the first contradiction.
    pub fn verify(&self) -> Result<()> {
        self.verify_checksums()?;
        self.verify_structure().map_err(|err| self.damage(err))
    }

    fn verify_structure(&self) -> Result<()> {
        let mut lists = self.metadata.lists.iter();
        if let Some(list) = lists.find(|list| !is_list_name(&list.name)) {
            return Err(Error::corrupt(format!(
                "the name {:?} of a list",
                list.name
            )));
        }
        let sets = self.verify_list_sets()?;
        let mut used_sets = vec![false; sets];
        let classes = self.verify_classes(&mut used_sets)?;
        let host_count = self.host_count()?;
        let host_sums = self.verify_hosts(host_count)?;
        self.verify_index(host_count, &host_sums)?;
        let listed: u64 = host_sums.iter().map(|sums| sums.listed).sum();
        let with_paths = self.verify_class_use(&classes)?;
        let groups = self.verify_host_paths(&with_paths)?;
        let entries = self.verify_groups(&groups, &mut used_sets)?;
        let words = self.verify_words(&mut used_sets)?;
        if let Some(set) = used_sets.iter().skip(1).position(|is_used| !is_used) {
            return Err(Error::corrupt(format!("no entry has the set {}", set + 1)));
        }
        let top_labels = host_sums.iter().map(|sums| sums.top_labels).sum();
        let metadata = &self.metadata;
        let stated = [metadata.hosts, metadata.paths, metadata.top_labels];
        if stated != [listed, entries, top_labels] {
            return Err(Error::corrupt(format!(
                "the metadata counts {} hosts, {} entries for paths and {} hosts of one label, the \
                 sections {listed}, {entries} and {top_labels}",
                stated[0], stated[1], stated[2]
            )));
        }
        let stated = metadata.words.as_ref();
        let stated = stated.map(|words| [words.words, words.soft_words, words.substrings]);
        if stated != Some(words).filter(|words| *words != [0; 3]) {
            return Err(Error::corrupt(format!(
                "the metadata counts other words than the {words:?} in the sections"
            )));
        }
        Ok(())
    }

    /// Checks the words; returns the numbers of hard words, soft words and substrings.
    fn verify_words(&self, used_sets: &mut [bool]) -> Result<[u64; 3]> {
        let rows = self.file.section(Section::Words);
        let texts = self.file.section(Section::WordTexts);
        let filter = self.file.section(Section::WordFilter);
        let mut counts = [0; 3];
        let count = word_count(&self.file);
        if count == 0 {
            verify_len("words", rows.len(), 0)?;
            verify_len("word texts", texts.len(), 0)?;
            return verify_len("word filter", filter.len(), 0).map(|()| counts);
        }
        verify_len(
            "words",
            rows.len(),
            (count as usize + 1).saturating_mul(WORD_ROW_LEN),
        )?;
        let mut tokens = Vec::new();
        let mut last: &[u8] = b"";
        for number in 0..count {
            let row = WordRow::decode(rows, number)?;
            let text = word_text(&self.file, number)?;
            let is_word = text.iter().all(|b| *b != 0 && fold(*b) == *b) && text.len() <= MAX_WORD;
            let is_at_start = number > 0 || row.text == 0;
            let sets = [row.word, row.soft_word, row.substring];
            if !is_word || !is_at_start || text <= last || sets == [0; 3] {
                return Err(Error::corrupt(format!("the word {number}")));
            }
            verify_word_row(rows, number, row)?;
            for (set, count) in sets.into_iter().zip(&mut counts) {
                if set != 0 {
                    use_set(used_sets, set)?;
                    *count += 1;
                }
            }
            if row.is_token() {
                tokens.push(text);
            }
            last = text;
        }
        let end = WordRow {
            // A longer section has no row with its end, which is compared here.
            text: u32::try_from(texts.len()).unwrap_or(NONE),
            ..WordRow::default()
        };
        verify_word_row(rows, count, end)?;
        verify_len(
            "word filter",
            filter.len(),
            WordFilter::encoded_len(tokens.len()),
        )?;
        match WordFilter::encode(&tokens) == filter {
            true => Ok(counts),
            false => Err(Error::corrupt("the word filter is not that of the words")),
        }
    }

    /// Checks the sets of lists; returns their number. The first is empty, and no other is.
    fn verify_list_sets(&self) -> Result<usize> {
        let rows = self.file.section(Section::ListSets);
        let count = u32_at(rows, 0, "the number of sets")? as usize;
        if !(1..=usize::from(u16::MAX) + 1).contains(&count) {
            return Err(Error::corrupt(format!("{count} sets of lists")));
        }
        let lists = &self.metadata.lists;
        if lists.len() > usize::from(u16::MAX) {
            return Err(Error::corrupt(format!("{} lists", lists.len())));
        }
        if let Some(list) = lists.iter().find(|list| list.exceptions > list.entries) {
            return Err(Error::corrupt(format!(
                "the list \"{}\" with more exceptions than entries",
                list.name.escape_debug()
            )));
        }
        if u32_at(rows, 4, "the end of a set")? != 0 {
            return Err(Error::corrupt("the set 0 has lists"));
        }
        let mut distinct = HashSet::new();
        let mut len = 0;
        for set in 1..count {
            // There are at most 65,536 sets.
            let of_set = self.lists_of(set as u16)?;
            let mut last = None;
            for list in of_set.iter().map(|list| u16::from_le_bytes(*list)) {
                if last >= Some(list) || usize::from(list) >= lists.len() {
                    return Err(Error::corrupt(format!("the lists of the set {set}")));
                }
                last = Some(list);
            }
            if last.is_none() || !distinct.insert(of_set) {
                return Err(Error::corrupt(format!(
                    "the set {set} is empty or repeated"
                )));
            }
            len += of_set.len();
        }
        let expected = 4 + 4 * count + 2 * len;
        verify_len("list sets", rows.len(), expected).map(|()| count)
    }

    /// Checks the rows of classes, and returns them.
    fn verify_classes(&self, used_sets: &mut [bool]) -> Result<Vec<ClassRow>> {
        let rows = self.file.section(Section::ClassRows);
        let (chunks, rest) = rows.as_chunks::<CLASS_ROW_LEN>();
        if !rest.is_empty() || chunks.len() > usize::from(u16::MAX) + 1 {
            return Err(Error::corrupt("a part of a class of hosts, or too many"));
        }
        let mut distinct = HashSet::new();
        let mut classes = Vec::with_capacity(chunks.len());
        for (number, chunk) in (0..=u16::MAX).zip(chunks) {
            let class = ClassRow::decode(rows, number)?;
            let mut encoded = Vec::with_capacity(CLASS_ROW_LEN);
            class.encode(&mut encoded);
            if encoded != chunk || !distinct.insert(class) {
                return Err(Error::corrupt(format!(
                    "the class {number} is repeated, or has unknown flags"
                )));
            }
            for set in class.sets().into_iter().filter(|set| *set != 0) {
                use_set(used_sets, set)?;
            }
            if !(class.has_entries() || class.has_deeper) {
                return Err(Error::corrupt(format!("the class {number} says nothing")));
            }
            classes.push(class);
        }
        Ok(classes)
    }

    /// Checks that the hosts use all classes; returns those with entries for paths.
    fn verify_class_use(&self, classes: &[ClassRow]) -> Result<Vec<u32>> {
        let mut used = vec![false; classes.len()];
        let mut with_paths = Vec::new();
        let width = class_width(self.file.section(Section::ClassRows));
        let of_hosts = self.file.section(Section::HostClasses).chunks_exact(width);
        for (host, class) in (0u32..).zip(of_hosts) {
            let class = match class {
                [low, high] => usize::from(u16::from_le_bytes([*low, *high])),
                bytes => bytes.first().copied().unwrap_or_default().into(),
            };
            // Reading the class of each host has checked that it is there.
            if let (Some(used), Some(class)) = (used.get_mut(class), classes.get(class)) {
                *used = true;
                if class.has_paths {
                    with_paths.push(host);
                }
            }
        }
        match used.iter().position(|is_used| !is_used) {
            Some(class) => Err(Error::corrupt(format!("no host has the class {class}"))),
            None => Ok(with_paths),
        }
    }

    /// Checks the texts of the hosts and the class of each.
    fn verify_hosts(&self, count: u32) -> Result<Vec<HostSums>> {
        let blocks = self.file.section(Section::HostBlocks);
        let block_count = count.div_ceil(HOSTS_PER_BLOCK) as usize;
        verify_len("host blocks", blocks.len(), block_count.saturating_mul(4))?;
        let texts = self.file.section(Section::HostTexts);
        if count == 0 {
            verify_len("host texts", texts.len(), 0)?;
        } else if u32_at(blocks, 0, "a block of hosts")? != 0 {
            return Err(Error::corrupt("bytes before the first host"));
        }
        (0..block_count.div_ceil(BLOCKS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let start = task * BLOCKS_PER_TASK;
                let blocks = start..block_count.min(start + BLOCKS_PER_TASK);
                self.verify_blocks(blocks, count)
            })
            .collect()
    }

    /// Checks the hosts of some blocks, with their neighbours.
    fn verify_blocks(&self, blocks: Range<usize>, count: u32) -> Result<HostSums> {
        let mut sums = HostSums::default();
        // There are fewer than 2^32 hosts.
        let first = (blocks.start as u32).saturating_mul(HOSTS_PER_BLOCK);
        let mut previous = match first.checked_sub(1) {
            Some(before) => Some(self.stored_host(before)?),
            None => None,
        };
        let mut hosts = Vec::new();
        for block in blocks {
            self.append_block(block, count, &mut hosts)?;
        }
        let mut numbers = first..;
        let mut rest = hosts.into_iter().peekable();
        while let (Some(host), Some(number)) = (rest.next(), numbers.next()) {
            let after;
            let next = match rest.peek() {
                Some(next) => Some(&**next),
                None if number + 1 < count => {
                    after = self.stored_host(number + 1)?;
                    Some(&*after)
                }
                None => None,
            };
            let neighbours = Neighbours {
                previous: previous.as_deref(),
                next,
            };
            self.verify_host(number, &host, &neighbours, &mut sums)?;
            previous = Some(host);
        }
        Ok(sums)
    }

    /// Decodes the hosts of a block, which ends where the next one begins.
    fn append_block(&self, block: usize, count: u32, hosts: &mut Vec<Vec<u8>>) -> Result<()> {
        let blocks = self.file.section(Section::HostBlocks);
        let texts = self.file.section(Section::HostTexts);
        let start = u32_at(blocks, block * 4, "a block of hosts")? as usize;
        let end = match blocks.len() / 4 == block + 1 {
            true => texts.len(),
            false => u32_at(blocks, block * 4 + 4, "a block of hosts")? as usize,
        };
        let mut rest = end
            .checked_sub(start)
            .and_then(|len| bytes(texts, start, len, "a block of hosts").ok())
            .ok_or_else(|| Error::corrupt("the blocks of hosts are out of order"))?;
        let first = block as u64 * u64::from(HOSTS_PER_BLOCK);
        let in_block = u64::from(count)
            .saturating_sub(first)
            .min(HOSTS_PER_BLOCK.into());
        let mut stored: Vec<u8> = Vec::new();
        for _ in 0..in_block {
            let host = rest.split_first_chunk().and_then(|([shared, len], later)| {
                let (own, later) = later.split_at_checked(usize::from(*len))?;
                let shared = stored.get(..usize::from(*shared))?;
                rest = later;
                Some([shared, own].concat())
            });
            stored = host.ok_or_else(|| Error::corrupt(format!("the block {block} of hosts")))?;
            hosts.push(stored.clone());
        }
        match rest.is_empty() {
            true => Ok(()),
            false => Err(Error::corrupt(format!(
                "bytes after the block {block} of hosts"
            ))),
        }
    }

    /// Checks a host against the hosts before and after it, and that look-ups find it.
    fn verify_host(
        &self,
        number: u32,
        host: &[u8],
        neighbours: &Neighbours<'_>,
        sums: &mut HostSums,
    ) -> Result<()> {
        let Neighbours { previous, next } = *neighbours;
        if host.is_empty() || host.len() > MAX_HOST {
            return Err(Error::corrupt(format!(
                "the host {number} has {} bytes",
                host.len()
            )));
        }
        if !host.iter().all(|b| is_stored_byte(*b)) {
            return Err(Error::corrupt(format!(
                "the host {number} has other characters than hosts of entries"
            )));
        }
        if previous >= Some(host) {
            return Err(Error::corrupt(format!("the host {number} is out of order")));
        }
        // The subdomains of a host follow it. So the parent is there if the host before is the
        // parent, or a subdomain of it, whose ancestors are there.
        let parent = memchr::memrchr(LABEL_END, host).and_then(|end| host.get(..end));
        let needs_parent = parent.filter(|parent| parent.contains(&LABEL_END));
        let has_parent = needs_parent.is_none_or(|parent| {
            previous.is_some_and(|previous| previous == parent || is_below(previous, parent))
        });
        if !has_parent {
            return Err(Error::corrupt(format!("the host {number} has no parent")));
        }
        let class = self.class_of(number)?;
        if class.has_deeper != next.is_some_and(|next| is_below(next, host)) {
            return Err(Error::corrupt(format!(
                "the class of the host {number} is wrong about its subdomains"
            )));
        }
        let text: Vec<u8> = host
            .iter()
            .rev()
            .map(|b| if *b == LABEL_END { b'.' } else { *b })
            .collect();
        let hash = hash_host(&text, self.file.seed());
        if self.find_hashed(&text, hash)? != Some(number) {
            return Err(Error::corrupt(format!(
                "the index does not lead to the host {number}"
            )));
        }
        let labels_end = memchr::memchr_iter(LABEL_END, host);
        if labels_end.count() < 2 {
            sums.suffixes.push(Suffix { hash, class });
        }
        sums.listed += u64::from(class.is_listed());
        sums.top_labels += u64::from(is_top_label(host));
        Ok(())
    }

    /// Checks that the index has one key for each host and no mark without need, and that the filter
    /// is that of the suffixes. Otherwise look-ups would be slower than they need to be, or miss.
    fn verify_index(&self, count: u32, host_sums: &[HostSums]) -> Result<()> {
        let buckets: &[[u8; BUCKET_LEN]] = self.file.section(Section::HostIndex).as_chunks().0;
        let expected = IndexBuilder::encoded_len(count as usize, Load::FourFifths);
        verify_len(
            "host index",
            self.file.section(Section::HostIndex).len(),
            expected,
        )?;
        let keys = index::count_keys(buckets)
            .ok_or_else(|| Error::corrupt("a marked bucket of the index that has room"))?;
        if keys != u64::from(count) {
            return Err(Error::corrupt(format!(
                "an index of {keys} keys for {count} hosts"
            )));
        }
        let suffixes: Vec<&Suffix> = host_sums.iter().flat_map(|sums| &sums.suffixes).collect();
        let keys = suffixes
            .iter()
            .map(|suffix| HostFilter::keys(&suffix.class));
        let len = HostFilter::words(keys.sum());
        let filter = self.file.section(Section::HostFilter);
        verify_len("host filter", filter.len(), len * 8)?;
        let mut words = vec![0; len];
        for suffix in suffixes {
            HostFilter::add(&mut words, suffix.hash, &suffix.class);
        }
        match words
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .eq(filter.iter().copied())
        {
            true => Ok(()),
            false => Err(Error::corrupt("the filter is not that of the hosts")),
        }
    }

    /// Checks the hosts with entries for paths; returns the first groups of each, and their number.
    fn verify_host_paths(&self, hosts: &[u32]) -> Result<Vec<u32>> {
        let rows = self.file.section(Section::HostPaths);
        let groups_len = self.file.section(Section::PathGroups).len();
        if hosts.is_empty() {
            verify_len("host paths", rows.len(), 0)?;
            verify_len("path groups", groups_len, 0)?;
            return Ok(Vec::new());
        }
        verify_len("host paths", rows.len(), (hosts.len() + 1) * HOST_PATHS_LEN)?;
        let mut first_groups = Vec::with_capacity(hosts.len() + 1);
        for (number, host) in hosts.iter().chain([&NONE]).enumerate() {
            let row = HostPathsRow::decode(rows, number)?;
            let is_after = match first_groups.last() {
                Some(last) => *last < row.first_group,
                None => row.first_group == 0,
            };
            if row.host != *host || !is_after {
                return Err(Error::corrupt(format!("the row {number} of host paths")));
            }
            first_groups.push(row.first_group);
        }
        let groups = first_groups.last().map_or(0, |groups| *groups as usize);
        verify_len(
            "path groups",
            groups_len,
            (groups + 1).saturating_mul(PATH_GROUP_LEN),
        )?;
        Ok(first_groups)
    }

    /// Checks the groups of all hosts with their entries; returns the number of entries.
    fn verify_groups(&self, first_groups: &[u32], used_sets: &mut [bool]) -> Result<u64> {
        let entries = self.file.section(Section::PathEntries);
        let rules = self.file.section(Section::PathRules);
        let texts = self.file.section(Section::PathTexts);
        let Some(groups) = first_groups.last() else {
            verify_len("path entries", entries.len(), 0)?;
            verify_len("path rules", rules.len(), 0)?;
            return verify_len("path texts", texts.len(), 0).map(|()| 0);
        };
        let mut firsts: HashSet<u32> = first_groups.iter().copied().collect();
        let mut walk = GroupWalk::default();
        for number in 0..*groups {
            // The groups of each host are in order of their own.
            if firsts.remove(&number) {
                walk.last = None;
            }
            self.verify_group(number, used_sets, &mut walk)?;
        }
        verify_len("path rules", rules.len(), walk.rules_len)?;
        let rows = self.file.section(Section::PathGroups);
        let mut end = Vec::new();
        PathGroupRow::end(walk.entries).encode(&mut end);
        PathEntryRow {
            // A longer section has no row with its end, which is compared here.
            text: u32::try_from(texts.len()).unwrap_or(NONE),
            set: 0,
            is_anchored: false,
            is_exception: false,
        }
        .encode(&mut end);
        let entries_len = (walk.entries as usize + 1).saturating_mul(PATH_ENTRY_LEN);
        verify_len("path entries", entries.len(), entries_len)?;
        let last_rows = [
            rows.last_chunk::<PATH_GROUP_LEN>()
                .map_or(&[][..], |row| row),
            entries
                .last_chunk::<PATH_ENTRY_LEN>()
                .map_or(&[][..], |row| row),
        ];
        if last_rows.concat() == end {
            Ok(walk.entries.into())
        } else {
            Err(Error::corrupt("the last group or the last entry for paths"))
        }
    }

    /// Checks a group: its entries, and that its rule set is theirs.
    fn verify_group(
        &self,
        number: u32,
        used_sets: &mut [bool],
        walk: &mut GroupWalk,
    ) -> Result<()> {
        let rows = self.file.section(Section::PathGroups);
        let group = PathGroupRow::decode(rows, number)?;
        let end = PathGroupRow::decode(rows, number + 1)?.first_entry;
        let mut encoded = Vec::with_capacity(PATH_GROUP_LEN);
        group.encode(&mut encoded);
        let at = (number as usize).saturating_mul(PATH_GROUP_LEN);
        let is_whole = encoded == bytes(rows, at, PATH_GROUP_LEN, "a group of paths")?;
        if !is_whole || !group.scheme.is_known() {
            return Err(Error::corrupt(format!(
                "the group {number} has unknown flags or schemes"
            )));
        }
        if group.first_entry != walk.entries || end <= group.first_entry {
            return Err(Error::corrupt(format!("the entries of the group {number}")));
        }
        walk.entries = end;
        let mut rules = Vec::new();
        for entry in group.first_entry..end {
            let pattern = self.verify_entry(entry, &group, used_sets)?;
            let row = pattern.row;
            // Those of one host are compared, and their lists are in the set of the row.
            let order = PathEntry::of_pattern(Vec::new(), &group, &pattern, 0);
            if walk.last.as_ref() >= Some(&order) {
                return Err(Error::corrupt(format!(
                    "the entry {entry} for paths is out of order"
                )));
            }
            walk.last = Some(order);
            rules.push(group_rule(pattern.text, row.is_anchored, row.is_exception));
        }
        let is_next = (group.rules as usize).checked_mul(8) == Some(walk.rules_len);
        let stored = self.file.section(Section::PathRules);
        let set = RuleSet::decode(stored, group.rules)?;
        let own = bytes(stored, walk.rules_len, set.encoded_len(), "a rule set")?;
        let expected = encode_group(rules);
        if !is_next || expected.ok().as_deref() != Some(own) {
            return Err(Error::corrupt(format!(
                "the rule set of the group {number} is not that of its entries"
            )));
        }
        walk.rules_len += own.len();
        Ok(())
    }

    /// Checks an entry of a group, without its order.
    fn verify_entry(
        &self,
        number: u32,
        group: &PathGroupRow,
        used_sets: &mut [bool],
    ) -> Result<super::paths::PathPattern<'_>> {
        let rows = self.file.section(Section::PathEntries);
        let pattern = self.path_pattern(number)?;
        let row = pattern.row;
        let mut encoded = Vec::with_capacity(PATH_ENTRY_LEN);
        row.encode(&mut encoded);
        let at = (number as usize).saturating_mul(PATH_ENTRY_LEN);
        let is_whole = encoded == bytes(rows, at, PATH_ENTRY_LEN, "an entry for paths")?;
        let is_at_start = number > 0 || row.text == 0;
        // A text that ends before it begins reads as an empty one.
        let is_pattern = matches!(pattern.text.first(), Some(b'/' | b'*'));
        let is_short = pattern.priority() <= MAX_PRIORITY - usize::from(row.is_exception);
        if !(is_whole && is_at_start && is_pattern && is_short) {
            return Err(Error::corrupt(format!(
                "the entry {number} for paths, or its text"
            )));
        }
        if group.has_wildcards != pattern.text.contains(&b'*') {
            return Err(Error::corrupt(format!(
                "the group of the entry {number} is wrong about wildcards"
            )));
        }
        if row.set == 0 {
            return Err(Error::corrupt(format!("the entry {number} has no lists")));
        }
        use_set(used_sets, row.set)?;
        Ok(pattern)
    }
}

/// What a task has found about its hosts.
#[derive(Debug, Default)]
struct HostSums {
    /// The hosts that the filter has.
    suffixes: Vec<Suffix>,
    /// The number of hosts with entries for the whole host.
    listed: u64,
    /// The number of names of one label.
    top_labels: u64,
}

/// A host that the filter has.
#[derive(Debug)]
struct Suffix {
    hash: u64,
    class: ClassRow,
}

/// The hosts before and after a host, if there are such.
struct Neighbours<'h> {
    previous: Option<&'h [u8]>,
    next: Option<&'h [u8]>,
}

/// The state of the walk over the groups.
#[derive(Debug, Default)]
struct GroupWalk {
    /// The entries so far.
    entries: u32,
    /// The bytes of the rule sets so far.
    rules_len: usize,
    /// The last entry of the same host, without host and list.
    last: Option<PathEntry>,
}

/// Checks that a row of words has these bytes.
fn verify_word_row(rows: &[u8], number: u32, row: WordRow) -> Result<()> {
    let mut encoded = Vec::with_capacity(WORD_ROW_LEN);
    row.encode(&mut encoded);
    let at = (number as usize).saturating_mul(WORD_ROW_LEN);
    match encoded == bytes(rows, at, WORD_ROW_LEN, "a word")? {
        true => Ok(()),
        false => Err(Error::corrupt(format!("the row {number} of words"))),
    }
}

/// Whether a stored host is a subdomain of another one.
fn is_below(host: &[u8], ancestor: &[u8]) -> bool {
    host.strip_prefix(ancestor)
        .is_some_and(|rest| rest.first() == Some(&LABEL_END))
}

/// Notes the use of a set, which must be there.
fn use_set(used: &mut [bool], set: u16) -> Result<()> {
    let count = used.len();
    match used.get_mut(usize::from(set)) {
        Some(used) => *used = true,
        None => return Err(Error::corrupt(format!("a set of lists {set} of {count}"))),
    }
    Ok(())
}

fn verify_len(section: &str, len: usize, expected: usize) -> Result<()> {
    if len == expected {
        Ok(())
    } else {
        Err(Error::corrupt(format!(
            "the section \"{section}\" has {len} bytes but should have {expected}"
        )))
    }
}
