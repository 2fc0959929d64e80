"""Asks the command of this project, which is started for each question."""

import os
import subprocess

ROBOSIEVE = os.environ["ROBOSIEVE"]
ALLOWED = {b"allowed": True, b"disallowed": False}


def allowed(body, agent, url, *options):
    """The verdict of `robosieve check` with these options."""
    command = [ROBOSIEVE, "check", "-q", "--robots", "-", "-a", agent, *options, "--", url]
    done = subprocess.run(command, input=body, capture_output=True)
    # Other words, such as an error, are a KeyError, and the answer is E.
    return ALLOWED[done.stdout.split(b"\t")[0]]
