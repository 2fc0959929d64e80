"""`robosieve.datatrove.URLFilter` beside datatrove's filter of this name, on the same documents."""

from __future__ import annotations

import io
import json
import pickle
import random
import re
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import robosieve

pytest.importorskip("regex", reason="datatrove's filters need regex")
pytest.importorskip("datatrove")

LISTS_PAGE = Path(__file__).resolve().parents[2] / "docs/LISTS.md"
#: tldextract warns of the property that datatrove reads.
pytestmark = pytest.mark.filterwarnings("ignore:The 'registered_domain' property:DeprecationWarning")
REASONS = {"domain", "subdomain", "url", "hard_blacklisted", "soft_blacklisted", "blacklisted_subword"}

DOMAINS = ["# a comment", "bad.com", "sub.bad2.com", "deep.sub.bad2.com", "www.bad3.co.uk", "bad4.blogspot.com"]
DOMAINS += ["bad5.de\n"]
URLS = ["https://tea.com/listed", "http://tea.com/q?x=1*2", "https://bad.com/x", "https://root.com/"]
URLS += ["https://tea.com/5$"]
WORDS = ["Casino", "porn", "#off", "big-win", "2g1c"]
SUBWORDS = ["two girls", "superhot", "#none"]
SOFT = ["ass", "babes", "bikini", "#nothing", "Horny"]
ARGUMENTS: dict[str, Any] = {
    "extra_domains": DOMAINS,
    "extra_urls": URLS,
    "banned_words": WORDS,
    "banned_subwords": SUBWORDS,
    "soft_banned_words": SOFT,
}


def documents(urls: list[Any]) -> list[Any]:
    from datatrove.data import Document

    return [Document(text="text", id=str(row), metadata={"url": url}) for row, url in enumerate(urls)]


def ours(directory: Path, **arguments: Any) -> Any:
    from robosieve.datatrove import URLFilter

    return URLFilter(**{"use_integrated_lists": False, "node_directory": directory, **arguments})


def theirs(**arguments: Any) -> Any:
    """datatrove's filter, with the public suffix list of its package in place of one from the network."""
    for module in ("ahocorasick", "fasteners"):
        pytest.importorskip(module, reason="datatrove's URLFilter needs it")
    tldextract = pytest.importorskip("tldextract", reason="datatrove's URLFilter needs it")
    from datatrove.pipeline.filters.url_filter import URLFilter

    step = URLFilter(**{"use_integrated_lists": False, **arguments})
    step.tldextractor = tldextract.TLDExtract(suffix_list_urls=())
    return step


def answers(step: Any, urls: list[str]) -> list[Any]:
    results: list[Any] = step.filter_batch(documents(urls))
    return results


def made_urls(count: int) -> list[str]:
    """URLs in the spelling in which both filters read them alike: lower case, and no escapes."""
    chosen = random.Random(4)
    hosts = ["bad.com", "a.bad.com", "b.a.bad.com", "notbad.com", "sub.bad2.com", "deep.sub.bad2.com", "bad2.com"]
    hosts += ["www.bad3.co.uk", "bad3.co.uk", "bad4.blogspot.com", "blogspot.com", "bad5.de", "x.bad5.de", "tea.com"]
    hosts += ["casino.net", "my-casino.net", "superhotel.org", "news.org", "root.com", "ass.io"]
    words = ["casino", "casinos", "porn", "big", "win", "bigwin", "two", "girls", "off", "2g1c", "superhot", "tea"]
    words += ["ass", "babes", "bikini", "horny", "bass", "none", "nothing", "listed", "x", ""]
    urls = [line for line in URLS if not line.startswith("#")]
    for _ in range(count):
        path = "".join(chosen.choice("/-_.?&=+") + chosen.choice(words) for _ in range(chosen.randrange(5)))
        urls.append(f"{chosen.choice(['http', 'https'])}://{chosen.choice(hosts)}/{path.lstrip('/')}")
    return urls


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_answers_are_those_of_datatrove(tmp_path: Path, threshold: int) -> None:
    urls = made_urls(5000)
    found = answers(ours(tmp_path, soft_word_threshold=threshold, **ARGUMENTS), urls)
    expected = answers(theirs(soft_word_threshold=threshold, **ARGUMENTS), urls)
    assert [row for row in zip(urls, found, expected) if row[1] != row[2]] == []
    assert {result[1] for result in found if result is not True} == REASONS and True in found


def test_each_list_alone(tmp_path: Path) -> None:
    urls = made_urls(1000)
    for name, lines in ARGUMENTS.items():
        found = answers(ours(tmp_path, **{name: iter(lines)}), urls)
        assert found == answers(theirs(**{name: iter(lines)}), urls) and set(found) != {True}, name
    assert answers(ours(tmp_path), urls) == [True] * len(urls)


