//! The values that annotating adds to the verdicts.

use crate::agent::Agent;
use crate::error::Result;
use crate::filter_lists::{ListDecision, ListMatch};
use crate::judge::engine::Engine;
use crate::judge::{CrawlDelayScratch, RefusingLine, RefusingLines, Verdict, VerdictsRef};
use crate::named_value::{NamedValue, named_values};
use std::collections::HashMap;
use std::sync::Arc;

/// A value that [`Job::annotate`](crate::job::Job::annotate) writes after the verdicts, and
/// [`Job::filter`](crate::job::Job::filter) with the disallowed records.
///
/// JSON lines get keys, and Parquet files get columns. `robots_` is the default prefix of names, and
/// `AGENT` is the name of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddedColumn {
    /// `robots_origin`: the origin of the URL, as [`Origin`](crate::Origin) writes it and as the
    /// column `origin` of exported tables has it. With
    /// [`any_scheme`](crate::JudgeOptions::any_scheme) it is still that of the URL. Null for text
    /// that is not a URL.
    Origin,
    /// `robots_reason`: the [`Reason`](crate::judge::Reason) of the verdicts, which is the same for
    /// all agents. It has a value for every text: `not-a-url` for text that is not a URL.
    Reason,
    /// The [crawl-delay](crate::judge::CrawlDelays) for each agent in seconds, or null. In JSON
    /// lines the key `robots_crawl_delay` has an object with a number for each agent. Parquet files
    /// get a `double` column `robots_crawl_delay_AGENT` for each agent.
    CrawlDelay,
    /// The line of the robots.txt that disallows the URL to each agent, without its comment. Null if
    /// the agent may fetch the URL, and if no rule decides ([`Reason`](Self::Reason)). In JSON lines
    /// the key `robots_rule` has an object with a text for each agent. Parquet files get a column
    /// `robots_rule_AGENT` for each agent, and so do the next two.
    Rule,
    /// `robots_line`: the number of that line in the robots.txt, from 1.
    Line,
    /// `robots_agent`: the name by which the agent obeys that line: one of its chain that the group
    /// names, or `*`.
    Agent,
    /// `robots_list`: the names of the filter lists that name the URL
    /// ([`Judge::with_lists`](crate::Judge::with_lists)), with commas between them, or null. A filter
    /// does not add it, nor the next: no list names its disallowed records.
    List,
    /// `robots_entry`: their entry, as a line of a list ([`ListMatch::entry`]), or null.
    ///
    /// [`ListMatch::entry`]: crate::filter_lists::ListMatch::entry
    Entry,
}

impl AddedColumn {
    /// Whether its values come from the stored texts of robots.txt files. Judging does not read
    /// these, so [`Snapshot::verify_judging_checksums`](crate::Snapshot::verify_judging_checksums)
    /// does not verify them, and [`verify_checksums`](crate::Snapshot::verify_checksums) does.
    pub fn is_in_texts(self) -> bool {
        matches!(
            self,
            Self::CrawlDelay | Self::Rule | Self::Line | Self::Agent
        )
    }

    /// Whether its values come from the lines that disallow URLs.
    pub(crate) fn is_of_line(self) -> bool {
        matches!(self, Self::Rule | Self::Line | Self::Agent)
    }

    /// Whether there is a value for each agent.
    pub(crate) fn is_of_agents(self) -> bool {
        self.is_in_texts()
    }

    /// The names of its columns: one, or one for each agent.
    pub(crate) fn column_names(self, prefix: &str, agents: &[Agent]) -> Vec<String> {
        if self.is_of_agents() {
            let names = agents.iter();
            names
                .map(|agent| format!("{prefix}{self}_{agent}"))
                .collect()
        } else {
            vec![format!("{prefix}{self}")]
        }
    }
}

named_values! {
    /// The name on the command line.
    AddedColumn {
        Origin = "origin",
        Reason = "reason",
        CrawlDelay = "crawl_delay",
        Rule = "rule",
        Line = "line",
        Agent = "agent",
        List = "list",
        Entry = "entry",
    }
}

/// The added values, in the order in which they are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AddedColumns {
    /// Those that were inserted, each once, then `None`.
    columns: [Option<AddedColumn>; AddedColumn::NAMES.len()],
}

impl AddedColumns {
    /// Adds a value after those that there are, or nothing if it is one of them.
    pub(crate) fn insert(&mut self, column: AddedColumn) {
        if !self.has(column)
            && let Some(free) = self.columns.iter_mut().find(|column| column.is_none())
        {
            *free = Some(column);
        }
    }

    /// The values in their order.
    pub(crate) fn iter(self) -> impl Iterator<Item = AddedColumn> {
        self.columns.into_iter().flatten()
    }

    pub(crate) fn has(self, column: AddedColumn) -> bool {
        self.columns.contains(&Some(column))
    }

    pub(crate) fn is_empty(self) -> bool {
        self.columns[0].is_none()
    }

    /// Whether values come from verdicts, or belong to agents.
    pub(crate) fn is_of_verdicts(self) -> bool {
        self.has(AddedColumn::Reason) || self.has(AddedColumn::CrawlDelay) || self.has_lines()
    }

    /// Whether values come from filter lists.
    pub(crate) fn has_listed(self) -> bool {
        self.has(AddedColumn::List) || self.has(AddedColumn::Entry)
    }

    /// Whether values come from the lines that disallow URLs.
    pub(crate) fn has_lines(self) -> bool {
        self.iter().any(AddedColumn::is_of_line)
    }
}

/// A worker's memory for added values.
#[derive(Default)]
pub(crate) struct AddedMemory {
    pub delays: CrawlDelayScratch,
    /// The text of an origin.
    pub origin: Vec<u8>,
    lines: RefusingLines,
    /// The texts of entries that named URLs lately, of the lists of one judge.
    entries: HashMap<ListDecision, Arc<str>>,
    /// The bytes of these texts.
    entry_bytes: usize,
}

/// The most bytes of entries that a worker remembers. An entry may have 64 KiB, and rows in turn may
/// have the same ones again and again.
const MAX_ENTRY_BYTES: usize = 1 << 20;

impl AddedMemory {
    /// The entry that names a URL, as a line of a list. Rows share its text.
    pub(crate) fn entry(&mut self, found: ListMatch<'_>) -> Result<Arc<str>> {
        if let Some(known) = self.entries.get(&found.decision()) {
            return Ok(Arc::clone(known));
        }
        let entry: Arc<str> = found.entry()?.into();
        if self.entry_bytes > MAX_ENTRY_BYTES {
            self.entries.clear();
            self.entry_bytes = 0;
        }
        self.entry_bytes += entry.len();
        self.entries.insert(found.decision(), Arc::clone(&entry));
        Ok(entry)
    }

    /// The line that disallows a URL to an agent by a rule; `None` if the agent may fetch it, and if
    /// no rule decides.
    pub(crate) fn refusing_line(
        &mut self,
        engine: &Engine<'_>,
        url: &[u8],
        verdicts: &VerdictsRef<'_>,
        agent: usize,
    ) -> Result<Option<&RefusingLine>> {
        match verdicts.deciding_file() {
            Some(file) if verdicts.get(agent) == Verdict::Disallowed => {
                self.lines.find_line(engine, file, url, agent).map(Some)
            }
            _ => Ok(None),
        }
    }
}
