//! The snapshot that was valid at a time, with one judge per crawler.
//!
//! A single snapshot without a date is valid at all times. If it has a history, it judges each
//! request as of its own time. A date asks for the newest rules of a snapshot, so those of a dated
//! snapshot judge by these, also if it has a history.
//!
//! A judge of all crawlers would match every path against the rules of each. A judge of one crawler
//! matches one rule set.

use crate::agent::Agent;
use crate::error::{ErrorKind, Result};
use crate::judge::{Judge, JudgeOptions};
use crate::snapshot::Snapshot;
use std::sync::Arc;

/// A snapshot, and the time from which it is valid: until the next snapshot of the audit.
///
/// One with a history and without a time judges each request as of its own:
///
/// ```
/// use robosieve::audit::{Audit, AuditOptions, AuditOutputs, DatedSnapshot};
/// use robosieve::job::Input;
/// use robosieve::{Compiler, Snapshot};
/// let captures = br#"
///     {"url": "https://e.example/robots.txt", "fetched_at": "2026-08-01T00:00:00Z", "body": ""}
///     {"url": "https://e.example/robots.txt", "fetched_at": "2026-08-05T00:00:00Z",
///      "body": "user-agent: *\ndisallow: /x"}"#;
/// let captures = String::from_utf8_lossy(captures).replace(",\n", ",");
/// let mut compiler = Compiler::default().history(true);
/// compiler.add_reader("memory", captures.as_bytes())?;
/// let history = DatedSnapshot::new(None, Snapshot::new(compiler.finish()?.to_vec()?)?);
///
/// // Before the change, within a day of it, and later.
/// let log = br#"h - - [01/Aug/2026:00:00:00 +0000] "GET /x HTTP/1.1" 200 9 "-" "GPTBot"
/// h - - [05/Aug/2026:09:00:00 +0000] "GET /x HTTP/1.1" 200 9 "-" "GPTBot"
/// h - - [08/Aug/2026:00:00:00 +0000] "GET /x HTTP/1.1" 200 9 "-" "GPTBot"
/// "#;
/// let options = AuditOptions::default().host("https://e.example".to_owned());
/// let inputs = vec![Input::from_reader("access.log", log.as_slice())];
/// let audit = Audit::new(vec![history], options)?;
/// let report = audit.run(inputs, AuditOutputs::default(), &|_| {})?;
/// let gptbot = &report.crawlers[0];
/// assert_eq!(
///     [gptbot.allowed, gptbot.within_day_of_change, gptbot.disallowed],
///     [1, 1, 1]
/// );
/// assert_eq!(gptbot.rules[0].example_time, "2026-08-08T00:00:00Z");
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DatedSnapshot {
    /// Seconds since 1970; `None` for the only snapshot, which is valid at all times. If that has a
    /// history, it judges each request by the rules in force at the time of the request. A snapshot
    /// with a time judges by its newest rules.
    pub from: Option<i64>,
    /// The snapshot.
    pub snapshot: Arc<Snapshot>,
}

impl DatedSnapshot {
    /// A snapshot that is valid from a time on.
    pub fn new(from: impl Into<Option<i64>>, snapshot: impl Into<Arc<Snapshot>>) -> Self {
        Self {
            from: from.into(),
            snapshot: snapshot.into(),
        }
    }
}

/// The snapshots of an audit, sorted by time.
#[derive(Debug)]
pub(super) struct Timeline {
    starts: Vec<i64>,
    /// For each snapshot the judges of the crawlers.
    judges: Vec<Vec<Judge>>,
    /// Whether the only snapshot judges each request as of its own time.
    has_history: bool,
}

/// The snapshot for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValidSnapshot {
    pub number: usize,
    /// Whether the request is older than the first snapshot, which stands in.
    pub is_before_first: bool,
}

impl Timeline {
    /// Fails if the file of a snapshot was overwritten since it was opened.
    pub(super) fn verify_unchanged(&self) -> Result<()> {
        let judges = self.judges.iter().filter_map(|judges| judges.first());
        judges
            .map(Judge::snapshot)
            .try_for_each(|snapshot| snapshot.verify_unchanged())
    }

    pub(super) fn new(
        mut snapshots: Vec<DatedSnapshot>,
        agents: &[Agent],
        options: JudgeOptions,
    ) -> Result<Self> {
        snapshots.sort_by_key(|dated| dated.from);
        let starts: Vec<i64> = snapshots
            .iter()
            .map(|dated| dated.from.unwrap_or(i64::MIN))
            .collect();
        if starts.is_empty() {
            return Err(ErrorKind::BadList("an audit needs a snapshot".to_owned()).into());
        }
        if starts.windows(2).any(|pair| pair[0] == pair[1]) {
            let what = "two snapshots are valid from the same time on; give each a date of its own";
            return Err(ErrorKind::BadList(what.to_owned()).into());
        }
        let has_history = match &snapshots[..] {
            [only] => only.from.is_none() && options.as_of.is_none() && only.snapshot.has_history(),
            _ => false,
        };
        let judges = snapshots
            .iter()
            .map(|dated| judges_of(&dated.snapshot, agents, options));
        Ok(Self {
            starts,
            judges: judges.collect::<Result<_>>()?,
            has_history,
        })
    }

    /// Whether the only snapshot judges each request as of its own time.
    pub(super) fn has_history(&self) -> bool {
        self.has_history
    }

    /// The number of snapshots.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The newest snapshot that is not newer than the time; for an earlier time the first.
    pub(super) fn at(&self, time: i64) -> ValidSnapshot {
        let after = self.starts.partition_point(|start| *start <= time);
        ValidSnapshot {
            number: after.saturating_sub(1),
            is_before_first: after == 0,
        }
    }

    /// The judge of one crawler by one snapshot.
    pub(super) fn judge(&self, snapshot: usize, crawler: u16) -> &Judge {
        &self.judges[snapshot][usize::from(crawler)]
    }
}

/// A judge for each agent. Each request has one crawler, so a judge is for one agent, not for all.
/// They share the old texts of a history, so each is parsed once.
fn judges_of(
    snapshot: &Arc<Snapshot>,
    agents: &[Agent],
    options: JudgeOptions,
) -> Result<Vec<Judge>> {
    let mut judges: Vec<Judge> = Vec::with_capacity(agents.len());
    for agent in agents {
        let agent = std::slice::from_ref(agent);
        let judge = match judges.first() {
            Some(first) => first.for_agents(agent)?,
            None => Judge::new(Arc::clone(snapshot), agent, options)?,
        };
        judges.push(judge);
    }
    Ok(judges)
}