def test_urls_of_the_data_set(tmp_path: Path, urls: list[str]) -> None:
    plain = [url for url in urls if re.fullmatch(r"https?://[a-z0-9.-]*[a-z0-9]/[!-~]*", url)]
    plain = [url for url in plain if not re.search(r"[#%@A-Z\\]", url)]
    lists = {
        **ARGUMENTS,
        # No name is registered under `.example`, so datatrove finds none of its hosts.
        "extra_domains": ["news.org"],
        "extra_urls": [url for url in plain[::20] if "*" not in url],
        "banned_words": ["cart", "talk"],
    }
    assert len(plain) > len(urls) / 2
    found = answers(ours(tmp_path, **lists), plain)
    assert found == answers(theirs(**lists), plain)
    assert {"url", "hard_blacklisted"} <= {result[1] for result in found if result is not True}


def differences() -> list[list[str]]:
    """The rows of the table in docs/LISTS.md: argument, line, URL, both answers."""
    rows = [line.strip("|").split(" | ") for line in LISTS_PAGE.read_text(encoding="utf-8").splitlines()]
    names = {f"`{name}`" for name in ARGUMENTS}
    cells = [[cell.strip().strip("`") for cell in row[1:]] for row in rows if len(row) == 6 and row[1].strip() in names]
    assert len(cells) > 10
    return cells


@pytest.mark.parametrize("row", differences(), ids=lambda row: row[2])
def test_each_documented_difference_is_one(tmp_path: Path, row: list[str]) -> None:
    argument, line, url, expected, found = row
    for step, result in [(ours(tmp_path, **{argument: [line]}), found), (theirs(**{argument: [line]}), expected)]:
        assert answers(step, [url]) == [True if result == "kept" else (False, result)], step


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small assets in place of datatrove's, in the same files."""
    from datatrove.pipeline.filters import url_filter
    from robosieve import _url_filter

    directory = tmp_path / "assets"
    directory.mkdir()
    with tarfile.open(directory / "url_filterblacklistsv0_3_0.tar.gz", "w:gz") as archive:
        for name, text in [("domains", "listed.com\nwww.listed2.com\nxxx\nsex.hu\n"), ("urls", "listed3.com/a\n")]:
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    for name, text in [
        ("banned_words.txt", "#poof\nnaughty\n"),
        ("banned_subwords.txt", "hot pocket\n"),
        ("soft_banned_words.txt", "anus\nbabes\n"),
    ]:
        (directory / name).write_text(text)
    monkeypatch.setattr(_url_filter, "_assets", lambda: str(directory))
    monkeypatch.setattr(url_filter, "ASSETS_PATH", str(directory))
    monkeypatch.setattr(url_filter, "cached_assets_path", lambda **_: str(directory / "extracted"))
    (directory / "extracted").mkdir()
    return directory


def test_integrated_lists_are_those_of_the_installed_datatrove(assets: Path, tmp_path: Path, recwarn: Any) -> None:
    urls = [
        "https://listed.com/", "https://a.listed.com/", "https://www.listed2.com/", "https://listed2.com/",
        "https://a.com/naughty", "https://a.com/hot-pocket", "https://a.com/anus/babes", "https://a.com/anus",
        "https://a.com/poof", "https://mine.com/", "https://a.com/mine", "https://b.sex.hu/", "https://a.com/xxx",
    ]  # fmt: skip
    arguments: dict[str, Any] = {"extra_domains": ["mine.com"], "banned_words": ["mine"], "soft_banned_words": ["poof"]}
    step = ours(tmp_path, use_integrated_lists=True, **arguments)
    found = answers(step, urls)
    assert found == answers(theirs(use_integrated_lists=True, **arguments), urls)
    assert Counter(result[1] for result in found if result is not True) == {
        "domain": 3, "subdomain": 1, "hard_blacklisted": 2, "blacklisted_subword": 1, "soft_blacklisted": 1,
    }  # fmt: skip
    assert answers(step, ["https://listed3.com/a/b", "https://xxx/"]) == [(False, "url"), True]
    # Nobody can correct the public suffixes of a published list.
    assert not [warning for warning in recwarn if "not an entr" in str(warning.message)]
    # Other assets are other lists.
    (assets / "banned_words.txt").write_text("tea\n")
    assert answers(ours(tmp_path, use_integrated_lists=True), ["https://a.com/tea"]) == [(False, "hard_blacklisted")]
    for file in assets.glob("*.tar.gz"):
        file.unlink()
    with pytest.raises(FileNotFoundError, match="this datatrove has no such list; give use_integrated_lists=False"):
        answers(ours(tmp_path, use_integrated_lists=True), urls)


