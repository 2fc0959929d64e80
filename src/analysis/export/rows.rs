//! The rows of origins. Each worker has a reader.

use super::access::{AccessReader, OriginAccess};
use super::batch::{BatchLimit, ExportBatch, ExportValue};
use super::cells::Cells;
use super::columns::{ExportColumn, ExportField, ExportTable};
use super::disallowed_since::{DisallowedSince, RunMemos, SinceReader, TextAccess};
use super::file_values::{FileValueReader, FileValues, SitemapLine, TextValues};
use super::rule_groups::RuleGroup;
use super::selection::ExportSelection;
use super::versions::{VersionedUrl, push_version};
use crate::agent::Agent;
use crate::analysis::host_parts::last_label;
#[cfg(feature = "domains")]
use crate::analysis::host_parts::registrable_domain;
use crate::error::Result;
use crate::file_pass::FileReader;
use crate::judge::RuleSource;
use crate::judge::engine::Engine;
use crate::snapshot::{Freshness, OriginEntry};
use serde::Serialize;
use std::cell::OnceCell;
use std::ops::Range;
use url::Url;

/// Counts of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExportStats {
    /// Origins that were selected.
    pub origins: u64,
    /// Rows that were written.
    pub rows: u64,
}

/// A function that receives full batches. It may take the rows out.
type Emit<'e> = &'e mut dyn FnMut(&mut ExportBatch) -> Result<()>;

/// Reads the rows of origins.
pub(super) struct RowReader<'s> {
    engine: &'s Engine<'s>,
    selection: &'s ExportSelection,
    cells: Cells,
    needs_text: bool,
    needs_access: bool,
    needs_bytes: bool,
    /// The time that ages count to, in seconds since 1970.
    now: Option<i64>,
    files: FileReader<'s>,
    file_values: FileValueReader<'s>,
    access: AccessReader<'s>,
    /// If a column needs it.
    since: Option<SinceReader<'s>>,
    batch: ExportBatch,
}

impl<'s> RowReader<'s> {
    pub(super) fn new(
        engine: &'s Engine<'s>,
        selection: &'s ExportSelection,
        run_memos: &'s RunMemos,
        now: Option<i64>,
        limit: BatchLimit,
    ) -> Self {
        let fields: Vec<ExportField> = selection.columns.iter().map(ExportColumn::field).collect();
        Self {
            engine,
            selection,
            cells: Cells::of(selection.table, engine),
            needs_text: fields.iter().any(|field| field.needs_text()),
            needs_access: fields.iter().any(|field| field.needs_access()),
            needs_bytes: fields.contains(&ExportField::Bytes),
            now,
            files: FileReader::new(engine.snapshot()),
            file_values: FileValueReader::new(
                selection.table,
                engine.agents(),
                engine.options().agent_match,
                engine.profile(),
            ),
            access: AccessReader::new(engine),
            since: fields
                .iter()
                .any(|field| field.needs_history())
                .then(|| SinceReader::new(engine, run_memos)),
            batch: ExportBatch::new(&selection.columns, limit),
        }
    }

    /// Passes the rows of some ranges of cells to `emit`, in batches.
    pub(super) fn read(
        &mut self,
        ranges: impl IntoIterator<Item = Range<u64>>,
        emit: Emit<'_>,
    ) -> Result<ExportStats> {
        if self.selection.table == ExportTable::History {
            return self.read_versions(ranges, emit);
        }
        let mut stats = ExportStats::default();
        let by_origin = self.cells;
        let cells = ranges
            .into_iter()
            .flat_map(|range| by_origin.by_origin(range));
        for (row, agents) in cells {
            let entry = self.engine.snapshot().origin_at(row)?;
            if !self.selection.includes(entry.outcome()) {
                continue;
            }
            let rules = self.engine.rule_source(&entry)?;
            if self.selection.includes_reason(rules.reason) {
                // An origin that an earlier block began counts there.
                stats.origins += u64::from(agents.start == 0);
                stats.rows += self.read_origin(&entry, rules, agents, emit)?;
            }
        }
        flush(&mut self.batch, emit)?;
        Ok(stats)
    }

