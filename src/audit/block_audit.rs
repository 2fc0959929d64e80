//! Audits the lines of one block: parse, find the crawler, judge, count.
//!
//! Most lines are of browsers. For them the work ends after the cached look-up of the crawler, with
//! no copy of the line and without reading the other fields. They must be parsed all the same,
//! because invalid lines are counted.

use crate::audit::address_ranges::is_address;
use crate::audit::broken_rules::BrokenRules;
use crate::audit::counts::{AuditCounts, RequestVerdict};
use crate::audit::crawler_finder::{CrawlerFinder, FinderCache};
use crate::audit::delimiter_index::DelimiterIndex;
use crate::audit::format::{FormatParser, LogFormat};
use crate::audit::identity::{AuditRows, Identity};
use crate::audit::record::{LogRecord, is_agent, url_scheme_len};
use crate::audit::sites::SiteCounts;
use crate::audit::template::TextFields;
use crate::audit::timeline::Timeline;
use crate::error::Result;
use crate::file_format::without_mark;
use crate::judge::{JudgeSession, NearbyRules, RefusingLines, TimedAnswer, Verdict};
use crate::pipeline::blocks::{BlockKind, LineBlock};
use crate::profile::Profile;
use crate::records::without_end;
use crate::url;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The bytes of old texts that the sessions of a worker took before it drops the sessions, and with
/// them the rules of these texts. A session of each crawler may hold those of 256 sites.
const MAX_OLD_TEXT_BYTES: usize = 16 << 20;

/// The bytes of an invalid line that a report has at most.
const MAX_INVALID_LINE: usize = 200;

/// The result of a block.
#[derive(Debug, Default)]
pub(super) struct BlockAudit {
    pub counts: AuditCounts,
    /// The events whose counts depend on the order of the lines, in that order.
    pub events: Vec<AuditEvent>,
    pub broken_rules: BrokenRules,
    pub sites: SiteCounts,
    /// The start of the first line that does not have the format of the log, and whether it names a
    /// crawler. Lines that do come before others.
    pub invalid_line: Option<(bool, Vec<u8>)>,
    /// The lines of the breaches.
    pub breaches: Vec<u8>,
    /// All lines with their verdicts.
    pub annotated: Vec<u8>,
}

/// A request that matters for later ones.
#[derive(Clone, Debug)]
pub(super) struct AuditEvent {
    /// The row of the report.
    pub row: u32,
    /// The hash of the site's origin in canonical form.
    pub site: u64,
    pub time: i64,
    /// Whether the request broke the rules. All others are for the robots.txt.
    pub is_breach: bool,
}

/// The state that all workers share.
pub(super) struct BlockAuditor<'a> {
    pub finder: &'a CrawlerFinder,
    pub timeline: &'a Timeline,
    pub rows: &'a AuditRows,
    /// The origin of all requests; `None` takes it from the log.
    pub origin: Option<&'a str>,
    /// Whether the rules of `origin` judge requests to every host of the log.
    pub is_any_host: bool,
    pub keeps_breaches: bool,
    /// The identity of the kept breaches; `None` for all.
    pub breaches_of: Option<Identity>,
    pub annotates: bool,
}

/// One worker's memory.
pub(super) struct AuditScratch<'a> {
    index: DelimiterIndex,
    fields: TextFields,
    cache: FinderCache,
    /// The URL that is judged.
    url: Vec<u8>,
    /// The URL for people. It differs if one origin judges the requests to every host.
    shown: Vec<u8>,
    /// The canonical form of an origin that is logged otherwise.
    origin: Vec<u8>,
    /// A session per snapshot and crawler, once used.
    sessions: Vec<Option<JudgeSession<'a>>>,
    /// The bytes of the old texts that these took.
    old_text_bytes: usize,
    lines: RefusingLines,
}

/// The result of a line.
struct LineResult {
    crawler: Option<u16>,
    letter: u8,
}

impl BlockAudit {
    /// The memory of the texts and of the rules. Events and counts are small.
    pub(super) fn bytes_held(&self) -> usize {
        self.broken_rules.bytes() + self.breaches.capacity() + self.annotated.capacity()
    }

    fn count_invalid(&mut self) -> LineResult {
        self.counts.invalid += 1;
        LineResult {
            crawler: None,
            letter: b'I',
        }
    }

