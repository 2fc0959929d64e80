"""Snapshots: errors, options, pickling, processes, threads, memory and damage."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import random
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, get_args

import pytest

import robosieve
from conftest import ROOT, SMALL
from robosieve import Compiler, RobosieveError, Snapshot, SnapshotError, Verdict
from robosieve._options import JudgeOptions, StatusPolicy

NEWS = "https://news.example/world/"
SHOP = "https://shop.example/products/tea-pot"
MANY = [f"{SHOP}/{row}" if row % 3 else NEWS for row in range(100_000)]
AGENT = "GPTBot"
POLICIES = get_args(StatusPolicy)
POLICY_NAMES = ", ".join(f'"{name}"' for name in POLICIES)


# What a snapshot states.


def test_properties(small: Path, snapshot: Snapshot) -> None:
    assert len(snapshot) == 48 and bool(snapshot)
    assert snapshot.path == str(small)
    assert len(snapshot.checksum) == 16 and int(snapshot.checksum, 16) > 0
    assert repr(snapshot) == f"<robosieve.Snapshot {str(small)!r}: 48 origins>"
    metadata = snapshot.metadata
    assert metadata["profile"] == "google" and metadata["tool"].startswith("robosieve")
    assert metadata["counts"]["origins"] == 48


def test_verdicts_are_an_int_enum(snapshot: Snapshot) -> None:
    assert snapshot.verdict(NEWS, AGENT) is Verdict.DISALLOWED
    assert snapshot.verdict(SHOP, AGENT) is Verdict.ALLOWED
    assert snapshot.verdict(b"https://shop.example/", AGENT) is Verdict.ALLOWED
    assert snapshot.verdict("https://nowhere.example/", AGENT) is Verdict.UNKNOWN
    assert snapshot.verdict("no url", AGENT) is Verdict.INVALID
    assert [int(verdict) for verdict in Verdict] == [0, 1, 2, 3]


def test_verdicts_have_no_truth_value(snapshot: Snapshot) -> None:
    unknown = snapshot.verdict("https://nowhere.example/", AGENT)
    for use in (bool, lambda verdict: not verdict, lambda verdict: [1 for _ in [0] if verdict], lambda v: any([v])):
        for verdict in Verdict:
            with pytest.raises(TypeError, match=r"has no truth value.*use verdict.allowed"):
                use(verdict)
    assert [verdict.allowed for verdict in Verdict] == [False, True, False, False]
    assert not unknown.allowed and snapshot.verdict(SHOP, AGENT).allowed


def test_verdicts_stay_numbers_with_names(snapshot: Snapshot) -> None:
    assert [str(verdict) for verdict in Verdict] == ["DISALLOWED", "ALLOWED", "UNKNOWN", "INVALID"]
    assert f"{Verdict.UNKNOWN} {Verdict.UNKNOWN:d} {Verdict.UNKNOWN!r}" == "UNKNOWN 2 <Verdict.UNKNOWN: 2>"
    assert json.dumps([*Verdict, {Verdict.ALLOWED: 1}]) == '[0, 1, 2, 3, {"1": 1}]'
    assert sorted(Verdict, reverse=True)[0] is Verdict.INVALID and Verdict.ALLOWED == 1 and 2 in set(Verdict)
    assert max(Verdict) > 2 and sum(Verdict) == 6 and list(Verdict).count(1) == 1 and ["no", "yes"][Verdict.ALLOWED]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert all(pickle.loads(pickle.dumps(verdict, protocol)) is verdict for verdict in Verdict)
    assert copy.deepcopy(Verdict.ALLOWED) is Verdict.ALLOWED
    explanation = snapshot.explain(NEWS, AGENT)
    assert explanation == snapshot.explain(NEWS, AGENT) and explanation.verdict is Verdict.DISALLOWED


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_libraries_take_verdicts_as_numbers(library: str) -> None:
    module = pytest.importorskip(library)
    column = (module.Series if library in ("pandas", "polars") else module.array)(list(Verdict))
    assert [int(value) for value in (column.to_pylist() if library == "pyarrow" else column)] == [0, 1, 2, 3]
    assert "int" in str(column.type if library == "pyarrow" else column.dtype).lower()
    if library in ("numpy", "pandas"):
        assert list(column == Verdict.UNKNOWN) == [False, False, True, False]


def test_robots_text(snapshot: Snapshot) -> None:
    text = snapshot.robots_text(NEWS)
    assert isinstance(text, bytes) and b"GPTBot" in text
    assert snapshot.robots_text(NEWS.encode()) == text
    assert snapshot.robots_text("https://nowhere.example/") is None
    assert snapshot.robots_text("no url") is None


def test_bits_of_masks_are_in_the_order_of_agents(snapshot: Snapshot, urls: list[str]) -> None:
    spec = "@ai-train,Googlebot-Image:Googlebot"
    agents = robosieve.agents(spec)
    assert 2 < len(agents) <= 63 and agents[-1] == "Googlebot-Image:Googlebot"
    each = [snapshot.verdicts(urls, agent) for agent in agents]
    for row, mask in enumerate(snapshot.masks(urls, spec)):
        verdicts = {int(verdicts[row]) for verdicts in each}
        if mask is None:
            assert verdicts <= {2, 3}
        else:
            assert [mask >> bit & 1 for bit in range(len(agents))] == [int(verdicts[row]) for verdicts in each]


def test_masks_hold_63_agents(snapshot: Snapshot) -> None:
    agents = [f"Bot{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(64)]
    assert snapshot.masks([SHOP], agents[:63]) == [(1 << 63) - 1]
    with pytest.raises(ValueError, match="64 agents; a mask of int64 holds at most 63"):
        snapshot.masks([SHOP], agents)


# Options.


def test_options_reach_the_judge(snapshot: Snapshot) -> None:
    def of(url: str, **options: Any) -> list[int]:
        batch = snapshot.verdicts([url], AGENT, **options)
        single = snapshot.verdict(url, AGENT, **options)
        mask = snapshot.masks([url], AGENT, **options)
        assert batch == [single] and mask == [None if single > 1 else int(single)]
        return int(single)

    nowhere = "https://nowhere.example/"
    assert [of(nowhere), of(nowhere, unknown="allow"), of(nowhere, unknown="disallow")] == [2, 1, 0]
    assert [of("https://busy.example/"), of("https://busy.example/", status_policy="rfc9309")] == [0, 1]
    assert [of("https://old.example/"), of("https://old.example/", any_scheme=True)] == [2, 1]
    for policy, allowed in {"google-2012": 1, "google-2019": 1, "google-2023": 0, "google-2026": 0}.items():
        assert of("https://busy.example/", status_policy=policy) == allowed
    # In 2026 the failing site is judged by its last good copy; at its first failure it is refused.
    failing = "https://timeout.example/"
    assert of(failing) == 0 and of(failing, at="2027-01-01T00:00:00Z") == 1
    for time in [1798761600, datetime(2027, 1, 1), datetime(2027, 1, 1, tzinfo=timezone.utc), "2027-01-01", "now"]:
        # The site has failed since September 2026, so the thirty days are over now too.
        assert of(failing, at=time) == 1


def test_policies_judge_as_the_table_says() -> None:
    """The rows of failing sites in tests/cases/policies.tsv, which the tests of the command run too."""
    text = (ROOT / "tests/cases/policies.tsv").read_text()
    header, *rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    assert {"google", *header[3:]} == set(POLICIES)
    start, hour = 1_767_225_600, 3600
    compiler = Compiler()
    judged = []
    for number, (answer, has_copy, age, *letters) in enumerate(rows):
        if answer not in ("429", "503", "timeout"):
            continue
        url = f"https://row{number}.example"
        if has_copy == "copy":
            copy = "User-agent: *\nDisallow: /x"
            compiler.add_response(f"{url}/robots.txt", 200, copy, fetched_at=start - 24 * hour)
        if answer == "timeout":
            compiler.add_failure(f"{url}/robots.txt", answer, fetched_at=start)
        else:
            compiler.add_response(f"{url}/robots.txt", int(answer), fetched_at=start)
        # An age is 0, 12h, 30d-1s or 12h+1s.
        time, sign = age.removesuffix("+1s").removesuffix("-1s"), age[-3:-2]
        hours = int(time.rstrip("dh")) * (24 if time.endswith("d") else 1)
        seconds = hours * hour + (0 if sign not in ("+", "-") else int(f"{sign}1"))
        judged.append((url, start + seconds, dict(zip(header[3:], letters, strict=True))))
    snapshot = Snapshot.from_bytes(compiler.to_bytes())
    assert len(judged) == 48
    for url, at, expected in judged:
        for policy, letters in expected.items():
            found = snapshot.verdicts([f"{url}/x", f"{url}/y"], AGENT, status_policy=policy, at=at)
            assert found == [int(letter == "A") for letter in letters], (url, policy, at)
        google = snapshot.verdicts([f"{url}/x", f"{url}/y"], AGENT, status_policy="google", at=at)
        assert google == [int(letter == "A") for letter in expected["google-2023"]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"status_policy": "lax"}, ValueError, f'status_policy="lax"; give one of {POLICY_NAMES}'),
        ({"unknown": "maybe"}, ValueError, 'unknown="maybe"; give one of "allow", "disallow"'),
        ({"agent_match": "x"}, ValueError, 'agent_match="x"; give one of "extended", "google"'),
        ({"at": "soon"}, ValueError, "'soon' is not a time; write it like 2026-10-01 or"),
        ({"at": 1.5}, TypeError, "float: a time is an int"),
    ],
)
def test_bad_options(snapshot: Snapshot, options: dict[str, Any], error: type[Exception], message: str) -> None:
    for call in (
        lambda: snapshot.verdicts([SHOP], AGENT, **options),
        lambda: snapshot.masks([SHOP], AGENT, **options),
        lambda: snapshot.verdict(SHOP, AGENT, **options),
    ):
        with pytest.raises(error, match=message):
            call()


def test_bad_numbers_of_threads(snapshot: Snapshot) -> None:
    for threads in (0, -2, -(1 << 40)):
        message = f"threads={threads}; give at least 1, -1 for all cores, or None for the default"
        with pytest.raises(ValueError, match=message):
            snapshot.verdicts([SHOP], AGENT, threads=threads)
        with pytest.raises(ValueError, match=message):
            robosieve.Compiler(threads=threads)
    for other in (1.5, "2", [1]):
        with pytest.raises(TypeError, match="threads is of type .*; give a whole number"):
            snapshot.verdicts([SHOP], AGENT, threads=other)  # type: ignore[arg-type]
    # All cores, as joblib has it.
    assert snapshot.verdicts(MANY, AGENT, threads=-1) == snapshot.verdicts(MANY, AGENT, threads=1)
    # More than the system has are no error.
    assert snapshot.verdicts(MANY, AGENT, threads=1 << 40) == snapshot.verdicts(MANY, AGENT, threads=1)


def test_bad_agents(snapshot: Snapshot) -> None:
    for agent in ["", " ", "GPTBot:", ":GPTBot", "@nosuchset"]:
        with pytest.raises(ValueError):
            snapshot.verdicts([SHOP], agent)
        with pytest.raises(ValueError):
            snapshot.verdict(SHOP, agent)
    with pytest.raises(ValueError, match='agent="@ai" names [0-9]+ agents; give verdicts.. a list'):
        snapshot.verdicts([SHOP], "@ai")
    with pytest.raises(ValueError, match='no agent; name one, such as "GPTBot"'):
        snapshot.masks([SHOP], [])
    with pytest.raises(TypeError):
        snapshot.verdicts([SHOP], 7)


def test_one_agent_has_no_comma(snapshot: Snapshot) -> None:
    with pytest.raises(ValueError):
        snapshot.verdicts([NEWS], "GPTBot,CCBot")


def test_single_urls_are_str_or_bytes(snapshot: Snapshot) -> None:
    for url in (7, None, ["x"]):
        with pytest.raises(TypeError, match="a URL is str or bytes"):
            snapshot.verdict(url, AGENT)
        with pytest.raises(TypeError, match="a URL is str or bytes"):
            snapshot.robots_text(url)


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        (7, "agents is of type int; give names"),
        (None, "agents is of type NoneType; give names"),
        (b"GPTBot", "agents is of type bytes; give names"),
        ({"GPTBot": 1}, "agents is of type dict; give names"),
        (["GPTBot", 7], "agents holds a value of type int; give names"),
    ],
)
def test_agents_are_names(snapshot: Snapshot, agents: Any, message: str) -> None:
    for call in (lambda: snapshot.masks([SHOP], agents), lambda: robosieve.agents(agents)):
        with pytest.raises(TypeError, match=message):
            call()


# Snapshots in memory.


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_judge_as_their_file(kind: Any, small: Path, snapshot: Snapshot, urls: list[str]) -> None:
    in_memory = Snapshot.from_bytes(kind(small.read_bytes()))
    assert in_memory.verdicts(urls, AGENT) == snapshot.verdicts(urls, AGENT)
    assert in_memory.verdict(SHOP, AGENT) == snapshot.verdict(SHOP, AGENT)
    assert (in_memory.checksum, in_memory.metadata) == (snapshot.checksum, snapshot.metadata)
    assert in_memory.path == "<bytes>" and "'<bytes>': 48 origins" in repr(in_memory)


def test_bytes_of_a_compiler_need_no_file(small: Path) -> None:
    compiler = robosieve.Compiler()
    compiler.add_path([SMALL / "robots.warc", SMALL / "more.jsonl"])
    data = compiler.to_bytes()
    assert data == small.read_bytes()
    with Snapshot.from_bytes(data, verify="full") as snapshot:
        assert len(snapshot) == 48
    with pytest.raises(RuntimeError, match="this compiler has written its output"):
        compiler.to_bytes()


def test_bytes_are_read_in_place_and_outlive_their_name(small: Path) -> None:
    data = small.read_bytes()
    count = sys.getrefcount(data)
    snapshot = Snapshot.from_bytes(data)
    assert sys.getrefcount(data) > count
    judged = snapshot.verdict(SHOP, AGENT)
    snapshot.close()
    assert sys.getrefcount(data) == count
    snapshot = Snapshot.from_bytes(small.read_bytes())
    assert snapshot.verdict(SHOP, AGENT) == judged
    # A buffer that may change is copied.
    changing = bytearray(data)
    snapshot = Snapshot.from_bytes(changing)
    changing[:] = bytes(len(changing))
    assert snapshot.verdict(SHOP, AGENT) == judged


def test_snapshots_in_memory_pickle_with_their_bytes(small: Path, urls: list[str]) -> None:
    snapshot = Snapshot.from_bytes(small.read_bytes(), verify=False)
    copy = pickle.loads(pickle.dumps(snapshot))
    assert copy.verdicts(urls, AGENT) == snapshot.verdicts(urls, AGENT)
    assert copy._verify is False


def test_bytes_are_verified(small: Path) -> None:
    data = bytearray(small.read_bytes())
    with pytest.raises(SnapshotError, match="<bytes>: not a robosieve snapshot; compile archives into a snapshot first"):
        Snapshot.from_bytes(b"User-agent: *")
    with pytest.raises(SnapshotError, match="<bytes>: "):
        Snapshot.from_bytes(data[:-1])
    data[len(data) // 2] ^= 1
    with pytest.raises(SnapshotError, match="<bytes>: damaged snapshot"):
        Snapshot.from_bytes(data, verify="full")
    with pytest.raises(ValueError, match="verify='half'"):
        Snapshot.from_bytes(bytes(data), verify="half")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="data is a str; give the bytes of a snapshot, or open a file"):
        Snapshot.from_bytes("web.rsieve")  # type: ignore[arg-type]


def test_files_are_judged_by_a_snapshot_in_memory(small: Path, tmp_path: Path) -> None:
    in_memory = Snapshot.from_bytes(small.read_bytes())
    counts = [
        robosieve.filter(snapshot, SMALL / "urls.txt", tmp_path / name, AGENT)
        for name, snapshot in [("a", in_memory), ("b", Snapshot(small))]
    ]
    assert counts[0] == counts[1] and (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# Files that are no snapshots.


def test_errors_name_the_path(tmp_path: Path) -> None:
    text = tmp_path / "robots.txt"
    text.write_text("User-agent: *\nDisallow:\n" * 500)
    empty = tmp_path / "empty.rsieve"
    empty.touch()
    for path in [tmp_path / "missing.rsieve", tmp_path, text, empty]:
        with pytest.raises(SnapshotError) as caught:
            Snapshot(path)
        assert isinstance(caught.value, RobosieveError)
        assert str(path) in str(caught.value)
        assert os.fspath(caught.value.path) == str(path)
    with pytest.raises(TypeError):
        Snapshot(7)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of files are text")
def test_paths_that_are_not_utf8(small: Path, tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.rsieve")
    os.link(small, path)
    snapshot = Snapshot(path)
    assert snapshot.path == path
    assert pickle.loads(pickle.dumps(snapshot)).verdict(NEWS, AGENT) == 0


def test_cut_snapshots_raise(small: Path, tmp_path: Path) -> None:
    data = small.read_bytes()
    for length in [*range(0, 600, 37), len(data) // 2, len(data) - 4096, len(data) - 1]:
        path = tmp_path / f"{length}.rsieve"
        path.write_bytes(data[:length])
        with pytest.raises(SnapshotError):
            Snapshot(path, verify=True)


#: Judges without verification with a snapshot whose bytes are flipped. It must end with verdicts or
#: with SnapshotError.
DAMAGED = """
import os, sys, random, robosieve
source, path, lines, seed = sys.argv[1:]
urls = open(lines, "rb").read().split(b"\\n")
data, chance, raised = open(source, "rb").read(), random.Random(int(seed)), 0
for turn in range(150):
    flipped = bytearray(data)
    for _ in range(chance.choice([1, 3, 30, 300])):
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    with open(path, "wb") as file:
        file.write(flipped)
    try:
        robosieve.Snapshot(path, verify="full")
    except robosieve.SnapshotError as err:
        assert path in str(err) and os.fspath(err.path) == path, err
        raised += 1
    try:
        snapshot = robosieve.Snapshot(path, verify=False)
        snapshot.metadata
        snapshot.verdicts(urls, "GPTBot")
        snapshot.masks(urls, "@ai-train", threads=2)
        for url in urls[::20]:
            snapshot.verdict(url, "Googlebot")
            snapshot.robots_text(url)
    except robosieve.SnapshotError:
        pass
