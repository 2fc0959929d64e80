#!/usr/bin/env python3
"""Recounts the tables of `robosieve export`.

usage: scripts/x recount-export SNAPSHOT AGENT,AGENT... [ORIGINS] [--captures FILE]

Columns are derived from `robosieve inspect --json` and from the letters of `robosieve annotate`, for a
sample of ORIGINS (1000). The formats are compared with each other; Parquet is read with pyarrow if it
is installed. With --captures, SNAPSHOT has the history of this archive of JSON lines: the table of
`--history`, and the columns of `--disallowed-since` under each status policy, are derived from the
captures. Of the table, `looks_like` and `bytes` are not. ROBOSIEVE names the binary (default:
target/release/robosieve).
"""

import argparse
import collections
import csv
import datetime
import io
import itertools
import json
import re
import sys
import tempfile
from pathlib import Path

from campaigns import histories, versions
from campaigns.command import letters, run

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("snapshot", type=Path)
parser.add_argument("agents")
parser.add_argument("origins", type=int, nargs="?", default=1000)
parser.add_argument("--captures", type=Path)
OPTIONS = parser.parse_args()
SNAPSHOT = OPTIONS.snapshot.resolve()
AGENTS = OPTIONS.agents.split(",")
SAMPLE = OPTIONS.origins

USER_AGENT = ("user-agent", "useragent", "user agent")
ALLOW = ("allow",)
DISALLOW = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
SITEMAP = ("sitemap", "site-map")
SPACE = " \t\r\v\f"
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

found = collections.Counter()
differences = []


def compare(what, place, exported, expected):
    found[what] += 1
    if exported != expected:
        differences.append(f"{what} of {place}: exported {exported!r}, expected {expected!r}")


def field_of(line):
    """The kind and the value of a line of a condensed robots.txt."""
    name, colon, value = line.partition(":")
    if not colon:
        # Two words; other white space, such as a form feed, is part of a word.
        name, value = re.split("[ \t]+", line.strip(SPACE))
    name, value = name.strip(SPACE).lower(), value.strip(SPACE)
    for kind, prefixes in (("agent", USER_AGENT), ("allow", ALLOW), ("disallow", DISALLOW), ("sitemap", SITEMAP)):
        if name.startswith(prefixes):
            return kind, value
    return name, value


def names_of(value):
    """The names in a user-agent line."""
    names = set()
    if value[:1] == "*" and value[1:2] in ("", *SPACE):
        names.add("*")
    token = re.match(r"[A-Za-z_-]*", value)[0]
    names.add(token.lower())
    if token != value:
        names.add(" ".join(re.split(r"[/*#]", value)[0].split()).lower())
    return names - {""}


