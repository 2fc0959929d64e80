"""Opens snapshots: an error of the operating system, or of a store, is a ``SnapshotError`` too."""

from __future__ import annotations

import functools
from typing import Any, Literal

from . import _native
from ._native import SnapshotError


def open_native(path: str, depth: Literal["none", "checksums", "full"]) -> _native.Snapshot:
    """The native snapshot of a local file.

    Raises:
        SnapshotError: It cannot be opened. If the operating system refuses, this is its ``OSError`` too.
    """
    try:
        return _native.Snapshot(path, depth)
    except OSError as err:
        raise snapshot_os_error(err, path) from None


def snapshot_os_error(err: OSError, path: str) -> SnapshotError:
    """The error as a ``SnapshotError`` that is an ``OSError`` of its kind too."""
    return _made(err.errno, err.strerror or str(err), path)


def _made(number: int | None, text: str, path: str) -> SnapshotError:
    err = _error_type(number)(number, text, path)
    err.path = path
    return err


@functools.cache
def _error_type(number: int | None) -> type[SnapshotError]:
    """The class of such errors with an ``errno``: its base is the class that ``OSError`` chooses for the
    number, such as ``FileNotFoundError``."""
    kind = type(OSError(number, ""))

    def message(self: Any) -> str:
        return f"{self.filename}: {self.strerror}"

    def reduced(self: Any) -> tuple[Any, ...]:
        return _made, (self.errno, self.strerror, self.filename)

    methods = {"__module__": SnapshotError.__module__, "__str__": message, "__reduce__": reduced}
    return type("SnapshotError", (SnapshotError, kind), methods)
