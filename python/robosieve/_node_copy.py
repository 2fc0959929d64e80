"""A copy of a snapshot on the local disk of a machine, made once for all processes there.

Local directories are often shared, such as /tmp, so nothing in them is trusted because of its name:

- Files are in a directory of this user, which no other user can write to.
- A temporary file has a random name and is created new, so a link that waits there is not followed.
- A copy is used if its checksums were verified. A marker beside it names the size, the times and the
  inode that it had then; a copy with other values is verified again, or replaced.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from . import _native
from ._opening import open_native, snapshot_os_error
from ._options import Path
from ._staging import require_space
from ._stores import Location, locate
from ._uris import is_uri

#: The seconds between two attempts to lock.
_POLL = 0.05
_CHUNK = 4 << 20
#: The first bytes of a snapshot, and the length of its header, which ends with the checksum
#: (docs/FORMAT.md).
_MAGIC, _HEADER = b"RSIEVE\x1a\n", 40
#: Permissions to write for users other than the owner.
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def node_copy(source: Path, directory: Path, *, timeout: float = 1800.0, filesystem: Any = None) -> str:
    """Copy a snapshot to a local directory, once for all processes of this user on a machine.

    The copy's name holds the checksum of the snapshot, so another content gets another name. A
    lock lets one process copy while the others wait. The copy appears when it is complete and its
    checksums are right. A copy that is there already is verified once; a damaged one is replaced.

    Args:
        source: The snapshot, for instance on a shared file system, or in a store:
            ``s3://bucket/web.rsieve``. Of one in a store, the first bytes tell the checksum, so it
            is downloaded only where there is no copy.
        directory: A directory on a local disk. It is created, for this user alone, if needed. If
            root owns it or other users can write to it, as to ``/tmp``, the copy goes to its
            subdirectory ``robosieve-UID``, which only this user can use. A directory of another
            user is refused.
        timeout: The most seconds to wait for another process that copies.
        filesystem: For a store: see :func:`robosieve.filter`.

    Returns:
        The path of the copy.

    Raises:
        SnapshotError: ``source`` cannot be read, is not a snapshot, or is damaged.
        TimeoutError: Another process holds the lock for too long. The message names it.
        OSError: The copy cannot be written, or the directory is not safe to use.
    """
    opened = _source(os.fspath(source), filesystem)
    checksum = opened.checksum
    place = _own_directory(os.fspath(directory))
    name = f"{os.path.splitext(opened.basename)[0]}-{checksum:016x}"
    path = os.path.join(place, f"{name}.rsieve")
    marker = os.path.join(place, f"{name}.verified")
    if _is_marked(path, marker):
        return path
    with _locked(os.path.join(place, f"{name}.lock"), timeout):
        if not _is_marked(path, marker):
            _remove_leftovers(place, name)
            if not _is_intact(path, checksum):
                _copy(opened, path, name)
            _mark(path, marker, name)
    return path


@dataclass(frozen=True)
class _Source:
    """A snapshot to copy."""

    name: str
    """Its path or URI, for messages."""
    basename: str
    checksum: int
    location: Location | None
    """Where it is in a store; None for a local file."""


def _source(path: str, filesystem: Any) -> _Source:
    if not is_uri(path):
        return _Source(path, os.path.basename(path), open_native(path, "none").checksum, None)
    location = locate(path, filesystem)
    try:
        header = location.head(_HEADER)
    except OSError as err:
        raise snapshot_os_error(err, location.name) from err
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise _snapshot_error(location.name, "not a robosieve snapshot")
    return _Source(location.name, location.basename, int.from_bytes(header[_HEADER - 8 :], "little"), location)


def _own_directory(directory: str) -> str:
    """The directory, or its subdirectory for this user if others can write to it.

    Raises:
        OSError: It cannot be created, or another user has prepared it.
    """
    with suppress(FileExistsError):
        os.makedirs(directory, mode=0o700)
    user = os.geteuid()
    status = os.stat(directory)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory)
    # The owner of a directory, or of a link to it, can put another one in the place of what is in it.
    for owner in (os.lstat(directory).st_uid, status.st_uid):
        if owner not in (0, user):
            reason = f"belongs to user {owner}, who could replace the copy; give a directory of your own or of root"
            raise PermissionError(errno.EPERM, reason, directory)
    if status.st_uid == user and not status.st_mode & _OTHERS_WRITE:
        return directory
    own = os.path.join(directory, f"robosieve-{user}")
    with suppress(FileExistsError):
        os.mkdir(own, mode=0o700)
    status = os.lstat(own)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o077:
        reason = (
            f"not a directory of user {user} alone (owner {status.st_uid}, mode {stat.filemode(status.st_mode)}); "
            "remove it, or give a directory of your own"
        )
        raise PermissionError(errno.EPERM, reason, own)
    return own


@contextmanager
def _locked(path: str, timeout: float, work: str = "copies the snapshot") -> Iterator[None]:
    """Holds the lock of a file. The system releases it when the process ends. ``work`` is what its holder does.

    The file stays: if it were removed, two processes could lock two files of one name.

    Raises:
        TimeoutError: Another process holds it.
        OSError: It cannot be opened, or is not a file of this user.
    """
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as err:
        if err.errno != errno.ELOOP:
            raise
        raise OSError(errno.ELOOP, "a symbolic link in place of the lock file; remove it", path) from None
    with open(descriptor, "r+b", buffering=0) as lock:
        if not _is_own_file(os.fstat(descriptor)):
            raise PermissionError(errno.EPERM, "the lock file is not a file of this user alone; remove it", path)
        deadline = time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "an unknown process"
                    reason = (
                        f"waited {timeout:g} s for the process that {work}: {holder}; end it if it hangs, "
                        "or give a longer timeout= or another directory"
                    )
                    raise TimeoutError(errno.ETIMEDOUT, reason, path) from None
            time.sleep(_POLL)
        since = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        lock.truncate(0)
        lock.write(f"pid {os.getpid()} on host {socket.gethostname()} since {since}\n".encode())
        try:
            yield
        finally:
            lock.truncate(0)


def _is_own_file(status: os.stat_result) -> bool:
    """Whether this is a regular file of this user that no other user can write to."""
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE


def _state(path: str) -> str | None:
    """The size, the times and the inode of a file of this user; None if there is none."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if not _is_own_file(status):
        return None
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}\n"


