//! Runs an audit: logs through the pipeline, to a report.

use crate::agent::Agent;
use crate::audit::address_ranges::AddressRanges;
use crate::audit::block_audit::BlockAuditor;
use crate::audit::broken_rules::BrokenRules;
use crate::audit::counts::{AuditCounts, CrawlerCounts};
use crate::audit::crawler_finder::CrawlerFinder;
use crate::audit::history::AuditHistory;
use crate::audit::options::{AuditOptions, AuditOutputs};
use crate::audit::report::{AuditReport, CrawlerAudit};
use crate::audit::source::{LogBlock, LogSource};
use crate::audit::timeline::{DatedSnapshot, Timeline};
use crate::error::{ErrorKind, Result};
use crate::filter::output::LineSink;
use crate::judge::rfc3339;
use crate::pipeline::blocks::BlockKind;
use crate::pipeline::ordered::{self, OrderedItem};
use crate::pipeline::{FilterProgress, Input};
use crate::url::Origin;

/// Audits access logs by one or several snapshots, on all threads of the current rayon pool.
///
/// Cost: one pass over the logs. Each line is parsed in place; lines of crawlers are judged.
/// Memory: the blocks in flight, a few kilobytes per crawler, and some 200
/// bytes per rule that a crawler broke.
///
/// ```
/// use robosieve::audit::{Audit, AuditOptions, AuditOutputs, DatedSnapshot};
/// use robosieve::filter::Input;
/// use robosieve::{Compiler, Snapshot};
/// let mut compiler = Compiler::default();
/// compiler.add_robots("https://e.example", b"user-agent: GPTBot\ndisallow: /x")?;
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
///
/// let log = br#"192.0.2.1 - - [01/Aug/2026:00:00:00 +0000] "GET /x HTTP/1.1" 200 9 "-" "GPTBot/1.2"
/// 192.0.2.2 - - [01/Aug/2026:00:00:01 +0000] "GET /x HTTP/1.1" 200 9 "-" "Mozilla/5.0"
/// "#;
/// let options = AuditOptions::default().host("https://e.example".to_owned());
/// let audit = Audit::new(vec![DatedSnapshot::new(None, snapshot)], options)?;
/// let mut breaches = Vec::new();
/// let outputs = AuditOutputs { breaches: Some(&mut breaches), ..AuditOutputs::default() };
/// let report = audit.run(vec![Input::from_reader("access.log", log.as_slice())], outputs, &|_| {})?;
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
    ranges: Vec<Option<AddressRanges>>,
    /// The origin of all requests, if the options give a host.
    origin: Option<Origin>,
    options: AuditOptions,
}

impl Audit {
    /// Prepares an audit. Several snapshots need different times.
    ///
    /// # Errors
    /// [`ErrorKind::BadAgent`] for an agent or a verified crawler without a token to look for.
    /// [`ErrorKind::BadList`] for a host that is none, and for snapshots of the same time.
    /// [`ErrorKind::Corrupt`] if the bytes of a snapshot contradict each other.
    pub fn new(snapshots: Vec<DatedSnapshot>, options: AuditOptions) -> Result<Self> {
        let finder = CrawlerFinder::new(&options.agents)?;
        let agents: Vec<Agent> = finder.crawlers().iter().map(|crawler| crawler.agent.clone()).collect();
        let timeline = Timeline::new(snapshots, &agents, options.judge)?;
        let ranges = ranges_by_crawler(&agents, &options)?;
        let origin = options.host.as_deref().map(origin_of).transpose()?;
        Ok(Self { finder, timeline, ranges, origin, options })
    }

    /// Audits logs, in the order given. `progress` is called after every block that is read.
    ///
    /// # Errors
    /// I/O errors, which name the file. [`ErrorKind::BadList`] for a log of unknown format, and for
    /// one without hosts if the options give none. [`ErrorKind::Corrupt`] of a snapshot. Outputs
    /// may be incomplete then.
    pub fn run(
        &self,
        logs: Vec<Input>,
        outputs: AuditOutputs<'_>,
        progress: &(dyn Fn(FilterProgress) + Sync),
    ) -> Result<AuditReport> {
        let auditor = BlockAuditor {
            finder: &self.finder,
            timeline: &self.timeline,
            ranges: &self.ranges,
            origin: self.origin.as_ref().map(Origin::as_str),
            keeps_breaches: outputs.breaches.is_some(),
            annotates: outputs.annotated.is_some(),
        };
        let mut breaches = LineSink::new(outputs.breaches);
        let mut annotated = LineSink::new(outputs.annotated);
        let mut counts = AuditCounts::new(self.finder.crawlers().len());
        let (mut history, mut broken_rules) = (AuditHistory::default(), BrokenRules::default());
        ordered::run(
            &LogSource::new(self.options.format.clone(), self.origin.is_none(), progress),
            logs,
            || auditor.scratch(),
            |block: &mut LogBlock, scratch| match &block.format {
                Some(format) => auditor.audit(&block.lines, format, scratch, &mut block.audit),
                None => Ok(()),
            },
            |item| {
                let OrderedItem::Block(block) = item else { return Ok(()) };
                let audit = &mut block.audit;
                counts.add(&audit.counts);
                audit.events.iter().for_each(|event| history.add(event));
                broken_rules.append(&mut audit.broken_rules);
                breaches.write(&audit.breaches, false)?;
                Ok(annotated.write(&audit.annotated, block.lines.kind == BlockKind::LongLineRest)?)
            },
        )?;
        breaches.flush()?;
        annotated.flush()?;
        Ok(self.report(&counts, &history, &broken_rules))
    }

