"""Archives and tables to a snapshot on a cluster: each task writes a captures file.

A captures file is sorted and condensed, a fraction of its archive, and the same captures give the
same bytes. So the tasks do most of the work, the driver merges their files, and the snapshot is that
of one machine, byte for byte, however the tasks are divided and repeated.
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from .._compiler import Compiler, Profile
from .._native import RobosieveError
from .._options import Path, Time, paths as path_list
from .jobs import Engine, run_tasks
from .outputs import LocalDirectory, new_run
from .paths import InputFile, Inputs, check_outputs, find_inputs, is_same_file, local_path

#: The first bytes of a captures file, and those of a Parquet file.
_CAPTURES, _PARQUET = b"RSCAPT\x1a\n", b"PAR1"

#: Counts of the report that only the reader of an archive knows.
_COUNTS_OF_ARCHIVES = ["not_urls", "damaged", "body_bytes", "unread_keys", "coded_texts", "bytes_in"]

#: The columns that :meth:`Compiler.add` looks for. Others are not read.
_COLUMNS = {
    name
    for parameter in inspect.signature(Compiler.add).parameters.values()
    if parameter.default is not parameter.empty
    for name in ([parameter.default] if isinstance(parameter.default, str) else parameter.default)
}


def compile_with(
    engine: Engine,
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
    overwrite: bool = False,
) -> dict[str, Any]:
    """Compiles archives and tables of captures into a snapshot: see :func:`robosieve.spark.compile_files`."""
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
            counts = run_tasks(engine, call, others, [LocalDirectory.of(directory, run)])
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
        for name in ["not_urls", "damaged", "body_bytes", "coded_texts"]:
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
        compiler = Compiler(skip_damaged=self.skip_damaged, memory=self.memory, temp_dir=self.temp_dir, threads=threads)
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


def _starts_with(path: str, magic: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(magic)) == magic
