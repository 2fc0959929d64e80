//! Resolves the path of an output: to a file that can be replaced, or to a stream that is written
//! in place.

use crate::error::{ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The number of symbolic links that are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// The target of an output's path.
#[derive(Debug)]
pub(super) enum OutputPath {
    /// A regular file, which need not exist: its path after all links.
    File(PathBuf),
    /// A device, pipe or socket, or a file that is already open (`/dev/fd/3`). It cannot or must
    /// not be replaced.
    Stream(File),
}

impl OutputPath {
    /// Resolves `path`. Opens a stream; opens no regular file.
    pub(super) fn resolve(path: &Path) -> Result<Self> {
        let real = follow_links(path)?;
        if let Some(number) = descriptor_of(&real) {
            return Ok(Self::Stream(duplicate(&real, number)?));
        }
        let existing = match fs::metadata(&real) {
            Ok(meta) => meta,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return new_file(path, real),
            Err(err) => return Err(err.into()),
        };
        if existing.is_dir() {
            return refuse("it is a directory; name a file in it");
        }
        if !existing.is_file() || is_descriptor_of_other(&real) {
            return Ok(Self::Stream(OpenOptions::new().append(true).open(&real)?));
        }
        // The directory decides whether a file can be replaced, and root may write to any, so the
        // mode of the file is asked.
        if existing.permissions().readonly() {
            return refuse(
                "it is write-protected, and is not replaced; allow writing (chmod u+w), or name \
                 another file",
            );
        }
        Ok(Self::File(real.canonicalize()?))
    }
}

/// Whether a path is `-`, the name of standard input among inputs and of standard output among
/// outputs.
///
/// ```
/// use robosieve::output::is_standard_stream;
/// assert!(is_standard_stream("-"));
/// assert!(!is_standard_stream("./-"));
/// ```
pub fn is_standard_stream(path: impl AsRef<Path>) -> bool {
    path.as_ref().as_os_str() == "-"
}

/// The folder of a path; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The folder for further temporary files of the output at `path`: its own folder, or the system's
/// temporary folder if it is a stream.
#[cfg(feature = "parquet")]
pub(crate) fn scratch_folder(path: &Path) -> PathBuf {
    match follow_links(path) {
        Ok(real) if !is_stream(&real) => folder_of(&real).to_owned(),
        _ => std::env::temp_dir(),
    }
}

#[cfg(feature = "parquet")]
fn is_stream(real: &Path) -> bool {
    let in_place = fs::metadata(real).is_ok_and(|meta| !meta.is_file());
    in_place || descriptor_of(real).is_some() || is_descriptor_of_other(real)
}

fn new_file(path: &Path, real: PathBuf) -> Result<OutputPath> {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return refuse("a name that ends in / is a directory; name a file");
    }
    if real.file_name().is_none() {
        return refuse("it has no name; name a file");
    }
    match folder_of(&real) {
        folder if folder.is_dir() => Ok(OutputPath::File(real)),
        folder => refuse(format!("there is no folder {}", folder.display())),
    }
}

fn refuse(what: impl Into<String>) -> Result<OutputPath> {
    Err(ErrorKind::BadOutput(what.into()).into())
}

/// Follows symbolic links to the last path, which need not exist. Stops at the links in
/// `/proc/*/fd`: they represent open files, which may have another name by now or none.
pub(super) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let is_link = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
        if !is_link || descriptor_of(&path).is_some() || is_descriptor_of_other(&path) {
            return Ok(path);
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    // The system's own error for a loop.
    fs::metadata(&path).map(|_| path)
}

/// The number in `/dev/fd/3`, `/proc/self/fd/3` and the like; `/dev/stdout` is a link to such a
/// path, or a device.
fn descriptor_of(path: &Path) -> Option<u32> {
    let number = number_of(path)?;
    let folder = folder_of(path).canonicalize().ok()?;
    let own = Path::new("/proc/self").canonicalize();
    let is_own = own.is_ok_and(|own| folder.starts_with(own)) && folder.ends_with("fd");
    (is_own || folder == Path::new("/dev/fd")).then_some(number)
}

/// Whether a path is a file descriptor of another process.
fn is_descriptor_of_other(path: &Path) -> bool {
    number_of(path).is_some()
        && folder_of(path)
            .canonicalize()
            .is_ok_and(|dir| dir.starts_with("/proc") && dir.ends_with("fd"))
}

fn number_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.parse().ok()
}

/// Duplicates the handle of an open file. Both handles share the position, so the shell or another
/// program appends after this output. Opening `/proc/self/fd/1` again would start at the beginning
/// of the file.
#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "the standard library has safe handles only of descriptors 0 to 2"
)]
fn duplicate(path: &Path, number: u32) -> io::Result<File> {
    use std::os::fd::{BorrowedFd, RawFd};
    // Fails if the descriptor is not open.
    path.symlink_metadata()?;
    let number = RawFd::try_from(number).map_err(io::Error::other)?;
    // SAFETY: The number is not negative. The borrowed handle lives until the end of this
    // expression, which only passes it to `fcntl(F_DUPFD_CLOEXEC)`. If another thread closed
    // the descriptor since the check, that call fails and changes nothing.
    let file = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()?;
    Ok(File::from(file))
}

#[cfg(not(unix))]
fn duplicate(path: &Path, _: u32) -> io::Result<File> {
    File::options().append(true).open(path)
}

#[cfg(all(test, unix, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn scratch_files_are_next_to_files_only() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(scratch_folder(&dir.path().join("new")), dir.path());
        fs::write(dir.path().join("old"), "").unwrap();
        assert_eq!(scratch_folder(&dir.path().join("old")), dir.path());
        assert_eq!(scratch_folder(Path::new("new")), Path::new("."));
        for stream in ["/dev/null", "/dev/fd/1"] {
            assert_eq!(scratch_folder(Path::new(stream)), std::env::temp_dir());
        }
    }
}
