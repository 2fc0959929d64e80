"""Verdicts as columns of Ray Data. A batch is an Arrow table, which the snapshot judges in place."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .._cluster.columns import JudgedColumn, check_columns, verdict_columns
from .._cluster.source import snapshot_source, worker_options
from .._files import AddedColumn
from .._lists import Lists, as_lists
from .._options import Agents, Path, Require, names
from .._snapshot import Snapshot
from ._files import require_ray

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset
    from typing_extensions import Unpack

    from .._cluster.options import JudgeOptions


def with_verdicts(
    dataset: Dataset,
    snapshot: Snapshot | Path,
    agents: Agents,
    *,
    url: str = "url",
    as_of_column: str | None = None,
    form: Literal["bits", "int8"] = "bits",
    name: str | None = None,
    add: AddedColumn | Sequence[AddedColumn] = (),
    lists: Lists | Path | None = None,
    node_directory: Path | None = None,
    ray_remote_args: Mapping[str, Any] | None = None,
    **options: Unpack[JudgeOptions],
) -> Dataset:
    """Add the verdicts for agents to a dataset, in the columns of :func:`robosieve.spark.with_verdicts`.

    Args:
        snapshot, agents, node_directory: As for :func:`annotate_files`.
        url, as_of_column, form, name, add, lists, options: As for :func:`robosieve.spark.with_verdicts`.
        ray_remote_args: Arguments of ``Dataset.map_batches``, such as ``"memory"`` and ``"concurrency"``.

    Raises:
        ImportError, SnapshotError, OSError, RobosieveError: Ray is missing, or the driver cannot open
            the snapshot or the lists.
        TypeError, ValueError: A bad agent or option, an unknown column, or the new column exists
            already. Ray may know the columns only when it runs the dataset: then a task raises.
    """
    require_ray()
    opened, source = snapshot_source(snapshot, node_directory)
    existing = _known_columns(dataset, url, as_of_column)
    columns = verdict_columns(opened, source, agents, form, name, add, lists, options, "dataset", existing)
    return _map(dataset, functools.partial(_with_columns, columns, url, as_of_column), ray_remote_args)


def filter_allowed(
    dataset: Dataset,
    snapshot: Snapshot | Path,
    agents: Agents,
    *,
    url: str = "url",
    as_of_column: str | None = None,
    require: Require = "all",
    lists: Lists | Path | None = None,
    node_directory: Path | None = None,
    ray_remote_args: Mapping[str, Any] | None = None,
    **options: Unpack[JudgeOptions],
) -> Dataset:
    """Keep the rows whose URLs all agents may fetch, or with ``require="any"`` at least one. Rows of unknown
    origins are not kept, unless ``unknown="allow"``; neither are nulls, texts that are not URLs, and
    URLs that ``lists`` name. The other arguments, and errors, are those of :func:`with_verdicts`."""
    require_ray()
    opened, source = snapshot_source(snapshot, node_directory)
    _known_columns(dataset, url, as_of_column)
    both: dict[str, Any] = {"require": require, "lists": as_lists(lists)}
    # Raises for bad agents and options.
    opened.allowed([], agents, **both, **options)
    allowed = JudgedColumn(source, "allowed", [names(agents)], worker_options(options) | both, "boolean")
    return _map(dataset, functools.partial(_only_allowed, allowed, url, as_of_column), ray_remote_args)


def _known_columns(dataset: Dataset, *read: str | None) -> list[str]:
    """The columns of a dataset, or none if Ray would have to run it to know them."""
    schema = dataset.schema(fetch_if_missing=False)
    if schema is None:
        return []
    check_columns(schema.names, *read)
    return list(schema.names)


def _map(dataset: Dataset, function: Any, ray_remote_args: Mapping[str, Any] | None) -> Dataset:
    """The dataset with its batches mapped. A batch is a whole block, so no rows are copied."""
    arguments = {"batch_size": None, "batch_format": "pyarrow", "zero_copy_batch": True, **(ray_remote_args or {})}
    return dataset.map_batches(function, **arguments)


def _with_columns(
    columns: dict[str, JudgedColumn], url: str, as_of_column: str | None, batch: pyarrow.Table
) -> pyarrow.Table:
    urls, times = _inputs(batch, url, as_of_column)
    for name, column in columns.items():
        batch = batch.append_column(name, column.values(urls, times if column.takes_times else None))
    return batch


def _only_allowed(allowed: JudgedColumn, url: str, as_of_column: str | None, batch: pyarrow.Table) -> pyarrow.Table:
    return batch.filter(allowed.values(*_inputs(batch, url, as_of_column)))


def _inputs(batch: pyarrow.Table, url: str, as_of_column: str | None) -> tuple[Any, Any]:
    """The columns of URLs and of their times, if there is one."""
    check_columns(batch.column_names, url, as_of_column)
    return batch[url], None if as_of_column is None else batch[as_of_column]
