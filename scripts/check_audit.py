"""Recounts access logs in combined format and compares the counts with `robosieve audit --json`.
scripts/check-audit runs it. It shares no code with robosieve: a regular expression parses the lines
and another finds the crawlers."""

import collections
import datetime
import gzip
import json
import os
import re
import subprocess
import sys

LINE = re.compile(
    rb'(?P<client>.*?) .*? .*? \[(?P<time>[^\]]*)\] "(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) '
    rb'(?P<bytes>\d+|-) "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)"(?: .*)?'
)
ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|([\"\\nrt]))")
PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def unescape(text):
    def plain(match):
        return bytes([int(match[1], 16)]) if match[1] else PLAIN.get(match[2], match[2])

    return ESCAPE.sub(plain, text)


def read_tokens(path):
    with open(path) as table:
        rows = [line for line in table if not line.startswith("#")][1:]
    return [row.split("\t")[0] for row in rows]


def finder(tokens):
    """A function from a header to the first token in it, the longest of those at one place."""
    longest_first = sorted(tokens, key=len, reverse=True)
    words = b"|".join(re.escape(token.encode()) for token in longest_first)
    search = re.compile(rb"(?<![A-Za-z0-9_-])(?:" + words + rb")(?![A-Za-z0-9_])", re.IGNORECASE).search
    names = {token.lower(): token for token in tokens}
    cache = {}

    def find(agent):
        if agent not in cache:
            match = search(agent)
            cache[agent] = names[match[0].decode().lower()] if match else None
        return cache[agent]

    return find


def parse_time(text):
    return int(datetime.datetime.strptime(text.decode("latin-1"), "%d/%b/%Y:%H:%M:%S %z").timestamp())


def parse_target(request):
    method, _, rest = request.partition(b" ")
    target, blank, protocol = rest.rpartition(b" ")
    return target if blank and protocol.startswith(b"HTTP/") else rest


def open_log(path):
    return gzip.open(path) if path.endswith(".gz") else open(path, "rb")


def count(paths, find):
    totals = collections.Counter()
    requests = collections.defaultdict(list)
    for path in paths:
        for line in open_log(path):
            totals["lines"] += 1
            match = LINE.fullmatch(line.rstrip(b"\n").removesuffix(b"\r"))
            try:
                time = parse_time(match["time"]) if match else None
            except ValueError:
                time = None
            name = find(unescape(match["agent"])) if match else None
            target = unescape(parse_target(match["request"])) if match else b""
            if time is None or (name and not target.startswith((b"/", b"http://", b"https://"))):
                totals["invalid"] += 1
            elif name is None:
                totals["other_agents"] += 1
            else:
                size = 0 if match["bytes"] == b"-" else int(match["bytes"])
                requests[name].append((target, time, match["status"][:1] == b"2", size))
    return totals, requests


def judge(snapshot, name, urls):
    """The letters of `annotate` for the URLs."""
    command = [os.environ["ROBOSIEVE"], "annotate", "-q", "-s", snapshot, "-a", name, "--scheme", "any"]
    ran = subprocess.run(command, input=b"".join(url + b"\n" for url in urls), capture_output=True, check=True)
    return [line[:1] for line in ran.stdout.split(b"\n")[:-1]]


def expected(snapshot, origin, name, requests):
    urls = [origin + target if target.startswith(b"/") else target for target, *_ in requests]
    if any(b"\n" in url for url in urls):
        sys.exit("a URL with a line end cannot be annotated; leave such lines out")
    letters = judge(snapshot, name, urls)
    out = collections.Counter({"requests": len(requests)})
    for (target, time, is_2xx, size), letter in zip(requests, letters, strict=True):
        is_robots = re.split(rb"[?#]", target, maxsplit=1)[0] == b"/robots.txt"
        out["robots_txt"] += is_robots
        verdict = "allowed" if is_robots or letter == b"A" else "disallowed" if letter == b"D" else "unknown"
        out[verdict] += 1
        out["bytes"] += size
        if verdict == "disallowed":
            out["disallowed_bytes"] += size
            out["disallowed_2xx"] += is_2xx
    times = [time for _, time, *_ in requests]
    return out, min(times), max(times)


def rfc3339(time):
    return datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main(table, snapshot, host, *paths):
    origin = (host if "://" in host else "https://" + host).rstrip("/").encode()
    command = [os.environ["ROBOSIEVE"], "audit", "-q", "-s", snapshot, "--host", host, "--json"]
    command += ["--top", "1000", *paths]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    totals, requests = count(paths, finder(read_tokens(table)))
    wrong = []

    def compare(what, found, wanted):
        if found != wanted:
            wrong.append(f"{what}: audit has {found}, the logs have {wanted}")

    for key in ("lines", "invalid", "other_agents"):
        compare(key, report[key], totals[key])
    found = {crawler["name"]: crawler for crawler in report["crawlers"]}
    compare("crawlers", sorted(found), sorted(requests))
    keys = "requests allowed disallowed unknown robots_txt bytes disallowed_bytes disallowed_2xx".split()
    for name in set(found) & set(requests):
        counts, first, last = expected(snapshot, origin, name, requests[name])
        for key in keys:
            compare(f"{name}: {key}", found[name][key], counts[key])
        # Each refused request breaks one rule.
        rules = [rule["requests"] for rule in found[name]["rules"]]
        if len(rules) < 1000:
            compare(f"{name}: rules", sum(rules), counts["disallowed"])
        compare(f"{name}: first", found[name]["first"], rfc3339(first))
        compare(f"{name}: last", found[name]["last"], rfc3339(last))
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{totals['lines']:,} lines, {len(found)} crawlers: all figures are equal")


main(*sys.argv[1:])
