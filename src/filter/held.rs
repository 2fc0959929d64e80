//! What a judge tells of origins and robots.txt files by their numbers, for those who go through all of a snapshot.

use super::basis::Basis;
use super::judge::Judge;
use super::states::{OriginState, Standing};
use crate::error::{Error, Result};
use crate::matcher::{Ruling, StatusPolicy, ruling};
use crate::profile::Profile;
use crate::snapshot::Snapshot;

/// What decides about an origin, before agents are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub basis: Basis,
    /// The robots.txt whose rules hold, if any do.
    pub file: Option<u32>,
    /// Where none do: whether all is refused.
    pub refused: bool,
}

/// Rules at a place of the snapshot, and the numbers of the agents that obey them.
#[derive(Clone, Debug)]
pub(crate) struct Obeyed {
    pub place: u32,
    pub agents: Vec<usize>,
}

impl<'s, D: AsRef<[u8]>> Judge<'s, D> {
    pub(crate) fn snapshot(&self) -> &'s Snapshot<D> {
        self.snapshot
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    pub(crate) fn policy(&self) -> StatusPolicy {
        self.policy
    }

    /// How agents are matched, and the rest.
    pub(crate) fn options(&self) -> &super::JudgeOptions {
        &self.options
    }

    /// What decides about the origin in a row of the section `facts`.
    ///
    /// # Errors
    /// [`Corrupt`](crate::ErrorKind::Corrupt) where the snapshot's bytes contradict each other.
    pub(crate) fn held(&self, row: u32) -> Result<Held> {
        let entry = self.snapshot.origin_at(row)?;
        let outcome = entry.outcome();
        let ruling = ruling(self.policy, outcome, entry.has_last_good(), self.options.at);
        let file = match ruling {
            Ruling::Rules => entry.rules_file(),
            Ruling::LastGood => entry.last_good(),
            Ruling::Allow | Ruling::Disallow => None,
        };
        if file.is_none() && ruling == Ruling::Rules {
            return Err(Error::corrupt("an origin whose rules are nowhere"));
        }
        Ok(Held { basis: Basis::of(outcome, ruling), file, refused: ruling == Ruling::Disallow })
    }

    /// The rules of a robots.txt that agents obey; agents for whom it has none are left out.
    ///
    /// # Errors
    /// As [`held`](Self::held).
    pub(crate) fn obeyed(&self, file: u32) -> Result<Vec<Obeyed>> {
        let mut state = OriginState::new(Standing::ByGroups, self.agents().len());
        self.choose_rules(file, &mut state)?;
        let bits = state.bits.chunks_exact(self.words().max(1));
        let obeyed = state.groups.iter().zip(bits).map(|(group, bits)| {
            let obeys = |agent: &usize| bits[agent / 64] >> (agent % 64) & 1 == 1;
            Obeyed { place: group.place, agents: (0..self.agents().len()).filter(obeys).collect() }
        });
        Ok(obeyed.collect())
    }
}
