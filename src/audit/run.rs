//! Runs an audit: logs through the pipeline, to a report.

use crate::agent::Agent;
use crate::audit::block_audit::{BlockAuditor, is_better_example};
use crate::audit::broken_rules::BrokenRules;
use crate::audit::counts::{AuditCounts, CrawlerCounts};
use crate::audit::crawler_finder::CrawlerFinder;
use crate::audit::history::AuditHistory;
use crate::audit::identity::{AuditRow, AuditRows};
use crate::audit::options::{AuditOptions, AuditOutputs};
use crate::audit::report::{AuditReport, CrawlerAudit, InvalidLine, RuleException};
use crate::audit::sites::{SiteCounts, known_origins};
use crate::audit::source::{LogBlock, LogSource, RequiredFields};
use crate::audit::timeline::{DatedSnapshot, Timeline};
use crate::container::outputs::LineSink;
use crate::error::{ErrorKind, Result};
use crate::job::Input;
use crate::judge::{StatusPolicy, rfc3339};
use crate::pipeline::Progress;
use crate::pipeline::blocks::BlockKind;
use crate::pipeline::ordered::{self, OrderedItem};
use crate::snapshot::Snapshot;
use crate::url::Origin;
use std::cmp::Reverse;
use std::sync::Arc;

/// Audits access logs by one or several snapshots, on all threads of the current rayon pool.
///
/// A single snapshot with a history ([`Compiler::history`](crate::Compiler::history)) judges each
/// request by the rules in force at its own time: see [`DatedSnapshot::from`].
///
/// Cost: one pass over the logs. Each line is parsed in place; lines of crawlers are judged.
/// Memory: the blocks in flight, a few kilobytes per crawler, and for each rule that a crawler
/// broke some 200 bytes, the rule and a URL. All rules together take at most 256 MiB.
///
/// ```
/// use robosieve::audit::{Audit, AuditOptions, AuditOutputs, DatedSnapshot};
/// use robosieve::job::Input;
/// use robosieve::{Compiler, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: GPTBot\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
///
/// let log =
///     br#"192.0.2.1 - - [01/Aug/2026:00:00:00 +0000] "GET /x HTTP/1.1" 200 9 "-" "GPTBot/1.2"
/// 192.0.2.2 - - [01/Aug/2026:00:00:01 +0000] "GET /x HTTP/1.1" 200 9 "-" "Mozilla/5.0"
/// "#;
/// let options = AuditOptions::default().host("https://e.example".to_owned());
/// let audit = Audit::new(vec![DatedSnapshot::new(None, snapshot)], options)?;
/// let mut breaches = Vec::new();
/// let outputs = AuditOutputs::default().breaches(Some(&mut breaches));
/// let inputs = vec![Input::from_reader("access.log", log.as_slice())];
/// let report = audit.run(inputs, outputs, &|_| {})?;
/// assert_eq!((report.lines, report.other_agents), (2, 1));
/// assert_eq!((&report.crawlers[0].name[..], report.crawlers[0].disallowed), ("GPTBot", 1));
/// assert_eq!(report.crawlers[0].rules[0].rule, "disallow: /x");
/// assert!(log.starts_with(&breaches));
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct Audit {
    finder: CrawlerFinder,
    timeline: Timeline,
    rows: AuditRows,
    snapshots: Vec<Arc<Snapshot>>,
    /// The origin of all requests, if the options give a host.
    origin: Option<Origin>,
    options: AuditOptions,
}

impl Audit {
    /// Prepares an audit. Several snapshots need different times.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for an agent or a verified crawler without a token to look for, and
    /// [`ErrorKind::BadRegistry`] for more than 65,535 crawlers.
    /// [`ErrorKind::BadList`] for a `host` that is not a host or that no snapshot contains, for
    /// `any_host` without a host, and for snapshots of the same time.
    /// [`ErrorKind::Corrupt`] if the bytes of a snapshot contradict each other.
    pub fn new(snapshots: Vec<DatedSnapshot>, options: AuditOptions) -> Result<Self> {
        let finder = CrawlerFinder::new(&options.agents, &options.registry)?;
        let agents: Vec<Agent> = finder
            .crawlers()
            .iter()
            .map(|crawler| crawler.agent.clone())
            .collect();
        let stored: Vec<Arc<Snapshot>> = snapshots
            .iter()
            .map(|dated| Arc::clone(&dated.snapshot))
            .collect();
        let timeline = Timeline::new(snapshots, &agents, options.judge)?;
        let rows = AuditRows::new(&agents, &options.verified)?;
        let origin = options.host.as_deref().map(origin_of).transpose()?;
        match &origin {
            Some(origin) => refuse_unknown_host(origin, &stored, &options)?,
            None if options.any_host => {
                let what = "one host that judges the requests to all needs its name".to_owned();
                return Err(ErrorKind::BadList(what).into());
            }
            None => {}
        }
        Ok(Self {
            finder,
            timeline,
            rows,
            snapshots: stored,
            origin,
            options,
        })
    }

