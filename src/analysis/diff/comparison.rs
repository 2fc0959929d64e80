//! Whom two robots.txt files are compared for: every name in either snapshot, or the agents that were asked for.

use crate::analysis::census::names::{Names, Reader};
use crate::analysis::coverage::Coverage;
use crate::analysis::diff::DiffOptions;
use crate::analysis::diff::origins::Pair;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use crate::snapshot::format::{FileRow, NONE};
use crate::snapshot::view::View;
use std::cmp::Ordering;

/// One of the snapshots, and which subjects its names are.
pub(super) struct Side<'s> {
    pub snapshot: &'s Snapshot,
    pub names: Names<'s>,
    /// For each name its number among those of both snapshots; rising.
    pub numbers: Vec<u32>,
    /// For each agent that was asked for, the names of its chain that are here.
    chains: Vec<Vec<u32>>,
}

/// Who is compared.
pub(super) struct Subjects<'s> {
    pub old: Side<'s>,
    pub new: Side<'s>,
    /// How many: names, or agents.
    pub count: usize,
    /// Whether agents were asked for.
    pub asked: bool,
}

/// How much is refused to a subject before and after, and whether either robots.txt names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub old: Coverage,
    pub new: Coverage,
    pub named: bool,
}

/// Which way an origin turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Refused,
    Allowed,
}

impl Change {
    /// Which way it turned, if it did.
    pub(super) fn turn(&self) -> Option<Turn> {
        match (self.old == Coverage::Wholly, self.new == Coverage::Wholly) {
            (false, true) => Some(Turn::Refused),
            (true, false) => Some(Turn::Allowed),
            _ => None,
        }
    }
}

/// What a thread reads both files of a pair with.
pub(super) type Readers<'n, 's> = (Reader<'n, 's>, Reader<'n, 's>);

/// What a robots.txt says: to all, and to subjects by number.
struct Said {
    global: Coverage,
    named: Vec<(u32, Coverage)>,
}

impl<'s> Side<'s> {
    fn new(snapshot: &'s Snapshot, options: &DiffOptions) -> Result<Self> {
        let chain = |agent| snapshot.agent_tokens(agent, options.agent_match);
        let chains = options.agents.iter().map(chain).collect::<Result<_>>()?;
        Ok(Self { snapshot, names: Names::new(snapshot)?, numbers: Vec::new(), chains })
    }

    /// The row of a file; `None` for [`NONE`].
    pub(super) fn file(&self, file: u32) -> Result<Option<FileRow>> {
        if file == NONE { Ok(None) } else { self.snapshot.view().file(file).map(Some) }
    }

    fn said(&self, file: u32, reader: &mut Reader<'_, 's>, asked: bool) -> Result<Said> {
        let Some(file) = self.file(file)? else {
            return Ok(Said { global: Coverage::Not, named: Vec::new() });
        };
        let global = reader.coverage(file.global)?;
        let mut named = Vec::new();
        if asked {
            let rows = self.snapshot.view().named(&file)?;
            for (agent, chain) in (0..).zip(&self.chains) {
                if let Some(place) = View::first_named(rows, chain) {
                    named.push((agent, reader.coverage(place)?));
                }
            }
        } else {
            for row in reader.named(&file)? {
                let number = self.numbers.get(row.token as usize);
                let number = number.ok_or_else(|| Error::corrupt("a named agent's name"))?;
                named.push((*number, reader.coverage(row.rule_set)?));
            }
        }
        Ok(Said { global, named })
    }
}

impl<'s> Subjects<'s> {
    pub(super) fn new(old: &'s Snapshot, new: &'s Snapshot, options: &DiffOptions) -> Result<Self> {
        let (mut old, mut new) = (Side::new(old, options)?, Side::new(new, options)?);
        let names = number(&mut old, &mut new)?;
        let asked = !options.agents.is_empty();
        Ok(Self { old, new, count: if asked { options.agents.len() } else { names }, asked })
    }

    pub(super) fn readers(&self) -> Readers<'_, 's> {
        (Reader::new(&self.old.names), Reader::new(&self.new.names))
    }

    /// Tells `each` what changed for every subject that either file of a pair names, or, of agents that were asked for, for all; gives what
    /// changed for those whom neither names.
    pub(super) fn compare(
        &self,
        pair: &Pair,
        (old_reader, new_reader): &mut Readers<'_, 's>,
        mut each: impl FnMut(u32, Change) -> Result<()>,
    ) -> Result<Change> {
        let old = self.old.said(pair.old, old_reader, self.asked)?;
        let new = self.new.said(pair.new, new_reader, self.asked)?;
        let others = Change { old: old.global, new: new.global, named: false };
        let (mut before, mut after) = (old.named.iter().peekable(), new.named.iter().peekable());
        let mut next = 0;
        loop {
            let number = match (before.peek(), after.peek()) {
                (None, None) => break,
                (Some((number, _)), None) | (None, Some((number, _))) => *number,
                (Some((first, _)), Some((second, _))) => *first.min(second),
            };
            if self.asked {
                (next..number).try_for_each(|unnamed| each(unnamed, others))?;
                next = number + 1;
            }
            let said = |found: Option<&(u32, Coverage)>, global| found.map_or(global, |(_, reach)| *reach);
            let old = said(before.next_if(|(other, _)| *other == number), old.global);
            let new = said(after.next_if(|(other, _)| *other == number), new.global);
            each(number, Change { old, new, named: true })?;
        }
        if self.asked {
            (next..self.count as u32).try_for_each(|unnamed| each(unnamed, others))?;
        }
        Ok(others)
    }

    /// The name of a number.
    pub(super) fn name(&self, number: u32) -> Result<&'s [u8]> {
        match self.old.numbers.binary_search(&number) {
            Ok(token) => self.old.snapshot.token(token as u64),
            Err(_) => match self.new.numbers.binary_search(&number) {
                Ok(token) => self.new.snapshot.token(token as u64),
                Err(_) => Err(Error::corrupt("the number of a name")),
            },
        }
    }
}

/// Numbers the names of both snapshots, which are sorted in each, and tells how many there are.
fn number(old: &mut Side<'_>, new: &mut Side<'_>) -> Result<usize> {
    let mut next = 0;
    loop {
        let (before, after) = (old.numbers.len(), new.numbers.len());
        let order = match (before < old.names.len(), after < new.names.len()) {
            (false, false) => return Ok(next as usize),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (true, true) => old.snapshot.token(before as u64)?.cmp(new.snapshot.token(after as u64)?),
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
