//! The agents that two snapshots are compared for, and how much a pair of files disallows to each.
//!
//! The compared agents are the requested ones or, without any, all names in either snapshot. They
//! are numbered: requested agents in their order, names in the order of their texts over both
//! snapshots.

use crate::analysis::diff::DiffOptions;
use crate::analysis::diff::origins::FilePair;
use crate::error::{Error, Result};
use crate::file_pass::{AgentCoverage, AgentNames, ComparedRules, Coverage, DecidedBy, FileReader};
use crate::snapshot::Snapshot;
use crate::snapshot::view::TokenChain;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// One of the two snapshots, and the compared agents in it.
pub(super) struct DiffSide<'s> {
    pub snapshot: &'s Snapshot,
    names: AgentNames<'s>,
    /// The number of each name among the names of both snapshots, in ascending order.
    pub numbers: Vec<u32>,
    /// For each requested agent the names of its chain that the snapshot has.
    chains: Vec<TokenChain>,
}

/// Two snapshots and the agents that they are compared for.
pub(super) struct Comparison<'s> {
    pub old: DiffSide<'s>,
    pub new: DiffSide<'s>,
    pub agent_count: usize,
    /// Whether the agents were requested; else they are all names.
    pub is_by_request: bool,
}

/// How much each file of a pair disallows to an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoverageChange {
    old: AgentCoverage,
    new: AgentCoverage,
}

/// The kind of a [`Transition`](super::Transition). Every change of the coverage is of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransitionKind {
    /// Every URL is disallowed now, and was not.
    Refused,
    /// Every URL was disallowed, and is not now.
    Allowed,
    /// Some URLs are disallowed now, and none was.
    NewlyPartly,
    /// Some URLs were disallowed, and none is now.
    NoLongerPartly,
}

impl TransitionKind {
    /// All kinds, in the order of their numbers.
    pub(super) const ALL: [Self; 4] = [
        Self::Refused,
        Self::Allowed,
        Self::NewlyPartly,
        Self::NoLongerPartly,
    ];
}

impl CoverageChange {
    /// The kind of the transition, if this change is one.
    pub(super) fn kind(&self) -> Option<TransitionKind> {
        use Coverage::{Not, Partly, Wholly};
        match (self.old.coverage, self.new.coverage) {
            (Not, Not) | (Partly, Partly) | (Wholly, Wholly) => None,
            (Not | Partly, Wholly) => Some(TransitionKind::Refused),
            (Wholly, Not | Partly) => Some(TransitionKind::Allowed),
            (Not, Partly) => Some(TransitionKind::NewlyPartly),
            (Partly, Not) => Some(TransitionKind::NoLongerPartly),
        }
    }

    /// Whether either file has a group for the agent.
    pub(super) fn is_named(&self) -> bool {
        [self.old, self.new]
            .iter()
            .any(|side| side.decided_by == DecidedBy::Name)
    }

    /// Whether the file that disallows more has a group for the agent.
    pub(super) fn is_by_name(&self) -> bool {
        let refuses_more = if self.new.coverage > self.old.coverage {
            self.new
        } else {
            self.old
        };
        refuses_more.decided_by == DecidedBy::Name
    }
}

/// A thread's readers for both files of a pair.
pub(super) struct PairReader<'s> {
    pub old: FileReader<'s>,
    pub new: FileReader<'s>,
    /// The rule sets that were compared.
    pub compared: ComparedRules,
}

/// How much a robots.txt disallows to agents that it does not name, and to each that it names.
struct FileCoverage {
    global: Coverage,
    named: Vec<(u32, Coverage)>,
}

impl<'s> DiffSide<'s> {
    fn new(snapshot: &'s Snapshot, options: &DiffOptions) -> Result<Self> {
        let chains = options
            .agents
            .iter()
            .map(|agent| snapshot.token_chain(agent, options.agent_match))
            .collect::<Result<_>>()?;
        Ok(Self {
            snapshot,
            names: AgentNames::new(snapshot)?,
            numbers: Vec::new(),
            chains,
        })
    }

