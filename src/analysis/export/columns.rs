//! The tables and their columns.

use crate::agent::Agent;
use crate::named_value::named_values;

/// A table that an [`Exporter`](super::Exporter) writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportTable {
    /// One row per origin.
    #[default]
    Origins,
    /// One row per origin and agent of the judge: the columns of the origin, and then those of the
    /// agent. Without agents, it has no rows.
    OriginsLong,
    /// One row per sitemap of an origin.
    Sitemaps,
    /// One row per user-agent line and rule of an origin. If the judge has agents: one row per
    /// agent and rule that the agent obeys.
    Rules,
    /// One row per version of the answer of a URL: the history of the snapshot
    /// ([`Compiler::history`](crate::Compiler::history)). URLs are the robots.txt of each origin, in
    /// the order of the origins, and then the other URLs that redirects lead to. A redirect has its
    /// target, whose versions are rows of their own. The selections of origins
    /// ([`stale_at`](super::Exporter::stale_at), [`outcomes`](super::Exporter::outcomes) and
    /// [`reasons`](super::Exporter::reasons)) do not apply.
    History,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportType {
    /// [`ExportValue::Text`](super::ExportValue::Text)
    Text,
    /// [`ExportValue::Json`](super::ExportValue::Json)
    Json,
    /// [`ExportValue::Integer`](super::ExportValue::Integer)
    Integer,
    /// [`ExportValue::Float`](super::ExportValue::Float)
    Float,
    /// [`ExportValue::Time`](super::ExportValue::Time)
    Time,
    /// [`ExportValue::Boolean`](super::ExportValue::Boolean)
    Boolean,
}

/// How the names of agents' columns are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnNames {
    /// The agent as given, a dot, and the kind of value: `Googlebot-Image.access`.
    #[default]
    Dots,
    /// Letters, digits and `_` only, so that SQL takes the name without quotes:
    /// `Googlebot_Image_access`. Every other character of the agent becomes `_`, and a name that
    /// would begin with a digit gets one in front.
    Underscores,
}

named_values! {
    /// The name.
    ColumnNames { Dots = "dots", Underscores = "underscores" }
}

/// A column of an exported table. `docs/EXPORT.md` describes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportColumn {
    /// The name as [`ColumnNames::Dots`] writes it.
    dotted: String,
    /// The name as [`ColumnNames::Underscores`] writes it.
    underscored: String,
    names: ColumnNames,
    kind: ExportType,
    field: ExportField,
}

/// The content of a column. The number is that of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportField {
    Origin,
    Outcome,
    Status,
    Reason,
    RulesFile,
    StatusAccess,
    Scheme,
    Host,
    Port,
    #[cfg(feature = "domains")]
    Domain,
    Tld,
    Fetched,
    Age,
    StaleFrom,
    FailingSince,
    Redirects,
    Source,
    Detail,
    HasLastGood,
    Bytes,
    Allow,
    Disallow,
    Groups,
    Sitemaps,
    HostField,
    ContentSignal,
    ContentUsage,
    License,
    OtherFields,
    Access(usize),
    Named(usize),
    CrawlDelay(usize),
    DisallowedAfter(usize),
    DisallowedSince(usize),
    /// The name of the row's agent.
    AgentName,
    /// The values for the row's agent.
    AgentAccess,
    AgentNamed,
    AgentCrawlDelay,
    AgentDisallowedAfter,
    AgentDisallowedSince,
    Sitemap,
    Url,
    Since,
    LastSeen,
    ChangedAt,
    Target,
    FirstUnreachable,
    LastGoodFile,
    EarlierTarget,
    LooksLike,
    PastLimit,
    CutShort,
    Group,
    Kind,
    Pattern,
    Line,
}

