//! Writes added values, as keys of JSON lines or as columns of a table.

use super::added::{AddedColumn, AddedColumns, AddedMemory};
use super::value_syntax::{ValueSyntax, key_text};
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
    columns: Vec<NamedColumn>,
    /// Whether lines of robots.txt files are written, and origins.
    has_lines: bool,
    has_origins: bool,
    engine: &'j Engine<'j>,
    /// Set if crawl-delays are written.
    delays: Option<CrawlDelays<'j>>,
    /// The JSON text before each agent's value.
    keys: Vec<String>,
}

/// A value, and the JSON text of its key.
struct NamedColumn {
    column: AddedColumn,
    key: String,
}

impl<'j> AddedText<'j> {
    /// `None` if nothing is added. The names of keys begin with `prefix`.
    pub(super) fn new(columns: AddedColumns, judge: &'j Judge, prefix: &str) -> Option<Self> {
        if columns.is_empty() {
            return None;
        }
        let named = columns.iter().map(|column| NamedColumn {
            column,
            key: key_text(&format!("{prefix}{column}")),
        });
        Some(Self {
            columns: named.collect(),
            has_lines: columns.has_lines(),
            has_origins: columns.has(AddedColumn::Origin),
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
        let has_lines =
            self.has_lines && verdicts.reason().is_by_rules() && !verdicts.are_all_allowed();
        has_lines || (self.has_origins && verdicts.row().is_none())
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
        for NamedColumn { column, key } in &self.columns {
            match column {
                AddedColumn::Reason => {
                    let out = &mut shared.text;
                    syntax.begin(key, out);
                    syntax.text(verdicts.reason().name(), out);
                }
                AddedColumn::CrawlDelay => {
                    self.write_delays(key, verdicts, syntax, memory, &mut shared.text)?;
                }
                AddedColumn::List => {
                    let out = &mut shared.text;
                    syntax.begin(key, out);
                    match verdicts.list_match() {
                        Some(found) => syntax.text(&found.list_names(), out),
                        None => syntax.null(out),
                    }
                }
                AddedColumn::Entry => {
                    let out = &mut shared.text;
                    syntax.begin(key, out);
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
        for (named, end) in self.columns.iter().zip(&shared.ends) {
            match named.column {
                AddedColumn::Origin => {
                    write_origin(&named.key, url, syntax, &mut memory.origin, out);
                }
                AddedColumn::Rule | AddedColumn::Line | AddedColumn::Agent => {
                    self.write_lines(named, url, verdicts, syntax, memory, out)?;
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
        key: &str,
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(delays) = &self.delays else {
            return Ok(());
        };
        let of_agents = delays.of_agents(verdicts, &mut memory.delays)?;
        self.write_agents(key, syntax, out, |agent, out| {
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
        named: &NamedColumn,
        url: &[u8],
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedMemory,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.write_agents(&named.key, syntax, out, |agent, out| {
            let line = memory.refusing_line(self.engine, url, verdicts, agent)?;
            match (line, named.column) {
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
        key_text: &str,
        syntax: ValueSyntax,
        out: &mut Vec<u8>,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        if syntax == ValueSyntax::Keys {
            syntax.begin(key_text, out);
            out.push(b'{');
        }
        for (agent, key) in self.keys.iter().enumerate() {
            match syntax {
                ValueSyntax::Keys => out.extend_from_slice(key.as_bytes()),
                ValueSyntax::Columns(_) => syntax.begin(key_text, out),
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
fn write_origin(
    key: &str,
    url: &[u8],
    syntax: ValueSyntax,
    origin: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    origin.clear();
    syntax.begin(key, out);
    match Origin::append(url, origin).then(|| std::str::from_utf8(origin)) {
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
