//! The access of agents to origins, computed once per robots.txt.

use super::batch::ExportValue;
use crate::error::Result;
use crate::file_pass::{AgentCoverage, Coverage, DecidedBy, FileReader};
use crate::judge::RuleSource;
use crate::judge::engine::Engine;
use std::collections::HashMap;
use std::rc::Rc;

/// The number of cached files. When full, the cache is cleared.
const MAX_CACHED: usize = 1 << 14;

/// The access of each agent to an origin.
pub(super) enum OriginAccess {
    /// The rules of a robots.txt apply.
    ByRules(Rc<Vec<AgentCoverage>>),
    /// The status policy decides, in the same way for all agents.
    ByStatus { refused: bool },
}

impl OriginAccess {
    pub(super) fn access(&self, agent: usize) -> ExportValue<'static> {
        let coverage = match self {
            Self::ByRules(agents) => agents.get(agent).map(|of| of.coverage),
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
                .map_or(ExportValue::Null, |of| named_value(of.decided_by)),
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

/// The value of a column such as `GPTBot.named`.
fn named_value(decided_by: DecidedBy) -> ExportValue<'static> {
    match decided_by {
        DecidedBy::Name => ExportValue::Text("name"),
        DecidedBy::Global => ExportValue::Text("*"),
        DecidedBy::NoGroup => ExportValue::Text("none"),
    }
}

/// Computes the access of the agents, once per robots.txt.
pub(super) struct AccessReader<'s> {
    engine: &'s Engine<'s>,
    cache: HashMap<u32, Rc<Vec<AgentCoverage>>>,
}

impl<'s> AccessReader<'s> {
    pub(super) fn new(engine: &'s Engine<'s>) -> Self {
        Self {
            engine,
            cache: HashMap::new(),
        }
    }

    pub(super) fn of_origin(
        &mut self,
        source: RuleSource,
        files: &mut FileReader<'_>,
    ) -> Result<OriginAccess> {
        let Some(file) = source.file else {
            return Ok(OriginAccess::ByStatus {
                refused: source.refused,
            });
        };
        if let Some(found) = self.cache.get(&file) {
            return Ok(OriginAccess::ByRules(Rc::clone(found)));
        }
        let agents = Rc::new(files.agent_coverages(file, self.engine)?);
        if self.cache.len() >= MAX_CACHED {
            self.cache.clear();
        }
        self.cache.insert(file, Rc::clone(&agents));
        Ok(OriginAccess::ByRules(agents))
    }
}
