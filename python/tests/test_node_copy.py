"""Copies of snapshots on the local disk of a machine: who may have prepared the directory."""

from __future__ import annotations

import multiprocessing
import os
import random
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import robosieve
from robosieve import Snapshot, SnapshotError


@pytest.fixture
def name(snapshot: Snapshot) -> str:
    """The name of the copy without its extension."""
    return f"small-{snapshot.checksum}"


def test_node_copy_is_named_by_content(small: Path, tmp_path: Path, snapshot: Snapshot) -> None:
    directory = tmp_path / "new" / "directory"
    path = robosieve.node_copy(small, directory)
    assert Path(path) == directory / f"small-{snapshot.checksum}.rsieve"
    assert Path(path).read_bytes() == small.read_bytes()
    assert not list(directory.glob("*.part"))
    # A second call copies nothing.
    before = os.stat(path)
    assert robosieve.node_copy(str(small), str(directory)) == path
    after = os.stat(path)
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def _copy(arguments: tuple[Path, Path]) -> tuple[str, int]:
    path = robosieve.node_copy(*arguments)
    return path, os.stat(path).st_ino


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_node_copy_in_several_processes(small: Path, tmp_path: Path, method: str) -> None:
    with multiprocessing.get_context(method).Pool(4) as pool:
        results = pool.map(_copy, [(small, tmp_path / "copy")] * 16, chunksize=1)
    assert len(set(results)) == 1
    assert Path(results[0][0]).read_bytes() == small.read_bytes()


def test_node_copy_waits_for_the_lock(small: Path, tmp_path: Path, snapshot: Snapshot) -> None:
    fcntl = pytest.importorskip("fcntl")
    name = f"small-{snapshot.checksum}"
    (tmp_path / f"{name}.part").write_bytes(b"left by a killed process")
    with open(tmp_path / f"{name}.lock", "w") as lock, ThreadPoolExecutor(1) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copying = pool.submit(robosieve.node_copy, small, tmp_path)
        with pytest.raises(TimeoutError):
            copying.result(timeout=0.3)
        fcntl.flock(lock, fcntl.LOCK_UN)
        path = copying.result(timeout=30)
    assert Path(path).read_bytes() == small.read_bytes()
    assert not (tmp_path / f"{name}.part").exists()


def test_node_copy_of_a_damaged_snapshot(small: Path, tmp_path: Path) -> None:
    data = bytearray(small.read_bytes())
    chance = random.Random(5)
    # Zeros may be padding, which no checksum covers.
    places = [at for at in range(4096, len(data)) if data[at]]
    for turn in range(10):
        damaged = bytearray(data)
        damaged[chance.choice(places)] ^= 1
        source, directory = tmp_path / f"web{turn}.rsieve", tmp_path / f"copy{turn}"
        source.write_bytes(damaged)
        with pytest.raises(SnapshotError, match=str(source)) as caught:
            robosieve.node_copy(source, directory)
        assert os.fspath(caught.value.path) == str(source)
        # Nothing that a later call could take for the copy is left.
        assert not [*directory.glob("*.rsieve"), *directory.glob("*.part")]
    with pytest.raises(SnapshotError, match="missing.rsieve"):
        robosieve.node_copy(tmp_path / "missing.rsieve", tmp_path)


