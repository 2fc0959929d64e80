//! The options with named values: their help, and those that only the command has.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use robosieve::audit::Identity;
use robosieve::export::ColumnNames;
use robosieve::filter_lists::WordsIn;
use robosieve::job::{AddedColumn, Form, Keep, Require};
use robosieve::judge::{NoTime, Reason, StatusPolicy, UnknownOrigin};
use robosieve::lint::Severity;
use robosieve::records::InputFormat;
use robosieve::snapshot::OutcomeClass;
use robosieve::{AgentMatch, NamedValue, Profile};
use robosieve_synthetic::Order;

/// An option of the library that the command takes by name.
pub(crate) trait OptionValue: NamedValue + Send + Sync {
    /// The help of each value, in the order of [`NamedValue::NAMES`]; empty if the names say all.
    const HELP: &'static [&'static str];
}

/// A parser of the names of an option's values.
pub(crate) fn named<T: OptionValue>() -> impl TypedValueParser<Value = T> {
    let mut values = Vec::new();
    for (i, (_, name)) in T::NAMES.iter().enumerate() {
        let value = PossibleValue::new(*name);
        values.push(match T::HELP.get(i) {
            Some(help) => value.help(*help),
            None => value,
        });
    }
    PossibleValuesParser::new(values).try_map(|name| name.parse::<T>())
}

/// The long help of an option with too many names for the summary of `-h`, which hides them.
pub(crate) fn listing_values<T: OptionValue>(text: &str) -> String {
    // A value without a help text would be left out.
    const { assert!(T::NAMES.len() == T::HELP.len()) }
    let values = T::NAMES.iter().zip(T::HELP);
    let lines: Vec<String> = values
        .map(|((_, name), help)| format!("- {name}: {help}"))
        .collect();
    format!("{text}\n\nPossible values:\n{}", lines.join("\n"))
}

impl OptionValue for Profile {
    const HELP: &'static [&'static str] =
        &["Like Google's open-source parser", "Exactly as RFC 9309"];
}

impl OptionValue for Severity {
    const HELP: &'static [&'static str] = &[
        "A line or a file that does not do what it says",
        "Also lines that some parsers read in another way",
        "Also lines without effect",
    ];
}

impl OptionValue for StatusPolicy {
    const HELP: &'static [&'static str] = &[
        "4xx allows; 429, 5xx and network errors disallow for 30 days, then the last good copy",
        "Google's edition of 2012: 4xx, including 429, allows; 5xx and network errors disallow",
        "That of 2019: as google, but 429 allows",
        "That of 2023: the same as google",
        "That of April 2026: as google, but failures disallow for 12 hours, then the last good copy \
         holds until day 30, then everything is allowed",
        "4xx, including 429, allows; 5xx and network errors disallow for 30 days, then allow",
        "Unknown origins, redirects to a URL that was not captured, 401, 403, 429, 5xx and network \
         errors disallow",
    ];
}

impl OptionValue for ColumnNames {
    const HELP: &'static [&'static str] = &[
        "GPTBot.access: the agent as given",
        "GPTBot_access: letters, digits and underscores only",
    ];
}

impl OptionValue for WordsIn {
    const HELP: &'static [&'static str] = &[
        "Everything after the scheme but the fragment",
        "The host and the port",
        "Path and query",
    ];
}

impl OptionValue for UnknownOrigin {
    const HELP: &'static [&'static str] = &[];
}

impl OptionValue for NoTime {
    const HELP: &'static [&'static str] = &[];
}

impl OptionValue for AgentMatch {
    const HELP: &'static [&'static str] = &[];
}

impl OptionValue for Keep {
    const HELP: &'static [&'static str] = &[];
}

impl OptionValue for Require {
    const HELP: &'static [&'static str] = &[];
}

