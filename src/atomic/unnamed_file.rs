//! Files without a name (`O_TMPFILE` in open(2)), which the system frees when the process ends, and
//! which get a name when they are complete.

use rustix::fs::{AtFlags, CWD, OFlags, linkat};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A new file on the file system of a folder; `None` if the system cannot create one, or cannot
/// give it a name later, because `/proc` is not mounted.
pub(super) fn create(folder: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE.bits() as i32;
    let file = File::options()
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(folder)
        .ok()?;
    Path::new(&descriptor_path(&file)).exists().then_some(file)
}

/// Gives the file the name `target`.
///
/// # Errors
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if a file has this name.
pub(super) fn link(file: &File, target: &Path) -> io::Result<()> {
    Ok(linkat(
        CWD,
        descriptor_path(file),
        CWD,
        target,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

/// The path of an open file, which linkat follows.
fn descriptor_path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
