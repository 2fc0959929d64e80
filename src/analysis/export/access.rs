//! The access of agents to origins, computed once per robots.txt and rule set.

use super::batch::ExportValue;
use crate::error::Result;
use crate::file_pass::{Coverage, coverage};
use crate::judge::AgentPlace;
use crate::judge::engine::Engine;
use crate::matcher::RuleCache;
use crate::snapshot::format::NONE;
use std::collections::HashMap;
use std::rc::Rc;

/// The number of cached coverages, and of cached files. When full, a cache is cleared.
const MAX_CACHED: usize = 1 << 14;

/// The access of each agent to an origin.
pub(super) enum OriginAccess {
    /// The rules of a robots.txt apply.
    ByRules(Rc<Vec<AgentAccess>>),
    /// The status policy decides, in the same way for all agents.
    ByStatus { refused: bool },
}

/// The access of an agent under the rules of a robots.txt.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentAccess {
    coverage: Coverage,
    named: &'static str,
}

impl OriginAccess {
    pub(super) fn access(&self, agent: usize) -> ExportValue<'static> {
        let coverage = match self {
            Self::ByRules(agents) => agents.get(agent).map(|access| access.coverage),
            Self::ByStatus { refused: true } => Some(Coverage::Wholly),
            Self::ByStatus { refused: false } => Some(Coverage::Not),
        };
        coverage.map_or(ExportValue::Null, |coverage| {
            ExportValue::Text(access_name(coverage))
        })
    }

    pub(super) fn named(&self, agent: usize) -> ExportValue<'static> {
        match self {
            Self::ByRules(agents) => agents
                .get(agent)
                .map_or(ExportValue::Null, |access| ExportValue::Text(access.named)),
            Self::ByStatus { .. } => ExportValue::Null,
        }
    }
}

/// The value of a column such as `GPTBot.access`.
fn access_name(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Not => "allowed",
        Coverage::Partly => "partial",
        Coverage::Wholly => "blocked",
    }
}

/// Computes the access of the agents, once per robots.txt and rule set.
pub(super) struct AccessReader<'s> {
    engine: &'s Engine<'s>,
    files: HashMap<u32, Rc<Vec<AgentAccess>>>,
    coverages: HashMap<u32, Coverage>,
    rule_cache: RuleCache,
}

impl<'s> AccessReader<'s> {
    pub(super) fn new(engine: &'s Engine<'s>) -> Self {
        Self {
            engine,
            files: HashMap::new(),
            coverages: HashMap::new(),
            rule_cache: RuleCache::default(),
        }
    }

    pub(super) fn of_origin(&mut self, row: u32) -> Result<OriginAccess> {
        let source = self.engine.rule_source(row)?;
        let Some(file) = source.file else {
            return Ok(OriginAccess::ByStatus {
                refused: source.refused,
            });
        };
        if let Some(found) = self.files.get(&file) {
            return Ok(OriginAccess::ByRules(Rc::clone(found)));
        }
        let places = self.engine.agent_places(file)?;
        let agents: Vec<AgentAccess> = places
            .iter()
            .map(|place| self.of_place(place))
            .collect::<Result<_>>()?;
        let agents = Rc::new(agents);
        if self.files.len() >= MAX_CACHED {
            self.files.clear();
        }
        self.files.insert(file, Rc::clone(&agents));
        Ok(OriginAccess::ByRules(agents))
    }

    fn of_place(&mut self, of: &AgentPlace) -> Result<AgentAccess> {
        let named = match of {
            AgentPlace { is_named: true, .. } => "name",
            AgentPlace { place: NONE, .. } => "none",
            AgentPlace { .. } => "*",
        };
        Ok(AgentAccess {
            coverage: self.coverage(of.place)?,
            named,
        })
    }

    /// How much the rules at a place refuse. Without rules nothing is refused.
    fn coverage(&mut self, place: u32) -> Result<Coverage> {
        if place == NONE {
            return Ok(Coverage::Not);
        }
        if let Some(found) = self.coverages.get(&place) {
            return Ok(*found);
        }
        let view = self.engine.snapshot().view();
        let found = coverage(
            &view,
            self.engine.profile(),
            place,
            &view.rules(place)?,
            &mut self.rule_cache,
        )?;
        if self.coverages.len() >= MAX_CACHED {
            self.coverages.clear();
        }
        self.coverages.insert(place, found);
        Ok(found)
    }
}
