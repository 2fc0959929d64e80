"""The command that the package installs does what the command-line program does."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import signal
import subprocess
import sys
import sysconfig
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import robosieve

SMALL = Path(__file__).resolve().parents[2] / "datasets/small"
ARCHIVES = [SMALL / "robots.warc", SMALL / "more.jsonl"]
URLS = SMALL / "urls.txt"

MODULE = [sys.executable, "-m", "robosieve"]
SCRIPT = [str(Path(sysconfig.get_path("scripts")) / "robosieve")]


def run(command: list[object], directory: Path, text: bytes = b"") -> tuple[int, bytes, bytes]:
    """The exit status, standard output and standard error of a command that reads the text."""
    ended = subprocess.run([str(word) for word in command], cwd=directory, input=text, capture_output=True)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("command", [SCRIPT, MODULE], ids=["robosieve", "python -m robosieve"])
def test_command_is_installed(command: list[str], program: Path, tmp_path: Path) -> None:
    for arguments in [["--version"], ["--help"], ["-h"], ["filter", "--help"], ["help", "filter"], []]:
        assert run([*command, *arguments], tmp_path) == run([program, *arguments], tmp_path), arguments


def test_files_have_the_bytes_of_the_program(program: Path, tmp_path: Path) -> None:
    for name, command in [("program", [program]), ("package", MODULE)]:
        run([*command, "compile", "-q", "-o", f"{name}.rsieve", *ARCHIVES], tmp_path)
        judge = ["-q", "-s", f"{name}.rsieve", "-a", "GPTBot,Googlebot"]
        for jobs in ["1", "3"]:
            run([*command, "annotate", *judge, "-j", jobs, "-o", f"{name}.{jobs}", URLS], tmp_path)
        run([*command, "filter", *judge, "-o", f"{name}.parquet", SMALL / "pages.parquet"], tmp_path)
    for suffix in ["rsieve", "1", "3", "parquet"]:
        ours, theirs = (tmp_path / f"{name}.{suffix}" for name in ["package", "program"])
        assert ours.read_bytes() == theirs.read_bytes(), suffix


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "-s", "SMALL", "-a", "GPTBot", "https://shop.example/"], 0),
        (["check", "-s", "SMALL", "-a", "GPTBot", "https://news.example/"], 1),
        (["check", "-s", "SMALL", "-a", "GPTBot", "--explain", "https://news.example/"], 1),
        (["check", "-s", "absent", "-a", "GPTBot", "https://news.example/"], 2),
        (["filter", "-s", "SMALL", "-a", "GPTBot", "-q", "-"], 0),
        (["annotate", "-s", "SMALL", "-a", "GPTBot", "-o", "no-directory/output", "-"], 2),
        (["filter", "-s", "SMALL"], 2),
        (["filtre"], 2),
        (["lint", "-"], 0),
        # An argument that is not UTF-8.
        (["inspect", os.fsdecode(b"caf\xe9.rsieve")], 2),
        (["completions", "bash"], 0),
    ],
    ids=str,
)
def test_answers_errors_and_statuses_are_those_of_the_program(
    arguments: list[str], status: int, program: Path, small: Path, tmp_path: Path
) -> None:
    words = [str(small) if word == "SMALL" else word for word in arguments]
    for text in [b"", URLS.read_bytes()]:
        ours, theirs = (run([*command, *words], tmp_path, text) for command in [MODULE, [program]])
        assert ours == theirs
        assert ours[0] == status or text


def test_closed_pipe_ends_a_run_quietly(small: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.txt"
    many.write_bytes(URLS.read_bytes() * 2000)
    for command in [MODULE, SCRIPT]:
        words = [*command, "annotate", "-q", "-s", str(small), "-a", "GPTBot", str(many)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 0


@pytest.mark.parametrize("command", [SCRIPT, MODULE], ids=["robosieve", "python -m robosieve"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_signals_end_a_run_and_leave_nothing(
    command: list[str], number: signal.Signals, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "old").write_text("as it was")
    words = [*command, "filter", "-s", str(small), "-a", "FooBot", "-o", "old", "--disallowed-to", "new"]
    with begun(words, tmp_path) as process:
        process.send_signal(number)
        assert process.wait(timeout=60) == -number
        # A run on a busy machine may have printed its progress before.
        said = process.stderr.read().decode().splitlines() if process.stderr else []
        assert said[-1:] == [f"robosieve: interrupted by {number.name}: no output file was written or changed"]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old": "as it was"}


def test_ctrl_c_ends_check_as_it_ends_the_program(program: Path, tmp_path: Path) -> None:
    """`check` has no handler of signals, so Python's must not stay."""
    for command in [[str(program)], MODULE]:
        words = [*command, "check", "--robots", "-", "-a", "FooBot", "https://a.example/"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin
            process.stdin.write(b"User-agent: *\n")
            process.stdin.flush()
            pipe = process.stdin.fileno()
            # The command runs when it has read the line, and waits for the next.
            wait_until(lambda: fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == bytes(4))
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == -signal.SIGINT
            assert process.stderr and process.stderr.read() == b""


def test_ignored_interrupt_stays_ignored(small: Path, tmp_path: Path) -> None:
    words = [*MODULE, "filter", "-q", "-s", str(small), "-a", "FooBot", "-o", "new"]
    with begun(["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *words], tmp_path) as process:
        process.send_signal(signal.SIGINT)
        assert process.communicate(b"https://a.example/\n")[1] == b""
        assert process.returncode == 0
    assert (tmp_path / "new").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_files(closed: str, program: Path, small: Path, tmp_path: Path) -> None:
    """An output or input must not get the descriptor of a stream that was closed."""
    results = []
    for name, command in [("program", [str(program)]), ("package", MODULE)]:
        words = [*command, "filter", "-s", str(small), "-a", "GPTBot", "-o", name, str(URLS)]
        ended = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *words], cwd=tmp_path)
        results.append((ended.returncode, (tmp_path / name).read_bytes()))
    assert results[0] == results[1] and results[0][0] == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_closed_standard_streams_are_errors(closed: str, program: Path, small: Path, tmp_path: Path) -> None:
    """The lines of the first would vanish, and the input of the second would be empty."""
    results = []
    for command in [[str(program)], MODULE]:
        words = [*command, "filter", "-q", "-s", str(small), "-a", "GPTBot", "-"]
        run = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
        ended = subprocess.run(run, cwd=tmp_path, input=b"", capture_output=True)
        results.append((ended.returncode, ended.stderr))
    assert results[0] == results[1] and results[0][0] == 2
    assert b"it is closed" in results[0][1]


def test_package_is_light_until_a_public_name_is_used() -> None:
    """The imports of the package would take longer than the command takes to start."""
    script = "import robosieve.__main__, sys; print(*(name for name in sys.modules if name.startswith('robosieve')))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    assert loaded.split() == ["robosieve", "robosieve._native", "robosieve.__main__"]
    script = "from robosieve import *; import robosieve; assert Snapshot is robosieve.Snapshot; print(*dir(robosieve))"
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    assert set(robosieve.__all__) <= set(listed.split())
    with pytest.raises(AttributeError, match="module 'robosieve' has no attribute 'snapshot'"):
        _ = robosieve.snapshot  # type: ignore[attr-defined]
    assert importlib.util.find_spec("robosieve.snapshot") is None


def begun(words: list[str], directory: Path) -> subprocess.Popen[bytes]:
    """A run that has opened its outputs in the directory, and waits for its input."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, cwd=directory, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe)

    def has_output() -> bool:
        assert process.poll() is None, "the run ended before its first write"
        # Not the directory itself, which Python reads to find its modules.
        return any(name.startswith(f"{directory}/") for name in opened_files(process.pid))

    wait_until(has_output)
    return process


def opened_files(process: int) -> Iterator[str]:
    """The files that a process has open. One may be closed meanwhile."""
    for entry in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            yield os.readlink(entry)


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits until a condition holds, for at most 30 seconds."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)
