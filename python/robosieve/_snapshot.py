"""Snapshots and verdicts."""

from __future__ import annotations

import functools
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from . import _native
from ._guesses import Guided, attribute_error_of
from ._node_copy import node_copy
from ._opening import open_native
from ._options import (
    AgentMatch,
    Agents,
    JudgeOptions,
    NoTime,
    Outcome,
    Path,
    Reason,
    Require,
    StatusPolicy,
    TableOptions,
    Time,
    UnknownOrigin,
    as_list,
    as_of_argument,
    last_second,
    names,
    one_agent,
    path_of,
    seconds,
)
from ._results import as_urls, library_of, like, table_like
from ._uris import is_uri, name_of

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

    from ._lists import Lists
    from ._native import Array, Table
    from ._typing import (
        AgentList,
        AllowedOptions,
        ArrowArray,
        ArrowColumn,
        ArrowStream,
        ChunkedArray,
        ColumnOptions,
        ListedOptions,
        NumpyArray,
        PandasIndex,
        PandasSeries,
        PolarsSeries,
        Texts,
        Times,
    )


class Verdict(IntEnum):
    """Whether an agent may fetch a URL: a number, as in columns of verdicts.

    It has no truth value, because ``UNKNOWN`` and ``INVALID`` would count as true: write ``if
    snapshot.verdict(url, agent).allowed:``, or compare it.
    """

    DISALLOWED = 0
    """The agent may not fetch it."""
    ALLOWED = 1
    """The agent may fetch it."""
    UNKNOWN = 2
    """The snapshot does not hold the URL's origin."""
    INVALID = 3
    """The text is not a URL with a scheme and a host."""

    @property
    def allowed(self) -> bool:
        """Whether this is ``ALLOWED``; ``UNKNOWN`` and ``INVALID`` are not."""
        return self is Verdict.ALLOWED

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value, because an unknown origin is neither allowed nor disallowed; "
            "use verdict.allowed, or compare: verdict == Verdict.UNKNOWN"
        )

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return int.__format__(self, spec)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise attribute_error_of(self, name)


_VERDICTS = tuple(Verdict)


@dataclass(frozen=True)
class Explanation:
    """Why an agent may fetch a URL or not: see :meth:`Snapshot.explain`, :meth:`Robots.explain`."""

    url: str
    agent: str
    verdict: Verdict
    reason: str
    """What decided, for example ``rules``, ``client-error`` or ``unknown-origin`` (docs/CHECK.md)."""
    origin: str | None
    """The URL's origin, or None if the text is not a URL, or if no snapshot was asked."""
    rule: str | None
    """The line of the rule that decided, as the site wrote it, or None."""
    line: int | None
    """The number of that line in the robots.txt, from 1."""
    details: dict[str, Any] = field(repr=False, compare=False)
    """Everything that ``robosieve check --explain --json`` prints (docs/CHECK.md)."""


#: What of a snapshot is verified: its checksums, nothing, or also the references within it.
Verify = Union[bool, Literal["full"]]
_DEPTHS: dict[Any, Literal["none", "checksums", "full"]] = {True: "checksums", False: "none", "full": "full"}


def _depth(verify: Verify) -> Literal["none", "checksums", "full"]:
    if verify not in _DEPTHS:
        raise ValueError(f"verify={verify!r}; give True (checksums), False (nothing) or 'full'")
    return _DEPTHS[verify]


