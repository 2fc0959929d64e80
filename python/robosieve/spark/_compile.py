"""Archives and tables to a snapshot on a cluster: each task writes a captures file.

A captures file is sorted and condensed, a fraction of its archive, and the same captures give the
same bytes. So the tasks do most of the work, the driver merges their files, and the snapshot is that
of one machine, byte for byte, however the tasks are divided and repeated.
"""

from __future__ import annotations

import inspect
import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from .. import Compiler, RobosieveError
from .._compiler import Profile
from .._options import Path, Time, paths as path_list
from ._jobs import LocalDirectory, check_counts, new_run, run_tasks
from ._paths import InputFile, Inputs, check_outputs, find_inputs, is_same_file, local_path
from ._source import require_pyspark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The first bytes of a captures file, and those of a Parquet file.
_CAPTURES, _PARQUET = b"RSCAPT\x1a\n", b"PAR1"

#: Counts of the report that only the reader of an archive knows.
_COUNTS_OF_ARCHIVES = ["not_urls", "damaged", "body_bytes", "unread_keys", "bytes_in"]

#: The columns that :meth:`Compiler.add` looks for. Others are not read.
_COLUMNS = {
    name
    for parameter in inspect.signature(Compiler.add).parameters.values()
    if parameter.default is not parameter.empty
    for name in ([parameter.default] if isinstance(parameter.default, str) else parameter.default)
}


