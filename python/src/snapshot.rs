//! An open snapshot, with the judges that were used last.

use crate::column::{url_arrays, url_bytes};
use crate::errors::{caught, detached, exception, opening_exception, snapshot_exception};
use crate::judging::{judge_wide, nulls, threads_argument, threads_for};
use crate::lists::{Lists, NumberBytes, number_bytes};
use crate::options::{judge_options, named, one_of, parse_agent, parse_agents, require_argument};
use crate::result_array::Array;
use crate::result_table::Table;
use crate::times::row_times;
use crate::verification::{Depth, Verification};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_data::ArrayData;
use bytes::Bytes;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use robosieve::census::{SpellCheck, UnnamedAgent};
use robosieve::filter_lists::FilterLists;
use robosieve::judge::{CrawlDelays, Reason, Require, VerdictsRef};
use robosieve::{ErrorKind, Judge, JudgeOptions, Origin};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The most judges that a snapshot keeps. Each has some hundred KiB of memory per thread that used
/// it.
const JUDGES: usize = 32;

/// The mask of a URL without a verdict. Real masks have at most 63 bits, so none is negative.
const NO_MASK: i64 = -1;

/// The column with the reasons of listed URLs.
const LIST_COLUMN: &str = "robots_listed";

/// The name of a snapshot in memory, for messages.
const IN_MEMORY: &str = "<bytes>";

/// An open snapshot.
#[pyclass(frozen, module = "robosieve._native")]
pub(crate) struct Snapshot {
    snapshot: Arc<robosieve::Snapshot>,
    /// The path as it was given, or [`IN_MEMORY`].
    path: PathBuf,
    is_file: bool,
    verification: Verification,
    /// Whether damage is looked for at all.
    is_verified: bool,
    /// The last used judges, the newest first.
    judges: Mutex<Vec<CachedJudge>>,
}

/// A judge, with the agents, the options and the lists that it was asked for.
struct CachedJudge {
    specs: Vec<String>,
    options: JudgeOptions,
    lists: Option<Arc<FilterLists>>,
    judge: Judge,
}

impl CachedJudge {
    fn is_for<S: AsRef<str>>(
        &self,
        specs: &[S],
        options: JudgeOptions,
        lists: Option<&Arc<FilterLists>>,
    ) -> bool {
        let are_same_lists = match (&self.lists, lists) {
            (Some(own), Some(lists)) => Arc::ptr_eq(own, lists),
            (own, lists) => own.is_none() && lists.is_none(),
        };
        let specs = specs.iter().map(AsRef::as_ref);
        are_same_lists && self.options == options && self.specs.iter().map(String::as_str).eq(specs)
    }
}

impl Snapshot {
    /// The exception for an error of judging; one about the snapshot names it.
    pub(crate) fn exception(&self, py: Python<'_>, err: robosieve::Error) -> PyErr {
        match err.kind() {
            ErrorKind::BadColumn(_) | ErrorKind::DamagedLists { .. } => exception(err),
            _ => snapshot_exception(py, err, &self.path),
        }
    }

    /// The snapshot of the library.
    pub(crate) fn opened(&self) -> &robosieve::Snapshot {
        &self.snapshot
    }

