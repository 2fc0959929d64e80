//! The formats of access logs.

use crate::audit::delimiter_index::DelimiterIndex;
use crate::audit::directives::{parse_apache, parse_nginx};
use crate::audit::haproxy::HaproxyLog;
use crate::audit::json_log::{JsonKeys, docker_output, into_owned};
use crate::audit::record::{LogRecord, url_scheme_len};
use crate::audit::template::{FieldKind, Template, TextFields};
use crate::audit::w3c::{W3cColumns, W3cEscapes};
use crate::error::{Error, ErrorKind};
use crate::records::without_end;

/// The format of an access log: a parser from lines to [`LogRecord`]s.
///
/// ```
/// use robosieve::audit::LogFormat;
/// let line =
///     br#"192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 23 "-" "GPTBot/1.2""#;
/// let record = LogFormat::combined().record(line).expect("a line in combined format");
/// assert_eq!(&record.user_agent[..], b"GPTBot/1.2");
/// assert_eq!(&record.target[..], b"/a");
/// assert_eq!((record.time, record.status, record.bytes), (971_211_336, 200, 23));
///
/// let format: LogFormat = r#"$host $time_iso8601 $status "$request" "$http_user_agent""#.parse()?;
/// assert!(format.record(line).is_none());
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFormat(pub(super) FormatParser);

/// The parser of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatParser {
    Text(Template),
    Json(JsonKeys),
    /// The columns follow from the `#Fields:` lines of the log.
    W3c(W3cColumns),
    /// The captured headers; `None` until the first lines have shown them.
    Haproxy(Option<HaproxyLog>),
    /// The format of the lines that a container wrote; `None` until the first lines have shown it.
    Docker(Option<Box<LogFormat>>),
}

/// The layouts of Apache's documentation.
const COMMON: &str = r#"%h %l %u %t "%r" %>s %b"#;
const COMBINED: &str = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
const VHOST_COMBINED: &str = r#"%v:%p %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;

/// The combined format after the host, which may have a port, and with the host in place of `%l`.
const HOST_FIRST: &str = r#"%v %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
const HOST_SECOND: &str = r#"%h %v %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;

/// An Application Load Balancer of AWS: "Access logs for your Application Load Balancer" in its
/// user guide. The fields after the User-Agent are ignored, as AWS adds some at the end.
const ALB: &str = r#"$type $time_iso8601 $elb $client_and_port $backend $time_1 $time_2 $time_3 $status $backend_status $received $bytes_sent "$request" "$http_user_agent""#;
/// A Classic Load Balancer of AWS.
const ELB: &str = r#"$time_iso8601 $elb $client_and_port $backend $time_1 $time_2 $time_3 $status $backend_status $received $bytes_sent "$request" "$http_user_agent""#;

impl LogFormat {
    /// The combined format of Apache and nginx. Fields after it are ignored.
    pub fn combined() -> Self {
        Self::builtin(COMBINED)
    }

    /// The combined format after `host:port`, as Debian's Apache writes it.
    pub fn vhost_combined() -> Self {
        Self::builtin(VHOST_COMBINED)
    }

    /// The combined format after the host, with or without a port.
    pub(super) fn host_first() -> Self {
        Self::builtin(HOST_FIRST)
    }

    /// The combined format with the host after the address of the client, as lighttpd writes it.
    pub(super) fn host_second() -> Self {
        Self::builtin(HOST_SECOND)
    }

    /// The common log format. It has no User-Agent, so no line names a crawler.
    pub fn common() -> Self {
        Self::builtin(COMMON)
    }

    /// One JSON object per line.
    pub fn json(keys: JsonKeys) -> Self {
        Self(FormatParser::Json(keys))
    }

    /// The W3C extended format. Columns that only CloudFront has (`x-edge-…`), or tabs between
    /// fields, tell that fields have its escapes; otherwise they have those of IIS.
    pub fn w3c() -> Self {
        Self(FormatParser::W3c(W3cColumns::default()))
    }

    /// The W3C extended format with the escapes of CloudFront, which percent-encodes all fields.
    pub fn cloudfront() -> Self {
        Self(FormatParser::W3c(W3cColumns::escaped(
            W3cEscapes::CloudFront,
        )))
    }