    /// Passes the rows of some ranges of versions to `emit`, in batches.
    fn read_versions(
        &mut self,
        ranges: impl IntoIterator<Item = Range<u64>>,
        emit: Emit<'_>,
    ) -> Result<ExportStats> {
        let snapshot = self.engine.snapshot();
        let mut stats = ExportStats::default();
        let mut current: Option<VersionedUrl> = None;
        for cell in ranges.into_iter().flatten() {
            // A cell is a version, whose number has 32 bits.
            let number = cell as u32;
            let url = match current.take() {
                Some(url) if url.contains(number) => url,
                _ => VersionedUrl::of_version(snapshot, number)?,
            };
            let access = self.needs_access.then_some(&mut self.access);
            push_version(
                snapshot,
                &url,
                number,
                access,
                &mut self.files,
                &mut self.batch,
            )?;
            stats.rows += 1;
            stats.origins += u64::from(url.begins_origin(number));
            current = Some(url);
            end_row(&mut self.batch, emit)?;
        }
        flush(&mut self.batch, emit)?;
        Ok(stats)
    }

    /// Appends the rows of an origin, and returns their number. In the long table, these are the
    /// rows of some agents.
    fn read_origin(
        &mut self,
        entry: &OriginEntry<'_>,
        rules: RuleSource,
        agents: Range<usize>,
        emit: Emit<'_>,
    ) -> Result<u64> {
        let is_by_origin = matches!(
            self.selection.table,
            ExportTable::Origins | ExportTable::OriginsLong
        );
        let needs_text = self.needs_text || !is_by_origin;
        let values = entry
            .file()
            .filter(|_| needs_text)
            .map(|file| self.file_values.values(file, &mut self.files))
            .transpose()?;
        match values.as_deref() {
            Some(FileValues::Sitemaps(sitemaps)) => {
                push_sitemaps(&mut self.batch, entry, sitemaps, emit)
            }
            Some(FileValues::Rules(groups)) => push_rules(&mut self.batch, entry, groups, emit),
            Some(FileValues::Origins(values)) => {
                self.push_origin(entry, rules, agents, Some(values), emit)
            }
            None if is_by_origin => self.push_origin(entry, rules, agents, None, emit),
            None => Ok(0),
        }
    }

    fn push_origin(
        &mut self,
        entry: &OriginEntry<'_>,
        rules: RuleSource,
        agents: Range<usize>,
        values: Option<&TextValues>,
        emit: Emit<'_>,
    ) -> Result<u64> {
        // The access of agents depends on the coverage of rule sets, so it is looked up only for
        // columns that show it.
        let access = if self.needs_access {
            Some(self.access.of_origin(rules, &mut self.files)?)
        } else {
            None
        };
        let since = match (&mut self.since, &access) {
            (Some(since), Some(access)) => {
                let mut texts = TextAccess {
                    access: &mut self.access,
                    files: &mut self.files,
                };
                // The agents of these rows: of all columns, or one per row.
                let of_rows = match self.selection.table {
                    ExportTable::OriginsLong => agents.clone(),
                    _ => 0..self.engine.agents().len(),
                };
                let disallowed = of_rows.filter(|agent| access.is_blocked(*agent));
                since.of_origin(entry.row(), disallowed, &mut texts)?
            }
            _ => Vec::new(),
        };
        let bytes = match entry.file() {
            Some(file) if self.needs_bytes => {
                Some(i64::from(self.engine.snapshot().text_len(file)?))
            }
            _ => None,
        };
        let origin = OriginRow {
            entry,
            rules,
            freshness: self.selection.freshness,
            key: OnceCell::new(),
            source: OnceCell::new(),
            detail: OnceCell::new(),
            bytes,
        };
        let now = self.now;
        let rows = agents.len() as u64;
        let is_long = self.selection.table == ExportTable::OriginsLong;
        for number in agents {
            let of_row = is_long.then_some(number);
            let agent = of_row.and_then(|number| self.engine.agents().get(number));
            self.batch
                .push_row(|column| match column.field().in_row_of(of_row) {
                    ExportField::AgentName => text(agent.map(Agent::label)),
                    ExportField::Access(agent) => access
                        .as_ref()
                        .map_or(ExportValue::Null, |access| access.access(agent)),
                    ExportField::Named(agent) => access
                        .as_ref()
                        .map_or(ExportValue::Null, |access| access.named(agent)),
                    ExportField::DisallowedAfter(agent) => time(since_of(&since, agent).after),
                    ExportField::DisallowedSince(agent) => time(since_of(&since, agent).since),
                    field => origin
                        .value(field, now)
                        .unwrap_or_else(|| text_value(values, field)),
                });
            end_row(&mut self.batch, emit)?;
        }
        Ok(rows)
    }
}

