"""Types for type checkers alone: the columns of each library, and options that are handed on.

A column is recognised by members that only its class has, so no library needs to be installed. The
results are the classes themselves, which are `Any` where a library, or its stubs, are missing. The
overloads name pandas first, because a Series of its stubs has any attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set as AbstractSet
from typing import Any, Protocol, TypedDict, Union

from ._lists import Lists
from ._options import AgentMatch, NoTime, Require, StatusPolicy, Time, UnknownOrigin

_Text = Union[str, bytes, None]
#: Texts of URLs in a list, tuple, generator or set. Columns of NumPy are iterable, too, but differ.
Texts = Union[Sequence[_Text], Iterator[_Text], AbstractSet[_Text]]

#: Several agents, as opposed to the name of one.
AgentList = Union[list[str], tuple[str, ...]]


#: One time, or a column with a time for each row.
Times = Any


class JudgeOptions(TypedDict, total=False):
    """How URLs are judged: see :class:`robosieve.Snapshot`."""

    status_policy: StatusPolicy | None
    unknown: UnknownOrigin | None
    any_scheme: bool
    at: Time | None
    as_of: Times | None
    no_time: NoTime
    agent_match: AgentMatch
    strict_agents: bool


class ColumnOptions(JudgeOptions, total=False):
    """The options of :meth:`robosieve.Snapshot.verdicts`."""

    threads: int | None


class ListedOptions(ColumnOptions, total=False):
    """The options of :meth:`robosieve.Snapshot.verdicts` for several agents."""

    lists: Lists | None


class AllowedOptions(ListedOptions, total=False):
    """The options of :meth:`robosieve.Snapshot.allowed`."""

    require: Require


class RobotsOptions(TypedDict, total=False):
    """The options of :meth:`robosieve.Robots.verdicts`."""

    agent_match: AgentMatch


class PolarsSeries(Protocol):
    """``polars.Series``"""

    @property
    def alias(self) -> Any: ...
    @property
    def to_arrow(self) -> Any: ...


class PandasSeries(Protocol):
    """``pandas.Series``"""

    @property
    def iloc(self) -> Any: ...
    @property
    def to_frame(self) -> Any: ...


class PandasIndex(Protocol):
    """``pandas.Index``"""

    @property
    def get_indexer(self) -> Any: ...
    @property
    def to_frame(self) -> Any: ...


class ChunkedArray(Protocol):
    """``pyarrow.ChunkedArray``"""

    @property
    def num_chunks(self) -> Any: ...
    @property
    def unify_dictionaries(self) -> Any: ...
    @property
    def combine_chunks(self) -> Any: ...
    @property
    def dictionary_encode(self) -> Any: ...


class ArrowArray(Protocol):
    """``pyarrow.Array``"""

    @property
    def buffers(self) -> Any: ...
    @property
    def dictionary_encode(self) -> Any: ...


class NumpyArray(Protocol):
    """``numpy.ndarray``"""

    @property
    def __array_interface__(self) -> Any: ...


class ArrowColumn(Protocol):
    """Any other column of Arrow's C interface."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class ArrowStream(Protocol):
    """Any other stream of Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
