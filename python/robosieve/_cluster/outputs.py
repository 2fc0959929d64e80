"""Where the outputs of a run appear: directories of mounted file systems and of stores."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from .._staging import Staging
from .._stores import Location, locate
from .._uris import is_uri, join, name_of
from .paths import InputFile


def new_run() -> str:
    """A name for the hidden directories of a run."""
    return f".robosieve-{uuid.uuid4().hex}"


def output_directory(path: str, run: str) -> OutputDirectory:
    return StoreDirectory(path, run) if is_uri(path) else LocalDirectory.of(path, run)


@dataclass(frozen=True)
class Attempt:
    """An output of one attempt of a task."""

    path: str
    """A local path; its extension is that of the output."""
    publish: Callable[[], None]
    """Makes the output visible, if the run has not ended."""


class OutputDirectory(Protocol):
    """Where the outputs of a run appear."""

    @property
    def path(self) -> str: ...

    def start(self, files: list[InputFile]) -> None:
        """Starts a run, which is incomplete until it succeeds."""

    def attempt(self, name: str) -> AbstractContextManager[Attempt]:
        """A new attempt to write a file of this name."""

    def succeed(self) -> None:
        """Marks the run as complete."""

    def remove_staging(self) -> None:
        """Ends the run: no attempt can publish any more."""


@dataclass(frozen=True)
class StoreDirectory:
    """A directory of a store."""

    path: str
    run: str

    def _locate(self, name: str) -> Location:
        return locate(join(self.path, name))

    def start(self, files: list[InputFile]) -> None:
        # A rerun is incomplete until it ends, even if it only adds files.
        self._locate("_SUCCESS").delete()
        self._locate(self.run).upload_empty()

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        with Staging([], [join(self.path, name)]) as staging:

            def publish() -> None:
                if not self._locate(self.run).exists():
                    raise FileNotFoundError(2, "the run has ended, so nothing is uploaded", name_of(self.path))
                staging.upload()

            yield Attempt(str(staging.outputs[0]), publish)

    def succeed(self) -> None:
        self._locate("_SUCCESS").upload_empty()

    def remove_staging(self) -> None:
        self._locate(self.run).delete()


@dataclass(frozen=True)
class LocalDirectory:
    """A directory of a mounted file system."""

    path: str
    staging: str

    @classmethod
    def of(cls, path: str, run: str) -> LocalDirectory:
        return cls(path, os.path.join(path, run))

    def start(self, files: list[InputFile]) -> None:
        for name in {os.path.dirname(file.name) for file in files}:
            os.makedirs(os.path.join(self.path, name), exist_ok=True)
        # A rerun is incomplete until it ends, even if it only adds files.
        try:
            os.remove(self._success())
        except FileNotFoundError:
            pass
        os.mkdir(self.staging)

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        try:
            directory = tempfile.mkdtemp(dir=self.staging)
        except FileNotFoundError as err:
            reason = "not on this node, or the run has ended; mount the output's file system on all nodes"
            raise FileNotFoundError(2, reason, self.path) from err
        try:
            path = os.path.join(directory, os.path.basename(name))
            yield Attempt(path, functools.partial(os.replace, path, os.path.join(self.path, name)))
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def succeed(self) -> None:
        with open(self._success(), "wb"):
            pass

    def _success(self) -> str:
        return os.path.join(self.path, "_SUCCESS")

    def remove_staging(self) -> None:
        # After the rename, an orphaned task can neither create a file there nor rename one.
        removed = self.staging + "-removed"
        try:
            os.rename(self.staging, removed)
        except FileNotFoundError:
            return
        shutil.rmtree(removed, ignore_errors=True)
