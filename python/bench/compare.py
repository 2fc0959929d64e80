"""Times the ways to judge URLs in Python, next to the command line and to Protego.

    python python/bench/compare.py web.rsieve urls.txt.zst --program target/release/robosieve

Protego keeps the last parsed files in a cache.

Needs pyarrow and protego. Protego gets the texts that the snapshot holds, so both judge the same
URLs by the same rules. All times are CPU time of one thread, that of the command line with the
start of its process. The program ends with an error if two
ways of this package differ in one verdict, or if Protego agrees on fewer than 95 % of the URLs.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from protego import Protego

import robosieve

BATCH = 10_000
Judge = Callable[[], Any]


def read_urls(path: str, limit: int, snapshot: robosieve.Snapshot) -> tuple[list[str], dict[str, str], int]:
    """URLs whose origins have a robots.txt, evenly spaced in the list; the texts by origin; the lines read.

    The first lines of a list would not do: they can be those of a few sites."""
    with pa.input_stream(path, compression="detect") as stream:
        lines = stream.read().split(b"\n")
    judged = [line for line, verdict in zip(lines, snapshot.verdicts(lines, "*", threads=1)) if verdict <= 1]
    urls: list[str] = []
    texts: dict[str, str] = {}
    for line in judged[:: max(1, len(judged) // limit)]:
        try:
            url = line.decode()
            origin = origin_of(url)
        except ValueError:
            continue
        # Origins without a robots.txt, which answered 404 or failed, have nothing to parse.
        text = snapshot.robots_text(url) if origin not in texts else b""
        if text is not None:
            texts.setdefault(origin, text.decode("utf-8", "replace"))
            urls.append(url)
    return urls, texts, len(lines)


def origin_of(url: str) -> str:
    """The scheme, host and port, as a program that uses Protego gets them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def ways(
    snapshot: robosieve.Snapshot,
    urls: list[str],
    texts: dict[str, str],
    agent: str,
    cached: int,
    program: str | None,
    directory: str,
) -> dict[str, Judge]:
    """The ways to judge the URLs: each gives 1 for an allowed URL and 0 for a disallowed one."""
    column = pa.array(urls)
    batches = [column[start : start + BATCH] for start in range(0, len(urls), BATCH)]

    def in_batches() -> pa.ChunkedArray:
        results = [snapshot.verdicts(batch, agent, threads=1) for batch in batches]
        return pa.chunked_array(results)

    @functools.lru_cache(maxsize=cached)
    def parsed(origin: str) -> Protego:
        return Protego.parse(texts[origin])

    def protego() -> list[int]:
        parsed.cache_clear()
        return [parsed(origin_of(url)).can_fetch(url, agent) for url in urls]

    listed, annotated = os.path.join(directory, "urls.txt"), os.path.join(directory, "annotated.txt")
    with open(listed, "w") as out:
        out.writelines(f"{url}\n" for url in urls)

    def files() -> str:
        robosieve.annotate(snapshot, listed, annotated, agent, threads=1)
        return annotated

    def command() -> str:
        arguments = ["annotate", "-q", "-j", "1", "-s", snapshot.path, "-a", agent, "-o", annotated, listed]
        subprocess.run([str(program), *arguments], check=True)
        return annotated

    judges: dict[str, Judge] = {
        f"verdicts(), pyarrow, batches of {BATCH:,}": in_batches,
        "verdicts(), pyarrow, whole column": lambda: snapshot.verdicts(column, agent, threads=1),
        "verdicts(), list": lambda: snapshot.verdicts(urls, agent, threads=1),
        "verdict(), one URL per call": lambda: [snapshot.verdict(url, agent) for url in urls],
        "annotate(), a list to a file": files,
        "robosieve annotate -j 1, a list to a file": command,
        f"Protego, lru_cache of {cached:,} files": protego,
    }
    if program is None:
        judges = {name: judge for name, judge in judges.items() if judge is not command}
    return judges


def timed(judge: Judge, repeats: int) -> tuple[float, Any]:
    """The least CPU time of the repeats in seconds, and the result."""
    times = []
    for _ in range(repeats):
        start = cpu_seconds()
        result = judge()
        times.append(cpu_seconds() - start)
    return min(times), result


def cpu_seconds() -> float:
    """The CPU time of this process and of those that it waited for."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


def codes(result: Any) -> list[int]:
    """The verdicts of a list, an Arrow array, or an annotated file."""
    if isinstance(result, str):
        with open(result) as lines:
            return ["DAUI".index(line[0]) for line in lines]
    return [int(verdict) for verdict in (result if isinstance(result, list) else result.to_pylist())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("snapshot")
    parser.add_argument("urls", help="a list with one URL per line; .gz and .zst are decompressed")
    parser.add_argument("--agent", default="GPTBot")
    parser.add_argument("--limit", type=int, default=200_000, help="about this many URLs (default: 200,000)")
    parser.add_argument("--cached", type=int, default=10_000, help="parsed files that Protego keeps (default: 10,000)")
    parser.add_argument("--program", help="the command line, such as target/release/robosieve")
    given = parser.parse_args()

    snapshot = robosieve.Snapshot(given.snapshot)
    urls, texts, lines = read_urls(given.urls, given.limit, snapshot)
    if not urls:
        parser.error(f"{given.urls}: no URL has a robots.txt in {given.snapshot}")
    print(f"{len(urls):,} URLs of {len(texts):,} origins with a robots.txt, from {lines:,} lines; agent {given.agent}\n")

    rows, expected = [], None
    directory = tempfile.TemporaryDirectory()
    judges = ways(snapshot, urls, texts, given.agent, given.cached, given.program, directory.name)
    for name, judge in judges.items():
        is_protego = name.startswith("Protego")
        seconds, result = timed(judge, 1 if is_protego else 5)
        verdicts = codes(result)
        assert len(verdicts) == len(urls), name
        if expected is None:
            expected = verdicts
            assert set(Counter(verdicts)) <= {0, 1}, Counter(verdicts)
        agreed = sum(map(int.__eq__, verdicts, expected))
        assert agreed >= 0.95 * len(urls) if is_protego else agreed == len(urls), f"{name}: {agreed} of {len(urls)}"
        rows.append((name, seconds * 1e9 / len(urls), sum(verdicts), agreed / len(urls)))

    first = rows[0][1]
    print("| way | ns per URL | ratio | allowed | agrees |\n|---|---:|---:|---:|---:|")
    for name, each, allowed, share in rows:
        print(f"| {name} | {each:,.0f} | {each / first:,.1f} | {allowed:,} | {share:.2%} |")


if __name__ == "__main__":
    main()
