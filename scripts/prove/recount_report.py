#!/usr/bin/env python3
"""Recounts the figures of `robosieve report`.

usage: scripts/x recount-report SNAPSHOT AGENT,AGENT... LIST... [--captures FILE]

The JSON is compared with the letters of `robosieve annotate` for the same lists, and the page and the
CSV with the JSON. Counts by origin and by host, weights, top-level domains, groups of a file, samples
and a series are compared with the rows of `robosieve export`. The script shares no code with
robosieve. With the package xxhash it also draws the samples. It takes origins from the text of URLs, so
those of a list should be in normal form, as in crawls. With --captures, SNAPSHOT has the history of this
archive of JSON lines, and the counts of `--disallowed-since` are derived from the captures. ROBOSIEVE
names the binary (default: target/release/robosieve).
"""

import argparse
import collections
import csv
import datetime
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

from campaigns import versions
from campaigns.command import BINARY, run

try:
    import xxhash
except ImportError:
    xxhash = None


def count_letters(lines, agents):
    """Counts lines by letter for each agent, all lines, lines with a D, lines with only A, and lines
    by origin."""
    letters = [collections.Counter() for _ in range(agents)]
    refused = allowed = total = 0
    patterns = collections.Counter()
    origins = collections.defaultdict(lambda: [0, 0])
    for line in lines:
        verdicts, url = line[:agents], line[agents + 1 :]
        patterns[verdicts] += 1
        scheme, _, rest = url.strip().lower().partition(b"://")
        port = {b"http": b":80", b"https": b":443"}.get(scheme)
        # Unusual spellings would need a URL parser.
        host = re.split(rb"[/?#;]", rest, maxsplit=1)[0].rpartition(b"@")[2]
        if port and host.isascii():
            origin = origins[scheme + b"://" + host.removesuffix(port)]
            origin[0] += 1
            origin[1] += b"D" in verdicts
    for verdicts, count in patterns.items():
        total += count
        refused += count * (b"D" in verdicts)
        allowed += count * (set(verdicts) == {ord("A")})
        for agent in range(agents):
            letters[agent][chr(verdicts[agent])] += count
    return letters, total, refused, allowed, origins


class Numbers(html.parser.HTMLParser):
    """The numbers in the page, each with its JSON pointer."""

    def __init__(self):
        super().__init__()
        self.place, self.found = None, []

    def handle_starttag(self, tag, attrs):
        self.place = dict(attrs).get("data-m")

    def handle_data(self, data):
        if self.place is not None:
            self.found.append((self.place, int(data.replace(",", ""))))
            self.place = None


def at(value, pointer):
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


CAUSES = ("wholly_by_name", "wholly_by_global", "wholly_by_status", "partly_by_name", "partly_by_global", "not")


