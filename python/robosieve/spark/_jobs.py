"""From files to files on a cluster: each task calls the wheel on whole files.

Spark only hands out file names and collects counts. A task writes to a directory of its own below a
hidden staging directory and then renames its outputs to their final names, as Hadoop's output
committer does. Therefore:

- An output is complete when it appears.
- Retried and speculative attempts of a task never share a file. The last rename wins, and all
  attempts write the same bytes.
- A killed task leaves its files in the staging directory, which the driver removes at the end. An
  orphaned worker that still runs then fails to rename, because its directory is gone.

For a store, the staging directory of a task is on its local disk, and an upload takes the place of
the rename. A hidden object stands for the run: the driver deletes it at the end, and a worker that
does not find it uploads nothing.
"""

from __future__ import annotations

import functools
import heapq
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import robosieve

from .. import RobosieveError, Snapshot
from .._lists import as_lists
from .._options import Agents, Path, last_second, names, seconds
from .._staging import Staging
from .._stores import Location, locate
from .._uris import is_uri, join, name_of
from ._paths import InputFile, check_outputs, find_inputs, full_path
from ._source import SnapshotSource, require_pyspark, snapshot_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import Unpack

    from ._typing import AnnotateOptions, FilterOptions

#: The most tasks of a run. With more files, small ones share a task.
MOST_TASKS = 10_000


class InputsError(RobosieveError):
    """Some inputs cannot be processed; the outputs of all others are complete.

    ``failures`` maps the path of each such input to its error. ``counts`` are those of the others.
    """

    __module__ = "robosieve.spark"

    def __init__(self, message: str, failures: dict[str, str], counts: dict[str, Any]) -> None:
        super().__init__(message)
        self.failures = failures
        self.counts = counts


def annotate_files(
    spark: SparkSession,
    snapshot: Snapshot | Path,
    paths: Path | Sequence[Path],
    out: Path,
    agents: Agents,
    *,
    node_directory: Path | None = None,
    executor_path: Path | None = None,
    partitions: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    **options: Unpack[AnnotateOptions],
) -> dict[str, Any]:
    """Write each input file with its verdicts to a file of the same name in a directory.

    Args:
        spark: The session.
        snapshot, node_directory, executor_path: As for :func:`register`.
        paths: Files, directories and globs of lists and Parquet files, on a file system that the
            driver and all nodes mount at the same place, or in a store (``s3://bucket/pages/``). The
            files of a directory or glob keep their subdirectories in the output. Names that begin
            with ``.`` or ``_`` are skipped, but for partitions (``_year=2026/``).
        out: The output directory, on such a file system or in a store. It is created if needed.
        agents: As for :func:`with_verdicts`; files may have any number.
        partitions: The number of tasks. The default is one per file, so a lost executor costs
            little, and at most 10,000.
        threads: The threads of a task. The default is its number of cores, ``spark.task.cpus``.
        overwrite: Replace outputs that exist. Each is replaced when the new one is complete.
        options: As for :func:`robosieve.annotate`: ``form``, ``name``, ``add``, ``preferences``,
            ``field``, ``input_format``, ``header``, ``delimiter``, ``json_key``, ``default_scheme``, ``host``,
            ``as_of_column``, ``as_of_record``, ``no_time``, ``status_policy``, ``unknown``, ``any_scheme``,
            ``at``, ``as_of``, ``agent_match``, ``strict_agents`` and ``lists``. The driver opens the
            lists, and each task opens the same file at the same path.

    Returns:
        The sums of the counts of :func:`robosieve.annotate`, and ``files``, the number of inputs.

    Raises:
        FileExistsError: An output exists. Nothing was changed.
        FileNotFoundError: No input matches, or a bucket is missing.
        ImportError: PySpark, or the library for a store, is missing.
        InputsError: Some inputs are damaged or have no URL. All other outputs are complete.
        RobosieveError: An output would overwrite an input, or a directory or glob is one of a Delta
            Lake, Iceberg or Hudi table, whose files also hold deleted rows. Nothing was changed.
        SnapshotError: The driver cannot open the snapshot.
        TypeError, ValueError: A bad agent, option or path, an unknown column of the first input if
            it is a Parquet file, or two inputs with one output. Nothing was changed.

    An output appears when it is complete. When all inputs are done, the empty file ``_SUCCESS``
    appears in ``out``; an unfinished or failed run has none. Other errors, such as a full disk, fail
    the task; Spark retries it (``spark.task.maxFailures``) and then fails the job.
    """
    require_pyspark()
    call = _Call("annotate", snapshot_source(snapshot, node_directory, executor_path), names(agents), dict(options))
    return _run(spark, call, paths, [out], partitions, threads, overwrite)


