//! Reads and parses a robots.txt file that is named on the command line.

use crate::standard_streams::check_stdin;
use anyhow::{anyhow, bail};
use robosieve::output::is_standard_stream;
use robosieve::robots::BodyFacts;
use robosieve::{Profile, RobotsRef};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes that are decompressed. Only 500 KiB of a robots.txt count, but a compressed file
/// may expand to any size.
const MAX_READ: u64 = 16 << 20;

/// Reads a robots.txt file, and decompresses it: parsed as it is, a compressed file would have no
/// rules. Errors carry no remedy, because those are for archives.
pub(crate) fn read_robots(path: &Path) -> anyhow::Result<Vec<u8>> {
    check_stdin([path])?;
    read_decoded(path).map_err(|err| anyhow!("{err}"))
}

fn read_decoded(path: &Path) -> robosieve::Result<Vec<u8>> {
    let file: Box<dyn Read> = if is_standard_stream(path) {
        Box::new(std::io::stdin())
    } else {
        if path.is_dir() {
            let what = "a directory, not a robots.txt file; `robosieve compile -o SNAP DIR` reads a \
                        directory of them";
            return Err(io::Error::other(what).into());
        }
        Box::new(File::open(path)?)
    };
    let mut body = Vec::new();
    robosieve::decode::decode(file)?
        .take(MAX_READ)
        .read_to_end(&mut body)?;
    Ok(body)
}

/// Parses a robots.txt.
///
/// # Errors
/// If it is a file of another format, such as a snapshot, which would have no rules and so allow
/// everything.
pub(crate) fn parse_robots<'b>(
    path: &Path,
    body: &'b [u8],
    profile: Profile,
) -> anyhow::Result<(RobotsRef<'b>, BodyFacts)> {
    let body_facts = BodyFacts::of(body);
    if let Some(format) = body_facts.other_format {
        bail!(
            "{}: {format}, not a robots.txt; a snapshot is named with -s",
            path.display()
        );
    }
    Ok((RobotsRef::parse(body, profile), body_facts))
}