def compile_files(
    spark: SparkSession,
    paths: Path | Sequence[Path],
    out: Path,
    *,
    profile: Profile = "google",
    previous: Path | None = None,
    max_failing: float = 0.2,
    as_of: Time | None = None,
    history: bool = False,
    skip_damaged: bool = False,
    captures_dir: Path | None = None,
    memory: int | None = None,
    temp_dir: Path | None = None,
    partitions: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Compile archives and tables of captures into a snapshot, as ``robosieve compile`` does.

    Args:
        spark: The session.
        paths: Files, directories and globs, on a file system that the driver and all nodes mount at
            the same place: archives (WARC and JSONL; plain, gzip, zstd), captures files, and Parquet
            tables with the columns of :meth:`robosieve.Compiler.add`. Names that begin with ``.`` or
            ``_`` are skipped.
        out: The snapshot to write. An existing one is replaced. Without ``captures_dir``, all nodes
            must mount its directory.
        profile, previous, max_failing, as_of, history, skip_damaged: As for :class:`robosieve.Compiler`. The
            driver counts the failing origins of all inputs together.
        captures_dir: A directory for one captures file per input, named after it, on a file system
            that all nodes mount. By default they go to a hidden directory next to ``out``, which is
            removed at the end.
        memory, temp_dir: As for :class:`robosieve.Compiler`, for the driver and for each task.
        partitions: The number of tasks. The default is one per file, and at most 10,000.
        threads: The threads of a task. The default is its number of cores, ``spark.task.cpus``.
        overwrite: Replace captures files that exist in ``captures_dir``.

    Returns:
        The report, as :meth:`robosieve.Compiler.write`, with the counts of the archives.

    Raises:
        FileExistsError: A captures file exists. Nothing was changed.
        FileNotFoundError: No input matches.
        ImportError: PySpark or, for tables, pyarrow is missing.
        InputsError: Some inputs are damaged, of an unknown format, or lack a column. No snapshot is
            written. The captures files of the others are complete.
        RobosieveError: An output would overwrite an input; nothing was changed. Or more origins fail
            than ``max_failing``, or the inputs have no capture of any robots.txt; no snapshot is
            written.
        SnapshotError: ``previous`` is damaged.
        ValueError: A bad option, or two inputs with one captures file. Nothing was changed.

    A task that is lost runs again and writes the same bytes, and a captures file appears when it is
    complete. The driver needs the memory of a compilation: ``memory``, and about 50 bytes per
    capture.
    """
    require_pyspark()
    check_counts(partitions, threads)
    # Raises for bad options before a job starts.
    compiler = Compiler(
        profile,
        previous=previous,
        max_failing=max_failing,
        as_of=as_of,
        history=history,
        skip_damaged=skip_damaged,
        memory=memory,
        temp_dir=temp_dir,
    )
    target = local_path(out)
    inputs = find_inputs([local_path(path) for path in path_list(paths)])
    if overwritten := next((file.path for file in inputs.files if is_same_file(file.path, target)), None):
        raise RobosieveError(f"{target}: would overwrite the input {overwritten}; give another name")
    ready: list[InputFile] = []
    others: list[InputFile] = []
    for file in inputs.files:
        (ready if _starts_with(file.path, _CAPTURES) else others).append(file)
    run = new_run()
    with ExitStack() as cleanup:
        if captures_dir is None:
            directory = os.path.join(os.path.dirname(target), run)
            cleanup.callback(shutil.rmtree, directory, ignore_errors=True)
            # Numbers, because inputs of several directories may have one name.
            others = [InputFile(file.path, f"{number}.captures", file.size) for number, file in enumerate(others)]
        else:
            directory = local_path(captures_dir)
            others = [InputFile(file.path, f"{file.name}.captures", file.size) for file in others]
        check_outputs(Inputs(others, inputs.directories), [directory], target, overwrite)
        os.makedirs(directory, exist_ok=True)
        counts: dict[str, Any] = {}
        if others:
            # Tasks run in other directories than the driver.
            directory_of_tasks = None if temp_dir is None else os.path.abspath(os.fspath(temp_dir))
            call = _WriteCaptures(skip_damaged, memory, directory_of_tasks)
            counts = run_tasks(spark, call, others, [LocalDirectory.of(directory, run)], partitions, threads)
        compiler.add_path([file.path for file in ready] + [os.path.join(directory, file.name) for file in others])
        report = compiler.write(target)
    return _with_counts_of_archives(dict(report), counts, ready, others)


def _with_counts_of_archives(
    report: dict[str, Any], counts: dict[str, Any], ready: list[InputFile], others: list[InputFile]
) -> dict[str, Any]:
    """The report of the driver, which read captures files, with the counts of the archives in place
    of those."""
    if others:
        # Each capture with a URL is in the driver's report.
        report["captures"] += counts["not_urls"]
        report["bytes_in"] = counts["bytes_in"] + sum(file.size for file in ready)
        for name in ["not_urls", "damaged", "body_bytes"]:
            report[name] += counts[name]
        report["unread_keys"] = counts["unread_keys"]
    return report


class _WriteCaptures:
    """Writes the captures of an archive or table to a captures file."""

    def __init__(self, skip_damaged: bool, memory: int | None, temp_dir: str | None) -> None:
        self.skip_damaged, self.memory, self.temp_dir = skip_damaged, memory, temp_dir

    def prepare(self) -> None:
        """Nothing: a task needs no snapshot."""

    def __call__(self, source: str, outputs: list[str | None], threads: int) -> dict[str, Any]:
        compiler = Compiler(
            skip_damaged=self.skip_damaged, memory=self.memory, temp_dir=self.temp_dir, threads=threads
        )
        is_table = _starts_with(source, _PARQUET)
        if is_table:
            _add_table(compiler, source)
        else:
            compiler.add_path(source)
        counts: dict[str, Any] = compiler.write_captures(str(outputs[0]))["input"]
        if is_table:
            counts["bytes_in"] = os.path.getsize(source)
        return {name: counts[name] for name in _COUNTS_OF_ARCHIVES}


def _add_table(compiler: Compiler, path: str) -> None:
    """Adds the rows of a Parquet file, batch by batch."""
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        columns = [name for name in file.schema_arrow.names if name in _COLUMNS]
        schema = pyarrow.schema([file.schema_arrow.field(name) for name in columns])
        compiler.add(pyarrow.RecordBatchReader.from_batches(schema, file.iter_batches(columns=columns)))


def rows_of_frame(frame: DataFrame) -> Any:
    """The rows of a DataFrame as an Arrow stream, one partition in memory at a time.

    Newer versions of PySpark have it as ``DataFrame.__arrow_c_stream__``, and do the same: tasks
    serialise each Arrow batch into one value of a binary column, and the driver iterates over these.
    """
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema

    def in_bytes(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            out = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(out, batch.schema) as writer:
                writer.write_batch(batch)
            yield pyarrow.RecordBatch.from_pydict({"batch": [out.getvalue().to_pybytes()]})

    rows = frame.mapInArrow(in_bytes, "batch binary").toLocalIterator()
    batches = (batch for row in rows for batch in pyarrow.ipc.open_stream(bytes(row.batch)))
    first = next(batches, None)
    # The schema of batches has the zone of the session, which that of the frame has not.
    if first is None:
        return to_arrow_schema(frame.schema).empty_table()
    return pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))


def _starts_with(path: str, magic: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(magic)) == magic
