//! The words that options choose between, and what they mean to the library.

use clap::ValueEnum;
use robosieve::synthetic::Order;
use robosieve::{AgentMatch, InputFormat, Keep, Profile, Require, StatusPolicy, UnknownOrigin};

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident => $target:ty { $($(#[$vdoc:meta])* $variant:ident = $text:literal => $value:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($(#[$vdoc])* #[value(name = $text)] $variant),+ }
        impl $name {
            /// What the choice means to the library.
            pub(crate) fn value(self) -> $target {
                match self { $(Self::$variant => $value),+ }
            }
        }
    };
}

choices!(ProfileArg => Profile {
    /// As Google's open-source parser
    Google = "google" => Profile::Google,
    /// RFC 9309 to the letter
    Rfc9309 = "rfc9309" => Profile::Rfc9309,
});
choices!(PolicyArg => StatusPolicy {
    /// 4xx allows; 429, 5xx and network errors disallow for 30 days, then the last good copy
    Google = "google" => StatusPolicy::Google,
    /// 4xx, 429 too, allows; 5xx and network errors disallow for 30 days, then allow
    Rfc9309 = "rfc9309" => StatusPolicy::Rfc9309,
    /// Unknown origins, redirects to a URL that was not captured, 401, 403, 429, 5xx and network
    /// errors disallow
    Strict = "strict" => StatusPolicy::Strict,
});
choices!(UnknownArg => UnknownOrigin {
    Allow = "allow" => UnknownOrigin::Allow,
    Disallow = "disallow" => UnknownOrigin::Disallow,
});
choices!(SchemeArg => bool {
    /// Only the URL's own scheme
    Exact = "exact" => false,
    /// The other of http and https where the URL's own is missing
    Any = "any" => true,
});
choices!(AgentMatchArg => AgentMatch {
    Extended = "extended" => AgentMatch::Extended,
    Google = "google" => AgentMatch::Google,
});
choices!(KeepArg => Keep {
    Allowed = "allowed" => Keep::Allowed,
    Disallowed = "disallowed" => Keep::Disallowed,
});
/// What annotating gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateArg {
    /// One letter an agent, TAB, the line
    Letters,
    /// JSON objects with a key "robots" that has each agent's verdict
    Jsonl,
    /// One digit an agent, 1 where it may fetch, and nothing else
    Mask,
    /// For Parquet: one int64 column, of which bit 0 is set if the first agent may fetch the URL, bit 1 for the second, up to 63
    Bits,
    /// For Parquet: an int8 column for each agent, 1 if it may fetch the URL, else 0
    Int8,
}

choices!(FormatArg => InputFormat {
    /// One URL a line
    Text = "text" => InputFormat::Text,
    /// Columns between tabs
    Tsv = "tsv" => InputFormat::Tsv,
    /// Columns between commas, quoted where needed
    Csv = "csv" => InputFormat::Csv,
    /// A JSON object a line
    Jsonl = "jsonl" => InputFormat::Jsonl,
    /// A crawl index: sort key, time, JSON object
    Cdxj = "cdxj" => InputFormat::Cdxj,
    /// The older crawl index: fields between blanks
    Cdx = "cdx" => InputFormat::Cdx,
});
choices!(OrderArg => Order {
    /// Grouped by host, as in a crawl index
    Sorted = "sorted" => Order::Sorted,
    /// Mixed, as in a frontier
    Shuffled = "shuffled" => Order::Shuffled,
});
/// Which of the rules that did not decide are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainArg {
    /// Those that match the URL too; the others are counted
    Matching,
    /// All of them
    All,
}

choices!(RequireArg => Require {
    All = "all" => Require::All,
    Any = "any" => Require::Any,
});
