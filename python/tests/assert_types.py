"""What type checkers infer for the column of each library. mypy reads this file; nothing runs it.

The classes that the values really have are checked in test_columns.py.
"""

from __future__ import annotations

from typing import Any, Union

import numpy
import pandas
import polars
import pyarrow
from typing_extensions import assert_type

import robosieve
from robosieve import Array, CompileReport, FilterCounts, Lists, Robots, Snapshot, Table, Verdict

Int8s = numpy.ndarray[Any, numpy.dtype[numpy.int8]]
Bools = numpy.ndarray[Any, numpy.dtype[numpy.bool_]]
Int64s = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


class Stream:
    """An Arrow object of another library."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise NotImplementedError


def lists(snapshot: Snapshot, robots: Robots, urls: list[str], mixed: list[Union[str, bytes, None]]) -> None:
    assert_type(snapshot.verdicts(urls, "GPTBot"), list[Union[Verdict, None]])
    assert_type(snapshot.verdicts(tuple(mixed), "GPTBot", threads=-1, unknown="allow"), list[Union[Verdict, None]])
    assert_type(snapshot.verdicts((url for url in urls), "GPTBot"), list[Union[Verdict, None]])
    assert_type(snapshot.verdicts(urls, ["GPTBot", "CCBot"]), dict[str, list[Union[Verdict, None]]])
    assert_type(snapshot.masks(mixed, ["GPTBot", "CCBot"]), list[Union[int, None]])
    assert_type(robots.verdicts("GPTBot", urls, agent_match="google"), list[Union[Verdict, None]])


def polars_columns(snapshot: Snapshot, robots: Robots, urls: polars.Series, frame: polars.DataFrame) -> None:
    assert_type(snapshot.verdicts(urls, "GPTBot"), polars.Series)
    assert_type(snapshot.verdicts(urls, ["GPTBot"]), polars.DataFrame)
    assert_type(snapshot.masks(urls, "@ai-train"), polars.Series)
    assert_type(robots.verdicts("GPTBot", urls), polars.Series)
    # A frame with one column.
    assert_type(snapshot.verdicts(frame, "GPTBot"), Array)


def pandas_columns(snapshot: Snapshot, robots: Robots, urls: pandas.Series[str], index: pandas.Index[str]) -> None:
    assert_type(snapshot.verdicts(urls, "GPTBot"), "pandas.Series[Any]")
    assert_type(snapshot.verdicts(urls, ("GPTBot", "CCBot")), pandas.DataFrame)
    assert_type(snapshot.masks(urls, "GPTBot,CCBot"), "pandas.Series[Any]")
    assert_type(robots.verdicts("GPTBot", urls), "pandas.Series[Any]")
    assert_type(snapshot.verdicts(index, "GPTBot"), "pandas.Index[Any]")


def pyarrow_columns(
    snapshot: Snapshot, robots: Robots, urls: pyarrow.StringArray, chunks: pyarrow.ChunkedArray[pyarrow.StringScalar]
) -> None:
    assert_type(snapshot.verdicts(urls, "GPTBot"), "pyarrow.Array[Any]")
    assert_type(snapshot.verdicts(urls, ["@ai"]), pyarrow.Table)
    assert_type(snapshot.masks(urls, "GPTBot"), "pyarrow.Array[Any]")
    assert_type(robots.verdicts("GPTBot", urls), "pyarrow.Array[Any]")
    assert_type(snapshot.verdicts(chunks, "GPTBot"), "pyarrow.ChunkedArray[Any]")


def numpy_arrays(snapshot: Snapshot, robots: Robots, urls: numpy.ndarray[Any, Any]) -> None:
    assert_type(snapshot.verdicts(urls, "GPTBot"), Int8s)
    assert_type(snapshot.verdicts(urls, ["GPTBot", "CCBot"]), Int8s)
    assert_type(snapshot.masks(urls, "GPTBot"), Int64s)
    assert_type(robots.verdicts("GPTBot", urls), Int8s)


def other_arrow_objects(snapshot: Snapshot, robots: Robots, urls: Stream, array: Array) -> None:
    assert_type(snapshot.verdicts(urls, "GPTBot"), Array)
    assert_type(snapshot.verdicts(urls, ["GPTBot"]), Table)
    assert_type(snapshot.masks(urls, "GPTBot"), Array)
    assert_type(robots.verdicts("GPTBot", urls), Array)
    assert_type(snapshot.masks(array, "GPTBot"), Array)


def own_lists(
    snapshot: Snapshot, own: Lists, urls: list[str], series: pandas.Series[str], array: pyarrow.StringArray
) -> None:
    assert_type(snapshot.verdicts(urls, ["GPTBot"], lists=own), dict[str, list[Any]])
    assert_type(snapshot.verdicts(urls, ["GPTBot"], lists=own, threads=1), dict[str, list[Any]])
    assert_type(snapshot.verdicts(series, ["GPTBot"], lists=own), pandas.DataFrame)
    assert_type(snapshot.verdicts(polars.Series(urls), ["GPTBot"], lists=own), polars.DataFrame)
    assert_type(snapshot.verdicts(array, ["GPTBot"], lists=own, unknown="allow"), pyarrow.Table)
    assert_type(snapshot.verdicts(Stream(), ["GPTBot"], lists=own), Table)
    assert_type(robosieve.filter(snapshot, "in", None, "GPTBot", lists=own, listed_to="x"), FilterCounts)
    assert_type(robosieve.annotate(snapshot, "in", "x", "GPTBot", lists="own", add=["list", "entry"]), FilterCounts)
    assert_type(own.filter("in", None, listed_to="x"), dict[str, Any])
    assert_type(Lists.compile({"a": "a.txt", "b": ["x.example", b"y.example"], "c": open("c")}, output="x"), Lists)
    Lists.compile(["x.example"])  # type: ignore[arg-type]
    # A single column, and an array of NumPy, have no room for another.
    snapshot.verdicts(urls, "GPTBot", lists=own)  # type: ignore[call-overload]
    snapshot.verdicts(numpy.array(urls), ["GPTBot"], lists=own)  # type: ignore[call-overload]


def booleans(
    snapshot: Snapshot,
    own: Lists,
    urls: list[str],
    series: pandas.Series[str],
    index: pandas.Index[str],
    array: pyarrow.StringArray,
    chunks: pyarrow.ChunkedArray[pyarrow.StringScalar],
) -> None:
    assert_type(snapshot.allowed(urls, "GPTBot"), list[Union[bool, None]])
    assert_type(snapshot.allowed(urls, ["GPTBot"], require="any", unknown="allow"), list[Union[bool, None]])
    assert_type(snapshot.allowed(urls, "@ai", lists=own, threads=1), list[Union[bool, None]])
    assert_type(snapshot.allowed(polars.Series(urls), "GPTBot"), polars.Series)
    assert_type(snapshot.allowed(series, ("GPTBot", "CCBot")), "pandas.Series[Any]")
    assert_type(snapshot.allowed(index, "GPTBot"), "pandas.Index[Any]")
    assert_type(snapshot.allowed(array, "GPTBot"), "pyarrow.Array[Any]")
    assert_type(snapshot.allowed(chunks, "GPTBot"), "pyarrow.ChunkedArray[Any]")
    assert_type(snapshot.allowed(numpy.array(urls), "GPTBot"), Bools)
    assert_type(snapshot.allowed(Stream(), "GPTBot", as_of="2026-10"), Array)
    snapshot.allowed(urls, "GPTBot", require="most")  # type: ignore[call-overload]
    snapshot.allowed(urls, "GPTBot", unknown=True)  # type: ignore[call-overload]


def counts(snapshot: Snapshot) -> None:
    found = robosieve.filter(snapshot, "in", None, "GPTBot")
    assert_type(found["allowed"], int)
    assert_type(found["reasons"]["disallowed"], dict[str, int])
    assert_type(found["listed_by"], dict[str, int])
    found["alowed"]  # type: ignore[typeddict-item]
    report = robosieve.compile("in.warc", "out.rsieve")
    assert_type(report, CompileReport)
    assert_type(report["counts"]["origins"], int)
    assert_type(robosieve.Compiler().write("out.rsieve"), CompileReport)


def guessed_words(snapshot: Snapshot, robots: Robots) -> None:
    # The attributes that name the right word are errors for type checkers, too.
    robosieve.open  # type: ignore[attr-defined]
    snapshot.is_allowed  # type: ignore[attr-defined]
    Snapshot.open  # type: ignore[attr-defined]
    robots.can_fetch  # type: ignore[attr-defined]


def snapshots(path: str) -> None:
    assert_type(Snapshot(path).verdict("https://a.example/", "GPTBot"), Verdict)
    assert_type(Snapshot.from_bytes(robosieve.Compiler().to_bytes()), Snapshot)
    # Options and values that do not exist are errors.
    Snapshot(path).verdicts([], "GPTBot", unknown="maybe")  # type: ignore[call-overload]
    Snapshot(path).masks([], 7)  # type: ignore[call-overload]
