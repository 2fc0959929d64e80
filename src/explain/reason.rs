//! The reason of a verdict: rules, a failed fetch, or an unknown origin.

use crate::named_value::named_values;

/// The reason of a verdict.
///
/// Without rules, the [`StatusPolicy`](crate::judge::StatusPolicy) decides which reasons allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The origin's newest robots.txt. A URL that no rule matches is allowed.
    Rules,
    /// The rules of the last good copy, because the site has failed for longer than the policy
    /// disallows it: 30 days, or 12 hours.
    LastGoodCopy,
    /// 4xx except 401, 403 and 429, such as 404: there is no robots.txt.
    NoRobotsTxt,
    /// 401 or 403: crawlers may not read the robots.txt.
    Forbidden,
    /// 429 or 5xx.
    ServerError,
    /// DNS failure, timeout, reset, or an answer that is not HTTP.
    Unreachable,
    /// A redirect without a final answer.
    UnresolvedRedirect,
    /// The snapshot does not contain the origin.
    UnknownOrigin,
    /// The text is not a URL with a scheme and a host.
    NotAUrl,
    /// The row states no time, or none that can be read, and is to be judged as of its time.
    UnknownTime,
}

impl Reason {
    /// All reasons, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::Rules,
        Self::LastGoodCopy,
        Self::NoRobotsTxt,
        Self::Forbidden,
        Self::ServerError,
        Self::Unreachable,
        Self::UnresolvedRedirect,
        Self::UnknownOrigin,
        Self::NotAUrl,
        Self::UnknownTime,
    ];

    /// Whether the rules of a robots.txt decide: its newest copy, or the last good one. Otherwise the
    /// site has none, fails, or is unknown, and the status policy decides.
    ///
    /// ```
    /// use robosieve::judge::Reason;
    /// assert!(Reason::LastGoodCopy.is_by_rules() && !Reason::ServerError.is_by_rules());
    /// ```
    pub fn is_by_rules(self) -> bool {
        matches!(self, Self::Rules | Self::LastGoodCopy)
    }

    /// A description, such as `unreachable` or `robots.txt forbidden (401, 403)`.
    pub fn description(self) -> &'static str {
        match self {
            Self::Rules => "the rules of a robots.txt",
            Self::LastGoodCopy => "an older robots.txt, of a site that fails",
            Self::NoRobotsTxt => "no robots.txt (404 and the like)",
            Self::Forbidden => "robots.txt forbidden (401, 403)",
            Self::ServerError => "server error (429, 5xx)",
            Self::Unreachable => "unreachable",
            Self::UnresolvedRedirect => "a redirect to nowhere",
            Self::UnknownOrigin => "not in the snapshot",
            Self::NotAUrl => "not a URL",
            Self::UnknownTime => "no time in the row",
        }
    }
}

named_values! {
    /// The name in reports and JSON, and on the command line.
    Reason {
        Rules = "rules",
        LastGoodCopy = "last-good-copy",
        NoRobotsTxt = "no-robots-txt",
        Forbidden = "forbidden",
        ServerError = "server-error",
        Unreachable = "unreachable",
        UnresolvedRedirect = "unresolved-redirect",
        UnknownOrigin = "unknown-origin",
        NotAUrl = "not-a-url",
        UnknownTime = "unknown-time",
    }
}
