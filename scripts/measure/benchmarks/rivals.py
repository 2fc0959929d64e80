"""Compares robosieve with other crates: the tables of benches/rivals, and the versions of the crates."""

import os
import subprocess

from . import record

HOME = record.ROOT / "benches" / "rivals"
CRATES = ["fast-robots", "robotxt", "texting_robots", "robotstxt", "aho-corasick", "url", "criterion"]


def sites(real):
    """The directory of the sites in a directory of real inputs, or `None`."""
    return real and next((place for place in [real / "rivals", real] if (place / "small.urls").exists()), None)


def environment(sites):
    """The environment of a run, with the sites in this directory or generated ones."""
    env = {key: value for key, value in os.environ.items() if key != "ROBOSIEVE_RIVALS"}
    return {**env, "ROBOSIEVE_RIVALS": str(sites)} if sites else env


def run(options):
    if options.real and not sites(options.real):
        raise record.Skipped("that directory has no sites")
    env = environment(sites(options.real))
    bench = subprocess.Popen(["cargo", "bench", "--locked"], cwd=HOME, env=env, stdout=subprocess.PIPE, text=True)
    lines = []
    for line in bench.stdout:
        print(line, end="")
        lines.append(line.rstrip("\n"))
    if bench.wait():
        raise SystemExit("the benchmark failed")
    first = next(i for i, line in enumerate(lines) if line.startswith("## "))
    return f"Crates: {versions()}.\n\n" + "\n".join(lines[first:])


def versions():
    """The versions of the crates in the lock file."""
    lock = (HOME / "Cargo.lock").read_text().split("[[package]]")[1:]
    packages = dict((package.split('"')[1], package.split('"')[3]) for package in lock)
    return ", ".join(f"{name} {packages[name]}" for name in CRATES)
