"""Runs the robosieve command."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = pathlib.Path(os.environ.get("ROBOSIEVE", TARGET / "release" / "robosieve")).resolve()


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
