//! Docker's json-file log: each line of a container's output is the string `log` of a JSON object.
//!
//! Source: "JSON File logging driver" in Docker's documentation.

use crate::audit::format::LogFormat;
use crate::audit::json_log::into_owned;
use crate::audit::record::LogRecord;
use serde::Deserialize;

#[derive(Deserialize)]
struct DockerLine {
    log: String,
}

/// The line that a container wrote; `None` if the text is not a line of Docker.
pub(super) fn output_line(line: &[u8]) -> Option<Vec<u8>> {
    let line: DockerLine = serde_json::from_slice(line).ok()?;
    Some(line.log.into_bytes())
}

/// Parses a line whose `log` has a format. Docker cuts lines of more than 16 KiB, so that their parts
/// are not records.
pub(super) fn parse(format: &LogFormat, line: &[u8]) -> Option<LogRecord<'static>> {
    format.record(&output_line(line)?).map(into_owned)
}
