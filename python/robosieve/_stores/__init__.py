"""Files of object stores, such as ``s3://bucket/key``: downloaded, and uploaded whole.

``pyarrow.fs`` is the interface to all stores. It has file systems of its own for S3, Google Cloud
Storage, Azure and HDFS, and wraps those of fsspec for others. An object appears complete or not at
all:

- S3, Google Cloud Storage and Azure show an object when its upload is completed, and keep the old
  one until then. s3fs uploads to S3, because pyarrow cannot abort an upload there: after an error,
  it either completes the parts that were sent, or holds the whole file in memory.
- Other file systems show files while they are written. There, the upload goes to a hidden name
  in the directory of the file. The old file is renamed aside, the new one to its place, and the old
  one is deleted. If a step fails, the old file moves back. If the process is killed between the two
  renames, the old file is left under its hidden name, ``.robosieve-*-old-NAME``.
"""

from __future__ import annotations

import errno
import functools
import mmap
import os
import posixpath
import re
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from .._uris import Uri, join, name_of

#: The size of a part, of which an upload holds two in memory. Smaller files are one request.
_PART = 16 << 20
#: S3 takes 10,000 parts, and s3fs may cut the last ones smaller.
_MOST_PARTS = 9_000
#: The file systems of pyarrow whose objects appear when they are complete, and its uploads to them.
_OBJECT_STORES = {"gcs", "abfs"}
#: Exceptions that libraries raise without a number.
_NUMBERS: dict[type[Exception], int] = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES}
_REFUSED = re.compile("ACCESS_DENIED|AccessDenied|Access Denied|Forbidden|credentials|InvalidAccessKeyId|Signature")


