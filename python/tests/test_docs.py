"""The sessions in the documentation, run as they are shown."""

import doctest
import importlib
import re
import shutil
from pathlib import Path

import pytest
import robosieve

REPOSITORY = Path(__file__).resolve().parents[2]


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The code blocks of a page, each with the number of its first line."""
    text = page.read_text()
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: block.start(1)].count("\n"), block[1]) for block in found]


@pytest.mark.parametrize("page", ["python/README.md", "README.md"])
def test_sessions_show_what_is_printed(page, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    sessions = blocks(REPOSITORY / page, "pycon")
    assert sessions, f"{page} has no session"
    # The pages name the files of the small data set with and without their directory.
    small = shutil.copytree(REPOSITORY / "datasets/small", tmp_path / "datasets/small")
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    robosieve.compile(["robots.warc", "more.jsonl"], "web.rsieve")
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for line, session in sessions:
        test = doctest.DocTestParser().get_doctest(session, names, page, page, line)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    assert runner.failures == 0


@pytest.mark.parametrize("module", ["_robots", "robotparser"])
def test_examples_of_docstrings(module):
    imported = importlib.import_module(f"robosieve.{module}")
    found = doctest.testmod(imported)
    assert found.attempted > 3 and found.failed == 0
