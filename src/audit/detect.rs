//! Detects the format of a log by its first lines.

use crate::audit::format::{FormatParser, LogFormat};
use crate::audit::haproxy::HaproxyLog;
use crate::audit::json_log::{JsonKeys, docker_output};
use crate::audit::w3c::W3cColumns;
use crate::file_format::without_mark;
use crate::records::without_end;

/// The number of lines that decide.
const LINES: usize = 64;

/// The first lines of a log that are not blank, without line ends.
pub(super) fn first_lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = without_mark(data)
        .split(|byte| *byte == b'\n')
        .map(without_end);
    lines
        .filter(|line| !line.trim_ascii().is_empty())
        .take(LINES)
}

/// The format that most of the first lines have; `None` if none has a known format.
pub(super) fn detect(data: &[u8]) -> Option<LogFormat> {
    if let Some(columns) = first_lines(data).find_map(W3cColumns::of_line) {
        return Some(LogFormat(FormatParser::W3c(columns)));
    }
    // Only lines of Docker are JSON objects without the keys of an access log.
    detect_lines(data).or_else(|| detect_docker(data))
}

/// The format of a log of Docker; `None` if its containers wrote no lines of a known format.
fn detect_docker(data: &[u8]) -> Option<LogFormat> {
    let lines = first_lines(data).filter_map(docker_output);
    let inner = detect_lines(&lines.collect::<Vec<_>>().concat())?;
    Some(LogFormat(FormatParser::Docker(Some(Box::new(inner)))))
}

/// A format with the parts that only the first lines of a log show; `None` if it has none of these, or
/// if the lines do not show them.
pub(super) fn complete(format: &LogFormat, data: &[u8]) -> Option<LogFormat> {
    match &format.0 {
        FormatParser::Haproxy(None) => HaproxyLog::of_lines(first_lines(data))
            .map(|log| LogFormat(FormatParser::Haproxy(Some(log)))),
        FormatParser::Docker(None) => detect_docker(data),
        _ => None,
    }
}

/// [`detect`] for a log whose lines are neither those of Docker nor under a line `#Fields:`.
fn detect_lines(data: &[u8]) -> Option<LogFormat> {
    let keys = JsonKeys::default();
    if first_lines(data).any(|line| keys.fits(line)) {
        return Some(LogFormat::json(keys));
    }
    if let Some(log) = HaproxyLog::of_lines(first_lines(data)) {
        return Some(LogFormat(FormatParser::Haproxy(Some(log))));
    }
    for load_balancer in [LogFormat::alb(), LogFormat::elb()] {
        if count_lines(data, &load_balancer) > 0 {
            return Some(load_balancer);
        }
    }
    let is_vhost = first_lines(data)
        .filter(|line| starts_with_host(line))
        .count();
    let combined = LogFormat::combined();
    let vhost = LogFormat::vhost_combined();
    let combined_lines = count_lines(data, &combined);
    // A line with a host in front is also a combined line, whose user name has a blank.
    let vhost_lines = count_lines(data, &vhost).min(is_vhost);
    if combined_lines == 0 && vhost_lines == 0 {
        Some(LogFormat::common()).filter(|common| count_lines(data, common) > 0)
    } else if vhost_lines * 2 > combined_lines {
        Some(vhost)
    } else {
        Some(combined)
    }
}

/// The number of the first lines that have a format.
fn count_lines(data: &[u8], format: &LogFormat) -> usize {
    first_lines(data)
        .filter(|line| format.record(line).is_some())
        .count()
}

/// Whether a line begins with `host:port` and an address: in combined format, a dash is second.
fn starts_with_host(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ');
    let host = words.next().unwrap_or_default();
    let client = words.next().unwrap_or_default();
    let port = memchr::memrchr(b':', host).map(|colon| &host[colon + 1..]);
    let has_port = port.is_some_and(|port| !port.is_empty() && port.iter().all(u8::is_ascii_digit));
    has_port && client.iter().any(|byte| matches!(byte, b'.' | b':'))
}