    /// The path of its file; `None` if it is in memory.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.is_file.then_some(&self.path)
    }

    /// The path of its file, or the name of bytes in memory, for messages.
    pub(crate) fn shown_path(&self) -> &Path {
        &self.path
    }

    /// A snapshot that was opened, verified as the caller wants it.
    fn verified(
        py: Python<'_>,
        snapshot: robosieve::Snapshot,
        file: Option<PathBuf>,
        verification: Verification,
        verify: &str,
    ) -> PyResult<Self> {
        // Before a job on many URLs, the snapshot is verified; a single answer verifies what it reads.
        let depths = [
            (None, "none"),
            (Some(Depth::Header), "checksums"),
            (Some(Depth::Structure), "full"),
        ];
        let depth = one_of("verify", verify, &depths)?;
        let opened = Self {
            snapshot: Arc::new(snapshot),
            is_file: file.is_some(),
            path: file.unwrap_or_else(|| IN_MEMORY.into()),
            verification,
            is_verified: depth.is_some(),
            judges: Mutex::default(),
        };
        match depth {
            Some(depth) => opened.verify_to(py, depth)?,
            None => opened.snapshot.assume_verified(),
        }
        Ok(opened)
    }

    /// A judge for agents and sets of agents.
    pub(crate) fn judge<S: AsRef<str>>(
        &self,
        py: Python<'_>,
        specs: &[S],
        options: JudgeOptions,
    ) -> PyResult<Judge> {
        if let Some(judge) = self.cached_judge(specs, options, None) {
            return Ok(judge);
        }
        let agents = parse_agents(specs)?;
        let judge = Judge::new(Arc::clone(&self.snapshot), &agents, options)
            .map_err(|err| self.exception(py, err))?;
        self.cache_judge(specs, options, None, &judge);
        Ok(judge)
    }

    /// As [`judge`](Self::judge), with the lists that it asks too, if there are any.
    fn judge_with_lists(
        &self,
        py: Python<'_>,
        specs: &[String],
        options: JudgeOptions,
        lists: Option<&Lists>,
    ) -> PyResult<Judge> {
        let Some(lists) = lists.map(Lists::opened) else {
            return self.judge(py, specs, options);
        };
        if let Some(judge) = self.cached_judge(specs, options, Some(lists)) {
            return Ok(judge);
        }
        let judge = self.judge(py, specs, options)?;
        let judge = judge.with_lists(FilterLists::clone(lists));
        self.cache_judge(specs, options, Some(lists), &judge);
        Ok(judge)
    }

    /// The judge that was used lately for the same agents, options and lists.
    fn cached_judge<S: AsRef<str>>(
        &self,
        specs: &[S],
        options: JudgeOptions,
        lists: Option<&Arc<FilterLists>>,
    ) -> Option<Judge> {
        let mut judges = self.judges.lock().unwrap_or_else(PoisonError::into_inner);
        let found = judges
            .iter()
            .position(|cached| cached.is_for(specs, options, lists))?;
        judges[..=found].rotate_right(1);
        judges.first().map(|cached| cached.judge.clone())
    }

    /// Keeps a judge. A judge keeps its lists open, so only the newest one with lists is kept.
    fn cache_judge<S: AsRef<str>>(
        &self,
        specs: &[S],
        options: JudgeOptions,
        lists: Option<&Arc<FilterLists>>,
        judge: &Judge,
    ) {
        let mut judges = self.judges.lock().unwrap_or_else(PoisonError::into_inner);
        judges.retain(|cached| {
            // Another thread may have made the same judge.
            let is_same = cached.is_for(specs, options, lists);
            !is_same && (cached.lists.is_none() || lists.is_none())
        });
        judges.truncate(JUDGES - 1);
        let cached = CachedJudge {
            specs: specs.iter().map(|spec| spec.as_ref().to_owned()).collect(),
            options,
            lists: lists.map(Arc::clone),
            judge: judge.clone(),
        };
        judges.insert(0, cached);
    }

    /// A judge for any number of agents, also for none.
    pub(crate) fn judge_of_any(
        &self,
        py: Python<'_>,
        specs: &[String],
        options: JudgeOptions,
    ) -> PyResult<Judge> {
        if !specs.is_empty() {
            return self.judge(py, specs, options);
        }
        Judge::new(Arc::clone(&self.snapshot), &[], options).map_err(|err| self.exception(py, err))
    }

    /// A judge for one agent.
    fn judge_one(&self, py: Python<'_>, agent: &str, options: JudgeOptions) -> PyResult<Judge> {
        let judge = self.judge(py, &[agent], options)?;
        match judge.agents() {
            [_] => Ok(judge),
            agents => {
                let what = format!(
                    "agent={agent:?} names {} agents; give verdicts() a list, or use masks()",
                    agents.len()
                );
                Err(PyValueError::new_err(what))
            }
        }
    }

    /// A judge for as many agents as a mask has bits.
    fn judge_several(
        &self,
        py: Python<'_>,
        specs: &[String],
        options: JudgeOptions,
    ) -> PyResult<Judge> {
        let judge = self.judge(py, specs, options)?;
        match judge.agents().len() {
            ..=63 => Ok(judge),
            count => {
                let limit = "a mask of int64 holds at most 63";
                let what = format!(
                    "{count} agents; {limit}: name fewer, or a smaller set such as @ai-train"
                );
                Err(PyValueError::new_err(what))
            }
        }
    }
}

