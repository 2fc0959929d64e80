//! The temporary file of an output. On Linux it has no name until it is complete, so a process that
//! is killed leaves nothing.

use crate::atomic::temporary_name;
use std::fs::File;
use std::io;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use tempfile::NamedTempFile;

/// A file that is being written next to its target.
#[derive(Debug)]
pub(super) enum TemporaryFile {
    /// Without a name, with the folder that it belongs to.
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    /// With a name, on other systems and on file systems that cannot name a file later.
    Named(NamedTempFile),
}

impl TemporaryFile {
    /// Creates a file with the default permissions.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed_file::create(folder) {
            return Ok(Self::Unnamed(file, folder.to_owned()));
        }
        // Opened here, because errors of the crate `tempfile` name the temporary file, which the
        // user does not know, and lose the cause.
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        temporary_name::create_in(folder, |path| options.open(path)).map(Self::Named)
    }

    pub(super) fn as_file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, _) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// The name, which is removed when the file is dropped.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(..) => None,
            Self::Named(file) => Some(file.path()),
        }
    }

    /// Gives the file a temporary name, unless it has one.
    pub(super) fn into_named(self) -> io::Result<NamedTempFile> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, folder) => temporary_name::create_in(&folder, |name| {
                unnamed_file::link(&file, name)?;
                file.try_clone()
            }),
            Self::Named(file) => Ok(file),
        }
    }

    /// Gives the file the name `target`. Returns the file if another one has this name.
    pub(super) fn name_new(self, target: &Path) -> io::Result<Option<Self>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, folder) => match unnamed_file::link(&file, target) {
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                    Ok(Some(Self::Unnamed(file, folder)))
                }
                linked => linked.map(|()| None),
            },
            Self::Named(file) => match file.persist_noclobber(target) {
                Ok(_) => Ok(None),
                Err(err) if err.error.kind() == io::ErrorKind::AlreadyExists => {
                    Ok(Some(Self::Named(err.file)))
                }
                // Some file systems cannot refuse to replace a file.
                Err(err) => match err.file.persist(target) {
                    Ok(_) => Ok(None),
                    Err(err) => Err(err.error),
                },
            },
        }
    }
}

/// Files without a name (`O_TMPFILE` in open(2)), which the system frees when the process ends, and
/// which get a name when they are complete.
#[cfg(target_os = "linux")]
mod unnamed_file {
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
}
