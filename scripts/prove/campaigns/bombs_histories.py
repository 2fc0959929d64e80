"""Histories that a hostile site makes: with many versions, large ones, and long chains of redirects."""

import json
import random
import struct

from . import bombs_snapshots as snapshots
from .bomb import Bomb

# 2026-01-01, and the seconds between two versions.
START, STEP = 1_767_225_600, 600
READERS = [
    "filter -q -s x.rsieve -a FooBot --as-of-column time pages.csv -o out",
    "filter -q -s x.rsieve -a FooBot --as-of 2026-02 urls -o out",
    "report -q -s x.rsieve -a FooBot --as-of 2026-02",
    "export -q -s x.rsieve -a FooBot --as-of 2026-02 -o out.tsv",
    "export -q -s x.rsieve --history -o out.csv",
    "export -q -s x.rsieve -a @ai-train --disallowed-since -o out.csv",
    "report -q -s x.rsieve -a @ai-train --disallowed-since",
    "audit -q -s x.rsieve access.log",
    "diff -q --from 2026-01 --to 2026-02 x.rsieve -a FooBot",
    "inspect x.rsieve --verify",
    "inspect x.rsieve https://h0.example --history",
    "check -s x.rsieve -a FooBot --as-of 2026-02 --explain https://h0.example/x",
    "compile -q --history --previous x.rsieve -o new.rsieve new.jsonl",
]


def answer(host, number, **more):
    return {"url": f"https://{host}/robots.txt", "fetched_at": START + number * STEP, **more}


def moved(host, number, target):
    return answer(host, number, status=301, headers={"location": f"https://{target}/robots.txt"})


def toggled(host, versions):
    """A site that changes its rules with each capture."""
    return (answer(host, number, body=f"user-agent: *\ndisallow: /{number % 2}{number}") for number in range(versions))


def write(folder, robosieve, captures, hosts, versions):
    """Writes the snapshot, and pages of the hosts at random times."""
    with open(folder / "x.jsonl", "w") as archive:
        archive.writelines(json.dumps(capture) + "\n" for capture in captures)
    robosieve("compile", "-q", "--history", "-o", "x.rsieve", "x.jsonl")
    (folder / "x.jsonl").unlink()
    rng = random.Random(1)
    urls = [f"https://{rng.choice(hosts)}/{number}" for number in range(2000)]
    (folder / "urls").write_text("".join(f"{url}\n" for url in urls))
    times = [START + rng.randrange(versions * STEP) for _ in urls]
    (folder / "pages.csv").write_text("url,time\n" + "".join(f"{url},{time}\n" for url, time in zip(urls, times)))
    lines = []
    for number, url in enumerate(urls):
        host, path = url.removeprefix("https://").split("/")
        day = number * 28 // len(urls) + 1
        lines.append(f'{host}:443 192.0.2.1 - - [{day:02}/Feb/2026:00:00:00 +0000] "GET /{path} HTTP/1.1" 200 5 "-" "GPTBot"\n')
    (folder / "access.log").write_text("".join(lines))
    later = answer("h0.example", versions + 1, status=503)
    (folder / "new.jsonl").write_text(json.dumps(later) + "\n")


def hub(folder, robosieve):
    """Many hosts redirect to one that changes as often."""
    count = 20_000
    hosts = [f"h{number}.example" for number in range(count)]
    captures = [*toggled("hub.example", count), *(moved(host, 0, "hub.example") for host in hosts)]
    write(folder, robosieve, captures, hosts, count)


def chain(folder, robosieve):
    """Six hosts, each of which redirects to the next, and to nowhere every other time."""
    count = 10_000
    captures = list(toggled("h5.example", count))
    for host in range(5):
        for number in range(count):
            target = f"h{host + 1}.example" if number % 2 else f"nowhere{number}.example"
            captures.append(moved(f"h{host}.example", number, target))
    write(folder, robosieve, captures, [f"h{host}.example" for host in range(6)], count)


def large_texts(folder, robosieve):
    """Versions of a robots.txt of 500 KB, which is parsed for each time that is asked about."""
    rules = "".join(f"disallow: /{number:06}/*/x$\n" for number in range(22_000))
    captures = [answer("h0.example", number, body=f"user-agent: *\ndisallow: /{number}\n{rules}") for number in range(100)]
    write(folder, robosieve, captures, ["h0.example"], 100)


def union_of_many_agents(folder, robosieve):
    """The old rules of a site are a union of 25,000 rule sets, which a thousand agents obey. So a change of the rules
    costs as much as their union, not as all agents with it."""
    count = 25_000
    write(folder, robosieve, toggled("h0.example", 40), ["h0.example"], 40)
    sets = b"".join(snapshots.literal_set(number) for number in range(count))
    union = snapshots.union([number * len(sets) // count // 8 for number in range(count)])
    honest = (folder / "x.rsieve").read_bytes()
    # Each of the 39 old texts has this union for all agents.
    rows = struct.pack("<IIQ", len(sets) // 8, 0, 0) * 39 + struct.pack("<IIQ", snapshots.NONE, 0, 0)
    parts = {22: rows, 23: b"", 24: sets + union, 25: snapshots.tokens([])}
    (folder / "x.rsieve").write_bytes(snapshots.replace(honest, parts))
    (folder / "agents").write_text("".join(f"Agent{'abcdefghij'[number // 100]}-{number}\n" for number in range(1000)))
    lines = (folder / "pages.csv").read_text().splitlines()[:21]
    (folder / "pages.csv").write_text("\n".join(lines) + "\n")


BOMBS = [
    Bomb("history-hub", "20,000 hosts that redirect to one with 20,000 versions", hub, READERS, 5, 200),
    Bomb("history-chain", "6 hosts with 10,000 versions, each redirected to the next", chain, READERS, 5, 200),
    # A text takes 2 ms to parse, and few fit in memory: docs/LIMITS.md.
    Bomb("history-large-texts", "100 versions of 500 KB, asked about at 2,000 random times", large_texts, READERS, 8, 300),
]
FORGED = [
    Bomb("history-union", "rules of old texts, a union of 25,000 sets for 1,000 agents", union_of_many_agents, [
        "filter -q -s x.rsieve --agents-from agents --as-of-column time pages.csv -o out",
        "inspect x.rsieve --verify",
    ], 1, 100),
]
