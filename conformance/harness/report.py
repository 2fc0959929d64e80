"""Rows on the terminal, and the documents made from a record: docs/CONFORMANCE.md and the page."""

import json
import re
from collections import Counter

from .causes import CAUSES
from .questions import CATEGORIES
from .scores import Score, total

REAL = ["real files"]
# Raw URLs and the files that make parsers stand still have columns of their own.
HOSTILE = [category.name for category in CATEGORIES if category.name not in ("real files", "raw URLs", "standing still")]


def case(difference):
    """A difference as it is stored and printed."""
    try:
        body = {"robots": difference.item.body.decode()}
    except UnicodeDecodeError:
        body = {"robots": difference.item.body.decode("utf-8", "backslashreplace")}
    if len(body["robots"]) > 1000:
        body["robots"] = body["robots"][:1000] + "…"
    return {
        "category": difference.item.category,
        **body,
        "agent": difference.agent,
        "url": difference.url,
        "expected": difference.expected,
        "found": difference.found,
    }


def length(case):
    return len(case["robots"]) + len(case["url"])


def scores_of(row):
    return {name: Score(**score | {"unanswered": Counter(score["unanswered"])}) for name, score in row["scores"].items()}


def percent(part, whole):
    if not whole:
        return "–"
    share = 100 * part / whole
    return "0" if part == 0 else "< 0.01" if share < 0.01 else f"{share:.2f}"


def unanswered(score):
    return " ".join(f"{count:,} {letter}" for letter, count in sorted(score.unanswered.items())) or "0"


def print_row(row):
    """One line per parser, while it runs."""
    scores = scores_of(row)
    real, hostile, still = total(scores, REAL), total(scores, HOSTILE), total(scores, ["standing still"])
    print(
        f"{row['name']:27} real files: {real.wrong:,} of {real.asked:,} wrong ({percent(real.wrong, real.asked)} %), "
        f"{real.wrongly_allowed:,} wrongly allowed, {real.wrong_standard:,} by the RFC, no answer {unanswered(real)}; "
        f"suites and hostile: {hostile.wrong:,} of {hostile.asked:,}; standing still: no answer {unanswered(still)}",
        flush=True,
    )


def quoted(text):
    """Text in quotes, with escapes for what cannot be seen."""
    text = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def print_cases(row, shown):
    """The smallest questions of the most frequent causes."""
    for name, found in list(row["causes"].items())[:shown]:
        print(f"\n  {found['count']:,} of {row['named']:,}: {name}")
        smallest = found["case"]
        print("    " + quoted(smallest["robots"]))
        words = {"A": "allowed", "D": "disallowed", "E": "an error", "X": "the end of the process", "T": "no answer in time"}
        print(f"    {smallest['agent']} {smallest['url']}: {words[smallest['found']]}, expected {words[smallest['expected']]}")
    if row["causes"]:
        print()


def newest(root):
    """The newest record."""
    files = sorted((root / "record").glob("*.json"))
    if not files:
        raise SystemExit("conformance/run --page: no record; run conformance/run first")
    return files[-1], json.loads(files[-1].read_text())


def added(root, record, order):
    """The newest record with the rows of another one, which has the same questions."""
    path, newest_record = newest(root)
    if newest_record["sha256"] != record["sha256"]:
        raise SystemExit(f"conformance/run --add: {path.name} has other questions; run conformance/run without names")
    rows = {row["name"]: row for row in newest_record["contestants"] + record["contestants"]}
    names = [row["name"] for row in record["contestants"]]
    left_out = [entry for entry in newest_record["left_out"] if entry["name"] not in names]
    return path, newest_record | {"contestants": [rows[name] for name in order if name in rows], "left_out": left_out}