    /// Counts a line that does not have the format of the log.
    #[cold]
    fn count_unreadable(&mut self, line: &[u8], finder: &CrawlerFinder) -> LineResult {
        let has_crawler = finder.find(line).is_some();
        self.counts.invalid_with_crawler += u64::from(has_crawler);
        if is_better_example(&self.invalid_line, has_crawler) {
            let start = &line[..line.len().min(MAX_INVALID_LINE)];
            self.invalid_line = Some((has_crawler, start.to_vec()));
        }
        self.count_invalid()
    }

    fn count_other_agent(&mut self, user_agent: &[u8], time: i64) -> LineResult {
        self.counts.other_agents += 1;
        self.counts.without_agent += u64::from(!is_agent(user_agent));
        self.counts.extend_span(time, time);
        LineResult {
            crawler: None,
            letter: b'-',
        }
    }
}

impl<'a> BlockAuditor<'a> {
    pub(super) fn scratch(&self) -> AuditScratch<'a> {
        let sessions = self.timeline.len() * self.finder.crawlers().len();
        AuditScratch {
            index: DelimiterIndex::default(),
            fields: TextFields::default(),
            cache: FinderCache::default(),
            url: Vec::new(),
            shown: Vec::new(),
            origin: Vec::new(),
            sessions: (0..sessions).map(|_| None).collect(),
            old_text_bytes: 0,
            lines: RefusingLines::default(),
        }
    }

    /// Audits all lines of a block.
    pub(super) fn audit(
        &self,
        lines: &LineBlock,
        format: &LogFormat,
        scratch: &mut AuditScratch<'a>,
        out: &mut BlockAudit,
    ) -> Result<()> {
        // Logs may have different formats, and a block has one.
        scratch.fields = TextFields::default();
        out.counts.clear(self.rows.all().len());
        out.events.clear();
        out.broken_rules.clear();
        out.sites.clear();
        out.invalid_line = None;
        [&mut out.breaches, &mut out.annotated]
            .into_iter()
            .for_each(Vec::clear);
        match lines.kind {
            BlockKind::Lines | BlockKind::Header => {
                self.audit_lines(lines.data(), format, scratch, out)?
            }
            BlockKind::LongLineStart => {
                out.counts.lines += 1;
                let result = out.count_invalid();
                self.annotate(&result, lines.data(), out);
            }
            BlockKind::LongLineRest if self.annotates => {
                out.annotated.extend_from_slice(lines.data())
            }
            BlockKind::LongLineRest => {}
        }
        Ok(())
    }

    fn audit_lines(
        &self,
        data: &[u8],
        format: &LogFormat,
        scratch: &mut AuditScratch<'a>,
        out: &mut BlockAudit,
    ) -> Result<()> {
        // A `#Fields:` line within the block changes the format of the lines after it.
        let mut changed: Option<LogFormat> = None;
        let mut index = std::mem::take(&mut scratch.index);
        index.scan(data);
        let mut start = 0;
        for &end in index.line_ends() {
            let line = start..end;
            start = end;
            let text = &data[line.clone()];
            let format = changed.as_ref().unwrap_or(format);
            if format.is_comment(text) {
                changed = format.after_line(text).or(changed);
                if self.annotates {
                    out.annotated.extend_from_slice(text);
                }
                continue;
            }
            let result = self.audit_line(data, &index, line, format, scratch, out)?;
            self.annotate(&result, text, out);
        }
        scratch.index = index;
        Ok(())
    }

    #[inline]
    fn annotate(&self, result: &LineResult, line: &[u8], out: &mut BlockAudit) {
        if self.annotates {
            let name = result.crawler.map_or("-", |crawler| {
                &self.finder.crawlers()[usize::from(crawler)].name
            });
            out.annotated.extend_from_slice(&[result.letter, b'\t']);
            out.annotated.extend_from_slice(name.as_bytes());
            out.annotated.push(b'\t');
            out.annotated.extend_from_slice(line);
        }
    }

    fn audit_line(
        &self,
        data: &[u8],
        index: &DelimiterIndex,
        line: Range<usize>,
        format: &LogFormat,
        scratch: &mut AuditScratch<'a>,
        out: &mut BlockAudit,
    ) -> Result<LineResult> {
        out.counts.lines += 1;
        let whole_line = &data[line.clone()];
        let text = without_end(whole_line);
        let end = line.start + text.len();
        let text = without_mark(text);
        let record = match &format.0 {
            FormatParser::Text(template) => {
                let fields = &mut scratch.fields;
                if template
                    .parse(data, index, end - text.len()..end, fields)
                    .is_none()
                {
                    return Ok(out.count_unreadable(text, self.finder));
                }
                // The other fields are read only if the User-Agent is that of a crawler.
                let user_agent = fields.user_agent(data);
                return match scratch.cache.find(self.finder, &user_agent) {
                    Some(crawler) => {
                        let record = fields.record(data);
                        self.audit_request(crawler, &record, whole_line, scratch, out)
                    }
                    None => Ok(out.count_other_agent(&user_agent, fields.time())),
                };
            }
            _ => format.record(text),
        };
        let Some(record) = record else {
            return Ok(out.count_unreadable(text, self.finder));
        };
        match scratch.cache.find(self.finder, &record.user_agent) {
            Some(crawler) => self.audit_request(crawler, &record, whole_line, scratch, out),
            None => Ok(out.count_other_agent(&record.user_agent, record.time)),
        }
    }

    /// Judges and counts the request of a crawler.
    ///
    /// It is not inlined, because most lines need only the parser. Inlined, parser and judge shared
    /// the registers, and a line took 230 instructions more.
    #[inline(never)]
    fn audit_request(
        &self,
        crawler: u16,
        record: &LogRecord<'_>,
        line: &[u8],
        scratch: &mut AuditScratch<'a>,
        out: &mut BlockAudit,
    ) -> Result<LineResult> {
        let Some(origin_len) = self.write_urls(record, scratch, out) else {
            // A crawler's request without a URL, such as `OPTIONS *`.
            return Ok(out.count_invalid());
        };
        out.counts.extend_span(record.time, record.time);
        let row = self.rows.of_request(crawler, &record.client);
        let verdict = self.count_request(crawler, row, record, origin_len, scratch, out)?;
        let identity = self.rows.identity(row);
        let has_no_address = identity == Some(Identity::Claimed) && !is_address(&record.client);
        out.counts.rows[row as usize].without_address += u64::from(has_no_address);
        let is_wanted = self.keeps_breaches
            && self
                .breaches_of
                .is_none_or(|wanted| identity == Some(wanted));
        if verdict.is_breach() && is_wanted {
            out.breaches.extend_from_slice(line);
        }
        Ok(LineResult {
            crawler: Some(crawler),
            letter: letter_of(verdict, identity),
        })
    }

    /// Writes the URLs of a request to the scratch, and returns the length of the origin of the one
    /// that is judged; `None` if the target is neither a path nor a URL.
    fn write_urls(
        &self,
        record: &LogRecord<'_>,
        scratch: &mut AuditScratch<'a>,
        out: &mut BlockAudit,
    ) -> Option<usize> {
        let AuditScratch {
            url, shown, origin, ..
        } = scratch;
        let Some(any_host) = self.origin.filter(|_| self.is_any_host) else {
            return self.write_url(record, url);
        };
        // The URL for people has the host of the log, if it names one.
        let target = &record.target[..];
        let shown_len = if target.starts_with(b"/") && record.host.is_none() {
            shown.clear();
            shown.extend_from_slice(target);
            0
        } else {
            let len = write_target(record, None, shown)?;
            out.sites
                .add(canonical_origin(&shown[..len], origin), false);
            len
        };
        url.clear();
        url.extend_from_slice(any_host.as_bytes());
        let path = &shown[shown_len..];
        if !path.starts_with(b"/") {
            url.push(b'/');
        }
        url.extend_from_slice(path);
        Some(any_host.len())
    }

    /// Writes the URL of a request, and returns the length of its origin; `None` if the target is
    /// neither a path nor a URL.
    fn write_url(&self, record: &LogRecord<'_>, url: &mut Vec<u8>) -> Option<usize> {
        write_target(record, self.origin, url)
    }

    /// Judges the request of a crawler, and counts it in a row of the report.
    fn count_request(
        &self,
        crawler: u16,
        row: u32,
        record: &LogRecord<'_>,
        origin_len: usize,
        scratch: &mut AuditScratch<'a>,
        out: &mut BlockAudit,
    ) -> Result<RequestVerdict> {
        let is_robots_txt = is_robots_txt(&scratch.url[origin_len..]);
        let valid = self.timeline.at(record.time);
        out.counts.before_first_snapshot += u64::from(valid.is_before_first);
        let verdict = match is_robots_txt {
            // Always allowed (RFC 9309 §2.2.2).
            true => RequestVerdict::Allowed,
            false if self.timeline.has_history() => {
                self.judge_as_of(crawler, row, record.time, scratch, out)?
            }
            false => {
                let broken_rules = &mut out.broken_rules;
                self.judge(
                    crawler,
                    row,
                    valid.number,
                    record.time,
                    scratch,
                    broken_rules,
                )?
            }
        };
        let counts = &mut out.counts.rows[row as usize];
        counts.robots_txt += u64::from(is_robots_txt);
        counts.count(verdict, record);
        let is_disallowed = verdict.is_breach();
        let origin = canonical_origin(&scratch.url[..origin_len], &mut scratch.origin);
        if !self.is_any_host {
            out.sites.add(origin, verdict == RequestVerdict::Unknown);
        }
        if is_disallowed || is_robots_txt {
            let site = xxh3_64(origin);
            out.events.push(AuditEvent {
                row,
                site,
                time: record.time,
                is_breach: is_disallowed,
            });
        }
        Ok(verdict)
    }

    /// The verdict of a snapshot on the URL of the scratch. A disallowed request counts for its
    /// rule.
    fn judge(
        &self,
        crawler: u16,
        row: u32,
        snapshot: usize,
        time: i64,
        scratch: &mut AuditScratch<'a>,
        broken_rules: &mut BrokenRules,
    ) -> Result<RequestVerdict> {
        let AuditScratch {
            url,
            shown,
            sessions,
            lines,
            ..
        } = scratch;
        let judge = self.timeline.judge(snapshot, crawler);
        // A judge is for one crawler, so each crawler has a session per snapshot.
        let index = snapshot * self.finder.crawlers().len() + usize::from(crawler);
        let verdicts = sessions[index]
            .get_or_insert_with(|| judge.session())
            .verdicts_ref(url)?;
        Ok(match verdicts.get(0) {
            Verdict::Allowed => RequestVerdict::Allowed,
            Verdict::Disallowed => {
                let line = match verdicts.deciding_file() {
                    None => verdicts.reason().name().into(),
                    Some(file) => lines.find(judge.engine(), file, url)?,
                };
                let example = if self.is_any_host { shown } else { url };
                broken_rules.add(row, line, example, time);
                RequestVerdict::Disallowed
            }
            // A host that cannot be one is unknown too.
            Verdict::Unknown | Verdict::Invalid => RequestVerdict::Unknown,
        })
    }

    /// The verdict of a history on the URL of the scratch, by the rules in force at the time of the
    /// request. A request that broke the rules counts for its rule.
    ///
    /// Not inlined: an audit without a history is to keep its code.
    #[inline(never)]
    fn judge_as_of(
        &self,
        crawler: u16,
        row: u32,
        time: i64,
        scratch: &mut AuditScratch<'a>,
        out: &mut BlockAudit,
    ) -> Result<RequestVerdict> {
        let AuditScratch {
            url,
            shown,
            sessions,
            old_text_bytes,
            lines,
            ..
        } = scratch;
        let judge = self.timeline.judge(0, crawler);
        let session = sessions[usize::from(crawler)].get_or_insert_with(|| judge.session());
        let held = session.old_text_bytes();
        let judged = session.timed_verdict(url, time)?;
        out.counts.before_first_capture += u64::from(judged.answer == TimedAnswer::NotYet);
        // Only what the rules in force disallow is looked at twice.
        let verdict = match (judged.verdict, judged.answer) {
            (Verdict::Allowed, _) => RequestVerdict::Allowed,
            (Verdict::Unknown | Verdict::Invalid, _) => RequestVerdict::Unknown,
            (Verdict::Disallowed, TimedAnswer::InForce(answer)) => {
                match session.nearby_rules(url, time, answer)? {
                    NearbyRules::Settled => RequestVerdict::Disallowed,
                    NearbyRules::EarlierAllow => RequestVerdict::WithinDayOfChange,
                    NearbyRules::NextAllow => RequestVerdict::BetweenCaptures,
                    NearbyRules::NextDisallow => RequestVerdict::DisallowedBetweenCaptures,
                    NearbyRules::NoneLater => RequestVerdict::DisallowedAfterLastCapture,
                }
            }
            // Some policies disallow what is not known.
            (Verdict::Disallowed, TimedAnswer::Never | TimedAnswer::NotYet) => {
                RequestVerdict::Disallowed
            }
        };
        *old_text_bytes += session.old_text_bytes() - held;
        if verdict.is_breach() {
            let line = match judged.file {
                None => judged.reason.name().into(),
                Some(file) => lines.find(judge.engine(), file, url)?,
            };
            let example = if self.is_any_host { shown } else { url };
            out.broken_rules.add(row, line, example, time);
        }
        if *old_text_bytes > MAX_OLD_TEXT_BYTES {
            sessions.fill_with(|| None);
            *old_text_bytes = 0;
        }
        Ok(verdict)
    }
}

