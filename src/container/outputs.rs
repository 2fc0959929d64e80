//! The outputs of a job, which appear together, and the sink of their lines.

use crate::atomic::output_file::OutputFile;
use crate::atomic::output_name::{NameOf, OutputFormat};
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::pipeline::FilterStats;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// An output of a job: a file, or any writer.
///
/// A file appears when the job is [committed](Written::commit). It is compressed if its name ends
/// in `.gz` or `.zst`, except for formats with a compression of their own. The bytes for a writer
/// are never compressed as a whole.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// use robosieve::job::Output;
/// let file = Output::create(dir.path().join("kept.txt.gz"))?;
/// let mut bytes = Vec::new();
/// let memory = Output::from_writer(&mut bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Output<'w> {
    target: Target<'w>,
    /// Whose name an unsuitable name is: advice names the file to rename.
    name_of: NameOf,
    refuses_tables: bool,
}

enum Target<'w> {
    File {
        path: PathBuf,
        file: Box<OutputFile>,
    },
    Writer(&'w mut (dyn Write + Send)),
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}

impl<'w> Output<'w> {
    /// Starts a file, as [`OutputFile::create`] does.
    ///
    /// # Errors
    /// As [`OutputFile::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // The format of the inputs decides on the compression.
        let target = Target::File {
            path: path.to_owned(),
            file: Box::new(OutputFile::create_as_is(path)?),
        };
        Ok(Self::of(target))
    }

    /// An output to a writer.
    pub fn from_writer(writer: &'w mut (dyn Write + Send)) -> Self {
        Self::of(Target::Writer(writer))
    }

    fn of(target: Target<'w>) -> Self {
        Self {
            target,
            name_of: NameOf::Output,
            refuses_tables: false,
        }
    }

    /// Says that the file has the name of its input. If the name does not fit the format, the error
    /// advises to rename the input.
    pub fn named_after_input(mut self) -> Self {
        self.name_of = NameOf::Input;
        self
    }

    /// Makes a job on Parquet files fail, for the standard output of a command that was not asked
    /// for Parquet.
    pub fn refuse_tables(mut self) -> Self {
        self.refuses_tables = true;
        self
    }

    /// As [`OutputFile::lost_attributes`]; `None` for a writer.
    pub fn lost_attributes(&self) -> Option<String> {
        match &self.target {
            Target::File { file, .. } => file.lost_attributes(),
            Target::Writer(_) => None,
        }
    }

    /// The path of a file; `None` for a writer.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.target {
            Target::File { path, .. } => Some(path),
            Target::Writer(_) => None,
        }
    }

    pub(crate) fn is_named_after_input(&self) -> bool {
        self.name_of == NameOf::Input
    }

    pub(crate) fn ends_in(&self, extension: &str) -> bool {
        let found = self.path().and_then(Path::extension);
        found.is_some_and(|found| found.eq_ignore_ascii_case(extension))
    }

    /// Refuses a file with the name of another format.
    pub(crate) fn check_name(&self, format: OutputFormat) -> Result<()> {
        match self.path() {
            Some(path) => format.check_name(path, self.name_of),
            None => Ok(()),
        }
    }

    /// Compresses a file as its name says.
    pub(crate) fn compressed_by_name(self) -> Result<Self> {
        let Target::File { path, file } = self.target else {
            return Ok(self);
        };
        let file = Box::new(file.compressed_by_name()?);
        Ok(Self {
            target: Target::File { path, file },
            ..self
        })
    }

    /// The output of lines: a file with a suitable name, compressed as the name says.
    pub(crate) fn of_lines(self) -> Result<Self> {
        self.check_name(OutputFormat::Text)?;
        self.compressed_by_name()
    }

    pub(crate) fn writer(&mut self) -> &mut (dyn Write + Send) {
        match &mut self.target {
            Target::File { file, .. } => &mut **file,
            Target::Writer(writer) => *writer,
        }
    }

    /// The writer of a table, whose bytes mean nothing to a person.
    ///
    /// # Errors
    /// [`ErrorKind::BadJob`] if the output [refuses tables](Self::refuse_tables).
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only Parquet files give tables")
    )]
    pub(crate) fn table_writer(&mut self) -> Result<&mut (dyn Write + Send)> {
        if self.refuses_tables {
            let what = "the output of Parquet files is Parquet, which needs a file".to_owned();
            return Err(Error::from(ErrorKind::BadJob(what)).with_remedy(Remedy::NameTableFile));
        }
        Ok(self.writer())
    }

    fn into_file(self) -> Option<OutputFile> {
        match self.target {
            Target::File { file, .. } => Some(*file),
            Target::Writer(_) => None,
        }
    }
}

/// The outputs of a filter; `None` discards. Every record goes to exactly one of the first five,
/// with its bytes unchanged and in input order. Only
/// [added columns](crate::job::Job::add_columns) change disallowed records.
// Exhaustive on purpose: callers build it as a literal, with `..Outputs::default()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outputs<T> {
    /// The records with the verdict that is kept.
    pub kept: Option<T>,
    /// The records with the other verdict.
    pub other: Option<T>,
    /// The records of unknown origins.
    pub unknown: Option<T>,
    /// The records without a URL.
    pub invalid: Option<T>,
    /// The records that a filter list names, whatever their verdicts are
    /// ([`Judge::with_lists`](crate::Judge::with_lists)).
    pub listed: Option<T>,
    /// An offset index (CDXJ) of the kept records of WARC files. Its entries name the file of kept
    /// records.
    pub index: Option<T>,
}

