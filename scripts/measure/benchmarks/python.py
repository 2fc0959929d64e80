"""Times the ways to judge URLs in Python, next to the command line, Protego and urllib.robotparser."""

import importlib.metadata
import importlib.util
import platform
import sys

from . import data, record

LINES = 1_000_000
NOTE = (
    "Processor time of one thread, the least of five runs (Protego: one run). Only URLs whose origins\n"
    "have a robots.txt."
)
FILES_NOTE = (
    "Processor time of one thread, the least of nine turns. The files are those of the first origins of\n"
    "each list, each text once. 50 URLs are asked about each file, half of them made of its rules."
)
PACKAGES = ["robosieve", "pyarrow", "protego"]


def run(options):
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        raise record.Skipped(f"{sys.executable} has no package {', '.join(missing)}")
    with data.compiled(options.real, LINES) as (robosieve, inputs, snapshot, _):
        programs = record.ROOT / "python" / "bench"
        compare = [sys.executable, programs / "compare.py", snapshot]
        limit = ["--limit", str(LINES), "--program", robosieve]
        tables = [f"**{name}**: {record.output(*compare, urls, *limit)}" for name, urls in inputs.lists.items()]
        robots = [sys.executable, programs / "robots.py", snapshot]
        tables.append(f"## Single files\n\n{FILES_NOTE}")
        for name in ["unsorted", "manyhosts"]:
            tables.append(f"**{name}**: {record.output(*robots, inputs.lists[name], '--turns', '9')}")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES[1:]]
    return "\n\n".join([f"{NOTE}\nCPython {platform.python_version()}, {', '.join(versions)}.", *tables])
