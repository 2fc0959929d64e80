//! The inputs of a job, and the containers that recognise them.

use crate::container::files::{Container, OpenFiles};
use crate::container::source::Source;
use crate::error::{Error, ErrorKind, Remedy, Result};
#[cfg(feature = "audit")]
use crate::lists::to_lines;
use crate::pipeline::FilterStats;
#[cfg(feature = "audit")]
use crate::pipeline::blocks::LineInput;
use crate::records::{Field, RecordOptions};
use bstr::ByteSlice;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file of URLs: a list (text, TSV, CSV, JSONL, CDXJ, CDX; plain, gzip or zstd), a Parquet file,
/// or a WARC, WET or WAT file. An ARC file, and a WACZ file with any of these, is read as WARC.
///
/// The content decides, not the name, except that a file named `.parquet` is always Parquet. The
/// name of a list and its first line tell the [position of its
/// URLs](crate::records::RecordOptions).
///
/// ```no_run
/// let pages = robosieve::job::Input::open("crawl-00000.warc.gz")?;
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct Input {
    source: Source,
    /// `None` for a stream that is not read yet.
    container: Option<&'static dyn Container>,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("path", &self.source.path)
            .field("container", &self.container.map(Container::name))
            .finish()
    }
}

impl Input {
    /// Opens a file; `-` is standard input. A regular file is recognised by its first bytes, and
    /// closed again until its turn comes. A pipe is read when the job starts.
    ///
    /// # Errors
    /// I/O errors, which name the file. [`ErrorKind::BadList`] if the magic number is that of
    /// another format (an archive, a snapshot, an image), or if a file is not compressed though its
    /// name says so. Problems that show only after decompression are errors of the job.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let mut source = Source::of_path(path.as_ref())?;
        let container = if source.is_file() {
            let container = recognize_source(&mut source)?;
            container.check(&source)?;
            Some(container)
        } else {
            None
        };
        Ok(Self { source, container })
    }

    /// An input that reads from `reader`; `name` appears in error messages. The first bytes are
    /// read when the job starts.
    pub fn from_reader(name: impl AsRef<Path>, reader: impl Read + Send + 'static) -> Self {
        Self {
            source: Source::of_reader(name, reader),
            container: None,
        }
    }

    /// Whether a job on this file alone keeps all threads busy, as one on a Parquet file does. Run
    /// jobs on such files one after the other.
    pub fn uses_all_threads(&self) -> bool {
        self.container.is_some_and(Container::uses_all_threads)
    }

    /// The lines of the input, for a reader of other text than URLs.
    ///
    /// # Errors
    /// As [`open`](Self::open) of a list: a file of another container is refused.
    #[cfg(feature = "audit")]
    pub(crate) fn into_lines(self) -> Result<LineInput> {
        if self.source.is_file() {
            LISTS.check(&self.source)?;
        }
        to_lines(self.source)
    }
}

fn recognize_source(source: &mut Source) -> Result<&'static dyn Container> {
    let found = source.recognize(recognize)?;
    Ok(found.unwrap_or(LISTS))
}

/// Opened inputs of one container.
pub(super) struct OpenInputs {
    pub files: Box<dyn OpenFiles>,
    pub check: RecordCheck,
}

/// Refuses a job whose inputs have records but no URL, or not one of the times that are asked for.
pub(super) struct RecordCheck {
    container: &'static dyn Container,
    /// The name of the first input, for an error about all of them.
    first: Option<PathBuf>,
    inputs: usize,
}

impl RecordCheck {
    pub(super) fn check(&self, stats: &FilterStats, records: &RecordOptions) -> Result<()> {
        let err = if stats.has_no_url() {
            self.container.no_url(stats.lines, self.inputs)
        } else if stats.has_no_readable_time() {
            Some(self.no_time(stats, records))
        } else {
            None
        };
        match err {
            Some(err) => Err(self.first.iter().fold(err, |err, path| err.at(path))),
            None => Ok(()),
        }
    }

