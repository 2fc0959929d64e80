"""Input files, the outputs named after them, and the checks that make a run safe to start."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from .. import _native
from .._native import RobosieveError
from .._options import Path
from .._stores import locate
from .._tables import refuse_stored_tables, refuse_tables
from .._uris import identity, is_uri, is_visible, join, name_of

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


@dataclass(frozen=True)
class InputFile:
    """A file to process."""

    path: str
    """Its absolute path or URI."""
    name: str
    """The path of its outputs below their directories."""
    size: int


@dataclass(frozen=True)
class Inputs:
    """The files that the caller's paths stand for, and the directories that were named."""

    files: list[InputFile]
    directories: list[str]

    def as_outputs(self, output_name: Callable[[str], str]) -> Inputs:
        """The same files, with the names of their outputs."""
        files = [replace(file, name=output_name(file.name)) for file in self.files]
        return Inputs(files, self.directories)


def full_path(path: Path) -> str:
    """The absolute path of a file or directory, or its URI.

    Raises:
        ValueError: It is a URL that no store has.
    """
    text = os.fsdecode(path)
    return text if is_uri(text) else local_path(text)


def local_path(path: Path) -> str:
    """The absolute path of a file or directory.

    Raises:
        ValueError: It is a URL: the file must be on a mounted file system.
    """
    text = os.fsdecode(path)
    if not _REMOTE.match(text) or os.path.exists(text):
        return os.path.abspath(text)
    if text.startswith("file:"):
        raise ValueError(f"{text}: write the path alone: /{text.removeprefix('file:').lstrip('/')}")
    raise ValueError(
        f"{text}: not a path of a mounted file system; mount the storage on all nodes, or read it with the engine: "
        "robosieve.spark.with_verdicts takes all that Spark reads, and robosieve.ray.with_verdicts all that Ray reads"
    )


def find_inputs(paths: Path | Sequence[Path]) -> Inputs:
    """The files of files, directories and globs.

    A file of a directory or glob keeps its path below the directory, or below the fixed part of the
    pattern, so that partitions (``year=2026/``) stay. As in Spark, directories are read with their
    subdirectories, and names that begin with ``.`` or ``_`` are skipped, but for partitions
    (``_year=2026/``).

    Raises:
        FileNotFoundError: A path, directory or glob without files.
        RobosieveError: A directory or glob of files of a Delta Lake, Iceberg or Hudi table.
        ValueError: No path, or a URL.
    """
    named = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not named:
        raise ValueError("no input; name files, directories or globs")
    files: list[InputFile] = []
    directories = []
    for path in map(full_path, named):
        if is_uri(path):
            stored, is_directory = _find_stored(path)
            files += stored
            directories += [path] if is_directory else []
            continue
        if os.path.isdir(path):
            directories.append(path)
            found = sorted(_files_below(path))
            root = path
            refuse_tables([path, *map(os.path.dirname, found)])
        elif os.path.exists(path):
            found, root = [path], os.path.dirname(path)
        elif glob.has_magic(path):
            found, root = _matches(path), _fixed_part(path)
            refuse_tables(map(os.path.dirname, found))
        else:
            raise FileNotFoundError(2, "no file has this name; the driver must mount the file system too", path)
        if not found:
            raise FileNotFoundError(2, "no file is there (names that begin with . or _ are skipped)", path)
        files += [InputFile(file, os.path.relpath(file, root), os.path.getsize(file)) for file in found]
    return Inputs(files, directories)


def _find_stored(uri: str) -> tuple[list[InputFile], bool]:
    """The files of a file, directory or glob of a store, and whether it is a directory."""
    address, mark, options = uri.partition("?")
    wildcard = re.search(r"[*[]", address)
    if wildcard is None:
        root, pattern = locate(uri), ["**"]
        try:
            return [InputFile(uri, root.basename, root.size())], False
        except IsADirectoryError:
            pass
    else:
        fixed = address[: wildcard.start()].rpartition("/")[0]
        if not is_uri(fixed):
            raise ValueError(f"{name_of(uri)}: a wildcard stands for names in a bucket, not for buckets")
        root, pattern = locate(f"{fixed}{mark}{options}"), address[len(fixed) + 1 :].split("/")
    listed = root.files()
    found = [
        InputFile(root.below(name).uri, name, size)
        for name, size in listed
        if is_visible(name) and _is_matched(name.split("/"), pattern)
    ]
    refuse_stored_tables(root, [name for name, _ in listed], [file.name for file in found])
    if not found:
        raise FileNotFoundError(2, "no file is there (names that begin with . or _ are skipped)", name_of(uri))
    return found, wildcard is None