    /// Audits logs, in the order given. `progress` is called after every block that is read.
    ///
    /// # Errors
    /// I/O errors, which name the file. [`ErrorKind::BadList`] for a log of unknown format, for one
    /// of whose first thousand lines none has a User-Agent, for one without hosts if the options
    /// give none, and for one without addresses of clients if the options verify crawlers; and if
    /// no snapshot has a host of any request of a crawler. [`ErrorKind::Corrupt`] of a snapshot,
    /// also if it was overwritten during the audit. Outputs may be incomplete then.
    pub fn run(
        &self,
        logs: Vec<Input>,
        outputs: AuditOutputs<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<AuditReport> {
        let auditor = BlockAuditor {
            finder: &self.finder,
            timeline: &self.timeline,
            rows: &self.rows,
            origin: self.origin.as_ref().map(Origin::as_str),
            is_any_host: self.options.any_host,
            keeps_breaches: outputs.breaches.is_some(),
            breaches_of: outputs.breaches_of,
            annotates: outputs.annotated.is_some(),
        };
        let mut breaches = LineSink::new(outputs.breaches);
        let mut annotated = LineSink::new(outputs.annotated);
        let mut counts = AuditCounts::new(self.rows.all().len());
        let mut history = AuditHistory::default();
        let mut broken_rules = BrokenRules::of_all_logs();
        let mut sites = SiteCounts::of_all_logs();
        let mut invalid_line: Option<(bool, InvalidLine)> = None;
        // A log without hosts is readable if the options name one, and one without addresses if no
        // crawler is verified by them.
        let required = RequiredFields {
            host: self.origin.is_none(),
            client: self.rows.need_addresses(),
        };
        ordered::run(
            &LogSource::new(self.options.format.clone(), required, progress),
            logs.into_iter()
                .map(Input::into_lines)
                .collect::<Result<Vec<_>>>()?,
            || auditor.scratch(),
            |block: &mut LogBlock, scratch| match &block.format {
                Some(format) => auditor.audit(&block.lines, format, scratch, &mut block.audit),
                None => Ok(()),
            },
            |item| {
                let OrderedItem::Block(block) = item else {
                    return Ok(());
                };
                // Blocks arrive in the order of the logs, so the result is independent of the
                // number of threads.
                let audit = &mut block.audit;
                counts.add(&audit.counts);
                audit.events.iter().for_each(|event| history.add(event));
                broken_rules.append(&mut audit.broken_rules);
                sites.append(&audit.sites);
                if let Some((has_crawler, start)) = &audit.invalid_line
                    && is_better_example(&invalid_line, *has_crawler)
                {
                    let line = InvalidLine {
                        path: block.path.display().to_string(),
                        start: String::from_utf8_lossy(start).into_owned(),
                    };
                    invalid_line = Some((*has_crawler, line));
                }
                breaches.write(&audit.breaches, false)?;
                Ok(annotated.write(
                    &audit.annotated,
                    block.lines.kind == BlockKind::LongLineRest,
                )?)
            },
        )?;
        breaches.flush()?;
        annotated.flush()?;
        self.timeline.verify_unchanged()?;
        let report = AuditReport {
            site_count: sites.len(),
            sites: sites.most_requested(),
            unknown_sites: sites.most_unknown(),
            invalid_example: invalid_line.map(|(_, line)| line),
            ..self.report(&counts, &history, &broken_rules)
        };
        self.refuse_unjudged(&report)?;
        Ok(report)
    }

    /// An audit that could judge no request says nothing about the rules.
    fn refuse_unjudged(&self, report: &AuditReport) -> Result<()> {
        let sum = |count: fn(&CrawlerAudit) -> u64| report.crawlers.iter().map(count).sum::<u64>();
        let unknown = sum(|crawler| crawler.unknown);
        // A request for the robots.txt is allowed without a look at the rules.
        if unknown == 0 || sum(|crawler| crawler.requests - crawler.robots_txt) > unknown {
            return Ok(());
        }
        if report.before_first_capture == unknown {
            let what = "no request of a crawler could be judged: all are from before the first \
                        capture of their site; audit by a history with earlier captures";
            return Err(ErrorKind::BadList(what.to_owned()).into());
        }
        let hosts = report.unknown_sites.iter().take(5);
        let hosts: Vec<&str> = hosts.map(|site| &*site.origin).collect();
        let first = hosts.first().copied().unwrap_or_default();
        let what = format!(
            "no request of a crawler could be judged: the logs name {}, and the snapshot has {}; \
             audit by a snapshot that has the site, or name it as the snapshot has it",
            hosts.join(", "),
            known_origins(&self.snapshots, first)
        );
        Err(ErrorKind::BadList(what).into())
    }

    fn report(
        &self,
        counts: &AuditCounts,
        history: &AuditHistory,
        broken_rules: &BrokenRules,
    ) -> AuditReport {
        let rows = self.rows.all();
        // A crawler with a request has all its rows, so that a verified one without requests shows.
        let mut is_listed: Vec<bool> = self
            .finder
            .crawlers()
            .iter()
            .map(|crawler| crawler.is_named)
            .collect();
        for (row, counts) in rows.iter().zip(&counts.rows) {
            is_listed[row.crawler] |= counts.requests > 0;
        }
        let rules = broken_rules.most_broken(rows.len(), self.options.top);
        let mut crawlers = Vec::new();
        for (((number, row), counts), rules) in (0_u32..).zip(rows).zip(&counts.rows).zip(rules) {
            if is_listed[row.crawler] {
                crawlers.push(CrawlerAudit {
                    rules,
                    rules_left_out: broken_rules.left_out(number),
                    after_robots_txt: history.robots_fetches(number),
                    ..self.crawler_report(*row, counts)
                });
            }
        }
        crawlers.sort_by(|a, b| report_order(a).cmp(&report_order(b)));
        AuditReport {
            lines: counts.lines,
            invalid: counts.invalid,
            invalid_with_crawler: counts.invalid_with_crawler,
            other_agents: counts.other_agents,
            without_agent: counts.without_agent,
            first: counts.span.map(|(first, _)| rfc3339(first)),
            last: counts.span.map(|(_, last)| rfc3339(last)),
            before_first_snapshot: counts.before_first_snapshot,
            has_history: self.timeline.has_history(),
            before_first_capture: counts.before_first_capture,
            crawlers,
            ..AuditReport::default()
        }
    }

    fn crawler_report(&self, row: AuditRow, counts: &CrawlerCounts) -> CrawlerAudit {
        let crawler = &self.finder.crawlers()[row.crawler];
        CrawlerAudit {
            name: crawler.name.clone(),
            judged_as: crawler.agent.label().to_owned(),
            exception: crawler.known.as_ref().and_then(RuleException::of),
            identity: row.identity,
            operator: crawler
                .known
                .as_ref()
                .and_then(|known| known.operator.clone()),
            purpose: crawler.known.as_ref().map(|known| known.purpose.name()),
            requests: counts.requests,
            allowed: counts.allowed,
            disallowed: counts.disallowed,
            unknown: counts.unknown,
            within_day_of_change: counts.within_day_of_change,
            between_captures: counts.between_captures,
            disallowed_between_captures: counts.disallowed_between_captures,
            disallowed_after_last_capture: counts.disallowed_after_last_capture,
            robots_txt: counts.robots_txt,
            bytes: counts.bytes,
            disallowed_bytes: counts.disallowed_bytes,
            disallowed_2xx: counts.disallowed_2xx,
            disallowed_without_status: counts.disallowed_without_status,
            without_address: counts.without_address,
            first: counts.span.map(|(first, _)| rfc3339(first)),
            last: counts.span.map(|(_, last)| rfc3339(last)),
            ..CrawlerAudit::default()
        }
    }
}

/// The sort key of a crawler in the report. Those with an exception come after the others, and claims
/// last: they say nothing about the crawler.
fn report_order(crawler: &CrawlerAudit) -> (bool, bool, Reverse<u64>, Reverse<u64>, &str) {
    (
        crawler.is_claimed(),
        crawler.exception.is_some(),
        Reverse(crawler.disallowed),
        Reverse(crawler.requests),
        &crawler.name,
    )
}

/// Refuses a host that no snapshot contains: all its requests would be unknown, and nobody would
/// seem to break the rules.
fn refuse_unknown_host(
    origin: &Origin,
    snapshots: &[Arc<Snapshot>],
    options: &AuditOptions,
) -> Result<()> {
    let judge = &options.judge;
    if judge.unknown.is_some() || judge.status_policy == Some(StatusPolicy::Strict) {
        return Ok(());
    }
    let mut origins = vec![origin.clone()];
    if judge.any_scheme {
        let (scheme, host) = origin.as_str().split_once("://").unwrap_or_default();
        let other = if scheme == "https" { "http" } else { "https" };
        origins.extend(Origin::of(format!("{other}://{host}").as_bytes()));
    }
    for snapshot in snapshots {
        for origin in &origins {
            if snapshot.origin(origin)?.is_some() {
                return Ok(());
            }
        }
    }
    let what = format!(
        "no snapshot has the site {}, so no request could be judged; it has {}: name the host as the \
         snapshot has it, or compile the robots.txt of the site",
        origin.as_str(),
        known_origins(snapshots, origin.as_str())
    );
    Err(ErrorKind::BadList(what).into())
}

/// The origin of a host, or of a scheme and host.
fn origin_of(host: &str) -> Result<Origin> {
    let (scheme, name) = host
        .trim()
        .split_once("://")
        .unwrap_or(("https", host.trim()));
    let name = name.strip_suffix('/').unwrap_or(name);
    let is_host = !name.is_empty() && !name.contains(['/', '?', '#', ' ']);
    let origin = Origin::of(format!("{scheme}://{name}").as_bytes()).filter(|_| is_host);
    origin.ok_or_else(|| {
        ErrorKind::BadList(format!(
            "{host:?} is not a host; give one like example.com or https://example.com"
        ))
        .into()
    })
}