/// Whether an invalid line is a better example than the kept one: the first that names a crawler, else
/// the first.
pub(super) fn is_better_example<T>(kept: &Option<(bool, T)>, has_crawler: bool) -> bool {
    kept.as_ref()
        .is_none_or(|(has_kept_crawler, _)| has_crawler && !has_kept_crawler)
}

/// The letter of a verdict; lower-case for requests that only claim to be of their crawler.
fn letter_of(verdict: RequestVerdict, identity: Option<Identity>) -> u8 {
    let letter = match verdict {
        RequestVerdict::Allowed => b'A',
        RequestVerdict::Disallowed
        | RequestVerdict::DisallowedBetweenCaptures
        | RequestVerdict::DisallowedAfterLastCapture => b'D',
        RequestVerdict::WithinDayOfChange => b'C',
        RequestVerdict::BetweenCaptures => b'B',
        RequestVerdict::Unknown => b'U',
    };
    if identity == Some(Identity::Claimed) {
        letter.to_ascii_lowercase()
    } else {
        letter
    }
}

/// An origin in canonical form: the same for `https://E.test:443` and `https://e.test`. A text that
/// is not an origin stays. `memory` is memory.
fn canonical_origin<'o>(origin: &'o [u8], memory: &'o mut Vec<u8>) -> &'o [u8] {
    let parts = url::split(origin, Profile::Google, memory);
    parts.map_or(origin, |parts| parts.origin)
}

