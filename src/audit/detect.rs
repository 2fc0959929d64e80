//! Detects the format of a log by its first lines.

use crate::audit::address_ranges::is_address;
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
    let combined = LogFormat::combined();
    let combined_lines = count_lines(data, &combined);
    // A line with a host is also a combined line, whose user name has a blank or whose `%l` is a host.
    for (format, place) in [
        (LogFormat::host_first(), HostPlace::First),
        (LogFormat::host_second(), HostPlace::Second),
    ] {
        let lines = first_lines(data)
            .filter(|line| HostPlace::of(line) == Some(place))
            .filter(|line| format.record(line).is_some())
            .count();
        if lines * 2 > combined_lines {
            return Some(format);
        }
    }
    match combined_lines {
        0 => Some(LogFormat::common()).filter(|common| count_lines(data, common) > 0),
        _ => Some(combined),
    }
}

/// The number of the first lines that have a format.
fn count_lines(data: &[u8], format: &LogFormat) -> usize {
    first_lines(data)
        .filter(|line| format.record(line).is_some())
        .count()
}

/// Which word of a line is the host, where a combined line has the address and a dash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostPlace {
    First,
    Second,
}

impl HostPlace {
    fn of(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|byte| *byte == b' ');
        let first = words.next()?;
        let second = words.next()?;
        // With `%a:%{remote}p %v:%p`, both words have a port.
        let is_second =
            is_address(first) && is_host_name(second) && has_port(first) == has_port(second);
        // The client may be a name too, if the server looks it up.
        let is_first = match has_port(first) {
            true => second.iter().any(|byte| matches!(byte, b'.' | b':')),
            false => is_host_name(first) && is_address(second),
        };
        match (is_second, is_first) {
            (true, _) => Some(Self::Second),
            (false, true) => Some(Self::First),
            (false, false) => None,
        }
    }
}

/// Whether a text is a name with dots, perhaps with a port, and not an address.
fn is_host_name(text: &[u8]) -> bool {
    let is_name = text
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(byte));
    is_name && text.contains(&b'.') && !is_address(text)
}

/// Whether a text ends with a port.
fn has_port(text: &[u8]) -> bool {
    let port = memchr::memrchr(b':', text).map(|colon| &text[colon + 1..]);
    port.is_some_and(|port| !port.is_empty() && port.iter().all(u8::is_ascii_digit))
}