    fn report(&self, counts: &AuditCounts, history: &AuditHistory, broken_rules: &BrokenRules) -> AuditReport {
        let rules = broken_rules.most_broken(counts.crawlers.len(), self.options.top);
        let crawlers = self.finder.crawlers().iter().zip(&counts.crawlers).zip(0_u16..).zip(rules);
        let seen = crawlers.filter(|(((crawler, counts), _), _)| crawler.is_named || counts.requests > 0);
        let crawlers = seen.map(|(((_, counts), number), rules)| CrawlerAudit {
            rules,
            rules_exact: broken_rules.is_complete(),
            ..self.crawler_report(number, counts, history)
        });
        let mut crawlers: Vec<CrawlerAudit> = crawlers.collect();
        crawlers.sort_by(|a, b| {
            (b.disallowed, b.requests).cmp(&(a.disallowed, a.requests)).then_with(|| a.name.cmp(&b.name))
        });
        AuditReport {
            lines: counts.lines,
            invalid: counts.invalid,
            other_agents: counts.other_agents,
            before_first_snapshot: counts.before_first_snapshot,
            crawlers,
        }
    }

    fn crawler_report(&self, number: u16, counts: &CrawlerCounts, history: &AuditHistory) -> CrawlerAudit {
        let crawler = &self.finder.crawlers()[usize::from(number)];
        let is_verifiable = self.ranges[usize::from(number)].is_some();
        let verifiable = |count: u64| is_verifiable.then_some(count);
        CrawlerAudit {
            name: crawler.agent.label().to_owned(),
            operator: crawler.known.map(|known| known.operator),
            purpose: crawler.known.map(|known| known.purpose.name()),
            requests: counts.requests,
            allowed: counts.allowed,
            disallowed: counts.disallowed,
            unknown: counts.unknown,
            robots_txt: counts.robots_txt,
            bytes: counts.bytes,
            disallowed_bytes: counts.disallowed_bytes,
            disallowed_2xx: counts.disallowed_2xx,
            first: counts.span.map(|(first, _)| rfc3339(first)),
            last: counts.span.map(|(_, last)| rfc3339(last)),
            after_robots_txt: history.robots_fetches(number),
            verified: verifiable(counts.verified),
            claimed: verifiable(counts.requests - counts.verified),
            verified_disallowed: verifiable(counts.verified_disallowed),
            claimed_disallowed: verifiable(counts.disallowed - counts.verified_disallowed),
            ..CrawlerAudit::default()
        }
    }
}

/// The origin of a host, or of a scheme and host.
fn origin_of(host: &str) -> Result<Origin> {
    let (scheme, name) = host.trim().split_once("://").unwrap_or(("https", host.trim()));
    let name = name.strip_suffix('/').unwrap_or(name);
    let is_host = !name.is_empty() && !name.contains(['/', '?', '#', ' ']);
    let origin = Origin::of(format!("{scheme}://{name}").as_bytes()).filter(|_| is_host);
    origin.ok_or_else(|| {
        ErrorKind::BadList(format!("{host:?} is not a host; give one like example.com or https://example.com")).into()
    })
}

/// For each crawler the union of its ranges, or of those for all.
fn ranges_by_crawler(agents: &[Agent], options: &AuditOptions) -> Result<Vec<Option<AddressRanges>>> {
    let mut own: Vec<Option<AddressRanges>> = vec![None; agents.len()];
    let mut shared: Option<AddressRanges> = None;
    for verified in &options.verified {
        let ranges = match &verified.crawler {
            None => &mut shared,
            Some(name) => {
                let is_named =
                    |agent: &Agent| agent.names().next().is_some_and(|token| token.eq_ignore_ascii_case(name));
                let what = "no crawler of the audit has this name; add it to the agents".to_owned();
                let unknown = || ErrorKind::BadAgent { name: name.clone(), what };
                &mut own[agents.iter().position(is_named).ok_or_else(unknown)?]
            }
        };
        *ranges = Some(ranges.take().unwrap_or_default().union(verified.ranges.clone()));
    }
    Ok(own.into_iter().map(|ranges| ranges.or_else(|| shared.clone())).collect())
}