    fn file_coverage(
        &self,
        file: Option<u32>,
        reader: &mut FileReader<'s>,
        is_by_request: bool,
    ) -> Result<FileCoverage> {
        let Some(file) = file else {
            return Ok(FileCoverage {
                global: Coverage::Not,
                named: Vec::new(),
            });
        };
        // Without a global group, nothing is disallowed to the agents that the file does not name.
        let global = reader.global_coverage(file)?.unwrap_or(Coverage::Not);
        let mut named = Vec::new();
        if is_by_request {
            for (agent, chain) in (0..).zip(&self.chains) {
                if let Some(coverage) = reader.first_named_coverage(file, chain)? {
                    named.push((agent, coverage));
                }
            }
        } else {
            for of in reader.named_coverages(file, &self.names)? {
                let number = self.numbers.get(of.name as usize);
                let number = number.ok_or_else(|| Error::corrupt("a named agent's name"))?;
                named.push((*number, of.coverage));
            }
        }
        Ok(FileCoverage { global, named })
    }
}

/// The changes between the two files of a pair.
pub(super) struct PairChanges {
    /// For agents that neither file names.
    pub unnamed: CoverageChange,
    /// For each agent that either file names; of requested agents, for all. By their numbers.
    pub by_agent: BTreeMap<u32, CoverageChange>,
}

impl<'s> Comparison<'s> {
    pub(super) fn new(old: &'s Snapshot, new: &'s Snapshot, options: &DiffOptions) -> Result<Self> {
        let mut old = DiffSide::new(old, options)?;
        let mut new = DiffSide::new(new, options)?;
        let name_count = number_names(&mut old, &mut new)?;
        let is_by_request = !options.agents.is_empty();
        let agent_count = if is_by_request {
            options.agents.len()
        } else {
            name_count
        };
        Ok(Self {
            old,
            new,
            agent_count,
            is_by_request,
        })
    }

    pub(super) fn reader(&self) -> PairReader<'s> {
        PairReader {
            old: FileReader::new(self.old.snapshot),
            new: FileReader::new(self.new.snapshot),
            compared: ComparedRules::default(),
        }
    }

    /// The changes between the files of a pair.
    pub(super) fn compare(
        &self,
        pair: &FilePair,
        reader: &mut PairReader<'s>,
    ) -> Result<PairChanges> {
        let old = self
            .old
            .file_coverage(pair.old, &mut reader.old, self.is_by_request)?;
        let new = self
            .new
            .file_coverage(pair.new, &mut reader.new, self.is_by_request)?;
        // An agent that one file does not name obeys its global groups.
        let unnamed = CoverageChange {
            old: AgentCoverage {
                coverage: old.global,
                decided_by: DecidedBy::Global,
            },
            new: AgentCoverage {
                coverage: new.global,
                decided_by: DecidedBy::Global,
            },
        };
        let requested = if self.is_by_request {
            self.agent_count as u32
        } else {
            0
        };
        let mut by_agent: BTreeMap<u32, CoverageChange> =
            (0..requested).map(|number| (number, unnamed)).collect();
        for (number, coverage) in old.named {
            by_agent.entry(number).or_insert(unnamed).old = AgentCoverage {
                coverage,
                decided_by: DecidedBy::Name,
            };
        }
        for (number, coverage) in new.named {
            by_agent.entry(number).or_insert(unnamed).new = AgentCoverage {
                coverage,
                decided_by: DecidedBy::Name,
            };
        }
        Ok(PairChanges { unnamed, by_agent })
    }

    pub(super) fn name(&self, number: u32) -> Result<&'s [u8]> {
        for side in [&self.old, &self.new] {
            if let Ok(token) = side.numbers.binary_search(&number) {
                return side.snapshot.token(token as u64);
            }
        }
        Err(Error::corrupt("the number of a name"))
    }
}

/// Numbers the names of both snapshots by merging the two sorted lists. Returns how many there are.
fn number_names(old: &mut DiffSide<'_>, new: &mut DiffSide<'_>) -> Result<usize> {
    let mut next = 0;
    loop {
        let before = old.numbers.len();
        let after = new.numbers.len();
        let order = match (before < old.names.len(), after < new.names.len()) {
            (false, false) => return Ok(next as usize),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (true, true) => old
                .snapshot
                .token(before as u64)?
                .cmp(new.snapshot.token(after as u64)?),
        };
        if order.is_le() {
            old.numbers.push(next);
        }
        if order.is_ge() {
            new.numbers.push(next);
        }
        next += 1;
    }
}
