//! Reads a robots.txt file that is named on the command line.

use anyhow::anyhow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most bytes that are decompressed. Only 500 KiB of a robots.txt count, but a compressed file
/// may expand to any size.
const MAX_READ: u64 = 16 << 20;

/// Reads a robots.txt file, and decompresses it: parsed as it is, a compressed file would have no
/// rules. Errors carry no remedy, because those are for archives.
pub(crate) fn read_robots(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_decoded(path).map_err(|err| anyhow!("{err}"))
}

fn read_decoded(path: &Path) -> robosieve::Result<Vec<u8>> {
    let file: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(path)?)
    };
    let mut body = Vec::new();
    robosieve::decode::decode(file)?
        .take(MAX_READ)
        .read_to_end(&mut body)?;
    Ok(body)
}
