//! Docker's json-file log: each line of a container's output is the string `log` of a JSON object.
//!
//! Source: "JSON File logging driver" in Docker's documentation.

use serde::Deserialize;

#[derive(Deserialize)]
struct DockerLine {
    log: String,
}

/// The line that a container wrote; `None` if the text is not a line of Docker. Docker cuts lines of
/// more than 16 KiB, so that their parts are not records.
pub(super) fn output_line(line: &[u8]) -> Option<Vec<u8>> {
    let line: DockerLine = serde_json::from_slice(line).ok()?;
    Some(line.log.into_bytes())
}
