//! Compiles the texts of filter lists: files, and lines of Python.

use crate::column::text_bytes;
use crate::errors::{detached, exception};
use crate::files::{in_pool, refuse_overwriting};
use crate::interrupt::{Watch, watched};
use crate::lists::Lists;
use crate::options::named;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use robosieve::filter_lists::{CompiledLists, ListCompiler, ListReport, is_list_name};
use robosieve::output::OverwriteGuard;
use robosieve::{Error, ErrorKind};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A compiler of filter lists.
#[pyclass(frozen, module = "robosieve._native")]
pub(crate) struct ListTexts {
    /// `None` after the output was written, and after an error.
    compiler: Mutex<Option<ListCompiler>>,
    /// The files that were added.
    inputs: Mutex<Vec<PathBuf>>,
}

/// What a list holds: its entries and the rules that cancel entries, its lines that are not entries,
/// and the first of these, each with its number, its text and the reason.
type Contents = (u64, u64, Vec<(u64, String, String)>);

fn contents(report: ListReport) -> Contents {
    let examples = report.examples.into_iter();
    let examples = examples.map(|line| (line.line, line.text, line.reason.to_string()));
    let not_entries = report.not_entries.values().sum();
    let found = report.entries + report.cancellations;
    (found, not_entries, examples.collect())
}

impl ListTexts {
    /// Takes the compiler out of its slot.
    fn take(&self) -> PyResult<ListCompiler> {
        let mut slot = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take().ok_or_else(|| {
            PyRuntimeError::new_err("this compiler has written its output, or failed")
        })
    }

    /// Calls `add` with the compiler, without the interpreter's lock.
    fn with(
        &self,
        py: Python<'_>,
        name: &str,
        add: impl FnOnce(&mut ListCompiler, &Watch) -> robosieve::Result<ListReport> + Send,
    ) -> PyResult<Contents> {
        if !is_list_name(name) {
            let what = format!(
                "{name:?}: the name of a list has letters, digits, -, _ and . only; give it another key"
            );
            return Err(PyValueError::new_err(what));
        }
        watched(py, None, |watch| {
            let mut compiler = self.take()?;
            let (report, compiler) = in_pool(None, || {
                let report = add(&mut compiler, watch).map_err(exception_or_raised)?;
                Ok((report, compiler))
            })?;
            *self.compiler.lock().unwrap_or_else(PoisonError::into_inner) = Some(compiler);
            Ok(contents(report))
        })
    }

    /// Compiles the lists, and gives them to `write`.
    fn finish<T: Send>(
        &self,
        py: Python<'_>,
        write: impl FnOnce(CompiledLists) -> robosieve::Result<T> + Send,
    ) -> PyResult<T> {
        detached(py, || {
            let compiler = self.take()?;
            in_pool(None, || {
                compiler.finish().and_then(write).map_err(exception)
            })
        })
    }
}

#[pymethods]
impl ListTexts {
    #[new]
    fn new(
        allow_suffixes: bool,
        soft_threshold: Option<u32>,
        words_in: Option<&str>,
    ) -> PyResult<Self> {
        let mut compiler = ListCompiler::new().allow_suffixes(allow_suffixes);
        if let Some(threshold) = soft_threshold {
            let most = ListCompiler::MAX_SOFT_THRESHOLD;
            if !(1..=most).contains(&threshold) {
                let what = format!("soft_threshold={threshold}; give 1 to {most}");
                return Err(PyValueError::new_err(what));
            }
            compiler = compiler.soft_threshold(threshold);
        }
        if let Some(part) = words_in {
            compiler = compiler.words_in(named("words_in", part)?);
        }
        Ok(Self {
            compiler: Mutex::new(Some(compiler)),
            inputs: Mutex::default(),
        })
    }

    /// Adds lists that are compiled already.
    fn add_compiled(&self, py: Python<'_>, lists: &Lists) -> PyResult<()> {
        detached(py, || {
            let mut compiler = self.take()?;
            let added = in_pool(None, || {
                let added = compiler.add_compiled(lists.opened());
                added.map_err(exception)?;
                Ok(compiler)
            });
            *self.compiler.lock().unwrap_or_else(PoisonError::into_inner) = Some(added?);
            Ok(())
        })?;
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.extend(lists.file().map(Path::to_owned));
        Ok(())
    }