print(raised)
"""


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_raise_snapshot_error(small: Path, tmp_path: Path, lines: list[bytes], seed: int) -> None:
    (tmp_path / "urls").write_bytes(b"\n".join(lines))
    path = tmp_path / "flipped.rsieve"
    command = [sys.executable, "-c", DAMAGED, small, path, tmp_path / "urls", str(seed)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == 150


def test_damage_found_while_judging_names_the_path(small: Path, tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "flipped.rsieve"
    data, chance = small.read_bytes(), random.Random(7)
    found = []
    for _ in range(200):
        flipped = bytearray(data)
        for _ in range(30):
            flipped[chance.randrange(4096, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            Snapshot(path, verify=False).verdicts(lines, AGENT)
        except SnapshotError as err:
            found.append(err)
    assert found
    assert all(str(path) in str(err) and os.fspath(err.path) == str(path) for err in found)


# The end of a snapshot.


def test_the_origins_of_a_snapshot(snapshot: Snapshot, urls: list[str]) -> None:
    assert len(snapshot) == 48
    assert NEWS in snapshot and NEWS.encode() in snapshot and "https://news.example" in snapshot
    assert "https://nowhere.example/" not in snapshot and "/cart" not in snapshot and "" not in snapshot
    for url in urls:
        assert (url in snapshot) == (snapshot.verdict(url, AGENT) <= 1), url
    for url in (None, 7):
        with pytest.raises(TypeError, match="a URL is str or bytes"):
            url in snapshot  # type: ignore[operator]  # noqa: B015


def test_closed_snapshots(small: Path) -> None:
    with Snapshot(small) as snapshot:
        assert not snapshot.closed and snapshot.verdict(NEWS, AGENT) == 0
    snapshot.close()
    assert snapshot.closed and snapshot.path == str(small)
    assert repr(snapshot) == f"<robosieve.Snapshot {str(small)!r}: closed>"
    uses: list[Any] = [
        lambda: snapshot.verdict(NEWS, AGENT),
        lambda: snapshot.verdicts([NEWS], AGENT),
        lambda: snapshot.masks([NEWS], AGENT),
        lambda: snapshot.explain(NEWS, AGENT),
        lambda: snapshot.robots_text(NEWS),
        lambda: snapshot.sitemaps(NEWS),
        lambda: snapshot.crawl_delay(NEWS, AGENT),
        lambda: len(snapshot),
        lambda: NEWS in snapshot,
        lambda: snapshot.metadata,
        lambda: pickle.dumps(snapshot),
        lambda: robosieve.filter(snapshot, small, "out.txt", AGENT),
    ]
    for use in uses:
        with pytest.raises(ValueError, match=f"{small}: this snapshot is closed; open it again"):
            use()
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        snapshot.other  # type: ignore[attr-defined]  # noqa: B018


def test_an_exception_closes_too(small: Path) -> None:
    with pytest.raises(KeyError):
        with Snapshot(small) as snapshot:
            raise KeyError
    assert snapshot.closed


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")
def test_closing_unmaps_the_file(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "web.rsieve"
    path.write_bytes(small.read_bytes())
    snapshot = Snapshot(path)
    snapshot.verdicts([NEWS], AGENT)
    assert os.fsencode(path) in Path("/proc/self/maps").read_bytes()
    snapshot.close()
    assert os.fsencode(path) not in Path("/proc/self/maps").read_bytes()


def test_calls_of_other_threads_end_first(small: Path) -> None:
    expected = Snapshot(small).verdicts(MANY, AGENT)
    for _ in range(5):
        snapshot, started = Snapshot(small), threading.Event()

        def judge() -> list[int]:
            native = snapshot._native
            started.set()
            return list(native.verdicts(MANY, AGENT, JudgeOptions(), 2, None))

        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(judge)
            started.wait()
            snapshot.close()
            assert running.result() == expected


# Pickles and processes.


def test_pickles_by_path_and_checksum(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, small: Path) -> None:
    data = pickle.dumps(snapshot)
    assert len(data) < 500
    again = pickle.loads(data)
    assert again.checksum == snapshot.checksum and again.verdict(NEWS, AGENT) == 0
    # A process that unpickles it often opens it once.
    assert pickle.loads(data) is again
    assert copy.deepcopy(snapshot).verdict(NEWS, AGENT) == 0
    # A relative path means the same file in another directory.
    monkeypatch.chdir(small.parent)
    data = pickle.dumps(Snapshot(small.name))
    monkeypatch.chdir("/")
    assert pickle.loads(data).verdict(NEWS, AGENT) == 0


def test_pickles_of_copies_name_the_file(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, disk = tmp_path / "web.rsieve", tmp_path / "disk"
    shared.write_bytes(small.read_bytes())
    monkeypatch.chdir(tmp_path)
    opened = Snapshot("web.rsieve", node_directory="disk")
    assert opened.path.startswith(str(disk))
    monkeypatch.chdir("/")
    data = pickle.dumps(opened)
    # Another machine has the shared file, and no copy yet.
    shutil.rmtree(disk)
    again = pickle.loads(data)
    assert again.checksum == opened.checksum and again.path == opened.path and len(list(disk.glob("*.rsieve"))) == 1


def test_pickles_of_another_snapshot_raise(small: Path, program: Path, tmp_path: Path) -> None:
    path = tmp_path / "web.rsieve"
    path.write_bytes(small.read_bytes())
    data = pickle.dumps(Snapshot(path))
    archive = tmp_path / "one.jsonl"
    archive.write_text('{"url": "https://a.example/robots.txt", "status": 404, "fetched_at": "2026-01-01T00:00:00Z"}\n')
    other = tmp_path / "other.rsieve"
    subprocess.run([program, "compile", "-q", "-o", other, archive], check=True)
    other.rename(path)
    with pytest.raises(SnapshotError, match=f"{path}: another snapshot .checksum .* than the pickled one"):
        pickle.loads(data)
    path.unlink()
    with pytest.raises(SnapshotError, match=str(path)):
        pickle.loads(data)


def _judge(snapshot: Snapshot, threads: int | None) -> tuple[int, int]:
    return os.getpid(), sum(snapshot.verdicts(MANY, AGENT, threads=threads))


def _judge_global(threads: int | None) -> tuple[int, int]:
    return _judge(_GLOBAL[0], threads)


_GLOBAL: list[Snapshot] = []


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(snapshot: Snapshot, method: str) -> None:
    allowed = _judge(snapshot, 2)[1]
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.starmap(_judge, [(snapshot, threads) for threads in [None, 1, 2, 7] * 2])
    assert {result for _, result in results} == {allowed}
    assert os.getpid() not in {pid for pid, _ in results}


def test_use_after_fork(snapshot: Snapshot) -> None:
    # The parent has judged on several threads, which the child does not have.
    allowed = _judge(snapshot, 4)[1]
    _GLOBAL[:] = [snapshot]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map(_judge_global, [None, 1, 2, 7] * 2)
    assert {result for _, result in results} == {allowed}
    assert _judge(snapshot, 4)[1] == allowed


def test_verify_after_fork(small: Path) -> None:
    Snapshot(small, verify="full")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert len(pool.apply_async(_verified, (small,)).get(timeout=60)) == 48


def _verified(path: Path) -> Snapshot:
    return Snapshot(path, verify="full")


def test_several_threads_at_once(small: Path, urls: list[str]) -> None:
    agents = [AGENT, "Googlebot", "CCBot", "MJ12bot"]

    def answers(snapshot: Snapshot, agent: str, threads: int) -> list[Any]:
        return [
            snapshot.verdicts(urls, agent, threads=threads),
            snapshot.masks(urls, agents, threads=threads),
            snapshot.reasons(urls, threads=threads),
            snapshot.crawl_delays(urls, agent, threads=threads),
            [snapshot.explain(url, agent).details for url in urls[::20]],
            [snapshot.robots_text(url) for url in urls[::20]],
        ]

    wanted = {agent: answers(Snapshot(small), agent, 1) for agent in agents}
    # One snapshot for all threads, and nothing of it is verified yet.
    shared, start = Snapshot(small), threading.Barrier(64)

    def work(worker: int) -> bool:
        start.wait()
        good = True
        for turn in range(4):
            agent = agents[(worker + turn) % len(agents)]
            good &= answers(shared, agent, 1 + turn % 3) == wanted[agent]
        return good

    with ThreadPoolExecutor(64) as pool:
        assert all(pool.map(work, range(64)))


def test_judging_releases_the_interpreter(snapshot: Snapshot) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array(MANY * 20)
    done = threading.Event()

    def judge() -> None:
        snapshot.verdicts(column, AGENT, threads=1)
        done.set()

    worker = threading.Thread(target=judge)
    worker.start()
    turns = 0
    while not done.is_set():
        turns += 1
        done.wait(0.001)
    worker.join()
    # 2 million rows take at least 20 milliseconds; with the lock held there would be one turn.
    assert turns > 3


# Memory.


def resident() -> int:
    """The bytes of this process that are in memory and shared with no file."""
    with open("/proc/self/statm") as file:
        pages = file.read().split()
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_imports_leak_nothing(snapshot: Snapshot, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = urls * 10
    columns = [
        pa.array(rows),
        pa.array(rows, pa.string_view()),
        pa.array(rows).dictionary_encode(),
        pa.chunked_array([rows, rows]),
    ]
    references = [sys.getrefcount(column) for column in columns]

    def turn() -> None:
        for column in columns:
            snapshot.verdicts(column, AGENT)
            pa.array(snapshot.masks(column, [AGENT, "CCBot"]))
        with pytest.raises(TypeError):
            snapshot.verdicts(pa.array(range(10_000)), AGENT)

    for _ in range(20):
        turn()
    before, allocated = resident(), pa.total_allocated_bytes()
    for _ in range(250):
        turn()
    # 2,000 imports of some 150 KB: a leak of each would be 300 MB.
    assert resident() - before < 16 << 20
    assert pa.total_allocated_bytes() == allocated
    assert [sys.getrefcount(column) for column in columns] == references


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_lists_and_snapshots_leak_nothing(small: Path, urls: list[str]) -> None:
    def turn() -> None:
        snapshot = Snapshot(small)
        snapshot.verdicts(urls * 5, AGENT)
        snapshot.masks((url for url in urls), "@ai-train")
        with pytest.raises(TypeError):
            snapshot.verdicts([*urls, 7], AGENT)
        with pytest.raises(ValueError):
            snapshot.verdicts(urls, "@nosuchset")

    for _ in range(20):
        turn()
    before = resident()
    for _ in range(200):
        turn()
    assert resident() - before < 16 << 20


def test_columns_are_released(snapshot: Snapshot, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    before = pa.total_allocated_bytes()
    column = pa.array(urls * 100)
    result = snapshot.verdicts(column, AGENT)
    assert pa.total_allocated_bytes() > before
    del column
    assert pa.total_allocated_bytes() == before
    assert len(result) == len(urls) * 100


# The package.


def test_import_needs_no_library() -> None:
    code = (
        "import sys, robosieve\n"
        "robosieve.agents('@ai')\n"
        "print(sorted({'pyarrow', 'numpy', 'pandas', 'polars', 'pyspark', 'datatrove'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_agents() -> None:
    assert robosieve.agents("GPTBot, CCBot") == robosieve.agents(["GPTBot", "CCBot"]) == ["GPTBot", "CCBot"]
    sets = [robosieve.agents(f"@{name}") for name in ("ai", "ai-train", "ai-search", "ai-user", "ai-agent", "search")]
    assert all(len(names) > 1 for names in sets) and set(sets[1]) <= set(sets[0])
    with pytest.raises(ValueError, match="@nosuchset"):
        robosieve.agents("@nosuchset")
