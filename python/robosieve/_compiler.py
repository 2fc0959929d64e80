"""Compiles archives of robots.txt files into snapshots."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Union, cast

from . import _native
from ._counts import CompileReport
from ._guesses import GuidedInstance
from ._options import Path, Time, last_second, optional_path, path_of, paths, seconds
from ._results import library_of
from ._staging import Staging
from ._stores import locate
from ._uris import is_uri, is_visible

#: The rules that a snapshot is compiled for: Google's parser, or RFC 9309 to the letter.
Profile = Literal["google", "rfc9309"]
#: Values that are not a column.
_SCALARS = (str, bytes, int, float, type(None))
#: The name of a table's column, or several of which the first that the table has is used.
Column = Union[str, Sequence[str]]


class Compiler(GuidedInstance):
    """Makes a snapshot of archives and of tables.

    >>> compiler = robosieve.Compiler()
    >>> compiler.add_response("https://a.example/robots.txt", 200, b"User-agent: *\\nDisallow: /x")
    >>> compiler.add(pyarrow.parquet.read_table("robots.parquet"))
    2
    >>> report = compiler.write("web.rsieve")

    Args:
        profile: ``"google"`` or ``"rfc9309"``.
        previous: An earlier snapshot. Origins without a newer capture stay as they are there.
        max_failing: The share of captured origins that may fail although they answered in
            ``previous``, from 0 to 1. A fetcher without a network records every site as a failure,
            which would disallow all of them. With more failures nothing is written. It counts from
            100 such origins on. 1.0 accepts everything.
        as_of: Leave out captures newer than this time. A date, or a month or year in text, is its last second.
        history: Keep every version of every site's answers, so that pages can be judged by the rules in
            force at a time: see ``as_of`` of :class:`Snapshot`, and ``as_of_column`` of
            :func:`robosieve.filter`. With ``previous``, the captures continue its history: each must
            be newer than what it has of the same URL.
        skip_damaged: Skip and count damaged places of archives instead of failing.
        memory: How many bytes of captures and texts may stay in memory; the default is 1 GiB. The
            rest goes to temporary files. The snapshot does not depend on it.
        temp_dir: The directory of temporary files; the default is that of the system. Ten million
            captures take less than 10 GB there.
        threads: The number of threads; the default, like -1, is one per core.
        filesystem: For archives, outputs and ``previous`` in a store: see :func:`robosieve.filter`.

    The newest capture of an origin wins; the order of the calls does not matter. About 50 bytes per
    capture come on top of ``memory``.

    Raises:
        SnapshotError: ``previous`` is damaged.
        OSError: ``previous`` cannot be read.
        ValueError: An unknown profile, a bad time, or a share that is not from 0 to 1.
    """

    __slots__ = ("_filesystem", "_native", "_stored")

    def __init__(
        self,
        profile: Profile = "google",
        *,
        previous: Path | None = None,
        max_failing: float = 0.2,
        as_of: Time | None = None,
        history: bool = False,
        skip_damaged: bool = False,
        memory: int | None = None,
        temp_dir: Path | None = None,
        threads: int | None = None,
        filesystem: Any = None,
    ) -> None:
        if not 0 <= max_failing <= 1:
            raise ValueError(f"max_failing={max_failing!r} is not a share from 0 to 1, such as 0.2 for 20 %")
        directory = optional_path(temp_dir, "temp_dir")
        old_path = optional_path(previous, "previous")
        self._filesystem = filesystem
        #: The archives of stores that were added, which no output may overwrite.
        self._stored: dict[str, str] = {}
        with Staging([] if old_path is None else [old_path], filesystem=filesystem) as files:
            # The file stays mapped after it is removed.
            old = files.inputs[0] if files.inputs else None
            self._native = _native.Compiler(
                profile, old, max_failing, last_second(as_of), history, skip_damaged, memory, directory, threads
            )

    def add_path(self, archives: Path | Sequence[Path], *, progress: Callable[[int], object] | None = None) -> None:
        """Add archives: WARC and JSONL files (plain, gzip, zstd), captures files and directories.

        Args:
            archives: A path, or several. Those of a store, such as ``s3://bucket/robots.warc.gz`` or
                all files below ``s3://bucket/robots/``, are downloaded one after the other, so the
                directory of temporary files (``TMPDIR``) has one at a time.
            progress: A function to call some ten times a second, with the number of bytes read.

        Raises:
            OSError: An archive cannot be read.
            RobosieveError: An archive is damaged or of an unknown format. The compiler cannot be
                used any more.
        """
        given = paths(archives)
        local = [path for path in given if not is_uri(path)]
        stored = [file for path in given if is_uri(path) for file in self._files_of(path)]
        if local or not stored:
            self._native.add_paths(local, progress)
        for file in stored:
            with Staging([file], filesystem=self._filesystem) as files:
                self._native.add_paths(files.inputs, progress)

    def _files_of(self, uri: str) -> list[str]:
        """The file of a store, or all below a prefix."""
        location = locate(uri, self._filesystem)
        try:
            location.size()
            found = [location]
        except IsADirectoryError:
            found = [location.below(name) for name, _ in location.files() if is_visible(name)]
        self._stored.update({file.uri: "an archive that was added" for file in found})
        return [file.uri for file in found]

    def add_response(
        self,
        url: str,
        status: int,
        body: bytes | str = b"",
        *,
        location: str | None = None,
        max_age: int | None = None,
        retry_after: int | None = None,
        fetched_at: Time | None = None,
    ) -> None:
        """Add the response to one request.

        Args:
            url: The URL that was requested, such as ``https://e.example/robots.txt``.
            status: The HTTP status.
            body: The body without its content coding.
            location: The ``Location`` header of a redirect. It is followed if its target is added.
            max_age: The ``max-age`` of the ``Cache-Control`` header, in seconds.
            retry_after: The ``Retry-After`` header of a 429 or a 5xx, in seconds after the response.
            fetched_at: The time of the request. Without it, the response is older than any other.

        Raises:
            RobosieveError: ``url`` is not a URL.
        """
        text = body.encode() if isinstance(body, str) else bytes(body)
        self._native.add_response(url, status, text, location, max_age, retry_after, seconds(fetched_at))

    def add_failure(self, url: str, cause: str, *, fetched_at: Time | None = None) -> None:
        """Add a request without an HTTP response. It counts like a server error (RFC 9309 §2.3.1.4).

        Raises:
            RobosieveError: ``url`` is not a URL.
        """
        self._native.add_failure(url, cause, seconds(fetched_at))

    def add(
        self,
        table: Any,
        *,
        url: Column = "url",
        domain: Column = ("domain", "host"),
        status: Column = ("status", "status_code"),
        body: Column = ("body", "content", "robots_txt", "text"),
        fetched_at: Column = ("fetched_at", "timestamp"),
        location: Column = "location",
        max_age: Column = "max_age",
        retry_after: Column = "retry_after",
        error: Column = "error",
        scheme: Literal["https", "http"] = "https",
    ) -> int:
        """Add the rows of a table, one request per row. Published robots.txt data have this form.

        Args:
            table: An object with ``__arrow_c_stream__`` or ``__arrow_c_array__`` (pyarrow, Polars,
                pandas 3, DuckDB, Spark), a dict of columns (``{"url": [...], "status": [...]}``), or
                a sequence of mappings. A stream is read batch by batch, so it may be longer than
                memory.
            url: The column of the URLs requested, such as ``https://e.example/robots.txt``.
            domain: The column of hosts, for rows without a URL: ``e.example`` stands for
                ``https://e.example/robots.txt``.
            status: The column of HTTP statuses (integers). Without one, rows with a body have 200. A row
                with neither a status nor a text in such a column counts as a failure. ``()`` says that
                a column such as ``http_code`` is not that of the statuses.
            body: The column of bodies (string or binary). A 2xx status with a null body counts as
                a failure, because an empty robots.txt would allow everything.
            fetched_at: The column of times: timestamps, dates (their last second), seconds since 1970 or
                smaller units, or text.
            location: The column of ``Location`` headers.
            max_age: The column of ``max-age`` of ``Cache-Control`` headers, in seconds (integers).
            retry_after: The column of ``Retry-After`` of 429 and 5xx, in seconds (integers).
            error: The column of causes of requests without a response.
            scheme: The scheme of hosts without one.

        Returns:
            The number of rows read. The report of :meth:`write` says how many were of use.

        Raises:
            ValueError: A column is missing, or a row has a value that cannot be used.
            TypeError: ``table`` has another type.
        """
        if library_of(table) in ("pandas", "pyspark", "builtins") and not hasattr(table, "__arrow_c_stream__"):
            table = _as_arrow(table)
        given = [url, domain, status, body, fetched_at, location, max_age, retry_after, error]
        columns = [[column] if isinstance(column, str) else list(column) for column in given]
        return self._native.add_table(table, columns, scheme)

    def write(self, path: Path) -> CompileReport:
        """Write the snapshot, and return the report of the compilation.

        The file appears when it is complete, and replaces an existing one. The compiler cannot be
        used afterwards.

        Returns:
            Counts of the input (``captures``, ``superseded``, ``not_urls``, ``other_urls``, ...) and
            of the content (``counts``), as ``robosieve compile --stats-json`` writes them.

        Raises:
            OSError: The file cannot be written.
            RobosieveError: More origins fail than ``max_failing``, or the archives have no capture of
                any robots.txt.
            ValueError: The file is one of the archives.
        """
        return cast(CompileReport, self._written(path, self._native.write))

    def to_bytes(self) -> bytes:
        """The snapshot as bytes, for :meth:`Snapshot.from_bytes`: those that :meth:`write` writes.

        The whole snapshot is in memory, twice for a moment. The compiler cannot be used afterwards.

        Raises:
            OSError: Temporary data cannot be written.
            RobosieveError: As :meth:`write`.
        """
        return self._native.to_bytes()

    def write_captures(self, path: Path) -> dict[str, Any]:
        """Write the captures to a captures file instead of compiling them.

        The file keeps every capture, also those that a newer one supersedes. :meth:`add_path` reads
        it in place of the archives and tables, and the snapshot is the same, also for another
        profile or time. The same captures give the same bytes. Like a snapshot, the file appears
        when it is complete, and the compiler cannot be used afterwards.

        Returns:
            ``input``, the counts of the input as in :meth:`write`, and ``content``: the numbers of
            ``captures``, ``origins``, ``texts``, ...

        Raises:
            OSError: The file cannot be written.
            RobosieveError: The compiler has a previous snapshot, which keeps no captures.
            ValueError: The file is one of the archives.
        """
        return self._written(path, self._native.write_captures)

    def _written(self, path: Path, write: Callable[[str], str]) -> dict[str, Any]:
        with Staging([], [path_of(path, "path")], self._filesystem, guarded=self._stored) as files:
            report: dict[str, Any] = json.loads(write(str(files.outputs[0])))
            files.upload()
        return report


def _as_arrow(table: Any) -> Any:
    """A table of Arrow from one of older pandas or Spark, or from a sequence of mappings."""
    try:
        import pyarrow
    except ImportError:
        raise TypeError(
            f"{type(table).__name__}: without pyarrow, pass an Arrow table, or call add_response for each row"
        ) from None
    if library_of(table) == "pandas":
        return pyarrow.Table.from_pandas(table, preserve_index=False)
    if hasattr(table, "mapInArrow"):
        from .spark._engine import rows_of_frame

        return rows_of_frame(table)
    if isinstance(table, Mapping):
        if single := next((name for name, values in table.items() if isinstance(values, _SCALARS)), None):
            raise TypeError(
                f"table is a dict whose column {single!r} is a single value; give a list for each column, or a "
                "list of rows: [row]"
            )
        return pyarrow.Table.from_pydict(dict(table))
    rows = list(table) if isinstance(table, Iterable) and not isinstance(table, (str, bytes)) else [table]
    if not all(isinstance(row, Mapping) for row in rows):
        hint = "; add_path takes archives" if isinstance(table, (str, os.PathLike)) else ""
        raise TypeError(
            f"table is of type {type(table).__name__}; a table is an Arrow table or stream, a DataFrame, a dict of "
            f"columns, or a sequence of mappings{hint}"
        )
    return pyarrow.Table.from_pylist(rows)


def compile(
    archives: Path | Sequence[Path],
    output: Path,
    *,
    profile: Profile = "google",
    previous: Path | None = None,
    max_failing: float = 0.2,
    as_of: Time | None = None,
    history: bool = False,
    skip_damaged: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    filesystem: Any = None,
) -> CompileReport:
    """Compile archives of robots.txt files into a snapshot, as ``robosieve compile`` does.

    Args:
        archives: WARC, ARC and JSONL files (plain, gzip, zstd), WACZ and captures files, and directories.
        output: The snapshot to write.
        profile, previous, max_failing, as_of, history, skip_damaged, threads, filesystem: As for :class:`Compiler`.
        progress: As for :meth:`Compiler.add_path`.

    Returns:
        The report, as :meth:`Compiler.write`.

    Raises:
        OSError: A file cannot be read or written.
        RobosieveError: An archive is damaged or of an unknown format, the archives have no capture of
            any robots.txt, or more origins fail than ``max_failing``.
        SnapshotError: ``previous`` is damaged.
        ValueError: A bad option, or ``output`` is one of the archives.
    """
    compiler = Compiler(
        profile,
        previous=previous,
        max_failing=max_failing,
        as_of=as_of,
        history=history,
        skip_damaged=skip_damaged,
        threads=threads,
        filesystem=filesystem,
    )
    compiler.add_path(archives, progress=progress)
    return compiler.write(output)