def filter_files(
    spark: SparkSession,
    snapshot: Snapshot | Path,
    paths: Path | Sequence[Path],
    out: Path | None,
    agents: Agents,
    *,
    disallowed_to: Path | None = None,
    unknown_to: Path | None = None,
    invalid_to: Path | None = None,
    listed_to: Path | None = None,
    node_directory: Path | None = None,
    executor_path: Path | None = None,
    partitions: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    **options: Unpack[FilterOptions],
) -> dict[str, Any]:
    """Write the records of each input file to files of the same name, by their verdicts.

    Args:
        out: The directory for the records that are kept, or None.
        disallowed_to: A directory for the records with the other verdict.
        unknown_to: A directory for the records of origins that the snapshot does not hold. Without
            it, and without ``unknown``, they are in no output.
        invalid_to: A directory for the records that are not URLs.
        listed_to: A directory for the records that ``lists`` name. Without it, they are in no output.
        options: As for :func:`robosieve.filter`: ``keep``, ``require``, ``reasons``,
            ``disallowed_add``, and the options of :func:`annotate_files` from ``field`` on.
        spark, snapshot, paths, agents, node_directory, executor_path, partitions, threads,
            overwrite: As for :func:`annotate_files`.

    Returns, Raises: As :func:`annotate_files`. Each output directory gets a ``_SUCCESS``.
    """
    require_pyspark()
    call = _Call("filter", snapshot_source(snapshot, node_directory, executor_path), names(agents), dict(options))
    return _run(spark, call, paths, [out, disallowed_to, unknown_to, invalid_to, listed_to], partitions, threads, overwrite)


class _Call:
    """A function of the wheel with its options. Pickled, it has the snapshot's source alone."""

    def __init__(
        self, function: str, snapshot: tuple[Snapshot, SnapshotSource], agents: list[str], options: dict[str, Any]
    ) -> None:
        opened, self.source = snapshot
        self.function, self.agents, self.options = function, agents, options
        # `at="now"` is the time at the driver.
        for name, parse in (("at", seconds), ("as_of", last_second)):
            if name in options:
                self.options = dict(self.options, **{name: parse(options[name])})
        # A task has another working directory, and finds them by their whole path.
        if "lists" in options:
            self.options = dict(self.options, lists=as_lists(options["lists"]))
        # The file itself, and not a local copy: no output may overwrite it.
        self.snapshot_path = opened.path if opened._source is None else opened._source.path
        # Raises for bad agents and judging options, whatever the files are.
        self.check = functools.partial(self._call, opened)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "check"}

    def prepare(self) -> None:
        """Opens the snapshot on this node. Without it, the task fails: it may succeed on another."""
        self.source.open()

    def __call__(self, source: str, outputs: list[str | None], threads: int) -> dict[str, Any]:
        return self._call(self.source.open(), source, outputs, threads)

    def _call(self, snapshot: Snapshot, source: str, outputs: list[str | None], threads: int) -> dict[str, Any]:
        options = dict(self.options, threads=threads)
        if self.function == "annotate":
            return dict(robosieve.annotate(snapshot, source, str(outputs[0]), self.agents, **options))
        output, disallowed_to, unknown_to, invalid_to, listed_to = outputs
        options.update(
            disallowed_to=disallowed_to, unknown_to=unknown_to, invalid_to=invalid_to, listed_to=listed_to
        )
        return dict(robosieve.filter(snapshot, source, output, self.agents, **options))


class FileCall(Protocol):
    """The work of a task on one file."""

    def prepare(self) -> None:
        """Called first. An error fails the task, not the input."""

    def __call__(self, source: str, outputs: list[str | None], threads: int) -> dict[str, Any]:
        """Writes the outputs of an input, and returns counts."""


@dataclass(frozen=True)
class Attempt:
    """An output of one attempt of a task."""

    path: str
    """A local path; its extension is that of the output."""
    publish: Callable[[], None]
    """Makes the output visible, if the run has not ended."""


class OutputDirectory(Protocol):
    """Where the outputs of a run appear."""

    @property
    def path(self) -> str: ...

    def start(self, files: list[InputFile]) -> None:
        """Starts a run, which is incomplete until it succeeds."""

    def attempt(self, name: str) -> AbstractContextManager[Attempt]:
        """A new attempt to write a file of this name."""

    def succeed(self) -> None:
        """Marks the run as complete."""

    def remove_staging(self) -> None:
        """Ends the run: no attempt can publish any more."""


