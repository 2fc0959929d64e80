"""Tables with a log: Delta Lake, Iceberg and Hudi.

The log says which data files, and which of their rows, belong to the table. The others hold rows that
were deleted or replaced, and stay for older versions of the table. Only the engine of the table knows
its rows, so a directory of such a table is refused. Files that are named one by one are taken.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ._native import RobosieveError
from ._stores import Location

#: The directories of logs.
_LOGS = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}
#: The table metadata of Iceberg, in the directory ``metadata``; it may be compressed.
_ICEBERG = re.compile(r"v?[0-9].*\.metadata\.json(\.gz)?")


def refuse_tables(directories: Iterable[str]) -> None:
    """Refuses local directories of tables, and those below them.

    Raises:
        RobosieveError: One belongs to a table. The message names it.
    """
    seen = set()
    for directory in dict.fromkeys(directories):
        above = os.path.realpath(directory)
        while above not in seen:
            seen.add(above)
            if kind := _local_table(above):
                raise _error(directory, kind, above)
            above = os.path.dirname(above)


def _local_table(directory: str) -> str | None:
    """The kind of the table in a directory."""
    for log, kind in _LOGS.items():
        if os.path.isdir(os.path.join(directory, log)):
            return kind
    with suppress(OSError):
        if any(map(_ICEBERG.fullmatch, os.listdir(os.path.join(directory, "metadata")))):
            return "Iceberg"
    return None


def refuse_stored_tables(root: Location, listed: Iterable[str], found: Iterable[str]) -> None:
    """Refuses files of tables in a store.

    Args:
        root: The directory that was listed.
        listed: The paths below it, with those of logs.
        found: The paths of the inputs.

    Raises:
        RobosieveError: An input belongs to a table, or the directory is one of a table.
    """
    for above in _directories_above(root.path):
        kind = None
        # The account may not be allowed to look at directories above.
        with suppress(OSError), root._errors():
            kind = _stored_table(root.fs, above)
        if kind:
            raise _error(root.name, kind, above)
    tables = dict(filter(None, map(_table_of_log, listed)))
    if not tables:
        return
    for path in found:
        above = path
        while above:
            above = posixpath.dirname(above)
            if kind := tables.get(above):
                raise _error(root.below(posixpath.dirname(path)).name, kind, above)


def _directories_above(path: str) -> Iterable[str]:
    """A directory of a store, and those above it, up to the bucket."""
    path = path.rstrip("/")
    while path:
        yield path
        path = posixpath.dirname(path)


def _stored_table(fs: Any, directory: str) -> str | None:
    """The kind of the table in a directory of a store."""
    from pyarrow.fs import FileSelector, FileType

    names = [*_LOGS, "metadata"]
    infos = fs.get_file_info([f"{directory}/{name}" for name in names])
    *logs, metadata = [info.type == FileType.Directory for info in infos]
    for is_log, kind in zip(logs, _LOGS.values()):
        if is_log:
            return kind
    if metadata:
        files = fs.get_file_info(FileSelector(f"{directory}/metadata", allow_not_found=True))
        if any(_ICEBERG.fullmatch(posixpath.basename(file.path)) for file in files):
            return "Iceberg"
    return None


def _table_of_log(path: str) -> tuple[str, str] | None:
    """The directory of the table whose log has a file, and the kind of the table."""
    parts = path.split("/")
    for number, part in enumerate(parts[:-1]):
        if kind := _LOGS.get(part):
            return "/".join(parts[:number]), kind
    if parts[-2:-1] == ["metadata"] and _ICEBERG.fullmatch(parts[-1]):
        return "/".join(parts[:-2]), "Iceberg"
    return None


def _error(directory: str, kind: str, table: str) -> RobosieveError:
    return RobosieveError(
        f"{directory}: belongs to the {kind} table {table}, whose files also hold rows that were deleted or "
        "replaced; read it with its engine and judge the column of URLs (robosieve.spark.with_verdicts, "
        "robosieve.ray.with_verdicts, Snapshot.verdicts), or write its current rows to plain files. Files that are named one by one are read "
        "as they are"
    )
