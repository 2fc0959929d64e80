"""Spark as the engine of jobs on files, and as a source of snapshots and rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._cluster.jobs import FileResult, TaskFile, check_counts
from .._cluster.source import SnapshotSource, snapshot_source
from .._options import Path
from .._snapshot import Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def require_pyspark() -> None:
    """Checks that PySpark is installed.

    Raises:
        ImportError: It is not. The message names the package to install.
    """
    try:
        import pyspark  # noqa: F401
    except ImportError as err:
        what = 'robosieve.spark needs PySpark, which is missing: pip install "pyspark>=3.5" pyarrow pandas'
        raise ImportError(what) from err


def spark_source(
    snapshot: Snapshot | Path, node_directory: Path | None, executor_path: Path | None
) -> tuple[Snapshot, SnapshotSource]:
    """The driver's snapshot, and the source of tasks: see :func:`robosieve.spark.register`."""
    return snapshot_source(snapshot, node_directory, executor_path, _shipped_file)


def _shipped_file(name: str) -> str:
    from pyspark import SparkFiles

    return SparkFiles.get(name)


@dataclass(frozen=True)
class SparkEngine:
    """Runs tasks as a job of a session. Spark retries a task as ``spark.task.maxFailures`` says."""

    spark: SparkSession
    tasks: int | None
    threads: int | None

    def __post_init__(self) -> None:
        check_counts(partitions=self.tasks, threads=self.threads)

    def run(self, tasks: list[list[TaskFile]], process: Callable[[TaskFile, int], FileResult]) -> Sequence[FileResult]:
        threads = self.threads

        def process_tasks(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            schema = pyarrow.schema([("file", "int64"), ("counts", "string"), ("error", "string")])
            for batch in batches:
                for task in batch.column(0).to_pylist():
                    rows = [process(file, threads or _task_cores())._asdict() for file in tasks[task]]
                    yield pyarrow.RecordBatch.from_pylist(rows, schema)

        # A range has as many tasks as asked for, also with Spark Connect, which has no RDD.
        numbers = self.spark.range(0, len(tasks), 1, len(tasks))
        rows = numbers.mapInArrow(process_tasks, "file bigint, counts string, error string").collect()
        return [FileResult(row.file, row.counts, row.error) for row in rows]


def _task_cores() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 1 if context is None else context.cpus()


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
