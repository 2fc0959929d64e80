"""Whole commands on one thread and on two, and what Amdahl's law leaves of each on sixteen cores.

A command that takes t1 seconds on one thread and t2 on two has a part of 2 t2 - t1 that stays serial, if its other
part takes half the time on two. On more cores the law is arithmetic: memory and disks are left out."""

import statistics

from . import data, jobs, process, record

RUNS = 9
MANY = 16


def run(options):
    with data.compiled(options.real, 1_000_000) as (robosieve, inputs, snapshot, place):
        lists = (data.longer(inputs, place) if options.real else inputs).lists
        log, _ = jobs.write_log(place, inputs.lists["unsorted"])
        judge = ["-q", "-s", snapshot, "-a", "GPTBot"]
        commands = {f"filter, {name}": ["filter", *judge, file, "-o", "/dev/null"] for name, file in lists.items()}
        commands |= {
            "filter, unsorted, into a file": ["filter", *judge, lists["unsorted"], "-o", place / "kept.txt"],
            "annotate, unsorted": ["annotate", *judge, lists["unsorted"], "-o", "/dev/null"],
            "compile": ["compile", "-q", "-o", place / "again.rsieve", inputs.archive],
            "audit": ["audit", "-q", "-s", snapshot, "--host", jobs.origin(inputs.lists["unsorted"]), "--json", log],
            "export": ["export", *judge, "-o", "/dev/null"],
            "report": ["report", *judge, "--html", place / "report.html"],
        }
        cases = [((name, threads), [robosieve, "-j", str(threads), *arguments])
                 for name, arguments in commands.items() for threads in (1, 2)]
        runs = process.alternate(cases, RUNS)
        sizes = inputs.sizes()
    rows = []
    for name in commands:
        one, two = (statistics.median(run.seconds for run in runs[name, threads]) for threads in (1, 2))
        # Noise may make two threads more than twice as fast.
        serial = max(2 * two - one, 0)
        many = serial + (one - serial) / MANY
        rows.append([name, f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}", f"{100 * serial / one:.0f}", f"{many:.3f}", f"{one / many:.1f}"])
    head = ["command", "1 thread, s", "2 threads, s", "faster", "serial, %", f"{MANY} cores, s", f"faster on {MANY}"]
    note = f"Medians of {RUNS} alternating runs after a warm-up run. The last two columns are arithmetic, by Amdahl's law."
    return f"{note}\n\n{record.table(head, rows)}\n{sizes}"
