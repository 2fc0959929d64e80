"""Tables of export for made-up files and histories. scripts/prove/recount_export.py derives their values again
from `inspect` and `annotate`, and those of a history from the captures."""

import collections
import os
import re
import subprocess
import sys

from . import grammar, histories, versions
from .command import BINARY, ROOT, Failed, compiled, robots
from .rounds import Result
from .shrinking import smallest

FILES = 25
WEBS = 8
# Webs of the history of a round.
HISTORIES = 30
AGENTS = "FooBot,GPTBot,a,MJ12bot,Googlebot-News:Googlebot"


def check(directory, captures, planted, is_history=False):
    """The output of the check, and whether it found no difference."""
    snapshot = compiled(directory / "export.rsieve", captures, *(["--history"] if is_history else []))
    binary = BINARY
    if planted:
        # An export with another name of the second outcome.
        binary = directory / "planted"
        binary.write_text(
            f'#!/bin/sh\nif [ "$1" = export ]; then {BINARY} "$@" | sed s/server-error/planted/; '
            f'else exec {BINARY} "$@"; fi\n'
        )
        binary.chmod(0o755)
    script = [sys.executable, ROOT / "scripts" / "prove" / "recount_export.py", snapshot, AGENTS]
    if is_history:
        script += ["--captures", snapshot.with_suffix(".jsonl")]
    environment = os.environ | {"ROBOSIEVE": str(binary)}
    done = subprocess.run(script, capture_output=True, text=True, env=environment)
    # A crash is not a difference, but has the same exit status.
    if "Traceback" in done.stderr:
        raise Failed(done.stderr)
    return done.stdout + done.stderr, done.returncode == 0


def play(rng, directory, options, number):
    # Every other round has the history of webs, whose captures show when their answers changed.
    is_history = number % 2 == 0
    captures = []
    for web in range(HISTORIES if is_history else 0):
        captures += versions.texts_at_random(rng, histories.made_up(rng, web).captures)
    for site in range(0 if is_history else FILES):
        body, _ = grammar.robots(rng, rng.choice([1, 3, 8, 17, 65, 130]))
        captures.append(robots(f"http://h{site}.example", body))
    for web in range(0 if is_history else WEBS):
        captures += [one.record() for one in histories.made_up(rng, web).captures]
    text, agrees = check(directory, captures, options.self_test, is_history)
    counts = collections.Counter({"cells": sum(map(int, re.findall(r"^\S.{23}\s*(\d+)$", text, re.M)))})
    if agrees:
        return Result(counts)

    def differs(kept):
        # A snapshot needs a robots.txt.
        has_origin = any(one["url"].endswith("/robots.txt") for one in kept)
        return has_origin and not check(directory, kept, options.self_test, is_history)[1]

    captures = smallest(captures, differs)
    text, _ = check(directory, captures, options.self_test, is_history)
    lines = text.splitlines()[-12:]
    return Result(counts, "\n".join(["# captures", *map(str, captures), *(f"# {line}" for line in lines)]))
