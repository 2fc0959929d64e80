"""The local files that stand for files of object stores.

The native half reads and writes local files: it maps snapshots, and seeks in Parquet files. So an
input in a store is downloaded to a temporary directory, an output is written there, and both are
removed when the call ends. ``_stores`` has the transfers.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ._uris import identity, is_uri

if TYPE_CHECKING:
    from ._stores import Location

class Staging:
    """The local files that stand for inputs and outputs during a call.

    >>> with Staging(["s3://bucket/urls.txt"], ["s3://bucket/kept.txt"]) as staging:
    ...     work(staging.inputs, staging.outputs)
    ...     staging.upload()

    Local paths stand for themselves. An input or output of a store is a file of the same name in a
    temporary directory, which is removed at the end. Errors name the URI in place of that file.
    ``guarded`` are other files that no output may overwrite, each with its name for messages.

    Raises:
        FileNotFoundError: An input, or the bucket of an output, does not exist.
        ImportError: A library for the store is missing.
        OSError: The disk has less space than the inputs need; or errors of a store.
        ValueError: An output is an input, guarded, or another output.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str | None] = (),
        filesystem: Any = None,
        *,
        guarded: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._directory: str | None = None
        #: The URIs of the directories of staged files.
        self._names: dict[str, str] = {}
        self._uploads: list[tuple[str, Location]] = []
        self._guarded = guarded
        self.inputs, self.outputs = list(inputs), list(outputs)
        self._filesystem = filesystem

    def __enter__(self) -> Staging:
        self._guard_local_files()
        if any(map(is_uri, [*self.inputs, *self.outputs])):
            try:
                self._directory = tempfile.mkdtemp(prefix="robosieve-")
                self._stage(self._directory)
            except BaseException as err:
                self.__exit__(None, err, None)
                raise
        return self

    def _guard_local_files(self) -> None:
        """Refuses outputs that are guarded local files. The native half knows the files that it opens,
        and not the one that an opened copy was made of."""
        for path, what in self._guarded.items():
            for output in self.outputs:
                if output is not None and not is_uri(path) and not is_uri(output) and _is_same_file(path, output):
                    raise ValueError(f"{output}: is the same file as {what}; give the output another name")

    def _stage(self, directory: str) -> None:
        from ._stores import locate

        guarded = {identity(path): what for path, what in self._guarded.items() if is_uri(path)}
        needed, downloads = 0, []
        for number, uri in enumerate(self.inputs):
            if is_uri(uri):
                location = locate(uri, self._filesystem)
                guarded[identity(uri)] = "an input"
                needed += location.size()
                self.inputs[number] = self._local(directory, f"in{number}", location)
                downloads.append((location, self.inputs[number]))
        for number, output in enumerate(self.outputs):
            if output is not None and is_uri(output):
                location = locate(output, self._filesystem)
                if other := guarded.get(identity(output)):
                    raise ValueError(f"{location.name}: is the same file as {other}; give the output another name")
                guarded[identity(output)] = "another output"
                location.check_output()
                local = self._local(directory, f"out{number}", location)
                self.outputs[number] = local
                self._uploads.append((local, location))
        require_space(os.path.dirname(directory), needed)
        for location, local in downloads:
            location.download(local)

    def _local(self, directory: str, folder: str, location: Location) -> str:
        """A path of the same name, since formats and compressions follow from names."""
        folder = os.path.join(directory, folder)
        os.mkdir(folder)
        self._names[folder] = location.name.rpartition("/")[0]
        return os.path.join(folder, location.basename)

    def upload(self) -> None:
        """Uploads the outputs, one after the other."""
        for local, location in self._uploads:
            location.upload(local)

    def __exit__(self, _kind: object, err: BaseException | None, _traceback: object) -> None:
        if self._directory is None:
            return
        shutil.rmtree(self._directory, ignore_errors=True)
        if isinstance(err, OSError) and err.errno == errno.ENOSPC and "TMPDIR" not in str(err):
            err.strerror = f"no space is left in {os.path.dirname(self._directory)}; set TMPDIR to a larger disk"
        if err is not None:
            name_uris(err, self._names)


def _is_same_file(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        # One of them does not exist.
        return False


def require_space(directory: str, needed: int) -> None:
    """Checks that a download fits the disk, before it begins.

    Raises:
        OSError: It does not.
    """
    free = shutil.disk_usage(directory).free
    if needed > free:
        reason = f"the inputs have {needed:,} bytes, and {free:,} are free; set TMPDIR to a larger disk"
        raise OSError(errno.ENOSPC, reason, directory)


def name_uris(err: BaseException, names: dict[str, str]) -> None:
    """Puts the names of a store into an error that names local files; `names` maps directories."""

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            for local, name in names.items():
                value = value.replace(local, name)
        return value

    err.args = tuple(map(renamed, err.args))
    for attribute in ("filename", "path"):
        if isinstance(getattr(err, attribute, None), str):
            setattr(err, attribute, renamed(getattr(err, attribute)))
