//! A cache of coverages. Most files refer to the same few rule sets.

use crate::error::Result;
use crate::file_pass::coverage::{Coverage, coverage};
use crate::matcher::RuleCache;
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use crate::snapshot::format::NONE;
use std::collections::HashMap;

/// The number of cached coverages. When full, the cache is cleared.
const MAX_CACHED: usize = 1 << 14;

/// Computes coverages, once for each rule set. One per thread.
pub(super) struct CoverageCache<'s> {
    snapshot: &'s Snapshot,
    /// The profile of the snapshot, once it is needed.
    profile: Option<Profile>,
    /// By the offsets of the rule sets.
    coverages: HashMap<u32, Coverage>,
    rules: RuleCache,
}

impl<'s> CoverageCache<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            profile: None,
            coverages: HashMap::new(),
            rules: RuleCache::default(),
        }
    }

    /// How much the rules at an offset disallow. Without rules ([`NONE`]) nothing is disallowed.
    pub(super) fn of_rules(&mut self, offset: u32) -> Result<Coverage> {
        if offset == NONE {
            return Ok(Coverage::Not);
        }
        if let Some(cached) = self.coverages.get(&offset) {
            return Ok(*cached);
        }
        let profile = match self.profile {
            Some(profile) => profile,
            None => *self.profile.insert(self.snapshot.profile()?),
        };
        let view = self.snapshot.view();
        let rules = view.rules(offset)?;
        let found = coverage(&view, profile, offset, &rules, &mut self.rules)?;
        if self.coverages.len() >= MAX_CACHED {
            self.coverages.clear();
        }
        self.coverages.insert(offset, found);
        Ok(found)
    }
}
