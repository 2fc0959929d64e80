//! The agent names of a snapshot, sorted: look-ups by number and by name.

use crate::agent::{Agent, AgentMatch};
use crate::bytes::wire::u64_at;
use crate::error::{Error, Result};
use crate::snapshot::format::{RuleSections, Section};
use crate::snapshot::read::Snapshot;
use crate::snapshot::view::TokenChain;
use std::cmp::Ordering;

/// The agent names that some robots.txt files have: a section `tokens`, or `old tokens`. Each read
/// verifies the blocks that it touches.
#[derive(Clone, Copy)]
pub(crate) struct TokenTable<'s> {
    snapshot: &'s Snapshot,
    section: Section,
}

impl<'s> TokenTable<'s> {
    /// The number of names.
    pub(crate) fn count(&self) -> Result<u64> {
        self.snapshot.verify_range(self.section, 0, 8)?;
        u64_at(
            self.snapshot.section(self.section),
            0,
            "the number of tokens",
        )
    }

    /// The name with this number, in lower case.
    pub(crate) fn get(&self, number: u64) -> Result<&'s [u8]> {
        let section = self.snapshot.section(self.section);
        let count = self.count()?;
        // The section has the count, `count` + 1 offsets, and the texts.
        let heads = count
            .checked_add(2)
            .and_then(|rows| usize::try_from(rows.checked_mul(8)?).ok());
        let heads = heads.ok_or_else(|| Error::corrupt("the number of tokens"))?;
        let at = usize::try_from(number)
            .ok()
            .and_then(|n| n.checked_mul(8)?.checked_add(8));
        let at = at.ok_or_else(|| Error::corrupt("a token's number"))?;
        self.snapshot.verify_range(self.section, at, 16)?;
        let start = u64_at(section, at, "a token's start")?;
        let end = u64_at(section, at + 8, "a token's end")?;
        let text = section.get(heads..).unwrap_or_default();
        let range = usize::try_from(start).unwrap_or(usize::MAX)
            ..usize::try_from(end).unwrap_or(usize::MAX);
        self.snapshot
            .verify_range(self.section, heads.saturating_add(range.start), range.len())?;
        text.get(range)
            .ok_or_else(|| Error::corrupt("a token's text"))
    }

    /// The number of a name in lower case, if a robots.txt has it. Cost: a binary search.
    fn number_of(&self, name: &[u8]) -> Result<Option<u32>> {
        let mut low = 0;
        let mut high = self.count()?;
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle)?.cmp(name) {
                Ordering::Equal => return Ok(u32::try_from(middle).ok()),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// The numbers of the names in `agent`'s chain that a robots.txt names, in the order of the
    /// chain.
    pub(crate) fn chain(&self, agent: &Agent, how: AgentMatch) -> Result<TokenChain> {
        let tokens = agent
            .keys(how)
            .filter_map(|key| self.number_of(key).transpose());
        Ok(TokenChain {
            tokens: tokens.collect::<Result<_>>()?,
            ignores_star: agent.ignores_star(),
        })
    }

    /// Checks that the names are sorted and distinct.
    pub(super) fn verify(&self) -> Result<()> {
        for number in 1..self.count()? {
            if self.get(number - 1)? >= self.get(number)? {
                return Err(Error::corrupt("the tokens are out of order"));
            }
        }
        Ok(())
    }
}

impl Snapshot {
    /// The agent names of the files of these sections.
    pub(crate) fn tokens_of(&self, rules: RuleSections) -> TokenTable<'_> {
        TokenTable {
            snapshot: self,
            section: rules.tokens,
        }
    }

    /// The agent names of the files that the newest answers have.
    fn tokens(&self) -> TokenTable<'_> {
        self.tokens_of(RuleSections::NEWEST)
    }

    /// The number of agent names in the snapshot.
    pub(crate) fn token_count(&self) -> Result<u64> {
        self.tokens().count()
    }

    /// The agent name with this number, in lower case.
    pub(crate) fn token(&self, number: u64) -> Result<&[u8]> {
        self.tokens().get(number)
    }

    /// The number of an agent name in lower case, if a robots.txt names it. Cost: a binary search.
    pub(crate) fn token_number(&self, name: &[u8]) -> Result<Option<u32>> {
        self.tokens().number_of(name)
    }

    /// The numbers of the names in `agent`'s chain that a robots.txt names, in the order of the
    /// chain.
    pub(crate) fn token_chain(&self, agent: &Agent, how: AgentMatch) -> Result<TokenChain> {
        self.tokens().chain(agent, how)
    }
}
