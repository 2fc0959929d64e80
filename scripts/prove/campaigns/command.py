"""Runs the robosieve command."""

import base64
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = pathlib.Path(os.environ.get("ROBOSIEVE", TARGET / "release" / "robosieve")).resolve()


def require_binary():
    if not BINARY.is_file():
        sys.exit(f"{BINARY}: not found; run cargo build --release, or name the binary with ROBOSIEVE")


class Failed(Exception):
    """A run with another exit status than expected. The text has the command and its messages."""


def run(*arguments, backend=None, data=None, statuses=(0,)):
    """The standard output of a run. `backend` is a value of ROBOSIEVE_BACKEND; None leaves the choice to
    robosieve."""
    env = dict(os.environ, **({"ROBOSIEVE_BACKEND": backend} if backend else {}))
    done = subprocess.run([BINARY, *arguments], input=data, capture_output=True, env=env)
    if done.returncode not in statuses:
        message = done.stderr.decode(errors="replace")
        raise Failed(f"{' '.join(map(str, [BINARY, *arguments]))}\nexit status {done.returncode}: {message}")
    return done.stdout


def write_archive(path, captures):
    """Writes captures, as dictionaries, to an archive of JSON lines."""
    path.write_text("".join(json.dumps(capture) + "\n" for capture in captures))
    return path


def robots(origin, body):
    """A robots.txt, whose bytes need not be text, as a capture."""
    return {"url": f"{origin}/robots.txt", "status": 200, "body_base64": base64.b64encode(body).decode()}


def compiled(snapshot, captures, *options):
    """Compiles captures to a snapshot, next to their archive. Returns its path."""
    archive = write_archive(snapshot.with_suffix(".jsonl"), captures)
    run("compile", "-q", *options, "-o", snapshot, archive)
    return snapshot


def letters(snapshot, agents, urls, *options):
    """The letters of `annotate` for each URL of a list, in bytes: one per agent, which are separated by commas."""
    data = b"".join(url + b"\n" for url in urls)
    out = run("annotate", "-q", "-s", snapshot, "-a", agents, *options, data=data) if urls else b""
    return [line.split(b"\t")[0].decode() for line in out.split(b"\n")[:-1]]
