"""Compares a report (JSON, page, CSV) with annotated lines on standard input. scripts/check-report
runs it."""

import collections
import csv
import html.parser
import json
import re
import sys


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


def main(report_path, page_path, csv_path):
    wrong = []

    def same(what, found, expected):
        if found != expected:
            wrong.append(f"{what}: {found} in the report, {expected} counted")

    report = json.load(open(report_path, encoding="utf-8"))
    agents = [agent["agent"] for agent in report["agents"]]
    letters, total, refused, allowed, origins = count_letters(sys.stdin.buffer, len(agents))
    same("lines", report["lists"]["lines"], total)
    same("refused to any", report["lists"]["refused_to_any"], refused)
    same("allowed to all", report["lists"]["allowed_to_all"], allowed)
    for agent, counts in zip(report["agents"], letters):
        for verdict, letter in zip(("allowed", "disallowed", "unknown", "invalid"), "ADUI"):
            same(f"{agent['agent']} {verdict}", agent["urls"][verdict], counts[letter])
        counts = agent["origins"]
        same(f"origins of {agent['agent']}", sum(counts[of] for of in ("wholly", "partly", "not")), report["snapshot"]["origins"])
        for of in ("wholly", "partly"):
            causes = sum(count for name, count in counts.items() if name.startswith(of + "_by_"))
            same(f"causes of {of} for {agent['agent']}", causes, counts[of])
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
    page.feed(open(page_path, encoding="utf-8").read())
    for place, number in page.found:
        same(f"page {place}", number, at(report, place))
    lines = {(row[0], row[1], row[2], row[3]): row[4] for row in csv.reader(open(csv_path, encoding="utf-8", newline=""))}
    for agent in report["agents"]:
        for measure, count in [*agent["urls"].items()]:
            same(f"CSV {agent['agent']} {measure}", lines["agents", "", agent["agent"], f"urls_{measure}"], str(count))
        for measure, count in agent["origins"].items():
            same(f"CSV {agent['agent']} {measure}", lines["agents", "", agent["agent"], f"origins_{measure}"], str(count))

    print("\n".join(wrong) or f"{total} lines, {len(agents)} agents, {len(report['top_origins'])} origins: report and annotate agree; "
          f"{len(page.found)} numbers of the page and {len(lines) - 1} lines of CSV equal the JSON")
    sys.exit(bool(wrong))


main(*sys.argv[1:])
