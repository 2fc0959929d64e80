//! What other findings leave open: groups that may have other rules or names once a file is mended.
//!
//! A rule that is superfluous in a file as it stands may be needed once another line is mended.
//! Below, `/a` repeats what `/` says, until the misspelt line begins a group of its own. Then `/a`
//! is all that is left for `*`.
//!
//! ```text
//! User-agent: *
//! Disallow: /a
//! User-agnet: GPTBot
//! Disallow: /
//! ```
//!
//! An author mends findings in any order, and removes lines as the first step or as the last. So a
//! line is called superfluous only if no order makes a difference: no other finding can change the
//! paths of the rule. [`Code::mended_part`](super::Code::mended_part) says what a finding can
//! change. If that is the whole file, no line is called superfluous.

use crate::bytes::trim;
use crate::lint::code::MendedPart;
use crate::lint::finding::UnsettledLine;
use crate::lint::patterns;
use crate::lint::readings::{Audience, Rank, Reading, names_of};
use crate::profile::Profile;
use crate::robots::pattern::Pattern;
use crate::robots::{Group, Rule, RuleKind, field};
use bstr::ByteSlice;
use std::collections::{HashMap, HashSet};

/// A reading of a rule that may change.
pub(super) struct OpenReading {
    pub reading: Reading<'static>,
    /// The rank of the rule once it is mended, if only its rank changes.
    pub mended_rank: Option<Rank>,
}

/// A name of a group that its author probably means otherwise.
pub(super) struct UnsettledName {
    pub group: usize,
    /// The names that the finding suggests, in lower case; empty if it suggests none.
    pub suggested: Vec<Vec<u8>>,
}

/// The groups whose rules are not called superfluous, because they may change.
#[derive(Default)]
pub(super) struct UnsettledGroups {
    /// Any group may change.
    pub is_whole_file: bool,
    /// Groups that may have other rules, and those whose agents obey one of them too.
    pub groups: HashSet<usize>,
    /// Groups that may have another name than today. Their rules must be superfluous without those
    /// of other groups too.
    pub alone: HashSet<usize>,
    /// For each group, the paths that its open rules match now or once they are mended. Other rules
    /// do not depend on them.
    pub open_rules: HashMap<usize, Vec<OpenReading>>,
    /// The lines of open rules.
    pub open_lines: HashSet<u32>,
    /// Groups with a line that may begin another group, to which the rules below it then belong.
    pub divided: HashSet<usize>,
}