def test_lists_are_compiled_once_on_a_machine(tmp_path: Path) -> None:
    import dill

    urls = made_urls(300)
    step = ours(tmp_path, **ARGUMENTS)
    expected = answers(step, urls)
    files = {path: path.stat() for path in tmp_path.glob("*.rlists")}
    assert len(files) == 2
    for module in (pickle, dill):
        copied = module.loads(module.dumps(step))
        assert copied._opened is None and answers(copied, urls) == expected
    assert answers(ours(str(tmp_path), **ARGUMENTS), urls) == expected  # type: ignore[arg-type]
    assert {path: path.stat() for path in tmp_path.glob("*.rlists")} == files
    # Other arguments have other files. A damaged file is compiled again.
    answers(ours(tmp_path, **{**ARGUMENTS, "soft_word_threshold": 3}), urls)
    assert len(list(tmp_path.glob("*.rlists"))) == 4
    for path in files:
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    assert answers(ours(tmp_path, **ARGUMENTS), urls) == expected
    for path in files:
        robosieve.Lists(path, verify="full")


# A pipeline in a file of its own, which must be a program: the workers import its file.
PIPELINE = """
import json, sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter
from robosieve.datatrove import URLFilter

folder = sys.argv[1]
if __name__ == "__main__":
    arguments = json.load(open(f"{folder}/arguments.json"))
    LocalPipelineExecutor(
        pipeline=[
            ParquetReader(f"{folder}/in"),
            URLFilter(
                **arguments, use_integrated_lists=False, batch_size=50, node_directory=f"{folder}/node",
                exclusion_writer=ParquetWriter(f"{folder}/excluded", expand_metadata=True),
            ),
            ParquetWriter(f"{folder}/kept", expand_metadata=True),
        ],
        tasks=4, workers=2, logging_dir=f"{folder}/logs",
    ).run()
"""


def test_pipeline_with_two_workers(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    urls = made_urls(800)
    (tmp_path / "in").mkdir()
    for part in range(4):
        rows = [{"id": f"{part}/{row}", "text": "text", "url": url} for row, url in enumerate(urls[part::4])]
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "in" / f"{part}.parquet")
    (tmp_path / "arguments.json").write_text(json.dumps(ARGUMENTS))
    (tmp_path / "pipeline.py").write_text(PIPELINE)
    run = subprocess.run([sys.executable, tmp_path / "pipeline.py", tmp_path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr

    def written(folder: str) -> list[Any]:
        return [row for path in (tmp_path / folder).glob("*.parquet") for row in parquet.read_table(path).to_pylist()]

    expected = dict(zip(urls, answers(ours(tmp_path / "node", **ARGUMENTS), urls)))
    assert sorted(row["url"] for row in written("kept")) == sorted(url for url in urls if expected[url] is True)
    excluded = written("excluded")
    assert [(False, row["filter_reason"]) for row in excluded] == [expected[row["url"]] for row in excluded]
    stats = json.loads((tmp_path / "logs" / "stats.json").read_text())[1]["stats"]
    for reason in REASONS:
        count = stats[f"dropped_{reason}"]
        dropped = sum(expected[url] == (False, reason) for url in urls)
        assert (count["total"] if isinstance(count, dict) else count) == dropped
    assert len(list((tmp_path / "node").glob("*.rlists"))) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"soft_word_threshold": 0}, ValueError, "soft_word_threshold=0; give 1 to 1000"),
        ({"batch_size": 0}, ValueError, "batch_size=0; give at least 1"),
        ({"extra_domains": "bad.com"}, TypeError, r"extra_domains is a text; give an iterable of lines"),
        ({"banned_words": ["a", 7]}, TypeError, "banned_words has a line of type int"),
    ],
)
def test_bad_arguments(tmp_path: Path, arguments: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        ours(tmp_path, **arguments)


def test_lines_that_are_not_entries_are_named_where_they_are_compiled(tmp_path: Path) -> None:
    step = ours(tmp_path, extra_domains=["bad.com", "two words"])
    with pytest.warns(UserWarning, match="list 'extra-domains': 1 line is not an entry, .* line 2 is `two words`"):
        assert answers(step, ["https://bad.com/"]) == [(False, "domain")]
    with pytest.raises(robosieve.RobosieveError, match='list "extra-urls": no line is an entry'):
        answers(ours(tmp_path, extra_urls=["two words"]), ["https://bad.com/"])


def test_documents_without_a_url(tmp_path: Path) -> None:
    step, batch = ours(tmp_path, **ARGUMENTS), documents(["https://bad.com/", None, ""])
    for document in batch[1:]:
        with pytest.raises(KeyError, match="document '[12]' has no 'url' in its metadata, whose keys are .'url'."):
            step.filter(document)
    assert step.filter(batch[0]) == (False, "domain")