impl Snapshot {
    /// Judges a column without the interpreter's lock, one value per row. `value` is the value of a
    /// row, and `finish` makes an array of all values and the nulls of the column.
    fn judge_column<T: Copy + Default + Send + Sync>(
        &self,
        py: Python<'_>,
        column: Column<'_, '_>,
        value: impl Fn(VerdictsRef<'_>) -> T + Send + Sync,
        finish: impl FnOnce(Vec<T>, Option<NullBuffer>) -> PyResult<Array> + Send,
    ) -> PyResult<Array> {
        let fill = |verdicts: VerdictsRef<'_>, rows: &mut [T]| {
            rows.fill(value(verdicts));
            Ok(())
        };
        self.judge_wide_column(py, column, fill, finish)
    }

    /// Judges a column without the interpreter's lock, `width` values per row. `fill` sets the values
    /// of neighbouring rows with the same verdicts, and `finish` makes the result of all values and
    /// the nulls of the column.
    fn judge_wide_column<T: Copy + Default + Send + Sync, R: Send>(
        &self,
        py: Python<'_>,
        column: Column<'_, '_>,
        fill: impl Fn(VerdictsRef<'_>, &mut [T]) -> robosieve::Result<()> + Send + Sync,
        finish: impl FnOnce(Vec<T>, Option<NullBuffer>) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        let arrays = caught(|| url_arrays(column.urls))?;
        self.verify_to(py, column.depth)?;
        let rows = arrays.iter().map(ArrayData::len).sum();
        let threads = threads_for(rows, column.threads);
        let Column {
            judge,
            width,
            times,
            ..
        } = column;
        if let Some(times) = &times
            && times.len() != rows
        {
            return Err(PyValueError::new_err(format!(
                "as_of has {} times for {rows} URLs; give a time for each, or one for all",
                times.len()
            )));
        }
        let judged = detached(py, || {
            let values = judge_wide(judge, &arrays, times.as_deref(), threads, width, fill);
            Ok(values.map(|values| finish(values, nulls(&arrays))))
        })?;
        judged.map_err(|err| self.exception(py, err))?
    }
}

/// A column of URLs, and how it is judged.
struct Column<'j, 'py> {
    judge: &'j Judge,
    urls: &'j Bound<'py, PyAny>,
    threads: Option<usize>,
    /// The time as of which each row is judged, in seconds since 1970.
    times: Option<Vec<Option<i64>>>,
    /// The values per row.
    width: usize,
    /// The depth to which the snapshot is verified first.
    depth: Depth,
}

impl<'j, 'py> Column<'j, 'py> {
    /// One value per row, without the texts.
    fn new(
        judge: &'j Judge,
        urls: &'j Bound<'py, PyAny>,
        threads: Option<usize>,
        times: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self {
            judge,
            urls,
            threads,
            times: caught(|| times.map(row_times).transpose())?,
            width: 1,
            depth: Depth::Judging,
        })
    }
}

impl Snapshot {
    /// Verifies the snapshot to a depth, for jobs that read much of it. Nothing is verified if the
    /// snapshot was opened so.
    pub(crate) fn verify_to(&self, py: Python<'_>, depth: Depth) -> PyResult<()> {
        if self.is_verified {
            self.force_verification(py, depth)
        } else {
            Ok(())
        }
    }

