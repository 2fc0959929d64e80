"""Times whole commands, alternating with simple commands that read the same bytes."""

import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from . import data, record

RUNS = 15
LINES = 1_000_000
AGENTS = (
    "GPTBot,CCBot,Google-Extended,ClaudeBot,Bytespider,Amazonbot,Applebot,PerplexityBot,FacebookBot,Googlebot,Bingbot,"
    "YandexBot,Baiduspider,DuckDuckBot,AhrefsBot,SemrushBot,MJ12bot,DotBot,PetalBot,FooBot"
)


def run(real):
    if real and not data.is_there(real):
        print("commands: skipped, there is no archive in that directory")
        return None
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        lists = data.find(real, place) if real else data.make(place, LINES)
        return measure(record.robosieve(), lists, data.longer(lists, place) if real else lists, place)


def measure(robosieve, once, inputs, place):
    """`inputs` may have the lists of `once` several times."""
    snapshot, stats = place / "snapshot", place / "stats.json"
    compile_ = [robosieve, "compile", "-q", "-o", snapshot, inputs.archive]
    subprocess.run([*compile_, "--stats-json", stats], check=True)
    table = alternate(pairs(robosieve, compile_, snapshot, inputs))
    parts = [table, floors(robosieve, snapshot, once), size(json.loads(stats.read_text())), sizes(inputs)]
    return "\n".join(parts)


def alternate(cases):
    """Times both commands of each case in turn: a table of the medians and their ratios."""
    times = [([], []) for _ in cases]
    for turn in range(RUNS + 1):
        for (_, command, _, base), (own, other) in zip(cases, times):
            # The second command of a pair starts with warm caches, so the order alternates.
            both = [(own, command), (other, base)]
            for found, one in both if turn % 2 else reversed(both):
                found.append(seconds(one))
    rows = [row(case, own[1:], other[1:]) for case, (own, other) in zip(cases, times)]
    head = ["command", "median, s", "against", "median, s", "ratio", "of the least"]
    return f"Medians of {RUNS} alternating runs, after a warm-up run.\n\n{record.table(head, rows)}"


def pairs(robosieve, compile_, snapshot, inputs):
    """The cases: a name, the command, the name of the command it is compared with, and that command."""

    def judge(verb, file, agents="GPTBot", *options):
        return [robosieve, *options, verb, "-q", "-s", snapshot, "-a", agents, "-o", "/dev/null", file]

    lists = inputs.lists
    cases = [(f"filter, {name}", judge("filter", file), "wc -l", ["wc", "-l", file]) for name, file in lists.items()]
    mixed = lists["unsorted"]
    one, two = (judge("filter", mixed, "GPTBot", "-j", jobs) for jobs in "12")
    with open(mixed, "rb") as urls:
        url = urls.readline().rstrip(b"\n")
    check = [robosieve, "check", "-q", "-s", snapshot, "-a", "GPTBot", "--", url]
    return cases + [
        ("annotate, unsorted, 20 agents", judge("annotate", mixed, AGENTS), "1 agent", judge("annotate", mixed)),
        ("filter, unsorted, 1 thread", one, "2 threads", two),
        ("compile", compile_, "zcat", ["zcat", inputs.archive]),
        ("check, one URL", check, "true", ["true"]),
        ("--version", [robosieve, "--version"], "true", ["true"]),
    ]


def seconds(command):
    start = time.perf_counter()
    code = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
    if code not in (0, 1):
        raise SystemExit(f"{command}: exit status {code}")
    return time.perf_counter() - start


def row(case, own, other):
    name, _, against, _ = case
    median, base = statistics.median(own), statistics.median(other)
    return [name, f"{median:.4f}", against, f"{base:.4f}", f"{median / base:.2f}", f"{min(own) / min(other):.2f}"]


def stages(robosieve, snapshot, urls):
    """Processor time of each stage of judging on one thread, in ns/URL."""
    call = [robosieve, "bench", "-q", "-j", "1", "-s", snapshot, "-a", "GPTBot", "--urls", urls]
    found = re.findall(r"^  (\w+) +[\d.]+ +([\d.]+) ", record.output(*call), re.MULTILINE)
    return {name: float(time) for name, time in found}


def floors(robosieve, snapshot, inputs):
    """The lists as `robosieve bench` times them, from memory to memory."""
    names, rows = ["split", "locate", "match", "total", "floor"], []
    for name, urls in inputs.lists.items():
        times = stages(robosieve, snapshot, urls)
        row = [f"{times[name]:.1f}" for name in names]
        rows.append([f"bench, {name}", *row, f"{times['total'] / times['floor']:.2f}"])
    head = ["stages of one thread, ns/URL", *names, "times the floor"]
    return "Processor time by `robosieve bench -j 1`, medians of 5 runs:\n\n" + record.table(head, rows)


def size(stats):
    out, distinct = stats["bytes_out"], stats["distinct_text_bytes"]
    return f"Snapshot: {out:,} bytes for {distinct:,} bytes of distinct texts, a ratio of {out / distinct:.2f}.\n"


def sizes(inputs):
    lists = [f"{name} {file.stat().st_size:,}" for name, file in inputs.lists.items()]
    return f"Bytes: archive {inputs.archive.stat().st_size:,}; lists: {', '.join(lists)}.\n"
