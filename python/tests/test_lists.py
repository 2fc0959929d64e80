"""Filter lists: columns of every library get the reasons that the command finds."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import ListMatch, Lists

DOMAINS = "adult.example\nmünchen.example\n192.0.2.7\nshared.example\n"
ADS = "0.0.0.0 ads.example\n0.0.0.0 shared.example\nshop.example/cart\n@@good.ads.example\n"
OURS = "www.adult.example\n"

#: URLs, with the word, the lists and the entry that the command prints for them.
FOUND: list[tuple[Any, tuple[str, str, str]]] = [
    ("https://adult.example/", ("listed", "adult", "adult.example")),
    ("http://a.b.adult.example:81/x", ("listed", "adult", "adult.example")),
    ("https://www.adult.example/", ("exception", "ours", "@@www.adult.example")),
    ("https://WWW.München.example/", ("listed", "adult", "xn--mnchen-3ya.example")),
    ("http://0xc0000207/", ("listed", "adult", "192.0.2.7")),
    ("https://x.shared.example/", ("listed", "adult,ads", "shared.example")),
    ("https://x.ads.example/", ("listed", "ads", "ads.example")),
    ("https://good.ads.example/", ("exception", "ads", "@@good.ads.example")),
    ("https://shop.example/cart/7", ("listed", "ads", "shop.example/cart")),
    ("https://shop.example/tea", ("-", "-", "-")),
    ("https://tea.example/", ("-", "-", "-")),
    ("/cart", ("invalid", "-", "-")),
    ("", ("invalid", "-", "-")),
]
URLS = [url for url, _ in FOUND]
REASONS = [f"list:{names.split(',')[0]}" if word == "listed" else None for _, (word, names, _) in FOUND]


@pytest.fixture(scope="module")
def path(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three lists, compiled by the command."""
    directory = tmp_path_factory.mktemp("lists")
    for name, text in [("domains", DOMAINS), ("ads.txt", ADS), ("ours.txt", OURS)]:
        (directory / name).write_text(text, encoding="utf-8")
    command: list[Any] = [program, "lists", "-q", "-o", "own.rlists", "adult=domains", "ads.txt", "--allow", "ours.txt"]
    subprocess.run(command, check=True, cwd=directory)
    return directory / "own.rlists"


@pytest.fixture(scope="module")
def lists(path: Path) -> Lists:
    return Lists(path)


def test_entries_are_those_of_the_command(program: Path, path: Path, lists: Lists) -> None:
    options = [option for url in URLS[:-1] for option in ("--find", url)]
    done = subprocess.run([program, "lists", path, *options], check=True, capture_output=True)
    rows = [tuple(line.split("\t")[:3]) for line in done.stdout.decode().splitlines()]
    assert rows == [row for _, row in FOUND[:-1]]
    for url, (word, names, entry) in FOUND:
        found = lists.find(url)
        if word in ("listed", "exception"):
            assert found == ListMatch(tuple(names.split(",")), entry, word == "exception")
        else:
            assert found is None
        assert lists.find(url.encode()) == found
    assert lists.names == ["adult", "ads", "ours"]
    assert repr(lists) == f"<robosieve.Lists {path}: adult, ads, ours>"


def test_columns_of_every_library(lists: Lists) -> None:
    urls, expected = [*URLS, None, *URLS[:3]], [*REASONS, None, *REASONS[:3]]
    assert lists.match(urls) == expected
    assert lists.match([]) == []
    assert lists.match([None]) == [None]
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        column = pa.array(urls, pa.string()).cast(kind) if kind != pa.string_view() else pa.array(urls, kind)
        found = lists.match(column)
        assert pa.types.is_dictionary(found.type) and found.to_pylist() == expected
    chunks = pa.chunked_array([urls[:5], [], urls[5:]], pa.string())
    found = lists.match(chunks)
    assert [len(chunk) for chunk in found.chunks] == [5, 0, len(urls) - 5] and found.to_pylist() == expected
    assert lists.match(pa.array(urls)[3:9]).to_pylist() == expected[3:9]


def test_frames(lists: Lists) -> None:
    polars = pytest.importorskip("polars")
    series = lists.match(polars.Series("url", URLS))
    assert (series.name, series.to_list()) == ("robots_list", REASONS)
    pandas = pytest.importorskip("pandas")
    column = lists.match(pandas.Series(URLS, index=range(5, 5 + len(URLS))))
    assert column.index[0] == 5 and [None if pandas.isna(word) else word for word in column] == REASONS
    numpy = pytest.importorskip("numpy")
    assert list(lists.match(numpy.array(URLS))) == REASONS


def test_lists_are_opened_in_every_way(path: Path, lists: Lists) -> None:
    data = path.read_bytes()
    for opened in (
        Lists(path, verify="full"),
        Lists(str(path), verify=False),
        Lists.from_bytes(data),
        Lists.from_bytes(bytearray(data), verify="full"),
        pickle.loads(pickle.dumps(lists)),
        pickle.loads(pickle.dumps(Lists.from_bytes(data))),
    ):
        assert opened.match(URLS) == REASONS and opened.checksum == lists.checksum
    assert repr(Lists.from_bytes(data)) == "<robosieve.Lists in memory: adult, ads, ours>"
    other = path.with_name("other.rlists")
    other.write_bytes(data)
    pickled = pickle.dumps(Lists(other))
    other.write_bytes(robosieve_lists(path, "only.example\n"))
    with pytest.raises(ValueError, match="its content is another"):
        pickle.loads(pickled)


def robosieve_lists(path: Path, text: str) -> bytes:
    """Another list, compiled by the command of the package."""
    (path.parent / "more.txt").write_text(text)
    command = [sys.executable, "-m", "robosieve", "lists", "-q", "-o", "more.rlists", "more.txt"]
    subprocess.run(command, check=True, cwd=path.parent)
    return (path.parent / "more.rlists").read_bytes()


def test_errors(path: Path, lists: Lists, small: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Lists(path.with_name("missing"))
    with pytest.raises(robosieve.RobosieveError, match="small.rsieve: not a compiled file of filter lists but a robo"):
        Lists(small)
    with pytest.raises(robosieve.SnapshotError, match="not a robosieve snapshot but a file of filter lists"):
        robosieve.Snapshot(path)
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    with pytest.raises(robosieve.RobosieveError, match="damaged filter lists"):
        Lists.from_bytes(damaged)
    Lists.from_bytes(damaged, verify=False)
    with pytest.raises(ValueError, match="verify='all'; give True"):
        Lists(path, verify="all")  # type: ignore[arg-type]
    for column in ["https://adult.example/", 7, None, [1]]:
        with pytest.raises(TypeError):
            lists.match(column)
    with pytest.raises(TypeError):
        lists.find(7)  # type: ignore[arg-type]
