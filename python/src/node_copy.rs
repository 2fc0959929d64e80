//! A copy of a snapshot on the local disk of a node, made once for all processes there.

use crate::errors::{detached, exception, snapshot_exception};
use pyo3::prelude::*;
use robosieve::{Error, ErrorKind, Result, Snapshot};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Copies `source` into `directory`, unless it is there, and returns the path of the copy.
///
/// The name of the copy has the checksum in the snapshot's header, so another content gets another
/// name, and a copy is never overwritten. A lock lets one process copy while the others wait. The
/// system releases it when its process ends; a killed process leaves a file that the next one
/// replaces.
#[pyfunction]
pub(crate) fn node_copy(py: Python<'_>, source: PathBuf, directory: PathBuf) -> PyResult<PathBuf> {
    let copied = detached(py, || Ok(copy_once(&source, &directory)))?;
    copied.map_err(|err| match err.kind() {
        // An error of the disk of the node is no error of the snapshot.
        ErrorKind::Io(_) if err.path().is_some_and(|path| path != source) => exception(err),
        _ => snapshot_exception(py, err, &source),
    })
}

fn copy_once(source: &Path, directory: &Path) -> Result<PathBuf> {
    let checksum = Snapshot::open(source)?.checksum();
    fs::create_dir_all(directory).map_err(at(directory))?;
    let path = directory.join(name_of(source, checksum, "rsieve"));
    // A copy gets this name when it is complete and verified.
    if path.is_file() {
        return Ok(path);
    }
    // The lock file stays: if it were removed, two processes could lock two files of one name.
    let lock_path = directory.join(name_of(source, checksum, "lock"));
    let lock = File::options().create(true).append(true).open(&lock_path).map_err(at(&lock_path))?;
    lock.lock().map_err(at(&lock_path))?;
    if !path.is_file() {
        let part = directory.join(name_of(source, checksum, "part"));
        copy_verified(source, checksum, &part).inspect_err(|_| drop(fs::remove_file(&part)))?;
        fs::rename(&part, &path).map_err(at(&path))?;
    }
    Ok(path)
}

/// The file name of the source with its checksum: `web-0123456789abcdef.rsieve`.
fn name_of(source: &Path, checksum: u64, extension: &str) -> OsString {
    let mut name = source.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{checksum:016x}.{extension}"));
    name
}

/// Copies to `part`, and reads the copy again.
fn copy_verified(source: &Path, checksum: u64, part: &Path) -> Result<()> {
    let mut input = File::open(source).map_err(at(source))?;
    let mut output = File::create(part).map_err(at(part))?;
    io::copy(&mut input, &mut output).map_err(at(part))?;
    output.sync_all().map_err(at(part))?;
    // In a pool of this call: the global one would not survive `os.fork`.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(io::Error::other).map_err(at(part))?;
    // The error is about the bytes of the source, so it names the source.
    let copy = Snapshot::open(part).map_err(|err| Error::from(io::Error::other(err.to_string())).at(source))?;
    pool.install(|| copy.verify_checksums()).map_err(|err| err.at(source))?;
    if copy.checksum() == checksum {
        return Ok(());
    }
    Err(Error::from(io::Error::other("the snapshot was replaced while it was copied; copy it again")).at(source))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |err| Error::from(err).at(path)
}