/// A column whose name does not depend on an agent.
type FixedColumn = (&'static str, ExportType, ExportField);

/// The columns of an origin, before those of agents.
const ORIGINS: &[FixedColumn] = &[
    ("origin", ExportType::Text, ExportField::Origin),
    ("outcome", ExportType::Text, ExportField::Outcome),
    ("status", ExportType::Integer, ExportField::Status),
    ("reason", ExportType::Text, ExportField::Reason),
    ("scheme", ExportType::Text, ExportField::Scheme),
    ("host", ExportType::Text, ExportField::Host),
    ("port", ExportType::Integer, ExportField::Port),
    #[cfg(feature = "domains")]
    ("domain", ExportType::Text, ExportField::Domain),
    ("tld", ExportType::Text, ExportField::Tld),
    ("fetched", ExportType::Time, ExportField::Fetched),
    ("age", ExportType::Integer, ExportField::Age),
    ("stale_from", ExportType::Time, ExportField::StaleFrom),
    ("failing_since", ExportType::Time, ExportField::FailingSince),
    ("redirects", ExportType::Integer, ExportField::Redirects),
    ("source", ExportType::Text, ExportField::Source),
    ("detail", ExportType::Text, ExportField::Detail),
    (
        "has_last_good",
        ExportType::Boolean,
        ExportField::HasLastGood,
    ),
    ("bytes", ExportType::Integer, ExportField::Bytes),
    ("groups", ExportType::Integer, ExportField::Groups),
    ("allow", ExportType::Integer, ExportField::Allow),
    ("disallow", ExportType::Integer, ExportField::Disallow),
    ("sitemaps", ExportType::Integer, ExportField::Sitemaps),
    ("host_field", ExportType::Text, ExportField::HostField),
    (
        "content_signal",
        ExportType::Text,
        ExportField::ContentSignal,
    ),
    ("content_usage", ExportType::Text, ExportField::ContentUsage),
    ("license", ExportType::Text, ExportField::License),
    ("other_fields", ExportType::Json, ExportField::OtherFields),
];

/// The columns of an origin that are written only if they are named.
const UNLISTED: &[FixedColumn] = &[
    ("rules_file", ExportType::Integer, ExportField::RulesFile),
    ("status_access", ExportType::Text, ExportField::StatusAccess),
];

/// The columns of the agent of a row.
const ROW_AGENT: &[FixedColumn] = &[
    ("agent", ExportType::Text, ExportField::AgentName),
    ("access", ExportType::Text, ExportField::AgentAccess),
    ("named", ExportType::Text, ExportField::AgentNamed),
    (
        "crawl_delay",
        ExportType::Float,
        ExportField::AgentCrawlDelay,
    ),
];

/// The columns of the agent of a row that only a history has.
const ROW_AGENT_SINCE: &[FixedColumn] = &[
    (
        "disallowed_after",
        ExportType::Time,
        ExportField::AgentDisallowedAfter,
    ),
    (
        "disallowed_since",
        ExportType::Time,
        ExportField::AgentDisallowedSince,
    ),
];

const SITEMAPS: &[FixedColumn] = &[
    ("origin", ExportType::Text, ExportField::Origin),
    ("sitemap", ExportType::Text, ExportField::Sitemap),
    ("url", ExportType::Text, ExportField::Url),
    ("line", ExportType::Integer, ExportField::Line),
];

const RULES: &[FixedColumn] = &[
    ("origin", ExportType::Text, ExportField::Origin),
    ("group", ExportType::Integer, ExportField::Group),
    ("agent", ExportType::Text, ExportField::AgentName),
    ("kind", ExportType::Text, ExportField::Kind),
    ("pattern", ExportType::Text, ExportField::Pattern),
    ("line", ExportType::Integer, ExportField::Line),
];

/// The columns of a version of an answer, before those of agents.
const HISTORY: &[FixedColumn] = &[
    ("url", ExportType::Text, ExportField::Url),
    ("origin", ExportType::Text, ExportField::Origin),
    ("since", ExportType::Time, ExportField::Since),
    ("last_seen", ExportType::Time, ExportField::LastSeen),
    ("changed_at", ExportType::Time, ExportField::ChangedAt),
    ("outcome", ExportType::Text, ExportField::Outcome),
    ("status", ExportType::Integer, ExportField::Status),
    ("target", ExportType::Text, ExportField::Target),
    ("rules_file", ExportType::Integer, ExportField::RulesFile),
    ("bytes", ExportType::Integer, ExportField::Bytes),
    ("looks_like", ExportType::Text, ExportField::LooksLike),
    ("past_limit", ExportType::Boolean, ExportField::PastLimit),
    ("cut_short", ExportType::Boolean, ExportField::CutShort),
    ("failing_since", ExportType::Time, ExportField::FailingSince),
    (
        "first_unreachable",
        ExportType::Time,
        ExportField::FirstUnreachable,
    ),
    (
        "last_good_file",
        ExportType::Integer,
        ExportField::LastGoodFile,
    ),
    (
        "earlier_target",
        ExportType::Text,
        ExportField::EarlierTarget,
    ),
];

impl ExportColumn {
    /// The name, such as `status` or `GPTBot.access`.
    pub fn name(&self) -> &str {
        self.spelled(self.names)
    }

    fn spelled(&self, names: ColumnNames) -> &str {
        match names {
            ColumnNames::Dots => &self.dotted,
            ColumnNames::Underscores => &self.underscored,
        }
    }

    /// The type of its values.
    pub fn kind(&self) -> ExportType {
        self.kind
    }

    pub(super) fn field(&self) -> ExportField {
        self.field
    }

    /// Sets how the name is written.
    pub(super) fn set_names(&mut self, names: ColumnNames) {
        self.names = names;
    }

    /// Whether this is the name in one of the spellings, in any case.
    pub(super) fn is_called(&self, name: &str, names: ColumnNames) -> bool {
        self.spelled(names).eq_ignore_ascii_case(name)
    }

    /// Whether the columns have different contents, and only their spelling makes their names
    /// equal.
    pub(super) fn differs_with_dots(&self, other: &Self) -> bool {
        !self.dotted.eq_ignore_ascii_case(&other.dotted)
    }

    fn fixed((name, kind, field): FixedColumn) -> Self {
        Self {
            dotted: name.to_owned(),
            underscored: name.to_owned(),
            names: ColumnNames::default(),
            kind,
            field,
        }
    }

    /// A column of an agent; `suffix` is the kind of value.
    fn of_agent(agent: &Agent, suffix: &str, kind: ExportType, field: ExportField) -> Self {
        let label = agent.label();
        Self {
            dotted: format!("{label}.{suffix}"),
            underscored: format!("{}_{suffix}", identifier(label)),
            names: ColumnNames::default(),
            kind,
            field,
        }
    }
}

/// The name of an agent as the beginning of an identifier of SQL. Readers of SQL ignore case, and
/// take the name as it is written.
fn identifier(label: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = label
        .chars()
        .map(|c| if is_part(c) { c } else { '_' })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("_{name}");
    }
    name
}

