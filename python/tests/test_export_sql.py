"""The SQL of docs/EXPORT.md finds the answers of a history in force at a time, and counts origins."""

from __future__ import annotations

import collections
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
AGENT = "GPTBot"
CLOSED, OPEN = "user-agent: GPTBot\ndisallow: /", "user-agent: *\ndisallow: /x"


def capture(host: str, day: str | None, answer: str | int) -> dict[str, Any]:
    """A capture of a robots.txt: its text, the host that it redirects to, or a status."""
    found: dict[str, Any] = {"url": f"https://{host}.test/robots.txt"}
    if day is not None:
        found["fetched_at"] = f"{day}T06:00:00Z"
    if isinstance(answer, int):
        return found | {"status": answer}
    if answer.startswith("to "):
        target = {"Location": f"https://{answer.removeprefix('to ')}.test/robots.txt"}
        return found | {"status": 301, "headers": target}
    return found | {"body": answer}


#: Every outcome, an unknown time, a target that comes late, and redirects that begin and end.
CAPTURES = [
    capture("plain", "2026-03-01", OPEN),
    capture("plain", "2026-09-01", CLOSED),
    capture("undated", None, CLOSED),
    capture("undated", "2026-09-02", 404),
    capture("moved", "2026-02-01", "to plain"),
    capture("alias", "2026-02-15", OPEN),
    capture("alias", "2026-08-01", "to undated"),
    capture("back", "2026-03-02", "to undated"),
    capture("back", "2026-10-01", CLOSED),
    capture("nowhere", "2026-03-03", "to absent"),
    capture("down", "2026-03-04", OPEN),
    capture("down", "2026-08-05", 503),
    capture("down", "2026-10-06", CLOSED),
]
TIMES = ["2026-01-01", "2026-02-20", "2026-03-01", "2026-08-20", "2026-09-01", "2026-10-01", "2026-11-01"]


def run(directory: Path, *arguments: object) -> str:
    command = [sys.executable, "-m", "robosieve", *map(str, arguments)]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout


def sql_blocks() -> list[str]:
    page = (ROOT / "docs/EXPORT.md").read_text()
    return re.findall(r"^```sql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_sql_finds_the_answers_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("captures.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CAPTURES))
    run(tmp_path, "compile", "-q", "--history", "-o", "years.rsieve", "captures.jsonl")
    run(tmp_path, "export", "-q", "-s", "years.rsieve", "-a", AGENT, "--history", "-o", "versions.parquet")
    (block,) = [block for block in sql_blocks() if "versions.parquet" in block]
    outcomes = set()
    for day in TIMES:
        # Midday, so that captures of the day are in force.
        time = f"{day} 12:00:00Z"
        asked, count = re.subn(r"TIMESTAMPTZ '[^']*'", f"TIMESTAMPTZ '{time}'", block)
        assert count == 1
        found = {row[0]: row[1:] for row in duckdb.connect().execute(asked).fetchall()}
        then = run(
            tmp_path, "export", "-q", "-s", "years.rsieve", "-a", AGENT, "--as-of", time.replace(" ", "T"), "--as", "jsonl"
        )
        expected = {}
        for row in map(json.loads, then.splitlines()):
            outcome = row["outcome"].replace("unresolved-redirect", "redirect")
            # Of other outcomes, the access depends on a policy.
            access = row[f"{AGENT}.access"] if outcome == "rules" else None
            expected[row["origin"]] = (outcome, access)
        assert found == expected, day
        outcomes |= set(found.values())
    assert outcomes == {
        ("rules", "partial"),
        ("rules", "blocked"),
        ("client-error", None),
        ("server-error", None),
        ("redirect", None),
    }


def test_sql_counts_origins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    small = ROOT / "datasets/small"
    run(tmp_path, "compile", "-q", "-o", "small.rsieve", small / "robots.warc", small / "more.jsonl")
    run(tmp_path, "export", "-q", "-s", "small.rsieve", "-a", AGENT, "-o", "origins.parquet")
    (block,) = [block for block in sql_blocks() if "origins.parquet" in block]
    rows = map(json.loads, run(tmp_path, "export", "-q", "-s", "small.rsieve", "-a", AGENT, "--as", "jsonl").splitlines())
    expected = collections.Counter(row["tld"] for row in rows if row[f"{AGENT}.access"] == "blocked")
    assert expected and dict(duckdb.connect().execute(block).fetchall()) == expected
