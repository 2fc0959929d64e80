#!/usr/bin/env python3
"""Recounts access logs, and compares the counts with `robosieve audit --json`.

usage: scripts/x recount-audit [--verify-ips NAME=FILE]... SNAPSHOT HOST LOG...

The logs are in combined format or of CloudFront. The script shares no code with robosieve: a regular
expression parses the lines, another finds the crawlers, and Python's libraries decode fields and
compare addresses. The verdicts are those of `robosieve annotate`. ROBOSIEVE names the binary (default:
target/release/robosieve).
"""

import argparse
import collections
import datetime
import gzip
import ipaddress
import json
import re
import subprocess
import sys
import urllib.parse

from campaigns.command import BINARY, ROOT

# The registry of crawlers.
TABLE = ROOT / "datasets" / "agents.tsv"

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


def read_chains(path):
    """The chain of each crawler, as `annotate -a` takes it: the token, the names it falls back to, and `!*` if it
    ignores the groups for `*`."""
    with open(path) as table:
        rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    columns = rows[0]
    chains = {}
    for row in rows[1:]:
        facts = dict(zip(columns, row))
        parts = [facts["token"]]
        if facts["falls_back_to"] != "none":
            parts.append(facts["falls_back_to"])
        if facts["ignores_star"] == "yes":
            parts.append("!*")
        chains[facts["token"]] = ":".join(parts)
    return chains


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


# A request as a format logs it, without escapes; `status` is text.
Request = collections.namedtuple("Request", "client time target status size agent")


def parse_combined(line):
    """The request of a line; None if the line is not one."""
    match = LINE.fullmatch(line)
    try:
        time = parse_time(match["time"]) if match else None
    except ValueError:
        time = None
    if time is None:
        return None
    target = unescape(parse_target(match["request"]))
    return Request(match["client"], time, target, match["status"], match["bytes"], unescape(match["agent"]))


def parse_cloudfront(line, columns):
    """The request of a line. All fields are percent-encoded, User-Agents often twice."""
    texts = line.split(b"\t")
    if len(texts) < len(columns):
        return None
    field = dict(zip(columns, texts))
    try:
        stamp = field[b"date"] + b" " + field[b"time"] + b" +0000"
        time = int(datetime.datetime.strptime(stamp.decode("latin-1"), "%Y-%m-%d %H:%M:%S %z").timestamp())
    except ValueError:
        return None
    target, query = (urllib.parse.unquote_to_bytes(field[name]) for name in (b"cs-uri-stem", b"cs-uri-query"))
    if field[b"cs-uri-query"] != b"-":
        target += b"?" + query
    agent = urllib.parse.unquote_to_bytes(urllib.parse.unquote_to_bytes(field[b"cs(User-Agent)"]))
    return Request(field[b"c-ip"], time, target, field[b"sc-status"], field[b"sc-bytes"], agent)


def open_log(path):
    return gzip.open(path) if path.endswith(".gz") else open(path, "rb")


def read_requests(path):
    """For each line of a log its request, or None. The comments of CloudFront are no lines."""
    columns = None
    for line in open_log(path):
        line = line.rstrip(b"\n").removesuffix(b"\r")
        if line.startswith(b"#") and (columns or line.startswith((b"#Version:", b"#Fields:"))):
            columns = line.split()[1:] if line.startswith(b"#Fields:") else columns or [b"?"]
        else:
            yield parse_cloudfront(line, columns) if columns else parse_combined(line)


def read_ranges(options):
    """The networks of each crawler, from NAME=FILE."""
    ranges = collections.defaultdict(list)
    for option in options:
        name, _, path = option.partition("=")
        with open(path) as file:
            prefixes = [prefix for entry in json.load(file)["prefixes"] for key, prefix in entry.items() if "Prefix" in key]
        ranges[name.lower()] += [ipaddress.ip_network(prefix, strict=False) for prefix in prefixes]
    return ranges


def identity_of(name, client, ranges):
    """`verified` or `claimed`; None if no addresses of the crawler are known."""
    networks = ranges.get(name.lower())
    if networks is None:
        return None
    try:
        address = ipaddress.ip_address(client.decode("latin-1"))
    except ValueError:
        return "claimed"
    return "verified" if any(address in network for network in networks) else "claimed"


def count(paths, find, ranges):
    totals = collections.Counter()
    requests = collections.defaultdict(list)
    for path in paths:
        for request in read_requests(path):
            totals["lines"] += 1
            name = find(request.agent) if request else None
            if request is None or (name and not request.target.startswith((b"/", b"http://", b"https://"))):
                totals["invalid"] += 1
            elif name is None:
                totals["other_agents"] += 1
            else:
                requests[name, identity_of(name, request.client, ranges)].append(request)
    # A crawler with known addresses has both entries.
    for name, identity in list(requests):
        if identity:
            requests[name, "verified"], requests[name, "claimed"]  # the defaults
    return totals, requests


