"""An archive and three lists of URLs: real data from a directory, or reproducible generated data."""

import contextlib
import gzip
import json
import pathlib
import random
import subprocess
import tempfile
from dataclasses import dataclass

from . import record

LISTS = ["sorted", "unsorted", "manyhosts"]
# The number of repetitions of a real list for whole commands, so that start-up does not dominate.
REPEATS = {"sorted": 8, "unsorted": 12, "manyhosts": 40}
HOSTS = 50_000
WORDS = (
    "archive blog cart de docs edit en feed forum help image item list login media news page post product search shop "
    "tag topic user"
).split()


@dataclass
class Data:
    archive: pathlib.Path
    lists: dict

    def sizes(self):
        lists = [f"{name} {file.stat().st_size:,}" for name, file in self.lists.items()]
        return f"Bytes: archive {self.archive.stat().st_size:,}; lists: {', '.join(lists)}.\n"


@contextlib.contextmanager
def compiled(real, lines):
    """The command, the data with its lists, a snapshot of its archive, and a temporary directory, which also has
    the statistics of the compilation."""
    if real and not is_there(real):
        raise record.Skipped("there is no archive in that directory")
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        robosieve, inputs = record.robosieve(), find(real, place) if real else make(place, lines)
        snapshot = place / "snapshot"
        stats = ["--stats-json", place / "stats.json"]
        subprocess.run([robosieve, "compile", "-q", "-o", snapshot, *stats, inputs.archive], check=True)
        yield robosieve, inputs, snapshot, place


def is_there(place):
    """Whether a directory has real data."""
    return (place / "robots.warc.gz").exists()


def find(place, scratch):
    """The data in a directory. Compressed lists are decompressed to `scratch`."""
    lists = {}
    for name in LISTS:
        lists[name] = place / f"{name}.txt"
        if not lists[name].exists():
            lists[name] = scratch / f"{name}.txt"
            subprocess.run(["zstd", "-dqf", place / f"{name}.txt.zst", "-o", lists[name]], check=True)
    return Data(place / "robots.warc.gz", lists)


def longer(data, scratch):
    """The same data with repeated lists."""
    lists = {}
    for name, file in data.lists.items():
        lists[name] = scratch / f"{name}-{REPEATS[name]}.txt"
        with open(lists[name], "wb") as out:
            for _ in range(REPEATS[name]):
                out.write(file.read_bytes())
    return Data(data.archive, lists)


def make(scratch, lines):
    """Generates lists of this length: grouped by host, unsorted, and with a new host per line."""
    dice = random.Random(1)
    archive = scratch / "robots.jsonl.gz"
    with gzip.open(archive, "wt", compresslevel=6) as out:
        for host in range(HOSTS):
            out.write(json.dumps({"url": f"https://{name(host)}/robots.txt", **capture(dice)}) + "\n")
    hosts = {
        "sorted": lambda i: i // 500,
        "unsorted": lambda i: dice.randrange(HOSTS // 10) if i % 2 else dice.randrange(HOSTS * 11 // 10),
        "manyhosts": lambda i: i * 7919 % (HOSTS * 11 // 10),
    }
    lists = {}
    for kind, host in hosts.items():
        lists[kind] = scratch / f"{kind}.txt"
        with open(lists[kind], "w") as out:
            out.writelines(f"https://{name(host(i))}{path(dice)}\n" for i in range(lines))
    return Data(archive, lists)


def name(host):
    return f"www.{WORDS[host % 24]}-{WORDS[host // 24 % 24]}{host}.example"


def path(dice):
    parts = "/".join(dice.choices(WORDS, k=dice.randrange(1, 5)))
    return f"/{parts}" + ["", "/", ".html", f"?page={dice.randrange(1000)}"][dice.randrange(4)]


def capture(dice):
    """One site in seven has no robots.txt. Of the other bodies, a few are frequent and most rare."""
    if dice.random() < 0.15:
        return {"status": 404}
    return {"status": 200, "body": robots(random.Random(int(HOSTS / 4 * dice.random() ** 2)))}


def robots(dice):
    """Mostly a few rules, sometimes dozens, seldom hundreds. A third of the files have wildcards."""
    rules = dice.choices([dice.randrange(1, 8), 40, 300], [89, 10, 1])[0]
    kinds = ["/{}/{}", "/{}/", "/{}?"] * 2 + ["/{}/*/{}", "/*?{}=", "/*.{}$"] * (dice.random() < 0.38)
    lines = ["User-agent: GPTBot", "Disallow: /", ""] if dice.random() < 0.08 else []
    lines.append("User-agent: *")
    for _ in range(rules):
        lines.append("Disallow: " + dice.choice(kinds).format(dice.choice(WORDS), dice.choice(WORDS)))
    return "\n".join(lines) + "\n"