    /// Adds the list in a file.
    fn add_path(
        &self,
        py: Python<'_>,
        kind: &str,
        name: &str,
        path: PathBuf,
    ) -> PyResult<Contents> {
        let kind = named("kind", kind)?;
        let contents = self.with(py, name, |compiler, _| compiler.add_path(name, kind, &path))?;
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.push(path);
        Ok(contents)
    }

    /// Adds the list whose lines an iterator gives.
    fn add_lines(
        &self,
        py: Python<'_>,
        kind: &str,
        name: &str,
        lines: &Bound<'_, PyIterator>,
    ) -> PyResult<Contents> {
        let kind = named("kind", kind)?;
        let lines = lines.clone().unbind();
        self.with(py, name, |compiler, watch| {
            let added = compiler.add(name, kind, LineReader::new(name, lines, watch));
            // A file is named by its path.
            added.map_err(|err| match err.kind() {
                ErrorKind::BadList(what) => {
                    ErrorKind::BadList(format!("list {name:?}: {what}")).into()
                }
                _ => err,
            })
        })
    }

    /// Writes the compiled file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        let guard = OverwriteGuard::new().add_inputs("a list", inputs.iter());
        refuse_overwriting(guard, None, &[], [("output", path.as_path())])?;
        drop(inputs);
        self.finish(py, |compiled| compiled.write_to(&path).map(drop))
    }

    /// The bytes of the compiled file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let data = self.finish(py, |compiled| compiled.to_vec())?;
        Ok(PyBytes::new(py, &data))
    }
}

/// The exception that an iterator raised, or that of another error.
fn exception_or_raised(err: Error) -> PyErr {
    if let ErrorKind::Io(io) = err.kind()
        && let Some(raised) = io.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>())
    {
        return Python::attach(|py| raised.clone_ref(py));
    }
    exception(err)
}

/// The bytes of lines that are taken from the iterator at once. The interpreter's lock is held
/// meanwhile.
const CHUNK: usize = 256 << 10;

/// Reads the lines of an iterator as one text.
struct LineReader<'w> {
    /// The name of the list, for errors.
    name: &'w str,
    lines: Py<PyIterator>,
    /// Lines that were taken, each with its LF.
    chunk: Vec<u8>,
    /// The bytes of `chunk` that were read.
    consumed: usize,
    /// The lines that were taken before.
    taken: u64,
    bytes_read: u64,
    watch: &'w Watch,
}

impl<'w> LineReader<'w> {
    fn new(name: &'w str, lines: Py<PyIterator>, watch: &'w Watch) -> Self {
        Self {
            name,
            lines,
            chunk: Vec::with_capacity(CHUNK),
            consumed: 0,
            taken: 0,
            bytes_read: 0,
            watch,
        }
    }

    /// Takes lines until the chunk is full; none are left if it stays empty.
    fn refill(&mut self) -> PyResult<()> {
        self.bytes_read += self.chunk.len() as u64;
        self.watch.report(self.bytes_read);
        self.chunk.clear();
        self.consumed = 0;
        Python::attach(|py| {
            let mut lines = self.lines.bind(py).clone();
            while self.chunk.len() < CHUNK
                && let Some(line) = lines.next()
            {
                self.taken += 1;
                let line = line?;
                let text = text_bytes(&line, "a line is str or bytes").map_err(|err| {
                    let what = format!(
                        "list {:?}, line {}: {}",
                        self.name,
                        self.taken,
                        err.value(py)
                    );
                    if err.is_instance_of::<PyTypeError>(py) {
                        PyTypeError::new_err(what)
                    } else {
                        PyValueError::new_err(what)
                    }
                })?;
                // Lines of files and of `splitlines(keepends=True)` end already.
                let text = text.strip_suffix(b"\n").unwrap_or(&text);
                self.chunk.extend_from_slice(text);
                self.chunk.push(b'\n');
            }
            Ok(())
        })
    }
}

impl BufRead for LineReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed >= self.chunk.len() {
            self.refill().map_err(io::Error::other)?;
        }
        Ok(self.chunk.get(self.consumed..).unwrap_or_default())
    }

    fn consume(&mut self, read: usize) {
        self.consumed += read;
    }
}

impl Read for LineReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(out)?;
        self.consume(len);
        Ok(len)
    }
}
