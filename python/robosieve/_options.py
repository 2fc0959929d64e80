"""Options that several functions share: their types, and their form for the native half."""

from __future__ import annotations

import calendar
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union

if TYPE_CHECKING:
    from . import _native

#: The meaning of answers other than 2xx.
StatusPolicy = Literal["google", "google-2012", "google-2019", "google-2023", "google-2026", "rfc9309", "strict"]
#: The verdict on URLs of origins that a snapshot does not hold.
UnknownOrigin = Literal["allow", "disallow"]
#: The number of several agents that must have a verdict.
Require = Literal["all", "any"]
#: How agents are compared with user-agent lines.
AgentMatch = Literal["extended", "google"]
#: What the site answered to the fetch of its robots.txt.
Outcome = Literal["rules", "client-error", "server-error", "unreachable", "unresolved-redirect"]
#: What a verdict rests on.
Reason = Literal[
    "rules",
    "last-good-copy",
    "no-robots-txt",
    "forbidden",
    "server-error",
    "unreachable",
    "unresolved-redirect",
    "unknown-origin",
    "unknown-time",
]
#: A time: seconds since 1970, a datetime (naive ones are UTC), text like ``2026-10-01T12:00Z``, or
#: ``"now"``.
Time = Union[int, datetime, str]
#: The verdict on a row without a time, where each row is judged as of its own: unknown, with the
#: reason ``unknown-time``, or that of the newest rules.
NoTime = Literal["unknown", "newest"]
#: The path of a file or directory.
Path = Union[str, "os.PathLike[str]"]
#: One agent or set, several separated by commas, or a sequence of them.
Agents = Union[str, Sequence[str]]
#: The format of a list. The default follows from its name and content.
InputFormat = Literal["text", "tsv", "csv", "jsonl", "cdxj", "cdx"]


class JudgeOptions(NamedTuple):
    """How URLs are judged; ``at`` and ``as_of`` in seconds since 1970. ``judge_options`` in options.rs reads it."""

    status_policy: StatusPolicy | None = None
    unknown: UnknownOrigin | None = None
    any_scheme: bool = False
    at: int | None = None
    agent_match: AgentMatch = "extended"
    as_of: int | None = None
    no_time: NoTime = "unknown"


class AsOf(NamedTuple):
    """The argument ``as_of``: one time for all rows in seconds since 1970, or a column of times."""

    time: int | None
    column: Any = None


class RecordOptions(NamedTuple):
    """Where the URLs of a file are, and the times of its records. ``record_options`` in files.rs reads it."""

    field: str | int | None
    input_format: InputFormat | None
    header: bool
    delimiter: str | None
    json_key: str | None
    default_scheme: str | None
    host: str | None
    as_of_column: str | int | None
    as_of_record: bool


class JobOptions(NamedTuple):
    """The options that both kinds of jobs have. ``job_options`` in files.rs reads it."""

    agents: list[str]
    records: RecordOptions
    judge: JudgeOptions
    lists: _native.Lists | None
    threads: int | None
    progress: Callable[[int], object] | None


class Annotation(NamedTuple):
    """What annotating adds to records. ``annotation`` in files.rs reads it."""

    form: str | None
    name: str | None
    add: list[str]
    preferences: bool


class Selection(NamedTuple):
    """The records that a filter keeps, and what it adds to disallowed ones."""

    keep: str
    require: Require
    reasons: list[str]
    disallowed_add: list[str]


class TableOptions(NamedTuple):
    """The rows and columns of a table; times in seconds since 1970. ``table_options`` in export.rs reads it."""

    table: str
    long: bool
    disallowed_since: bool
    columns: list[str]
    column_names: str
    as_of: int | None
    stale_at: int | None
    retry_failed: int
    outcomes: list[str]
    reasons: list[str]


_NAMES = 'give names: "GPTBot,CCBot" or ["GPTBot", "CCBot"]'


def seconds(time: Time | None) -> int | None:
    """The time in seconds since 1970."""
    if time is None or isinstance(time, int):
        return time
    if time == "now":
        time = datetime.now(timezone.utc)
    if isinstance(time, str):
        text = time[:-1] + "+00:00" if time.endswith(("Z", "z")) else time
        try:
            time = datetime.fromisoformat(text)
        except ValueError as err:
            raise ValueError(f"{time!r} is not a time; write it like 2026-10-01 or 2026-10-01T12:00:00Z, or now") from err
    if not isinstance(time, datetime):
        raise TypeError(f"{type(time).__name__}: a time is an int (seconds since 1970), a datetime, or text")
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return int(time.timestamp())


