"""The criterion benchmarks of benches/: the median of each, for one element of its work."""

import json
import shutil
import subprocess

from . import record


def run(real):
    if real:
        print("criterion: these benchmarks make their data; skipped with --real")
        return None
    out = record.target() / "criterion"
    shutil.rmtree(out, ignore_errors=True)
    command = ["cargo", "bench", "--locked", "--benches", "--", "--warm-up-time", "0.5", "--measurement-time", "2"]
    subprocess.run(command, cwd=record.ROOT, check=True)
    found = [measured(path.parent) for path in out.glob("**/new/benchmark.json")]
    found.sort(key=lambda row: row[0])
    rows = [[group, name, f"{ns:,.1f}", per] for (group, _, name), ns, per in found]
    return "Medians; every pass asserts its answer.\n\n" + record.table(["group", "benchmark", "ns", "for one"], rows) + growth(found)


def measured(place):
    """Of one benchmark how it is sorted and called, its median in nanoseconds, and for how much that is."""
    about = json.loads((place / "benchmark.json").read_text())
    median = json.loads((place / "estimates.json").read_text())["median"]["point_estimate"]
    kind, count = next(iter((about["throughput"] or {}).items()), ("", 1))
    per = {"Elements": "element", "Bytes": "byte"}.get(kind, "call")
    group, name = about["group_id"], about["function_id"] or about["value_str"]
    return (group, int(name) if name.isdigit() else 0, name), median / count, per


def growth(found):
    """What the groups whose benchmarks are called by numbers cost at each, as a multiple of the first."""
    out = ""
    for group in sorted({group for (group, number, _), _, _ in found if number}):
        curve = [(number, ns) for (own, number, _), ns, _ in found if own == group]
        steps = ", ".join(f"{number:,}: {ns / curve[0][1]:.2f}" for number, ns in curve)
        out += f"\nGrowth, {group}: {steps}.\n"
    return out