@dataclass(frozen=True)
class StoreDirectory:
    """A directory of a store."""

    path: str
    run: str

    def _locate(self, name: str) -> Location:
        return locate(join(self.path, name))

    def start(self, files: list[InputFile]) -> None:
        # A rerun is incomplete until it ends, even if it only adds files.
        self._locate("_SUCCESS").delete()
        self._locate(self.run).upload_empty()

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        with Staging([], [join(self.path, name)]) as staging:

            def publish() -> None:
                if not self._locate(self.run).exists():
                    raise FileNotFoundError(2, "the run has ended, so nothing is uploaded", name_of(self.path))
                staging.upload()

            yield Attempt(str(staging.outputs[0]), publish)

    def succeed(self) -> None:
        self._locate("_SUCCESS").upload_empty()

    def remove_staging(self) -> None:
        self._locate(self.run).delete()


@dataclass(frozen=True)
class LocalDirectory:
    """A directory of a mounted file system."""

    path: str
    staging: str

    @classmethod
    def of(cls, path: str, run: str) -> LocalDirectory:
        return cls(path, os.path.join(path, run))

    def start(self, files: list[InputFile]) -> None:
        for name in {os.path.dirname(file.name) for file in files}:
            os.makedirs(os.path.join(self.path, name), exist_ok=True)
        # A rerun is incomplete until it ends, even if it only adds files.
        try:
            os.remove(self._success())
        except FileNotFoundError:
            pass
        os.mkdir(self.staging)

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        try:
            directory = tempfile.mkdtemp(dir=self.staging)
        except FileNotFoundError as err:
            reason = "not on this node, or the run has ended; mount the output's file system on all nodes"
            raise FileNotFoundError(2, reason, self.path) from err
        try:
            path = os.path.join(directory, os.path.basename(name))
            yield Attempt(path, functools.partial(os.replace, path, os.path.join(self.path, name)))
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def succeed(self) -> None:
        with open(self._success(), "wb"):
            pass

    def _success(self) -> str:
        return os.path.join(self.path, "_SUCCESS")

    def remove_staging(self) -> None:
        # After the rename, an orphaned task can neither create a file there nor rename one.
        removed = self.staging + "-removed"
        try:
            os.rename(self.staging, removed)
        except FileNotFoundError:
            return
        shutil.rmtree(removed, ignore_errors=True)


def _run(
    spark: SparkSession,
    call: _Call,
    paths: Path | Sequence[Path],
    outputs: Sequence[Path | None],
    partitions: int | None,
    threads: int | None,
    overwrite: bool,
) -> dict[str, Any]:
    check_counts(partitions, threads)
    run = new_run()
    directories = [None if path is None else _output_directory(full_path(path), run) for path in outputs]
    written = [directory.path for directory in directories if directory is not None]
    if not written:
        raise ValueError("no output directory; name at least one")
    inputs = find_inputs(paths)
    check_outputs(inputs, written, call.snapshot_path, overwrite)
    _check_call(call, inputs.files[0].path, directories)
    return run_tasks(spark, call, inputs.files, directories, partitions, threads)


def _output_directory(path: str, run: str) -> OutputDirectory:
    return StoreDirectory(path, run) if is_uri(path) else LocalDirectory.of(path, run)


def check_counts(partitions: int | None, threads: int | None) -> None:
    for option, value in [("partitions", partitions), ("threads", threads)]:
        if value is not None and value < 1:
            raise ValueError(f"{option}={value}: give at least 1")


def new_run() -> str:
    """A name for the hidden directories of a run."""
    return f".robosieve-{uuid.uuid4().hex}"


def run_tasks(
    spark: SparkSession,
    call: FileCall,
    files: list[InputFile],
    directories: Sequence[OutputDirectory | None],
    partitions: int | None,
    threads: int | None,
) -> dict[str, Any]:
    """Calls ``call`` on each file in the tasks of a job, and returns the sums of the counts.

    Raises:
        InputsError: Some inputs failed.
    """
    written = [directory for directory in directories if directory is not None]
    with ExitStack() as cleanup:
        for directory in written:
            cleanup.callback(directory.remove_staging)
            directory.start(files)
        groups = _groups(files, partitions)
        results = _results(spark, groups, functools.partial(_process, call, directories, threads))
    return _summary(files, results, written)


def _check_call(call: _Call, first: str, directories: Sequence[OutputDirectory | None]) -> None:
    """Runs the call on an empty file like the first input, so that bad agents, options and columns
    raise at the driver."""
    with tempfile.TemporaryDirectory(prefix="robosieve-") as directory:
        empty = os.path.join(directory, "empty")
        _write_empty_like(first, empty)
        outputs = [None if other is None else os.path.join(directory, str(i)) for i, other in enumerate(directories)]
        try:
            call.check(empty, outputs, 1)
        except (RobosieveError, ValueError) as err:
            raise type(err)(str(err).replace(empty, name_of(first))) from None