def write(root):
    """Writes docs/CONFORMANCE.md and docs/conformance.html from the newest record."""
    path, record = newest(root)
    docs = root.parent / "docs"
    (docs / "CONFORMANCE.md").write_text(document(f"../{path.relative_to(root.parent)}", record))
    # In a script element, `<` may not begin a tag.
    data = json.dumps(record, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    page = (root / "page.html").read_text().replace("RECORD", data)
    (docs / "conformance.html").write_text(page)
    print(f"written: docs/CONFORMANCE.md, docs/conformance.html ({len(page.encode()):,} bytes), from {path.name}")
    return 0


def ranking(record):
    """Rows with the fewest wrong answers on real files first."""
    return sorted(record["contestants"], key=lambda row: (share(row), row["name"].lower()))


def share(row):
    real = total(scores_of(row), REAL)
    return (real.wrong + sum(real.unanswered.values())) / max(1, real.asked)


def table(head, rows):
    """A Markdown table. Columns of numbers are aligned to the right."""
    right = [all(cell[:1].isdigit() or cell[:1] in "–<" for cell in column) for column in zip(*rows)] if rows else []
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---:" if is_right else "---" for is_right in right) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def code(text):
    """Text in a Markdown table or list."""
    return "`" + text.replace("`", "'").replace("|", "\\|") + "`"


def label(row):
    """Package and version; of a commit its first digits, as git shows them."""
    version = row["version"]
    return f"{row['package']} {version[:7] if re.fullmatch('[0-9a-f]{40}', version) else version}".strip()


def document(path, record):
    rows = ranking(record)
    real_table = []
    for row in rows:
        real = total(scores_of(row), REAL)
        real_table.append([
            f"**{row['name']}**" if row["kind"] == "project" else row["name"], row["language"], label(row), row["descent"],
            percent(real.wrong, real.asked), f"{real.wrongly_allowed:,}",
            percent(real.wrong_standard, real.standard), f"{real.wrongly_allowed_standard:,}", unanswered(real),
        ])
    other_table = []
    for row in rows:
        scores = scores_of(row)
        hostile, still, raw = total(scores, HOSTILE), total(scores, ["standing still"]), total(scores, ["raw URLs"])
        other_table.append([
            row["name"], percent(hostile.wrong, hostile.asked), percent(hostile.wrong_standard, hostile.standard), unanswered(hostile),
            f"{still.wrong:,}", unanswered(still), percent(raw.wrong, raw.asked),
        ])
    times = [
        [row["name"], row["parses"], *(f"{row[key]:,}" if row.get(key) is not None else "–" for key in ("parse_us", "ask_us", "bytes_per_file"))]
        for row in rows
    ]
    categories = [
        [entry["name"], entry["clause"] or "Google's code alone", entry["about"], f"{entry['questions']:,}", f"{entry['standard']:,}"]
        for entry in record["categories"]
    ]
    parts = [
        INTRODUCTION.format(path=path, **{key: record[key] for key in ("date", "seed", "sha256", "machine")},
                            recategorised=recategorised(record), questions=f"{record['questions']:,}", real_files=f"{record['real_files']:,}",
                            parsers=len(rows), minutes=round(record["seconds"] / 60)),
        table(["parser", "language", "package", "code", "wrong, %", "wrongly allowed", "wrong by the RFC, %", "wrongly allowed", "no answer"], real_table),
        REST,
        table(["parser", "wrong, %", "wrong by the RFC, %", "no answer", "standing still: wrong", "no answer", "raw URLs: differ, %"], other_table),
        "\n## Categories\n",
        table(["category", "clause", "about", "questions", "standard"], categories),
        "\n## Time and memory\n\n" + TIMES,
        table(["parser", "parses", "parse, µs per file", "ask, µs per question", "memory, bytes per file"], times),
        "\n## Causes\n\n" + CAUSES_NOTE,
        causes(rows),
        "\n## robosieve\n\n" + own(rows),
        "\n## Left out\n",
        left_out(record),
    ]
    return "\n".join(part.rstrip("\n") if part.startswith("|") else part for part in parts).rstrip() + "\n"


def recategorised(record):
    """A sentence about a record whose standard questions were decided again after its run."""
    if "recategorised" not in record:
        return ""
    return (
        f"\nWhich questions count by the RFC was decided again on {record['recategorised']}, with the answers\n"
        "to the same questions ([BIAS](../conformance/BIAS.md))."
    )


INTRODUCTION = """# Conformance of robots.txt parsers

{parsers} ways to ask robots.txt parsers, and {questions} questions to each: may this agent fetch
this URL? Google's parser gives the expected answers. [BIAS](../conformance/BIAS.md) says what to
keep in mind, and that we wrote one of the parsers. [conformance](../conformance/README.md) has the
questions, the protocol and how to add a parser. [conformance.html](conformance.html) is this table
with filters, for a browser. [The kit](../conformance/kit/README.md) has questions and answers as
files for the tests of other projects.

`conformance/run` repeats it; the run of {date} took {minutes} minutes on {machine}.
[Its record]({path}) has seed `{seed}`. The SHA-256 of the questions is
`{sha256}`.{recategorised}

- *Wrong* is an answer that differs from that of Google's parser. *Wrongly allowed* is the dangerous
  half of it: the site disallows the URL.
- *By the RFC* counts only questions on which our profile `rfc9309` and Google's parser agree: so
  without misspelt fields, missing colons, cut lines and what else only Google's code does. Such an
  answer is wrong for any parser that claims the RFC, except where the RFC is silent and both readings
  are the same by choice, as for a byte order mark.
- *No answer*: `E` an error of the library, `X` the process died, `T` more than ten seconds for a
  file.

## Real files

Questions about {real_files} robots.txt files of sites, parsers with the fewest wrong or missing
answers first.
"""

REST = """
## Suites and hostile files

*Suites* are the tests of Google's parser, Protego and crawler-commons, and the cases of this
repository. *Hostile files* have what parsers get wrong, by a seed. The first columns are of both
together. *Standing still* are ten small files that take some parsers minutes. *Raw URLs* are not in
normal form; Google's code expects the normal form, so a difference there is not an error.
"""

TIMES = """Medians over 200 real files, in processor time, with the way between languages. A file is parsed
for one agent. *Memory* is the growth of the process per file that stays parsed, including the text
if the library keeps it. A parser that parses for each question keeps the text only. Nothing is
prepared beyond the parsed file: no snapshot of robosieve, no compiled matcher of fast-robots.
[PERFORMANCE](PERFORMANCE.md#comparison-with-other-crates) times these.
"""

# Causes of a parser in the document. The record has all of them.
CAUSES_SHOWN = 12
CAUSES_NOTE = f"""Up to 300 differences of each parser were shrunk: nothing can be left out of the file or the URL
without losing the difference. So what is left is the cause. Each parser has a heading of its own to
link to, and its most frequent causes, at most {CAUSES_SHOWN}. Differences of raw URLs come last.
"""


def causes(rows):
    lines = []
    for row in [row for row in rows if row["differences"] and row["kind"] != "project"]:
        lines.append(f"### {row['name']}\n")
        lines.append(f"{row['differences']:,} differences, {row['named']:,} of them shrunk.\n")
        found = []
        for name, entry in list(row["causes"].items())[:CAUSES_SHOWN]:
            smallest = entry["case"]
            robots = smallest["robots"] if len(smallest["robots"]) <= 120 else smallest["robots"][:120] + "…"
            found.append([
                name, f"{entry['count']:,}", f"{entry['wrongly_allowed']:,}",
                "–" if entry["standard"] is None else f"{entry['standard']:,}",
                code(quoted(robots)), code(f"{smallest['agent']} {smallest['url'].removeprefix('http://example.com')[:60]}"),
                f"{smallest['expected']}, not {smallest['found']}",
            ])
        lines.append(table(["cause", "questions", "wrongly allowed", "by the RFC", "smallest file", "question", "answer"], found) + "\n")
    return "\n".join(lines)


# What was decided about differences of robosieve, by the name of the cause.
NAMES = (
    "wanted. Google's code cuts a name at the first byte that no product token has, so `User-agent: MJ12bot` can "
    "never match. The wish of the site is plain. `--agent-match google` turns it off"
)
NORMAL_FORM = (
    "wanted. Google's code expects the normal form from its caller; robosieve makes it, so `%2f` and `%2F` are one path"
)
BY_THE_RFC = "wanted. This profile follows RFC 9309, without what Google's code adds"
DECISIONS = {
    **dict.fromkeys(
        ["robosieve", "robosieve-command", "robosieve-wheel"],
        {"names that are not a product token": NAMES, "a URL that is not in normal form": NORMAL_FORM},
    ),
    "robosieve-google-names": {"a URL that is not in normal form": NORMAL_FORM},
    "robosieve-rfc9309": dict.fromkeys((name for name, _ in CAUSES), BY_THE_RFC),
}


def undecided(row):
    """Causes of differences of robosieve without a decision."""
    return [name for name in row["causes"] if name not in DECISIONS.get(row["name"], {})] if row["kind"] == "project" else []


def own(rows):
    lines = [
        "All differences of robosieve from Google's parser, and the decision about each.\n"
        "[SEMANTICS](SEMANTICS.md) has the sources.\n"
    ]
    for row in [row for row in rows if row["kind"] == "project"]:
        if not row["differences"]:
            lines.append(f"- {row['name']}: none.")
        for name, entry in row["causes"].items():
            decision = DECISIONS.get(row["name"], {}).get(name, "**undecided**")
            lines.append(f"- {row['name']}, {entry['count']:,} of {row['named']:,} differences, {name}: {decision}.")
    return "\n".join(lines)


def left_out(record):
    lines = [f"- {entry['name']} ({entry['package']}): {entry['reason']}" for entry in record["left_out"]]
    return "\n".join(lines or ["No parser of contestants.tsv."]) + "\n"