def _is_matched(path: list[str], pattern: list[str]) -> bool:
    """Whether a glob matches a path, or a directory above it, part by part."""
    if not pattern:
        return True
    first, *rest = pattern
    if first == "**":
        return any(_is_matched(path[skipped:], rest) for skipped in range(len(path) + 1))
    if pattern == [""]:
        # A slash at the end: directories alone.
        return bool(path)
    return bool(path) and fnmatchcase(path[0], first) and _is_matched(path[1:], rest)


def _files_below(directory: str) -> Iterator[str]:
    seen = set()
    for parent, subdirectories, names in os.walk(directory, followlinks=True, onerror=_raise):
        if _identity(parent) in seen:
            # A link to a directory above would repeat its files without end.
            subdirectories.clear()
            continue
        seen.add(_identity(parent))
        subdirectories[:] = filter(is_visible, subdirectories)
        yield from (os.path.join(parent, name) for name in filter(is_visible, names))


def _raise(err: OSError) -> None:
    raise err


def _matches(pattern: str) -> list[str]:
    """The files that a glob matches, with those of the directories that it matches."""
    found: set[str] = set()
    root = _fixed_part(pattern)
    for path in glob.iglob(pattern, recursive=True):
        if not all(map(is_visible, os.path.relpath(path, root).split(os.sep))) and path != root + os.sep:
            continue
        found.update(_files_below(path) if os.path.isdir(path) else [path])
    return sorted(found)


def _fixed_part(pattern: str) -> str:
    """The directory before the first wildcard."""
    while glob.has_magic(pattern):
        pattern = os.path.dirname(pattern)
    return pattern


def check_outputs(inputs: Inputs, directories: list[str], snapshot: str, overwrite: bool) -> None:
    """Checks the outputs of a run before anything is created.

    Raises:
        FileExistsError: An output exists, and ``overwrite`` is false.
        FileNotFoundError, ImportError: A bucket, or the library that writes to it, is missing.
        RobosieveError: An output would overwrite an input or the snapshot, or an output directory
            is one of the inputs.
        ValueError: Two inputs, or two output directories, give one output.
    """
    for directory in directories:
        for source in inputs.directories:
            if _is_below(directory, source):
                raise RobosieveError(
                    f"{name_of(directory)}: the outputs would be among the inputs of {name_of(source)}; "
                    "give another directory"
                )
    _check_names(inputs, directories)
    guarded = {_identity(file.path): file.path for file in inputs.files} | {_identity(snapshot): snapshot}
    for directory in directories:
        existing = _existing(directory, inputs)
        for file in inputs.files:
            if file.name not in existing:
                continue
            output = join(directory, file.name)
            overwritten = guarded.get(_identity(output))
            if overwritten is not None:
                raise RobosieveError(
                    f"{name_of(output)}: would overwrite {name_of(overwritten)}; give another directory"
                )
            if not overwrite or os.path.isdir(output):
                reason = "this output exists; give an empty directory, or overwrite=True"
                raise FileExistsError(17, reason, name_of(output))


def _existing(directory: str, inputs: Inputs) -> set[str]:
    """The names of the outputs that exist."""
    if is_uri(directory):
        location = locate(directory)
        location.below("_SUCCESS").check_output()
        # One list, because a request per file takes long.
        return {name for name, _ in location.files()}
    return {file.name for file in inputs.files if os.path.lexists(os.path.join(directory, file.name))}


def _check_names(inputs: Inputs, directories: list[str]) -> None:
    sources: dict[str, str] = {}
    for file in inputs.files:
        for directory in directories:
            output = os.path.join(_real(directory), file.name)
            other = sources.setdefault(output, file.path)
            if other != file.path:
                raise ValueError(
                    f"{name_of(other)} and {name_of(file.path)} would have one output, {output}; name the directory "
                    "above both, or give each a run of its own"
                )
    if len(sources) < len(inputs.files) * len(directories):
        raise ValueError("an input is named twice, or two outputs share a directory; name each once")
    for output, path in sources.items():
        parent = os.path.dirname(output)
        if parent in sources:
            raise ValueError(
                f"{name_of(sources[parent])} and {name_of(path)}: the output of one would be a directory of the other"
            )


def _is_below(path: str, directory: str) -> bool:
    path, directory = _real(path), _real(directory)
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _real(path: str) -> str:
    """The path without links and aliases."""
    return identity(path) if is_uri(path) else os.path.realpath(path)


def is_same_file(path: str, other: str) -> bool:
    """Whether two paths are names of one file."""
    return _identity(path) == _identity(other)


def _identity(path: str) -> tuple[int, int] | str:
    """A value that two names of one file share."""
    if is_uri(path):
        return identity(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return path
    return status.st_dev, status.st_ino
