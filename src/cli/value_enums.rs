//! The possible values of options, and their counterparts in the library.

use clap::ValueEnum;
use robosieve::audit::Identity;
use robosieve::filter::{Keep, Require};
use robosieve::judge::{StatusPolicy, UnknownOrigin};
use robosieve::lint::Severity;
use robosieve::records::InputFormat;
use robosieve::report::UnitKind;
use robosieve::snapshot::OutcomeClass;
use robosieve::synthetic::Order;
use robosieve::{AgentMatch, Profile};

macro_rules! value_enum {
    ($(#[$doc:meta])* $name:ident => $target:ty { $($(#[$vdoc:meta])* $variant:ident = $text:literal => $value:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($(#[$vdoc])* #[value(name = $text)] $variant),+ }
        impl $name {
            /// The value of the library.
            pub(crate) fn value(self) -> $target {
                match self { $(Self::$variant => $value),+ }
            }
        }
    };
}

value_enum!(ProfileArg => Profile {
    /// Like Google's open-source parser
    Google = "google" => Profile::Google,
    /// Exactly as RFC 9309
    Rfc9309 = "rfc9309" => Profile::Rfc9309,
});
value_enum!(SeverityArg => Severity {
    /// A line or a file that does not do what it says
    Error = "error" => Severity::Error,
    /// Also lines that some parsers read in another way
    Warning = "warning" => Severity::Warning,
    /// Also lines without effect
    Note = "note" => Severity::Note,
});
value_enum!(PolicyArg => StatusPolicy {
    /// 4xx allows; 429, 5xx and network errors disallow for 30 days, then the last good copy
    Google = "google" => StatusPolicy::Google,
    /// 4xx, including 429, allows; 5xx and network errors disallow for 30 days, then allow
    Rfc9309 = "rfc9309" => StatusPolicy::Rfc9309,
    /// Unknown origins, redirects to a URL that was not captured, 401, 403, 429, 5xx and network
    /// errors disallow
    Strict = "strict" => StatusPolicy::Strict,
});
value_enum!(UnitArg => UnitKind {
    /// Scheme, host and port: http and https count separately
    Origin = "origin" => UnitKind::Origin,
    /// All schemes and ports of a host count once
    Host = "host" => UnitKind::Host,
    /// All hosts of a registrable domain (example.co.uk) count once
    Domain = "domain" => UnitKind::Domain,
});
value_enum!(UnknownArg => UnknownOrigin {
    Allow = "allow" => UnknownOrigin::Allow,
    Disallow = "disallow" => UnknownOrigin::Disallow,
});
value_enum!(SchemeArg => bool {
    /// Use only the entry of the URL's own scheme
    Exact = "exact" => false,
    /// Use the http entry for https URLs, and the reverse, if only one exists
    Any = "any" => true,
});
value_enum!(AgentMatchArg => AgentMatch {
    Extended = "extended" => AgentMatch::Extended,
    Google = "google" => AgentMatch::Google,
});
value_enum!(KeepArg => Keep {
    Allowed = "allowed" => Keep::Allowed,
    Disallowed = "disallowed" => Keep::Disallowed,
});
/// The form of the verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateArg {
    /// One letter per agent, a TAB, the line
    Letters,
    /// JSON objects; the key "robots" has the verdict of each agent
    Jsonl,
    /// One digit per agent, 1 if it may fetch the URL, and nothing else
    Mask,
    /// For Parquet: one int64 column; bit 0 is set if the first agent may fetch the URL, bit 1 for
    /// the second, up to 63 agents; null without a verdict
    Bits,
    /// For Parquet: one int8 column per agent: 0 disallowed, 1 allowed, 2 unknown origin, 3 not a
    /// URL; null for null
    Int8,
}

value_enum!(FormatArg => InputFormat {
    /// One URL per line
    Text = "text" => InputFormat::Text,
    /// Columns separated by tabs
    Tsv = "tsv" => InputFormat::Tsv,
    /// Columns separated by commas, quoted where needed
    Csv = "csv" => InputFormat::Csv,
    /// One JSON object per line
    Jsonl = "jsonl" => InputFormat::Jsonl,
    /// A crawl index: sort key, time, JSON object
    Cdxj = "cdxj" => InputFormat::Cdxj,
    /// The older crawl index: fields separated by spaces
    Cdx = "cdx" => InputFormat::Cdx,
});
value_enum!(OrderArg => Order {
    /// Grouped by host, as in a crawl index
    Sorted = "sorted" => Order::Sorted,
    /// Shuffled, as in a crawl frontier
    Shuffled = "shuffled" => Order::Shuffled,
});
/// Which of the non-deciding rules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainArg {
    /// The rules that match the URL too; the others are counted
    Matching,
    /// All rules of the group
    All,
}

value_enum!(LinesOfArg => Option<Identity> {
    /// All
    All = "all" => None,
    /// From the published addresses of the crawler
    Verified = "verified" => Some(Identity::Verified),
    /// From other addresses, which only claim to be of the crawler
    Claimed = "claimed" => Some(Identity::Claimed),
});
value_enum!(OutcomeArg => OutcomeClass {
    /// 2xx: the rules of the body
    Rules = "rules" => OutcomeClass::Rules,
    /// 4xx except 429
    ClientError = "client-error" => OutcomeClass::ClientError,
    /// 429 and 5xx
    ServerError = "server-error" => OutcomeClass::ServerError,
    /// Network errors, and answers that are not HTTP
    Unreachable = "unreachable" => OutcomeClass::Unreachable,
    /// Redirects that the archives do not resolve
    Unresolved = "unresolved-redirect" => OutcomeClass::Unresolved,
});
value_enum!(RequireArg => Require {
    All = "all" => Require::All,
    Any = "any" => Require::Any,
});
