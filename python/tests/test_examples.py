"""Each example gives the counts of the command-line program and of `robosieve.annotate`."""

from __future__ import annotations

import ast
import asyncio
import gzip
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import robosieve

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.fixture(scope="module")
def counts(program: Path, small: Path, urls: list[str]) -> dict[str, int]:
    """The letters that the command-line program writes for the URLs."""
    command = [program, "annotate", "--quiet", "-s", small, "-a", "GPTBot"]
    text = "".join(f"{url}\n" for url in urls)
    output = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    letters = Counter(chr(line[0]) for line in output.splitlines())
    assert letters.total() == len(urls)
    return {"allowed": letters["A"], "disallowed": letters["D"], "unknown": letters["U"], "invalid": letters["I"]}


@pytest.fixture
def pages(urls: list[str], tmp_path: Path) -> Path:
    """A Parquet file with an id, a URL and a text per row, in several row groups."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"id": [str(row) for row in range(len(urls))], "url": urls, "text": ["text"] * len(urls)}
    parquet.write_table(pa.table(columns), tmp_path / "pages.parquet", row_group_size=100)
    return tmp_path / "pages.parquet"


def input_of(example: str, pages: Path) -> Path:
    """The pages in the form that the example reads."""
    folder = pages.parent
    if example == "datatrove_pipeline.py":
        (folder / "pages").mkdir()
        return pages.rename(folder / "pages" / "pages.parquet").parent
    if example == "dolma_tagger.py":
        import pyarrow.parquet

        path = folder / "documents" / "pages.jsonl.gz"
        path.parent.mkdir()
        with gzip.open(path, "wt") as file:
            for row in pyarrow.parquet.read_table(pages).to_pylist():
                document = {"id": row["id"], "text": row["text"], "source": "web", "metadata": {"url": row["url"]}}
                file.write(json.dumps(document) + "\n")
        return path
    return pages


def run(example: str, small: Path, given: Path) -> dict[str, int]:
    """Runs an example in its own folder. Skips the test if a library is not installed."""
    quiet = {"HF_HOME": str(given.parent / "cache"), "HF_HUB_OFFLINE": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, EXAMPLES / example, small, given]
    done = subprocess.run(command, capture_output=True, text=True, cwd=given.parent, env={**os.environ, **quiet})
    missing = re.search(r"ModuleNotFoundError: No module named '([^'.]+)", done.stderr)
    if done.returncode != 0 and missing and importlib.util.find_spec(missing[1]) is None:
        pytest.skip(f"{missing[1]} is not installed")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("example", NAMES)
def test_example(example: str, small: Path, pages: Path, counts: dict[str, int]) -> None:
    assert run(example, small, input_of(example, pages)) == counts


def test_annotate_has_the_same_counts(small: Path, pages: Path, counts: dict[str, int], tmp_path: Path) -> None:
    result = robosieve.annotate(small, pages, tmp_path / "annotated.parquet", "GPTBot")
    assert {name: result[name] for name in counts} == counts
    assert all(count > 0 for count in counts.values())


@pytest.mark.parametrize("example", NAMES)
def test_examples_have_at_most_20_lines_of_code(example: str) -> None:
    source = (EXAMPLES / example).read_text()
    module = ast.parse(source)
    assert len(ast.get_docstring(module).splitlines()) <= 3
    # Lines of statements, without blank lines, comments and the docstring.
    lines = {line for node in ast.walk(module) if hasattr(node, "lineno") for line in _lines(node)}
    assert len(lines - set(_lines(module.body[0]))) <= 20


def _lines(node: Any) -> range:
    """The lines of a node, or of its head if it has a body."""
    body = getattr(node, "body", None)
    return range(node.lineno, body[0].lineno if isinstance(body, list) else node.end_lineno + 1)


def test_readme_lists_every_example() -> None:
    listed = re.findall(r"\[`(\w+\.py)`\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text())
    assert [name for name, _ in listed] == [target for _, target in listed]
    assert sorted(name for name, _ in listed) == NAMES


def test_asyncio_example_swaps_the_snapshot(small: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    specification = importlib.util.spec_from_file_location("asyncio_swap", EXAMPLES / "asyncio_swap.py")
    assert specification is not None and specification.loader is not None
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    path, other = tmp_path / "web.rsieve", tmp_path / "other.rsieve"
    path.write_bytes(small.read_bytes())
    compiler = robosieve.Compiler()
    compiler.add_response("https://a.example/robots.txt", 404)
    compiler.write(other)

    async def swapped() -> int:
        current = {"inode": path.stat().st_ino, "web": robosieve.Snapshot(path)}
        swapping = asyncio.create_task(example.swap(current, path, 0.01))
        await asyncio.sleep(0.05)
        assert len(current["web"]) == 48
        other.rename(path)
        for _ in range(500):
            await asyncio.sleep(0.01)
            if len(current["web"]) == 1:
                break
        swapping.cancel()
        return len(current["web"])

    assert asyncio.run(swapped()) == 1
