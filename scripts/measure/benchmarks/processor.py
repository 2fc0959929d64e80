"""Processor time of commands on one thread, alternating with simple commands that read the same bytes. It
depends less on other work of the machine than the time on the clock, and threads cannot hide it."""

import importlib.metadata
import pathlib
import statistics
import subprocess
import sys
import tempfile

from . import data, process, record

RUNS = 9
# Reads all records of an archive, with heads and bodies.
FASTWARC = """
import sys
from fastwarc.warc import ArchiveIterator

for record in ArchiveIterator(open(sys.argv[1], "rb"), parse_http=True):
    record.reader.read()
"""


def run(real):
    if real and not data.is_there(real):
        print("processor: skipped, there is no archive in that directory")
        return None
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        lists = data.find(real, place) if real else data.make(place, 1_000_000)
        return measure(record.robosieve(), data.longer(lists, place) if real else lists, place)


def measure(robosieve, inputs, place):
    snapshot = place / "snapshot"
    compile_ = [robosieve, "-j", "1", "compile", "-q", "-o", snapshot, inputs.archive]
    subprocess.run(compile_, check=True)
    judge = [robosieve, "-j", "1", "filter", "-q", "-s", snapshot, "-a", "GPTBot", "-o", "/dev/null"]
    cases = [(f"filter, {name}", [*judge, file], "wc -l", ["wc", "-l", file]) for name, file in inputs.lists.items()]
    cases.append(("compile against zcat", compile_, "zcat", ["zcat", inputs.archive]))
    version, reader = fastwarc(inputs.archive)
    if version:
        cases.append(("compile against FastWARC", compile_, f"FastWARC {version}", reader))
    runs = process.alternate([(number, command) for number, command in enumerate(commands(cases))], RUNS)
    rows = [row(name, against, runs[2 * number], runs[2 * number + 1]) for number, (name, _, against, _) in enumerate(cases)]
    head = ["processor time, 1 thread", "median, s", "against", "median, s", "ratio", "of the least"]
    left_out = "" if version else "\nFastWARC is not installed (pip install fastwarc), and left out.\n"
    sizes = ", ".join(f"{name} {file.stat().st_size:,}" for name, file in inputs.lists.items())
    note = (
        f"User and system time of whole processes, medians of {RUNS} alternating runs after a warm-up run. FastWARC reads\n"
        "all records with their heads and bodies; its time includes the start of Python."
    )
    return f"{note}\n\n{record.table(head, rows)}{left_out}\nBytes: archive {inputs.archive.stat().st_size:,}; lists: {sizes}.\n"


def commands(cases):
    for _, command, _, base in cases:
        yield command
        yield base


def fastwarc(archive):
    """The version of FastWARC, and a command that reads an archive with it; None if it is not installed."""
    try:
        version = importlib.metadata.version("fastwarc")
    except importlib.metadata.PackageNotFoundError:
        return None, None
    return version, [sys.executable, "-c", FASTWARC, archive]


def row(name, against, own, other):
    own, other = [run.processor for run in own], [run.processor for run in other]
    median, base = statistics.median(own), statistics.median(other)
    return [name, f"{median:.3f}", against, f"{base:.3f}", f"{median / base:.2f}", f"{min(own) / min(other):.2f}"]
