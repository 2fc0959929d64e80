//! The options and the outputs of an audit.

use crate::agent::Agent;
use crate::audit::format::LogFormat;
use crate::audit::identity::{Identity, VerifiedRanges};
use crate::crawlers::CrawlerRegistry;
use crate::judge::JudgeOptions;
use std::io::Write;

/// The options of an audit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditOptions {
    /// The known crawlers to look for. The default is the shipped registry.
    pub registry: CrawlerRegistry,
    /// Crawlers to look for in addition to the registry's.
    pub agents: Vec<Agent>,
    /// The format of all logs; `None` detects it per log.
    pub format: Option<LogFormat>,
    /// The site of all requests: a host, or scheme and host. `None` takes the host from the log.
    /// Without a scheme it is `https`. A host of the log has the scheme of the log, `http` at port
    /// 80, else `https`.
    pub host: Option<String>,
    /// Whether the rules of `host` judge the requests to every host of the logs: one robots.txt for
    /// all of them. Examples then have the host of the log, or the path alone.
    pub any_host: bool,
    /// How verdicts are reached. The default uses the entry of the other of http and https if only
    /// that exists, as most logs have no scheme. A single snapshot with a history judges each
    /// request as of its own time, unless [`as_of`](JudgeOptions::as_of) is one time for all.
    pub judge: JudgeOptions,
    /// Published addresses of crawlers. The report has two entries for each such crawler: one of
    /// the requests from these addresses, and one of all others that name it.
    pub verified: Vec<VerifiedRanges>,
    /// The most broken rules that a crawler's report lists.
    pub top: usize,
}

impl Default for AuditOptions {
    fn default() -> Self {
        let judge = JudgeOptions::default().any_scheme(true);
        let registry = CrawlerRegistry::shipped().clone();
        Self {
            registry,
            agents: Vec::new(),
            format: None,
            host: None,
            any_host: false,
            judge,
            verified: Vec::new(),
            top: 5,
        }
    }
}

impl AuditOptions {
    /// Sets [`registry`](Self::registry).
    pub fn registry(mut self, registry: CrawlerRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets [`agents`](Self::agents).
    pub fn agents(mut self, agents: Vec<Agent>) -> Self {
        self.agents = agents;
        self
    }

    /// Sets [`format`](Self::format).
    pub fn format(mut self, format: impl Into<Option<LogFormat>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets [`host`](Self::host).
    pub fn host(mut self, host: impl Into<Option<String>>) -> Self {
        self.host = host.into();
        self
    }

    /// Sets [`any_host`](Self::any_host).
    pub fn any_host(mut self, any_host: bool) -> Self {
        self.any_host = any_host;
        self
    }

    /// Sets [`judge`](Self::judge).
    pub fn judge(mut self, judge: JudgeOptions) -> Self {
        self.judge = judge;
        self
    }

    /// Sets [`verified`](Self::verified).
    pub fn verified(mut self, verified: Vec<VerifiedRanges>) -> Self {
        self.verified = verified;
        self
    }

    /// Sets [`top`](Self::top).
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }
}

/// The outputs of an audit that have lines of the logs. `None` discards them.
#[derive(Default)]
#[non_exhaustive]
pub struct AuditOutputs<'w> {
    /// The lines of requests that broke the rules, unchanged.
    pub breaches: Option<&'w mut (dyn Write + Send)>,
    /// Only `breaches` of this identity; `None` for all, also of crawlers without published
    /// addresses.
    pub breaches_of: Option<Identity>,
    /// Every line after a letter, a TAB, the crawler and a TAB. The letters are `A` (allowed), `D`
    /// (disallowed), `U` (unknown), `I` (invalid line), and `-` for another agent. A history adds
    /// `C` ([`within_day_of_change`](crate::audit::CrawlerAudit::within_day_of_change)) and `B`
    /// ([`between_captures`](crate::audit::CrawlerAudit::between_captures)). The crawler is `-` if
    /// the line names none. Lower-case letters are of requests that only claim to be of the crawler
    /// ([`Identity::Claimed`]).
    pub annotated: Option<&'w mut (dyn Write + Send)>,
}

impl<'w> AuditOutputs<'w> {
    /// Sets [`breaches`](Self::breaches).
    pub fn breaches(mut self, breaches: Option<&'w mut (dyn Write + Send)>) -> Self {
        self.breaches = breaches;
        self
    }

    /// Sets [`breaches_of`](Self::breaches_of).
    pub fn breaches_of(mut self, identity: impl Into<Option<Identity>>) -> Self {
        self.breaches_of = identity.into();
        self
    }

    /// Sets [`annotated`](Self::annotated).
    pub fn annotated(mut self, annotated: Option<&'w mut (dyn Write + Send)>) -> Self {
        self.annotated = annotated;
        self
    }
}

impl std::fmt::Debug for AuditOutputs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditOutputs").finish_non_exhaustive()
    }
}