def judge(snapshot, chain, urls):
    """The letters of `annotate` for the URLs."""
    command = [BINARY, "annotate", "-q", "-s", snapshot, "-a", chain, "--scheme", "any"]
    ran = subprocess.run(command, input=b"".join(url + b"\n" for url in urls), capture_output=True, check=True)
    return [line[:1] for line in ran.stdout.split(b"\n")[:-1]]


def origin_and_path(origin, target):
    """The canonical origin of a target, and its path and query."""
    if target.startswith(b"/"):
        return origin, target
    parts = urllib.parse.urlsplit(target.split(b"#")[0])
    host = parts.netloc.rpartition(b"@")[2].lower()
    host = host.removesuffix(b":80" if parts.scheme == b"http" else b":443")
    return parts.scheme + b"://" + host, target.split(parts.netloc, 1)[1]


def expected(snapshot, origin, chain, requests):
    urls = [origin + request.target if request.target.startswith(b"/") else request.target for request in requests]
    if any(b"\n" in url for url in urls):
        sys.exit("a URL with a line end cannot be annotated; leave such lines out")
    letters = judge(snapshot, chain, urls)
    out = collections.Counter({"requests": len(requests)})
    fetches, delays, without = {}, [], 0
    for request, letter in zip(requests, letters, strict=True):
        site, path = origin_and_path(origin, request.target)
        is_robots = re.split(rb"[?#]", path, maxsplit=1)[0] == b"/robots.txt"
        size = 0 if request.size == b"-" else int(request.size)
        out["robots_txt"] += is_robots
        verdict = "allowed" if is_robots or letter == b"A" else "disallowed" if letter == b"D" else "unknown"
        out[verdict] += 1
        out["bytes"] += size
        if is_robots:
            fetches[site] = request.time
        if verdict == "disallowed":
            out["disallowed_bytes"] += size
            out["disallowed_2xx"] += request.status[:1] == b"2"
            if site in fetches:
                delays.append(max(request.time - fetches[site], 0))
            else:
                without += 1
    times = [request.time for request in requests]
    return out, after_robots_txt(delays, without), min(times, default=None), max(times, default=None)


def after_robots_txt(delays, without):
    """The figures of disallowed requests: the seconds since the robots.txt was fetched, and the number of
    requests without a fetch before them."""
    return {
        "disallowed_after": len(delays),
        "disallowed_within_day": sum(delay <= 86400 for delay in delays),
        "disallowed_without": without,
        "shortest_seconds": min(delays, default=None),
        "longest_seconds": max(delays, default=None),
        "mean_seconds": sum(delays) // len(delays) if delays else None,
    }


def rfc3339(time):
    return time and datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--verify-ips", metavar="NAME=FILE", action="append", default=[])
    for name in ("snapshot", "host"):
        parser.add_argument(name)
    parser.add_argument("logs", nargs="+")
    args = parser.parse_args()
    host = args.host
    origin = (host if "://" in host else "https://" + host).rstrip("/").encode()
    command = [BINARY, "audit", "-q", "-s", args.snapshot, "--host", host, "--json"]
    command += ["--top", "1000", *args.logs]
    for option in args.verify_ips:
        command += ["--verify-ips", option]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    totals, requests = count(args.logs, finder(read_tokens(TABLE)), read_ranges(args.verify_ips))
    wrong = []

    def compare(what, found, wanted):
        if found != wanted:
            wrong.append(f"{what}: audit has {found}, the logs have {wanted}")

    for key in ("lines", "invalid", "other_agents"):
        compare(key, report[key], totals[key])
    found = {(crawler["name"], crawler["identity"]): crawler for crawler in report["crawlers"]}
    compare("crawlers", sorted(found, key=str), sorted(requests, key=str))
    keys = "requests allowed disallowed unknown robots_txt bytes disallowed_bytes disallowed_2xx".split()
    chains = read_chains(TABLE)
    for row in set(found) & set(requests):
        name = " ".join(filter(None, row))
        chain = chains[row[0]]
        compare(f"{name}: judged_as", found[row]["judged_as"], chain)
        counts, after, first, last = expected(args.snapshot, origin, chain, requests[row])
        for key in keys:
            compare(f"{name}: {key}", found[row][key], counts[key])
        compare(f"{name}: after_robots_txt", found[row]["after_robots_txt"], after)
        # Each disallowed request breaks one rule.
        rules = [rule["requests"] for rule in found[row]["rules"]]
        if len(rules) < 1000:
            compare(f"{name}: rules", sum(rules) + found[row]["rules_left_out"], counts["disallowed"])
        compare(f"{name}: first", found[row]["first"], rfc3339(first))
        compare(f"{name}: last", found[row]["last"], rfc3339(last))
    if wrong:
        sys.exit("\n".join(wrong))
    crawlers, disallowed = len({name for name, _ in found}), sum(crawler["disallowed"] for crawler in found.values())
    print(f"{totals['lines']:,} lines, {crawlers} crawlers, {disallowed:,} disallowed: all figures are equal")


if __name__ == "__main__":
    main()
