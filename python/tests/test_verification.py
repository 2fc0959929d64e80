"""Damaged snapshots: by default no flipped bit changes an answer, through any front door."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import Snapshot, SnapshotError

AGENTS = "GPTBot,Googlebot,FooBot"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of a few kilobytes in which no section is empty."""
    compiler = robosieve.Compiler()
    add = compiler.add_response
    add(
        "https://a.example/robots.txt",
        200,
        "User-agent: GPTBot\nDisallow: /\n\n"
        "User-agent: *\nDisallow: /private\nAllow: /private/open$\nDisallow: /*.pdf\n"
        "Crawl-delay: 3\nContent-Usage: train-ai=n\nContent-Signal: search=yes\nSitemap: https://a.example/map.xml\n",
        fetched_at="2026-09-01",
    )
    add("https://b.example/robots.txt", 404, fetched_at="2026-09-01")
    add("https://c.example/robots.txt", 200, "User-agent: *\nDisallow: /old\n", fetched_at="2026-09-01")
    add("https://c.example/robots.txt", 503, fetched_at="2026-09-10")
    add("https://d.example/robots.txt", 301, location="https://a.example/robots.txt", fetched_at="2026-09-01")
    compiler.add_failure("https://e.example/robots.txt", "timeout", fetched_at="2026-09-01")
    path = tmp_path_factory.mktemp("web") / "web.rsieve"
    compiler.write(path)
    return path


URLS = [
    f"https://{host}.example/{path}"
    for host in "abcdex"
    for path in ["", "private", "private/open", "private/openly", "a.pdf", "old/1"]
] + ["no url"]


def answers(snapshot: Snapshot) -> list[Any]:
    """All that a snapshot answers about the URLs."""
    found: list[Any] = [len(snapshot), snapshot.metadata["counts"]]
    found += [snapshot.verdicts(URLS, agent) for agent in AGENTS.split(",")]
    found += [snapshot.masks(URLS, AGENTS), snapshot.masks(URLS, AGENTS, status_policy="rfc9309", at="2027-01-01")]
    return found + single_answers(snapshot)


def single_answers(snapshot: Snapshot) -> list[Any]:
    """The answers about one URL or origin at a time."""
    found: list[Any] = []
    for url in URLS[::6]:
        explanation = snapshot.explain(url, "FooBot")
        found += [snapshot.verdict(url, "GPTBot"), explanation, explanation.details]
        found += [snapshot.robots_text(url), snapshot.sitemaps(url), snapshot.crawl_delay(url, "FooBot")]
    return found


def outputs(snapshot: Any, folder: Path) -> list[Any]:
    """The outputs of jobs on files, with a snapshot or its path."""
    (folder / "urls.txt").write_text("".join(f"{url}\n" for url in URLS))
    kept, refused, annotated = folder / "kept", folder / "refused", folder / "annotated"
    counts: list[Any] = [
        robosieve.filter(snapshot, folder / "urls.txt", kept, "GPTBot", disallowed_to=refused, threads=1),
        robosieve.annotate(snapshot, folder / "urls.txt", annotated, AGENTS, preferences=True, threads=1),
    ]
    return counts + [path.read_bytes() for path in (kept, refused, annotated)]


def damage(path: Path, data: bytes, at: int, bit: int) -> None:
    """Writes a file with one flipped bit, in place."""
    flipped = bytearray(data)
    flipped[at] ^= 1 << bit
    path.write_bytes(flipped)


def outcome_of(call: Callable[[], list[Any]], expected: list[Any]) -> str:
    try:
        return "right" if call() == expected else "wrong"
    except SnapshotError:
        return "refused"


def test_no_flipped_bit_changes_an_answer(web: Path, tmp_path: Path) -> None:
    data, path = web.read_bytes(), tmp_path / "flipped.rsieve"
    expected = answers(Snapshot(web))
    found = [0, 0]
    for at in range(len(data)):
        damage(path, data, at, at * 5 % 8)
        outcome = outcome_of(lambda: answers(Snapshot(path)), expected)
        assert outcome != "wrong", f"bit {at * 5 % 8} of byte {at} of {len(data)}"
        found[outcome == "refused"] += 1
    # Bits between sections have no meaning.
    assert found[1] > 10 * found[0], found


def test_no_flipped_bit_changes_a_single_answer(web: Path, tmp_path: Path) -> None:
    # Without a column before it, which verifies the snapshot as a whole.
    data, path = web.read_bytes(), tmp_path / "flipped.rsieve"
    expected = single_answers(Snapshot(web))
    found = [0, 0]
    for at in range(len(data)):
        damage(path, data, at, at * 3 % 8)
        outcome = outcome_of(lambda: single_answers(Snapshot(path)), expected)
        assert outcome != "wrong", f"bit {at * 3 % 8} of byte {at} of {len(data)}"
        found[outcome == "refused"] += 1
    assert found[1] > 10 * found[0], found


def test_no_flipped_bit_changes_an_output(web: Path, tmp_path: Path) -> None:
    data, path = web.read_bytes(), tmp_path / "flipped.rsieve"
    expected = outputs(web, tmp_path)
    refused = 0
    for at in range(0, len(data), 23):
        damage(path, data, at, at % 8)
        outcome = outcome_of(lambda: outputs(path, tmp_path), expected)
        assert outcome != "wrong", f"bit {at % 8} of byte {at} of {len(data)}"
        refused += outcome == "refused"
    assert refused > len(data) // 23 * 3 // 4


