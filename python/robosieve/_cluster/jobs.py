"""From files to files on a cluster: each task calls the wheel on whole files.

The engine, such as Spark, only hands out file names and collects counts. A task writes to a
directory of its own below a hidden staging directory and then renames its outputs to their final
names, as Hadoop's output committer does. Therefore:

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
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol

from .. import _native
from .._files import annotate, filter
from .._lists import as_lists
from .._native import RobosieveError
from .._options import Agents, Path, last_second, names, seconds
from .._snapshot import Snapshot
from .._staging import Staging
from .._stores import locate
from .._uris import is_uri, name_of
from .outputs import OutputDirectory, new_run, output_directory
from .paths import InputFile, check_outputs, find_inputs, full_path
from .source import SnapshotSource

#: The most tasks of a run. With more files, small ones share a task.
MOST_TASKS = 10_000


class InputsError(RobosieveError):
    """Some inputs cannot be processed; the outputs of all others are complete.

    ``failures`` maps the path of each such input to its error. ``counts`` are those of the others.
    """

    __module__ = "robosieve"

    def __init__(self, message: str, failures: dict[str, str], counts: dict[str, Any]) -> None:
        super().__init__(message, failures, counts)
        self.failures = failures
        self.counts = counts

    def __str__(self) -> str:
        return str(self.args[0])


class TaskFile(NamedTuple):
    """A file of a task."""

    number: int
    path: str
    name: str
    """The path of its outputs below their directories."""


class FileResult(NamedTuple):
    """What became of a file."""

    file: int
    """Its number."""
    counts: str | None
    """Its counts as JSON."""
    error: str | None
    """Why it cannot be processed, on any node."""


class Engine(Protocol):
    """What runs tasks on the nodes of a cluster: Spark, for example."""

    @property
    def tasks(self) -> int | None:
        """The number of tasks that the caller asked for."""

    def run(self, tasks: list[list[TaskFile]], process: Callable[[TaskFile, int], FileResult]) -> Sequence[FileResult]:
        """Calls ``process`` on each file of each task, with the threads of a task.

        A task that is lost or raises runs again. If it fails too often, this raises. No task is
        started after the call has ended.
        """


class Call:
    """A function of the wheel with its options. Pickled, it has the snapshot's source alone."""

    def __init__(
        self, function: str, snapshot: tuple[Snapshot, SnapshotSource], agents: Agents, options: Mapping[str, Any]
    ) -> None:
        opened, self.source = snapshot
        self.function, self.agents, self.options = function, names(agents), dict(options)
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

    def output_name(self, name: str) -> str:
        """The name of the outputs of an input: ARC and WACZ files are filtered to WARC files, and
        annotated archives become lists."""
        if self.function == "annotate":
            return _native.name_of_annotations(name, self.options.get("form"))
        return _native.name_after_input(name)

    def prepare(self) -> None:
        """Opens the snapshot on this node. Without it, the task fails: it may succeed on another."""
        self.source.open()

    def __call__(self, source: str, outputs: list[str | None], threads: int) -> dict[str, Any]:
        return self._call(self.source.open(), source, outputs, threads)

    def _call(self, snapshot: Snapshot, source: str, outputs: list[str | None], threads: int) -> dict[str, Any]:
        options = dict(self.options, threads=threads)
        if self.function == "annotate":
            return dict(annotate(snapshot, source, str(outputs[0]), self.agents, **options))
        output, disallowed_to, unknown_to, invalid_to, listed_to = outputs
        options.update(disallowed_to=disallowed_to, unknown_to=unknown_to, invalid_to=invalid_to, listed_to=listed_to)
        return dict(filter(snapshot, source, output, self.agents, **options))


class FileCall(Protocol):
    """The work of a task on one file."""

    def prepare(self) -> None:
        """Called first. An error fails the task, not the input."""

    def __call__(self, source: str, outputs: list[str | None], threads: int) -> dict[str, Any]:
        """Writes the outputs of an input, and returns counts."""


def run_call(
    engine: Engine, call: Call, paths: Path | Sequence[Path], outputs: Sequence[Path | None], overwrite: bool
) -> dict[str, Any]:
    """Judges the files that the paths stand for. Checks all that can be checked before a task starts.

    Raises:
        InputsError: Some inputs failed.
    """
    run = new_run()
    directories = [None if path is None else output_directory(full_path(path), run) for path in outputs]
    written = [directory.path for directory in directories if directory is not None]
    if not written:
        raise ValueError("no output directory; name at least one")
    inputs = find_inputs(paths).as_outputs(call.output_name)
    check_outputs(inputs, written, call.snapshot_path, overwrite)
    _check_call(call, inputs.files[0].path, directories)
    return run_tasks(engine, call, inputs.files, directories)


def check_counts(**counts: int | None) -> None:
    """Checks the values of options that are numbers of tasks and threads."""
    for option, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"{option}={value}: give at least 1")


def run_tasks(
    engine: Engine, call: FileCall, files: list[InputFile], directories: Sequence[OutputDirectory | None]
) -> dict[str, Any]:
    """Calls ``call`` on each file in tasks, and returns the sums of the counts.

    Raises:
        InputsError: Some inputs failed.
    """
    written = [directory for directory in directories if directory is not None]
    with ExitStack() as cleanup:
        for directory in written:
            cleanup.callback(directory.remove_staging)
            directory.start(files)
        results = engine.run(_groups(files, engine.tasks), functools.partial(_process, call, directories))
    return _summary(files, results, written)


def _check_call(call: Call, first: str, directories: Sequence[OutputDirectory | None]) -> None:
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


def _groups(files: list[InputFile], tasks: int | None) -> list[list[TaskFile]]:
    """The files of each task. The largest go first, each to the task with the fewest bytes."""
    count = min(tasks or MOST_TASKS, len(files))
    groups: list[list[TaskFile]] = [[] for _ in range(count)]
    loads = [(0, group) for group in range(count)]
    for number in sorted(range(len(files)), key=lambda number: -files[number].size):
        load, group = loads[0]
        file = files[number]
        groups[group].append(TaskFile(number, file.path, file.name))
        # One byte more, so that empty files are spread too.
        heapq.heapreplace(loads, (load + file.size + 1, group))
    return groups


def _process(call: FileCall, directories: Sequence[OutputDirectory | None], file: TaskFile, threads: int) -> FileResult:
    """Processes a file in a task. Another attempt would fail alike after some errors: they are
    results."""
    call.prepare()
    try:
        counts = _write_outputs(call, directories, threads, file.path, file.name)
    except (RobosieveError, ValueError, TypeError) as err:
        return FileResult(file.number, None, str(err).encode("utf-8", "replace").decode())
    return FileResult(file.number, json.dumps(counts), None)


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


def _summary(
    files: list[InputFile], results: Sequence[FileResult], directories: list[OutputDirectory]
) -> dict[str, Any]:
    """The summed counts.

    Raises:
        InputsError: Some inputs failed.
    """
    failures, all_counts = {}, []
    for result in results:
        if result.error is not None:
            failures[files[result.file].path] = result.error
        elif result.counts is not None:
            all_counts.append(json.loads(result.counts))
    counts = _sum(iter(all_counts))
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