class Snapshot(metaclass=Guided):
    """A compiled archive of robots.txt files, mapped into memory.

    Args:
        path: The file that ``robosieve compile`` or :func:`robosieve.compile` wrote. One of a store
            (``s3://bucket/web.rsieve``) is copied to the local disk once per machine.
        verify: What to verify. True: the checksums of all that an answer depends on, as the command
            does, which finds every flipped bit there. A method for one URL or origin
            (:meth:`verdict`, :meth:`explain`, :meth:`robots_text`, :meth:`sitemaps`,
            :meth:`crawl_delay`) verifies the blocks of 64 KiB that it reads. The first call for a
            column or a file verifies all that verdicts depend on. ``"full"``: everything when the
            snapshot is opened, also all references within it, which finds forged files. False: only
            the header; then damaged bytes can change answers silently.
        node_directory: The local directory for the copy, as of :func:`robosieve.node_copy`. The
            default, for a store only, is that of temporary files (``TMPDIR``).
        filesystem: For a store: see :func:`robosieve.filter`.

    To open a snapshot, and to ask it for single answers, takes the same time for any size. The
    verification for columns and files reads the file once, from beginning to end. A process
    remembers the files that it has verified; a file that has changed is verified again. Pages are
    shared by all processes of a machine. The file must not be changed in place; replace it by
    renaming.

    A snapshot can be used from several threads at once, and after ``fork``. It pickles by its path
    or URI, checksum, ``verify`` and ``node_directory``: where it is unpickled, the same file must be
    at the same path. One in memory (:meth:`from_bytes`) pickles with its bytes.

    ``len(snapshot)`` is the number of origins (scheme, host and port), and ``url in snapshot`` tells
    whether it holds the origin of a URL. ``with Snapshot(path) as snapshot:`` closes it at the end
    (:meth:`close`).

    Raises:
        SnapshotError: The file cannot be opened, is not a snapshot, or is damaged. If the operating
            system refuses to open it, the error is also an ``OSError`` of its kind, such as
            ``FileNotFoundError``, with ``errno`` and ``filename``.

    Options of the judging methods:

    - ``status_policy``: the meaning of answers other than 2xx: ``"google"``, ``"rfc9309"``,
      ``"strict"``, or an edition of Google's specification: ``"google-2012"``, ``"google-2019"``,
      ``"google-2023"`` (the same as ``"google"``) or ``"google-2026"`` (docs/SEMANTICS.md). The
      default is the policy named like the snapshot's profile.
    - ``unknown``: the verdict on origins that the snapshot does not hold, ``"allow"`` or
      ``"disallow"``, in place of ``Verdict.UNKNOWN``.
    - ``any_scheme``: use the http entry for https URLs, and the reverse, if only one exists.
    - ``at``: the time at which failing sites are judged: most policies disallow their URLs until 30
      days after the first failure, ``"google-2026"`` for 12 hours. The default for a site is the
      time of its own newest capture, which may be long before that of the snapshot.
    - ``as_of``: judge by the rules in force at this time, of a snapshot with a history
      (``history=True`` of :class:`Compiler`). A date, or a month or year in text, is its last second.
    - ``agent_match``: ``"extended"`` also matches names like ``MJ12bot`` that RFC 9309 excludes;
      ``"google"`` does not.
    - ``strict_agents``: raise ``ValueError`` for an agent that looks misspelled: no robots.txt
      names it, but a similar name is known. The default is a ``UserWarning``, once for each
      snapshot and list of agents. Such an agent is judged by the rules for all others.
    """

    __slots__ = ("_data", "_native", "_path", "_source", "_spelled", "_verify", "__weakref__")

    def __init__(
        self, path: Path, *, verify: Verify = True, node_directory: Path | None = None, filesystem: Any = None
    ) -> None:
        depth, name = _depth(verify), path_of(path, "path")
        # Before the file is opened: a program may change its directory later.
        directory = None if node_directory is None else os.path.abspath(os.fspath(node_directory))
        if is_uri(name):
            source = SourceArguments(name, directory, filesystem)
        else:
            source = SourceArguments(os.path.abspath(name), directory)
        if is_uri(name) or directory is not None:
            name = node_copy(name, directory or tempfile.gettempdir(), filesystem=filesystem)
        self._take(open_native(name, depth), verify, source=source)

    def _take(
        self,
        native: _native.Snapshot,
        verify: Verify,
        *,
        data: bytes | None = None,
        source: SourceArguments | None = None,
    ) -> None:
        """Sets all fields. A snapshot has its bytes, or a source."""
        self._native, self._verify = native, verify
        self._path = os.fspath(native.path)
        self._data, self._source = data, source
        #: The agents whose spelling was checked, one per line, with the messages about them.
        self._spelled: dict[str, list[str]] = {}

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, verify: Verify = True) -> Snapshot:
        """A snapshot in memory, such as one that :meth:`Compiler.to_bytes` gave.

        >>> snapshot = robosieve.Snapshot.from_bytes(compiler.to_bytes())

        Args:
            data: The bytes of a snapshot file. A ``bytes`` is read in place and kept alive; other
                objects with a buffer are copied once, because their owners may change them.
            verify: As for :class:`Snapshot`.

        The snapshot pickles with its bytes, so large ones are better opened by path: their pages
        are shared between processes. :attr:`path` is ``"<bytes>"``.

        Raises:
            SnapshotError: The bytes are not a snapshot, or are damaged.
            TypeError: ``data`` has no buffer.
        """
        if isinstance(data, str):
            raise TypeError("data is a str; give the bytes of a snapshot, or open a file: Snapshot(path)")
        if not isinstance(data, bytes):
            data = bytes(memoryview(data))
        opened = cls.__new__(cls)
        opened._take(_native.Snapshot.from_bytes(data, _depth(verify)), verify, data=data)
        return opened

    @property
    def path(self) -> str:
        """The path, as it was given; of a snapshot of a store, or with ``node_directory``, that of its
        local copy; ``"<bytes>"`` for one in memory."""
        return self._path

    @property
    def checksum(self) -> str:
        """The checksum of the header, 16 hexadecimal digits: it differs for different contents."""
        return f"{self._native.checksum:016x}"

    @property
    def metadata(self) -> dict[str, Any]:
        """What the snapshot says of itself.

        ``tool``, ``profile``, ``counts`` (of origins, files, rules and outcomes) and ``captured``,
        the times of the oldest and the newest capture in seconds since 1970.
        """
        metadata: dict[str, Any] = json.loads(self._native.metadata())
        return metadata

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, url: str | bytes) -> bool:
        return url in self._native

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python calls this for a slot without a value, as `close` leaves it.
            if name == "_native":
                raise ValueError(f"{self._path}: this snapshot is closed; open it again")
            raise attribute_error_of(self, name)

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        try:
            return self._native is None
        except ValueError:
            return True

    def close(self) -> None:
        """Gives up the snapshot: its memory is unmapped when no call of another thread uses it.

        Every further use raises ValueError; a second ``close`` does nothing. A snapshot that is not
        closed is given up with its last reference.
        """
        if not self.closed:
            del self._native
            self._data = None

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self)} origins"
        return f"<robosieve.Snapshot {self.path!r}: {state}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._data is not None:
            return _unpickled_bytes, (self._data, self._verify)
        assert self._source is not None
        if self._source.is_copied:
            return _unpickled_copy, (self._source, self.checksum, self._verify)
        return _unpickled, (self._source.path, self.checksum, self._verify)

    def _guarded(self) -> dict[str, str]:
        """The file that this is a copy of, which no output may overwrite."""
        return {} if self._source is None else {self._source.path: "the snapshot"}

    def _check_spelling(self, agents: list[str], strict: bool) -> None:
        """Warns of agents that look misspelled, at the first frame outside this package; with
        `strict`, raises ValueError."""
        key = "\n".join(agents)
        is_new = key not in self._spelled
        messages = self._spelled.get(key, [])
        if is_new:
            messages = [
                f"no robots.txt in {self.path} names {_printable(name)}; did you mean {_printable(suggestion)}?"
                for name, suggestion in self._native.misspelled(agents)
            ]
            if len(self._spelled) >= _MOST_SPELLED:
                self._spelled.clear()
            self._spelled[key] = messages
        if strict and messages:
            raise ValueError("; ".join(messages) + " (strict_agents=True)")
        if is_new:
            for message in messages:
                warnings.warn(message, UserWarning, stacklevel=_level_of_caller())

    def _without_spelling(self) -> Snapshot:
        """This snapshot, in a worker of a program that has checked the agents."""
        self._spelled = _CheckedElsewhere()
        return self

    @overload
    def allowed(self, urls: Texts, agents: Agents, **options: Unpack[AllowedOptions]) -> list[bool | None]: ...
    @overload
    def allowed(
        self, urls: PandasSeries, agents: Agents, **options: Unpack[AllowedOptions]
    ) -> pandas.Series[Any]: ...
    @overload
    def allowed(self, urls: PandasIndex, agents: Agents, **options: Unpack[AllowedOptions]) -> pandas.Index[Any]: ...
    @overload
    def allowed(self, urls: PolarsSeries, agents: Agents, **options: Unpack[AllowedOptions]) -> polars.Series: ...
    @overload
    def allowed(
        self, urls: ChunkedArray, agents: Agents, **options: Unpack[AllowedOptions]
    ) -> pyarrow.ChunkedArray[Any]: ...
    @overload
    def allowed(self, urls: ArrowArray, agents: Agents, **options: Unpack[AllowedOptions]) -> pyarrow.Array[Any]: ...
    @overload
    def allowed(
        self, urls: NumpyArray, agents: Agents, **options: Unpack[AllowedOptions]
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.bool_]]: ...
    @overload
    def allowed(
        self, urls: ArrowColumn | ArrowStream, agents: Agents, **options: Unpack[AllowedOptions]
    ) -> Array: ...
    def allowed(
        self,
        urls: Any,
        agents: Agents,
        *,
        require: Require = "all",
        unknown: UnknownOrigin | None = None,
        lists: Lists | None = None,
        threads: int | None = None,
        status_policy: StatusPolicy | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        as_of: Times | None = None,
        no_time: NoTime = "unknown",
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> Any:
        """Whether each URL may be fetched, as booleans. A URL of an origin that the snapshot does not hold
        is not allowed, unless ``unknown="allow"``; neither is text that is not a URL.

        >>> frame[snapshot.allowed(frame["url"], "GPTBot")]

        Args:
            urls: As for :meth:`verdicts`.
            agents: Any number of names and sets, as for :meth:`masks`.
            require: A URL is allowed if all agents may fetch it, or with ``"any"`` at least one: as for
                :func:`robosieve.filter`.
            unknown: The verdict on origins that the snapshot does not hold: ``"allow"``, or
                ``"disallow"``, as without it.
            lists: :class:`Lists` to ask in the same pass: a URL that they name is not allowed,
                whatever its robots.txt says.
            threads, as_of, no_time: As for :meth:`verdicts`. A URL without a time is of an unknown
                origin, unless ``no_time="newest"``.
            status_policy, any_scheme, at, agent_match, strict_agents: See :class:`Snapshot`.

        Returns:
            n booleans, null for null. The type is that of :meth:`verdicts`; pandas gets ``bool``, with
            nulls ``boolean``, and a sequence a list of bool and None. The rows that are true are those
            that :func:`robosieve.filter` keeps.

        Raises:
            TypeError: ``urls`` or ``lists`` has another type.
            ValueError: A bad agent or option, or with ``strict_agents`` one that looks misspelled;
                nulls in a column of NumPy, whose booleans have none.
            SnapshotError, RobosieveError: As :meth:`verdicts`.

        The cost is that of :meth:`verdicts`, and the interpreter's lock is released.
        """
        times = as_of_argument(as_of)
        options = JudgeOptions(status_policy, unknown, any_scheme, seconds(at), agent_match, times.time, no_time)
        asked = _native_lists(lists)
        specs = names(agents)
        self._check_spelling(specs, strict_agents)
        result = self._native.allowed(as_urls(urls), specs, require, options, threads, times.column, asked)
        return like(urls, result, "robots_allowed", _native.Array.tolist)

    @overload
    def verdicts(self, urls: Texts, agent: str, **options: Unpack[ColumnOptions]) -> list[Verdict | None]: ...
    @overload
    def verdicts(self, urls: PandasSeries, agent: str, **options: Unpack[ColumnOptions]) -> pandas.Series[Any]: ...
    @overload
    def verdicts(self, urls: PandasIndex, agent: str, **options: Unpack[ColumnOptions]) -> pandas.Index[Any]: ...
    @overload
    def verdicts(self, urls: PolarsSeries, agent: str, **options: Unpack[ColumnOptions]) -> polars.Series: ...
    @overload
    def verdicts(
        self, urls: ChunkedArray, agent: str, **options: Unpack[ColumnOptions]
    ) -> pyarrow.ChunkedArray[Any]: ...
    @overload
    def verdicts(self, urls: ArrowArray, agent: str, **options: Unpack[ColumnOptions]) -> pyarrow.Array[Any]: ...
    @overload
    def verdicts(
        self, urls: NumpyArray, agent: str, **options: Unpack[ColumnOptions]
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.int8]]: ...
    @overload
    def verdicts(self, urls: ArrowColumn | ArrowStream, agent: str, **options: Unpack[ColumnOptions]) -> Array: ...
    @overload
    def verdicts(
        self, urls: Texts, agent: AgentList, **options: Unpack[ColumnOptions]
    ) -> dict[str, list[Verdict | None]]: ...
    @overload
    def verdicts(
        self, urls: Texts, agent: AgentList, *, lists: Lists, **options: Unpack[ColumnOptions]
    ) -> dict[str, list[Any]]: ...
    @overload
    def verdicts(
        self, urls: PandasSeries | PandasIndex, agent: AgentList, **options: Unpack[ListedOptions]
    ) -> pandas.DataFrame: ...
    @overload
    def verdicts(
        self, urls: PolarsSeries, agent: AgentList, **options: Unpack[ListedOptions]
    ) -> polars.DataFrame: ...
    @overload
    def verdicts(
        self, urls: ChunkedArray | ArrowArray, agent: AgentList, **options: Unpack[ListedOptions]
    ) -> pyarrow.Table: ...
    @overload
    def verdicts(
        self, urls: NumpyArray, agent: AgentList, **options: Unpack[ColumnOptions]
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.int8]]: ...
    @overload
    def verdicts(
        self, urls: ArrowColumn | ArrowStream, agent: AgentList, **options: Unpack[ListedOptions]
    ) -> Table: ...
    def verdicts(
        self,
        urls: Any,
        agent: str | AgentList,
        *,
        lists: Lists | None = None,
        threads: int | None = None,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        as_of: Times | None = None,
        no_time: NoTime = "unknown",
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> Any:
        """The verdict on each URL for one agent, or for several, as int8.

        Args:
            urls: A column of n URLs: any object with ``__arrow_c_array__`` or
                ``__arrow_c_stream__`` (pyarrow, Polars, pandas 3, DuckDB) of type string,
                large_string, string_view, binary or a dictionary of these, or a sequence of str,
                bytes and None. Arrow memory is judged in place.
            agent: The product token of the crawler, such as ``"GPTBot"``, or a chain of fallbacks,
                ``"Googlebot-Image:Googlebot"``. A list of names and sets gives a table with a
                column for each agent.
            lists: With a list of agents, add the column ``robots_listed`` to the table: the words of
                :meth:`Lists.match`, ``list:NAME`` for a URL that a list names, else null. The lists
                are asked in the same pass. They change no other column: a listed URL has the
                verdicts of its robots.txt.
            threads: The number of threads, or -1 for one per core. The default is 1 below 65,536
                rows, else one per core.
            as_of: One time for all URLs, or a column of n times, one for each URL: an Arrow column
                of timestamps, dates, numbers or texts, a column of pandas or NumPy, or a sequence
                of datetimes, dates, numbers, texts and None. Numbers and texts are read as by
                ``as_of_column`` of :func:`robosieve.annotate`, and what has no zone is in UTC.
            no_time: The verdict on a URL whose time is null or not a time: ``"unknown"``, or
                ``"newest"``, which judges it by the newest rules.

        Returns:
            n values, 0 disallowed, 1 allowed, 2 unknown, 3 not a URL (see :class:`Verdict`), null
            for null. pyarrow, Polars, pandas and NumPy get their own type back; a sequence gets a
            list of :class:`Verdict`; any other Arrow object gets an :class:`Array`.

            For a list of agents, a table with the columns ``robots_GPTBot`` and so on, as
            ``robosieve annotate --as int8`` names them. It is a ``pyarrow.Table``, a DataFrame of
            Polars or pandas (with the index of the Series), an array of n rows in NumPy, for a
            sequence a dict of lists, and for any other Arrow object a :class:`Table`. All agents
            are judged in one pass.

        Raises:
            TypeError: ``urls`` has another type.
            ValueError: A bad agent or option, or with ``strict_agents`` one that looks misspelled;
                ``lists`` with a single agent as a str, or with a column of NumPy.
            SnapshotError: The snapshot is damaged.
            RobosieveError: The lists are damaged, and were opened with ``verify=False``.

        The interpreter's lock is released. docs/PERFORMANCE.md has the cost per URL. The snapshot keeps
        the lists open until it is asked with others, or closed.
        """
        times = as_of_argument(as_of)
        options = JudgeOptions(status_policy, unknown, any_scheme, seconds(at), agent_match, times.time, no_time)
        asked = _lists_of_table(urls, agent, lists)
        if not isinstance(agent, str):
            specs = names(agent)
            self._check_spelling(specs, strict_agents)
            table = self._native.verdict_table(as_urls(urls), specs, options, threads, times.column, asked)
            return table_like(urls, table, _verdict_list)
        self._check_spelling([agent], strict_agents)
        result = self._native.verdicts(as_urls(urls), agent, options, threads, times.column)
        return like(urls, result, f"robots_{agent}", _verdict_list)

    @overload
    def masks(self, urls: Texts, agents: Agents, **options: Unpack[ColumnOptions]) -> list[int | None]: ...
    @overload
    def masks(self, urls: PandasSeries, agents: Agents, **options: Unpack[ColumnOptions]) -> pandas.Series[Any]: ...
    @overload
    def masks(self, urls: PandasIndex, agents: Agents, **options: Unpack[ColumnOptions]) -> pandas.Index[Any]: ...
    @overload
    def masks(self, urls: PolarsSeries, agents: Agents, **options: Unpack[ColumnOptions]) -> polars.Series: ...
    @overload
    def masks(
        self, urls: ChunkedArray, agents: Agents, **options: Unpack[ColumnOptions]
    ) -> pyarrow.ChunkedArray[Any]: ...
    @overload
    def masks(self, urls: ArrowArray, agents: Agents, **options: Unpack[ColumnOptions]) -> pyarrow.Array[Any]: ...
    @overload
    def masks(
        self, urls: NumpyArray, agents: Agents, **options: Unpack[ColumnOptions]
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.int64]]: ...
    @overload
    def masks(self, urls: ArrowColumn | ArrowStream, agents: Agents, **options: Unpack[ColumnOptions]) -> Array: ...
    def masks(
        self,
        urls: Any,
        agents: Agents,
        *,
        threads: int | None = None,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        as_of: Times | None = None,
        no_time: NoTime = "unknown",
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> Any:
        """The verdicts on each URL for up to 63 agents at once, as bits of an int64.

        Args:
            urls: As for :meth:`verdicts`.
            agents: Names and sets: ``["GPTBot", "CCBot"]``, ``"GPTBot,CCBot"``, ``"@ai-train"``.
                :func:`robosieve.agents` gives their order.

        Returns:
            n values: bit 0 is set if the first agent may fetch the URL, bit 1 for the second. Null
            for null, for unknown origins, and for text that is not a URL. The type is that of
            :meth:`verdicts`; a sequence gets a list of int and None.

        Raises:
            TypeError, ValueError, SnapshotError: As :meth:`verdicts`.
        """
        times = as_of_argument(as_of)
        options = JudgeOptions(status_policy, unknown, any_scheme, seconds(at), agent_match, times.time, no_time)
        specs = names(agents)
        self._check_spelling(specs, strict_agents)
        result = self._native.masks(as_urls(urls), specs, options, threads, times.column)
        return like(urls, result, "robots_allowed", _native.Array.tolist)

    def export(
        self,
        agents: Agents = (),
        *,
        table: Literal["origins", "sitemaps", "rules", "history"] = "origins",
        long: bool = False,
        disallowed_since: bool = False,
        columns: str | Sequence[str] | None = None,
        column_names: Literal["dots", "underscores"] = "underscores",
        stale_at: Time | None = None,
        retry_failed: int = 3600,
        outcomes: Outcome | Sequence[Outcome] = (),
        reasons: Reason | Sequence[Reason] = (),
        threads: int | None = None,
        status_policy: StatusPolicy | None = None,
        at: Time | None = None,
        as_of: Time | None = None,
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> _native.ExportedTable:
        """The snapshot as a table: one row per origin, sitemap, rule, or version of an answer.

        >>> polars.DataFrame(snapshot.export("GPTBot,CCBot"))

        The columns are those of the command ``robosieve export`` with the types of its Parquet
        files; docs/EXPORT.md describes each.

        Args:
            agents: Agents and sets, as for :meth:`masks`. Each has three columns, such as
                ``GPTBot_access``, ``GPTBot_named`` and ``GPTBot_crawl_delay``.
            table: ``"origins"``, ``"sitemaps"`` (one row per sitemap of an origin) or ``"rules"``
                (one row per user-agent line and rule; with agents, per agent and rule that it
                obeys). ``"history"`` has one row per URL and version of its answer, of a snapshot
                with a history (``history=True`` of :class:`Compiler`). It has all times, so it
                refuses ``at``, ``as_of``, ``stale_at``, ``outcomes`` and ``reasons``.
            long: One row per origin and agent, with the columns ``agent``, ``access``, ``named``
                and ``crawl_delay`` instead of three per agent.
            disallowed_since: Add the columns ``GPTBot_disallowed_after`` and
                ``GPTBot_disallowed_since`` for each agent: the bounds of the time in which the
                origin began to disallow everything to it, by the history of the snapshot.
            columns: Only these columns, in this order; in text, commas separate them. Both
                spellings of a name are known.
            column_names: How names of agents' columns are written: ``"underscores"``, which SQL
                takes without quotes, or ``"dots"``: ``Googlebot-Image.access``.
            stale_at: Only origins whose robots.txt is due at this time.
            retry_failed: After how many seconds a failing robots.txt without ``Retry-After`` is due.
            outcomes: Only origins with one of these outcomes.
            reasons: Only origins whose verdicts have one of these reasons, by the status policy.
            threads: The number of threads; the default, as -1, is one per core.
            at: Also the time that the column ``age`` counts to. The default is the newest capture.
            as_of: The table of the snapshot as of this time, by its history. A date, or a month or year
                in text, is its last second. The snapshot of that time is made in memory by this call.

        Returns:
            An object for any Arrow library: ``pyarrow.table(x)``, ``polars.DataFrame(x)``,
            ``duckdb.sql("from x")``. Every column is nullable. The rows are in the order of the
            snapshot. They are computed while they are read, in batches of at most 65,536 rows. The
            metadata of the schema name the agents, the version and the snapshot, as in a file.

        Raises:
            ValueError: A bad option, agent or column; with ``long`` or ``disallowed_since``, no
                agent; two agents with the same names of columns; options of another table.
            TypeError: A time of another type.
            SnapshotError: The snapshot is damaged, or has no history for what needs one.

        Memory: some 50 MiB per thread, and what the reader keeps. ``pyarrow.table`` keeps the whole
        table; ``pyarrow.RecordBatchReader.from_stream(x)`` reads batch by batch. The object holds
        the snapshot open. The interpreter's lock is held or released as the reader wants, and
        Ctrl-C waits for the reader.
        """
        options = JudgeOptions(status_policy, at=seconds(at), agent_match=agent_match)
        specs = names(agents)
        if specs:
            self._check_spelling(specs, strict_agents)
        rows = TableOptions(
            table,
            long,
            disallowed_since,
            [] if columns is None else _texts("columns", columns),
            column_names,
            last_second(as_of),
            seconds(stale_at),
            retry_failed,
            as_list(outcomes),
            as_list(reasons),
        )
        return _native.export(self._native, specs, rows, options, threads)

    def origins(self, urls: Any) -> Any:
        """The origin of each URL: :func:`robosieve.origins`, which needs no snapshot.

        It is the key that joins pages with the column ``origin`` of ``robosieve export``.
        """
        return origins(urls)

    def reasons(
        self,
        urls: Any,
        *,
        threads: int | None = None,
        status_policy: StatusPolicy | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        as_of: Times | None = None,
        no_time: NoTime = "unknown",
    ) -> Any:
        """What the verdict on each URL rests on, in the words of :attr:`Explanation.reason`.

        Args:
            urls, threads: As for :meth:`verdicts`.
            status_policy, any_scheme, at: See :class:`Snapshot`.
            as_of, no_time: As for :meth:`verdicts`. Its other options change no reason, and neither
                does the agent: all agents of a URL have the same.

        Returns:
            n words: ``rules``, ``last-good-copy`` (rules too, of a site that fails),
            ``no-robots-txt``, ``forbidden``, ``server-error``, ``unreachable``,
            ``unresolved-redirect``, ``unknown-origin``, ``unknown-time`` or ``not-a-url``; null for
            null. They are
            dictionary-encoded: a ``DictionaryArray`` of pyarrow, a Categorical of Polars or pandas.
            NumPy gets objects, a sequence gets a list of str and None.

        Raises:
            TypeError, ValueError, SnapshotError: As :meth:`verdicts`.
        """
        times = as_of_argument(as_of)
        options = JudgeOptions(
            status_policy, any_scheme=any_scheme, at=seconds(at), as_of=times.time, no_time=no_time
        )
        result = self._native.reasons(as_urls(urls), options, threads, times.column)
        return like(urls, result, "robots_reason", _native.Array.tolist)

    def crawl_delays(
        self,
        urls: Any,
        agent: str,
        *,
        threads: int | None = None,
        any_scheme: bool = False,
        as_of: Times | None = None,
        no_time: NoTime = "unknown",
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> Any:
        """The crawl-delay of each URL's origin for an agent in seconds, as float64.

        Args:
            urls, agent, threads: As for :meth:`verdicts`.
            any_scheme, agent_match, strict_agents: See :class:`Snapshot`.
            as_of, no_time: As for :meth:`verdicts`.

        Returns:
            n numbers, those of :meth:`crawl_delay`. Null where the robots.txt gives the agent none,
            for unknown origins, for text that is not a URL, and for null. The type is that of
            :meth:`verdicts`; NumPy has NaN for null, and a sequence gets a list of float and None.

        Raises:
            TypeError, ValueError, SnapshotError: As :meth:`verdicts`.

        Each robots.txt of the column is decompressed once.
        """
        times = as_of_argument(as_of)
        options = JudgeOptions(any_scheme=any_scheme, agent_match=agent_match, as_of=times.time, no_time=no_time)
        self._check_spelling([one_agent(agent)], strict_agents)
        result = self._native.crawl_delays(as_urls(urls), agent, options, threads, times.column)
        return like(urls, result, f"robots_crawl_delay_{agent}", _native.Array.tolist)

    def verdict(
        self,
        url: str | bytes,
        agent: str,
        *,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        as_of: Time | None = None,
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> Verdict:
        """The verdict on one URL. For many URLs, :meth:`verdicts` takes a ninth of the time
        (docs/PERFORMANCE.md).

        Raises:
            TypeError: ``url`` is neither str nor bytes, or ``agent`` is not a str.
            ValueError, SnapshotError: As :meth:`verdicts`.
        """
        options = JudgeOptions(status_policy, unknown, any_scheme, seconds(at), agent_match, last_second(as_of))
        code = self._native.verdict(url, one_agent(agent), options)
        # One look-up, because a program may call this for each URL.
        if agent not in self._spelled or strict_agents:
            self._check_spelling([agent], strict_agents)
        return _VERDICTS[code]

    def explain(
        self,
        url: str | bytes,
        agent: str,
        *,
        all_rules: bool = False,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        as_of: Time | None = None,
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> Explanation:
        """Why an agent may fetch a URL or not.

        Args:
            url: One URL.
            agent: As for :meth:`verdicts`.
            all_rules: Also list the rules of the group that do not match, in
                ``details["losers"]``.

        Raises:
            TypeError: ``url`` is neither str nor bytes, or ``agent`` is not a str.
            ValueError, SnapshotError: As :meth:`verdicts`.
        """
        options = JudgeOptions(status_policy, unknown, any_scheme, seconds(at), agent_match, last_second(as_of))
        self._check_spelling([one_agent(agent)], strict_agents)
        return _explanation(self._native.explain(url, agent, all_rules, options))

    def robots_text(self, url: str | bytes) -> bytes | None:
        """The robots.txt that holds for a URL's origin, or None if there is none.

        It is stored without comments and without lines that have no meaning.

        Raises:
            TypeError: ``url`` is neither str nor bytes.
            SnapshotError: The snapshot is damaged.
        """
        return self._native.robots_text(url)

    def sitemaps(self, url: str | bytes) -> list[str]:
        """The sitemaps that the robots.txt of a URL's origin names.

        They are in the order of the file, as written, without repetitions. They may be relative to
        the URL of the robots.txt. The list is empty if there is no robots.txt.

        Raises:
            TypeError, SnapshotError: As :meth:`robots_text`.
        """
        return self._native.sitemaps(url)

    def crawl_delay(
        self, url: str | bytes, agent: str, *, agent_match: AgentMatch = "extended", strict_agents: bool = False
    ) -> float | None:
        """The crawl-delay of a URL's origin for an agent, in seconds, or None.

        A robots.txt may name any number, so limit it before you wait. No verdict depends on it;
        docs/SEMANTICS.md says which line counts.

        Raises:
            ValueError: A bad agent.
            TypeError, SnapshotError: As :meth:`robots_text`.
        """
        self._check_spelling([one_agent(agent)], strict_agents)
        return self._native.crawl_delay(url, agent, agent_match)


def _texts(option: str, given: str | Sequence[str]) -> list[str]:
    """The texts of an option, one per item."""
    texts = given.split(",") if isinstance(given, str) else list(given)
    if not texts:
        raise ValueError(f"{option}={given!r} names nothing; leave it out for all")
    return texts


def _explanation(text: str) -> Explanation:
    """The explanation of a JSON object with the keys of docs/CHECK.md."""
    why = json.loads(text)
    rule = why["rule"] or {}
    return Explanation(
        url=why["url"],
        agent=why["agent"],
        verdict=Verdict[why["verdict"].upper()],
        reason=why["basis"],
        origin=why["origin"],
        rule=rule.get("text"),
        line=rule.get("line"),
        details=why,
    )


def _native_lists(lists: Lists | None) -> _native.Lists | None:
    """The lists for a call.

    Raises:
        TypeError: They are not `Lists`.
    """
    if lists is None:
        return None
    # The module of lists imports this one.
    from ._lists import Lists

    if not isinstance(lists, Lists):
        raise TypeError(f"lists is of type {type(lists).__name__}; give robosieve.Lists(path)")
    return lists._native


def _lists_of_table(urls: Any, agent: str | AgentList, lists: Lists | None) -> _native.Lists | None:
    """The lists for a table of verdicts.

    Raises:
        TypeError: They are not `Lists`.
        ValueError: The result has no room for another column.
    """
    native = _native_lists(lists)
    if native is not None and isinstance(agent, str):
        raise ValueError(f"the verdicts for {agent!r} are one column, without room for lists; give a list: [{agent!r}]")
    if native is not None and library_of(urls) == "numpy":
        raise ValueError("an array of NumPy has no column of texts; call lists.match(urls)")
    return native


def _verdict_list(result: _native.Array) -> list[Verdict | None]:
    return [None if code is None else _VERDICTS[code] for code in result.tolist()]


#: The most lists of agents whose spelling a snapshot remembers.
_MOST_SPELLED = 1024


class _CheckedElsewhere(dict[str, list[str]]):
    """Contains all agents, without messages about them."""

    def __contains__(self, agents: object) -> bool:
        return True


def _printable(name: str) -> str:
    """A name that a site may have written, without control characters."""
    return name if name.isprintable() else ascii(name)


def _level_of_caller() -> int:
    """The `stacklevel` of `warnings.warn` for the first frame outside this package, as seen from
    the function that calls this one."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "robosieve":
        level, frame = level + 1, frame.f_back
    return level


def open_same(source: SourceArguments, checksum: str, verify: Verify) -> Snapshot:
    """The snapshot of a source.

    Raises:
        SnapshotError: It cannot be opened, or has another checksum.
    """
    return _checked(source.open(verify), name_of(source.path), checksum)


def _checked(snapshot: Snapshot, path: str, checksum: str) -> Snapshot:
    if snapshot.checksum != checksum:
        raise _native.SnapshotError(
            f"{path}: another snapshot (checksum {snapshot.checksum}) than the pickled one ({checksum}); "
            "copy the same file to all machines, for instance with robosieve.node_copy"
        )
    return snapshot


@dataclass(frozen=True)
class SourceArguments:
    """How a snapshot was opened, so that another process can open it in the same way."""

    path: str
    """An absolute path, or a URI."""
    node_directory: str | None = None
    """The absolute path of the local directory for a copy."""
    filesystem: Any = field(default=None, compare=False)

    @property
    def is_copied(self) -> bool:
        """Whether a copy on the local disk is opened, which another machine does not have."""
        return is_uri(self.path) or self.node_directory is not None

    def open(self, verify: Verify) -> Snapshot:
        """The snapshot; a copy is made once on each machine."""
        return Snapshot(self.path, verify=verify, node_directory=self.node_directory, filesystem=self.filesystem)


@functools.lru_cache(maxsize=8)
def _unpickled(path: str, checksum: str, verify: Verify) -> Snapshot:
    """The snapshot of a pickle. A process that unpickles many opens each once."""
    return open_same(SourceArguments(path), checksum, verify)


def _unpickled_copy(source: SourceArguments, checksum: str, verify: Verify) -> Snapshot:
    """The snapshot of a pickle with its source: it is copied once on each machine."""
    return open_same(source, checksum, verify)


def _unpickled_bytes(data: bytes, verify: Verify) -> Snapshot:
    """The snapshot of a pickle with its bytes."""
    return Snapshot.from_bytes(data, verify=verify)


def origins(urls: Any) -> Any:
    """The origin of each URL: scheme, host, and port unless it is the default, in canonical form.

    >>> robosieve.origins(["HTTPS://user@Shop.Example:443/cart", "/cart"])
    ['https://shop.example', None]

    It is the scope of a robots.txt, and the key that joins pages with the column ``origin`` of
    ``robosieve export``. The host is in lower case and in Punycode. ``http`` and ``https`` are two
    origins.

    Args:
        urls: A column of n URLs, as for :meth:`Snapshot.verdicts`.

    Returns:
        n strings, null for text that is not a URL and for null. The type is that of
        :meth:`Snapshot.verdicts`: large_string instead of string if they exceed 2 GiB, the type
        ``string`` in pandas, objects in NumPy, and a list of str and None for a sequence.

    Raises:
        TypeError: ``urls`` has another type.

    The interpreter's lock is released. One thread does the work.
    """
    return like(urls, _native.origins(as_urls(urls)), "robots_origin", _native.Array.tolist)


def agents(spec: Agents) -> list[str]:
    """The names of agents, with sets replaced by their members.

    >>> robosieve.agents("GPTBot,@ai-search")
    ['GPTBot', ...]

    Args:
        spec: Names and sets, separated by commas or as a sequence. The sets are ``@ai``,
            ``@ai-train``, ``@ai-search``, ``@ai-user``, ``@ai-agent``, ``@data-provider`` and
            ``@search``.

    Returns:
        The names in the order of the bits of :meth:`Snapshot.masks`.

    Raises:
        ValueError: An unknown set, or a name that no crawler can have.
    """
    return _native.agents(names(spec))