def test_without_verification_flipped_bits_change_answers(web: Path, tmp_path: Path) -> None:
    # Otherwise the tests above would not notice if nothing was verified.
    data, path = web.read_bytes(), tmp_path / "flipped.rsieve"
    expected, found = answers(Snapshot(web)), []
    for at in range(0, len(data), 7):
        damage(path, data, at, at * 5 % 8)
        found.append(outcome_of(lambda: answers(Snapshot(path, verify=False)), expected))
    assert found.count("wrong") > 20


def test_depths_of_verification(web: Path, tmp_path: Path) -> None:
    data, path = bytearray(web.read_bytes()), tmp_path / "web.rsieve"
    # The end of the file is text of a robots.txt or a string, which verdicts do not depend on.
    text = next(at for at in range(len(data) - 1, 0, -1) if _is_text(data, at, path))
    damage(path, bytes(data), text, 0)
    opened = Snapshot(path)
    assert opened.verdicts(URLS, "GPTBot") == Snapshot(web).verdicts(URLS, "GPTBot")
    for call in (
        lambda: opened.explain(URLS[0], "GPTBot"),
        lambda: opened.robots_text(URLS[0]),
        lambda: opened.sitemaps(URLS[0]),
        lambda: opened.crawl_delay(URLS[0], "GPTBot"),
        lambda: robosieve.annotate(opened, _list(tmp_path), tmp_path / "out", "GPTBot", preferences=True),
        lambda: Snapshot(path, verify="full"),
    ):
        with pytest.raises(SnapshotError, match="checksum"):
            call()
    with pytest.raises(ValueError, match="verify='deep'; give True .checksums., False .nothing. or 'full'"):
        Snapshot(path, verify="deep")


def _is_text(data: bytearray, at: int, path: Path) -> bool:
    damage(path, bytes(data), at, 0)
    try:
        opened = Snapshot(path)
    except SnapshotError:
        return False
    return outcome_of(lambda: [opened.robots_text(URLS[0])], []) == "refused"


def _list(folder: Path) -> Path:
    path = folder / "urls.txt"
    path.write_text(f"{URLS[0]}\n")
    return path


def test_pickles_keep_the_verification(web: Path, tmp_path: Path) -> None:
    import pickle

    path = tmp_path / "web.rsieve"
    path.write_bytes(web.read_bytes())
    verified, unverified = pickle.dumps(Snapshot(path)), pickle.dumps(Snapshot(path, verify=False))
    data = web.read_bytes()
    at = next(at for at in range(len(data) // 4, len(data)) if _is_refused(path, data, at))
    damage(path, data, at, 0)
    with pytest.raises(SnapshotError, match="checksum"):
        pickle.loads(verified).verdicts(URLS, "GPTBot")
    assert len(pickle.loads(unverified).verdicts(URLS, "GPTBot")) == len(URLS)


def _is_refused(path: Path, data: bytes, at: int) -> bool:
    damage(path, data, at, 0)
    def judge(verify: bool) -> list[Any]:
        return list(Snapshot(path, verify=verify).verdicts(URLS, "GPTBot"))

    return outcome_of(lambda: judge(True), []) == "refused" and outcome_of(lambda: judge(False), []) != "refused"


# Once per process and file.


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of some megabytes, written more than two seconds ago."""
    compiler = robosieve.Compiler()
    for number in range(20_000):
        body = f"User-agent: *\nDisallow: /{number:x}/\nDisallow: /private/{number}\n"
        compiler.add_response(f"https://host{number}.example/robots.txt", 200, body)
    path = tmp_path_factory.mktemp("large") / "large.rsieve"
    compiler.write(path)
    time.sleep(2.1)
    return path


def pages_read(path: Path, verify: Any) -> int:
    """The pages that opening a snapshot and judging an empty column touch."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    Snapshot(path, verify=verify).verdicts([], "GPTBot")
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_a_file_is_verified_once_per_process(large: Path) -> None:
    assert large.stat().st_size > 2 << 20
    header = min(pages_read(large, False) for _ in range(5))
    first = pages_read(large, True)
    again = min(pages_read(large, True) for _ in range(5))
    assert again < first // 2 and again <= header + 10, (header, first, again)
    # A deeper verification is another one.
    assert pages_read(large, "full") > again + 10
    assert min(pages_read(large, "full") for _ in range(5)) <= header + 10


def test_single_answers_verify_what_they_read(large: Path, tmp_path: Path) -> None:
    data, path = large.read_bytes(), tmp_path / "flipped.rsieve"
    damage(path, data, len(data) // 3, 0)
    # The damaged block of 64 KiB holds something of a few origins only.
    snapshot, refused = Snapshot(path), 0
    for number in range(0, 20_000, 100):
        try:
            verdict = snapshot.verdict(f"https://host{number}.example/{number:x}/a", "GPTBot")
            assert verdict == robosieve.Verdict.DISALLOWED
        except SnapshotError:
            refused += 1
    assert refused < 40
    with pytest.raises(SnapshotError, match="checksum"):
        snapshot.verdicts([], "GPTBot")


def test_a_changed_file_is_verified_again(large: Path) -> None:
    Snapshot(large, verify="full")
    status = large.stat()
    data = large.read_bytes()
    with open(large, "r+b") as file:
        file.seek(len(data) // 3)
        file.write(bytes([data[len(data) // 3] ^ 1]))
    # Size, inode and the time of the last change of the content stay.
    os.utime(large, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(SnapshotError, match="checksum"):
        Snapshot(large, verify="full")
    # Another file under the same name.
    other = large.with_name("other")
    damage(other, data, len(data) // 2, 0)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(other, large)
    with pytest.raises(SnapshotError, match="checksum"):
        Snapshot(large, verify="full")
