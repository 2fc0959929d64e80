"""Names of local files and of files of object stores."""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass

_URI = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+://")
#: A URI, or one whose slashes `pathlib` has joined.
_LIKE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
#: Other names of a scheme. Hadoop has its own for S3.
_ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs"}


def is_uri(path: object) -> bool:
    """Whether this names a file of a store, and not a local one."""
    return isinstance(path, str) and _URI.match(path) is not None


def absolute(path: str | os.PathLike[str]) -> str:
    """The absolute path of a local file, or the URI of one in a store.

    Raises:
        ValueError: A URI that is not that of a store, such as ``file:///x``, or one that `pathlib` has
            made a path of.
    """
    text = os.fspath(path)
    if is_uri(text):
        return text
    if _LIKE_URI.match(text) and not os.path.exists(text):
        if text.startswith("file:"):
            raise ValueError(f"{text}: write the path alone: /{text.removeprefix('file:').lstrip('/')}")
        scheme, _, rest = text.partition(":")
        raise ValueError(f"{text}: no URI has a single slash; write it as a str: {scheme}://{rest.lstrip('/')}")
    return os.path.abspath(text)


def is_visible(name: str) -> bool:
    """Whether a path below a directory of data is that of data, as Spark decides it by its parts.

    A part that begins with ``.`` or ``_`` is a marker (``_SUCCESS``), or holds files of failed tasks
    (``_temporary``). With a ``=`` it is a partition (``_lang=de``). ``hdfs dfs -put`` has not
    completed a file that ends in ``._COPYING_``.
    """
    return not any(
        part.startswith(".") or (part.startswith("_") and "=" not in part) or part.endswith("._COPYING_")
        for part in name.split("/")
    )


@dataclass(frozen=True)
class Uri:
    """The parts of a URI."""

    scheme: str
    user: str
    host: str
    """The host or bucket."""
    key: str
    query: str
    """The options of pyarrow."""

    @classmethod
    def of(cls, uri: str) -> Uri:
        scheme, rest = uri.split("://", 1)
        rest, _, query = rest.partition("?")
        root, _, key = rest.partition("/")
        user, _, host = root.rpartition("@")
        scheme = scheme.lower()
        return cls(_ALIASES.get(scheme, scheme), user, host, key, query)

    @property
    def root(self) -> str:
        return f"{self.user}@{self.host}" if self.user else self.host

    @property
    def name(self) -> str:
        user, colon, _ = self.user.partition(":")
        hidden = f"{user}:***@" if colon else f"{user}@" if user else ""
        return f"{self.scheme}://{hidden}{self.host}/{self.key}"


def name_of(path: str) -> str:
    """A path or URI for messages: without options and secret keys."""
    return Uri.of(path).name if is_uri(path) else path


def identity(uri: str) -> str:
    """A text that all names of a file share. Some stores have several files for one, since this
    reads ``a//b`` as ``a/b``, and sees neither accounts nor endpoints: it guards inputs."""
    parts = Uri.of(uri)
    # The user of Azure's URIs is the container. HDFS has many names for one host.
    user = parts.user.partition(":")[0] if parts.scheme == "abfs" else ""
    host = "" if parts.scheme == "hdfs" else parts.host
    return f"{parts.scheme}://{posixpath.normpath(f'{user}/{host}/{parts.key}').strip('/')}"


def join(directory: str, name: str) -> str:
    """The path or URI of a file below a directory."""
    if not is_uri(directory):
        return os.path.join(directory, name)
    uri, mark, query = directory.partition("?")
    return f"{uri.rstrip('/')}/{name}{mark}{query}"
