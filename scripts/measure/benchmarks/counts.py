"""Counts instructions with callgrind. The counts are reproducible and independent of other load."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

from . import data, record, rivals

LINES = 100_000
ENOUGH = 100_000_000
CONTESTANTS = ["robosieve", "fast-robots", "robotxt", "texting_robots"]
SITES = ["small", "medium", "large", "literal"]


def run(options):
    if not shutil.which("valgrind"):
        raise record.Skipped("valgrind is not installed")
    sites, parts = rivals.sites(options.real), []
    if not options.real or data.is_there(options.real):
        parts.append("## Whole command\n\n" + commands(options.real))
    if not options.real or sites:
        parts += [f"## {step}, one site\n\n" + contestants(step, sites) for step in ["match", "judge"]]
    return "Instructions by callgrind, which has no AVX-512 to offer: those of the AVX2 code.\n\n" + "\n".join(parts)


@dataclass
class Counts:
    """What callgrind counts in all threads of a command, or a mean of it."""

    instructions: float
    mispredicted: float


def count(*command, env=None):
    """Runs a command in callgrind, with its model of a branch predictor."""
    call = ["valgrind", "--tool=callgrind", "--branch-sim=yes", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(call, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
    instructions, _, conditional, _, indirect = map(int, re.search(r"Collected : ([\d ]+)", done.stderr)[1].split())
    return Counts(instructions, conditional + indirect)


def per_line(judge, lines, start):
    """What a line costs a command that reads a list: the counts of all lines minus those of the first
    `start`, without start-up."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        part = pathlib.Path(place) / "part"
        for end in [start, len(lines)]:
            part.write_bytes(b"".join(lines[:end]))
            found.append(count(*judge, part))
    first, whole = found
    judged = len(lines) - start
    return Counts((whole.instructions - first.instructions) / judged, (whole.mispredicted - first.mispredicted) / judged)


def commands(real):
    """`filter` on each list, minus `filter` on its first half. The difference excludes start-up."""
    rows = []
    with data.compiled(real, 2 * LINES) as (robosieve, inputs, snapshot, _):
        for name, file in inputs.lists.items():
            lines = file.read_bytes().splitlines(keepends=True)[: 2 * LINES]
            judge = [robosieve, "-j", "1", "filter", "-q", "-s", snapshot, "-a", "GPTBot", "-o", "/dev/null"]
            rows.append([f"filter -j 1, {name}", f"{per_line(judge, lines, len(lines) // 2).instructions:,.0f}"])
    return record.table(["command", "instructions a line"], rows)


def contestants(step, sites):
    """The contestants that parse the robots.txt once."""
    build = ["cargo", "build", "--release", "--locked", "-q", "--bin", "passes"]
    subprocess.run(build, cwd=rivals.HOME, check=True)
    place = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", rivals.HOME / "target")).resolve()
    passes, env = str(place / "release" / "passes"), rivals.environment(sites)
    rows = []
    for who in CONTESTANTS:
        row = [who]
        for site in SITES:
            inputs = int(record.output(passes, step, site, who, "1", env=env))
            found = a_pass(lambda times: count(passes, step, site, who, str(times), env=env).instructions)
            row.append(f"{found / inputs:,.0f}")
        rows.append(row)
    return record.table(["instructions an answer", *SITES], rows)


def a_pass(instructions):
    """The instructions of one pass without start-up, from a function that counts any number of passes.
    Start-up varies by tens of thousands of instructions."""
    one = instructions(1)
    more = max(1, ENOUGH // (instructions(2) - one))
    return (instructions(1 + more) - one) / more
