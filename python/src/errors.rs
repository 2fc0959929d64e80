//! Python exceptions for the errors of the library, and the boundary that no panic crosses.

use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use robosieve::{Error, ErrorKind, Remedy};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

pyo3::create_exception!(
    robosieve,
    RobosieveError,
    PyException,
    "An input, an output or a snapshot that cannot be used. The message names the file, the place and the remedy."
);
pyo3::create_exception!(
    robosieve,
    SnapshotError,
    RobosieveError,
    "A snapshot that cannot be opened, or whose bytes are damaged. The attribute `path` is its path."
);

/// The exception for an error of the library: `OSError` with its number for the operating system
/// and for folders, `ValueError` for names of agents and columns, else `RobosieveError` or `SnapshotError`.
pub(crate) fn exception(err: Error) -> PyErr {
    let message = || match err.remedy().and_then(advice) {
        Some(advice) => format!("{err}; {advice}"),
        None => err.to_string(),
    };
    match err.kind() {
        ErrorKind::Io(io) => match errno(io) {
            Some(number) => {
                let text = io.to_string();
                let text = text.split(" (os error").next().unwrap_or_default();
                os_error(number, text, err.path())
            }
            None => PyOSError::new_err(message()),
        },
        ErrorKind::BadOutput(what) => match output_errno(err.path()) {
            Some(number) => os_error(number, what, err.path()),
            None => RobosieveError::new_err(message()),
        },
        ErrorKind::BadAgent { .. }
        | ErrorKind::BadColumn(_)
        | ErrorKind::BadJob(_)
        | ErrorKind::BadName(_) => PyValueError::new_err(message()),
        ErrorKind::Corrupt { .. }
        | ErrorKind::NotASnapshot { .. }
        | ErrorKind::UnsupportedVersion { .. }
        | ErrorKind::UnknownSection { .. } => SnapshotError::new_err(message()),
        ErrorKind::OverwritesInput { .. } | ErrorKind::SameOutput { .. } => {
            PyValueError::new_err(message())
        }
        _ => RobosieveError::new_err(message()),
    }
}

/// Numbers of errors, which Linux, macOS and Windows share.
const ENOENT: i32 = 2;
const EACCES: i32 = 13;
const EEXIST: i32 = 17;
const ENOTDIR: i32 = 20;
const EISDIR: i32 = 21;
const ENOSPC: i32 = 28;

/// The number of an error, also of one that wraps another or that the library made itself.
fn errno(err: &io::Error) -> Option<i32> {
    err.raw_os_error().or(match err.kind() {
        io::ErrorKind::NotFound => Some(ENOENT),
        io::ErrorKind::PermissionDenied => Some(EACCES),
        io::ErrorKind::AlreadyExists => Some(EEXIST),
        io::ErrorKind::NotADirectory => Some(ENOTDIR),
        io::ErrorKind::IsADirectory => Some(EISDIR),
        io::ErrorKind::StorageFull => Some(ENOSPC),
        _ => None,
    })
}

/// The number of the error of an output that cannot be created: a directory, or a file in a folder
/// that does not exist. `None` for other causes, which are not the system's.
fn output_errno(path: Option<&Path>) -> Option<i32> {
    let path = path?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        Some(EISDIR)
    } else if folder.is_some_and(|folder| !folder.exists()) {
        Some(ENOENT)
    } else {
        None
    }
}

/// An `OSError`: Python chooses the subclass by the number, such as `FileNotFoundError`.
fn os_error(number: i32, what: &str, path: Option<&Path>) -> PyErr {
    let path = path.map(|path| path.as_os_str().to_owned());
    PyOSError::new_err((number, what.to_owned(), path))
}