    /// The W3C extended format with the escapes of IIS, which writes blanks as `+`.
    pub fn iis() -> Self {
        Self(FormatParser::W3c(W3cColumns::escaped(W3cEscapes::Iis)))
    }

    /// The log of an Application Load Balancer of AWS. The request line has the whole URL.
    pub fn alb() -> Self {
        Self::variables(ALB)
    }

    /// The log of a Classic Load Balancer of AWS.
    pub fn elb() -> Self {
        Self::variables(ELB)
    }

    /// HAProxy's HTTP log. It names the crawlers if HAProxy captures the User-Agent header; the first
    /// lines of a log show which captured header that is.
    pub fn haproxy() -> Self {
        Self(FormatParser::Haproxy(None))
    }

    /// Docker's json-file log, whose lines hold those that a container wrote. The first lines of a
    /// log show their format, so an audit reads them, and [`record`](Self::record) does not.
    pub fn docker() -> Self {
        Self(FormatParser::Docker(None))
    }

    fn variables(layout: &str) -> Self {
        Self(FormatParser::Text(
            parse_nginx(layout.as_bytes()).unwrap_or_default(),
        ))
    }

    fn builtin(directives: &str) -> Self {
        Self(FormatParser::Text(
            parse_apache(directives.as_bytes()).unwrap_or_default(),
        ))
    }

    /// Parses a line, with or without its line end. `None` if it does not have this format, or no
    /// valid time or status. Cost: linear in the line; borrows from it.
    pub fn record<'l>(&self, line: &'l [u8]) -> Option<LogRecord<'l>> {
        let line = without_end(line);
        match &self.0 {
            FormatParser::Text(template) => {
                let mut index = DelimiterIndex::default();
                index.scan(line);
                let mut fields = TextFields::default();
                template.parse(line, &index, 0..line.len(), &mut fields)?;
                Some(fields.record(line))
            }
            FormatParser::Json(keys) => keys.parse(line),
            FormatParser::W3c(columns) => columns.parse(line),
            FormatParser::Haproxy(log) => {
                log.as_ref().unwrap_or(&HaproxyLog::default()).parse(line)
            }
            FormatParser::Docker(inner) => {
                let text = docker_output(line)?;
                inner.as_deref()?.record(&text).map(into_owned)
            }
        }
    }

    /// The format of the lines after `line`, if it is a header that changes it.
    pub(super) fn after_line(&self, line: &[u8]) -> Option<Self> {
        let FormatParser::W3c(columns) = &self.0 else {
            return None;
        };
        columns
            .after_line(line)
            .map(|columns| Self(FormatParser::W3c(columns)))
    }

    /// The format of the lines after `lines`, if these have a header that changes it.
    pub(super) fn after_lines(&self, lines: &[u8]) -> Option<Self> {
        let FormatParser::W3c(columns) = &self.0 else {
            return None;
        };
        columns
            .after_lines(lines)
            .map(|columns| Self(FormatParser::W3c(columns)))
    }

    /// Whether a line is a comment, which is not a request.
    pub(super) fn is_comment(&self, line: &[u8]) -> bool {
        line.starts_with(b"#") && self.is_w3c()
    }

    /// Whether header lines within the log name its columns.
    pub(super) fn is_w3c(&self) -> bool {
        matches!(self.0, FormatParser::W3c(_))
    }

    /// Whether lines name the crawler. A common log does not.
    pub(super) fn has_user_agent(&self) -> bool {
        match &self.0 {
            FormatParser::Text(template) => template.has(FieldKind::UserAgent),
            FormatParser::Haproxy(log) => log.as_ref().is_none_or(HaproxyLog::has_user_agent),
            FormatParser::Docker(inner) => inner.as_deref().is_none_or(Self::has_user_agent),
            // A line of JSON, or a header in the log, shows it.
            FormatParser::Json(_) | FormatParser::W3c(_) => true,
        }
    }

    /// Where a log of this format has the User-Agent, and how it gets there.
    pub(super) fn missing_agent(&self) -> String {
        match &self.0 {
            FormatParser::Docker(Some(inner)) => inner.missing_agent(),
            FormatParser::Haproxy(_) | FormatParser::Docker(None) => {
                "no captured header has it; configure `capture request header User-Agent len 256`"
                    .to_owned()
            }
            FormatParser::Text(_) => "the field is `-`, so the server did not log the header; log it \
                                      (Traefik: accesslog.fields.headers.names.User-Agent=keep)"
                .to_owned(),
            FormatParser::Json(keys) => format!(
                "no line has one of the keys {}; log the header (Traefik: \
                 accesslog.fields.headers.names.User-Agent=keep) or name its key (agent=KEY)",
                keys.agent_paths().join(", ")
            ),
            FormatParser::W3c(columns) if !columns.has_user_agent() => {
                "its #Fields: line has no column cs(User-Agent); select the field in the settings of \
                 the server"
                    .to_owned()
            }
            FormatParser::W3c(_) => "the column cs(User-Agent) is `-`; log the header".to_owned(),
        }
    }

    /// Whether lines name the host, in a field or in the request. Unless the layout says so,
    /// `sample` decides, a line of the log.
    pub(super) fn has_host(&self, sample: &[u8]) -> bool {
        match &self.0 {
            FormatParser::Text(template) if template.has(FieldKind::Host) => true,
            FormatParser::W3c(columns) => columns.has_host(),
            _ => self.record(sample).is_some_and(|record| {
                record.host.is_some() || url_scheme_len(&record.target).is_some()
            }),
        }
    }
}