impl<T> Default for Outputs<T> {
    /// No outputs.
    fn default() -> Self {
        Self::from_array([const { None }; 6])
    }
}

impl<T> Outputs<T> {
    /// The outputs that there are, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.each_ref().into_iter()
    }

    /// References to the outputs.
    pub fn each_ref(&self) -> Outputs<&T> {
        Outputs {
            kept: self.kept.as_ref(),
            other: self.other.as_ref(),
            unknown: self.unknown.as_ref(),
            invalid: self.invalid.as_ref(),
            listed: self.listed.as_ref(),
            index: self.index.as_ref(),
        }
    }

    /// Mutable references to the outputs.
    pub(crate) fn each_mut(&mut self) -> Outputs<&mut T> {
        Outputs {
            kept: self.kept.as_mut(),
            other: self.other.as_mut(),
            unknown: self.unknown.as_mut(),
            invalid: self.invalid.as_mut(),
            listed: self.listed.as_mut(),
            index: self.index.as_mut(),
        }
    }

    /// Converts each output.
    ///
    /// # Errors
    /// The first error of `convert`.
    pub fn try_map<U, E>(
        self,
        mut convert: impl FnMut(T) -> Result<U, E>,
    ) -> Result<Outputs<U>, E> {
        Ok(Outputs {
            kept: self.kept.map(&mut convert).transpose()?,
            other: self.other.map(&mut convert).transpose()?,
            unknown: self.unknown.map(&mut convert).transpose()?,
            invalid: self.invalid.map(&mut convert).transpose()?,
            listed: self.listed.map(&mut convert).transpose()?,
            index: self.index.map(&mut convert).transpose()?,
        })
    }

    /// Outputs from an array in the order of the fields.
    pub fn from_array(array: [Option<T>; 6]) -> Self {
        let [kept, other, unknown, invalid, listed, index] = array;
        Self {
            kept,
            other,
            unknown,
            invalid,
            listed,
            index,
        }
    }
}

impl<T> IntoIterator for Outputs<T> {
    type Item = T;
    type IntoIter = std::iter::Flatten<std::array::IntoIter<Option<T>, 6>>;

    /// The outputs that there are, in the order of the fields.
    fn into_iter(self) -> Self::IntoIter {
        [
            self.kept,
            self.other,
            self.unknown,
            self.invalid,
            self.listed,
            self.index,
        ]
        .into_iter()
        .flatten()
    }
}

impl Outputs<Output<'_>> {
    /// Refuses an index, which only WARC files have.
    pub(crate) fn refuse_index(&self) -> Result<()> {
        let Some(index) = &self.index else {
            return Ok(());
        };
        let what = "an offset index (CDXJ) lists the records of WARC files, and no input is one"
            .to_owned();
        let err = Error::from(ErrorKind::BadJob(what));
        Err(index.path().into_iter().fold(err, |err, path| err.at(path)))
    }
}

/// The written outputs of a job. Files are not visible yet; dropping this leaves none of them.
#[must_use = "the outputs appear when they are committed"]
#[derive(Debug)]
pub struct Written {
    stats: FilterStats,
    files: Vec<OutputFile>,
}

impl Written {
    pub(crate) fn new<'w>(
        stats: FilterStats,
        outputs: impl IntoIterator<Item = Output<'w>>,
    ) -> Self {
        Self {
            stats,
            files: outputs.into_iter().filter_map(Output::into_file).collect(),
        }
    }

    /// Whether there are files to make visible.
    pub fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Adds a file that is made visible together with the outputs, such as one of their counts.
    pub fn add_file(&mut self, file: OutputFile) {
        self.files.push(file);
    }

    /// The counts of the job.
    pub fn stats(&self) -> &FilterStats {
        &self.stats
    }

    /// Makes all files visible together, whole and synced to disk, and gives the counts of the job.
    ///
    /// # Errors
    /// As [`OutputFile::commit_all`].
    pub fn commit(self) -> Result<FilterStats> {
        OutputFile::commit_all(self.files)?;
        Ok(self.stats)
    }
}

/// An output of lines. A last line without a line end gets one if anything follows.
pub(crate) struct LineSink<'w> {
    out: Option<&'w mut (dyn Write + Send)>,
    /// Whether the last line has no line end yet.
    is_open: bool,
}

impl<'w> LineSink<'w> {
    /// A sink; `None` discards.
    pub(crate) fn new(out: Option<&'w mut (dyn Write + Send)>) -> Self {
        Self {
            out,
            is_open: false,
        }
    }

    /// Writes lines. If it `continues`, the text continues the last line written.
    pub(crate) fn write(&mut self, lines: &[u8], continues: bool) -> io::Result<()> {
        let (Some(out), Some(last)) = (&mut self.out, lines.last()) else {
            return Ok(());
        };
        if self.is_open && !continues {
            out.write_all(b"\n")?;
        }
        self.is_open = *last != b'\n';
        out.write_all(lines)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}
