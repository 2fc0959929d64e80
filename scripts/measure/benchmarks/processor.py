"""Processor time of commands on one thread, alternating with simple commands that read the same bytes. It
depends less on other work of the machine than the time on the clock, and threads cannot hide it."""

import importlib.metadata
import sys

from . import data, process

RUNS = 9
# Reads all records of an archive, with heads and bodies.
FASTWARC = """
import sys
from fastwarc.warc import ArchiveIterator

for record in ArchiveIterator(open(sys.argv[1], "rb"), parse_http=True):
    record.reader.read()
"""


def run(options):
    with data.compiled(options.real, 1_000_000) as (robosieve, inputs, snapshot, place):
        return measure(robosieve, data.longer(inputs, place) if options.real else inputs, snapshot)


def measure(robosieve, inputs, snapshot):
    compile_ = [robosieve, "-j", "1", "compile", "-q", "-o", f"{snapshot}.again", inputs.archive]
    judge = [robosieve, "-j", "1", "filter", "-q", "-s", snapshot, "-a", "GPTBot", "-o", "/dev/null"]
    cases = [(f"filter, {name}", [*judge, file], "wc -l", ["wc", "-l", file]) for name, file in inputs.lists.items()]
    cases.append(("compile against zcat", compile_, "zcat", ["zcat", inputs.archive]))
    version, reader = fastwarc(inputs.archive)
    if version:
        cases.append(("compile against FastWARC", compile_, f"FastWARC {version}", reader))
    table = process.compare("processor time, 1 thread", cases, RUNS, "processor")
    left_out = "" if version else "\nFastWARC is not installed (pip install fastwarc), and left out.\n"
    note = (
        f"User and system time of whole processes, medians of {RUNS} alternating runs after a warm-up run. FastWARC reads\n"
        "all records with their heads and bodies; its time includes the start of Python."
    )
    return f"{note}\n\n{table}{left_out}\n{inputs.sizes()}"


def fastwarc(archive):
    """The version of FastWARC, and a command that reads an archive with it; None if it is not installed."""
    try:
        version = importlib.metadata.version("fastwarc")
    except importlib.metadata.PackageNotFoundError:
        return None, None
    return version, [sys.executable, "-c", FASTWARC, archive]