def _is_marked(path: str, marker: str) -> bool:
    """Whether the marker says that the copy was verified as it is now."""
    state = _state(path)
    if state is None or _state(marker) is None:
        return False
    with open(marker, encoding="ascii", errors="replace") as file:
        return file.read(200) == state


def _mark(path: str, marker: str, name: str) -> None:
    """Records that the copy is verified."""
    descriptor, part = _temporary(path, name)
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(_state(path) or "")
        os.replace(part, marker)
    except BaseException:
        os.unlink(part)
        raise


def _temporary(path: str, name: str) -> tuple[int, str]:
    """A new file beside the copy, with a name that nobody can guess."""
    return tempfile.mkstemp(dir=os.path.dirname(path), prefix=f"{name}.", suffix=".part")


def _remove_leftovers(directory: str, name: str) -> None:
    """Removes what killed processes left. The caller holds the lock, so no process writes them."""
    for entry in os.listdir(directory):
        if entry.startswith(f"{name}.") and entry.endswith(".part"):
            with suppress(OSError):
                os.unlink(os.path.join(directory, entry))


def _is_intact(path: str, checksum: int) -> bool:
    """Whether the copy is there, with the right content."""
    if _state(path) is None:
        return False
    try:
        copy = _native.Snapshot(path, "none")
        copy.verify_checksums()
    except (_native.SnapshotError, OSError):
        return False
    return copy.checksum == checksum


def _copy(source: _Source, path: str, name: str) -> None:
    """Copies the source to a temporary file, verifies that and renames it to `path`.

    Raises:
        SnapshotError: The source cannot be read, or is damaged.
        OSError: The copy cannot be written.
    """
    descriptor, part = _temporary(path, name)
    try:
        with open(descriptor, "wb", buffering=0) as output:
            if source.location is None:
                _copy_bytes(source.name, output.fileno(), part)
            else:
                _download(source.location, output.fileno(), part)
            os.fsync(output.fileno())
        try:
            copy = _native.Snapshot(part, "none")
            copy.verify_checksums()
        except _native.SnapshotError as err:
            # The bytes are those of the source, so the error names it.
            raise _snapshot_error(source.name, str(err).replace(f"{part}: ", "")) from None
        if copy.checksum != source.checksum:
            raise _snapshot_error(source.name, "the snapshot was replaced while it was copied; copy it again")
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _download(source: Location, output: int, part: str) -> None:
    try:
        require_space(os.path.dirname(part), source.size())
        source.copy_to(output)
    except OSError as err:
        if err.filename == source.name:
            raise snapshot_os_error(err, source.name) from err
        raise OSError(err.errno, err.strerror, err.filename or part) from err


def _copy_bytes(source: str, output: int, part: str) -> None:
    try:
        opened = open(source, "rb", buffering=0)
    except OSError as err:
        raise snapshot_os_error(err, source) from err
    with opened as file:
        while True:
            try:
                chunk = file.read(_CHUNK)
            except OSError as err:
                raise snapshot_os_error(err, source) from err
            if not chunk:
                break
            try:
                rest = memoryview(chunk)
                while rest:
                    rest = rest[os.write(output, rest) :]
            except OSError as err:
                raise OSError(err.errno, err.strerror, part) from err


def _snapshot_error(source: str, message: str) -> _native.SnapshotError:
    err = _native.SnapshotError(f"{source}: {message}")
    err.path = source
    return err
