//! The error type of the library. Its message names the file, the position, the cause and a remedy.

use std::fmt;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this library, with the file it occurred in, if there is one.
///
/// The value is one pointer wide, so a `Result` on the hot path stays small. `Display` writes a
/// whole sentence: file, position, cause and remedy. It includes file names and text from inputs
/// verbatim, so escape control characters before you print it to a terminal, as the command does.
/// It may go to other threads, and across [`catch_unwind`](std::panic::catch_unwind).
///
/// ```
/// let err = robosieve::Snapshot::new(b"not a snapshot".as_slice()).unwrap_err();
/// assert!(matches!(err.kind(), robosieve::ErrorKind::NotASnapshot { .. }));
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

// `io::Error` may hold an error of any type, so it has neither trait. Nothing changes an error behind a
// reference, so a caller that catches a panic sees a whole one.
impl UnwindSafe for Error {}
impl RefUnwindSafe for Error {}

#[derive(Debug)]
struct Inner {
    path: Option<PathBuf>,
    kind: ErrorKind,
    remedy: Option<Remedy>,
}

/// A remedy whose wording depends on the interface. The message of the error does not contain it:
/// the command names its options, another program its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Compile archives into a snapshot first.
    CompileArchives,
    /// Compile one of the snapshots again, with this profile.
    CompileWithProfile(&'static str),
    /// Give the snapshot to a compilation as the previous one, not as an archive.
    UseAsPrevious,
    /// Skip damaged places of archives.
    SkipDamage,
    /// Compile lists into a file first, or give the texts in another way.
    CompileLists,
    /// Name filter lists.
    NameLists,
    /// Name a snapshot and agents.
    NameAgents,
    /// Add the lists and the entry that name a URL, in a form with room for them.
    AddListColumns,
    /// Use fewer threads.
    UseFewerThreads,
    /// Name the column of the URLs.
    NameColumn,
    /// Name the column or key of the times of records.
    NameTimeColumn,
    /// Name a column or key with times, or judge records without a time by the newest rules.
    NameReadableTimes,
    /// Judge records without a time by the newest rules.
    JudgeByNewest,
    /// Use the times of the records.
    UseRecordTimes,
    /// State the delimiter of a table, and the column of the URLs.
    NameDelimiter,
    /// Name the key of the URLs in JSON objects.
    NameKey,
    /// Name the column or key of the URLs, or complete partial URLs.
    LocateUrls,
    /// Write records of archives to a named file instead of a stream.
    NameOutputFile,
    /// Write a Parquet file to a named file instead of a stream.
    NameTableFile,
    /// Write annotations in a form that has room for added values.
    ChooseForm,
    /// Write annotations as JSON lines.
    WriteObjects,
    /// Read CSV without quotes.
    ReadWithoutQuotes,
    /// Write one output per input.
    SeparateOutputs,
    /// Add one column per agent instead of a mask of bits.
    ColumnPerAgent,
    /// Give the added column another name.
    RenameColumn,
    /// Leave the added column out of the disallowed rows of a filter.
    LeaveColumnOut,
    /// Write the names of columns with dots, or one row per origin and agent.
    NameColumnsWithDots,
    /// Name another directory for temporary files, or keep more in memory.
    MoveTemporaryFiles,
    /// State the format of the access log.
    NameLogFormat,
    /// State the host of the requests in an access log.
    NameHost,
    /// Accept the failures of a crawl as those of its sites.
    AcceptFailures,
    /// Compile the archives again, with a history.
    KeepHistory,
    /// Keep a history in this compilation too: the previous snapshot has one.
    ContinueHistory,
}

