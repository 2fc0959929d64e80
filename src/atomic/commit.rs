//! The commit of several outputs: a transaction over the names of files, with an undo log.
//!
//! A rename replaces one file at once, but no system renames several at once, and a rename that
//! fails after others would leave new files beside old ones. So everything that is likely to fail
//! comes first: all files are complete and on disk, those that replace a file have a temporary name
//! next to it, and the folders are open. Then each temporary name and its target are exchanged
//! (`RENAME_EXCHANGE` in renameat2(2)), so the old file is kept under the temporary name. If an
//! exchange fails, or the sync of a folder after the last one, the old files are renamed back, and
//! new ones are removed. After the sync, the old files are removed.

#[cfg(test)]
use crate::atomic::fault_injection;
use crate::atomic::output_path::folder_of;
use crate::atomic::steps::{Step, step, sync_folder};
use crate::atomic::temporary_file::TemporaryFile;
use crate::atomic::{attributes, temporary_name, unfinished};
use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// A condition of a commit.
pub(crate) trait CommitCheck: std::fmt::Debug + Send + Sync {
    /// Fails if the output must not be committed. `target` is the path of the file, after all
    /// links; `None` for a stream.
    fn check(&self, target: Option<&Path>) -> Result<()>;
}

/// A temporary file that is on disk, and its final name.
pub(super) struct PendingOutput {
    /// The path as the user gave it, for messages.
    pub path: PathBuf,
    pub file: TemporaryFile,
    /// The path after all links.
    pub real: PathBuf,
    pub check: Option<Box<dyn CommitCheck>>,
}

/// Gives several files their names together, after their checks: all get them, or none does.
///
/// # Errors
/// Errors of the operating system and of checks, with the path of the file. Then new files are
/// removed and old ones are as they were. Only if an old one cannot be put back, it has the new
/// content, and the error names it.
pub(super) fn name_together(mut pending: Vec<PendingOutput>) -> Result<()> {
    let folders = open_folders(&pending)?;
    // After the checks, nothing that takes time precedes the renames.
    let mut expected = Vec::new();
    for output in &mut pending {
        expected.push(output.prepare()?);
    }
    unfinished::uninterrupted(|| {
        let mut staged = Vec::new();
        for output in pending {
            staged.push(output.stage()?);
        }
        let mut log = UndoLog::default();
        let mut named = Ok(());
        for (output, expected) in staged.into_iter().zip(&expected) {
            named = named.and_then(|()| log.name(output, expected.as_ref()));
        }
        match named.and_then(|()| sync_folders(&folders)) {
            Ok(()) => Ok(()),
            Err(err) => Err(log.undo(err)),
        }
    })
}

/// An open folder, with the path of an output in it.
struct OpenFolder {
    path: PathBuf,
    file: File,
}

/// The folders of files, each once. A name is on disk only when its folder is; only Unix can sync
/// folders. They are opened before any file gets its name, because failures are harmless until then.
fn open_folders(pending: &[PendingOutput]) -> Result<Vec<OpenFolder>> {
    let mut folders = BTreeMap::new();
    for PendingOutput { path, real, .. } in pending {
        if cfg!(unix) && !folders.contains_key(folder_of(real)) {
            let file = File::open(folder_of(real)).map_err(|err| Error::io(path, err))?;
            let path = path.clone();
            folders.insert(folder_of(real).to_owned(), OpenFolder { path, file });
        }
    }
    Ok(folders.into_values().collect())
}

fn sync_folders(folders: &[OpenFolder]) -> Result<()> {
    folders.iter().try_for_each(|folder| {
        sync_folder(&folder.file).map_err(|err| Error::io(&folder.path, err))
    })
}

impl PendingOutput {
    /// Gives the temporary file the attributes of the file that it will replace, and runs its
    /// check. Returns that file's identity if only this file may be replaced.
    ///
    /// The check is dropped: a check of a snapshot has it mapped, and Windows replaces no mapped file.
    fn prepare(&mut self) -> Result<Option<FileIdentity>> {
        // A directory created there in the meantime would fail a rename after others are done.
        if self.real.is_dir() {
            let what = "it is a directory now".to_owned();
            return Err(Error::from(ErrorKind::BadOutput(what)).at(&self.path));
        }
        // Those that cannot be kept were found when the file was created.
        attributes::copy(&self.real, self.file.as_file())
            .map_err(|err| Error::io(&self.path, err))?;
        let Some(check) = self.check.take() else {
            return Ok(None);
        };
        let expected = FileIdentity::of(&self.real);
        check.check(Some(&self.real))?;
        Ok(expected)
    }

    /// Gives the temporary file a temporary name, if it will replace another file.
    fn stage(self) -> Result<Self> {
        if self.real.symlink_metadata().is_err() {
            return Ok(self);
        }
        let Self {
            path,
            file,
            real,
            check,
        } = self;
        let named = step(Step::Link).and_then(|()| file.into_named());
        match named {
            Ok(named) => Ok(Self {
                path,
                file: TemporaryFile::Named(named),
                real,
                check,
            }),
            Err(err) => Err(Error::io(path, err)),
        }
    }
}

/// How to take back the names that outputs got, in the order in which they got them.
#[derive(Default)]
struct UndoLog(Vec<Undo>);

