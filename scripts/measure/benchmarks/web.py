"""Times compiling, judging, exporting and verifying on a large synthetic web, with its memory.

The web has up to `most` origins and ten URLs for each, grouped by host as in a crawl index. Ten million
origins need 20 GB of disk and 8 GB of memory for the page cache.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from . import record
from .process import alternate, timed

URLS_PER_ORIGIN = 10
# The archive of the partial re-crawl has a hundredth of the origins.
NEW_SHARE = 100
MEMORY = "512M"
AGENTS = "GPTBot,CCBot,Googlebot"
RUNS = 5
# A look-up takes milliseconds.
SHORT_RUNS = 15


def run(options):
    record.generated_only(options.real)
    robosieve = record.robosieve()
    with tempfile.TemporaryDirectory() as scratch:
        place = (options.webs or pathlib.Path(scratch)) / f"web-{options.most}"
        place.mkdir(parents=True, exist_ok=True)
        return measure(robosieve, place, options.most)


def measure(robosieve, place, most):
    archive, urls, snapshot, stats = (place / name for name in ("robots.jsonl.zst", "urls.txt", "web.rsieve", "stats.json"))
    new = place / "new"
    new.mkdir(exist_ok=True)
    size = lambda origins: ["--origins", str(origins), "--urls", str(origins * URLS_PER_ORIGIN)]  # noqa: E731
    compile_ = [robosieve, "compile", "-q", "--memory", MEMORY]
    judge = lambda *options: [robosieve, "filter", "-s", snapshot, "-a", "GPTBot", "-o", "/dev/null", *options]  # noqa: E731

    write = timed([robosieve, "bench", *size(most), "--write-to", place])
    subprocess.run([robosieve, "bench", "-q", *size(most // NEW_SHARE), "--seed", "2", "--write-to", new], check=True)
    steps = [("write the web", write)]
    steps.append((f"compile --memory {MEMORY}", timed([*compile_, "-o", snapshot, "--stats-json", stats, archive])))
    newer, again = new / "robots.jsonl.zst", place / "newer.rsieve"
    steps.append((f"compile --previous, {most // NEW_SHARE:,} new origins", timed([*compile_, "--previous", snapshot, "-o", again, newer])))
    again.unlink()

    repeated = [
        ("filter, 2 threads", judge("-j", "2", urls)),
        ("filter, 1 thread", judge("-j", "1", urls)),
        ("wc -l of the URLs", ["wc", "-l", urls]),
    ]
    found = alternate(repeated, RUNS)
    counts = summary(found["filter, 2 threads"][0].errors, most * URLS_PER_ORIGIN)
    steps += [(name, min(runs, key=lambda run: run.seconds)) for name, runs in found.items()]
    evict(snapshot, urls)
    steps.append(("filter, 2 threads, nothing in the page cache", timed(judge("-j", "2", urls))))
    export = [robosieve, "export", "-q", "-s", snapshot, "-a", AGENTS, "-o", "/dev/null"]
    steps += [(f"export, 3 agents, {name}", timed([*export, "--format", name.lower()])) for name in ["TSV", "Parquet"]]
    rows = [[name, f"{one.seconds:.2f}", f"{one.processor:.2f}", f"{one.resident:,.0f}", f"{one.anonymous:,.0f}"] for name, one in steps]
    head = ["step", "time, s", "processor time, s", "resident memory, MB", "without mapped files, MB"]
    return "\n".join([
        f"With `--most {most}`: {most:,} origins, {most * URLS_PER_ORIGIN:,} URLs grouped by host.\n"
        f"`filter` and `wc` are the fastest of {RUNS} alternating runs, all others one run.\n",
        record.table(head, rows),
        verification(robosieve, place, urls, snapshot, judge),
        record.table(["quantity", "value"], quantities(json.loads(stats.read_text()), write.errors, archive, urls, snapshot, counts)),
    ])


def verification(robosieve, place, urls, snapshot, judge):
    """What comparing checksums costs: whole starts of filter, and look-ups of one origin."""
    one = place / "one.txt"
    with urls.open("rb") as lines:
        one.write_bytes(lines.readline())
    url = one.read_text().strip()
    check = [robosieve, "check", "-q", "-s", snapshot, "-a", "GPTBot"]
    commands = [
        ("filter, 1 URL, 2 threads", judge("-j", "2", one), judge("-j", "2", "--no-verify", one)),
        ("filter, 1 URL, 1 thread", judge("-j", "1", one), judge("-j", "1", "--no-verify", one)),
        ("check, 1 URL", [*check, "--", url], [*check, "--no-verify", "--", url]),
    ]
    cases = [(f"{name}{without}", command) for name, *pair in commands for without, command in zip(["", " without"], pair)]
    found = {name: statistics.median(one.seconds for one in runs) for name, runs in alternate(cases, SHORT_RUNS).items()}
    rows = [[name, *(f"{found[name + without]:.4f}" for without in ["", " without"])] for name, *_ in commands]
    return (
        f"Medians of {SHORT_RUNS} alternating runs, snapshot in the page cache:\n\n"
        + record.table(["verification", "time, s", "--no-verify, s"], rows)
    )


def evict(*files):
    """Removes files from the page cache."""
    os.sync()
    for file in files:
        with open(file, "rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def summary(errors, urls):
    """The counts that filter prints. A figure of a run that lost lines would mean nothing."""
    counts = {name: int(count.replace(",", "")) for name, count in re.findall(r"(\w+) ([\d,]+)(?=  |\n)", errors)}
    kinds = ["allowed", "disallowed", "unknown", "invalid"]
    if counts.get("lines") != urls or sum(counts[kind] for kind in kinds) != urls:
        raise SystemExit(f"filter counts {counts}, the list has {urls:,} lines")
    return counts


def quantities(stats, errors, archive, urls, snapshot, counts):
    text = re.search(r"robots\.jsonl\.zst: ([\d,]+) bytes", errors)[1]
    share = lambda kind: f"{100 * counts[kind] / counts['lines']:.1f}"  # noqa: E731
    return [
        ["captures", f"{stats['captures']:,}"],
        ["origins", f"{stats['counts']['origins']:,}"],
        ["distinct robots.txt files", f"{stats['counts']['files']:,}"],
        ["archive, JSON lines, bytes", text],
        ["archive, zstd, bytes", f"{archive.stat().st_size:,}"],
        ["list of URLs, bytes", f"{urls.stat().st_size:,}"],
        ["snapshot, bytes", f"{snapshot.stat().st_size:,}"],
        *([f"URLs {kind}, %", share(kind)] for kind in ["allowed", "disallowed", "unknown"]),
    ]
