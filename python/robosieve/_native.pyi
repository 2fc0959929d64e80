"""Types of the native half. The public interface is in the package itself."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

_Options = tuple[str | None, str | None, bool, int | None, str]
_Records = tuple[str | int | None, str | None, bool, str | None, str | None, str | None, str | None]
_Progress = Callable[[int], object] | None

__version__: str

class RobosieveError(Exception): ...

class SnapshotError(RobosieveError):
    path: str

class Array:
    """An immutable Arrow array of int8 or int64 with nulls, without a dependency on a library.

    It is imported without a copy by any Arrow library: ``pyarrow.array(result)``,
    ``polars.Series(result)``. ``numpy.asarray(result)`` copies it.
    """

    @property
    def type(self) -> Literal["int8", "int64"]: ...
    @property
    def null_count(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> int | None: ...
    def __iter__(self) -> Iterator[int | None]: ...
    def tolist(self) -> list[int | None]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class Snapshot:
    def __init__(self, path: str, verify: bool) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def checksum(self) -> int: ...
    def __len__(self) -> int: ...
    def metadata(self) -> str: ...
    def verdicts(self, urls: Any, agent: str, options: _Options, threads: int | None) -> Array: ...
    def masks(self, urls: Any, agents: list[str], options: _Options, threads: int | None) -> Array: ...
    def verdict(self, url: str | bytes, agent: str, options: _Options) -> int: ...
    def explain(self, url: str | bytes, agent: str, all_rules: bool, options: _Options) -> str: ...
    def robots_text(self, url: str | bytes) -> bytes | None: ...
    def sitemaps(self, url: str | bytes) -> list[str]: ...
    def crawl_delay(self, url: str | bytes, agent: str, agent_match: str) -> float | None: ...

class Compiler:
    def __init__(
        self, profile: str, previous: str | None, as_of: int | None, skip_damaged: bool, threads: int | None
    ) -> None: ...
    def add_paths(self, paths: list[str], progress: _Progress) -> None: ...
    def add_response(
        self,
        url: str,
        status: int,
        body: bytes,
        location: str | None,
        max_age: int | None,
        fetched_at: int | None,
    ) -> None: ...
    def add_failure(self, url: str, cause: str, fetched_at: int | None) -> None: ...
    def add_table(
        self,
        table: Any,
        url: list[str],
        domain: list[str],
        status: list[str],
        body: list[str],
        fetched_at: list[str],
        location: list[str],
        error: list[str],
        scheme: str,
    ) -> int: ...
    def write(self, path: str) -> str: ...

def agents(specs: list[str]) -> list[str]: ...
def annotate(
    snapshot: Snapshot,
    inputs: list[str],
    output: str,
    agents: list[str],
    form: str | None,
    name: str | None,
    preferences: bool,
    records: _Records,
    options: _Options,
    threads: int | None,
    progress: _Progress,
) -> str: ...
def filter(
    snapshot: Snapshot,
    inputs: list[str],
    outputs: list[str | None],
    agents: list[str],
    keep: str,
    require: str,
    records: _Records,
    options: _Options,
    threads: int | None,
    progress: _Progress,
) -> str: ...
def node_copy(source: str, directory: str) -> str: ...