@dataclass(frozen=True)
class Location:
    """A file or directory of a store. Its errors name the URI."""

    uri: str
    """As the caller gave it, with options and keys."""
    path: str
    """The path in the file system."""
    fs: Any = field(compare=False, repr=False)
    """The file system of pyarrow."""
    s3fs: Any = field(compare=False, repr=False)
    """The file system of s3fs for uploads to S3; None for other stores, or if it is missing."""

    @property
    def name(self) -> str:
        return name_of(self.uri)

    @property
    def basename(self) -> str:
        return posixpath.basename(self.path)

    def below(self, name: str) -> Location:
        """A file below this directory."""
        return replace(self, uri=join(self.uri, name), path=f"{self.path.rstrip('/')}/{name}")

    def size(self) -> int:
        """The size of the file.

        Raises:
            FileNotFoundError: There is none.
            IsADirectoryError: There are files below it.
        """
        from pyarrow.fs import FileType

        with self._errors():
            info = self._fresh().get_file_info(self.path)
            if info.type == FileType.NotFound:
                raise FileNotFoundError
            if info.type == FileType.Directory:
                raise IsADirectoryError(errno.EISDIR, "it is a directory, or the beginning of several names")
            return int(info.size)

    def exists(self) -> bool:
        """Whether there is a file."""
        try:
            self.size()
        except (FileNotFoundError, IsADirectoryError):
            return False
        return True

    def files(self) -> list[tuple[str, int]]:
        """The paths below this directory, sorted, and the sizes of the files."""
        from pyarrow.fs import FileSelector, FileType

        with self._errors():
            infos = self._fresh().get_file_info(FileSelector(self.path, recursive=True, allow_not_found=True))
        # Some file systems of fsspec put a slash before the path, or leave one out.
        length = len(self.path.strip("/")) + 1
        return sorted((info.path.strip("/")[length:], info.size) for info in infos if info.type == FileType.File)

    def _fresh(self) -> Any:
        """The file system, without the listings that fsspec remembers."""
        remembering = _fsspec_of(self.fs)
        if remembering is not None:
            remembering.invalidate_cache()
        return self.fs

    def open(self) -> Any:
        """The content, as a file that can seek."""
        with self._errors():
            # pyarrow would first ask fsspec whether there is a file, and take a refusal for a no.
            wrapped = _fsspec_of(self.fs)
            return self.fs.open_input_file(self.path) if wrapped is None else wrapped.open(self.path, "rb")

    def head(self, length: int) -> bytes:
        """The first bytes."""
        with self.open() as file, self._errors():
            return bytes(file.read(length))

    def download(self, local: str) -> None:
        """Writes the content to a local file, which is new.

        Raises:
            OSError: It cannot be read, or there is no space. The local file may be incomplete.
        """
        with open(local, "xb", buffering=0) as output:
            self.copy_to(output.fileno())

    def copy_to(self, descriptor: int) -> None:
        """Writes the content to an open file."""
        with self.open() as source:
            while True:
                with self._errors():
                    chunk = source.read(_PART)
                if not chunk:
                    return
                rest = memoryview(chunk)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]

    def upload(self, local: str) -> None:
        """Writes the object, complete or not at all.

        Raises:
            OSError: It was not written.
        """
        with self._errors():
            if self.s3fs is not None:
                _upload_by_s3fs(self.s3fs, local, self.path)
            elif self.fs.type_name in _OBJECT_STORES:
                self._upload_in_one_call(local)
            else:
                self._upload_and_rename(local)

    def _upload_in_one_call(self, local: str) -> None:
        # By default it would compress the bytes for a name that ends in .gz.
        stream = self.fs.open_output_stream(self.path, compression=None)
        if os.path.getsize(local):
            with open(local, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                # Between two calls, an error of this process would leave a stream that completes a
                # part of the file when it is collected.
                stream.write(content)
        stream.close()

    def _upload_and_rename(self, local: str) -> None:
        """Uploads to a hidden name, moves the old object aside, the new one to its place, and deletes
        the old one.

        A move may be a copy and a deletion, and HDFS does not rename over a file. So the old object
        keeps its bytes until the new one is in its place, and moves back if that fails.
        """
        parent, name = posixpath.split(self.path)
        self.fs.create_dir(parent, recursive=True)
        unique = uuid.uuid4().hex
        new = posixpath.join(parent, f".robosieve-{unique}-{name}")
        old = posixpath.join(parent, f".robosieve-{unique}-old-{name}")
        try:
            with open(local, "rb") as file, self.fs.open_output_stream(new, compression=None) as stream:
                shutil.copyfileobj(file, stream, _PART)
            # An upload may end short without an error.
            if self._size_of(new) != os.path.getsize(local):
                raise OSError(errno.EIO, "the uploaded object has another size than the file", self.name)
            old_size = self._move_aside(old)
            try:
                self.fs.move(new, self.path)
            except BaseException as err:
                self._restore(old, old_size, err, is_moved=True)
                raise
        except BaseException:
            with suppress(Exception):
                self.fs.delete_file(new)
            raise
        if old_size is not None:
            try:
                self.fs.delete_file(old)
            except BaseException as err:
                reason = f"the new object is complete, and the old one may be left at {old}; delete it ({err})"
                warnings.warn(f"{self.name}: {reason}", stacklevel=4)
                if not isinstance(err, Exception):
                    raise

    def _size_of(self, path: str) -> int | None:
        """The size of a file in this file system; None if there is none."""
        from pyarrow.fs import FileType

        info = self._fresh().get_file_info(path)
        if info.type == FileType.Directory:
            raise IsADirectoryError(errno.EISDIR, "it is a directory; name a file in it", self.name)
        return None if info.type == FileType.NotFound else int(info.size)

    def _move_aside(self, old: str) -> int | None:
        """Moves the object to the name `old`, and returns its size; None if there is no object."""
        size = self._size_of(self.path)
        if size is None:
            return None
        try:
            self.fs.move(self.path, old)
        except BaseException as err:
            self._restore(old, size, err, is_moved=False)
            raise
        return size

    def _restore(self, old: str, size: int | None, cause: BaseException, is_moved: bool) -> None:
        """Brings the old object back to its place after a move that failed. It had this size; None if there
        was none. `is_moved`: it was moved aside, so its place may hold a part of the new object.

        A failed move may have done nothing, a part, or all of its work. Nothing is deleted unless all bytes
        of the old object are elsewhere.
        """
        try:
            if size is None:
                if self._size_of(self.path) is not None:
                    self.fs.delete_file(self.path)
            elif not is_moved and self._size_of(self.path) == size:
                # A move by copying may have copied it.
                if self._size_of(old) is not None:
                    self.fs.delete_file(old)
            elif self._size_of(old) == size:
                if self._size_of(self.path) is not None:
                    self.fs.delete_file(self.path)
                self.fs.move(old, self.path)
        except BaseException as err:
            if size is None:
                rest = f"delete the part of the object that may be left ({err})"
            else:
                rest = f"the old object could not be brought back ({err}): it is at its place, or at {old}"
            reason = f"the upload failed ({cause}); {rest}"
            raise OSError(errno.EIO, reason, self.name) from cause

    def upload_empty(self) -> None:
        with tempfile.NamedTemporaryFile(prefix="robosieve-") as file:
            self.upload(file.name)

    def delete(self) -> None:
        """Deletes the file, if there is one."""
        with self._errors(), suppress(FileNotFoundError):
            # pyarrow would leave an empty object that stands for the directory in S3.
            (self.fs.delete_file if self.s3fs is None else self.s3fs.rm_file)(self.path)

    def check_output(self) -> None:
        """Checks that the file can be written, before a job of hours does.

        Raises:
            FileNotFoundError: There is no such bucket.
            ImportError: s3fs is missing.
            IsADirectoryError: It has no name.
        """
        from pyarrow.fs import FileType

        if not self.basename:
            raise IsADirectoryError(errno.EISDIR, "it is a directory; name a file in it", self.name)
        if self.fs.type_name == "s3" and self.s3fs is None:
            raise ImportError(
                f"{self.name}: s3fs is missing, which uploads to S3: pip install s3fs; as a filesystem, "
                "give an s3fs.S3FileSystem, since that of pyarrow cannot abort an upload"
            )
        if self.fs.type_name in _OBJECT_STORES or self.s3fs is not None:
            try:
                is_missing = self._fresh().get_file_info(self.path.partition("/")[0]).type == FileType.NotFound
            except OSError:
                # The account may not ask for the bucket, and may still write to it.
                return
            if is_missing:
                raise FileNotFoundError(errno.ENOENT, "there is no such bucket", self.name)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Names the URI in errors of the store. Libraries raise exceptions of their own, too."""
        try:
            yield
        except (ImportError, MemoryError):
            raise
        except Exception as err:
            if isinstance(err, OSError) and err.filename == self.name:
                raise
            number = getattr(err, "errno", None) or _NUMBERS.get(type(err), errno.EIO)
            reason = (err.strerror if isinstance(err, OSError) else None) or str(err) or type(err).__name__
            if number == errno.ENOENT:
                reason = "there is no such object; check the bucket and the name"
            elif _REFUSED.search(reason):
                number = errno.EACCES
                reason = f"the store refuses access; check its credentials and permissions ({reason})"
            raise OSError(number, reason, self.name) from err


def _upload_by_s3fs(s3: Any, local: str, path: str) -> None:
    size = os.path.getsize(local)
    if size <= _PART:
        with open(local, "rb") as file:
            s3.pipe_file(path, file.read())
        return
    # The public `open` would keep the file for a transaction of the caller.
    output = s3._open(path, "wb", block_size=max(_PART, size // _MOST_PARTS), autocommit=False)
    try:
        with open(local, "rb") as file:
            shutil.copyfileobj(file, output, _PART)
        output.close()
        output.commit()
    except BaseException:
        with suppress(Exception):
            output.discard()
        # Its finalizer would close it, which uploads the rest.
        output.closed = True
        raise


def locate(uri: str, filesystem: Any = None) -> Location:
    """The file or directory that a URI names.

    Args:
        filesystem: A file system of pyarrow or fsspec that reaches it. By default pyarrow's for the
            URI, or else fsspec's.

    Raises:
        ImportError: The library for the store is missing. The message names it.
        ValueError: A URI that no library understands.
        OSError: The file system cannot be reached.
    """
    parts = Uri.of(uri)
    try:
        import pyarrow.fs  # noqa: F401
    except ImportError:
        raise ImportError(f"{parts.name}: pyarrow is not installed, which reads stores: pip install pyarrow") from None
    if filesystem is not None:
        fs, path = _given(filesystem), f"{parts.host}/{parts.key}"
        if parts.scheme == "hdfs":
            path = f"/{parts.key}"
        elif parts.scheme == "abfs" and parts.user:
            path = f"{parts.user.partition(':')[0]}/{parts.key}"
        return Location(uri, path, fs, _s3fs_of(fs))
    try:
        found = _reached(parts.scheme, parts.root, parts.query, os.getpid())
        if found is not None:
            fs, base, s3 = found
            return Location(uri, f"{base.rstrip('/')}/{parts.key}" if base else parts.key, fs, s3)
        fs, path = _by_fsspec(uri, parts.scheme)
        return Location(uri, path, fs, _s3fs_of(fs))
    except OSError as err:
        raise OSError(err.errno or errno.EIO, err.strerror or str(err), parts.name) from err
    except ValueError as err:
        raise ValueError(f"{parts.name}: {err}") from None


@functools.lru_cache(maxsize=64)
def _reached(scheme: str, root: str, query: str, _process: int) -> tuple[Any, str, Any] | None:
    """pyarrow's file system of a bucket or host, the path of its root, and s3fs for uploads; None for
    a scheme that it does not know. A process has its own, since the threads of a client do not
    survive `fork`."""
    from pyarrow import fs

    options = dict(parse_qsl(query))
    if scheme == "s3":
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if region:
            options.setdefault("region", region)
    try:
        found, base = fs.FileSystem.from_uri(f"{scheme}://{root}/?{urlencode(options)}".rstrip("?"))
    except (ValueError, NotImplementedError) as err:
        if "Unrecognized filesystem type" in str(err) or isinstance(err, NotImplementedError):
            return None
        raise
    return found, base, _s3fs(root, options) if scheme == "s3" else None


def _s3fs(root: str, options: dict[str, str]) -> Any:
    """S3 by s3fs, with the options of a URI for pyarrow; None if it is not installed."""
    try:
        import s3fs
    except ImportError:
        return None
    key, _, secret = root.rpartition("@")[0].partition(":")
    arguments: dict[str, Any] = {"key": key or options.get("access_key"), "secret": secret or options.get("secret_key")}
    endpoint = options.get("endpoint_override")
    if endpoint:
        arguments["endpoint_url"] = endpoint if "://" in endpoint else f"{options.get('scheme', 'https')}://{endpoint}"
    if options.get("region"):
        arguments["client_kwargs"] = {"region_name": options["region"]}
    return s3fs.S3FileSystem(**arguments, skip_instance_cache=True)


def _by_fsspec(uri: str, scheme: str) -> tuple[Any, str]:
    """A file system of fsspec, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        reason = f"pyarrow does not know {scheme}://, and fsspec is not installed: pip install fsspec"
        raise ImportError(reason) from None
    try:
        fs, path = url_to_fs(uri)
    except ValueError:
        raise ValueError(f"neither pyarrow nor fsspec knows {scheme}://") from None
    return _given(fs), str(path)


def _given(filesystem: Any) -> Any:
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    if isinstance(filesystem, FileSystem):
        return filesystem
    if hasattr(filesystem, "protocol") and hasattr(filesystem, "invalidate_cache"):
        return PyFileSystem(FSSpecHandler(filesystem))
    raise TypeError(
        f"filesystem is of type {type(filesystem).__name__}; give a pyarrow.fs.FileSystem, or one of fsspec"
    )


def _fsspec_of(fs: Any) -> Any:
    """The file system of fsspec in one of pyarrow, or None."""
    return getattr(getattr(fs, "handler", None), "fs", None)


def _s3fs_of(fs: Any) -> Any:
    """The file system of s3fs in one of pyarrow, or None."""
    wrapped = _fsspec_of(fs)
    return wrapped if "s3" in getattr(wrapped, "protocol", ()) else None
