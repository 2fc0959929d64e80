"""Processor time of robots.txt parsers in several languages as their input grows.

The parsers are those of `conformance`, asked by its protocol. Each answer is compared with the one that
follows from the input.
"""

import sys

from . import record

sys.path.insert(0, str(record.ROOT / "conformance"))

from harness import contestants, questions  # noqa: E402

PARSERS = [
    "robosieve-google-names", "google-sources", "grobotstxt", "fast-robots", "texting_robots", "robotxt", "temoto",
    "crawler-commons", "protego", "urllib", "robots-parser",
]
REPEAT = 3
# Seconds for a question. A parser that needs longer is not asked the larger ones.
LIMIT = 10
ORIGIN = questions.ORIGIN


def rules(count):
    """Literal rules of one group. One question is about the last rule, one about none."""
    body = "User-agent: *\n" + "".join(f"Disallow: /section-{n}/\n" for n in range(count))
    return body, [f"/section-{count - 1}/x", "/other/x"], "DA"


def wildcards(count):
    body = "User-agent: *\n" + "".join(f"Disallow: /*/section-{n}/*.html$\n" for n in range(count))
    return body, [f"/a/section-{count - 1}/x.html", "/other/x.html"], "DA"


def groups(count):
    """Groups of other agents, and the global one at the end."""
    body = "".join(f"User-agent: bot-{'abcdefghij'[n % 10]}{n}\nDisallow: /\n\n" for n in range(count))
    return body + "User-agent: *\nDisallow: /x\n", ["/x", "/y"], "DA"


def stars(count):
    """A rule that a backtracking matcher tries in as many ways as there are subsets of the stars."""
    return "User-agent: *\nDisallow: /" + "*a" * count + "b\n", ["/" + "a" * 60], "A"


CURVES = [
    ("literal rules", rules, [10, 100, 1000, 10_000]),
    ("wildcard rules", wildcards, [10, 100, 1000, 10_000]),
    ("groups of other agents", groups, [10, 100, 1000, 4000]),
    ("stars in one rule", stars, [2, 4, 8, 16]),
]


def run(options):
    record.generated_only(options.real)
    known = {contestant.name: contestant for contestant in contestants.read()}
    installer = contestants.Installer(record.target() / "conformance", options.git)
    running, notes = {}, []
    for name in PARSERS:
        try:
            running[name] = contestants.Running(*installer.install(known[name]), installer.directory("logs") / f"{name}.log")
        except contestants.CannotInstall as why:
            notes.append(f"{name} is left out: {why}")
    parts = ["Microseconds of processor time: to parse the file for one agent, and to answer one question.\n"
             "Parsers that read the file for each question have the time to do so in the second figure."]
    for title, make, sizes in CURVES:
        found = {name: curve(parser, make, sizes) for name, parser in running.items()}
        for number, step in enumerate(["parse", "ask"]):
            rows = [[name, *(cells[number] for cells in curves)] for name, curves in found.items()]
            parts.append(f"## {title}: {step}\n\n" + record.table(["µs", *(f"{size:,}" for size in sizes)], rows))
    for parser in running.values():
        parser.stop()
    return "\n\n".join(parts + notes)


def curve(parser, make, sizes):
    """For each size, the texts of both times."""
    found = []
    for size in sizes:
        has_failed = found and not found[-1][0][0].isdigit()
        found.append(("–", "–") if has_failed else times(parser, *make(size)))
    return found


def times(parser, body, paths, expected):
    """Microseconds to parse and per question, as texts, or the reason why there are none."""
    item = questions.Item("", body.encode(), ("FooBot",), tuple(ORIGIN + path for path in paths))
    answer = parser.request(item.question(repeat=REPEAT), LIMIT)
    if not isinstance(answer, dict):
        return ({"T": f"over {LIMIT} s", "X": "died"}[answer],) * 2
    if answer["verdicts"] != [expected]:
        return ("wrong",) * 2
    return microseconds(answer["parse_ns"]), microseconds(answer["ask_ns"] / len(paths))


def microseconds(nanoseconds):
    found = nanoseconds / 1000
    return f"{found:,.1f}" if found < 100 else f"{found:,.0f}"
