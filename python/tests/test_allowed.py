"""`Snapshot.allowed`: booleans in the library of the column, where unknown is not allowed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import Lists, Snapshot

BODY = "User-agent: FooBot\nDisallow: /foo\n\nUser-agent: BarBot\nDisallow: /bar\n"
FOO, BAR = "FooBot", "BarBot"
BOTH = [FOO, BAR]
#: URLs, with what the rules above say by hand: for FooBot, for both agents, for one of them or more.
ROWS: list[tuple[Any, Any, Any, Any]] = [
    ("https://a.example/", True, True, True),
    ("https://a.example/foo", False, False, True),
    ("https://a.example/bar", True, False, True),
    ("https://closed.example/", False, False, False),
    ("https://unknown.example/", False, False, False),
    ("/foo", False, False, False),
    ("", False, False, False),
    (None, None, None, None),
    ("HTTPS://A.example:443/x", True, True, True),
]
URLS = [row[0] for row in ROWS]
FOO_ONLY, ALL, ANY = ([row[column] for row in ROWS] for column in (1, 2, 3))
WITHOUT_NULL = [url for url in URLS if url is not None]
ALL_WITHOUT_NULL = [value for value in ALL if value is not None]


@pytest.fixture(scope="module")
def web() -> Snapshot:
    compiler = robosieve.Compiler()
    compiler.add_response("https://a.example/robots.txt", 200, BODY)
    compiler.add_response("https://closed.example/robots.txt", 200, "User-agent: *\nDisallow: /")
    return Snapshot.from_bytes(compiler.to_bytes())


def test_lists_get_bool_and_none(web: Snapshot) -> None:
    assert web.allowed(URLS, FOO) == FOO_ONLY
    assert web.allowed(URLS, BOTH) == web.allowed(URLS, "FooBot,BarBot") == ALL
    assert web.allowed(URLS, BOTH, require="all") == ALL
    assert web.allowed(URLS, BOTH, require="any") == ANY
    assert {type(value) for value in web.allowed(URLS, FOO)} == {bool, type(None)}
    assert web.allowed([], FOO) == []
    assert web.allowed((url for url in URLS), FOO) == FOO_ONLY


def test_unknown_origins_are_allowed_on_request_only(web: Snapshot) -> None:
    unknown = URLS.index("https://unknown.example/")
    with_unknown = [*ALL[:unknown], True, *ALL[unknown + 1 :]]
    assert web.allowed(URLS, BOTH, unknown="allow") == with_unknown
    assert web.allowed(URLS, BOTH, unknown="disallow") == ALL
    # The other of http and https stands for an origin, as in all calls.
    assert web.allowed(["http://a.example/"], FOO) == [False]
    assert web.allowed(["http://a.example/"], FOO, any_scheme=True) == [True]


def test_many_agents(web: Snapshot) -> None:
    # More than a mask of 64 bits.
    many = [f"Bot{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10]}" for number in range(99)]
    assert web.allowed(URLS[:2], many) == [True, True]
    assert web.allowed(URLS[:2], [*many, FOO]) == [True, False]
    assert web.allowed(URLS[1:2], [*many, FOO], require="any") == [True]


def test_listed_urls_are_not_allowed(web: Snapshot) -> None:
    lists = Lists.compile({"own": ["a.example/bar"]}, allow={"ours": ["a.example/bar/good"]})
    urls = ["https://a.example/bar/1", "https://a.example/bar/good", "https://a.example/x", None]
    assert web.allowed(urls, FOO) == [True, True, True, None]
    assert web.allowed(urls, FOO, lists=lists) == [False, True, True, None]
    assert web.allowed(urls, FOO, require="any", lists=lists) == [False, True, True, None]
    with pytest.raises(TypeError, match=r"lists is of type str; give robosieve.Lists\(path\)"):
        web.allowed(urls, FOO, lists="own.rlists")  # type: ignore[call-overload]


def test_pyarrow(web: Snapshot) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array(URLS)
    found = web.allowed(column, BOTH)
    assert type(found) is pa.BooleanArray and found.to_pylist() == ALL
    found.validate(full=True)
    # A sliced column of another type, and one with chunks.
    assert web.allowed(column.cast(pa.large_string())[1:6], FOO).to_pylist() == FOO_ONLY[1:6]
    assert web.allowed(column.dictionary_encode(), BOTH).to_pylist() == ALL
    chunks = pa.chunked_array([URLS[:3], [], URLS[3:]], pa.string())
    found = web.allowed(chunks, BOTH, require="any")
    assert [len(chunk) for chunk in found.chunks] == [3, 0, len(URLS) - 3] and found.to_pylist() == ANY
    table = pa.table({"url": URLS})
    assert table.filter(web.allowed(table["url"], FOO))["url"].to_pylist() == [
        url for url, value in zip(URLS, FOO_ONLY) if value
    ]


def test_polars(web: Snapshot) -> None:
    pl = pytest.importorskip("polars")
    found = web.allowed(pl.Series("url", URLS), BOTH)
    assert (found.dtype, found.name, found.to_list()) == (pl.Boolean, "robots_allowed", ALL)
    frame = pl.DataFrame({"url": URLS})
    kept = frame.filter(web.allowed(frame["url"], FOO))["url"].to_list()
    assert kept == [url for url, value in zip(URLS, FOO_ONLY) if value]


def test_pandas(web: Snapshot) -> None:
    pd = pytest.importorskip("pandas")
    index = range(5, 5 + len(WITHOUT_NULL))
    found = web.allowed(pd.Series(WITHOUT_NULL, index=index), BOTH)
    assert (str(found.dtype), found.name, found.index[0]) == ("bool", "robots_allowed", 5)
    assert found.tolist() == ALL_WITHOUT_NULL
    for kind in ("str", "object"):
        found = web.allowed(pd.Series(URLS, dtype=kind), BOTH)
        assert str(found.dtype) == "boolean"
        assert [None if pd.isna(value) else bool(value) for value in found] == ALL
    # A null selects no row.
    frame = pd.DataFrame({"url": URLS})
    kept = frame[web.allowed(frame["url"], FOO)]["url"].tolist()
    assert kept == [url for url, value in zip(URLS, FOO_ONLY) if value]
    assert type(web.allowed(pd.Index(WITHOUT_NULL), FOO)) is pd.Index


def test_numpy(web: Snapshot) -> None:
    numpy = pytest.importorskip("numpy")
    found = web.allowed(numpy.array(WITHOUT_NULL), BOTH)
    assert (type(found), found.dtype, found.tolist()) == (numpy.ndarray, numpy.bool_, ALL_WITHOUT_NULL)
    assert web.allowed(numpy.array([], dtype=str), FOO).tolist() == []
    with pytest.raises(ValueError, match="1 nulls, which a NumPy array of booleans cannot hold"):
        web.allowed(numpy.array(URLS, dtype=object), FOO)


def test_other_arrow_objects_get_an_array(web: Snapshot) -> None:
    pa = pytest.importorskip("pyarrow")

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.chunked_array([URLS]).__arrow_c_stream__()

    found = web.allowed(Stream(), BOTH)
    assert (type(found), found.type, found.null_count) == (robosieve.Array, "bool", 1)
    assert found.tolist() == list(found) == ALL and found[-1] is True
    assert repr(found).startswith("<robosieve.Array 9 x bool: [True, False, ")
    assert pa.array(found).to_pylist() == ALL


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_large_columns(snapshot: Snapshot, urls: list[str], threads: int | None) -> None:
    agents = ["GPTBot", "Googlebot", "MJ12bot"]
    # `verdict` takes another way through the code.
    each = {url: [snapshot.verdict(url, agent).allowed for agent in agents] for url in urls}
    rows = [urls[row * 37 % len(urls)] for row in range(70_001)]
    assert snapshot.allowed(rows, agents, threads=threads) == [all(each[url]) for url in rows]
    assert snapshot.allowed(rows, agents, require="any", threads=threads) == [any(each[url]) for url in rows]
    assert len({(all(values), any(values)) for values in each.values()}) == 3


@pytest.mark.parametrize("require", ["all", "any"])
@pytest.mark.parametrize("unknown", [None, "allow", "disallow"])
def test_allowed_rows_are_those_that_the_command_keeps(
    program: Path, small: Path, snapshot: Snapshot, lines: list[bytes], require: Any, unknown: Any
) -> None:
    command: list[Any] = [program, "filter", "-q", "-s", small, "-a", "GPTBot,Googlebot", "--require", require]
    command += [] if unknown is None else ["--unknown", unknown]
    kept = subprocess.run(command, input=b"\n".join(lines) + b"\n", stdout=subprocess.PIPE, check=True).stdout
    allowed = snapshot.allowed(lines, ["GPTBot", "Googlebot"], require=require, unknown=unknown)
    assert [line for line, value in zip(lines, allowed) if value] == kept.split(b"\n")[:-1]
    assert 100 < allowed.count(True) < len(lines) - 100


def test_times() -> None:
    compiler = robosieve.Compiler(history=True)
    for day, body in [("2026-03-01", "user-agent: *\ndisallow: /"), ("2026-05-01", "")]:
        compiler.add_response("https://b.example/robots.txt", 200, body, fetched_at=day)
    history = Snapshot.from_bytes(compiler.to_bytes())
    urls, times = ["https://b.example/"] * 4, ["2026-02-01", "2026-04-01", "2026-06-01", None]
    assert history.allowed(urls, FOO) == [True] * 4
    assert history.allowed(urls, FOO, as_of="2026-04") == [False] * 4
    # Before the first capture, and without a time, the origin is unknown.
    assert history.allowed(urls, FOO, as_of=times) == [False, False, True, False]
    assert history.allowed(urls, FOO, as_of=times, no_time="newest") == [False, False, True, True]
    assert history.allowed(urls, FOO, as_of=times, unknown="allow") == [True, False, True, True]


def test_wrong_arguments_name_the_right_ones(web: Snapshot) -> None:
    with pytest.raises(ValueError, match='require="most"; give one of "all", "any"'):
        web.allowed(URLS, FOO, require="most")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match='require=True; give one of "all", "any"'):
        web.allowed(URLS, FOO, require=True)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match='unknown=True; give one of "allow", "disallow"'):
        web.allowed(URLS, FOO, unknown=True)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"urls is a single str; give a list, or ask verdict\(url, agent\)"):
        web.allowed("https://a.example/", FOO)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="no agent; name one"):
        web.allowed(URLS, [])
