"""Compares what robosieve reads in lists, tables, logs and robots.txt files of other projects with what
other programs read there.

  lists      CDX and CDXJ: each line in the output, with the letter of its URL by Google's parser
  parquet    `annotate` keeps all columns, by pyarrow, and its letters are those of the list of the texts
  logs       counts of `audit`, with scripts/prove/recount_audit.py
  robots     verdicts on each robots.txt, with Google's parser, for agents and paths of that file
"""

import json
import random
import re

import recount_audit

from . import foreign_rules, verdicts
from .command import Failed, run
from .foreign_sources import decompressed


def url_of(line, kind):
    """The URL of a line of an index, read on its own; None if it has none."""
    try:
        if kind == "cdxj":
            return json.loads(line.split(b" ", 2)[2]).get("url")
        return line.decode().split(" ")[2]
    except (IndexError, ValueError):
        return None


def split(text):
    """The lines of a text. The last one may have no line end."""
    return text.removesuffix(b"\n").split(b"\n")


def check_list(path, kind, folder, differs, asked):
    data = decompressed(path.read_bytes())
    lines = split(data)
    # Headers of indexes are copied without a letter of their own.
    urls = [None if line.startswith((b" CDX", b"!")) else url_of(line, kind) for line in lines]
    # Some indexes of archives that are not WARC files have no URLs.
    if not any(urls):
        return
    sites = foreign_rules.Sites([url for url in urls if url])
    snapshot = sites.compile(folder)
    try:
        found = split(run("annotate", "-q", "-s", snapshot, "-a", foreign_rules.AGENT, "--as", "letters", path))
    except Failed as failed:
        differs("lists", "refused", str(failed).splitlines()[-1])
        return
    if len(found) != len(lines):
        differs("lists", "number", f"{len(found)} lines, the file has {len(lines)}")
        return
    for line, url, row in zip(lines, urls, found):
        letter, _, rest = row.partition(b"\t")
        if rest != line:
            differs("lists", "line", f"{row}, the file has {line}")
        wanted = sites.letter(url) if url else None
        asked["lists"] += wanted is not None
        if wanted and letter.decode() != wanted:
            differs("lists", url, f"{letter.decode()}, Google's parser has {wanted}")


def check_parquet(path, folder, differs, asked):
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    # Many of these files are damaged on purpose, or need what pyarrow was built without.
    except Exception:
        table = None
    schema = [] if table is None else table.schema
    names = [
        column.name for column in schema if pyarrow.types.is_string(column.type) or pyarrow.types.is_binary(column.type)
    ]
    snapshot = foreign_rules.Sites(["https://site.example/a"]).compile(folder)
    out = folder / "annotated.parquet"
    column = ["--field", names[0]] if names else []
    try:
        run("annotate", "-q", "-s", snapshot, "-a", foreign_rules.AGENT, *column, path, "-o", out)
    except Failed as failed:
        message = str(failed).splitlines()[-1]
        # A table is also refused if none of its texts is a URL.
        if names and "has a URL in the column" not in message:
            differs("parquet", "refused", message)
        asked["parquet"] += 1
        return
    asked["parquet"] += 1
    if table is None:
        differs("parquet", "read", "pyarrow refuses the file")
        return
    kept = pyarrow.parquet.read_table(out)
    if not kept.select(table.column_names).equals(table):
        differs("parquet", "columns", "a column has other values than before")


def check_log(path, folder, differs, asked):
    snapshot = foreign_rules.Sites(["https://site.example/a"]).compile(folder)
    totals, requests = recount_audit.count([str(path)], recount_audit.finder(recount_audit.read_chains()), {})
    try:
        report = json.loads(run("audit", "-q", "-s", snapshot, "--host", "site.example", "--json", path))
    except Failed as failed:
        differs("logs", "refused", str(failed).splitlines()[-1])
        return
    for key in ("lines", "invalid", "other_agents"):
        asked["logs"] += 1
        if report[key] != totals[key]:
            differs("logs", key, f"{report[key]}, counted in Python {totals[key]}")
    found = {crawler["name"]: crawler["requests"] for crawler in report["crawlers"]}
    wanted = {name: len(rows) for (name, _), rows in requests.items()}
    asked["logs"] += len(wanted)
    if found != wanted:
        differs("logs", "crawlers", f"{found}, counted in Python {wanted}")


def check_robots(paths, folder, differs, asked):
    """All robots.txt files of a package, some at a time."""
    google = verdicts.Google()
    for number in range(-(-len(paths) // verdicts.SITES)):
        chosen = paths[verdicts.SITES * number :][: verdicts.SITES]
        questions = verdicts.real(random.Random(number), chosen, 0)
        ways = verdicts.Ways(folder, questions, google, False)
        answers = ways.annotate("grouped", "1", None)
        asked["robots"] += answers.questions
        for found, wanted in zip(answers.found.split(b"\n"), answers.expected.split(b"\n")):
            if found != wanted:
                place = int(re.search(rb"//h(\d+)\.", wanted)[1]) % len(chosen)
                differs(
                    "robots", str(chosen[place].name), f"{found}, Google's parser has {wanted} for {questions.agents}"
                )
