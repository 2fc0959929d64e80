"""From files to files: each task of a Spark job calls the wheel on whole files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._cluster.compilation import compile_with
from .._cluster.jobs import Call, run_call
from .._options import Agents, Path
from .._snapshot import Snapshot
from ._engine import SparkEngine, require_pyspark, spark_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import Unpack

    from .._cluster.options import AnnotateOptions, CompileOptions, FilterOptions


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

    Where the name would say another format, as that of a WARC file does, the output has an extension
    more: ``pages.warc.tsv.gz``, or ``urls.csv.jsonl`` with ``form="jsonl"``.

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
    call = Call("annotate", spark_source(snapshot, node_directory, executor_path), agents, options)
    return run_call(SparkEngine(spark, partitions, threads), call, paths, [out], overwrite)


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
    call = Call("filter", spark_source(snapshot, node_directory, executor_path), agents, options)
    outputs = [out, disallowed_to, unknown_to, invalid_to, listed_to]
    return run_call(SparkEngine(spark, partitions, threads), call, paths, outputs, overwrite)


def compile_files(
    spark: SparkSession,
    paths: Path | Sequence[Path],
    out: Path,
    *,
    partitions: int | None = None,
    threads: int | None = None,
    **options: Unpack[CompileOptions],
) -> dict[str, Any]:
    """Compile archives and tables of captures into a snapshot, as ``robosieve compile`` does.

    Args:
        spark: The session.
        paths: Files, directories and globs, on a file system that the driver and all nodes mount at
            the same place: archives (WARC, ARC, WACZ and JSONL), captures files, and Parquet
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
    return compile_with(SparkEngine(spark, partitions, threads), paths, out, **options)