impl std::str::FromStr for LogFormat {
    type Err = Error;

    /// Parses the name of a format (`combined`, `vhost_combined`, `common`, `json`, `caddy`,
    /// `cloudflare`, `vercel`, `docker`, `alb`, `elb`, `haproxy`, `w3c`, `cloudfront`, `iis`),
    /// Apache's directives, or nginx's variables.
    ///
    /// # Errors
    /// [`ErrorKind::BadList`] for a layout that cannot be read, or that
    /// lacks the User-Agent, the time or the request.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let layout = text.trim();
        match layout.to_ascii_lowercase().replace('-', "_").as_str() {
            "combined" => return Ok(Self::combined()),
            "vhost_combined" => return Ok(Self::vhost_combined()),
            "common" => return Ok(Self::common()),
            "alb" => return Ok(Self::alb()),
            "elb" => return Ok(Self::elb()),
            "haproxy" => return Ok(Self::haproxy()),
            "docker" => return Ok(Self::docker()),
            "json" | "caddy" | "cloudflare" | "vercel" => {
                return Ok(Self::json(JsonKeys::default()));
            }
            "w3c" => return Ok(Self::w3c()),
            "cloudfront" => return Ok(Self::cloudfront()),
            "iis" => return Ok(Self::iis()),
            _ => {}
        }
        // A layout of Apache may have `$` in its literal text, and one of nginx `%`. So `$` decides
        // only with the name of a variable, or alone.
        let template = match (layout.contains('%'), layout.contains('$')) {
            (_, true)
                if layout.contains("$http_")
                    || layout.contains("$remote_")
                    || !layout.contains('%') =>
            {
                parse_nginx(layout.as_bytes())
            }
            (true, _) => parse_apache(layout.as_bytes()),
            _ => Err(
                "give combined, vhost_combined, common, json, caddy, cloudflare, vercel, docker, alb, \
                 elb, haproxy, w3c, cloudfront, iis, or a layout as in Apache's LogFormat or nginx's \
                 log_format"
                    .to_owned(),
            ),
        };
        let template = template.map_err(|what| bad_format(text, &what))?;
        let has_request = template.has(FieldKind::Request) || template.has(FieldKind::Target);
        for (is_there, name) in [
            (
                template.has(FieldKind::UserAgent),
                "the User-Agent (%{User-Agent}i, $http_user_agent)",
            ),
            (template.has(FieldKind::Time), "the time (%t, $time_local)"),
            (has_request, "the request (%r, $request)"),
        ] {
            if !is_there {
                return Err(bad_format(text, &format!("it lacks {name}")));
            }
        }
        Ok(Self(FormatParser::Text(template)))
    }
}

fn bad_format(text: &str, what: &str) -> Error {
    ErrorKind::BadList(format!("log format {text:?}: {what}")).into()
}
