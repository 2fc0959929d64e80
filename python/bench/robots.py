"""Times single robots.txt files next to Protego and the standard library, and counts other verdicts.

    python python/bench/robots.py web.rsieve urls.txt         # 2,000 files of a snapshot
    python python/bench/robots.py --files a.robots.txt b.robots.txt

Needs protego. Each file is parsed and asked about one path; then it is asked about many paths. The
paths are those of its own rules, each with a continuation, so about every second one meets a rule.
All times are CPU time of one thread. Of each way the fastest of several turns counts.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Callable
from typing import Any
from urllib.robotparser import RobotFileParser

from protego import Protego

import robosieve

PATHS = 50
LEAST = 100


def files_of_snapshot(path: str, count: int, list_path: str) -> list[bytes]:
    """The texts of a snapshot for the first origins of a list of URLs that have one, each text once."""
    snapshot = robosieve.Snapshot(path)
    texts: dict[bytes, None] = {}
    with open(list_path, "rb") as lines:
        for line in lines:
            text = snapshot.robots_text(line.rstrip(b"\n"))
            if text is not None:
                texts.setdefault(text)
            if len(texts) == count:
                break
    return list(texts)


def paths_of(text: str, chance: random.Random) -> list[str]:
    """Paths that a crawler may meet on the site of a robots.txt."""
    rules = [line.partition(":")[2].strip() for line in text.splitlines() if "allow:" in line.lower()]
    rules = [rule.replace("*", "x").rstrip("$") for rule in rules if rule.startswith("/")] or ["/"]
    tails = ("", "/", "index.html", "a/b-c-d/2026", "?page=2", "x")
    paths = [chance.choice(rules) + chance.choice(tails) for _ in range(PATHS // 2)]
    paths += [f"/{chance.choice(('shop', 'news', 'a', 'wiki'))}/{chance.randrange(10**6)}.html" for _ in range(PATHS - len(paths))]
    return [f"https://www.site.example{path}" for path in paths]


def stdlib(text: str) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    return parser


Parse = Callable[[str], Any]
Ask = Callable[[Any, str], bool]


def ways(agent: str) -> dict[str, tuple[Parse, Ask]]:
    """How each parser parses a text, and how it answers."""
    return {
        "robosieve `Robots`": (robosieve.Robots.parse, lambda robots, url: robots.allows(agent, url)),
        "Protego": (Protego.parse, lambda robots, url: robots.can_fetch(url, agent)),
        "urllib.robotparser": (stdlib, lambda robots, url: robots.can_fetch(agent, url)),
    }


def timed(work: Callable[[], Any], turns: int) -> float:
    """The least CPU time of the turns, in seconds."""
    times = []
    for _ in range(turns):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def measure(texts: list[str], urls: list[list[str]], parse: Parse, ask: Ask, turns: int) -> tuple[float, float, list[bool]]:
    """The nanoseconds to parse a file and answer once, and for each later answer; all answers."""

    def first() -> None:
        for text, asked in zip(texts, urls):
            ask(parse(text), asked[0])

    parsed = [parse(text) for text in texts]
    answers = [ask(robots, url) for robots, asked in zip(parsed, urls) for url in asked]

    def later() -> None:
        for robots, asked in zip(parsed, urls):
            for url in asked:
                ask(robots, url)

    return timed(first, turns) * 1e9 / len(texts), timed(later, turns) * 1e9 / len(answers), answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("snapshot", nargs="?")
    parser.add_argument("urls", nargs="?", help="a list of URLs, one per line, whose origins choose the files")
    parser.add_argument("--files", nargs="+", default=[], help="robots.txt files in place of a snapshot")
    parser.add_argument("--count", type=int, default=2000, help="the files of the snapshot (default: 2,000)")
    parser.add_argument("--agent", default="GPTBot")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    if bool(given.files) == bool(given.urls):
        parser.error("give a snapshot and a list of URLs, or --files")

    bodies = [open(path, "rb").read() for path in given.files]
    if given.urls:
        bodies = files_of_snapshot(given.snapshot, given.count, given.urls)
    # One file alone would be timed once.
    bodies *= max(1, LEAST // max(1, len(bodies)))
    texts = [body.decode("utf-8", "replace") for body in bodies]
    chance = random.Random(7)
    urls = [paths_of(text, chance) for text in texts]
    rules = sum(robosieve.Robots.parse(text).counts()[1] for text in texts)
    mean = sum(map(len, bodies)) / len(bodies)
    print(f"{len(texts):,} files with {mean:,.0f} bytes and {rules / len(texts):,.1f} rules on average; agent {given.agent}\n")

    head = ["way", "parse and one answer, ns", "ratio", "later answer, ns", "ratio", "other verdicts", "of answers"]
    print(f"| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
    expected: list[bool] = []
    base = (1.0, 1.0)
    for name, (parse, ask) in ways(given.agent).items():
        first, later, answers = measure(texts, urls, parse, ask, given.turns)
        if not expected:
            expected, base = answers, (first, later)
        other = sum(map(bool.__ne__, answers, expected))
        ratios = first / base[0], later / base[1]
        print(f"| {name} | {first:,.0f} | {ratios[0]:.1f} | {later:,.0f} | {ratios[1]:.1f} | {other:,} | {len(answers):,} |")


if __name__ == "__main__":
    main()