    fn force_verification(&self, py: Python<'_>, depth: Depth) -> PyResult<()> {
        let verified = detached(py, || {
            Ok(self.verification.verify(&self.snapshot, &self.path, depth))
        })?;
        verified.map_err(|err| snapshot_exception(py, err, &self.path))
    }
}

/// Refuses several agents in one name.
fn refuse_joined(agents: &[UnnamedAgent]) -> PyResult<()> {
    match agents.iter().find(|agent| !agent.joined.is_empty()) {
        None => Ok(()),
        Some(agent) => Err(PyValueError::new_err(format!(
            "agent {:?}: not a known agent, but each of its words is; give a list: {:?}",
            agent.label, agent.joined
        ))),
    }
}

#[pymethods]
impl Snapshot {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, verify: &str) -> PyResult<Self> {
        let opened = detached(py, || Ok(Verification::open(&path)))?;
        let (snapshot, verification) = opened.map_err(|err| opening_exception(py, err, &path))?;
        Self::verified(py, snapshot, Some(path), verification, verify)
    }

    /// A snapshot in memory. It reads the bytes in place, and keeps them alive.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes, verify: &str) -> PyResult<Self> {
        let snapshot = robosieve::Snapshot::new(Bytes::from_owner(data))
            .map_err(|err| snapshot_exception(py, err, Path::new(IN_MEMORY)))?;
        Self::verified(py, snapshot, None, Verification::in_memory(), verify)
    }

    /// Verifies all checksums, however the snapshot was opened.
    fn verify_checksums(&self, py: Python<'_>) -> PyResult<()> {
        self.force_verification(py, Depth::Checksums)
    }

    /// The agents that no robots.txt names but that resemble a name in use: each name with that
    /// one.
    fn misspelled(&self, py: Python<'_>, specs: Vec<String>) -> PyResult<Vec<(String, String)>> {
        let mut check = SpellCheck::new(&parse_agents(&specs)?);
        let unnamed = detached(py, || {
            Ok(check.add_snapshot(&self.snapshot).map(|()| check.finish()))
        })?;
        let unnamed = unnamed.map_err(|err| self.exception(py, err))?;
        refuse_joined(&unnamed)?;
        let misspelled = unnamed.into_iter().flat_map(|agent| agent.misspelled);
        Ok(misspelled
            .map(|name| (name.name, name.suggestion))
            .collect())
    }

    /// The path, as it was given.
    #[getter(path)]
    fn path_as_given(&self) -> PathBuf {
        self.path.clone()
    }

    /// The checksum of the header.
    #[getter]
    fn checksum(&self) -> u64 {
        self.snapshot.checksum()
    }

    /// Whether the snapshot holds the origin of a URL.
    fn __contains__(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(origin) = Origin::of(&url_bytes(url)?) else {
            return Ok(false);
        };
        caught(|| {
            let entry = self.snapshot.origin(&origin);
            entry
                .map(|entry| entry.is_some())
                .map_err(|err| self.exception(py, err))
        })
    }

    fn __len__(&self) -> usize {
        self.snapshot.origin_count() as usize
    }

    /// The metadata, as JSON.
    fn metadata(&self, py: Python<'_>) -> PyResult<String> {
        let metadata = self
            .snapshot
            .metadata()
            .map_err(|err| self.exception(py, err))?;
        serde_json::to_string(&metadata).map_err(|err| PyRuntimeError::new_err(err.to_string()))
    }

    /// One verdict per URL.
    fn verdicts(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        agent: &str,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
        #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
        times: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Array> {
        let judge = self.judge_one(py, agent, options)?;
        let column = Column::new(&judge, urls, threads, times)?;
        self.judge_column(py, column, |verdicts| verdicts.get(0).code(), Array::int8)
    }

    /// One column of verdicts for each agent, and with lists a column of the reasons for listed URLs.
    // Arguments as Python passes them, each with its own conversion.
    #[expect(clippy::too_many_arguments)]
    fn verdict_table(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        agents: Vec<String>,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
        #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
        times: Option<&Bound<'_, PyAny>>,
        lists: Option<&Bound<'_, Lists>>,
    ) -> PyResult<Table> {
        let lists = lists.map(Bound::get);
        let judge = self.judge_with_lists(py, &agents, options, lists)?;
        let names = judge.agents().iter().map(|agent| format!("robots_{agent}"));
        let names: Vec<String> = names.collect();
        if lists.is_some() && names.iter().any(|name| name == LIST_COLUMN) {
            return Err(PyValueError::new_err(format!(
                "the column {LIST_COLUMN} is that of an agent already; ask the lists alone, with \
                 Lists.match"
            )));
        }
        // The bytes of the number of a list follow the verdicts of a row.
        let agents = names.len();
        let width = agents + lists.map_or(0, |_| size_of::<NumberBytes>());
        let column = Column {
            width,
            ..Column::new(&judge, urls, threads, times)?
        };
        let fill = |verdicts: VerdictsRef<'_>, rows: &mut [i8]| {
            let (first, others) = rows.split_at_mut(width);
            let (codes, number) = first.split_at_mut(agents);
            let of_agents = codes.iter_mut().zip(verdicts.iter());
            of_agents.for_each(|(code, verdict)| *code = verdict.code());
            if !number.is_empty() {
                number.copy_from_slice(&number_bytes(verdicts.list_match()));
            }
            others
                .chunks_mut(width)
                .for_each(|row| row.copy_from_slice(first));
            Ok(())
        };
        self.judge_wide_column(py, column, fill, |values, nulls| {
            let column = |agent| values.iter().skip(agent).step_by(width).copied().collect();
            let columns = names.into_iter().zip((0..agents).map(column));
            let table = Table::int8(columns.collect(), nulls.clone())?;
            let Some(lists) = lists else {
                return Ok(table);
            };
            let numbers = values.chunks_exact(width);
            let numbers =
                numbers.filter_map(|row| row.last_chunk::<{ size_of::<NumberBytes>() }>());
            table.with_column(
                LIST_COLUMN,
                lists.reasons_of_bytes(numbers.copied(), nulls)?,
            )
        })
    }

    /// Whether each URL may be fetched, by all agents or by any, and is not listed.
    // Arguments as Python passes them, each with its own conversion.
    #[expect(clippy::too_many_arguments)]
    fn allowed(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        agents: Vec<String>,
        #[pyo3(from_py_with = require_argument)] require: Require,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
        #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
        times: Option<&Bound<'_, PyAny>>,
        lists: Option<&Bound<'_, Lists>>,
    ) -> PyResult<Array> {
        let judge = self.judge_with_lists(py, &agents, options, lists.map(Bound::get))?;
        let column = Column::new(&judge, urls, threads, times)?;
        let is_allowed = |verdicts: VerdictsRef<'_>| verdicts.is_allowed(require);
        self.judge_column(py, column, is_allowed, Array::boolean)
    }

    /// One reason per URL.
    fn reasons(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
        #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
        times: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Array> {
        let judge = self.judge_of_any(py, &[], options)?;
        let number = |reason| Reason::ALL.iter().position(|other| *other == reason);
        let reason =
            |verdicts: VerdictsRef<'_>| number(verdicts.reason()).unwrap_or_default() as i32;
        let column = Column::new(&judge, urls, threads, times)?;
        self.judge_column(py, column, reason, |keys, nulls| {
            Array::words(&Reason::ALL.map(Reason::name), keys, nulls)
        })
    }

    /// One crawl-delay per URL, in seconds.
    fn crawl_delays(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        agent: &str,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
        #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
        times: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Array> {
        let judge = self.judge_one(py, agent, options)?;
        let delays = CrawlDelays::new(&judge);
        let column = Column {
            // The delays are in the texts.
            depth: Depth::Checksums,
            ..Column::new(&judge, urls, threads, times)?
        };
        let fill = |verdicts: VerdictsRef<'_>, rows: &mut [Option<f64>]| {
            let delay = delays.of(&verdicts, 0)?;
            rows.fill(delay.map(|delay| delay.as_secs_f64()));
            Ok(())
        };
        self.judge_wide_column(py, column, fill, Array::float64)
    }

    /// One mask per URL.
    fn masks(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        agents: Vec<String>,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
        #[pyo3(from_py_with = threads_argument)] threads: Option<usize>,
        times: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Array> {
        let judge = self.judge_several(py, &agents, options)?;
        let mask = |verdicts: VerdictsRef<'_>| {
            if verdicts.unjudged().is_some() {
                NO_MASK
            } else {
                verdicts.mask()
            }
        };
        let column = Column::new(&judge, urls, threads, times)?;
        self.judge_column(py, column, mask, |masks, nulls| {
            let judged = BooleanBuffer::collect_bool(masks.len(), |row| masks[row] != NO_MASK);
            let nulls = NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::new(judged)));
            Array::int64(masks, nulls)
        })
    }

    /// The verdict on one URL.
    fn verdict(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        agent: &str,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
    ) -> PyResult<i8> {
        let judge = self.judge_one(py, agent, options)?;
        let url = url_bytes(url)?;
        caught(|| {
            if self.is_verified && !self.verification.has_reached(Depth::Judging) {
                judge
                    .verify_url(&url)
                    .map_err(|err| self.exception(py, err))?;
            }
            let verdicts = judge.judge(&url).map_err(|err| self.exception(py, err))?;
            Ok(verdicts.get(0).code())
        })
    }

    /// The explanation of the verdict on one URL, as JSON.
    fn explain(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        agent: &str,
        all_rules: bool,
        #[pyo3(from_py_with = judge_options)] options: JudgeOptions,
    ) -> PyResult<String> {
        let judge = self.judge_one(py, agent, options)?;
        let url = url_bytes(url)?;
        caught(|| {
            let explanation = judge
                .explain(&url, 0)
                .map_err(|err| self.exception(py, err))?;
            Ok(explanation.to_json(&url, agent, all_rules).to_string())
        })
    }

    /// The text of the origin's robots.txt; `None` if there is none.
    fn robots_text<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(origin) = Origin::of(&url_bytes(url)?) else {
            return Ok(None);
        };
        let text = caught(|| {
            let entry = self.snapshot.origin(&origin);
            let text = entry.and_then(|entry| {
                entry.map_or(Ok(None), |entry| self.snapshot.robots_text(&entry))
            });
            text.map_err(|err| self.exception(py, err))
        })?;
        Ok(text.map(|text| PyBytes::new(py, &text)))
    }

    /// The sitemaps of the origin.
    fn sitemaps(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let Some(origin) = Origin::of(&url_bytes(url)?) else {
            return Ok(Vec::new());
        };
        let sitemaps = caught(|| {
            self.snapshot
                .sitemaps(&origin)
                .map_err(|err| self.exception(py, err))
        })?;
        Ok(sitemaps
            .iter()
            .map(|sitemap| String::from_utf8_lossy(sitemap).into_owned())
            .collect())
    }

    /// The crawl-delay of the origin for an agent, in seconds.
    fn crawl_delay(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        agent: &str,
        agent_match: &str,
    ) -> PyResult<Option<f64>> {
        let how = named("agent_match", agent_match)?;
        let agent = parse_agent(agent)?;
        let Some(origin) = Origin::of(&url_bytes(url)?) else {
            return Ok(None);
        };
        let delay = || {
            self.snapshot
                .crawl_delay(&origin, &agent, how)
                .map_err(|err| self.exception(py, err))
        };
        let delay = caught(delay)?;
        Ok(delay.map(|delay| delay.as_secs_f64()))
    }
}
