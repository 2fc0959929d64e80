//! The access of agents to origins, computed once per robots.txt.

use super::batch::ExportValue;
use crate::error::Result;
use crate::file_pass::{AgentCoverage, Coverage, DecidedBy, FileReader};
use crate::judge::RuleSource;
use crate::judge::engine::Engine;
use std::collections::HashMap;
use std::rc::Rc;

/// The bytes of the cache, as estimated. When full, it is cleared: a URL with more versions would have
/// its texts parsed again for each agent.
const MAX_CACHED_BYTES: usize = 64 << 20;

/// The bytes of an entry without its agents.
const ENTRY_BYTES: usize = 96;

/// The access of each agent to an origin.
pub(super) enum OriginAccess {
    /// The rules of a robots.txt apply.
    ByRules(Rc<Vec<AgentCoverage>>),
    /// The status policy decides, in the same way for all agents.
    ByStatus { refused: bool },
}

impl OriginAccess {
    fn coverage(&self, agent: usize) -> Option<Coverage> {
        match self {
            Self::ByRules(agents) => agents.get(agent).map(|of| of.coverage),
            Self::ByStatus { refused: true } => Some(Coverage::Wholly),
            Self::ByStatus { refused: false } => Some(Coverage::Not),
        }
    }

    /// Whether everything is disallowed to an agent.
    pub(super) fn is_blocked(&self, agent: usize) -> bool {
        self.coverage(agent) == Some(Coverage::Wholly)
    }

    pub(super) fn access(&self, agent: usize) -> ExportValue<'static> {
        self.coverage(agent).map_or(ExportValue::Null, |coverage| {
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
        match source.file {
            Some(file) => Ok(OriginAccess::ByRules(self.of_file(file, files)?)),
            None => Ok(OriginAccess::ByStatus {
                refused: source.refused,
            }),
        }
    }

    /// The access by the rules of a robots.txt, which may be an old one of a history.
    pub(super) fn of_file(
        &mut self,
        file: u32,
        files: &mut FileReader<'_>,
    ) -> Result<Rc<Vec<AgentCoverage>>> {
        if let Some(found) = self.cache.get(&file) {
            return Ok(Rc::clone(found));
        }
        let agents = Rc::new(files.agent_coverages(file, self.engine)?);
        let entry_bytes = ENTRY_BYTES + size_of_val(agents.as_slice());
        if self.cache.len().saturating_mul(entry_bytes) >= MAX_CACHED_BYTES {
            self.cache.clear();
        }
        self.cache.insert(file, Rc::clone(&agents));
        Ok(agents)
    }
}
