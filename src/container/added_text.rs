//! Writes added values as keys of JSON lines.

use crate::agent::Agent;
use crate::container::added::AddedColumns;
use crate::error::Result;
use crate::judge::{CrawlDelayScratch, CrawlDelays, Judge, VerdictsRef};
use crate::url::Origin;
use std::io::Write;
use std::time::Duration;

/// Writes the keys of added values. The texts that are the same for all lines are made once.
pub(super) struct AddedText<'j> {
    columns: AddedColumns,
    /// Set if crawl-delays are written.
    delays: Option<CrawlDelays<'j>>,
    /// The JSON text before each agent's crawl-delay.
    delay_keys: Vec<String>,
    /// The text for URLs without crawl-delays, which are most.
    no_delays: Vec<u8>,
}

impl<'j> AddedText<'j> {
    /// `None` if nothing is added.
    pub(super) fn new(columns: AddedColumns, judge: &'j Judge) -> Option<Self> {
        if columns.is_empty() {
            return None;
        }
        let mut text = Self {
            columns,
            delays: columns.crawl_delay.then(|| CrawlDelays::new(judge)),
            delay_keys: delay_keys(judge.agents()),
            no_delays: Vec::new(),
        };
        let mut no_delays = Vec::new();
        text.write_delays(&[], &mut no_delays);
        text.no_delays = no_delays;
        Some(text)
    }

    /// Whether each line of a run with these verdicts has a text of its own. Lines of one origin
    /// share it.
    pub(super) fn is_per_line(&self, verdicts: &VerdictsRef<'_>) -> bool {
        self.columns.origin && verdicts.row().is_none()
    }

    /// Writes the values that all lines with these verdicts share: all but the origin.
    pub(super) fn write_shared(
        &self,
        verdicts: &VerdictsRef<'_>,
        memory: &mut CrawlDelayScratch,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if self.columns.reason {
            out.extend_from_slice(b",\"robots_reason\":\"");
            out.extend_from_slice(verdicts.reason().name().as_bytes());
            out.push(b'"');
        }
        if let Some(delays) = &self.delays {
            match delays.of_agents(verdicts, memory)? {
                [] => out.extend_from_slice(&self.no_delays),
                delays => self.write_delays(delays, out),
            }
        }
        Ok(())
    }

    /// Writes the origin of a URL, whose text goes through `key`.
    pub(super) fn write_origin(&self, url: &[u8], key: &mut Vec<u8>, out: &mut Vec<u8>) {
        if !self.columns.origin {
            return;
        }
        key.clear();
        out.extend_from_slice(b",\"robots_origin\":");
        match Origin::append(url, key).then(|| std::str::from_utf8(key)) {
            // A host may have a quote. Writing to memory never fails.
            Some(Ok(origin)) => drop(serde_json::to_writer(out, origin)),
            _ => out.extend_from_slice(b"null"),
        }
    }

    /// Writes the crawl-delay of each agent; `null` for those beyond the last.
    fn write_delays(&self, delays: &[Option<Duration>], out: &mut Vec<u8>) {
        if !self.columns.crawl_delay {
            return;
        }
        out.extend_from_slice(b",\"robots_crawl_delay\":{");
        for (agent, key) in self.delay_keys.iter().enumerate() {
            out.extend_from_slice(key.as_bytes());
            match delays.get(agent).copied().flatten() {
                // At most twenty digits. Writing to memory never fails.
                Some(delay) => drop(write!(out, "{}", delay.as_secs_f64())),
                None => out.extend_from_slice(b"null"),
            }
        }
        out.push(b'}');
    }
}

/// The JSON text before each agent's crawl-delay.
fn delay_keys(agents: &[Agent]) -> Vec<String> {
    let mut keys = Vec::with_capacity(agents.len());
    for agent in agents {
        let separator = if keys.is_empty() { "" } else { "," };
        let name = serde_json::Value::from(agent.to_string());
        keys.push(format!("{separator}{name}:"));
    }
    keys
}
