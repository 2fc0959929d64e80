//! Crawl-delay: the time that a site asks an agent to wait between two requests.
//!
//! RFC 9309 has no such field. `docs/SEMANTICS.md` lists the decisions and their sources.

use crate::agent::{Agent, AgentMatch};
use crate::robots::{AgentLine, RobotsRef};
use std::time::Duration;

/// The stored name of the field.
const FIELD: &str = "crawl-delay";

impl RobotsRef<'_> {
    /// The crawl-delay for `agent`: the time to wait between two requests. `None` if no line gives
    /// one.
    ///
    /// The agent's groups are those of [`groups_for`](Self::groups_for), so a delay of `*` never
    /// holds for an agent that any group names. A line holds for the user-agent lines directly
    /// above it, back to the previous rule or `crawl-delay` line. Of several valid delays, the
    /// longest counts. A valid delay is a number of seconds, such as `10` or `0.5`; any other value
    /// is skipped.
    ///
    /// No verdict depends on it, and Google's crawlers ignore it. A site can write any number, so
    /// limit it before you wait or add it to a time. Cost: one pass over the user-agent lines.
    /// Never panics.
    ///
    /// ```
    /// use robosieve::{AgentMatch, Profile, RobotsRef};
    /// use std::time::Duration;
    /// let text = b"User-agent: FooBot\nCrawl-delay: 0.5\n\nUser-agent: *\nCrawl-delay: 10";
    /// let robots = RobotsRef::parse(text, Profile::Google);
    /// let foo = robots.crawl_delay(&"FooBot".parse()?, AgentMatch::Extended);
    /// assert_eq!(foo, Some(Duration::from_millis(500)));
    /// let bar = robots.crawl_delay(&"BarBot".parse()?, AgentMatch::Extended);
    /// assert_eq!(bar, Some(Duration::from_secs(10)));
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn crawl_delay(&self, agent: &Agent, how: AgentMatch) -> Option<Duration> {
        let (groups, named) = self.groups_for(agent, how);
        let is_for_agent = |line: &AgentLine<'_>| {
            named.map_or(line.is_global(), |name| line.names(name.as_bytes()))
        };
        groups
            .into_iter()
            .filter_map(|group| self.longest_delay(group, is_for_agent))
            .max()
    }

    /// The longest delay of a group that holds for an agent; `is_for_agent` says whether a
    /// user-agent line names it.
    fn longest_delay(
        &self,
        group: usize,
        is_for_agent: impl Fn(&AgentLine<'_>) -> bool,
    ) -> Option<Duration> {
        // The fields are in the order of the file, so those of a group are neighbours.
        let start = self
            .other_fields()
            .partition_point(|field| field.group() < Some(group));
        let fields = self.other_fields()[start..]
            .iter()
            .take_while(|field| field.group() == Some(group));
        let mut agents = self.groups()[group].agents();
        let mut holds = false;
        let mut longest = None;
        for field in fields.filter(|field| field.name() == FIELD) {
            // The user-agent lines since the previous delay; without any, this delay holds for the
            // same agents as the previous one.
            let (run, rest) =
                agents.split_at(agents.partition_point(|agent| agent.line() < field.line()));
            if !run.is_empty() {
                holds = run.iter().any(&is_for_agent);
                agents = rest;
            }
            if holds {
                longest = longest.max(parse_seconds(field.value()));
            }
        }
        longest
    }
}

/// Parses decimal digits with at most one point. Returns `None` for anything else, and for numbers
/// above the range of [`Duration`].
pub(crate) fn parse_seconds(value: &[u8]) -> Option<Duration> {
    if !value.iter().all(|&b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    // The standard parser also accepts signs, exponents and names such as `inf`, which the check
    // above excludes.
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn delays_are_decimal_numbers_of_seconds() {
        for (value, millis) in [
            ("10", Some(10_000)),
            ("0", Some(0)),
            ("010", Some(10_000)),
            ("0.5", Some(500)),
            (".5", Some(500)),
            ("5.", Some(5000)),
            ("3600", Some(3_600_000)),
        ] {
            assert_eq!(
                parse_seconds(value.as_bytes()),
                millis.map(Duration::from_millis),
                "{value}"
            );
        }
        let long = "9".repeat(400);
        for value in [
            "", ".", "1.2.3", "-1", "+1", "1,5", "10s", "10 s", "1e3", "nan", "inf", "0x10", "ten",
            "\u{661}", &long,
        ] {
            assert_eq!(parse_seconds(value.as_bytes()), None, "{value}");
        }
    }

    /// The lines of every group are read once per call, whatever their number.
    #[test]
    fn hostile_files_cost_one_pass() {
        let agent = "FooBot".parse().unwrap();
        let groups = "user-agent:foobot\nallow:\ncrawl-delay:1\n".repeat(12_000);
        let lines = "user-agent:a\n".repeat(20_000) + &"crawl-delay:1\n".repeat(17_000);
        let robots = [groups, lines].map(|text| {
            let delay = RobotsRef::parse(text.as_bytes(), Profile::Google)
                .crawl_delay(&agent, AgentMatch::Extended);
            (text.len() < 500 * 1024, delay)
        });
        assert_eq!(robots, [(true, Some(Duration::from_secs(1))), (true, None)]);
    }
}