/// The kinds of errors. Later versions may add kinds, so match with a wildcard arm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An error of the operating system.
    #[error("{0}{hint}", hint = hint_of(.0))]
    Io(io::Error),
    /// The bytes are not a snapshot: the magic number is missing.
    #[error("not a robosieve snapshot{what}")]
    NotASnapshot {
        /// The actual format, if its magic number is known, and a remedy.
        what: String,
    },
    /// The bytes are not a compiled file of filter lists: the magic number is missing.
    #[error("not a compiled file of filter lists{what}")]
    NotFilterLists {
        /// The actual format, if its magic number is known, and a remedy.
        what: String,
    },
    /// A snapshot of a format version that this build cannot read.
    #[error(
        "snapshot format version {found}, but this robosieve reads version {supported}; {}",
        if found > supported {
            "update robosieve, or compile the archives again with this version"
        } else {
            "compile the archives again with this version"
        }
    )]
    UnsupportedVersion {
        /// The version of the file.
        found: u32,
        /// The version that this build reads.
        supported: u32,
    },
    /// A snapshot with a section that is new since this version, and without which it cannot be read.
    #[error(
        "the snapshot has a section with the number {number}, which this robosieve does not know; \
         update robosieve, or compile the archives again with this version"
    )]
    UnknownSection {
        /// The number of the section.
        number: u32,
    },
    /// A snapshot with inconsistent bytes. Nothing read from it can be trusted.
    #[error("damaged snapshot: {what}; compile it again, or fetch it again if it was copied")]
    Corrupt {
        /// The part that could not be read, and its position.
        what: String,
    },
    /// A compiled file of filter lists with inconsistent bytes. Nothing read from it can be trusted.
    #[error(
        "damaged filter lists: {what}; compile them again, or fetch the file again if it was copied"
    )]
    DamagedLists {
        /// The part that could not be read, and its position.
        what: String,
    },
    /// An input that is not a robots.txt archive of a known format.
    #[error(
        "{what}; give a WARC, ARC or JSONL file (each may be .gz or .zst), a WACZ file, a captures \
         file or a directory of robots.txt files"
    )]
    UnknownSource {
        /// The actual format.
        what: String,
    },
    /// A damaged place in an archive or a compressed list.
    #[error("damaged at byte {offset}: {what}")]
    Damaged {
        /// The byte offset in the file on disk (for JSONL: of the first decoded byte of the line).
        offset: u64,
        /// The kind of damage.
        what: String,
        /// Whether [`crate::Compiler::skip_damaged`] would skip it.
        skippable: bool,
    },
    /// A list of URLs that does not match its declared format, or lacks the given column or field.
    #[error("{0}")]
    BadList(String),
    /// A column of texts whose offsets do not fit its data.
    #[error("column: {0}")]
    BadColumn(String),
    /// A Parquet file that cannot be read or written as requested.
    #[error("Parquet: {0}")]
    BadTable(String),
    /// A name that is not one of an option's values.
    #[error("{given:?} is not one of {names}", names = .names.join(", "))]
    UnknownName {
        /// The given name.
        given: String,
        /// The names of all values.
        names: Vec<&'static str>,
    },
    /// An invalid name of an agent.
    #[error("agent {name:?}: {what}")]
    BadAgent {
        /// The given name.
        name: String,
        /// The defect, and a remedy.
        what: String,
    },
    /// A list of crawlers that cannot be read.
    #[error("{}{what}", line_prefix(*.line))]
    BadRegistry {
        /// The line in the file, counted from 1, if it is known.
        line: Option<u64>,
        /// The defect, and a remedy.
        what: String,
    },
    /// A job on files with an option or an output that the format of its inputs does not have, or
    /// with inputs of several formats.
    #[error("{0}")]
    BadJob(String),
    /// An output whose name says another format than is written.
    #[error("{0}")]
    BadName(String),
    /// An output that cannot be written to the given path.
    #[error("cannot be an output: {0}")]
    BadOutput(String),
    /// An output that is the same file as an input of the run.
    #[error(
        "would be overwritten while it is read: the output of {output} is the same file as {input}"
    )]
    OverwritesInput {
        /// The caller's name of the output.
        output: String,
        /// The caller's name of the input, with its path.
        input: String,
    },
    /// An output that is the same file as another output of the run.
    #[error("named for two outputs, {first} and {second}; give each one of its own")]
    SameOutput {
        /// The caller's name of the output that was added first.
        first: String,
        /// The caller's name of this output.
        second: String,
    },
    /// A snapshot that an incremental compilation cannot start from.
    #[error("cannot be used as the previous snapshot: {0}")]
    BadPrevious(String),
    /// A time asked of a snapshot that keeps the newest rules only.
    #[error(
        "the snapshot has no history, so it has the newest rules only; compile the archives again \
         with a history"
    )]
    NoHistory,
    /// Archives without a capture of any robots.txt.
    #[error("{0}; nothing is written")]
    NoCaptures(String),
    /// A crawl in which so many sites fail that answered before that its fetcher has probably
    /// failed.
    #[error("{0}; nothing is written: fetch them again if the fetcher or its network failed")]
    TooManyFailing(String),
    /// Two snapshots that cannot be compared.
    #[error("cannot be compared: {0}")]
    BadDiff(String),
    /// More data than the format of a snapshot or of a captures file can hold.
    #[error("too large for the file format: {0}")]
    TooLarge(String),
}

