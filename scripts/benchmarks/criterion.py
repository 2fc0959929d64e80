"""The criterion benchmarks of benches/: the time of one element of each one's work."""

import json
import shutil
import subprocess
from dataclasses import dataclass

from . import record


@dataclass
class Found:
    """What was measured of one benchmark: nanoseconds for one `unit`."""

    group: str
    name: str
    unit: str
    median: float
    least: float

    def number(self):
        """The number that the benchmark is called by, if it is one of a curve; else 0."""
        return int(self.name) if self.name.isdigit() else 0


def run(real):
    if real:
        print("criterion: skipped, these benchmarks make their data")
        return None
    out = record.target() / "criterion"
    shutil.rmtree(out, ignore_errors=True)
    command = ["cargo", "bench", "--locked", "--benches", "--", "--warm-up-time", "0.5", "--measurement-time", "2"]
    subprocess.run(command, cwd=record.ROOT, check=True)
    found = [measured(path.parent) for path in out.glob("**/new/benchmark.json")]
    found.sort(key=lambda one: (one.group, one.number(), one.name))
    rows = [[f"{one.group}: {one.name}", one.unit, f"{one.median:,.1f}", f"{one.least:,.1f}"] for one in found]
    table = record.table(["benchmark", "for one", "median, ns", "least, ns"], rows)
    return f"Every pass asserts its answer.\n\n{table}\n" + "\n".join(growth(found))


def measured(place):
    about, estimates, sample = (
        json.loads((place / f"{file}.json").read_text()) for file in ["benchmark", "estimates", "sample"]
    )
    kind, count = next(iter((about["throughput"] or {}).items()), ("", 1))
    unit = {"Elements": "element", "Bytes": "byte"}.get(kind, "call")
    least = min(time / passes for time, passes in zip(sample["times"], sample["iters"]))
    median = estimates["median"]["point_estimate"]
    return Found(about["group_id"], about["function_id"] or about["value_str"], unit, median / count, least / count)


def growth(found):
    """Of each group called by numbers the least time at each number, as a multiple of the first."""
    for group in sorted({one.group for one in found if one.number()}):
        curve = [one for one in found if one.group == group]
        steps = ", ".join(f"{one.number():,}: {one.least / curve[0].least:.2f}" for one in curve)
        yield f"Growth, {group}: {steps}.\n"
