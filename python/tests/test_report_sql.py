"""The SQL of docs/REPORT.md counts the figures of `robosieve report`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "datasets/small"
AGENTS = ["GPTBot", "Googlebot"]
WEIGHTS = "news.example,4\ngarden.example,2\nshop.example,0.5\nabsent.example,8\n"


def run(directory: Path, *arguments: object) -> str:
    command = [sys.executable, "-m", "robosieve", *map(str, arguments)]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout


def test_sql_counts_the_figures_of_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    run(tmp_path, "compile", "-q", "-o", "small.rsieve", SMALL / "robots.warc", SMALL / "more.jsonl")
    (tmp_path / "weights.csv").write_text(WEIGHTS)
    judged = ["-q", "-s", "small.rsieve", "-a", ",".join(AGENTS)]
    run(tmp_path, "export", *judged, "--long", "-o", "origins.parquet")
    options = ["--by", "domain", "--group-by", "tld", "--top", "10000", "--weights", "weights.csv"]
    report = json.loads(run(tmp_path, "report", *judged, *options, "--json-to", "-"))

    monkeypatch.chdir(tmp_path)
    database = duckdb.connect()
    page = (ROOT / "docs/REPORT.md").read_text()
    for block in re.findall(r"^```sql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        database.execute(block)

    def rows(view: str) -> list[dict]:
        found = database.execute(f"SELECT * FROM {view}")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]

    by_agent = {row.pop("agent"): row for row in rows("agents")}
    assert by_agent == {agent["agent"]: agent["origins"] for agent in report["agents"]}
    (together,) = rows("together")
    assert together.items() <= report["together"].items()
    bases = {row["basis"]: row["origins"] for row in rows("bases")}
    assert bases == {basis["basis"]: basis["origins"] for basis in report["bases"]}
    groups = {(row.pop("name"), row.pop("agent")): row for row in rows("groups")}
    assert len(groups) == len(report["groups"]) * len(AGENTS)
    for group in report["groups"]:
        for agent, counts in zip(AGENTS, group["agents"]):
            expected = {"units": group["units"], "wholly": counts["wholly"], "partly": counts["partly"]}
            assert groups[group["name"], agent] == expected
    weighted = {row.pop("agent"): row for row in rows("weighted")}
    for agent in report["agents"]:
        for key, weight in weighted[agent["agent"]].items():
            assert (weight or 0) == pytest.approx(agent["weighted"][key])