impl ExportField {
    /// Whether the value comes from the text of the robots.txt.
    pub(super) fn needs_text(self) -> bool {
        matches!(
            self,
            Self::Allow
                | Self::Disallow
                | Self::Groups
                | Self::Sitemaps
                | Self::HostField
                | Self::ContentSignal
                | Self::ContentUsage
                | Self::License
                | Self::OtherFields
                | Self::CrawlDelay(_)
                | Self::AgentCrawlDelay
        )
    }

    /// Whether the value comes from the coverage of rule sets.
    pub(super) fn needs_access(self) -> bool {
        matches!(
            self,
            Self::Access(_) | Self::Named(_) | Self::AgentAccess | Self::AgentNamed
        ) || self.needs_history()
    }

    /// Whether the value comes from the history.
    pub(super) fn needs_history(self) -> bool {
        matches!(
            self,
            Self::DisallowedAfter(_)
                | Self::DisallowedSince(_)
                | Self::AgentDisallowedAfter
                | Self::AgentDisallowedSince
        )
    }

    /// The content in a row of this agent, if the rows of the table have one.
    pub(super) fn in_row_of(self, agent: Option<usize>) -> Self {
        match (self, agent) {
            (Self::AgentAccess, Some(agent)) => Self::Access(agent),
            (Self::AgentNamed, Some(agent)) => Self::Named(agent),
            (Self::AgentCrawlDelay, Some(agent)) => Self::CrawlDelay(agent),
            (Self::AgentDisallowedAfter, Some(agent)) => Self::DisallowedAfter(agent),
            (Self::AgentDisallowedSince, Some(agent)) => Self::DisallowedSince(agent),
            (other, _) => other,
        }
    }
}

