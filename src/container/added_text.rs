//! Writes added values, as keys of JSON lines or as columns of a table.

use super::added::{AddedColumn, AddedColumns, AddedMemory};
use super::value_syntax::ValueSyntax;
use crate::agent::Agent;
use crate::error::Result;
use crate::judge::engine::Engine;
use crate::judge::{CrawlDelays, Judge, VerdictsRef};
use crate::url::Origin;
use std::io::Write;

/// The values that neighbouring lines share.
#[derive(Default)]
pub(super) struct SharedValues {
    text: Vec<u8>,
    /// The end of each added value in the text. One that each line has of its own is empty.
    ends: Vec<usize>,
}

impl SharedValues {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

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
            delays: columns
                .has(AddedColumn::CrawlDelay)
                .then(|| CrawlDelays::new(judge)),
            keys: agent_keys(judge.agents()),
        })
    }

    /// Whether each line of a run with these verdicts has a text of its own. Lines of one origin
    /// share all but the line that disallows them.
    pub(super) fn is_per_line(&self, verdicts: &VerdictsRef<'_>) -> bool {
        let has_lines = self.columns.has_lines()
            && verdicts.reason().is_by_rules()
            && !verdicts.are_all_allowed();
        has_lines || (self.columns.has(AddedColumn::Origin) && verdicts.row().is_none())
    }

    /// Appends the names of the columns.
    pub(super) fn push_names(&self, agents: &[Agent], names: &mut Vec<String>) {
        for column in self.columns.iter() {
            names.extend(column.column_names("robots_", agents));
        }
    }

    /// Writes the values that all lines with these verdicts share, each as an entry of `shared`.
    pub(super) fn write_shared(
        &self,
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        shared: &mut SharedValues,
    ) -> Result<()> {
        shared.clear();
        for column in self.columns.iter() {
            match column {
                AddedColumn::Reason => {
                    let out = &mut shared.text;
                    syntax.begin("reason", out);
                    syntax.text(verdicts.reason().name(), out);
                }
                AddedColumn::CrawlDelay => {
                    self.write_delays(verdicts, syntax, memory, &mut shared.text)?;
                }
                AddedColumn::List => {
                    let out = &mut shared.text;
                    syntax.begin("list", out);
                    match verdicts.list_match() {
                        Some(found) => syntax.text(&found.list_names(), out),
                        None => syntax.null(out),
                    }
                }
                AddedColumn::Entry => {
                    let out = &mut shared.text;
                    syntax.begin("entry", out);
                    match verdicts.list_match() {
                        Some(found) => syntax.text(&memory.entry(found)?, out),
                        None => syntax.null(out),
                    }
                }
                AddedColumn::Origin
                | AddedColumn::Rule
                | AddedColumn::Line
                | AddedColumn::Agent => {}
            }
            shared.ends.push(shared.text.len());
        }
        Ok(())
    }

    /// Writes the values of a URL in their order: those of `shared`, and its own.
    pub(super) fn write(
        &self,
        url: &[u8],
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        shared: &SharedValues,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut start = 0;
        for (column, end) in self.columns.iter().zip(&shared.ends) {
            match column {
                AddedColumn::Origin => write_origin(url, syntax, &mut memory.origin, out),
                AddedColumn::Rule | AddedColumn::Line | AddedColumn::Agent => {
                    self.write_lines(column, url, verdicts, syntax, memory, out)?;
                }
                AddedColumn::Reason
                | AddedColumn::CrawlDelay
                | AddedColumn::List
                | AddedColumn::Entry => out.extend_from_slice(&shared.text[start..*end]),
            }
            start = *end;
        }
        Ok(())
    }

    /// Writes the crawl-delay for each agent.
    fn write_delays(
        &self,
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(delays) = &self.delays else {
            return Ok(());
        };
        let of_agents = delays.of_agents(verdicts, &mut memory.delays)?;
        self.write_agents("crawl_delay", syntax, out, |agent, out| {
            match of_agents.get(agent).copied().flatten() {
                // At most twenty digits. Writing to memory never fails.
                Some(delay) => drop(write!(out, "{}", delay.as_secs_f64())),
                None => syntax.null(out),
            }
            Ok(())
        })
    }

    /// Writes a part of the line that disallows a URL, for each agent.
    fn write_lines(
        &self,
        part: AddedColumn,
        url: &[u8],
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.write_agents(part.name(), syntax, out, |agent, out| {
            let line = memory.refusing_line(self.engine, url, verdicts, agent)?;
            match (line, part) {
                (None, _) => syntax.null(out),
                // Writing to memory never fails.
                (Some(line), AddedColumn::Line) => drop(write!(out, "{}", line.number)),
                (Some(line), AddedColumn::Agent) => syntax.text(&line.agent, out),
                (Some(line), _) => syntax.text(&line.text, out),
            }
            Ok(())
        })
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

/// Writes the origin of a URL.
fn write_origin(url: &[u8], syntax: ValueSyntax, key: &mut Vec<u8>, out: &mut Vec<u8>) {
    key.clear();
    syntax.begin("origin", out);
    match Origin::append(url, key).then(|| std::str::from_utf8(key)) {
        Some(Ok(origin)) => syntax.text(origin, out),
        _ => syntax.null(out),
    }
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
