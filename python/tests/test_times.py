"""A time for each URL of a column, in every form that libraries give times."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

import pytest

import robosieve
from conftest import ROOT
from robosieve import Snapshot

#: Closed in March and April, open from the first of May on.
CAPTURES = [("2026-03-01T06:00:00Z", "user-agent: *\ndisallow: /"), ("2026-05-01T06:00:00Z", "user-agent: *\nallow: /")]
URL = "https://e.test/page"
UTC = dt.timezone.utc
NEW_YORK_SUMMER = dt.timezone(dt.timedelta(hours=-4))

#: Texts and numbers, and the verdict at that time: 0 disallowed, 1 allowed, 2 unknown.
TEXTS = {
    "2026-02-01T00:00:00Z": 2,
    "2026-03-01T05:59:59Z": 2,
    "2026-03-01T06:00:00Z": 0,
    "2026-05-01T07:59:59+02:00": 0,
    "2026-05-01T08:00:00+02:00": 1,
    "20260501055959": 0,
    "2026-04": 0,
    "2026-05": 1,
    "2026-02-28": 2,
    "soon": 2,
    "": 2,
}
NUMBERS = {1_777_615_199: 0, 1_777_615_200: 1, 1_777_615_200_000: 1, 202_604: 0, 20_260_502: 1, 7: 2, 10**30: 2}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder = tmp_path_factory.mktemp("history")
    lines = [
        json.dumps({"url": "https://e.test/robots.txt", "fetched_at": time, "body": body}) for time, body in CAPTURES
    ]
    folder.joinpath("captures.jsonl").write_text("\n".join(lines))
    robosieve.compile([folder / "captures.jsonl"], folder / "web.rsieve", history=True)
    return Snapshot(folder / "web.rsieve")


def verdicts(history: Snapshot, times: object, rows: int, **options: object) -> list[int]:
    found = history.verdicts([URL] * rows, "FooBot", as_of=times, **options)  # type: ignore[arg-type]
    return [int(verdict) for verdict in found]


def test_texts_and_numbers_are_read_as_in_lists(history: Snapshot) -> None:
    for expected in (TEXTS, NUMBERS):
        assert verdicts(history, list(expected), len(expected)) == list(expected.values())
        assert verdicts(history, iter(expected), len(expected)) == list(expected.values())
    assert verdicts(history, [b"2026-04", 1_777_615_200.5, float("nan"), None], 4) == [0, 1, 2, 2]


def test_datetimes_and_dates(history: Snapshot) -> None:
    times = [
        dt.datetime(2026, 5, 1, 5, 59, 59),
        dt.datetime(2026, 5, 1, 6, 0, 0, tzinfo=UTC),
        dt.datetime(2026, 5, 1, 1, 59, 59, tzinfo=NEW_YORK_SUMMER),
        dt.datetime(2026, 5, 1, 2, 0, 0, tzinfo=NEW_YORK_SUMMER),
        # The last second of the day, as on the command line.
        dt.date(2026, 4, 30),
        dt.date(2026, 5, 1),
        # A second of four digits is not a year.
        dt.datetime(1970, 1, 1, 0, 33, 46),
    ]
    assert verdicts(history, times, len(times)) == [0, 1, 0, 1, 0, 1, 2]
    # One time for all.
    for time, expected in [(times[0], 0), (times[5], 1), ("2026-04", 0), (1_777_615_200, 1), (None, 1)]:
        assert verdicts(history, time, 2) == [expected] * 2


def test_rows_without_a_time(history: Snapshot) -> None:
    urls, times = [URL, URL, None], ["2026-04", None, "2026-04"]
    assert history.verdicts(urls, "FooBot", as_of=times) == [0, 2, None]
    assert history.verdicts(urls, "FooBot", as_of=times, no_time="newest") == [0, 1, None]
    assert history.masks(urls, ["FooBot", "BarBot"], as_of=times) == [0, None, None]
    assert history.masks(urls, ["FooBot", "BarBot"], as_of=times, no_time="newest") == [0, 3, None]
    assert history.reasons(urls, as_of=times) == ["rules", "unknown-time", None]
    assert history.verdicts(urls, ["FooBot", "BarBot"], as_of=times) == {
        "robots_FooBot": [0, 2, None],
        "robots_BarBot": [0, 2, None],
    }
    with pytest.raises(ValueError, match='no_time="never"'):
        history.verdicts(urls, "FooBot", as_of=times, no_time="never")  # type: ignore[arg-type]


def test_other_columns_are_refused(history: Snapshot) -> None:
    with pytest.raises(ValueError, match="as_of has 2 times for 3 URLs"):
        history.verdicts([URL] * 3, "FooBot", as_of=["2026-04", "2026-05"])
    with pytest.raises(TypeError, match="as_of"):
        history.verdicts([URL], "FooBot", as_of=[["2026-04"]])
    for times in (object(), b"2026-04", True, {"2026-04": 1}, {"2026-04"}):
        with pytest.raises(TypeError, match="as_of|iterable"):
            history.verdicts([URL], "FooBot", as_of=times)
    assert history.verdicts([URL], "FooBot", as_of=1_777_615_199.5) == [0]
    assert history.verdicts([URL], "FooBot", as_of="2026") == [1]
    plain = robosieve.Compiler()
    plain.add_response("https://e.test/robots.txt", 200, body=b"")
    with pytest.raises(robosieve.SnapshotError, match="no history"):
        Snapshot.from_bytes(plain.to_bytes()).verdicts([URL], "FooBot", as_of=["2026-04"])


def test_crawl_delays_are_those_of_the_time(tmp_path: object) -> None:
    compiler = robosieve.Compiler(history=True)
    for time, delay in [("2026-03-01", 3), ("2026-05-01", 5)]:
        compiler.add_response(
            "https://e.test/robots.txt", 200, body=f"user-agent: *\ncrawl-delay: {delay}".encode(), fetched_at=time
        )
    history = Snapshot.from_bytes(compiler.to_bytes())
    assert history.crawl_delays([URL] * 3, "FooBot", as_of=["2026-04", "2026-06", None]) == [3.0, 5.0, None]


def test_arrow_times(history: Snapshot) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    before, after = dt.datetime(2026, 5, 1, 5, 59, 59, 999999), dt.datetime(2026, 5, 1, 6)
    urls = pyarrow.array([URL] * 3)
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "America/New_York"):
            kind = pyarrow.timestamp(unit, zone)
            times = pyarrow.array([before.replace(microsecond=0), after, None], kind)
            found = history.verdicts(urls, "FooBot", as_of=times).to_pylist()
            assert found == [0, 1, 2], kind
    for kind in (pyarrow.date32(), pyarrow.date64()):
        times = pyarrow.array([dt.date(2026, 4, 30), dt.date(2026, 5, 1), None], kind)
        assert history.verdicts(urls, "FooBot", as_of=times).to_pylist() == [0, 1, 2], kind
    for kind in (pyarrow.int64(), pyarrow.uint64(), pyarrow.float64()):
        times = pyarrow.array([1_777_615_199, 1_777_615_200, None], kind)
        assert history.verdicts(urls, "FooBot", as_of=times).to_pylist() == [0, 1, 2], kind
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        times = pyarrow.array(["2026-04", "2026-05", None], kind)
        assert history.verdicts(urls, "FooBot", as_of=times).to_pylist() == [0, 1, 2], kind
        # A dictionary on either side: a URL has other verdicts at other times.
        times = pyarrow.array(["2026-04", "2026-05", None]).dictionary_encode()
        found = history.verdicts(urls.dictionary_encode(), "FooBot", as_of=times)
        assert found.to_pylist() == [0, 1, 2]
    # Slices and chunks.
    times = pyarrow.chunked_array([["2026-02", "2026-04"], ["2026-05", "2026-04"]])[1:]
    assert history.verdicts(urls, "FooBot", as_of=times).to_pylist() == [0, 1, 0]
    times = pyarrow.array([dt.datetime(2026, 2, 1), before, after, after]).slice(1)
    assert history.verdicts(urls, "FooBot", as_of=times).to_pylist() == [0, 1, 1]
    with pytest.raises(TypeError, match="as_of is an Arrow array of type"):
        history.verdicts(urls, "FooBot", as_of=pyarrow.array([True, False, None]))


def test_many_rows_on_several_threads(history: Snapshot) -> None:
    numpy = pytest.importorskip("numpy")
    seconds = numpy.arange(1_777_000_000, 1_777_000_000 + 10 * 200_000, 10)
    urls = [URL] * len(seconds)
    expected = (seconds >= 1_777_615_200).astype("int8").tolist()
    for threads in (1, 4):
        assert verdicts(history, seconds, len(urls), threads=threads) == expected


def test_numpy_and_pandas_times(history: Snapshot) -> None:
    numpy = pytest.importorskip("numpy")
    texts = ["2026-05-01T05:59:59", "2026-05-01T06:00:00", "NaT"]
    for unit in ("s", "ms", "us", "ns"):
        times = numpy.array(texts, dtype=f"datetime64[{unit}]")
        assert verdicts(history, times, 3) == [0, 1, 2], unit
    # Of a lower precision, the last second.
    for texts, unit in ((["2026-04-30", "2026-05-01"], "D"), (["2026-04", "2026-05"], "M"), (["2025", "2026"], "Y")):
        expected = [0, 1] if unit != "Y" else [2, 1]
        assert verdicts(history, numpy.array(texts, dtype=f"datetime64[{unit}]"), 2) == expected, unit
    scalars = [numpy.datetime64("2026-04-30"), numpy.datetime64("2026-05-01T06:00:00.000000001"), numpy.int64(1_777_615_199)]
    assert [verdicts(history, scalar, 1) for scalar in scalars] == [[0], [1], [0]]
    pandas = pytest.importorskip("pandas")
    texts = ["2026-05-01T05:59:59", "2026-05-01T06:00:00", None]
    for times in (
        pandas.Series(pandas.to_datetime(texts)),
        pandas.Series(pandas.to_datetime(texts, utc=True).tz_convert("Europe/Berlin")),
        pandas.Series(texts),
        pandas.Series([dt.datetime(2026, 5, 1, 5), dt.date(2026, 5, 1), pandas.NaT], dtype=object),
        pandas.to_datetime(texts),
    ):
        assert verdicts(history, times, 3) == [0, 1, 2], times
    frame = pandas.DataFrame({"url": [URL] * 3, "fetched": pandas.to_datetime(texts)})
    assert history.verdicts(frame.url, "FooBot", as_of=frame.fetched).tolist() == [0, 1, 2]


def test_polars_times(history: Snapshot) -> None:
    polars = pytest.importorskip("polars")
    times = [dt.datetime(2026, 5, 1, 5, 59, 59), dt.datetime(2026, 5, 1, 6), None]
    urls = polars.Series([URL] * 3)
    for column in (
        polars.Series(times),
        polars.Series(times).dt.cast_time_unit("ns"),
        polars.Series(times).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
        polars.Series(["2026-04", "2026-05", None]),
        polars.Series(["2026-04", "2026-05", None], dtype=polars.Categorical),
        polars.Series([dt.date(2026, 4, 30), dt.date(2026, 5, 1), None]),
    ):
        assert history.verdicts(urls, "FooBot", as_of=column).to_list() == [0, 1, 2], column


def test_the_program_counts_pages_by_the_rules_of_their_day(history: Snapshot, tmp_path: Path) -> None:
    pages = tmp_path / "pages.csv"
    times = ["2026-04-02T10:00:00Z", "2026-04-03", "2026-05-01T05:00:00Z", "2026-05-20T05:00:00Z", "2026-02-01", ""]
    pages.write_text("url,fetched_at\n" + "".join(f"{URL},{time}\n" for time in times))
    program = [sys.executable, ROOT / "examples" / "history.py", history.path, pages, "FooBot"]
    printed = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    assert [line.split("\t") for line in printed.splitlines()] == [
        ["month", "pages", "allowed then", "allowed now"],
        ["2026-02", "1", "0", "1"],
        ["2026-04", "2", "0", "2"],
        ["2026-05", "2", "1", "2"],
        ["no time", "1", "0", "1"],
    ]
