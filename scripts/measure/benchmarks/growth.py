"""Measures the cost of a URL against the number of origins, on synthetic webs with unsorted URLs."""

import itertools
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

from . import commands, counts, picture, record
from .process import alternate, timed

ORIGINS = [10_000, 100_000, 1_000_000, 10_000_000]
URLS = 2_000_000
RUNS = 9
# URLs in callgrind, which runs a command some fifty times as long.
COUNTED = 300_000
PICTURE = record.ROOT / "docs" / "growth.svg"


def run(options):
    record.generated_only(options.real)
    robosieve = record.robosieve()
    with tempfile.TemporaryDirectory() as place:
        place = options.webs or pathlib.Path(place)
        made = {n: web(robosieve, place, n) for n in ORIGINS if n <= options.most}
        found = measure(robosieve, made)
        parts = [stages(robosieve, made), lookups(robosieve, made)]
    base = found[0]["ns"]
    rows = [
        [f"{one['origins']:,}", f"{one['bytes']:,}", f"{one['ns']:.1f}", f"{one['ns'] / base:.2f}", f"{one['anon']:.1f}"]
        for one in found
    ]
    head = ["origins", "snapshot, bytes", "ns/URL", "growth", "resident beyond the mapped file, MB"]
    if not options.print:
        curves = [picture.Curve("origins", [(one["origins"], one["ns"] / base) for one in found], 2.5)]
        curves += [picture.Curve(f"{kind} rules of a site", points, limit) for kind, points, limit in rules()]
        PICTURE.write_text(picture.draw(curves))
        print(f"drawn: {PICTURE.relative_to(record.ROOT)}")
    return (
        f"With `--most {options.most}`: `filter -j 1` on {URLS:,} unsorted URLs, without start-up; medians of "
        f"{RUNS} alternating runs.\n\n"
        + "\n".join([record.table(head, rows), *parts])
    )


def web(robosieve, place, origins):
    """The snapshot and the URLs of a web, generated unless they exist."""
    place = place / str(origins)
    place.mkdir(parents=True, exist_ok=True)
    snapshot, urls = place / "snapshot.rsieve", place / "urls.txt"
    if not (snapshot.exists() and urls.exists()):
        size = ["--origins", str(origins), "--urls", str(URLS), "--order", "shuffled"]
        subprocess.run([robosieve, "bench", *size, "--write-to", place], check=True)
        subprocess.run([robosieve, "compile", "-q", "-o", snapshot, place / "robots.jsonl.zst"], check=True)
        (place / "robots.jsonl.zst").unlink()
    return snapshot, urls


def measure(robosieve, webs):
    """Measures all webs in rounds, so that other load on the machine affects all of them."""
    with tempfile.TemporaryDirectory() as place:
        ones = {}
        for origins, (_, urls) in webs.items():
            ones[origins] = pathlib.Path(place) / str(origins)
            ones[origins].write_bytes(b"".join(first_lines(urls, 1)))
        rounds = [
            {n: (filtered(robosieve, snapshot, urls), filtered(robosieve, snapshot, ones[n])) for n, (snapshot, urls) in webs.items()}
            for _ in range(RUNS + 1)
        ][1:]
    found = []
    for origins, (snapshot, _) in webs.items():
        runs = [one[origins] for one in rounds]
        found.append({
            "origins": origins,
            "bytes": snapshot.stat().st_size,
            "ns": statistics.median(whole.seconds - start.seconds for whole, start in runs) * 1e9 / URLS,
            "anon": max(whole.anonymous for whole, _ in runs),
        })
    return found


def first_lines(urls, count):
    with urls.open("rb") as lines:
        return list(itertools.islice(lines, count))


def judge(robosieve, snapshot):
    """The command that judges a list on one thread."""
    return [robosieve, "filter", "-q", "-j", "1", "-s", snapshot, "-a", "GPTBot", "-o", "/dev/null"]


def filtered(robosieve, snapshot, urls):
    return timed([*judge(robosieve, snapshot), urls])


def stages(robosieve, webs):
    """The stages of judging, and what callgrind counts if valgrind is installed."""
    with_counts, rows = shutil.which("valgrind"), []
    for origins, (snapshot, urls) in webs.items():
        times = commands.stages(robosieve, snapshot, urls)
        row = [f"{origins:,} origins", *(f"{times[name]:.1f}" for name in ["split", "locate", "match"])]
        if with_counts:
            lines = first_lines(urls, COUNTED + 1)
            found = counts.per_line([*judge(robosieve, snapshot), "--no-verify"], lines, 1)
            row += [f"{found.instructions:,.0f}", f"{found.mispredicted:.1f}"]
        rows.append(row)
    head = ["stages", "split, ns", "locate, ns", "match, ns"] + ["instructions", "mispredicted branches"] * bool(with_counts)
    return (
        "Per URL: processor time by `robosieve bench -j 1` from memory to memory, and counts of callgrind for the\n"
        f"first {COUNTED:,} URLs of `filter -j 1 --no-verify`, without start-up.\n\n"
        + record.table(head, rows)
    )


def lookups(robosieve, webs):
    """`check` of one URL, which verifies only what it reads."""
    rows = []
    for origins, (snapshot, urls) in webs.items():
        first = b"".join(first_lines(urls, 1000))
        judged = ["-q", "-s", snapshot, "-a", "GPTBot"]
        # `check` has no verdict on a URL of an unknown origin.
        allowed = subprocess.run([robosieve, "filter", *judged], input=first, check=True, stdout=subprocess.PIPE).stdout
        url = allowed.splitlines()[0]
        check = [robosieve, "check", *judged]
        cases = [("verified", [*check, "--", url]), ("not verified", [*check, "--no-verify", "--", url])]
        medians = [statistics.median(one.seconds for one in runs) for runs in alternate(cases, RUNS).values()]
        rows.append([f"{origins:,} origins", *(f"{seconds:.4f}" for seconds in medians)])
    head = ["check, 1 URL", "time, s", "--no-verify, s"]
    return f"Medians of {RUNS} runs, snapshot in the page cache:\n\n" + record.table(head, rows)


def rules():
    """The curves of the newest criterion record."""
    records = sorted((record.ROOT / "benches" / "record").glob("*-criterion-made-up.md"))
    text = records[-1].read_text() if records else ""
    for kind, limit in [("literal", 8), ("wildcard", 8)]:
        found = re.search(rf"Growth, match by {kind} rules: (.*)\.\n", text)
        steps = [step.split(": ") for step in found[1].split(", ")] if found else []
        if steps:
            yield kind, [(int(n.replace(",", "")), float(growth)) for n, growth in steps], limit