/// Writes the URL of a request: its target, or the path of that at `origin`, else at the origin that
/// the log names. Returns the length of the origin.
fn write_target(record: &LogRecord<'_>, origin: Option<&str>, url: &mut Vec<u8>) -> Option<usize> {
    url.clear();
    // A request to a proxy has a whole URL as its target; any other has a path.
    let target = &record.target[..];
    if !target.starts_with(b"/") {
        let scheme_len = url_scheme_len(target)?;
        let rest = &target[scheme_len..];
        let end = rest.iter().position(|byte| b"/?#".contains(byte));
        let host = &rest[..end.unwrap_or(rest.len())];
        // Load balancers of AWS write `http://host:80- -` for a request that they cannot read.
        if host.contains(&b' ') {
            return None;
        }
        url.extend_from_slice(target);
        return Some(scheme_len + host.len());
    }
    match origin {
        Some(origin) => url.extend_from_slice(origin.as_bytes()),
        None => write_origin(record, url),
    }
    let origin_len = url.len();
    url.extend_from_slice(target);
    Some(origin_len)
}

/// Writes the origin that a log names. Without a scheme, port 80 means http.
fn write_origin(record: &LogRecord<'_>, url: &mut Vec<u8>) {
    let host = record.host.as_deref().unwrap_or_default();
    let is_http = match record.scheme.as_deref() {
        Some(scheme) => scheme.eq_ignore_ascii_case(b"http"),
        None => &record.port[..] == b"80" || host.ends_with(b":80"),
    };
    let (scheme, default_port): (&[u8], &[u8]) = match is_http {
        true => (b"http://", b"80"),
        false => (b"https://", b"443"),
    };
    url.extend_from_slice(scheme);
    let name = host.strip_suffix(default_port);
    url.extend_from_slice(
        name.and_then(|name| name.strip_suffix(b":"))
            .unwrap_or(host),
    );
    if !record.port.is_empty() && &record.port[..] != default_port {
        url.push(b':');
        url.extend_from_slice(&record.port);
    }
}

/// Whether a path and query is that of the robots.txt.
fn is_robots_txt(target: &[u8]) -> bool {
    let rest = target.strip_prefix(b"/robots.txt");
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'?' | b'#')))
}
