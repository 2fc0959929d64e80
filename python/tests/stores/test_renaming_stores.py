"""Stores without an atomic upload (HDFS, SFTP and others of fsspec), on which each call fails in turn."""

from __future__ import annotations

import contextlib
import io
import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")

import robosieve  # noqa: E402
from robosieve._stores import Location, locate  # noqa: E402

PLACE = "/bucket/out/kept.txt"
OLD, NEW = b"old " * 300, b"new content " * 200


class Failure(OSError):
    """The failure of a call."""


class FakeStore(fsspec.AbstractFileSystem):
    """Files by path. The call with the number `failing` fails, by `mode`:

    - "before": the call does nothing.
    - "after": the call does all of its work, and the answer is lost.
    - "part": a write or a copy does half of its work.
    - "down": this call and all later ones do nothing.
    - "interrupted": as "before", by Ctrl-C.

    `renames` says whether a move is a rename that refuses to replace a file, as that of HDFS, or a copy
    and a deletion, which fsspec does by itself.
    """

    protocol = "fake"
    cachable = False
    root_marker = "/"

    def __init__(self, renames: bool, failing: int = 0, mode: str = "before") -> None:
        super().__init__()
        self.files: dict[str, bytes] = {PLACE: OLD}
        self.renames, self.failing, self.mode = renames, failing, mode
        self.calls: list[str] = []

    @classmethod
    def _strip_protocol(cls, path: Any) -> str:
        return "/" + str(path).removeprefix("fake://").strip("/")

    def call(self, name: str, work: Callable[[float], Any]) -> Any:
        """Does the work, unless it is this call's turn to fail. `work` takes the part to do of a copy."""
        self.calls.append(name)
        number = len(self.calls)
        if number == self.failing or (self.mode == "down" and 0 < self.failing < number):
            if self.mode == "after":
                with contextlib.suppress(FileNotFoundError):
                    work(1)
            if self.mode == "part" and name in ("write", "copy"):
                work(0.5)
            raise KeyboardInterrupt if self.mode == "interrupted" else Failure(5, f"{name} fails")
        return work(1)

    def put(self, path: str, content: bytes, part: float) -> None:
        self.files[path] = content[: int(len(content) * part)]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        return self.call("info", lambda _: self.found(path))

    def found(self, path: str) -> dict[str, Any]:
        if path in self.files:
            return {"name": path, "size": len(self.files[path]), "type": "file"}
        if any(name.startswith(path.rstrip("/") + "/") for name in self.files):
            return {"name": path, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        found = self.found(self._strip_protocol(path))
        return [found] if detail else [found["name"]]

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.call("makedirs", lambda _: None)

    def rm_file(self, path: str) -> None:
        path = self._strip_protocol(path)
        if path not in self.files:
            raise FileNotFoundError(path)
        self.call("delete", lambda _: self.files.pop(path))

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        for name in [path] if isinstance(path, str) else path:
            self.rm_file(name)

    def copy(self, path1: str, path2: str, **_: Any) -> None:
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        self.call("copy", lambda part: self.put(target, self.files[source], part))

    def mv(self, path1: str, path2: str, **options: Any) -> None:
        if not self.renames:
            super().mv(path1, path2, **options)
            return
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if target in self.files:
            raise FileExistsError(target)
        if source not in self.files:
            raise FileNotFoundError(source)

        def rename(_: float) -> None:
            self.files[target] = self.files.pop(source)

        self.call("rename", rename)

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        path = self._strip_protocol(path)
        if mode == "rb":
            return io.BytesIO(self.files[path])
        store = self

        class Written(io.BytesIO):
            def close(self) -> None:
                if not self.closed:
                    content = self.getvalue()
                    super().close()
                    store.call("write", lambda part: store.put(path, content, part))

        return Written()


def uploaded(store: FakeStore, tmp_path: Path) -> str:
    """Uploads the new file, and returns what errors and warnings say."""
    local = tmp_path / "local"
    local.write_bytes(NEW)
    location: Location = locate("fake://bucket/out/kept.txt", store)
    location = Location(location.uri, PLACE, location.fs, None)
    said = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            location.upload(str(local))
        except (OSError, KeyboardInterrupt) as err:
            said = f"failed: {err}"
    return said + "".join(f"warned: {one.message}" for one in caught)


@pytest.mark.parametrize("has_old", [True, False])
@pytest.mark.parametrize("mode", ["before", "after", "part", "down", "interrupted"])
@pytest.mark.parametrize("renames", [True, False])
def test_a_failing_call_loses_no_object(renames: bool, mode: str, has_old: bool, tmp_path: Path) -> None:
    seen = set()
    for failing in itertools.count(1):
        store = FakeStore(renames, failing, mode)
        if not has_old:
            del store.files[PLACE]
        said = uploaded(store, tmp_path)
        context = f"call {failing} of {store.calls}: {said}, {list(store.files)}"
        if failing > len(store.calls):
            # No call was left to fail.
            assert said == "" and store.files == {PLACE: NEW}, context
            break
        seen.add(store.calls[failing - 1])
        placed = store.files.get(PLACE)
        left = {path: content for path, content in store.files.items() if path != PLACE}
        assert said, context
        if "warned" in said:
            # All is done, but for the deletion of the old object.
            assert placed == NEW and all(path in said for path in left), context
            continue
        if has_old and placed != OLD:
            # A store that fails from then on: the old object is under the name in the message.
            assert mode == "down", context
            assert [content for path, content in left.items() if path in said] == [OLD], context
        if not has_old and placed is not None:
            assert mode == "down" and "delete the part" in said, context
        if mode != "down":
            assert not left, context
    assert {"write", "info"} < seen, seen
    assert (("rename" if renames else "copy") in seen) and (not has_old or "delete" in seen), seen


def test_two_failures_name_the_old_object(tmp_path: Path) -> None:
    """The new object cannot be moved to its place, nor the old one back."""
    store = FakeStore(renames=True)
    calls = []

    def call(name: str, work: Callable[[float], Any]) -> Any:
        calls.append(name)
        if name == "rename" and calls.count("rename") > 1:
            raise Failure(5, "no rename")
        return work(1)

    store.call = call  # type: ignore[method-assign]
    said = uploaded(store, tmp_path)
    assert said.count("no rename") == 2
    [aside] = [path for path in store.files if path in said]
    assert store.files == {aside: OLD}


def test_outputs_of_functions_keep_the_old_object(small: Path, tmp_path: Path) -> None:
    urls = tmp_path / "urls.txt"
    urls.write_text("https://wiki.example/wiki/Tea\n")
    store = FakeStore(renames=True)

    def move_fails(path1: str, path2: str, **_: Any) -> None:
        if store._strip_protocol(path2) == PLACE and not path1.endswith("-old-kept.txt"):
            raise Failure(5, "no rename")
        store.files[store._strip_protocol(path2)] = store.files.pop(store._strip_protocol(path1))

    store.mv = move_fails  # type: ignore[method-assign]
    with pytest.raises(OSError, match="no rename"):
        robosieve.filter(small, urls, "fake://bucket/out/kept.txt", "GPTBot", filesystem=store)
    assert store.files == {PLACE: OLD}