impl OptionValue for Form {
    const HELP: &'static [&'static str] = &[
        "One letter per agent, a TAB, the line; in a CSV the letters and the TAB become a part of \
         the first column, so take csv there",
        "JSON objects; the key \"robots\" has the verdict of each agent",
        "For CSV and TSV: columns before the others, with their delimiter: the verdict of each \
         agent (robots_GPTBot), and those of --add",
        "One digit per agent, 1 if it may fetch the URL, and nothing else",
        "For Parquet: one int64 column; bit 0 is set if the first agent may fetch the URL, bit 1 \
         for the second, up to 63 agents; null without a verdict",
        "For Parquet: one int8 column per agent: 0 disallowed, 1 allowed, 2 unknown origin, 3 not \
         a URL; null for null",
    ];
}

impl OptionValue for Reason {
    const HELP: &'static [&'static str] = &[
        "The newest robots.txt, also if no rule matches",
        "An older robots.txt, of a site that fails",
        "404 and other 4xx, except the next two",
        "401 and 403",
        "429 and 5xx",
        "No response, or none that is HTTP",
        "A redirect that leads to no robots.txt",
        "Not in the snapshot",
        "Not a URL",
    ];
}

impl OptionValue for AddedColumn {
    const HELP: &'static [&'static str] = &[
        "The URL's origin, as `export` writes it: robots_origin",
        "What the verdicts rest on, such as rules or server-error: robots_reason",
        "The crawl-delay for each agent in seconds: the key robots_crawl_delay, or a column per \
         agent",
        "The line of the robots.txt that disallows the URL to each agent: robots_rule, in the same \
         way",
        "The number of that line: robots_line",
        "The name by which the agent obeys that line, or *: robots_agent",
        "The filter lists that name the URL, for annotate only: robots_list",
        "Their entry, for annotate only: robots_entry",
    ];
}

impl OptionValue for InputFormat {
    const HELP: &'static [&'static str] = &[
        "One URL per line",
        "Columns separated by tabs, without quotes",
        "Columns separated by commas, quoted where needed",
        "One JSON object per line",
        "A crawl index: sort key, time, JSON object",
        "The older crawl index: fields separated by spaces",
    ];
}

impl OptionValue for OutcomeClass {
    const HELP: &'static [&'static str] = &[
        "2xx: the rules of the body",
        "4xx except 429",
        "429 and 5xx",
        "Network errors, and answers that are not HTTP",
        "Redirects that the archives do not resolve",
    ];
}

/// The entries that judge a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeArg {
    /// Use only the entry of the URL's own scheme
    Exact,
    /// Use the http entry for https URLs, and the reverse, if only one exists
    Any,
}

/// The order of a synthetic list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// Grouped by host, as in a crawl index
    Sorted,
    /// Shuffled, as in a crawl frontier
    Shuffled,
}

impl OrderArg {
    /// The order in the options of a synthetic web.
    pub(crate) fn order(self) -> Order {
        match self {
            Self::Sorted => Order::Sorted,
            Self::Shuffled => Order::Shuffled,
        }
    }
}

/// Which of the non-deciding rules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainArg {
    /// The rules that match the URL too; the others are counted
    Matching,
    /// All rules of the group
    All,
}

/// The format of verdicts that are not as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExpectFormat {
    /// FILE:LINE: and a sentence, as compilers print errors
    Text,
    /// Annotations of GitHub Actions
    Github,
    /// A report in JUnit's XML, with all expectations
    Junit,
}

/// The requests that a list of breaches has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinesOfArg {
    /// All
    All,
    /// From the published addresses of the crawler
    Verified,
    /// From other addresses, which only claim to be of the crawler
    Claimed,
}

impl LinesOfArg {
    /// The identity of the requests; `None` for all.
    pub(crate) fn identity(self) -> Option<Identity> {
        match self {
            Self::All => None,
            Self::Verified => Some(Identity::Verified),
            Self::Claimed => Some(Identity::Claimed),
        }
    }
}
