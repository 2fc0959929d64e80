"""Runs a command, and measures its time and memory."""

import os
import pathlib
import re
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass

from . import record

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
    """Runs all commands in turn, after a warm-up, so that other load on the machine affects all of them. The
    order alternates, because a command starts with the warm caches of the one before. `check` answers no with
    status 1."""
    rounds = []
    for turn in range(count + 1):
        rounds.append({name: timed(command, (0, 1)) for name, command in (cases if turn % 2 else reversed(cases))})
    return {name: [one[name] for one in rounds[1:]] for name, _ in cases}


def compare(title, cases, count, figure):
    """A table of the medians of a figure and of their ratios. A case is a name, its command, and the name and the
    command that it is compared with."""
    sides = [((name, side), case[side]) for name, *case in cases for side in (0, 2)]
    runs = {key: [getattr(run, figure) for run in found] for key, found in alternate(sides, count).items()}
    rows = []
    for name, _, against, _ in cases:
        own, other = runs[name, 0], runs[name, 2]
        median, base = statistics.median(own), statistics.median(other)
        ratios = f"{median / base:.2f}", f"{min(own) / min(other):.2f}"
        rows.append([name, f"{median:.4f}", against, f"{base:.4f}", *ratios])
    return record.table([title, "median, s", "against", "median, s", "ratio", "of the least"], rows)


def status(pid, names):
    """Values of /proc/PID/status in MB, 0 if the process has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        text = ""
    found = {name: re.search(rf"{name}:\s+(\d+) kB", text) for name in names}
    return {name: int(value[1]) / 1000 if value else 0.0 for name, value in found.items()}