def last_second(time: Time | date | None) -> int | None:
    """The time in seconds since 1970. A date, or a month or year in text, is its last second, as on the command line."""
    if isinstance(time, date) and not isinstance(time, datetime):
        time = time.isoformat()
    if isinstance(time, str) and re.fullmatch(r"\d{4}", time):
        time += "-12"
    if isinstance(time, str) and re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", time):
        is_month = len(time) == len("2026-10")
        first = seconds(time + "-01" if is_month else time)
        days = calendar.monthrange(int(time[:4]), int(time[5:7]))[1] if is_month else 1
        return None if first is None else first + days * 24 * 3600 - 1
    return seconds(time)


def as_of_argument(as_of: Any) -> AsOf:
    """One time for all rows, or a column of times, which `time_column` converts."""
    if getattr(as_of, "ndim", None) == 0:
        # A scalar of NumPy. The text of a time has its precision, so a date stays one.
        as_of = str(as_of).partition(".")[0] if as_of.dtype.kind == "M" else as_of.item()
    if isinstance(as_of, (bytes, bool, Mapping, Set)):
        raise TypeError(f"as_of is of type {type(as_of).__name__}; give one time, or a column of times")
    if isinstance(as_of, float):
        as_of = math.floor(as_of)
    if as_of is None or isinstance(as_of, (int, str, date)):
        return AsOf(last_second(as_of))
    return AsOf(None, time_column(as_of))


def time_column(times: Any) -> Any:
    """A column of times in a form that the native half reads: an Arrow column, or a list.

    The items of a list are numbers, which are read by their digits, texts, and None.
    """
    # pandas exports objects of one type only.
    is_mixed = getattr(times, "dtype", None) == object
    if not is_mixed and (hasattr(times, "__arrow_c_array__") or hasattr(times, "__arrow_c_stream__")):
        return times
    # Columns of NumPy and pandas with times of any unit have texts of that precision.
    values = getattr(times, "to_numpy", None)
    array = times if values is None else values()
    if getattr(getattr(array, "dtype", None), "kind", None) == "M":
        import numpy

        return numpy.datetime_as_string(array).tolist()
    return [_time_item(item) for item in (array.tolist() if hasattr(array, "tolist") else array)]


def _time_item(item: Any) -> Any:
    """An item of a list of times. A datetime without a zone is in UTC."""
    if isinstance(item, datetime):
        # An offset may have seconds, which RFC 3339 has not.
        item = item.astimezone(timezone.utc) if item.tzinfo else item
    # The missing values of pandas are no times, and have no text that is one.
    return item.isoformat() if isinstance(item, date) else None if item is None or item != item else item


def names(agents: Agents) -> list[str]:
    """The names of agents and sets, one per item.

    Raises:
        TypeError: It is neither text nor a sequence of texts.
    """
    if isinstance(agents, str):
        specs = agents.split(",")
    elif isinstance(agents, Iterable) and not isinstance(agents, (bytes, Mapping)):
        specs = list(agents)
    else:
        raise TypeError(f"agents is of type {type(agents).__name__}; {_NAMES}")
    for spec in specs:
        if not isinstance(spec, str):
            raise TypeError(f"agents holds a value of type {type(spec).__name__}; {_NAMES}")
    return [spec.strip() for spec in specs]


def one_agent(agent: str) -> str:
    """The name of one agent.

    Raises:
        TypeError: It is not text. The message says which methods take several.
    """
    if not isinstance(agent, str):
        raise TypeError(
            f'agent is of type {type(agent).__name__}; give one name, such as "GPTBot", or ask verdicts(urls, agents) '
            "or allowed(urls, agents) about several"
        )
    return agent


def as_list(given: str | Sequence[str]) -> list[str]:
    """One value, or several, as a list."""
    return [given] if isinstance(given, str) else list(given)


def paths(inputs: Path | Sequence[Path]) -> list[str]:
    """The paths, one per item.

    Raises:
        TypeError: It is neither a path nor a sequence of paths.
    """
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if not isinstance(inputs, Iterable) or isinstance(inputs, (bytes, Mapping)):
        raise TypeError(f"inputs is of type {type(inputs).__name__}; give a path, or a list of paths")
    return [path_of(path, "inputs", "holds a value") for path in inputs]


def path_of(path: Path, argument: str, verb: str = "is") -> str:
    """The path as text.

    Raises:
        TypeError: It has another type. The message names the argument.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{argument} {verb} of type {type(path).__name__}; give a path, a str or pathlib.Path")
    return os.fspath(path)


def optional_path(path: Path | None, argument: str) -> str | None:
    """The path as text, or None."""
    return None if path is None else path_of(path, argument)