def test_node_copy_to_an_unusable_directory(small: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for directory in [file, file / "below", Path("/proc/robosieve")]:
        with pytest.raises(OSError) as caught:
            robosieve.node_copy(small, directory)
        assert caught.value.errno and str(directory) in str(caught.value.filename)


def test_node_copy_to_a_read_only_directory(small: Path, tmp_path: Path) -> None:
    directory = tmp_path / "read only"
    directory.mkdir(mode=0o500)
    if os.access(directory, os.W_OK):
        pytest.skip("this user may write to every directory")
    with pytest.raises(PermissionError, match="read only"):
        robosieve.node_copy(small, directory)


# Directories and files that others have prepared.


def flip(path: Path, at: int) -> None:
    """Flips a bit in place, and restores the time of the last change of the content."""
    status = path.stat()
    with open(path, "r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_planted_copy_with_the_right_header_is_replaced(small: Path, tmp_path: Path, name: str) -> None:
    planted = tmp_path / f"{name}.rsieve"
    planted.write_bytes(small.read_bytes())
    flip(planted, small.stat().st_size - 200)
    assert Snapshot(planted, verify=False).checksum == Snapshot(small).checksum
    assert Path(robosieve.node_copy(small, tmp_path)).read_bytes() == small.read_bytes()


def test_a_planted_copy_that_is_right_is_verified_and_used(small: Path, tmp_path: Path, name: str) -> None:
    planted = tmp_path / f"{name}.rsieve"
    planted.write_bytes(small.read_bytes())
    inode = planted.stat().st_ino
    assert Path(robosieve.node_copy(small, tmp_path)).stat().st_ino == inode
    assert (tmp_path / f"{name}.verified").exists()


def test_a_copy_that_was_changed_is_replaced(small: Path, tmp_path: Path, name: str) -> None:
    copy = Path(robosieve.node_copy(small, tmp_path))
    for turn in range(3):
        # The last change of the inode shows it, though size, inode and time are the same.
        time.sleep(0.02)
        flip(copy, small.stat().st_size - 200 - turn)
        assert robosieve.node_copy(small, tmp_path) == str(copy)
        assert copy.read_bytes() == small.read_bytes()


def test_a_copy_is_verified_once(small: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from robosieve import _node_copy

    robosieve.node_copy(small, tmp_path)
    monkeypatch.setattr(_node_copy, "_is_intact", lambda *_: pytest.fail("verified again"))
    robosieve.node_copy(small, tmp_path)
    (tmp_path / f"{name}.verified").write_text("1 2 3 4\n")
    with pytest.raises(pytest.fail.Exception, match="verified again"):
        robosieve.node_copy(small, tmp_path)


@pytest.mark.parametrize("extension", ["part", "rsieve", "verified", "lock"])
def test_planted_links_are_not_followed(small: Path, tmp_path: Path, name: str, extension: str) -> None:
    victim, directory = tmp_path / "victim", tmp_path / "copies"
    victim.write_text("precious")
    directory.mkdir(mode=0o700)
    (directory / f"{name}.{extension}").symlink_to(victim)
    if extension == "lock":
        with pytest.raises(OSError, match="a symbolic link in place of the lock file; remove it") as caught:
            robosieve.node_copy(small, directory)
        assert caught.value.filename == str(directory / f"{name}.lock")
    else:
        copy = Path(robosieve.node_copy(small, directory))
        assert copy.read_bytes() == small.read_bytes() and not copy.is_symlink()
        assert robosieve.node_copy(small, directory) == str(copy)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("mode", [0o1777, 0o777, 0o775, 0o2770])
def test_directories_that_others_can_write_to_get_a_subdirectory(
    small: Path, tmp_path: Path, name: str, mode: int
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    # Files that others put there are not used.
    (shared / f"{name}.rsieve").write_bytes(b"planted")
    copy = Path(robosieve.node_copy(small, shared))
    assert copy == shared / f"robosieve-{os.geteuid()}" / f"{name}.rsieve"
    assert stat.S_IMODE(copy.parent.stat().st_mode) & 0o777 == 0o700
    assert copy.read_bytes() == small.read_bytes()
    assert robosieve.node_copy(small, shared) == str(copy)


def test_created_directories_are_for_this_user_alone(small: Path, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        copy = Path(robosieve.node_copy(small, tmp_path / "copies"))
    finally:
        os.umask(old)
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert all(not path.stat().st_mode & 0o022 for path in copy.parent.iterdir())


@pytest.mark.parametrize("planted", ["open directory", "link", "file"])
def test_a_planted_subdirectory_is_refused(small: Path, tmp_path: Path, planted: str) -> None:
    shared, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    shared.mkdir()
    shared.chmod(0o1777)
    elsewhere.mkdir(mode=0o700)
    own = shared / f"robosieve-{os.geteuid()}"
    if planted == "link":
        own.symlink_to(elsewhere)
    elif planted == "file":
        own.touch(mode=0o700)
    else:
        own.mkdir()
        own.chmod(0o777)
    with pytest.raises(PermissionError, match="not a directory of user .* alone .*; remove it, or give") as caught:
        robosieve.node_copy(small, shared)
    assert caught.value.filename == str(own)
    assert not list(elsewhere.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_files_of_another_user_are_not_trusted(small: Path, tmp_path: Path, name: str) -> None:
    # A directory of theirs, even if all may write to it, and a link of theirs to one of ours.
    theirs, link = tmp_path / "theirs", tmp_path / "link"
    theirs.mkdir()
    theirs.chmod(0o1777)
    link.symlink_to(tmp_path)
    for path in (theirs, link):
        os.chown(path, 12345, -1, follow_symlinks=False)
        with pytest.raises(PermissionError, match="belongs to user 12345, who could replace the copy; give a dir"):
            robosieve.node_copy(small, path)
        assert not list(theirs.iterdir())
    # A subdirectory with our name that is theirs.
    own = tmp_path / "shared" / "robosieve-0"
    own.mkdir(parents=True, mode=0o700)
    own.parent.chmod(0o1777)
    os.chown(own, 12345, -1)
    with pytest.raises(PermissionError, match="owner 12345"):
        robosieve.node_copy(small, own.parent)
    # Their copy in our directory is replaced, and their lock is refused.
    planted = tmp_path / f"{name}.rsieve"
    planted.write_bytes(small.read_bytes())
    os.chown(planted, 12345, -1)
    assert Path(robosieve.node_copy(small, tmp_path)).stat().st_uid == 0
    os.chown(tmp_path / f"{name}.lock", 12345, -1)
    planted.unlink()
    with pytest.raises(PermissionError, match="not a file of this user alone"):
        robosieve.node_copy(small, tmp_path)


def test_links_of_this_user_to_a_directory_are_followed(small: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    assert Path(robosieve.node_copy(small, tmp_path / "link")).resolve().parent == tmp_path / "disk"


#: Copies slowly: the pipe of standard input ends the copy.
HOLDER = """
import sys, robosieve
from robosieve import _node_copy
copy = _node_copy._copy
def slowly(*arguments):
    print("locked", flush=True)
    sys.stdin.read()
    copy(*arguments)
_node_copy._copy = slowly
print(robosieve.node_copy(*sys.argv[1:]))
"""


def holder(small: Path, directory: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until its standard input is closed."""
    command = [sys.executable, "-c", HOLDER, small, directory]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "locked\n"
    return process


def test_a_held_lock_names_its_holder_after_the_time_limit(small: Path, tmp_path: Path) -> None:
    process = holder(small, tmp_path)
    start = time.monotonic()
    message = rf"waited 0.3 s for the process that copies the snapshot: pid {process.pid} on host \S+ since 2\d{{3}}-"
    with pytest.raises(TimeoutError, match=message) as caught:
        robosieve.node_copy(small, tmp_path, timeout=0.3)
    assert 0.3 <= time.monotonic() - start < 5 and str(caught.value.filename).endswith(".lock")
    process.communicate("")
    assert process.returncode == 0
    assert Path(robosieve.node_copy(small, tmp_path, timeout=0)).read_bytes() == small.read_bytes()


def test_a_killed_process_leaves_nothing_that_matters(small: Path, tmp_path: Path, name: str) -> None:
    process = holder(small, tmp_path)
    (tmp_path / f"{name}.abcdefgh.part").write_bytes(b"half a copy")
    process.kill()
    process.communicate()
    assert Path(robosieve.node_copy(small, tmp_path, timeout=5)).read_bytes() == small.read_bytes()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".lock", ".rsieve", ".verified"]
    # The lock is free, so it names nobody.
    assert (tmp_path / f"{name}.lock").read_bytes() == b""


def test_ctrl_c_ends_the_wait(small: Path, tmp_path: Path, interrupt_after: Callable[[float], None]) -> None:
    process = holder(small, tmp_path)
    interrupt_after(0.3)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        robosieve.node_copy(small, tmp_path)
    assert time.monotonic() - start < 10
    process.communicate("")