    /// The error of records with URLs and without any time that can be read.
    fn no_time(&self, stats: &FilterStats, records: &RecordOptions) -> Error {
        let inputs = if self.inputs > 1 {
            " of this input and of the others"
        } else {
            ""
        };
        let (place, remedy) = match &records.as_of_column {
            Some(Field::Name(name)) => (format!("in {name:?}"), Remedy::NameReadableTimes),
            Some(Field::Number(number)) => {
                (format!("in column {number}"), Remedy::NameReadableTimes)
            }
            None => ("of its own".to_owned(), Remedy::JudgeByNewest),
        };
        let example = match &stats.times.unreadable {
            Some(text) => format!("; {:?} is not a time", text.to_str_lossy()),
            None => String::new(),
        };
        let what = format!(
            "no record{inputs} has a time {place} that can be read{example} (times are like \
             2026-01-31T12:00:00Z, 2026-01-31 or 20260131120000, or seconds since 1970: 10 digits, \
             or 13, 16 or 19 in smaller units)"
        );
        Error::from(self.container.bad_records(what)).with_remedy(remedy)
    }
}

/// Inputs of one container.
struct InputGroup {
    container: &'static dyn Container,
    sources: Vec<Source>,
}

impl InputGroup {
    fn open(self) -> Result<OpenInputs> {
        let check = RecordCheck {
            container: self.container,
            first: self.sources.first().map(|source| source.path.clone()),
            inputs: self.sources.len(),
        };
        Ok(OpenInputs {
            files: self.container.open(self.sources)?,
            check,
        })
    }
}

/// Groups inputs by their containers, in the order in which these come first.
fn group(inputs: Vec<Input>) -> Result<Vec<InputGroup>> {
    let mut groups: Vec<InputGroup> = Vec::new();
    for mut input in inputs {
        let container = match input.container {
            Some(container) => container,
            None => recognize_source(&mut input.source)?,
        };
        let same = groups
            .iter_mut()
            .find(|group| group.container.name() == container.name());
        match same {
            Some(group) => group.sources.push(input.source),
            None => groups.push(InputGroup {
                container,
                sources: vec![input.source],
            }),
        }
    }
    Ok(groups)
}

/// Opens all inputs. One container reads them and writes their outputs, so they share a format.
///
/// # Errors
/// [`ErrorKind::BadJob`] if they have several formats, and errors of opening.
pub(super) fn open_all(inputs: Vec<Input>) -> Result<OpenInputs> {
    open_of_one_format(inputs).map_err(|err| match err.kind() {
        ErrorKind::BadJob(_) => err.with_remedy(Remedy::SeparateOutputs),
        _ => err,
    })
}

/// The same for a job without outputs, which could not have one per input.
pub(super) fn open_of_one_format(inputs: Vec<Input>) -> Result<OpenInputs> {
    let mut groups = group(inputs)?.into_iter();
    let first = groups.next().unwrap_or(InputGroup {
        container: LISTS,
        sources: Vec::new(),
    });
    if let Some(second) = groups.next() {
        let what = format!(
            "some inputs are {} and some are {}; give each kind to a run of its own",
            first.container.name(),
            second.container.name()
        );
        return Err(ErrorKind::BadJob(what).into());
    }
    first.open()
}

/// Opens inputs of any formats, those of each format together, for a job without outputs.
///
/// # Errors
/// Those of opening.
pub(super) fn open_by_format(inputs: Vec<Input>) -> Result<Vec<OpenInputs>> {
    group(inputs)?.into_iter().map(InputGroup::open).collect()
}

/// All containers, in the order in which they are asked. Lists are last: they take every file that
/// no other container recognises.
const CONTAINERS: &[&dyn Container] = &[
    #[cfg(feature = "parquet")]
    &crate::parquet::ParquetFiles,
    &crate::warc::WarcFiles,
    LISTS,
];

const LISTS: &dyn Container = &crate::lists::Lists;

/// The container of a file by its first bytes; `None` if more bytes have to decide.
fn recognize(source: &Source, is_all: bool) -> Option<&'static dyn Container> {
    for container in CONTAINERS {
        // A later container is asked only after a clear no.
        if container.recognizes(source, is_all)? {
            return Some(*container);
        }
    }
    None
}
