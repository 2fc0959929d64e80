//! The robots.txt that one response stands for, for programs without a snapshot.

use super::status_policy::{Ruling, StatusPolicy, ruling};
use crate::explain::Reason;
use crate::snapshot::{Outcome, OutcomeClass};

/// The robots.txt that a response stands for, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseRobots<'b> {
    /// The body, or a text that allows or disallows everything.
    pub text: &'b [u8],
    /// [`Reason::Rules`] for the body, else the kind of response.
    pub reason: Reason,
}

/// Disallows everything. Under RFC 9309, `/robots.txt` itself stays allowed.
const DISALLOW_ALL: &[u8] = b"user-agent: *\ndisallow: /";

impl StatusPolicy {
    /// The robots.txt that a response stands for: the body of a 2xx, and for any other status a
    /// text that allows or disallows everything. Status 0 stands for no response.
    ///
    /// A single response has no history, so a failing site disallows: the time after which a
    /// failure counts less is that of a [`Snapshot`](crate::Snapshot). `docs/SEMANTICS.md` has the
    /// table of statuses. [`decode_body`](crate::compile::decode_body) removes the codings of a
    /// body.
    ///
    /// `None` for 3xx, which says nothing by itself. Follow redirects and pass the last response,
    /// or 404 after five of them (RFC 9309 §2.3.1.2). A 304 confirms the robots.txt of before.
    ///
    /// ```
    /// use robosieve::judge::{Reason, StatusPolicy};
    /// use robosieve::{Profile, Robots};
    /// let failing = StatusPolicy::Google.robots_of(503, b"").expect("not a redirect");
    /// assert_eq!(failing.reason, Reason::ServerError);
    /// let robots = Robots::parse(failing.text, Profile::Google);
    /// assert!(!robots.allows(&"FooBot".parse()?, "/x"));
    /// let missing = StatusPolicy::Google.robots_of(404, b"<html>").expect("not a redirect");
    /// assert_eq!((missing.text, missing.reason), (&b""[..], Reason::NoRobotsTxt));
    /// assert_eq!(StatusPolicy::Google.robots_of(301, b""), None);
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn robots_of(self, status: u16, body: &[u8]) -> Option<ResponseRobots<'_>> {
        let outcome = Outcome::new(OutcomeClass::of_status(status)?, status);
        let ruling = ruling(self, &outcome, false, None);
        let text = match ruling {
            Ruling::Rules => body,
            Ruling::Disallow => DISALLOW_ALL,
            // Without a history there is no last good copy.
            Ruling::Allow | Ruling::LastGood => b"",
        };
        Some(ResponseRobots {
            text,
            reason: Reason::of(&outcome, ruling),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_value::NamedValue;

    /// The table of `docs/SEMANTICS.md`, for a response without a history.
    #[test]
    fn statuses_mean_what_the_policy_says() {
        let body = b"user-agent: a";
        // The letters of google, google-2012, google-2019, google-2023, google-2026, rfc9309, strict.
        let expected = [
            (400, "AAAAAAA"),
            (401, "AAAAAAD"),
            (403, "AAAAAAD"),
            (404, "AAAAAAA"),
            (410, "AAAAAAA"),
            (429, "DAADDAD"),
            (500, "DDDDDDD"),
            (503, "DDDDDDD"),
            (0, "DDDDDDD"),
            (100, "DDDDDDD"),
            (600, "DDDDDDD"),
        ];
        for (status, letters) in expected {
            assert_eq!(letters.len(), StatusPolicy::NAMES.len());
            for ((policy, name), letter) in StatusPolicy::NAMES.iter().zip(letters.chars()) {
                let found = policy.robots_of(status, body).unwrap();
                let text: &[u8] = if letter == 'A' { b"" } else { DISALLOW_ALL };
                assert_eq!(found.text, text, "{status} {name}");
                assert_ne!(found.reason, Reason::Rules);
            }
        }
        for (policy, _) in StatusPolicy::NAMES {
            for status in [200, 204, 299] {
                let found = policy.robots_of(status, body).unwrap();
                assert_eq!((found.text, found.reason), (&body[..], Reason::Rules));
            }
            for status in [300, 301, 304, 399] {
                assert_eq!(policy.robots_of(status, body), None);
            }
        }
    }
}
