//! Writes added values, as keys of JSON lines or as columns of a table.

use super::added::{AddedColumns, AddedMemory};
use super::value_syntax::ValueSyntax;
use crate::agent::Agent;
use crate::error::Result;
use crate::judge::engine::Engine;
use crate::judge::{CrawlDelays, Judge, RefusingLine, VerdictsRef};
use crate::url::Origin;
use std::io::Write;

/// Writes the added values. The texts that are the same for all lines are made once.
pub(super) struct AddedText<'j> {
    columns: AddedColumns,
    engine: &'j Engine<'j>,
    /// Set if crawl-delays are written.
    delays: Option<CrawlDelays<'j>>,
    /// The JSON text before each agent's value.
    keys: Vec<String>,
}

impl<'j> AddedText<'j> {
    /// `None` if nothing is added.
    pub(super) fn new(columns: AddedColumns, judge: &'j Judge) -> Option<Self> {
        if columns.is_empty() {
            return None;
        }
        Some(Self {
            columns,
            engine: judge.engine(),
            delays: columns.crawl_delay.then(|| CrawlDelays::new(judge)),
            keys: agent_keys(judge.agents()),
        })
    }

    /// Whether each line of a run with these verdicts has a text of its own. Lines of one origin
    /// share all but the line that disallows them.
    pub(super) fn is_per_line(&self, verdicts: &VerdictsRef<'_>) -> bool {
        let has_lines = self.columns.has_lines()
            && verdicts.reason().is_by_rules()
            && !verdicts.are_all_allowed();
        has_lines || (self.columns.origin && verdicts.row().is_none())
    }

    /// Appends the names of the columns.
    pub(super) fn push_names(&self, agents: &[Agent], names: &mut Vec<String>) {
        let columns = self.columns;
        for (is_added, name) in [(columns.origin, "origin"), (columns.reason, "reason")] {
            if is_added {
                names.push(format!("robots_{name}"));
            }
        }
        for (is_added, name) in [
            (columns.crawl_delay, "crawl_delay"),
            (columns.rule, "rule"),
            (columns.line, "line"),
            (columns.agent, "agent"),
        ] {
            if is_added {
                names.extend(agents.iter().map(|agent| format!("robots_{name}_{agent}")));
            }
        }
        for (is_added, name) in [(columns.list, "list"), (columns.entry, "entry")] {
            if is_added {
                names.push(format!("robots_{name}"));
            }
        }
    }

    /// Writes the values that all lines with these verdicts share, after the origin.
    pub(super) fn write_shared(
        &self,
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if self.columns.reason {
            syntax.begin("reason", out);
            syntax.text(verdicts.reason().name(), out);
        }
        if let Some(delays) = &self.delays {
            let of_agents = delays.of_agents(verdicts, &mut memory.delays)?;
            self.write_agents("crawl_delay", syntax, out, |agent, out| {
                match of_agents.get(agent).copied().flatten() {
                    // At most twenty digits. Writing to memory never fails.
                    Some(delay) => drop(write!(out, "{}", delay.as_secs_f64())),
                    None => syntax.null(out),
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Writes the origin of a URL, whose text goes through `key`.
    pub(super) fn write_origin(
        &self,
        url: &[u8],
        syntax: ValueSyntax,
        key: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) {
        if !self.columns.origin {
            return;
        }
        key.clear();
        syntax.begin("origin", out);
        match Origin::append(url, key).then(|| std::str::from_utf8(key)) {
            Some(Ok(origin)) => syntax.text(origin, out),
            _ => syntax.null(out),
        }
    }

    /// Writes the lines that disallow a URL.
    pub(super) fn write_lines(
        &self,
        url: &[u8],
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let columns = self.columns;
        for (is_added, name, write) in [
            (columns.rule, "rule", write_rule as WriteLine),
            (columns.line, "line", write_number),
            (columns.agent, "agent", write_agent),
        ] {
            if is_added {
                self.write_agents(name, syntax, out, |agent, out| {
                    match memory.refusing_line(self.engine, url, verdicts, agent)? {
                        Some(line) => write(line, syntax, out),
                        None => syntax.null(out),
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Writes the filter lists that name a URL, and their entry.
    pub(super) fn write_listed(
        &self,
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let found = verdicts.list_match();
        if self.columns.list {
            syntax.begin("list", out);
            match &found {
                Some(found) => syntax.text(&found.list_names(), out),
                None => syntax.null(out),
            }
        }
        if self.columns.entry {
            syntax.begin("entry", out);
            match found {
                Some(found) => syntax.text(&memory.entry(found)?, out),
                None => syntax.null(out),
            }
        }
        Ok(())
    }

    /// Writes a value for each agent.
    fn write_agents(
        &self,
        name: &str,
        syntax: ValueSyntax,
        out: &mut Vec<u8>,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        if syntax == ValueSyntax::Keys {
            syntax.begin(name, out);
            out.push(b'{');
        }
        for (agent, key) in self.keys.iter().enumerate() {
            match syntax {
                ValueSyntax::Keys => out.extend_from_slice(key.as_bytes()),
                ValueSyntax::Columns(_) => syntax.begin(name, out),
            }
            write(agent, out)?;
        }
        if syntax == ValueSyntax::Keys {
            out.push(b'}');
        }
        Ok(())
    }
}

/// Writes a part of the line that disallows a URL.
type WriteLine = fn(&RefusingLine, ValueSyntax, &mut Vec<u8>);

fn write_rule(line: &RefusingLine, syntax: ValueSyntax, out: &mut Vec<u8>) {
    syntax.text(&line.text, out);
}

fn write_number(line: &RefusingLine, _: ValueSyntax, out: &mut Vec<u8>) {
    // Writing to memory never fails.
    let _ = write!(out, "{}", line.number);
}

fn write_agent(line: &RefusingLine, syntax: ValueSyntax, out: &mut Vec<u8>) {
    syntax.text(&line.agent, out);
}

/// The JSON text before each agent's value.
fn agent_keys(agents: &[Agent]) -> Vec<String> {
    let mut keys = Vec::with_capacity(agents.len());
    for agent in agents {
        let separator = if keys.is_empty() { "" } else { "," };
        let name = serde_json::Value::from(agent.to_string());
        keys.push(format!("{separator}{name}:"));
    }
    keys
}
