"""Times whole jobs, alternating with commands that only read the same bytes: audit of a log, export of
a snapshot, and filtering of an archive of pages. The logs and pages are made up; with real data, they
have the paths and hosts of a real list."""

import gzip
import json
import random
import subprocess

from . import data, process, record

RUNS = 15
LOG_LINES = 2_000_000
PAGES = 30_000


def run(options):
    with data.compiled(options.real, 100_000) as (robosieve, inputs, snapshot, place):
        return measure(robosieve, inputs.lists["unsorted"], snapshot, place)


def measure(robosieve, urls, snapshot, place):
    log, packed = write_log(place, urls)
    pages = write_pages(place, urls)
    table = place / "origins.tsv"
    export = [robosieve, "export", "-q", "-s", snapshot, "-a", "GPTBot"]
    subprocess.run([*export, "-o", table], check=True)
    audit = [robosieve, "audit", "-q", "-s", snapshot, "--host", origin(urls), "--json"]
    pages_filter = [robosieve, "filter", "-q", "-s", snapshot, "-a", "GPTBot", pages, "-o", "/dev/null"]
    check_counts(audit, log)
    cases = [
        (f"audit, {LOG_LINES:,} lines", [*audit, log], "wc -l", ["wc", "-l", log]),
        ("audit, 1 thread", [*audit, "-j", "1", log], "wc -l", ["wc", "-l", log]),
        ("audit, gzip", [*audit, packed], "zcat", ["zcat", packed]),
        ("export, TSV", [*export, "-o", "/dev/null"], "wc -l of the table", ["wc", "-l", table]),
        (f"filter, WARC of {PAGES:,} pages", pages_filter, "zcat", ["zcat", pages]),
    ]
    sizes = {"log": log, "log, gzip": packed, "table": table, "WARC": pages}
    sizes = ", ".join(f"{name} {path.stat().st_size:,}" for name, path in sizes.items())
    table = process.compare("job", cases, RUNS, "seconds")
    return f"Medians of {RUNS} alternating runs, after a warm-up run.\n\n{table}\nBytes: {sizes}.\n"


def origin(urls):
    """The origin of the first URL of a list."""
    with open(urls, "rb") as lines:
        return b"/".join(lines.readline().split(b"/")[:3]).decode()


def write_log(place, urls):
    """A log with the paths of a list, plain and compressed."""
    log, packed = place / "access.log", place / "access.log.gz"
    script = [record.ROOT / "scripts" / "x", "synthetic-log"]
    with open(log, "wb") as out:
        subprocess.run([*script, str(LOG_LINES), "--urls", urls], stdout=out, check=True)
    with open(packed, "wb") as out:
        subprocess.run(["gzip", "-c", log], stdout=out, check=True)
    return log, packed


def write_pages(place, urls):
    """A WARC file with a response of some 20 KB for each of the first URLs."""
    rng = random.Random(1)
    words = [bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    path = place / "pages.warc.gz"
    with open(path, "wb") as out, open(urls, "rb") as lines:
        for _, line in zip(range(PAGES), lines):
            body = b" ".join(rng.choices(words, k=3000))
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
            head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n"
            out.write(gzip.compress(head % (line.strip(), len(block)) + block + b"\r\n\r\n", 6, mtime=0))
    return path


def check_counts(audit, log):
    """A figure of a run that skipped lines would mean nothing."""
    found = json.loads(subprocess.run([*audit, log], check=True, stdout=subprocess.PIPE).stdout)
    requests = sum(crawler["requests"] for crawler in found["crawlers"])
    if found["lines"] != LOG_LINES or found["invalid"] + found["other_agents"] + requests != LOG_LINES:
        raise SystemExit(f"audit counts {found['lines']:,} lines and {requests:,} requests of {LOG_LINES:,} lines")