impl UnsettledGroups {
    /// The groups that these lines and names leave open.
    pub(super) fn new(
        lines: &[UnsettledLine],
        names: &[UnsettledName],
        groups: &[Group<'_>],
        audiences: &[Audience<'_, '_>],
    ) -> Self {
        let mut unsettled = Self::default();
        let mut changed: HashSet<usize> = HashSet::new();
        for unsettled_line in lines {
            let Some(group) = group_of(groups, unsettled_line.line) else {
                unsettled.is_whole_file |= unsettled_line.part == MendedPart::File;
                continue;
            };
            match unsettled_line.part {
                MendedPart::File => unsettled.is_whole_file = true,
                MendedPart::NewGroup => drop(unsettled.divided.insert(group)),
                MendedPart::Rules => {
                    unsettled.open_lines.insert(unsettled_line.line);
                    match unsettled_line.readings(&groups[group]) {
                        Some(readings) => {
                            let open = unsettled.open_rules.entry(group).or_default();
                            open.extend(readings);
                        }
                        None => drop(changed.insert(group)),
                    }
                }
                MendedPart::Nothing | MendedPart::Names => {}
            }
        }
        // A suggested name that another group has, or may get, joins the rules of both.
        let mut named: HashMap<&[u8], HashSet<usize>> = HashMap::new();
        for UnsettledName { group, suggested } in names {
            unsettled.alone.insert(*group);
            for name in suggested {
                named.entry(name).or_default().insert(*group);
            }
        }
        for (index, group) in groups.iter().enumerate() {
            for name in group.agents().iter().flat_map(names_of) {
                if let Some(joined) = named.get_mut(name) {
                    joined.insert(index);
                }
            }
        }
        let joined = named.into_values().filter(|joined| joined.len() > 1);
        changed.extend(joined.flatten());

        let renamed = std::mem::take(&mut unsettled.alone);
        for audience in audiences {
            let own = &audience.groups;
            // Groups that share a name today may not share it then. Of three, any two may.
            if own.iter().any(|group| renamed.contains(group)) {
                match own.len() {
                    1 | 2 => unsettled.alone.extend(own),
                    _ => unsettled.groups.extend(own),
                }
            }
            if own.iter().any(|group| changed.contains(group)) {
                unsettled.groups.extend(own);
            }
            // Once it is divided, some of its agents no longer obey its rules together with those
            // of their other groups. Its own rules stay together.
            let divided = &unsettled.divided;
            let mut own_divided = own.iter().filter(|group| divided.contains(group));
            match (own_divided.next(), own_divided.next()) {
                (Some(first), None) => {
                    let others = own.iter().filter(|group| *group != first);
                    unsettled.groups.extend(others);
                }
                (Some(_), Some(_)) => unsettled.groups.extend(own),
                (None, _) => {}
            }
        }
        unsettled
    }
}

impl UnsettledGroups {
    /// Whether another finding may change a rule, or the group that it belongs to.
    pub(super) fn is_open(&self, group: usize, line: u32) -> bool {
        self.is_whole_file
            || self.open_lines.contains(&line)
            || self.groups.contains(&group)
            || self.divided.contains(&group)
    }
}

impl UnsettledLine {
    /// The readings of a rule before and after it is mended; `None` if the latter are not known.
    fn readings(&self, group: &Group<'_>) -> Option<Vec<OpenReading>> {
        let rules = group.rules();
        let at = rules.binary_search_by_key(&self.line, Rule::line).ok()?;
        let rule = &rules[at];
        let now = patterns::value(rule);
        let start = self.keeps_start.then(|| {
            let end = now
                .iter()
                .position(|byte| *byte == b'%' || !byte.is_ascii());
            let end = end.or_else(|| now.rfind_byte(b'/').map(|slash| slash + 1));
            now[..end.unwrap_or(0)].to_vec()
        });
        let text = self
            .fix
            .as_ref()
            .and_then(|fix| fix.mended_text(rule.text()));
        let start = start.or_else(|| self.keeps_paths.then(|| now.to_vec()));
        let mended = match (&text, start) {
            (Some(text), _) => field::split(trim(text), Profile::Google)?.1.to_vec(),
            (None, Some(start)) => start,
            (None, None) => return None,
        };
        // A fix that adds lines adds rules.
        if mended.contains(&b'\n') {
            return None;
        }
        let is_allow = rule.kind() == RuleKind::Allow;
        let mut readings = Vec::new();
        for value in [now, &mended] {
            for profile in [Profile::Google, Profile::Rfc9309] {
                for pattern in Pattern::of_rule(value, is_allow, profile).iter() {
                    if pattern.can_match() {
                        let reading = Reading::new(pattern.clone().into_owned(), rule.kind());
                        readings.push(OpenReading {
                            reading,
                            mended_rank: None,
                        });
                    }
                }
            }
        }
        // The readings of the mended path follow those of the path, in the same order.
        if self.changes_rank && self.fix.is_some() && readings.len() % 2 == 0 {
            let mended = readings.split_off(readings.len() / 2);
            for (open, mended) in readings.iter_mut().zip(mended) {
                open.mended_rank = Some(mended.reading.rank);
            }
        }
        Some(readings)
    }
}

/// The group that a line belongs to.
fn group_of(groups: &[Group<'_>], line: u32) -> Option<usize> {
    let first_line = |group: &Group<'_>| group.agents().first().map_or(0, |agent| agent.line());
    groups
        .partition_point(|group| first_line(group) <= line)
        .checked_sub(1)
}
