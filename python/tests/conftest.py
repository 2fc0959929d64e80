"""Fixtures that all tests share: the small data set, compiled."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import robosieve

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "datasets" / "small"


@pytest.fixture(scope="session", autouse=True)
def signals_are_not_ignored() -> None:
    """A script in the background ignores Ctrl-C, and one under `nohup` the end of its terminal. So would
    the programs that the tests start in it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def program() -> Path:
    """The command-line program: the variable ROBOSIEVE, or the release build."""
    if given := os.environ.get("ROBOSIEVE"):
        assert Path(given).is_file(), f"ROBOSIEVE={given} does not exist"
        return Path(given).absolute()
    path = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "robosieve"
    if not path.is_file():
        pytest.skip(f"{path} does not exist; build it with cargo build --release, or set ROBOSIEVE")
    return path


@pytest.fixture(scope="session")
def small(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of `datasets/small`: 48 origins."""
    path = tmp_path_factory.mktemp("small") / "small.rsieve"
    archives = [SMALL / "robots.warc", SMALL / "more.jsonl"]
    subprocess.run([program, "compile", "--quiet", "-o", path, *archives], check=True)
    return path


@pytest.fixture(scope="session")
def snapshot(small: Path) -> robosieve.Snapshot:
    """The snapshot of `datasets/small`, open."""
    return robosieve.Snapshot(small)


@pytest.fixture(scope="session")
def lines() -> list[bytes]:
    """The 381 lines of `datasets/small/urls.txt`: URLs, and some lines that are none."""
    return (SMALL / "urls.txt").read_bytes().split(b"\n")[:-1]


@pytest.fixture(scope="session")
def urls(lines: list[bytes]) -> list[str]:
    """The lines that are UTF-8."""
    return [line.decode() for line in lines if _is_utf8(line)]


@pytest.fixture
def interrupt_after() -> Iterator[Callable[[float], None]]:
    """Sends this process SIGINT after a number of seconds."""
    threads = []

    def start(seconds: float) -> None:
        thread = threading.Thread(target=lambda: (time.sleep(seconds), os.kill(os.getpid(), signal.SIGINT)))
        threads.append(thread)
        thread.start()

    yield start
    for thread in threads:
        thread.join()


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
