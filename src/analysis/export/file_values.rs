//! The values that come from the text of a robots.txt, and a cache of them.
//!
//! Many origins share a robots.txt, so each worker keeps the values of the files that it parsed.

use super::columns::ExportTable;
use super::rule_groups::{RuleGroup, rule_groups};
use crate::agent::{Agent, AgentMatch};
use crate::error::Result;
use crate::file_pass::FileReader;
use crate::profile::Profile;
use crate::robots::{RobotsRef, RuleKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The bytes of texts that a worker keeps at most. When full, the cache is cleared.
const MAX_CACHED: usize = 16 << 20;

/// The estimated bytes of a cached file in addition to its text.
const FILE: usize = 256;

/// The values of one robots.txt.
#[derive(Debug)]
pub(super) enum FileValues {
    Origins(TextValues),
    Sitemaps(Vec<SitemapLine>),
    Rules(Vec<RuleGroup>),
}

/// The values of the table of origins.
#[derive(Debug, Default)]
pub(super) struct TextValues {
    pub groups: i64,
    pub allow: i64,
    pub disallow: i64,
    pub sitemaps: i64,
    pub host_field: Option<String>,
    pub content_signal: Option<String>,
    pub content_usage: Option<String>,
    pub license: Option<String>,
    /// The fields without a column, as a JSON object.
    pub other_fields: Option<String>,
    /// The delay for each agent in seconds.
    pub crawl_delays: Vec<Option<f64>>,
}

/// A sitemap as written.
#[derive(Debug)]
pub(super) struct SitemapLine {
    pub value: String,
    pub line: u32,
}

/// Parses robots.txt files of a snapshot, and caches their values. One per worker.
pub(super) struct FileValueReader<'s> {
    table: ExportTable,
    agents: &'s [Agent],
    agent_match: AgentMatch,
    profile: Profile,
    cache: HashMap<u32, Rc<FileValues>>,
    cached_bytes: usize,
}

impl<'s> FileValueReader<'s> {
    pub(super) fn new(
        table: ExportTable,
        agents: &'s [Agent],
        agent_match: AgentMatch,
        profile: Profile,
    ) -> Self {
        Self {
            table,
            agents,
            agent_match,
            profile,
            cache: HashMap::new(),
            cached_bytes: 0,
        }
    }

    /// The values of a file.
    pub(super) fn values(
        &mut self,
        file: u32,
        files: &mut FileReader<'_>,
    ) -> Result<Rc<FileValues>> {
        if let Some(found) = self.cache.get(&file) {
            return Ok(Rc::clone(found));
        }
        let text = files.text(file)?;
        let robots = RobotsRef::parse(&text, self.profile);
        let values = Rc::new(match self.table {
            // The table of the history has no values of texts.
            ExportTable::Origins | ExportTable::OriginsLong | ExportTable::History => {
                FileValues::Origins(self.text_values(&robots))
            }
            ExportTable::Sitemaps => FileValues::Sitemaps(sitemap_lines(&robots)),
            ExportTable::Rules => {
                FileValues::Rules(rule_groups(&robots, self.agents, self.agent_match))
            }
        });
        // The values are at most a few times as long as the text.
        self.cached_bytes += text.len() + FILE;
        if self.cached_bytes > MAX_CACHED {
            self.cache.clear();
            self.cached_bytes = text.len() + FILE;
        }
        self.cache.insert(file, Rc::clone(&values));
        Ok(values)
    }

    fn text_values(&self, robots: &RobotsRef<'_>) -> TextValues {
        TextValues {
            groups: robots.groups().len() as i64,
            allow: rule_count(robots, RuleKind::Allow),
            disallow: rule_count(robots, RuleKind::Disallow),
            sitemaps: robots.sitemaps().count() as i64,
            host_field: joined_values(robots, "host"),
            content_signal: joined_values(robots, "content-signal"),
            content_usage: joined_values(robots, "content-usage"),
            license: joined_values(robots, "license"),
            other_fields: other_fields(robots),
            crawl_delays: self.crawl_delays(robots),
        }
    }

    /// The delay for each agent in seconds; empty if the file has no line about it, as most files.
    fn crawl_delays(&self, robots: &RobotsRef<'_>) -> Vec<Option<f64>> {
        let has_delay = robots
            .other_fields()
            .iter()
            .any(|field| field.name() == "crawl-delay");
        if !has_delay {
            return Vec::new();
        }
        self.agents
            .iter()
            .map(|agent| robots.crawl_delay(agent, self.agent_match))
            .map(|delay| delay.map(|delay| delay.as_secs_f64()))
            .collect()
    }
}

/// The number of rules of a kind in all groups.
fn rule_count(robots: &RobotsRef<'_>, kind: RuleKind) -> i64 {
    let rules = robots.groups().iter().flat_map(|group| group.rules());
    rules.filter(|rule| rule.kind() == kind).count() as i64
}

/// The distinct values of a field in the order of the file, separated by `; `. Empty values are
/// left out.
fn joined_values(robots: &RobotsRef<'_>, name: &str) -> Option<String> {
    let fields = robots
        .other_fields()
        .iter()
        .filter(|field| field.name() == name && !field.value().is_empty());
    let mut seen = std::collections::HashSet::new();
    let values: Vec<Cow<'_, str>> = fields
        .filter(|field| seen.insert(field.value()))
        .map(|f| String::from_utf8_lossy(f.value()))
        .collect();
    (!values.is_empty()).then(|| values.join("; "))
}

/// The fields without a column of their own, as a JSON object: each name with its values in the
/// order of the file.
fn other_fields(robots: &RobotsRef<'_>) -> Option<String> {
    let mut fields: BTreeMap<&str, Vec<Cow<'_, str>>> = BTreeMap::new();
    for field in robots.other_fields() {
        if !matches!(
            field.name(),
            "sitemap" | "host" | "content-signal" | "content-usage" | "license"
        ) {
            fields
                .entry(field.name())
                .or_default()
                .push(String::from_utf8_lossy(field.value()));
        }
    }
    if fields.is_empty() {
        return None;
    }
    // Strings always serialise.
    serde_json::to_string(&fields).ok()
}

fn sitemap_lines(robots: &RobotsRef<'_>) -> Vec<SitemapLine> {
    let sitemaps = robots.sitemaps();
    sitemaps
        .map(|field| SitemapLine {
            value: String::from_utf8_lossy(field.value()).into_owned(),
            line: field.line(),
        })
        .collect()
}