class File:
    """The values of one robots.txt."""

    def __init__(self, text):
        self.groups, self.delays, self.rules = [], [], []
        self.allow = self.disallow = 0
        self.fields = collections.defaultdict(list)
        ended, run_of_agents, holders = True, [], []
        for line in filter(None, text.split("\n")):
            kind, value = field_of(line)
            if kind == "agent":
                if ended:
                    self.groups.append(set())
                    ended, run_of_agents, holders = False, [], []
                self.groups[-1] |= names_of(value)
                run_of_agents.append(names_of(value))
            elif kind in ("allow", "disallow"):
                if self.groups:
                    ended = True
                    self.allow += kind == "allow"
                    self.disallow += kind == "disallow"
                    self.rules.append((len(self.groups), kind, value))
            else:
                self.fields[kind].append(value)
                if kind == "crawl-delay" and self.groups:
                    if run_of_agents:
                        holders, run_of_agents = set().union(*run_of_agents), []
                    self.delays.append((len(self.groups) - 1, holders, value))

    def groups_of(self, agent):
        """The groups that an agent obeys, and the name that they have."""
        for name in (*agent.lower().split(":"), "*"):
            groups = [number for number, names in enumerate(self.groups) if name in names]
            if groups:
                return groups, name
        return [], None

    def named(self, agent):
        name = self.groups_of(agent)[1]
        return {None: "none", "*": "*"}.get(name, "name")

    def delay(self, agent):
        groups, name = self.groups_of(agent)
        seconds = [value for group, holders, value in self.delays if group in groups and name in holders]
        valid = [float(value) for value in seconds if re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", value)]
        return max(valid, default=None)

    def joined(self, name):
        return "; ".join(dict.fromkeys(filter(None, self.fields[name]))) or None

    def other(self):
        special = ("sitemap", "host", "content-signal", "content-usage", "license")
        return {name: values for name, values in self.fields.items() if values and name not in special} or None


def witnesses(origin, file):
    """URLs that show whether some path is allowed, and some refused."""
    paths = ["/", "/robosieve-recount-export"]
    for _, _, pattern in file.rules if file else []:
        pattern = pattern.removesuffix("$") if pattern.endswith("$") else pattern + "~w"
        path = pattern.replace("*", "~w")
        paths.append(path if path.startswith("/") else "/" + path)
        paths.append(pattern.replace("*", ""))
    return [origin + path for path in paths if path.startswith("/") and not re.search(r"[#\t\r\n]", path)]


def exported(*options):
    out = run("export", "-q", "-s", SNAPSHOT, "--as", "jsonl", *options)
    return map(json.loads, out.decode().split("\n")[:-1])


def identifier(name):
    """A name of a column as Parquet has it."""
    name = re.sub("[^A-Za-z0-9_]", "_", name)
    return "_" + name if name[:1].isdigit() else name


def check_host(row):
    """The domain of a host ends it. That of an address or of one label is the host."""
    host = row["host"].removesuffix(".")
    labels, is_address = host.split("."), host.startswith("[") or re.fullmatch(r"[0-9.]+", host)
    compare("tld", host, row["tld"], None if is_address else labels[-1])
    if is_address or len(labels) == 1:
        compare("domain", host, row["domain"], host)
    else:
        compare("domain", host, ("." + host).endswith("." + row["domain"]) and "." in row["domain"], True)


def check_domains(rows):
    """As many domains as a report counts."""
    with tempfile.TemporaryDirectory() as folder:
        run("report", "-q", "-s", SNAPSHOT, "-a", AGENTS[0], "--by", "domain", "--json-to", Path(folder) / "r.json")
        units = json.loads((Path(folder) / "r.json").read_text())["units"]
    compare("domains of a report", "the snapshot", len({row["domain"] for row in rows}), units)
    for row in rows:
        check_host(row)


def check_long(options):
    """The long table has the values of the wide one."""
    wide, long = list(exported(*options)), list(exported(*options, "--long"))
    compare("rows of --long", "origins", len(long), len(wide) * len(AGENTS))
    for number, row in enumerate(long):
        origin, agent = wide[number // len(AGENTS)], AGENTS[number % len(AGENTS)]
        expected = {key: value for key, value in origin.items() if "." not in key} | {"agent": agent}
        expected |= {key: origin[f"{agent}.{key}"] for key in ("access", "named", "crawl_delay")}
        compare("row of --long", f"{row['origin']} for {agent}", row, expected)


def check_origin(row):
    """Checks a row of the table of origins. Returns the robots.txt."""
    origin = row["origin"]
    entry = json.loads(run("inspect", SNAPSHOT, origin, "--json"))
    for column, key in {"outcome": "outcome", "source": "source", "detail": "detail", "fetched": "fetched_at",
                        "redirects": "hops", "has_last_good": "has_last_good", "failing_since": "first_failure"}.items():
        compare(column, origin, row[column], entry[key])
    compare("status", origin, row["status"], entry["status"] or None)
    reasons = {"client-error": ["forbidden" if row["status"] in (401, 403) else "no-robots-txt"],
               "server-error": ["server-error", "last-good-copy"], "unreachable": ["unreachable", "last-good-copy"]}
    compare("reason", origin, row["reason"] in reasons.get(row["outcome"], [row["outcome"]]), True)
    scheme, host, port = re.fullmatch(r"(\w+)://(\[.*\]|[^:]*):?(\d*)", origin).groups()
    compare("host", origin, (row["scheme"], row["host"]), (scheme, host))
    compare("port", origin, row["port"], int(port) if port else {"http": 80, "https": 443, "ftp": 21}.get(scheme))
    text = entry["robots_txt"]
    file = File(text) if text is not None else None
    values = {
        "groups": lambda: len(file.groups), "allow": lambda: file.allow, "disallow": lambda: file.disallow,
        "sitemaps": lambda: len(set(filter(None, file.fields["sitemap"]))), "host_field": lambda: file.joined("host"),
        "content_signal": lambda: file.joined("content-signal"), "content_usage": lambda: file.joined("content-usage"),
        "license": lambda: file.joined("license"), "other_fields": lambda: file.other(),
    }
    for column, value in values.items():
        compare(column, origin, row[column], value() if file else None)
    for agent in AGENTS:
        compare("crawl_delay", f"{origin} for {agent}", row[f"{agent}.crawl_delay"], file.delay(agent) if file else None)
        if row["outcome"] == "rules" or row[f"{agent}.named"] is not None:
            compare("named", f"{origin} for {agent}", row[f"{agent}.named"], file.named(agent))
    return file


def check_access(rows, files):
    urls, places = [], []
    # A pattern that is not UTF-8 is not known here.
    known = [not any("\ufffd" in rule[2] for rule in (file.rules if file else [])) for file in files]
    rows, files = (list(itertools.compress(of, known)) for of in (rows, files))
    for row, file in zip(rows, files):
        new = witnesses(row["origin"], file)
        places.append(range(len(urls), len(urls) + len(new)))
        urls += new
    answers = letters(SNAPSHOT, ",".join(AGENTS), [url.encode() for url in urls])
    for row, place in zip(rows, places):
        for number, agent in enumerate(AGENTS):
            verdicts = {answers[i][number] for i in place if not urls[i].endswith("/robots.txt")} & set("AD")
            access = {"A": "allowed", "D": "blocked", "AD": "partial"}["".join(sorted(verdicts))]
            compare("access", f"{row['origin']} for {agent}", row[f"{agent}.access"], access)


def check_rules(files):
    """The number of rules of each kind per group, over the whole table."""
    rows = collections.defaultdict(set)
    for row in exported("--rules"):
        if row["origin"] in files:
            rows[row["origin"]].add((row["line"], row["group"], row["kind"], row["pattern"]))
    for origin, file in files.items():
        own = [rule[1:] for rule in sorted(rows[origin])]
        # A group whose user-agent lines name nobody has rows too.
        compare("rules", origin, own, file.rules if file else [])


def unescape(field):
    if "\\" not in field:
        return field
    replace = lambda m: ESCAPES.get(m[1]) or chr(int(m[2], 16))
    return re.sub(r"\\(?:([tnr\\])|u\{([0-9a-f]+)\})", replace, field)


def same(text, value):
    """Whether a cell has the value of a line of JSON."""
    if isinstance(value, dict):
        return json.loads(text) == value
    if isinstance(value, float):
        return float(text) == value
    return text == ("" if value is None else str(value).lower() if isinstance(value, bool) else str(value))


def check_formats(folder, options, key="origin"):
    arguments = ["export", "-q", "-s", SNAPSHOT, *options, "-o"]
    for name in ("t.jsonl", "t.tsv", "t.csv", "t.parquet"):
        run(*arguments, folder / name)
    rows = [json.loads(line) for line in (folder / "t.jsonl").read_text("utf-8").split("\n")[:-1]]
    title = " ".join(options) or "origins"
    tables = {
        "TSV": [line.split("\t") for line in (folder / "t.tsv").read_text("utf-8").split("\n")[:-1]],
        "CSV": list(csv.reader(io.StringIO((folder / "t.csv").read_text("utf-8")))),
    }
    for name, (header, *lines) in tables.items():
        compare(f"rows of {name}", title, len(lines), len(rows))
        for row, line in zip(rows, lines):
            cells = [unescape(cell.removeprefix("'")) for cell in line]
            wrong = [column for column, cell in zip(header, cells) if not same(cell, row[column])]
            compare(f"row of {name}", row, wrong, [])
    try:
        import pyarrow.parquet as pq
    except ImportError:
        print("recount-export: Parquet is not compared, pyarrow is not installed", file=sys.stderr)
        return
    table = pq.read_table(folder / "t.parquet")
    compare("rows of Parquet", title, table.num_rows, len(rows))
    # A table without rows, such as that of rules of a site without any, names its columns nowhere else.
    columns = list(rows[0]) if rows else table.column_names
    compare("names in Parquet", title, table.column_names, [identifier(name) for name in columns])
    for column, name in zip(table.column_names, columns):
        kind, values = str(table[column].type), table[column].to_pylist()
        if kind.startswith("timestamp"):
            values = [value and value.strftime("%Y-%m-%dT%H:%M:%SZ") for value in values]
        for row, value in zip(rows, values):
            if isinstance(row[name], dict):
                value = json.loads(value)
            compare(f"Parquet {kind}", row[key], value, row[name])


def seconds(time):
    return time and int(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())


def check_versions(by_url):
    """The table of the history has the versions that the captures show, and no other."""
    rows = collections.defaultdict(list)
    texts, numbers = {}, {}
    for row in exported("-a", ",".join(AGENTS), "--history"):
        rows[row["url"]].append(row)
    robots = {url for url in by_url if url.endswith("/robots.txt")}
    reached = versions.reached(by_url, robots)
    compare("URLs of a history", SNAPSHOT.name, sorted(rows), sorted(robots | reached))
    for url in sorted(robots | reached):
        expected = versions.versions(by_url[url], url)
        compare("versions", url, len(rows[url]), len(expected))
        for row, version in zip(rows[url], expected):
            answer, place = version.answer, f"{url} since {version.since}"
            is_text = answer.kind == "rules"
            for column in ("since", "last_seen", "changed_at", "failing_since", "first_unreachable"):
                compare(f"version {column}", place, seconds(row[column]), getattr(version, column))
            values = {
                "origin": url.removesuffix("/robots.txt") if url in robots else None,
                "outcome": version.outcome,
                "status": answer.status or None,
                "target": answer.text or None if answer.kind == "redirect" else None,
                "earlier_target": version.before.text or None if version.before and version.before.kind == "redirect" else None,
                "past_limit": len(answer.text.encode()) > 512_000 if is_text else None,
                "cut_short": False if is_text else None,
            }
            for agent in AGENTS:
                found = versions.access(answer.text, agent) if is_text else (None, None)
                values |= {f"{agent}.access": found[0], f"{agent}.named": found[1]}
            for column, value in values.items():
                compare(f"version {column.rpartition('.')[2]}", place, row[column], value)
            # Each text has one number, and each number one text.
            before = version.before if version.before and version.before.kind == "rules" else None
            for column, of in (("rules_file", answer if is_text else None), ("last_good_file", before)):
                compare(f"version has {column}", place, row[column] is not None, of is not None)
                if of and row[column] is not None:
                    text = versions.stored(of)
                    compare("number of a text", place, row[column], numbers.setdefault(text, row[column]))
                    compare("text of a number", place, texts.setdefault(row[column], text), text)


def check_since(by_url):
    """The bounds of the time since which agents are disallowed, under each status policy."""
    for policy in histories.POLICIES:
        options = ("-a", ",".join(AGENTS), "--disallowed-since", "--status-policy", policy)
        rows = list(exported(*options))
        for row in rows[:: max(1, len(rows) // SAMPLE)]:
            web = versions.Web(by_url, row["origin"] + "/robots.txt")
            for agent in AGENTS:
                bounds = tuple(seconds(row[f"{agent}.disallowed_{bound}"]) for bound in ("after", "since"))
                expected = web.since(policy, lambda text: versions.access(text, agent)[0] == "blocked")
                compare("disallowed since", f"{row['origin']} for {agent}, {policy}", bounds, expected)
                found["disallowed since a time"] += expected[1] is not None
                found["disallowed after a time"] += expected[0] is not None


def main():
    agents = ["-a", ",".join(AGENTS)]
    rows = list(exported(*agents))
    step = max(1, len(rows) // SAMPLE)
    sample = rows[::step]
    files = [check_origin(row) for row in sample]
    check_domains(rows)
    check_access(sample, files)
    check_rules({row["origin"]: file for row, file in zip(sample, files)})
    with tempfile.TemporaryDirectory() as folder:
        # The long table repeats the columns of origins, so it is compared without most of them.
        long = [*agents, "--long", "--columns", "origin,agent,access,named,crawl_delay,fetched"]
        for options in (agents, long, ["--sitemaps"], ["--rules"]):
            check_formats(Path(folder), options)
    check_long(agents)
    if OPTIONS.captures:
        by_url = versions.read(OPTIONS.captures)
        check_versions(by_url)
        check_since(by_url)
        with tempfile.TemporaryDirectory() as folder:
            check_formats(Path(folder), [*agents, "--history"], "url")
            check_formats(Path(folder), [*agents, "--disallowed-since"])
    for what, count in sorted(found.items()):
        print(f"{what:<24}{count:>10}")
    for difference in differences[:20]:
        print(difference, file=sys.stderr)
    print(f"recount-export: {len(sample)} of {len(rows)} origins, {len(differences)} differences")
    sys.exit(bool(differences))


main()
