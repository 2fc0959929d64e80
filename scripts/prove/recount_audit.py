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
import csv
import datetime
import gzip
import ipaddress
import json
import re
import sys
import urllib.parse

from campaigns.command import ROOT, letters, run

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


def read_chains():
    """The chain of each crawler, as `annotate -a` takes it: the token, the names it falls back to, and `!*` if it
    ignores the groups for `*`."""
    chains = {}
    with open(TABLE) as table:
        for row in csv.DictReader((line for line in table if not line.startswith("#")), delimiter="\t"):
            star = "!*" if row["ignores_star"] == "yes" else "none"
            names = row["token"], row["falls_back_to"], star
            chains[row["token"]] = ":".join(name for name in names if name != "none")
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


def parse_time(text, form):
    return int(datetime.datetime.strptime(text.decode("latin-1"), form).timestamp())


def parse_target(request):
    method, _, rest = request.partition(b" ")
    target, blank, protocol = rest.rpartition(b" ")
    return target if blank and protocol.startswith(b"HTTP/") else rest


# A request as a format logs it, without escapes.
Request = collections.namedtuple("Request", "client time target status size agent")


def parse_combined(line):
    """The request of a line; None if the line is not one."""
    match = LINE.fullmatch(line)
    try:
        time = match and parse_time(match["time"], "%d/%b/%Y:%H:%M:%S %z")
    except ValueError:
        time = None
    if time is None:
        return None
    size = int(match["bytes"].replace(b"-", b"0"))
    target = unescape(parse_target(match["request"]))
    return Request(match["client"], time, target, int(match["status"]), size, unescape(match["agent"]))


def parse_cloudfront(line, columns):
    """The request of a line. All fields are percent-encoded, User-Agents often twice."""
    texts = line.split(b"\t")
    if len(texts) < len(columns):
        return None
    field = dict(zip(columns, texts))
    try:
        time = parse_time(field[b"date"] + b" " + field[b"time"] + b" +0000", "%Y-%m-%d %H:%M:%S %z")
    except ValueError:
        return None
    target, query = (urllib.parse.unquote_to_bytes(field[name]) for name in (b"cs-uri-stem", b"cs-uri-query"))
    if field[b"cs-uri-query"] != b"-":
        target += b"?" + query
    agent = urllib.parse.unquote_to_bytes(urllib.parse.unquote_to_bytes(field[b"cs(User-Agent)"]))
    status, size = (int(field[name].replace(b"-", b"0")) for name in (b"sc-status", b"sc-bytes"))
    return Request(field[b"c-ip"], time, target, status, size, agent)


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
            entries = [entry.items() for entry in json.load(file)["prefixes"]]
        prefixes = [prefix for entry in entries for key, prefix in entry if "Prefix" in key]
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
    if any(b"\n" in url for url in urls):
        sys.exit("a URL with a line end cannot be annotated; leave such lines out")
    return letters(snapshot, chain, urls, "--scheme", "any")


def url_of(origin, target):
    return origin + target if target.startswith(b"/") else target


def origin_and_path(origin, target):
    """The canonical origin of a target, and its path and query."""
    if target.startswith(b"/"):
        return origin, target
    parts = urllib.parse.urlsplit(target.split(b"#")[0])
    host = parts.netloc.rpartition(b"@")[2].lower()
    host = host.removesuffix(b":80" if parts.scheme == b"http" else b":443")
    return parts.scheme + b"://" + host, target.split(parts.netloc, 1)[1]


def figures(origin, requests, verdicts):
    """The figures of a crawler under the keys of the JSON, by its requests and the letters of their verdicts."""
    keys = "requests allowed disallowed unknown robots_txt bytes disallowed_bytes disallowed_2xx".split()
    out = dict.fromkeys(keys, 0) | {"requests": len(requests)}
    fetches, delays, without = {}, [], 0
    for request, letter in zip(requests, verdicts, strict=True):
        site, path = origin_and_path(origin, request.target)
        is_robots = re.split(rb"[?#]", path, maxsplit=1)[0] == b"/robots.txt"
        out["robots_txt"] += is_robots
        verdict = "allowed" if is_robots else {"A": "allowed", "D": "disallowed"}.get(letter, "unknown")
        out[verdict] += 1
        out["bytes"] += request.size
        if is_robots:
            fetches[site] = request.time
        if verdict == "disallowed":
            out["disallowed_bytes"] += request.size
            out["disallowed_2xx"] += 200 <= request.status < 300
            if site in fetches:
                # The logs of another server begin at an earlier time.
                delays.append(max(request.time - fetches[site], 0))
            else:
                without += 1
    times = [request.time for request in requests]
    out["first"], out["last"] = rfc3339(min(times, default=None)), rfc3339(max(times, default=None))
    return out | {"after_robots_txt": after_robots_txt(delays, without)}


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
    options = [word for option in args.verify_ips for word in ("--verify-ips", option)]
    command = ["audit", "-q", "-s", args.snapshot, "--host", host, "--json", "--top", "1000", *args.logs, *options]
    report, chains = json.loads(run(*command)), read_chains()
    totals, requests = count(args.logs, finder(chains), read_ranges(args.verify_ips))
    wrong = []

    def compare(what, found, wanted):
        if found != wanted:
            wrong.append(f"{what}: audit has {found}, the logs have {wanted}")

    for key in ("lines", "invalid", "other_agents"):
        compare(key, report[key], totals[key])
    found = {(crawler["name"], crawler["identity"]): crawler for crawler in report["crawlers"]}
    compare("crawlers", sorted(found, key=str), sorted(requests, key=str))
    for row in set(found) & set(requests):
        name, chain = " ".join(filter(None, row)), chains[row[0]]
        verdicts = judge(args.snapshot, chain, [url_of(origin, request.target) for request in requests[row]])
        expected = figures(origin, requests[row], verdicts) | {"judged_as": chain}
        for key, wanted in expected.items():
            compare(f"{name}: {key}", found[row][key], wanted)
        # Each disallowed request breaks one rule.
        rules = [rule["requests"] for rule in found[row]["rules"]]
        if len(rules) < 1000:
            compare(f"{name}: rules", sum(rules) + found[row]["rules_left_out"], expected["disallowed"])
    if wrong:
        sys.exit("\n".join(wrong))
    crawlers, disallowed = len({name for name, _ in found}), sum(crawler["disallowed"] for crawler in found.values())
    print(f"{totals['lines']:,} lines, {crawlers} crawlers, {disallowed:,} disallowed: all figures are equal")


if __name__ == "__main__":
    main()