/// Since when an agent is disallowed, among the agents that are, in ascending order.
fn since_of(found: &[(usize, DisallowedSince)], agent: usize) -> DisallowedSince {
    match found.binary_search_by_key(&agent, |(agent, _)| *agent) {
        Ok(at) => found[at].1,
        Err(_) => DisallowedSince::default(),
    }
}

/// Emits a full batch.
fn end_row(batch: &mut ExportBatch, emit: Emit<'_>) -> Result<()> {
    if batch.is_full() {
        flush(batch, emit)
    } else {
        Ok(())
    }
}

/// Emits the rows of a batch, if it has any.
fn flush(batch: &mut ExportBatch, emit: Emit<'_>) -> Result<()> {
    if batch.rows() > 0 {
        emit(batch)?;
        batch.clear();
    }
    Ok(())
}

/// The values of an origin that its entry has. Texts are decoded if a column shows them.
struct OriginRow<'r> {
    entry: &'r OriginEntry<'r>,
    rules: RuleSource,
    freshness: Freshness,
    key: OnceCell<String>,
    source: OnceCell<Option<String>>,
    detail: OnceCell<Option<String>>,
    bytes: Option<i64>,
}

impl OriginRow<'_> {
    /// The value of a field; `None` if the text of the robots.txt has it.
    fn value(&self, field: ExportField, now: Option<i64>) -> Option<ExportValue<'_>> {
        let entry = self.entry;
        let outcome = entry.outcome();
        Some(match field {
            ExportField::Origin => ExportValue::Text(self.key.get_or_init(|| entry.origin())),
            ExportField::Outcome => ExportValue::Text(outcome.class.name()),
            ExportField::Status => integer(Some(outcome.status).filter(|status| *status > 0)),
            ExportField::Reason => ExportValue::Text(self.rules.reason.name()),
            ExportField::RulesFile => integer(self.rules.file),
            ExportField::StatusAccess if self.rules.file.is_none() => {
                let refused = self.rules.refused;
                OriginAccess::ByStatus { refused }.access(0)
            }
            ExportField::StatusAccess => ExportValue::Null,
            ExportField::Scheme => ExportValue::Text(entry.scheme()),
            ExportField::Host => ExportValue::Text(entry.host()),
            ExportField::Port => integer(entry.port()),
            #[cfg(feature = "domains")]
            ExportField::Domain => ExportValue::Text(registrable_domain(entry.host())),
            ExportField::Tld => text(last_label(entry.host()).filter(|label| !label.is_empty())),
            ExportField::Fetched => time(outcome.fetched),
            ExportField::Age => integer(
                now.zip(outcome.fetched)
                    .and_then(|(now, fetched)| now.checked_sub(fetched)),
            ),
            ExportField::StaleFrom => time(self.freshness.stale_from(outcome)),
            ExportField::FailingSince => time(outcome.first_failure),
            ExportField::Redirects => integer(Some(outcome.hops)),
            ExportField::Source => text(self.source.get_or_init(|| entry.source()).as_deref()),
            ExportField::Detail => text(self.detail.get_or_init(|| entry.detail()).as_deref()),
            ExportField::HasLastGood => ExportValue::Boolean(entry.has_last_good()),
            ExportField::Bytes => integer(self.bytes),
            _ => return None,
        })
    }
}