enum Undo {
    /// Remove a new file.
    Remove(PathBuf),
    /// Rename an old file back to its name.
    Restore { old: OldFile, real: PathBuf },
    /// The old file is gone: the file system has neither exchanges nor hard links.
    Impossible(PathBuf),
}

/// A replaced file under a temporary name, by which it is removed in the end.
struct OldFile {
    name: TempPath,
    /// Other processes remove temporary files that they can lock.
    _lock: Option<File>,
}

impl UndoLog {
    /// Gives an output its name. `expected` is the only file that it may replace.
    fn name(&mut self, output: PendingOutput, expected: Option<&FileIdentity>) -> Result<()> {
        let PendingOutput {
            path, file, real, ..
        } = output;
        let named = step(Step::Name).and_then(|()| self.name_as(file, real, expected));
        named.map_err(|err| Error::io(path, err))
    }

    fn name_as(
        &mut self,
        file: TemporaryFile,
        real: PathBuf,
        expected: Option<&FileIdentity>,
    ) -> io::Result<()> {
        if real.symlink_metadata().is_ok() {
            return self.replace(file.into_named()?, real, expected);
        }
        match file.name_new(&real)? {
            None => {
                self.0.push(Undo::Remove(real));
                Ok(())
            }
            // Another program has created a file since.
            Some(file) => self.replace(file.into_named()?, real, expected),
        }
    }

    fn replace(
        &mut self,
        new: NamedTempFile,
        real: PathBuf,
        expected: Option<&FileIdentity>,
    ) -> io::Result<()> {
        // Windows replaces no file that is open.
        let handle = if cfg!(windows) {
            None
        } else {
            File::open(&real).ok()
        };
        // A lock of another program protects the file as well.
        handle.iter().for_each(|file| drop(file.try_lock()));
        // The handle of the new file has its lock, which is needed while it has a temporary name.
        let (_locked, new) = new.into_parts();
        if exchange(&new, &real)? {
            // The name is now that of the old file.
            let is_expected =
                expected.is_none_or(|file| FileIdentity::of(&new).as_ref() == Some(file));
            let old = OldFile {
                name: new,
                _lock: handle,
            };
            self.0.push(Undo::Restore { old, real });
            return match is_expected {
                true => Ok(()),
                false => Err(io::Error::other(
                    "another program replaced it during this run; run again",
                )),
            };
        }
        let link = |name: &Path| {
            #[cfg(test)]
            if fault_injection::lacks(fault_injection::Feature::HardLinks) {
                return Err(io::ErrorKind::Unsupported.into());
            }
            fs::hard_link(&real, name)
        };
        let old = match handle {
            Some(handle) => {
                let link = |name: &Path| link(name).and_then(|()| handle.try_clone());
                temporary_name::create_in(folder_of(&real), link).map(|old| {
                    let (lock, name) = old.into_parts();
                    (name, Some(lock))
                })
            }
            None => temporary_name::without_lock(folder_of(&real), link).map(|name| (name, None)),
        };
        new.persist(&real).map_err(|err| err.error)?;
        self.0.push(match old {
            Ok((name, _lock)) => Undo::Restore {
                old: OldFile { name, _lock },
                real,
            },
            Err(_) => Undo::Impossible(real),
        });
        Ok(())
    }

    /// Takes back all names, the last one first. Returns the error that led to it, with the files
    /// that could not be put back.
    fn undo(self, cause: Error) -> Error {
        let mut kept = Vec::new();
        for undo in self.0.into_iter().rev() {
            match undo {
                // A file that another program has removed needs no removal.
                Undo::Remove(real) => match fs::remove_file(&real) {
                    Err(err) if err.kind() != io::ErrorKind::NotFound => kept.push(real),
                    _ => {}
                },
                Undo::Restore { old, real } => {
                    if old.name.persist(&real).is_err() {
                        kept.push(real);
                    }
                }
                Undo::Impossible(real) => kept.push(real),
            }
        }
        if kept.is_empty() {
            return cause;
        }
        let kept: Vec<String> = kept.iter().map(|path| path.display().to_string()).collect();
        let what = format!(
            "{cause}; the output was taken back, except in files that already have the new content \
             and could not be put back: {}; run again",
            kept.join(", ")
        );
        Error::from_io(io::Error::other(what))
    }
}

/// Exchanges the names of two files. `false` if the system or the file system cannot.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    /// The answers of systems and file systems without exchanges, and for a file that is gone.
    const CANNOT: [Errno; 5] = [
        Errno::INVAL,
        Errno::NOSYS,
        Errno::OPNOTSUPP,
        Errno::NOTSUP,
        Errno::NOENT,
    ];
    #[cfg(test)]
    if fault_injection::lacks(fault_injection::Feature::Exchange) {
        return Ok(false);
    }
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(err) if CANNOT.contains(&err) => Ok(false),
        Err(err) => Err(err.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// A key that is equal for two names of one file.
#[derive(Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// The identity of the file with this name; `None` on systems without inodes.
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let meta = path.symlink_metadata().ok()?;
        Some(Self {
            device: meta.dev(),
            inode: meta.ino(),
        })
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Self> {
        None
    }
}
