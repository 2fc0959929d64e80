//! What can go wrong: one error type whose message names the file, the place, the cause and the way out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can fail in this library, with the file it happened in where there is one.
///
/// The value is one pointer wide, so a `Result` on the hot path stays small. Its `Display` form is
/// a whole sentence for a person: file, place, cause, and what to do about it. File names and texts
/// from inputs are in it as they are: escape control characters before a terminal gets them, as the
/// command does.
///
/// ```
/// let err = robosieve::Snapshot::new(b"not a snapshot".as_slice()).unwrap_err();
/// assert!(matches!(err.kind(), robosieve::ErrorKind::NotASnapshot { .. }));
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

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
    /// Use fewer threads.
    UseFewerThreads,
    /// Name the column of the URLs.
    NameColumn,
    /// Read CSV without quotes.
    ReadWithoutQuotes,
    /// Write one output per input.
    SeparateOutputs,
    /// Add one column per agent instead of a mask of bits.
    ColumnPerAgent,
    /// Give the added column another name.
    RenameColumn,
}

/// The kinds of failure; new ones may be added, so match with a wildcard arm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused; the source says why.
    #[error("{0}{hint}", hint = hint_of(.0))]
    Io(io::Error),
    /// The bytes are not a snapshot at all: the magic number is missing.
    #[error("not a robosieve snapshot{what}")]
    NotASnapshot {
        /// What it is instead, if its magic number is known, and what to do.
        what: String,
    },
    /// A snapshot of a format version that this build cannot read.
    #[error(
        "snapshot format version {found}, but this robosieve reads version {supported}; compile the archives again with this version"
    )]
    UnsupportedVersion {
        /// The version the file states.
        found: u32,
        /// The version this build reads.
        supported: u32,
    },
    /// A snapshot whose bytes contradict each other; nothing read from it can be trusted.
    #[error("damaged snapshot: {what}; compile it again, or fetch it again if it was copied")]
    Corrupt {
        /// The thing that could not be read, with its place.
        what: String,
    },
    /// An input that holds no robots.txt archive of a known form.
    #[error("{what}; give a WARC file, a JSONL file (either may be .gz or .zst) or a directory of robots.txt files")]
    UnknownSource {
        /// What was found instead.
        what: String,
    },
    /// A damaged place in an archive or a compressed list.
    #[error("damaged at byte {offset}: {what}")]
    Damaged {
        /// Byte offset in the file as it is on disk (for JSONL: of the line's first decoded byte).
        offset: u64,
        /// What is wrong there.
        what: String,
        /// Whether [`crate::Compiler::skip_damaged`] would skip it.
        skippable: bool,
    },
    /// A list of URLs that does not hold what it is said to hold, or not where.
    #[error("{0}")]
    BadList(String),
    /// A Parquet file that cannot be read or written as asked.
    #[error("Parquet: {0}")]
    BadTable(String),
    /// An agent that cannot be asked about as it is spelled.
    #[error("agent {name:?}: {what}")]
    BadAgent {
        /// The name as given.
        name: String,
        /// What is wrong with it and what to write instead.
        what: String,
    },
    /// An output that cannot be written where it was asked for.
    #[error("cannot be an output: {0}")]
    BadOutput(String),
    /// A snapshot that a new compilation cannot take over.
    #[error("cannot be taken over as the previous snapshot: {0}")]
    BadPrevious(String),
    /// Two snapshots that cannot be compared.
    #[error("cannot be compared: {0}")]
    BadDiff(String),
    /// More data than the snapshot format can address.
    #[error("too large for the snapshot format: {0}")]
    TooLarge(String),
}

impl Error {
    /// The kind of failure, for programs that decide on it.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The file it happened in, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// A remedy to name in terms of the interface, where there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        match self.kind() {
            ErrorKind::NotASnapshot { .. } => Some(Remedy::CompileArchives),
            ErrorKind::Damaged { skippable: true, .. } => Some(Remedy::SkipDamage),
            ErrorKind::Io(err) if is_open_file_limit(err) => Some(Remedy::UseFewerThreads),
            _ => self.0.remedy,
        }
    }

    /// The same error with a remedy.
    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// Whether this is a reader that went away (`robosieve … | head`), which ends a command quietly.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Io(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether reading an archive may continue after the damage.
    pub(crate) fn is_skippable(&self) -> bool {
        matches!(self.kind(), ErrorKind::Damaged { skippable: true, .. })
    }

    /// The same error, naming `path` unless it names a file already.
    pub fn at(mut self, path: impl AsRef<Path>) -> Self {
        if self.0.path.is_none() {
            self.0.path = Some(path.as_ref().to_owned());
        }
        self
    }

    /// The same error where nothing reads on behind damage.
    pub(crate) fn final_damage(mut self) -> Self {
        if let ErrorKind::Damaged { skippable, .. } = &mut self.0.kind {
            *skippable = false;
        }
        self
    }

    /// The error of this library that an `io::Error` carries (a decoder's), or one around it.
    pub(crate) fn from_io(err: io::Error) -> Self {
        match err.downcast::<Self>() {
            Ok(err) => err,
            Err(err) => ErrorKind::Io(err).into(),
        }
    }

    /// An input/output error at `path`, or at the file that the error names already.
    pub(crate) fn io(path: impl AsRef<Path>, err: io::Error) -> Self {
        Self::from(err).at(path)
    }

    /// The same error as an `io::Error` of the same kind, for code that passes those on; `from`
    /// gives it back.
    pub(crate) fn into_io(self) -> io::Error {
        let kind = match self.kind() {
            ErrorKind::Io(err) => err.kind(),
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self)
    }

    /// A damaged snapshot: `what` names the thing that could not be read.
    #[cold]
    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        ErrorKind::Corrupt { what: what.into() }.into()
    }

    /// A damaged input at a byte offset; `skippable` where reading may resume behind it.
    pub(crate) fn damaged(offset: u64, what: impl Into<String>, skippable: bool) -> Self {
        ErrorKind::Damaged { offset, what: what.into(), skippable }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { path: None, kind, remedy: None }))
    }
}

impl From<io::Error> for Error {
    fn from(err: io::Error) -> Self {
        Self::from_io(err)
    }
}

/// Whether the process has too many open files: `EMFILE`, which is 24 on Linux, macOS and the BSDs.
fn is_open_file_limit(err: &io::Error) -> bool {
    cfg!(unix) && err.raw_os_error() == Some(24)
}

/// Advice on an error of the operating system that its own text does not give.
fn hint_of(err: &io::Error) -> &'static str {
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
    /// What lies behind the message; the operating system's own words are part of it already.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(err) => err.source(),
            _ => None,
        }
    }
}
