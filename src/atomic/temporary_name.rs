//! Names of temporary files, and the removal of those that killed processes have left.
//!
//! A process locks its temporary file. The system releases the lock when the process ends, however
//! it ends. So a file that can be locked belongs to nobody, and the next process that needs such a
//! name in the folder removes it. Some file systems of several machines keep locks on one machine
//! only. Therefore the name has the host, and a process removes names of its own host only.
//!
//! The crate `tempfile` gives the random part of a name. It leaves the file of a killed process, as
//! large as the output, under a hidden name. NFS, Lustre, vfat and macOS have no files without a
//! name, and batch systems kill jobs on the first two.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use tempfile::{Builder, NamedTempFile, TempPath};

/// How often a new file may be lost to another process that removes abandoned ones, before it is
/// used without a lock. A hard link to an old file that another program has locked is always lost.
const ATTEMPTS: usize = 16;

const SUFFIX: &str = ".tmp";

/// What the names of all processes of this host begin with.
static PREFIX: LazyLock<String> = LazyLock::new(|| format!(".robosieve-{:08x}-", host()));

/// A number for the name of the machine.
fn host() -> u32 {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_bytes().to_vec();
    #[cfg(not(unix))]
    let name = Vec::new();
    xxhash_rust::xxh3::xxh3_64(&name) as u32
}

/// Creates a file with `create` under a new name in the folder, and locks it. Removes abandoned
/// files first.
pub(super) fn create_in(
    folder: &Path,
    mut create: impl FnMut(&Path) -> io::Result<File>,
) -> io::Result<NamedTempFile> {
    remove_abandoned_once(folder);
    let mut attempts = 0;
    loop {
        let file = Builder::new()
            .prefix(PREFIX.as_str())
            .suffix(SUFFIX)
            .make_in(folder, &mut create)?;
        attempts += 1;
        let is_ours = match file.as_file().try_lock() {
            // Another process may have removed it before it was locked.
            Ok(()) => file.path().exists(),
            Err(TryLockError::WouldBlock) => false,
            // Without locks, others cannot lock it either, and leave it alone.
            Err(TryLockError::Error(_)) => true,
        };
        if is_ours || attempts == ATTEMPTS {
            return Ok(file);
        }
    }
}

/// Gives a file that no lock can protect a new name in the folder with `link`. A process that looks
/// for abandoned files may remove the name.
pub(super) fn without_lock(
    folder: &Path,
    link: impl FnMut(&Path) -> io::Result<()>,
) -> io::Result<TempPath> {
    let mut name = Builder::new();
    name.prefix(PREFIX.as_str()).suffix(SUFFIX);
    Ok(name.make_in(folder, link)?.into_temp_path())
}

/// Removes abandoned files when this process uses the folder for the first time, because listing a
/// large folder takes long.
fn remove_abandoned_once(folder: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.insert(folder.to_owned()) {
        remove_abandoned(folder);
    }
}

/// Removes the temporary files of ended processes of this host. Errors are ignored: the run does
/// not depend on it, and files of other users stay.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_temporary = name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX.as_str()) && name.ends_with(SUFFIX));
        // Opening a pipe would wait for a writer.
        if !is_temporary || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a folder.
    fn names(folder: &Path) -> BTreeSet<String> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    fn create_new(path: &Path) -> io::Result<File> {
        File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
    }

    #[test]
    fn only_abandoned_files_of_this_host_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        let in_use = create_in(folder, create_new).unwrap();
        let abandoned = format!("{}abandoned.tmp", *PREFIX);
        let other_host = format!(".robosieve-{:08x}-x.tmp", !host());
        let directory = format!("{}directory.tmp", *PREFIX);
        let kept = [".robosieve-x.tmp", "list.txt", other_host.as_str()];
        for name in kept.iter().copied().chain([abandoned.as_str()]) {
            fs::write(folder.join(name), "").unwrap();
        }
        fs::create_dir(folder.join(&directory)).unwrap();
        // A process looks once per folder.
        drop(create_in(folder, create_new).unwrap());
        assert!(names(folder).contains(&abandoned));
        remove_abandoned(folder);
        let in_use_name = in_use.path().file_name().unwrap().to_str().unwrap();
        let expected = kept.iter().copied().chain([in_use_name, &directory]);
        assert_eq!(names(folder), expected.map(str::to_owned).collect());
        drop(in_use);
    }

    #[test]
    fn the_first_file_of_a_folder_removes_abandoned_ones() {
        let dir = tempfile::tempdir().unwrap();
        let abandoned = dir.path().join(format!("{}abandoned.tmp", *PREFIX));
        fs::write(&abandoned, "").unwrap();
        drop(create_in(dir.path(), create_new).unwrap());
        assert!(!abandoned.exists());
    }

    #[test]
    fn a_file_that_is_always_lost_is_used_at_last() {
        let dir = tempfile::tempdir().unwrap();
        let mut created = 0;
        let lost = create_in(dir.path(), |path| {
            created += 1;
            let file = create_new(path)?;
            fs::remove_file(path)?;
            Ok(file)
        });
        assert!(lost.is_ok());
        assert_eq!(created, ATTEMPTS);
    }

    /// Another process removes each new file before it is locked, as often as it can.
    #[test]
    fn files_lost_before_they_are_locked_are_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut lost = 3;
        let file = create_in(dir.path(), |path| {
            let file = create_new(path)?;
            if lost > 0 {
                lost -= 1;
                fs::remove_file(path)?;
            }
            Ok(file)
        })
        .unwrap();
        assert_eq!(lost, 0);
        assert!(file.path().exists());

        // A lock of another process is that of one that is about to remove the file.
        let mut other = None;
        let file = create_in(dir.path(), |path| {
            let file = create_new(path)?;
            if other.is_none() {
                let lock = File::open(path)?;
                lock.lock()?;
                other = Some(lock);
            }
            Ok(file)
        })
        .unwrap();
        assert!(File::open(file.path()).unwrap().try_lock().is_err());
    }
}