/// All columns of a table.
pub(super) fn all_columns(table: ExportTable, agents: &[Agent]) -> Vec<ExportColumn> {
    let fixed: Vec<FixedColumn> = match table {
        ExportTable::Origins => ORIGINS.to_vec(),
        ExportTable::OriginsLong => [ORIGINS, ROW_AGENT].concat(),
        ExportTable::Sitemaps => SITEMAPS.to_vec(),
        ExportTable::Rules => RULES.to_vec(),
        ExportTable::History => HISTORY.to_vec(),
    };
    let mut columns: Vec<ExportColumn> = fixed.into_iter().map(ExportColumn::fixed).collect();
    // The delay comes from a text, and the texts of all versions would all be parsed for it.
    let of_agent = match table {
        ExportTable::Origins => 3,
        ExportTable::History => 2,
        _ => 0,
    };
    for (number, agent) in agents.iter().enumerate() {
        columns.extend(columns_of_agent(number, agent).into_iter().take(of_agent));
    }
    columns
}

/// The columns of a table that [`all_columns`] leaves out.
pub(super) fn unlisted_columns(table: ExportTable, agents: &[Agent]) -> Vec<ExportColumn> {
    match table {
        ExportTable::Origins | ExportTable::OriginsLong => {
            let fixed = UNLISTED.iter().copied().map(ExportColumn::fixed);
            fixed.chain(since_columns(table, agents)).collect()
        }
        ExportTable::Sitemaps | ExportTable::Rules | ExportTable::History => Vec::new(),
    }
}

/// The columns that say since when agents are disallowed: two per agent, or two of the row's agent.
pub(super) fn since_columns(table: ExportTable, agents: &[Agent]) -> Vec<ExportColumn> {
    let mut columns = Vec::new();
    match table {
        ExportTable::Origins => {
            for (number, agent) in agents.iter().enumerate() {
                for (suffix, field) in [
                    ("disallowed_after", ExportField::DisallowedAfter(number)),
                    ("disallowed_since", ExportField::DisallowedSince(number)),
                ] {
                    columns.push(ExportColumn::of_agent(
                        agent,
                        suffix,
                        ExportType::Time,
                        field,
                    ));
                }
            }
        }
        ExportTable::OriginsLong => {
            columns.extend(ROW_AGENT_SINCE.iter().copied().map(ExportColumn::fixed));
        }
        ExportTable::Sitemaps | ExportTable::Rules | ExportTable::History => {}
    }
    columns
}

/// The columns of the agent with this number. Their names begin with its label.
fn columns_of_agent(number: usize, agent: &Agent) -> [ExportColumn; 3] {
    let column = |suffix, kind, field| ExportColumn::of_agent(agent, suffix, kind, field);
    [
        column("access", ExportType::Text, ExportField::Access(number)),
        column("named", ExportType::Text, ExportField::Named(number)),
        column(
            "crawl_delay",
            ExportType::Float,
            ExportField::CrawlDelay(number),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_underscores_are_identifiers() {
        for (agent, dotted, underscored) in [
            ("GPTBot", "GPTBot.named", "GPTBot_named"),
            (
                "Googlebot-Image",
                "Googlebot-Image.named",
                "Googlebot_Image_named",
            ),
            ("A:B", "A:B.named", "A_B_named"),
            ("*", "*.named", "__named"),
            ("Kangaroo Bot", "Kangaroo Bot.named", "Kangaroo_Bot_named"),
            ("360Spider", "360Spider.named", "_360Spider_named"),
            ("b\u{fc}cher", "b\u{fc}cher.named", "b_cher_named"),
            ("ai.bot", "ai.bot.named", "ai_bot_named"),
        ] {
            let agent: Agent = agent.parse().unwrap();
            let [_, mut column, _] = columns_of_agent(0, &agent);
            assert_eq!(column.name(), dotted);
            column.set_names(ColumnNames::Underscores);
            assert_eq!(column.name(), underscored);
            assert!(column.is_called(dotted, ColumnNames::Dots));
            let upper = underscored.to_uppercase();
            assert!(column.is_called(&upper, ColumnNames::Underscores));
        }
    }
}
