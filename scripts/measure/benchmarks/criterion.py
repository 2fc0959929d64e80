"""Runs the criterion benchmarks of benches/ and reports the time per element."""

import json
import shutil
import statistics
import subprocess
from dataclasses import dataclass

from . import record


@dataclass
class Found:
    """The result of one benchmark: nanoseconds per `unit`."""

    group: str
    name: str
    unit: str
    median: float
    least: float

    def number(self):
        """The number in the name of a benchmark of a curve, or 0."""
        return int(self.name) if self.name.isdigit() else 0


CURVES = "match by .* rules"
ROUNDS = 7


def run(options):
    record.generated_only(options.real)
    found = measure(["--warm-up-time", "0.5", "--measurement-time", "2"])
    rows = [[f"{one.group}: {one.name}", one.unit, f"{one.median:,.1f}", f"{one.least:,.1f}"] for one in found]
    table = record.table(["benchmark", "for one", "median, ns", "least, ns"], rows)
    short = [CURVES, "--warm-up-time", "0.2", "--measurement-time", "0.5"]
    rounds = [measure(short) for _ in range(ROUNDS)]
    return f"Every pass asserts its answer.\n\n{table}\n" + "\n".join(growth(rounds))


def measure(options):
    """Runs benchmarks and returns their results in order."""
    out = record.target() / "criterion"
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(["cargo", "bench", "--locked", "--bench", "main", "--", *options], cwd=record.ROOT, check=True)
    found = [measured(path.parent) for path in out.glob("**/new/benchmark.json")]
    return sorted(found, key=lambda one: (one.group, one.number(), one.name))


def measured(place):
    about, estimates, sample = (
        json.loads((place / f"{file}.json").read_text()) for file in ["benchmark", "estimates", "sample"]
    )
    kind, count = next(iter((about["throughput"] or {}).items()), ("", 1))
    unit = {"Elements": "element", "Bytes": "byte"}.get(kind, "call")
    least = min(time / passes for time, passes in zip(sample["times"], sample["iters"]))
    median = estimates["median"]["point_estimate"]
    return Found(about["group_id"], about["function_id"] or about["value_str"], unit, median / count, least / count)


def growth(rounds):
    """The time at each number of a group, as a multiple of the first. One line uses the minimum of all
    rounds, because other load can only add time. The other uses the median ratio of the rounds."""
    for group in sorted({one.group for one in rounds[0] if one.number()}):
        curves = [[one for one in found if one.group == group] for found in rounds]
        points = list(zip(*curves))
        least = [min(one.least for one in point) for point in points]
        yield f"Growth, {group}: {steps(points, [one / least[0] for one in least])}.\n"
        medians = [statistics.median(one.median / first.median for one, first in zip(point, points[0])) for point in points]
        yield f"By the medians of each of {len(rounds)} rounds: {steps(points, medians)}.\n"


def steps(points, multiples):
    return ", ".join(f"{point[0].number():,}: {multiple:.2f}" for point, multiple in zip(points, multiples))
