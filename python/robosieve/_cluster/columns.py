"""The columns that an engine adds to its tables: their names, and how a batch gives their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._lists import Lists, as_lists
from .._options import Agents, Path, as_list
from .._snapshot import Snapshot, agents as agent_names, origins
from .source import SnapshotSource, worker_options

_ADDED = ("origin", "reason", "crawl_delay")
#: The options that reasons and crawl-delays depend on.
_OF_REASONS = ("status_policy", "any_scheme", "at", "as_of", "no_time")
_OF_DELAYS = ("any_scheme", "as_of", "no_time", "agent_match")


@dataclass(frozen=True)
class JudgedColumn:
    """A column of values for URLs: what a method of the snapshot gives, or of lists."""

    source: SnapshotSource
    method: str
    arguments: Sequence[Any]
    options: Mapping[str, Any]
    type: str
    """Its type in SQL."""

    @property
    def takes_times(self) -> bool:
        """Whether the values depend on the rules in force at the time of a row."""
        return self.method not in ("origins", "match")

    def values(self, urls: Any, times: Any = None) -> Any:
        """The values for a column of URLs of pyarrow, and one of their times. A task has one core, so one
        thread judges."""
        urls, times = _as_exported(urls), _as_exported(times)
        if self.method == "origins":
            return origins(urls)
        if self.method == "match":
            return self.arguments[0].match(urls).cast("string")
        options = self.options if times is None else {**self.options, "as_of": times}
        values = getattr(self.source.open(), self.method)(urls, *self.arguments, threads=1, **options)
        # Spark takes no dictionaries, and those of batches differ.
        return values.cast("string") if self.method == "reasons" else values


def _as_exported(column: Any) -> Any:
    """The column, or its chunks together where pyarrow, before 16, exports single arrays alone."""
    is_chunked = hasattr(column, "combine_chunks") and not hasattr(column, "__arrow_c_array__")
    return column.combine_chunks() if is_chunked and not hasattr(column, "__arrow_c_stream__") else column


def verdict_columns(
    opened: Snapshot,
    source: SnapshotSource,
    agents: Agents,
    form: str,
    name: str | None,
    add: str | Sequence[str],
    lists: Lists | Path | None,
    options: Mapping[str, Any],
    table: str,
    existing: Sequence[str],
) -> dict[str, JudgedColumn]:
    """The columns of verdicts and those in ``add``, in the order and with the names of ``robosieve annotate``.

    Raises:
        TypeError: An unknown option.
        ValueError: A bad agent or option, or a name that is among ``existing``, the columns of the
            ``table``, which is the engine's word.
    """
    in_worker, each_agent = worker_options(options), agent_names(agents)
    prefix = _prefix(form, name)
    columns = {}
    if form == "bits":
        # The driver checks agents and options.
        opened.masks([], agents, **options)
        columns[name or "robots_allowed"] = JudgedColumn(source, "masks", [each_agent], in_worker, "bigint")
    elif form == "int8":
        for agent in each_agent:
            opened.verdicts([], agent, **options)
            columns[f"{prefix}{agent}"] = JudgedColumn(source, "verdicts", [agent], in_worker, "tinyint")
    else:
        raise ValueError(f"form={form!r}; give one of 'bits', 'int8'")
    added = as_list(add)
    for column in added:
        if column not in _ADDED:
            raise ValueError(f"add={column!r}; give some of {', '.join(map(repr, _ADDED))}")
    if "origin" in added:
        columns[f"{prefix}origin"] = JudgedColumn(source, "origins", [], {}, "string")
    if "reason" in added:
        of_reasons = _chosen(in_worker, _OF_REASONS)
        columns[f"{prefix}reason"] = JudgedColumn(source, "reasons", [], of_reasons, "string")
    if "crawl_delay" in added:
        of_delays = _chosen(in_worker, _OF_DELAYS)
        for agent in each_agent:
            delays = JudgedColumn(source, "crawl_delays", [agent], of_delays, "double")
            columns[f"{prefix}crawl_delay_{agent}"] = delays
    if lists is not None:
        columns[f"{prefix}listed"] = JudgedColumn(source, "match", [as_lists(lists)], {}, "string")
    lower = {column.lower() for column in existing}
    for column in columns:
        if column.lower() in lower:
            raise ValueError(f"the {table} has a column {column!r} already; give the added one another name: name=")
    return columns


def _chosen(options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def _prefix(form: str, name: str | None) -> str:
    """The start of the names of added columns."""
    if name is None:
        return "robots_"
    return f"{name}_" if form == "bits" else name


def check_columns(existing: Sequence[str], *read: str | None) -> None:
    """Checks that a table has the columns that are read.

    Raises:
        ValueError: One is missing.
    """
    for column in read:
        if column is not None and column not in existing:
            raise unknown_column(column, existing)


def unknown_column(column: object, existing: Sequence[str]) -> ValueError:
    """The error for a column that a table does not have."""
    names = ", ".join(existing) or "none"
    return ValueError(f"no column {column!r}; the columns are: {names}; name the one of the URLs: url=")
