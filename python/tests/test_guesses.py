"""Guessed words and wrong arguments: the error says what to write, and what it says works."""

from __future__ import annotations

import errno
import importlib.util
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import Compiler, Lists, Robots, RobosieveError, Snapshot, SnapshotError, Verdict
from robosieve._guesses import GUESSES

NEWS, AGENT = "https://news.example/", "GPTBot"
CLASSES: dict[str, Any] = {
    "Snapshot": Snapshot,
    "Robots": Robots,
    "Lists": Lists,
    "Compiler": Compiler,
    "Verdict": Verdict,
}


@pytest.fixture
def instances(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "snapshot": snapshot,
        "robots": Robots.parse(""),
        "lists": Lists.compile({"own": ["a.example"]}),
        "compiler": Compiler(),
        "verdict": Verdict.ALLOWED,
    }


@pytest.mark.parametrize(
    ("owner", "word", "right"),
    [
        ("robosieve", "open", r"robosieve\.Snapshot\(path\)"),
        ("robosieve", "load", r"robosieve\.Snapshot\(path\)"),
        ("robosieve", "can_fetch", r"\.allowed\(urls, agents\)"),
        ("robosieve", "audit", "robosieve audit on the command line"),
        ("Snapshot", "filter", r"robosieve\.filter\(snapshot, inputs, output, agents\)"),
        ("Snapshot", "is_allowed", r"snapshot\.verdict\(url, agent\)\.allowed"),
        ("Snapshot", "can_fetch", r"snapshot\.allowed\(urls, agents\)"),
        ("Robots", "can_fetch", r"robots\.allows\(agent, url\)"),
        ("Robots", "allowed", r"robots\.allows\(agent, url\)"),
        ("Lists", "is_listed", r"lists\.match\(urls\)"),
        ("Compiler", "add_warc", r"compiler\.add_path\(archives\)"),
        ("Verdict", "is_allowed", r"verdict\.allowed"),
    ],
)
def test_guessed_words_name_the_right_ones(instances: dict[str, Any], owner: str, word: str, right: str) -> None:
    given = robosieve if owner == "robosieve" else instances[owner.lower()]
    with pytest.raises(AttributeError, match=f"^.*{owner}.* has no attribute '{word}'; write .*{right}"):
        getattr(given, word)


@pytest.mark.parametrize("owner", ["Snapshot", "Robots", "Lists", "Compiler"])
def test_classes_name_them_too(owner: str) -> None:
    for word in GUESSES[owner]:
        with pytest.raises(AttributeError, match=f"^type object '{owner}' has no attribute '{word}'; write "):
            getattr(CLASSES[owner], word)


def test_other_words_are_plain_errors(instances: dict[str, Any]) -> None:
    for given in [robosieve, *CLASSES.values(), *instances.values()]:
        assert not hasattr(given, "nonsense")
        with pytest.raises(AttributeError) as caught:
            given.nonsense
        assert "nonsense" in str(caught.value) and "write" not in str(caught.value)


def test_a_subclass_has_the_words_of_its_base() -> None:
    class Own(Robots):
        pass

    with pytest.raises(AttributeError, match="'Own' object has no attribute 'can_fetch'; write robots.allows"):
        Own.parse("").can_fetch  # type: ignore[attr-defined]


def test_no_guess_is_a_name_that_exists(instances: dict[str, Any]) -> None:
    modules = {"datatrove", "ray", "robotparser", "scrapy", "spark"}
    for owner, words in GUESSES.items():
        given = robosieve if owner == "robosieve" else instances[owner.lower()]
        for word in words:
            # Another test may have imported a module.
            assert (owner == "robosieve" and word in modules) or not hasattr(given, word), f"{owner}.{word}"


def test_what_errors_advise_exists(instances: dict[str, Any]) -> None:
    """Each `name.attribute` of the advice, and each module that it imports, is there."""
    seen = 0
    for advice in {advice for words in GUESSES.values() for advice in words.values()}:
        for name, attribute in re.findall(r"\b(robosieve|snapshot|robots|lists|compiler|verdict)\.(\w+)", advice):
            seen += 1
            if name == "robosieve" and "import" in advice:
                assert importlib.util.find_spec(f"robosieve.{attribute}"), advice
            else:
                assert hasattr({"robosieve": robosieve, **instances}[name], attribute), advice
        for kind, attribute in re.findall(r"\brobosieve\.(Snapshot|Robots|Lists|Compiler)(?:\(\w*\))?\.(\w+)", advice):
            assert hasattr(CLASSES[kind], attribute), advice
    assert seen > 50


# Wrong arguments.