/// A `SnapshotError` with the path of the snapshot, for any error that concerns it.
pub(crate) fn snapshot_exception(py: Python<'_>, err: Error, path: &Path) -> PyErr {
    let advice = err.remedy().and_then(advice);
    let advice = advice.map(|advice| format!("; {advice}"));
    let err = err.at(path);
    let err = SnapshotError::new_err(format!("{err}{}", advice.unwrap_or_default()));
    // An exception without the attribute is still the right exception.
    let _ = err.value(py).setattr("path", path.as_os_str());
    err
}

/// The exception for a snapshot that cannot be opened: the `OSError` of the operating system, which
/// the Python half makes a `SnapshotError` too, else a `SnapshotError`.
pub(crate) fn opening_exception(py: Python<'_>, err: Error, path: &Path) -> PyErr {
    match err.kind() {
        ErrorKind::Io(io) if errno(io).is_some() => exception(err.at(path)),
        _ => snapshot_exception(py, err, path),
    }
}

/// What a Python caller can do about an error, where the message itself does not say it.
fn advice(remedy: Remedy) -> Option<&'static str> {
    match remedy {
        Remedy::CompileArchives => {
            Some("compile archives into a snapshot first, with robosieve.compile")
        }
        Remedy::CompileWithProfile(_) => {
            Some("compile one of the snapshots again with the profile of the other")
        }
        Remedy::UseAsPrevious => Some("a snapshot is given to a compilation as previous="),
        Remedy::SkipDamage => Some("skip_damaged=True skips damaged places"),
        Remedy::UseFewerThreads => Some("use fewer threads: threads="),
        Remedy::NameColumn => Some("name the column of URLs: field="),
        Remedy::ContinueHistory => Some("keep the history: history=True"),
        Remedy::KeepHistory => Some("history=True of robosieve.Compiler"),
        Remedy::NameReadableTimes => Some(
            "name the column or key of the times: as_of_column=, or judge by the newest rules: \
             no_time=\"newest\"",
        ),
        Remedy::JudgeByNewest => Some("judge by the newest rules: no_time=\"newest\""),
        Remedy::NameTimeColumn => Some("name the column or key of the times: as_of_column="),
        Remedy::UseRecordTimes => Some("use the times of the records: as_of_record=True"),
        Remedy::NameDelimiter => {
            Some("state it with delimiter=, and the column of the URLs with field=")
        }
        Remedy::NameKey => Some("name the key of the URLs: json_key="),
        Remedy::LocateUrls => Some(
            "name the column or key of the URLs with field= or json_key=, or complete partial URLs with default_scheme= and host=",
        ),
        Remedy::AcceptFailures => {
            Some("accept the failures as those of the sites: max_failing=1.0")
        }
        Remedy::NameLists => Some("give them: lists="),
        Remedy::NameTableFile => Some("give it a file: output="),
        Remedy::ChooseForm => Some("write another form: form=\"jsonl\" or form=\"csv\""),
        Remedy::WriteObjects => Some("write objects: form=\"jsonl\""),
        Remedy::NameOutputFile => Some("give it a file: output="),
        Remedy::ReadWithoutQuotes => {
            Some("read it without quotes: input_format=\"tsv\" with delimiter=")
        }
        Remedy::ColumnPerAgent => Some("add one column per agent: form=\"int8\""),
        Remedy::RenameColumn => Some("give the added column another name: name="),
        Remedy::LeaveColumnOut => Some("leave the column out of disallowed_add="),
        Remedy::NameColumnsWithDots => Some(
            "write dots with column_names=\"dots\", or one row per origin and agent with long=True",
        ),
        _ => None,
    }
}

/// Calls `work` without the interpreter's lock. An error becomes its exception, and a panic, which
/// would be a defect of this package, a `RobosieveError`.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    caught(|| py.detach(work))
}

/// Calls `work`. A panic becomes a `RobosieveError`.
pub(crate) fn caught<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // The values that a panic leaves behind are dropped, or behind locks that it poisons.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("a panic");
        Err(RobosieveError::new_err(format!(
            "internal error, please report it: {text}"
        )))
    })
}
