"""Types of the native half. The public interface is in the package itself."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

_Options = tuple[str | None, str | None, bool, int | None, str]
_Records = tuple[str | int | None, str | None, bool, str | None, str | None, str | None, str | None]
_Progress = Callable[[int], object] | None

__version__: str

def command(arguments: list[str]) -> int: ...

class RobosieveError(Exception): ...

class SnapshotError(RobosieveError):
    path: str

class Array:
    """An immutable Arrow array with nulls, without a dependency on a library.

    It is imported without a copy by any Arrow library: ``pyarrow.array(result)``,
    ``polars.Series(result)``. ``numpy.asarray(result)`` copies it.
    """

    @property
    def type(self) -> Literal["int8", "int64", "float64", "string", "large_string", "dictionary"]: ...
    @property
    def null_count(self) -> int: ...
    @property
    def categories(self) -> list[str]:
        """The words of a dictionary."""
    @property
    def codes(self) -> Array:
        """The number of the word of each row of a dictionary, -1 for null."""
    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def tolist(self) -> list[Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class ExportedTable:
    """A table of a snapshot, from :meth:`Snapshot.export`.

    Any Arrow library reads it: ``pyarrow.table(table)``, ``polars.DataFrame(table)``, DuckDB by the
    name of the variable. Each reader gets all rows, which are computed while it reads.
    """

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Table:
    """An immutable Arrow table of verdicts, without a dependency on a library.

    It is imported without a copy by any Arrow library: ``pyarrow.table(result)``,
    ``polars.DataFrame(result)``, DuckDB by the name of the variable. ``table["robots_GPTBot"]`` is
    a column, an :class:`Array`.
    """

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Array: ...
    def to_dict(self) -> dict[str, list[int | None]]:
        """The columns by their names."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Snapshot:
    def __init__(self, path: str, verify: Literal["none", "checksums", "full"]) -> None: ...
    @staticmethod
    def from_bytes(data: bytes, verify: Literal["none", "checksums", "full"]) -> Snapshot: ...
    def verify_checksums(self) -> None: ...
    def misspelled(self, specs: list[str]) -> list[tuple[str, str]]: ...
    @property
    def path(self) -> str: ...
    @property
    def checksum(self) -> int: ...
    def __len__(self) -> int: ...
    def __contains__(self, url: str | bytes) -> bool: ...
    def metadata(self) -> str: ...
    def verdicts(self, urls: Any, agent: str, options: _Options, threads: int | None) -> Array: ...
    def verdict_table(self, urls: Any, agents: list[str], options: _Options, threads: int | None) -> Table: ...
    def reasons(self, urls: Any, options: _Options, threads: int | None) -> Array: ...
    def crawl_delays(self, urls: Any, agent: str, options: _Options, threads: int | None) -> Array: ...
    def masks(self, urls: Any, agents: list[str], options: _Options, threads: int | None) -> Array: ...
    def verdict(self, url: str | bytes, agent: str, options: _Options) -> int: ...
    def explain(self, url: str | bytes, agent: str, all_rules: bool, options: _Options) -> str: ...
    def robots_text(self, url: str | bytes) -> bytes | None: ...
    def sitemaps(self, url: str | bytes) -> list[str]: ...
    def crawl_delay(self, url: str | bytes, agent: str, agent_match: str) -> float | None: ...

class Robots:
    def __init__(
        self, body: bytes | str, profile: str = "google", reason: str = "rules", body_len: int | None = None
    ) -> None: ...
    @property
    def profile(self) -> Literal["google", "rfc9309"]:
        """The parser that is reproduced."""
    @property
    def reason(self) -> str:
        """Why this robots.txt holds: ``rules``, or a response without rules (``no-robots-txt``,
        ``forbidden``, ``server-error``, ``unreachable``)."""
    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps in the order of the file, as written, without repetitions."""
    @property
    def licenses(self) -> list[str]:
        """The licences (RSL) in the order of the file, as written, without repetitions."""
    def allows(
        self, agent: str, url_or_path: str | bytes, *, agent_match: Literal["extended", "google"] | None = None
    ) -> bool:
        """Whether an agent may fetch a URL, which may be a path that begins with ``/``.

        Raises:
            TypeError: ``url_or_path`` is neither str nor bytes.
            ValueError: A bad agent or option.
        """
    def arguments(self) -> tuple[bytes, str, str, int]: ...
    def counts(self) -> tuple[int, int]: ...
    def verdict_column(self, agent: str, urls: Any, agent_match: str) -> Array: ...
    def explain_json(self, agent: str, url: str | bytes, all_rules: bool, agent_match: str) -> str: ...
    def preferences_json(self, agent: str, url: str | bytes, agent_match: str) -> str: ...
    def crawl_delay_for(self, agent: str, agent_match: str) -> float | None: ...
    def request_rates(self, agent: str) -> list[str]: ...
    def lint_json(self) -> str: ...

class Compiler:
    def __init__(
        self,
        profile: str,
        previous: str | None,
        max_failing: float,
        as_of: int | None,
        skip_damaged: bool,
        memory: int | None,
        temp_dir: str | None,
        threads: int | None,
    ) -> None: ...
    def add_paths(self, paths: list[str], progress: _Progress) -> None: ...
    def add_response(
        self,
        url: str,
        status: int,
        body: bytes,
        location: str | None,
        max_age: int | None,
        retry_after: int | None,
        fetched_at: int | None,
    ) -> None: ...
    def add_failure(self, url: str, cause: str, fetched_at: int | None) -> None: ...
    def add_table(self, table: Any, columns: list[list[str]], scheme: str) -> int: ...
    def write(self, path: str) -> str: ...
    def to_bytes(self) -> bytes: ...
    def write_captures(self, path: str) -> str: ...

def agents(specs: list[str]) -> list[str]: ...
def origins(urls: Any) -> Array: ...
def product_token(user_agent: str) -> str: ...
def robots_of_response(
    status: int, body: bytes | str, headers: list[tuple[bytes, bytes]], status_policy: str
) -> tuple[bytes, str]: ...
def export(
    snapshot: Snapshot,
    agents: list[str],
    table: str,
    long: bool,
    columns: list[str],
    column_names: str,
    stale_at: int | None,
    retry_failed: int,
    outcomes: list[str],
    reasons: list[str],
    options: _Options,
    threads: int | None,
) -> ExportedTable: ...
def annotate(
    snapshot: Snapshot,
    inputs: list[str],
    output: str,
    agents: list[str],
    form: str | None,
    name: str | None,
    add: list[str],
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
    selection: tuple[str, str, list[str], list[str]],
    records: _Records,
    options: _Options,
    threads: int | None,
    progress: _Progress,
) -> str: ...
