//! The tables and their columns.

use crate::agent::Agent;

/// A table that an [`Exporter`](super::Exporter) writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportTable {
    /// One row per origin.
    #[default]
    Origins,
    /// One row per sitemap of an origin.
    Sitemaps,
    /// One row per user-agent line and rule of an origin. If the judge has agents: one row per
    /// agent and rule that the agent obeys.
    Rules,
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

/// A column of an exported table. `docs/EXPORT.md` describes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportColumn {
    name: String,
    kind: ExportType,
    field: ExportField,
}

/// The content of a column. The number is that of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportField {
    Origin,
    Outcome,
    Status,
    Scheme,
    Host,
    Port,
    Fetched,
    Age,
    StaleFrom,
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
    Sitemap,
    Url,
    Group,
    AgentName,
    Kind,
    Pattern,
    Line,
}

/// The columns of the table of origins, before those of the agents.
const ORIGINS: [(&str, ExportType, ExportField); 23] = [
    ("origin", ExportType::Text, ExportField::Origin),
    ("outcome", ExportType::Text, ExportField::Outcome),
    ("status", ExportType::Integer, ExportField::Status),
    ("scheme", ExportType::Text, ExportField::Scheme),
    ("host", ExportType::Text, ExportField::Host),
    ("port", ExportType::Integer, ExportField::Port),
    ("fetched", ExportType::Time, ExportField::Fetched),
    ("age", ExportType::Integer, ExportField::Age),
    ("stale_from", ExportType::Time, ExportField::StaleFrom),
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

const SITEMAPS: [(&str, ExportType, ExportField); 4] = [
    ("origin", ExportType::Text, ExportField::Origin),
    ("sitemap", ExportType::Text, ExportField::Sitemap),
    ("url", ExportType::Text, ExportField::Url),
    ("line", ExportType::Integer, ExportField::Line),
];

const RULES: [(&str, ExportType, ExportField); 6] = [
    ("origin", ExportType::Text, ExportField::Origin),
    ("group", ExportType::Integer, ExportField::Group),
    ("agent", ExportType::Text, ExportField::AgentName),
    ("kind", ExportType::Text, ExportField::Kind),
    ("pattern", ExportType::Text, ExportField::Pattern),
    ("line", ExportType::Integer, ExportField::Line),
];

impl ExportColumn {
    /// The name, such as `status` or `GPTBot.access`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its values.
    pub fn kind(&self) -> ExportType {
        self.kind
    }

    pub(super) fn field(&self) -> ExportField {
        self.field
    }
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
        )
    }
}

/// All columns of a table.
pub(super) fn all_columns(table: ExportTable, agents: &[Agent]) -> Vec<ExportColumn> {
    let fixed: &[(&str, ExportType, ExportField)] = match table {
        ExportTable::Origins => &ORIGINS,
        ExportTable::Sitemaps => &SITEMAPS,
        ExportTable::Rules => &RULES,
    };
    let mut columns: Vec<ExportColumn> = fixed
        .iter()
        .map(|&(name, kind, field)| ExportColumn {
            name: name.to_owned(),
            kind,
            field,
        })
        .collect();
    if table == ExportTable::Origins {
        for (number, agent) in agents.iter().enumerate() {
            columns.extend(columns_of_agent(number, agent));
        }
    }
    columns
}

/// The columns of the agent with this number. Their names begin with its label.
fn columns_of_agent(number: usize, agent: &Agent) -> [ExportColumn; 3] {
    let label = agent.label();
    [
        ExportColumn {
            name: format!("{label}.access"),
            kind: ExportType::Text,
            field: ExportField::Access(number),
        },
        ExportColumn {
            name: format!("{label}.named"),
            kind: ExportType::Text,
            field: ExportField::Named(number),
        },
        ExportColumn {
            name: format!("{label}.crawl_delay"),
            kind: ExportType::Float,
            field: ExportField::CrawlDelay(number),
        },
    ]
}
