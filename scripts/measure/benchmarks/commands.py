"""Times whole commands, alternating with simple commands that read the same bytes."""

import json
import re

from . import data, process, record

RUNS = 15
LINES = 1_000_000
AGENTS = (
    "GPTBot,CCBot,Google-Extended,ClaudeBot,Bytespider,Amazonbot,Applebot,PerplexityBot,FacebookBot,Googlebot,Bingbot,"
    "YandexBot,Baiduspider,DuckDuckBot,AhrefsBot,SemrushBot,MJ12bot,DotBot,PetalBot,FooBot"
)


def run(options):
    with data.compiled(options.real, LINES) as (robosieve, once, snapshot, place):
        inputs = data.longer(once, place) if options.real else once
        table = process.compare("command", pairs(robosieve, snapshot, inputs), RUNS, "seconds")
        parts = [f"Medians of {RUNS} alternating runs, after a warm-up run.\n\n{table}"]
        parts.append(floors(robosieve, snapshot, once))
        return "\n".join([*parts, size(json.loads((place / "stats.json").read_text())), inputs.sizes()])


def pairs(robosieve, snapshot, inputs):
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
    compile_ = [robosieve, "compile", "-q", "-o", f"{snapshot}.again", inputs.archive]
    return cases + [
        ("annotate, unsorted, 20 agents", judge("annotate", mixed, AGENTS), "1 agent", judge("annotate", mixed)),
        ("filter, unsorted, 1 thread", one, "2 threads", two),
        ("compile", compile_, "zcat", ["zcat", inputs.archive]),
        ("check, one URL", check, "true", ["true"]),
        ("--version", [robosieve, "--version"], "true", ["true"]),
    ]


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
