//! The temporary file of an output. On Linux it has no name until it is complete, so a process that
//! is killed leaves nothing.

use crate::atomic::temporary_name;
#[cfg(target_os = "linux")]
use crate::atomic::unnamed_file;
use std::fs::{File, Permissions};
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
    /// Creates a file with the permissions of the file that it will replace, or the default ones.
    pub(super) fn create(folder: &Path, permissions: Option<Permissions>) -> io::Result<Self> {
        let file = Self::open(folder)?;
        if let Some(wanted) = permissions {
            file.as_file().set_permissions(wanted)?;
        }
        Ok(file)
    }

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

    /// Gives the file the name `target`, and replaces a file of this name.
    pub(super) fn persist(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, folder) => match unnamed_file::link(&file, target) {
                // A link cannot replace a file, but a rename can. Only a process killed between the
                // two calls leaves the temporary name.
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                    let link = |name: &Path| {
                        unnamed_file::link(&file, name)?;
                        file.try_clone()
                    };
                    let named = temporary_name::create_in(&folder, link)?;
                    named.persist(target).map(drop).map_err(|err| err.error)
                }
                result => result,
            },
            Self::Named(file) => file.persist(target).map(drop).map_err(|err| err.error),
        }
    }
}
