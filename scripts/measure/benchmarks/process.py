"""Runs a command, and measures its time and memory."""

import os
import pathlib
import re
import subprocess
import threading
import time
from dataclasses import dataclass

# Seconds between two looks at the memory. A shorter run may have none.
INTERVAL = 0.005


@dataclass
class Run:
    """What a command took. Memory is the maximum in MB; the second figure leaves out mapped files."""

    seconds: float
    processor: float
    resident: float
    anonymous: float
    errors: str


def timed(command, statuses=(0,)):
    """Runs a command that must end with one of these exit statuses."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    memory, done = {"VmHWM": 0.0, "RssAnon": 0.0}, threading.Event()

    def watch():
        while not done.wait(INTERVAL):
            for name, found in status(process.pid, memory).items():
                memory[name] = max(memory[name], found)

    watcher = threading.Thread(target=watch)
    watcher.start()
    errors = process.stderr.read()
    _, wait_status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    done.set()
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(wait_status)
    if process.returncode not in statuses:
        raise SystemExit(f"{command}: exit status {process.returncode}\n{errors}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, memory["VmHWM"], memory["RssAnon"], errors)


def alternate(cases, count):
    """Runs all commands in turn, after a warm-up, so that other load on the machine affects all of them.
    `check` answers no with status 1."""
    rounds = [{name: timed(command, (0, 1)) for name, command in cases} for _ in range(count + 1)][1:]
    return {name: [one[name] for one in rounds] for name, _ in cases}


def status(pid, names):
    """Values of /proc/PID/status in MB, 0 if the process has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        text = ""
    found = {name: re.search(rf"{name}:\s+(\d+) kB", text) for name in names}
    return {name: int(value[1]) / 1000 if value else 0.0 for name, value in found.items()}