def read_origins(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def host_of(row):
    return row["host"].removesuffix(".") or row["host"]


def representatives(rows):
    """One origin per host: one that answered, then https and http on their default ports."""
    hosts = collections.defaultdict(list)
    for row in rows:
        hosts[host_of(row)].append(row)

    def place(row):
        usual = {("https", 443): 0, ("http", 80): 1}.get((row["scheme"], row["port"]), 2)
        return row["outcome"] not in ("rules", "client-error"), len(row["host"]), usual, row["origin"].encode()

    return [min(of_host, key=place) for of_host in hosts.values()]


def weight_of(host):
    """A weight for two of three hosts."""
    number = zlib.crc32(host.encode())
    return (number // 3 % 1000) / 8 if number % 3 else 0.0


def group_of(host):
    """A group for four of five hosts."""
    number = zlib.crc32(b"group " + host.encode())
    return f"group {number // 5 % 7}" if number % 5 else "(no group)"


def cause_of(row, agent):
    """The name of the count of an origin. Without a group that applies, nothing is refused."""
    cause = {"name": "by_name", "*": "by_global", None: "by_status"}.get(row[f"{agent}.named"])
    return {"blocked": f"wholly_{cause}", "partial": f"partly_{cause}", "allowed": "not"}[row[f"{agent}.access"]]


def count_origins(rows, agent, weigh=lambda row: 1):
    """The counts of a report, or sums of weights."""
    counts = dict.fromkeys(CAUSES, 0)
    for row in rows:
        counts[cause_of(row, agent)] += weigh(row)
    for of in ("wholly", "partly"):
        counts[of] = sum(count for cause, count in counts.items() if cause.startswith(of + "_by_"))
    return counts


def top_level_domain(row):
    host = host_of(row)
    is_address = host.startswith("[") or re.fullmatch(r"\d+\.\d+\.\d+\.\d+", host)
    return "(ip)" if is_address else host.rpartition(".")[2]


def by_group(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[group_of(host_of(row))].append(row)
    return groups


def check_groups(report, hosts, same):
    """Compares the groups of a file."""
    groups = by_group(hosts)
    sizes = {group["name"]: (group["units"], group["of"]) for group in report["groups"]}
    same("units by group", sizes, {name: (len(of), len(of)) for name, of in groups.items()})
    same("last group", report["groups"][-1]["name"], "(no group)")
    matched = sum(len(of) for name, of in groups.items() if name != "(no group)")
    same("units with a group", report["group_list"]["units_matched"], matched)
    for number, agent in enumerate(report["agents"]):
        for group in report["groups"]:
            counts = count_origins(groups[group["name"]], agent["agent"])
            same(f"{group['name']} for {agent['agent']}", group["agents"][number], counts)


def end_of_interval(share, n, end):
    """The share at which a score test of the observed one has the quantile of 97.5 %, by bisection."""
    inside, outside = share, end
    for _ in range(80):
        middle = (inside + outside) / 2
        if (share - middle) ** 2 <= 1.959963984540054**2 * middle * (1 - middle) / n:
            inside = middle
        else:
            outside = middle
    return outside


def check_intervals(what, counts, intervals, drawn, population, same):
    for key, interval in intervals.items():
        share = counts[key] / drawn
        expected = [share, share]
        if drawn < population:
            n = drawn * (population - 1) / (population - drawn)
            expected = [end_of_interval(share, n, end) for end in (0, 1)]
        found = [interval["low"], interval["high"]]
        if any(abs(a - b) > 1e-9 for a, b in zip(found, expected)):
            same(f"interval of {what} {key}", found, expected)


def draw(hosts, size, seed):
    """The hosts with the smallest hashes of their names."""
    return sorted(hosts, key=lambda row: xxhash.xxh3_64_intdigest(host_of(row).encode(), seed))[:size]


def check_sample(report, hosts, same):
    """Compares the counts and intervals of a sample of the hosts, and of a sample of each group."""
    sample, groups = report["sample"], by_group(hosts)
    size, seed = sample["size"], sample["seed"]
    same("sampled hosts", (sample["units"], sample["of"]), (min(size, len(hosts)), len(hosts)))
    drawn = xxhash and draw(hosts, size, seed)
    for number, agent in enumerate(report["agents"]):
        name = agent["agent"]
        if drawn:
            same(f"sampled hosts of {name}", agent["origins"], count_origins(drawn, name))
        check_intervals(name, agent["origins"], agent["intervals"], sample["units"], sample["of"], same)
        for group in report["groups"]:
            members = groups[group["name"]]
            same(f"sampled {group['name']}", (group["units"], group["of"]), (min(size, len(members)), len(members)))
            counts = group["agents"][number]
            if drawn:
                expected = count_origins(draw(members, size, seed), name)
                same(f"sampled {group['name']} for {name}", counts, expected)
            intervals = group["intervals"][number]
            check_intervals(f"{group['name']} {name}", counts, intervals, group["units"], group["of"], same)


def check_hosts(report, series_path, rows, same):
    """Compares a report by host, and a series of the same snapshot twice."""
    hosts = representatives(rows)
    same("units by host", (report["by"], report["units"]), ("host", len(hosts)))
    groups = collections.defaultdict(list)
    for row in hosts:
        groups[top_level_domain(row)].append(row)
    sizes = {name: len(of) for name, of in groups.items()}
    same("units by top-level domain", {group["name"]: group["units"] for group in report["groups"]}, sizes)
    same("order of groups", [group["units"] for group in report["groups"]], sorted(sizes.values(), reverse=True))
    with open(series_path, encoding="utf-8", newline="") as lines:
        series = list(csv.DictReader(lines))
    listed = sum(weight_of(host_of(row)) for row in hosts)
    near = lambda a, b: {key: abs(a[key] - b[key]) <= listed * 1e-9 for key in b} == dict.fromkeys(b, True)
    for number, agent in enumerate(report["agents"]):
        name = agent["agent"]
        counts = count_origins(hosts, name)
        same(f"hosts of {name}", agent["origins"], counts)
        weighted = count_origins(hosts, name, lambda row: weight_of(host_of(row)))
        if not near(agent["weighted"], weighted):
            same(f"weights of {name}", agent["weighted"], weighted)
        for group in report["groups"]:
            same(f"{group['name']} for {name}", group["agents"][number], count_origins(groups[group["name"]], name))
        for line in (line for line in series if line["agent"] == name):
            same(f"series of {name}", {key: int(line[key]) for key in counts}, counts)
            same(f"share of {name}", line["share_wholly"], f"{counts['wholly'] / len(hosts):.6f}")
    same("lines of the series", len(series), 2 * len(report["agents"]))


PERIODS = {
    "day": "{:%Y-%m-%d}",
    "week": "{0:%G}-W{0:%V}",
    "month": "{:%Y-%m}",
    "quarter": "{0:%Y}-Q{1}",
    "year": "{:%Y}",
}


def label_of(period, seconds):
    """The label of the period with a time."""
    day = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return PERIODS[period].format(day, (day.month + 2) // 3)


def bounds_by_origin(rows, agents, captures):
    """For each origin that rules disallow wholly to an agent: since when, by the captures; None if its first
    answer did."""
    by_url, policy = versions.read(captures), "google"
    found = {}
    for row in rows:
        for agent in agents:
            if row[f"{agent}.access"] == "blocked" and row[f"{agent}.named"] is not None:
                web = versions.Web(by_url, row["origin"] + "/robots.txt")
                blocked = lambda text: versions.access(text, agent)[0] == "blocked"  # noqa: E731
                _, since = web.since(policy, blocked)
                is_later = since is not None and web.way(since - 1)
                found[row["origin"], agent] = since if is_later else None
    return found


def check_since(report, units, bounds, period, same):
    """Compares when units began to disallow each agent. Returns the number of these units."""
    first, began = collections.Counter(), collections.defaultdict(collections.Counter)
    for row in units:
        for agent in (one["agent"] for one in report["agents"]):
            if (row["origin"], agent) in bounds:
                since = bounds[row["origin"], agent]
                if since is None:
                    first[agent] += 1
                else:
                    began[label_of(period, since)][agent] += 1
    expected = [
        {
            "agent": agent["agent"],
            "units": first[agent["agent"]] + sum(counts[agent["agent"]] for counts in began.values()),
            "first_answer": first[agent["agent"]],
            "began": [began[label][agent["agent"]] for label in sorted(began)],
        }
        for agent in report["agents"]
    ]
    found = report["disallowed_since"]
    same(f"periods of a {period}", (found["every"], found["periods"]), (period, sorted(began)))
    same(f"beginnings by {period}", found["agents"], expected)
    return sum(agent["units"] for agent in expected)


def check_beginnings(folder, snapshot, agents, captures, rows, same):
    """Compares the section of --disallowed-since by origin and host, with each period. Returns the number of
    beginnings, of the numbers of the page, and of the lines of CSV."""
    bounds = bounds_by_origin(rows, agents, captures)
    beginnings = pages = lines = 0
    for by, units in (("origin", rows), ("host", representatives(rows))):
        for period in PERIODS:
            out = [folder / f"since.{kind}" for kind in ("json", "csv", "html")]
            options = ["-a", ",".join(agents), "--by", by, "--disallowed-since", "--every", period]
            run("report", "-q", "-s", snapshot, *options, "--json-to", out[0], "--csv-to", out[1], "--html", out[2])
            report = json.loads(out[0].read_text("utf-8"))
            beginnings += check_since(report, units, bounds, period, same)
            page = Numbers()
            page.feed(out[2].read_text("utf-8"))
            numbers = [found for found in page.found if found[0].startswith("/disallowed_since/")]
            same("numbers of a page", not numbers, False)
            for place, number in numbers:
                same(f"page {place}", number, at(report, place))
            pages += len(numbers)
            found = report["disallowed_since"]
            expected = []
            for agent in found["agents"]:
                for measure, count in (("origins", agent["units"]), ("first_answer", agent["first_answer"])):
                    expected.append(["disallowed_since", "", agent["agent"], measure, str(count)])
                for label, count in zip(found["periods"], agent["began"]):
                    expected.append(["disallowed_since", label, agent["agent"], "origins", str(count)])
            with open(out[1], encoding="utf-8", newline="") as text:
                listed = [row for row in csv.reader(text) if row[0] == "disallowed_since"]
            same(f"CSV by {period}", listed, expected)
            lines += len(listed)
    return beginnings, pages, lines


def write_groups(path, hosts, separator, value_of):
    """Writes a file for --weights or --group-by: each host with a value, if it has one."""
    rows = [f"{host}{separator}{value_of(host)}\n" for host in hosts if value_of(host)]
    path.write_text("".join(rows), encoding="utf-8")


def write_reports(folder, snapshot, agents, lists):
    """Writes the reports that are compared."""
    agents = ["-a", agents]
    page = ["--html", folder / "r.html", "--json-to", folder / "r.json", "--csv-to", folder / "r.csv"]
    run("report", "-q", "-s", snapshot, *agents, "--by", "origin", *page, *lists)
    run("export", "-q", "-s", snapshot, *agents, "--as", "jsonl", "-o", folder / "origins.jsonl")
    hosts = sorted({host_of(row) for row in read_origins(folder / "origins.jsonl")})
    write_groups(folder / "weights.tsv", hosts, "	", weight_of)
    write_groups(folder / "groups.csv", hosts, ",", lambda host: group_of(host).replace("(no group)", ""))
    by_host = ["--by", "host", *agents]
    weighted = [*by_host, "--weights", folder / "weights.tsv"]
    grouped = [*by_host, "--group-by", folder / "groups.csv"]
    run("report", "-q", "-s", snapshot, *weighted, "--group-by", "tld", "--top", "10000", "--json-to", folder / "hosts.json")
    run("report", "-q", "-s", snapshot, *grouped, "--json-to", folder / "groups.json")
    run("report", "-q", "-s", snapshot, *grouped, "--sample", "200", "--seed", "7", "--json-to", folder / "sample.json")
    run("report", "-q", "--series", f"a={snapshot}", f"b={snapshot}", *weighted, "--csv-to", folder / "series.csv")


def compare(folder, snapshot, lists, captures):
    """Prints what differs, and returns whether something does."""
    wrong = []

    def same(what, found, expected):
        if found != expected:
            wrong.append(f"{what}: {found} in the report, {expected} counted")

    read = lambda name: json.loads((folder / name).read_text("utf-8"))  # noqa: E731
    report = read("r.json")
    agents = [agent["agent"] for agent in report["agents"]]
    annotate = [BINARY, "annotate", "-q", "-s", snapshot, "-a", ",".join(agents), *lists]
    with subprocess.Popen(annotate, stdout=subprocess.PIPE) as annotated:
        letters, total, refused, allowed, origins = count_letters(annotated.stdout, len(agents))
    if annotated.returncode:
        sys.exit("recount-report: annotate failed")
    same("lines", report["lists"]["lines"], total)
    same("refused to any", report["lists"]["refused_to_any"], refused)
    same("allowed to all", report["lists"]["allowed_to_all"], allowed)
    for agent, counts in zip(report["agents"], letters):
        for verdict, letter in zip(("allowed", "disallowed", "unknown", "invalid"), "ADUI"):
            same(f"{agent['agent']} {verdict}", agent["urls"][verdict], counts[letter])
    rows = read_origins(folder / "origins.jsonl")
    for agent in report["agents"]:
        same(f"origins of {agent['agent']}", agent["origins"], count_origins(rows, agent["agent"]))
    check_hosts(read("hosts.json"), folder / "series.csv", rows, same)
    check_groups(read("groups.json"), representatives(rows), same)
    check_sample(read("sample.json"), representatives(rows), same)
    since = ""
    if captures:
        counts = check_beginnings(folder, snapshot, agents, captures, rows, same)
        since = "; {} beginnings by captures, {} numbers of pages and {} lines of CSV agree".format(*counts)
    same("URLs by basis", sum(basis["urls"] for basis in report["bases"]), total)
    same("origins by basis", sum(basis["origins"] for basis in report["bases"]), report["snapshot"]["origins"])
    for i, agent in enumerate(agents):
        same(f"refused to {agent}, by basis", sum(basis["urls_refused"][i] for basis in report["bases"]), letters[i]["D"])
    for origin in report["top_origins"]:
        urls, of_them = origins[origin["origin"].encode()]
        found, odd = [origin["urls"], origin["urls_refused"]], origin["urls"] // 100
        if not all(0 <= more - fewer <= odd for more, fewer in zip(found, [urls, of_them])):
            same(f"URLs and refused URLs of {origin['origin']}", found, [urls, of_them])

    page = Numbers()
    page.feed((folder / "r.html").read_text("utf-8"))
    for place, number in page.found:
        same(f"page {place}", number, at(report, place))
    lines = {(row[0], row[1], row[2], row[3]): row[4] for row in csv.reader(open(folder / "r.csv", encoding="utf-8", newline=""))}
    for agent in report["agents"]:
        for measure, count in [*agent["urls"].items()]:
            same(f"CSV {agent['agent']} {measure}", lines["agents", "", agent["agent"], f"urls_{measure}"], str(count))
        for measure, count in agent["origins"].items():
            same(f"CSV {agent['agent']} {measure}", lines["agents", "", agent["agent"], f"origins_{measure}"], str(count))

    print("\n".join(wrong) or f"{total} lines, {len(agents)} agents, {len(rows)} origins: report, annotate and export agree; "
          f"{len(page.found)} numbers of the page and {len(lines) - 1} lines of CSV equal the JSON; "
          f"samples were {'drawn again' if xxhash else 'not drawn again, without the module xxhash'}{since}")
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot")
    parser.add_argument("agents")
    parser.add_argument("lists", nargs="+")
    parser.add_argument("--captures")
    given = parser.parse_args()
    snapshot, agents, lists = given.snapshot, given.agents, given.lists
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_reports(folder, snapshot, agents, lists)
        sys.exit(compare(folder, snapshot, lists, given.captures))


if __name__ == "__main__":
    main()
