//! What the verdicts on an origin's URLs rest on: rules, an answer that is none, or nothing known.

use super::status_policy::Ruling;
use crate::snapshot::{Outcome, OutcomeClass};
use serde::Serialize;

/// What the verdict on a URL rests on.
///
/// Whether a basis other than rules allows or refuses is the status policy's to say ([`StatusPolicy`](crate::StatusPolicy)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The rules of the origin's newest robots.txt, or their lack: what no rule matches is allowed.
    Rules,
    /// The rules of the last good copy, since the site has failed for 30 days or more.
    LastGoodCopy,
    /// 4xx but 401, 403 and 429, as 404: there is no robots.txt.
    NoRobotsTxt,
    /// 401 or 403: the robots.txt is kept from crawlers.
    Forbidden,
    /// 429 or 5xx.
    ServerError,
    /// DNS failure, timeout, reset, or an answer that is not HTTP.
    Unreachable,
    /// A redirect that led nowhere.
    UnresolvedRedirect,
    /// The snapshot knows nothing of the origin.
    UnknownOrigin,
    /// The text is no URL with scheme and host.
    NotAUrl,
}

impl Reason {
    /// Every basis, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Rules,
        Self::LastGoodCopy,
        Self::NoRobotsTxt,
        Self::Forbidden,
        Self::ServerError,
        Self::Unreachable,
        Self::UnresolvedRedirect,
        Self::UnknownOrigin,
        Self::NotAUrl,
    ];

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::LastGoodCopy => "last-good-copy",
            Self::NoRobotsTxt => "no-robots-txt",
            Self::Forbidden => "forbidden",
            Self::ServerError => "server-error",
            Self::Unreachable => "unreachable",
            Self::UnresolvedRedirect => "unresolved-redirect",
            Self::UnknownOrigin => "unknown-origin",
            Self::NotAUrl => "not-a-url",
        }
    }

    /// The basis of an origin with this outcome, under the policy that made `ruling` of it.
    pub(crate) fn of(outcome: &Outcome, ruling: Ruling) -> Self {
        match outcome.class {
            _ if ruling == Ruling::LastGood => Self::LastGoodCopy,
            OutcomeClass::Rules => Self::Rules,
            OutcomeClass::ClientError if matches!(outcome.status, 401 | 403) => Self::Forbidden,
            OutcomeClass::ClientError => Self::NoRobotsTxt,
            OutcomeClass::ServerError => Self::ServerError,
            OutcomeClass::Unreachable => Self::Unreachable,
            OutcomeClass::Unresolved => Self::UnresolvedRedirect,
        }
    }
}