def _write_empty_like(source: str, path: str) -> None:
    """Writes an empty Parquet file with the columns of another one, or an empty list."""
    with locate(source).open() if is_uri(source) else open(source, "rb") as file:
        if file.read(4) == b"PAR1":
            try:
                from pyarrow import parquet

                parquet.write_table(parquet.read_schema(file).empty_table(), path)
                return
            except (ImportError, ValueError, NotImplementedError, OSError):
                # The check only reports errors early. The task reads the file itself.
                pass
    with open(path, "wb"):
        pass


#: A file of a task: its number, its path, and the name of its outputs.
_TaskFile = tuple[int, str, str]


def _groups(files: list[InputFile], partitions: int | None) -> list[list[_TaskFile]]:
    """The files of each task. The largest go first, each to the task with the fewest bytes."""
    count = min(partitions or MOST_TASKS, len(files))
    groups: list[list[_TaskFile]] = [[] for _ in range(count)]
    loads = [(0, group) for group in range(count)]
    for number in sorted(range(len(files)), key=lambda number: -files[number].size):
        load, group = loads[0]
        file = files[number]
        groups[group].append((number, file.path, file.name))
        # One byte more, so that empty files are spread too.
        heapq.heapreplace(loads, (load + file.size + 1, group))
    return groups


def _results(
    spark: SparkSession, groups: list[list[_TaskFile]], process: Callable[[_TaskFile], dict[str, Any]]
) -> list[Any]:
    """The result of each file: a row of its number, its counts as JSON, and its error."""

    def process_groups(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        schema = pyarrow.schema([("file", "int64"), ("counts", "string"), ("error", "string")])
        for batch in batches:
            for group in batch.column(0).to_pylist():
                rows = [process(file) for file in groups[group]]
                yield pyarrow.RecordBatch.from_pylist(rows, schema)

    # A range has as many tasks as asked for, also with Spark Connect, which has no RDD.
    numbers = spark.range(0, len(groups), 1, len(groups))
    return numbers.mapInArrow(process_groups, "file bigint, counts string, error string").collect()


def _process(
    call: FileCall, directories: Sequence[OutputDirectory | None], threads: int | None, file: _TaskFile
) -> dict[str, Any]:
    """Processes a file in a task. Another attempt would fail alike after some errors: they are
    results."""
    number, path, name = file
    counts = error = None
    call.prepare()
    try:
        counts = json.dumps(_write_outputs(call, directories, threads or _task_cores(), path, name))
    except (RobosieveError, ValueError, TypeError) as err:
        error = str(err).encode("utf-8", "replace").decode()
    return {"file": number, "counts": counts, "error": error}


def _task_cores() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 1 if context is None else context.cpus()


def _write_outputs(
    call: FileCall, directories: Sequence[OutputDirectory | None], threads: int, path: str, name: str
) -> dict[str, Any]:
    if not is_uri(path) and not os.path.exists(path):
        raise FileNotFoundError(2, "the input is not on this node; mount its file system on all nodes", path)
    with ExitStack() as cleanup:
        attempts = [
            None if directory is None else cleanup.enter_context(directory.attempt(name)) for directory in directories
        ]
        source = cleanup.enter_context(Staging([path])).inputs[0]
        counts = call(source, [None if attempt is None else attempt.path for attempt in attempts], threads)
        for attempt in attempts:
            if attempt is not None:
                attempt.publish()
    return counts


def _summary(files: list[InputFile], results: list[Any], directories: list[OutputDirectory]) -> dict[str, Any]:
    """The summed counts.

    Raises:
        InputsError: Some inputs failed.
    """
    failures = {files[row.file].path: row.error for row in results if row.error is not None}
    counts = _sum(json.loads(row.counts) for row in results if row.counts is not None)
    counts["files"] = len(files) - len(failures)
    if not failures:
        for directory in directories:
            directory.succeed()
        return counts
    shown = [
        error if name_of(path) in error else f"{name_of(path)}: {error}" for path, error in sorted(failures.items())
    ]
    more = f"\n... and {len(shown) - 10} more" if len(shown) > 10 else ""
    message = f"{len(failures)} of {len(files)} inputs failed, the outputs of the others are complete:\n"
    raise InputsError(message + "\n".join(shown[:10]) + more, failures, counts)


def _sum(all_counts: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """The sum of the counts of several files. Empty files have an empty list of agents."""
    total: dict[str, Any] = {}
    for counts in all_counts:
        for key, value in counts.items():
            if isinstance(value, list):
                old = total.setdefault(key, [0] * len(value)) or [0] * len(value)
                total[key] = [a + b for a, b in zip(old, value)] if value else old
            elif isinstance(value, dict):
                total[key] = _sum(iter([total.get(key, {}), value]))
            else:
                total[key] = total.get(key, 0) + value
    return total