/// The value of a field in the text of the robots.txt; null without one.
fn text_value<'f>(values: Option<&'f TextValues>, field: ExportField) -> ExportValue<'f> {
    let Some(values) = values else {
        return ExportValue::Null;
    };
    match field {
        ExportField::Groups => ExportValue::Integer(values.groups),
        ExportField::Allow => ExportValue::Integer(values.allow),
        ExportField::Disallow => ExportValue::Integer(values.disallow),
        ExportField::Sitemaps => ExportValue::Integer(values.sitemaps),
        ExportField::HostField => text(values.host_field.as_deref()),
        ExportField::ContentSignal => text(values.content_signal.as_deref()),
        ExportField::ContentUsage => text(values.content_usage.as_deref()),
        ExportField::License => text(values.license.as_deref()),
        ExportField::OtherFields => values
            .other_fields
            .as_deref()
            .map_or(ExportValue::Null, ExportValue::Json),
        ExportField::CrawlDelay(agent) => values
            .crawl_delays
            .get(agent)
            .copied()
            .flatten()
            .map_or(ExportValue::Null, ExportValue::Float),
        _ => ExportValue::Null,
    }
}

pub(super) fn integer<'v>(value: Option<impl Into<i64>>) -> ExportValue<'v> {
    value.map_or(ExportValue::Null, |value| {
        ExportValue::Integer(value.into())
    })
}

pub(super) fn time<'v>(value: Option<i64>) -> ExportValue<'v> {
    value.map_or(ExportValue::Null, ExportValue::Time)
}

pub(super) fn text(value: Option<&str>) -> ExportValue<'_> {
    value.map_or(ExportValue::Null, ExportValue::Text)
}

fn push_sitemaps(
    batch: &mut ExportBatch,
    entry: &OriginEntry<'_>,
    sitemaps: &[SitemapLine],
    emit: Emit<'_>,
) -> Result<u64> {
    if sitemaps.is_empty() {
        return Ok(0);
    }
    let key = entry.origin();
    // A relative sitemap belongs to the URL that the robots.txt came from, after redirects.
    let base = Url::parse(&entry.source().unwrap_or_else(|| entry.robots_url())).ok();
    for sitemap in sitemaps {
        let url = base
            .as_ref()
            .and_then(|base| base.join(&sitemap.value).ok());
        batch.push_row(|column| match column.field() {
            ExportField::Origin => ExportValue::Text(&key),
            ExportField::Sitemap => ExportValue::Text(&sitemap.value),
            ExportField::Url => text(url.as_ref().map(Url::as_str)),
            ExportField::Line => integer(Some(sitemap.line)),
            _ => ExportValue::Null,
        });
        end_row(batch, emit)?;
    }
    Ok(sitemaps.len() as u64)
}

fn push_rules(
    batch: &mut ExportBatch,
    entry: &OriginEntry<'_>,
    groups: &[RuleGroup],
    emit: Emit<'_>,
) -> Result<u64> {
    let key = entry.origin();
    let mut rows = 0;
    // A rule has a row for each agent of its group, so that a query can filter by agent.
    for group in groups {
        for agent in &group.agents {
            for rule in &group.rules {
                batch.push_row(|column| match column.field() {
                    ExportField::Origin => ExportValue::Text(&key),
                    ExportField::Group => ExportValue::Integer(group.number),
                    ExportField::AgentName => text(agent.as_deref()),
                    ExportField::Kind => ExportValue::Text(rule.kind.name()),
                    ExportField::Pattern => ExportValue::Text(&rule.pattern),
                    ExportField::Line => integer(Some(rule.line)),
                    _ => ExportValue::Null,
                });
                end_row(batch, emit)?;
            }
            rows += group.rules.len() as u64;
        }
    }
    Ok(rows)
}
