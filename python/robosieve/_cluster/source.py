"""The snapshot as tasks open it: once per process, and only with the driver's content."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._native import SnapshotError
from .._options import Path, seconds
from .._snapshot import Snapshot, Verify
from .._uris import is_uri, name_of


@dataclass(frozen=True)
class SnapshotSource:
    """Where tasks find a snapshot, and the content that they must find there."""

    path: str
    """An absolute path, a URI, or a relative path of a file that the engine ships."""
    checksum: str
    node_directory: str | None
    verify: Verify
    filesystem: Any = field(default=None, compare=False)
    """The file system for a URI; None for that of the URI."""
    shipped: Callable[[str], str] | None = None
    """Gives, in a task, the path of a file that the engine ships."""

    def open(self) -> Snapshot:
        """The snapshot. A process opens and verifies each once. The driver has checked the agents."""
        return _opened(self)


def snapshot_source(
    snapshot: Snapshot | Path,
    node_directory: Path | None,
    executor_path: Path | None = None,
    shipped: Callable[[str], str] | None = None,
) -> tuple[Snapshot, SnapshotSource]:
    """The driver's snapshot, and the source from which tasks open the same content."""
    if not isinstance(snapshot, Snapshot):
        snapshot = Snapshot(snapshot)
    if snapshot._data is not None and executor_path is None:
        raise ValueError("snapshot is in memory, where no task finds it; write it to a file, and give its path")
    opened, filesystem = snapshot._source, None
    directory = None if node_directory is None else os.fspath(node_directory)
    if executor_path is not None:
        path = os.fspath(executor_path)
    else:
        assert opened is not None
        # A node makes a copy of its own of the file that the driver has a copy of.
        path, directory, filesystem = opened.path, directory or opened.node_directory, opened.filesystem
    if directory is not None and not os.path.isabs(directory):
        raise ValueError(f"node_directory={directory!r}: give an absolute path; tasks run in other directories")
    return snapshot, SnapshotSource(path, snapshot.checksum, directory, snapshot._verify, filesystem, shipped)


def worker_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those for the driver alone. ``at="now"`` is the time at the driver."""
    at = {"at": seconds(options["at"])} if "at" in options else {}
    return {name: value for name, value in options.items() if name != "strict_agents"} | at


@functools.lru_cache(maxsize=8)
def _opened(source: SnapshotSource) -> Snapshot:
    path = source.path
    if source.shipped is not None and not is_uri(path) and not os.path.isabs(path):
        path = source.shipped(path)
    snapshot = Snapshot(path, verify=source.verify, node_directory=source.node_directory, filesystem=source.filesystem)
    if snapshot.checksum != source.checksum:
        raise SnapshotError(
            f"{name_of(path)}: another snapshot (checksum {snapshot.checksum}) than the driver's ({source.checksum}); "
            "give all nodes the same file, and write a new snapshot under a new name"
        )
    return snapshot._without_spelling()