def wrong_calls(web: Any, robots: Any, folder: Path) -> list[tuple[Callable[[], Any], Any, str]]:
    """Calls with a wrong argument, the errors, and what their messages say."""
    urls, out = folder / "urls.txt", folder / "out.txt"
    urls.write_text(f"{NEWS}\n")
    lists: Any = Lists.compile({"own": ["a.example"]})
    filtered: Any = robosieve.filter
    compiler: Any = Compiler
    one_name = r'^agent is of type list; give one name, such as "GPTBot", or ask verdicts\(urls, agents\)'
    unknown = '^unknown=True; give one of "allow", "disallow"'
    output = "^output is of type list; give a path, a str or pathlib.Path$"
    return [
        (lambda: web.verdict(NEWS, [AGENT]), TypeError, one_name),
        (lambda: web.explain(NEWS, [AGENT]), TypeError, one_name),
        (lambda: web.crawl_delay(NEWS, [AGENT]), TypeError, one_name),
        (lambda: web.crawl_delays([NEWS], [AGENT]), TypeError, one_name),
        (lambda: robots.allows([AGENT], "/"), TypeError, "agent is of type list; give the name of one agent"),
        (lambda: robots.explain([AGENT], "/"), TypeError, "agent is of type list; give the name of one agent"),
        (lambda: web.verdicts([NEWS], AGENT, unknown=True), ValueError, unknown),
        (lambda: web.verdict(NEWS, AGENT, unknown=True), ValueError, unknown),
        (lambda: filtered(web, urls, out, AGENT, unknown=True), ValueError, unknown),
        (lambda: filtered(web, urls, out, AGENT, keep=1), ValueError, '^keep=1; give one of "allowed", "disallowed"'),
        (lambda: filtered(web, urls, out, AGENT, any_scheme="x"), TypeError, "^any_scheme is of type .*str"),
        (lambda: filtered(web, urls, [out], AGENT), TypeError, output),
        (lambda: robosieve.annotate(web, urls, [out], AGENT), TypeError, output),  # type: ignore[arg-type]
        (lambda: lists.filter(urls, [out]), TypeError, output),
        (lambda: filtered(web, urls, out, AGENT, disallowed_to=[out]), TypeError, "^disallowed_to is of type list"),
        (lambda: compiler(previous=["x"]), TypeError, "^previous is of type list; give a path"),
        (lambda: compiler(temp_dir=7), TypeError, "^temp_dir is of type int; give a path"),
        (lambda: Snapshot(["x"]), TypeError, "^path is of type list; give a path"),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize("number", range(18))
def test_wrong_arguments_are_named(snapshot: Snapshot, tmp_path: Path, number: int) -> None:
    calls = wrong_calls(snapshot, Robots.parse(""), tmp_path)
    assert len(calls) == 18
    call, error, message = calls[number]
    with pytest.raises(error, match=message):
        call()
    assert not (tmp_path / "out.txt").exists()


# Columns without values.


def test_columns_of_polars_without_values(snapshot: Snapshot) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.LazyFrame({"url": [NEWS, "https://nobody.example/"]})
    for column, kind in [(pl.col("url"), "Expr"), (frame, "LazyFrame")]:
        for call in (snapshot.allowed, snapshot.verdicts, snapshot.masks):
            with pytest.raises(TypeError, match=rf"urls is a {kind} of polars, without values yet; .*map_batches\("):
                call(column, AGENT)
        with pytest.raises(TypeError, match="without values yet"):
            robosieve.origins(column)
    # As the message says.
    allowed = pl.col("url").map_batches(
        lambda urls: snapshot.allowed(urls, "FooBot"), return_dtype=pl.Boolean, is_elementwise=True
    )
    assert frame.select(allowed).collect()["url"].to_list() == [snapshot.verdict(NEWS, "FooBot").allowed, False]


def test_columns_of_dask_without_values(snapshot: Snapshot) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    urls = ["https://shop.example/", "https://nobody.example/"] * 3
    frame = dd.from_pandas(pd.DataFrame({"url": urls}), npartitions=2)
    for column, kind in [(frame["url"], "Series"), (frame, "DataFrame")]:
        for call in (snapshot.allowed, snapshot.verdicts, snapshot.masks):
            with pytest.raises(TypeError, match=rf'a {kind} of dask, .*frame\["url"\]\.map_partitions\(snapshot'):
                call(column, AGENT)
    # As the message says.
    agents = "FooBot"
    allowed = frame["url"].map_partitions(snapshot.allowed, agents, meta=("allowed", "boolean"))
    assert allowed.compute().tolist() == [True, False] * 3


# Snapshots that cannot be opened.


def test_a_missing_snapshot_is_an_os_error_too(tmp_path: Path) -> None:
    path = tmp_path / "missing.rsieve"
    for open_it in [lambda: Snapshot(path), lambda: Snapshot(path, node_directory=tmp_path)]:
        for kind in (SnapshotError, RobosieveError, FileNotFoundError, OSError):
            with pytest.raises(kind):
                open_it()
        with pytest.raises(SnapshotError) as caught:
            open_it()
        err: Any = caught.value
        assert (err.errno, err.filename, err.path) == (errno.ENOENT, str(path), str(path))
        assert str(err) == f"{path}: {os.strerror(errno.ENOENT)}"
        again = pickle.loads(pickle.dumps(err))
        assert isinstance(again, FileNotFoundError) and isinstance(again, SnapshotError)
        assert (str(again), again.errno, again.path) == (str(err), err.errno, err.path)


@pytest.mark.skipif(os.name != "posix", reason="errors of POSIX systems")
def test_other_errors_of_the_system_have_their_kind(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SnapshotError) as caught:
        Snapshot(tmp_path)
    assert isinstance(caught.value, IsADirectoryError) and caught.value.errno == errno.EISDIR
    with pytest.raises(SnapshotError) as caught:
        Snapshot(file / "below")
    assert isinstance(caught.value, NotADirectoryError)
    # An empty file is opened, but is not a snapshot.
    with pytest.raises(SnapshotError) as caught:
        Snapshot(file)
    assert not isinstance(caught.value, OSError)