impl Error {
    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The file that the error occurred in, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// A remedy to name in terms of the interface, where there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        match self.kind() {
            ErrorKind::NotASnapshot { .. } => Some(Remedy::CompileArchives),
            ErrorKind::NoHistory => Some(Remedy::KeepHistory),
            ErrorKind::Damaged {
                skippable: true, ..
            } => Some(Remedy::SkipDamage),
            ErrorKind::Io(err) if is_open_file_limit(err) => Some(Remedy::UseFewerThreads),
            _ => self.0.remedy,
        }
    }

    /// The same error with a remedy.
    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// Whether this is a reader that went away (`robosieve … | head`), which ends a command
    /// quietly.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Io(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether reading an archive may continue after the damage.
    pub(crate) fn is_skippable(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Damaged {
                skippable: true,
                ..
            }
        )
    }

    /// Adds `path` to the error, unless it has a path.
    pub fn at(mut self, path: impl AsRef<Path>) -> Self {
        if self.0.path.is_none() {
            self.0.path = Some(path.as_ref().to_owned());
        }
        self
    }

    /// Marks damage as not skippable, for readers that cannot resume.
    pub(crate) fn final_damage(mut self) -> Self {
        if let ErrorKind::Damaged { skippable, .. } = &mut self.0.kind {
            *skippable = false;
        }
        self
    }

    /// Unwraps the error of this library in an `io::Error` (from a decoder), or wraps the
    /// `io::Error`.
    pub(crate) fn from_io(err: io::Error) -> Self {
        match err.downcast::<Self>() {
            Ok(err) => err,
            Err(err) => ErrorKind::Io(err).into(),
        }
    }

    /// An I/O error with `path`, unless the error has a path.
    pub(crate) fn io(path: impl AsRef<Path>, err: io::Error) -> Self {
        Self::from(err).at(path)
    }

    /// Wraps the error in an `io::Error` of the same kind, for code that passes those on. `from`
    /// unwraps it.
    pub(crate) fn into_io(self) -> io::Error {
        let kind = match self.kind() {
            ErrorKind::Io(err) => err.kind(),
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self)
    }

    /// A damaged snapshot; `what` names the part that could not be read.
    #[cold]
    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        ErrorKind::Corrupt { what: what.into() }.into()
    }

    /// The same error about a file of filter lists, which has the head and the blocks of a snapshot.
    pub(crate) fn of_lists(mut self) -> Self {
        let compile_again = "compile the lists again";
        self.0.kind = match self.0.kind {
            ErrorKind::Corrupt { what } => ErrorKind::DamagedLists { what },
            ErrorKind::UnsupportedVersion { found, supported } => ErrorKind::NotFilterLists {
                what: format!(
                    " of version {supported}, but of version {found}; update robosieve, or \
                     {compile_again}"
                ),
            },
            ErrorKind::UnknownSection { number } => ErrorKind::NotFilterLists {
                what: format!(
                    ": it has a section {number}, which this robosieve does not know; update it, or \
                     {compile_again}"
                ),
            },
            other => other,
        };
        self
    }

    /// A damaged input at a byte offset; `skippable` if the reader can resume after it.
    pub(crate) fn damaged(offset: u64, what: impl Into<String>, skippable: bool) -> Self {
        ErrorKind::Damaged {
            offset,
            what: what.into(),
            skippable,
        }
        .into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            path: None,
            kind,
            remedy: None,
        }))
    }
}

impl From<io::Error> for Error {
    fn from(err: io::Error) -> Self {
        Self::from_io(err)
    }
}

/// Whether the process has too many open files: `EMFILE`, which is 24 on Linux, macOS and the BSDs.
pub(crate) fn is_open_file_limit(err: &io::Error) -> bool {
    cfg!(unix) && err.raw_os_error() == Some(24)
}

/// The position that begins a message about a line.
fn line_prefix(line: Option<u64>) -> String {
    line.map(|line| format!("line {line}: "))
        .unwrap_or_default()
}

/// Advice on an error of the operating system that its own text does not give.
pub(crate) fn hint_of(err: &io::Error) -> &'static str {
    if is_open_file_limit(err) {
        "; raise the limit on open files (`ulimit -n 4096`), or use fewer threads"
    } else {
        ""
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        write!(f, "{}", self.0.kind)
    }
}

impl std::error::Error for Error {
    /// The cause of the error. The message already includes that of the operating system.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(err) => err.source(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compiles only if a caller may hand errors to other threads, and keep them across a caught panic.
    const _: () = {
        const fn is_plain<T: Send + Sync + UnwindSafe + RefUnwindSafe + 'static>() {}
        is_plain::<Error>();
        is_plain::<Result<()>>();
    };
}
