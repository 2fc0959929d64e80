"""Snapshots of tables are those of the same captures as JSON lines, byte for byte."""

from __future__ import annotations

import datetime
import json
import pickle
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

import robosieve
from robosieve._counts import SnapshotCounts

NAMES = ["url", "status", "body", "fetched_at", "location", "error", "max_age", "retry_after"]
TIME = 1_767_225_600

#: One capture of each kind: rules, no rules, failures, a redirect, an older copy, text that is no URL.
_ROWS: list[tuple[Any, ...]] = [
    ("https://rules.example/robots.txt", 200, "User-agent: *\nDisallow: /x", TIME, None, None),
    ("https://rules.example/robots.txt", 200, "User-agent: *\nDisallow: /old", TIME - 9, None, None),
    ("https://missing.example/robots.txt", 404, "not found", TIME, None, None),
    ("https://no-status.example/robots.txt", None, "User-agent: a\nDisallow: /", TIME, None, None),
    ("https://no-body.example/robots.txt", 200, None, TIME, None, None),
    ("https://empty.example/robots.txt", 204, None, TIME, None, None),
    ("https://nothing.example/robots.txt", None, None, TIME, None, None),
    ("https://moved.example/robots.txt", 301, None, None, "https://rules.example/robots.txt", None),
    ("https://lost.example/robots.txt", None, None, TIME, None, "timeout"),
    ("https://blank-error.example/robots.txt", 503, "", TIME, None, ""),
    ("https://umlaut.example/robots.txt", 200, "User-agent: *\nDisallow: /größe", TIME, None, None),
    ("no URL", 200, "User-agent: *\nDisallow: /", TIME, None, None),
]
#: Every third row has a ``max-age``; one is more than 32 bits. Every second one has a ``Retry-After``.
ROWS = [(*row, None if at % 3 else 99**at, None if at % 2 else 60 * at) for at, row in enumerate(_ROWS)]


def columns() -> dict[str, list[Any]]:
    return {name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def expected(program: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The snapshot that the command-line program makes of the rows as JSON lines."""
    directory = tmp_path_factory.mktemp("jsonl")
    with open(directory / "rows.jsonl", "w") as out:
        for row in ROWS:
            capture = {name: value for name, value in zip(NAMES, row) if value is not None}
            headers = {}
            if location := capture.pop("location", None):
                headers["location"] = location
            if (max_age := capture.pop("max_age", None)) is not None:
                headers["cache-control"] = f"max-age={max_age}"
            if (retry_after := capture.pop("retry_after", None)) is not None:
                headers["retry-after"] = str(retry_after)
            if headers:
                capture["headers"] = headers
            out.write(json.dumps(capture) + "\n")
    snapshot = directory / "rows.rsieve"
    subprocess.run([program, "compile", "-q", "-o", snapshot, directory / "rows.jsonl"], check=True)
    return snapshot.read_bytes()


def arrow(change: Callable[[Any, Any], dict[str, Any]] = lambda pa, columns: {}) -> Callable[[], Any]:
    """A table of pyarrow, with some columns in other types."""

    def table() -> Any:
        pa = pytest.importorskip("pyarrow")
        return pa.table({**columns(), **change(pa, columns())})

    return table


def times(kind: str) -> Callable[[Any, Any], dict[str, Any]]:
    def change(pa: Any, columns: Any) -> dict[str, Any]:
        whole = pa.array(columns["fetched_at"], pa.timestamp("s"))
        return {"fetched_at": whole.cast(pa.timestamp(kind))}

    return change


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(columns())


def pandas_frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(columns())


def duckdb_relation() -> Any:
    duckdb = pytest.importorskip("duckdb")
    rows = arrow()()  # noqa: F841 - DuckDB finds it by its name
    return duckdb.sql("SELECT * FROM rows")


TABLES = {
    "pyarrow": arrow(),
    "batches": lambda: arrow()().to_reader(max_chunksize=5),
    "record batch": lambda: arrow()().to_batches()[0],
    "slices": lambda: pytest.importorskip("pyarrow").concat_tables([arrow()()[:3], arrow()()[3:]]),
    "binary": arrow(lambda pa, columns: {"body": pa.array(columns["body"]).cast(pa.binary())}),
    "views": arrow(lambda pa, columns: {"url": pa.array(columns["url"]).cast(pa.string_view())}),
    "large": arrow(lambda pa, columns: {"body": pa.array(columns["body"]).cast(pa.large_string())}),
    "dictionary": arrow(lambda pa, columns: {name: pa.array(columns[name]).dictionary_encode() for name in NAMES}),
    "uint16": arrow(lambda pa, columns: {"status": pa.array(columns["status"], pa.uint16())}),
    "float": arrow(lambda pa, columns: {"status": pa.array(columns["status"], pa.float64())}),
    "text status": arrow(lambda pa, columns: {"status": pa.array(columns["status"]).cast(pa.string())}),
    "seconds": arrow(times("s")),
    "milliseconds": arrow(times("ms")),
    "nanoseconds": arrow(times("ns")),
    "zone": arrow(lambda pa, columns: {"fetched_at": pa.array(columns["fetched_at"], pa.timestamp("s", "Asia/Tokyo"))}),
    "polars": polars_frame,
    "pandas": pandas_frame,
    "duckdb": duckdb_relation,
    "mappings": lambda: pytest.importorskip("pyarrow") and [dict(zip(NAMES, row)) for row in ROWS],
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_all_libraries_give_the_same_bytes(kind: str, expected: bytes, tmp_path: Path) -> None:
    compiler = robosieve.Compiler()
    assert compiler.add(TABLES[kind]()) == len(ROWS)
    compiler.write(tmp_path / "out.rsieve")
    assert (tmp_path / "out.rsieve").read_bytes() == expected


def test_single_responses_give_the_same_bytes(expected: bytes, tmp_path: Path) -> None:
    compiler = robosieve.Compiler()
    for url, status, body, time, location, error, max_age, retry in ROWS[:-1]:
        age = None if max_age is None else min(max_age, 2**32 - 2)
        if error:
            compiler.add_failure(url, error, fetched_at=time)
        elif status is None and body is None:
            compiler.add_failure(url, "neither status nor body nor error is given", fetched_at=time)
        elif status == 200 and body is None:
            compiler.add_failure(url, "a 2xx status without a body", fetched_at=time)
        else:
            compiler.add_response(
                url, status or 200, body or "", location=location, max_age=age, retry_after=retry, fetched_at=time
            )
    compiler.write(tmp_path / "out.rsieve")
    assert (tmp_path / "out.rsieve").read_bytes() == expected


def test_any_budget_of_memory_gives_the_same_bytes(tmp_path: Path) -> None:
    archive, out = tmp_path / "web.jsonl", tmp_path / "out.rsieve"
    rules = [f"user-agent: *\ndisallow: /{number % 7}" for number in range(300)]
    captures = [{"url": f"https://h{number}.example/robots.txt", "body": body} for number, body in enumerate(rules)]
    archive.write_text("".join(json.dumps(capture) + "\n" for capture in captures))

    def written(**options: Any) -> bytes:
        compiler = robosieve.Compiler(**options)
        compiler.add_path(archive)
        compiler.write(out)
        return out.read_bytes()

    assert written(memory=0, temp_dir=tmp_path) == written()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.rsieve", "web.jsonl"]
    with pytest.raises(OSError, match="temporary data"):
        written(memory=0, temp_dir=tmp_path / "missing")


def test_times_may_be_text_dates_and_datetimes(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for given in [
        ["2026-01-01T00:00:00Z"],
        ["2026-01-01T01:00:00+01:00"],
        ["2026-01-01T00:00:00"],
        ["2026-01-01 00:00:00.5"],
        ["20260101000000"],
        # A day is its last second.
        ["2025-12-31"],
        [datetime.date(2025, 12, 31)],
        [datetime.datetime(2026, 1, 1)],
        [TIME],
        [TIME * 1000],
    ]:
        compiler = robosieve.Compiler()
        compiler.add(pa.table({"url": ["https://a.example/robots.txt"], "status": [404], "fetched_at": given}))
        compiler.write(tmp_path / "out.rsieve")
        found = robosieve.Snapshot(tmp_path / "out.rsieve").metadata["captured"]
        expected = TIME - (given in (["2025-12-31"], [datetime.date(2025, 12, 31)]))
        assert found == [expected, expected], given


def test_failures_are_not_taken_for_successes() -> None:
    pa = pytest.importorskip("pyarrow")
    url = "https://a.example/robots.txt"
    for row, verdict in [
        ({"url": url, "status_code": 503, "body": "busy"}, 0),
        ({"url": url, "status": None, "body": ""}, 0),
        ({"url": url, "status": None, "body": "x"}, 1),
        ({"url": url, "body": ""}, 1),
    ]:
        compiler = robosieve.Compiler()
        types = {"url": pa.string(), "status": pa.int64(), "status_code": pa.int64(), "body": pa.string()}
        compiler.add(pa.table({name: pa.array([value], types[name]) for name, value in row.items()}))
        snapshot = robosieve.Snapshot.from_bytes(compiler.to_bytes())
        assert snapshot.verdict("https://a.example/", "GPTBot") == verdict, row
    table = pa.table({"url": [url], "http_code": [503], "body": ["busy"]})
    with pytest.raises(ValueError, match=r'the table has "http_code"; name the column of the statuses'):
        robosieve.Compiler().add(table)
    robosieve.Compiler().add(table, status=())


def test_coded_texts_are_counted(tmp_path: Path) -> None:
    compiler = robosieve.Compiler()
    text = "User-agent: *\nDisallow: /\n"
    for host, body in [("a", text), ("b", str(text.encode())), ("c", "User-agent: *")]:
        compiler.add_response(f"https://{host}.example/robots.txt", 200, body)
    report = compiler.write(tmp_path / "out.rsieve")
    assert (report["coded_texts"], report["coded_example"]) == (1, "https://b.example/robots.txt")


def test_domains_stand_for_their_robots_txt(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    domains = ["a.example", "http://b.example/", " c.example:8080 ", None, "d.example"]
    table = pa.table({"host": domains, "content": ["User-agent: *\nDisallow: /"] * 5})
    compiler = robosieve.Compiler()
    compiler.add(table, scheme="http")
    report = compiler.write(tmp_path / "out.rsieve")
    assert (report["counts"]["origins"], report["not_urls"]) == (4, 1)
    snapshot = robosieve.Snapshot(tmp_path / "out.rsieve")
    urls = ["http://a.example/", "http://b.example/", "http://c.example:8080/", "https://d.example/"]
    assert snapshot.verdicts(urls, "GPTBot") == [0, 0, 0, 2]


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(
        {"robots_url": ["https://a.example/robots.txt"], "code": [200], "txt": ["User-agent: *\nDisallow: /"]}
    )
    compiler = robosieve.Compiler()
    compiler.add(table, url="robots_url", status=["http_status", "code"], body="txt")
    compiler.write(tmp_path / "out.rsieve")
    assert robosieve.Snapshot(tmp_path / "out.rsieve").verdict("https://a.example/", "GPTBot") == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1]}, r'no column of URLs or domains: looked for \["url", "domain", "host"\], the table has \["x"\]'),
        ({"url": ["https://a.example/robots.txt"]}, "no column of statuses or bodies"),
        ({"url": ["a"], "status": [70_000]}, "row 0: 70000 is not an HTTP status"),
        ({"url": ["a"], "status": [-1]}, "row 0: -1 is not an HTTP status"),
        ({"url": ["a", "b"], "status": ["200", "ok"]}, 'row 1: column "status": "ok" is not a number'),
        ({"url": ["a"], "status": [200.5]}, 'column "status": 200.5 is not a whole number'),
        ({"url": [["a"]], "status": [200]}, 'column "url" has the type List'),
        ({"url": ["a"], "status": [404], "max_age": [-1]}, "row 0: -1 is not a max-age in seconds"),
        ({"url": ["a"], "status": [200], "fetched_at": ["soon"]}, '"soon" is not a time like 2026-10-01T12:00:00Z'),
        ({"url": ["a"], "status": [200], "fetched_at": [TIME * 10_000]}, "is not a time in seconds since 1970"),
    ],
)
def test_unusable_tables_are_refused_with_the_row(table: dict[str, Any], message: str) -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=message):
        robosieve.Compiler().add(pa.table(table))


@pytest.mark.parametrize("table", [None, 5, "text", [1, 2]])
def test_other_objects_are_no_tables(table: Any) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="a table is an Arrow table or stream"):
        robosieve.Compiler().add(table)


def test_dicts_of_columns_are_tables(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    compiler = robosieve.Compiler()
    assert compiler.add({"url": ["https://a.example/robots.txt"], "status": [200], "body": ["User-agent: *"]}) == 1
    assert compiler.write(tmp_path / "out.rsieve")["counts"]["origins"] == 1
    with pytest.raises(TypeError, match="column 'url' is a single value; give a list for each column, or a list of rows"):
        robosieve.Compiler().add({"url": "https://a.example/robots.txt", "status": 200})
    with pytest.raises(TypeError, match="table is of type str; .*; add_path takes archives"):
        robosieve.Compiler().add("robots.warc")


def test_arrays_without_names_are_no_tables() -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="pass a table with named columns"):
        robosieve.Compiler().add(pa.array(["https://a.example/robots.txt"]))


def test_refused_rows_leave_the_compiler_usable(tmp_path: Path) -> None:
    compiler = robosieve.Compiler()
    compiler.add_response("https://a.example/robots.txt", 404)
    with pytest.raises(robosieve.RobosieveError, match='"b" is not a URL'):
        compiler.add_response("b", 404)
    assert compiler.write(tmp_path / "out.rsieve")["counts"]["origins"] == 1
    with pytest.raises(RuntimeError, match="has written its output"):
        compiler.add_failure("https://c.example/robots.txt", "timeout")


def test_an_error_of_a_stream_is_reported(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")

    def batches() -> Any:
        yield pa.record_batch({"url": ["https://a.example/robots.txt"], "status": [404]})
        raise OSError("the disk is gone")

    schema = pa.schema({"url": pa.string(), "status": pa.int64()})
    with pytest.raises(robosieve.RobosieveError, match="the disk is gone"):
        robosieve.Compiler().add(pa.RecordBatchReader.from_batches(schema, batches()))


def test_compile_equals_the_command(program: Path, tmp_path: Path, small: Path) -> None:
    data = Path(__file__).resolve().parents[2] / "datasets/small"
    seen: list[int] = []
    report = robosieve.compile(
        [data / "robots.warc", data / "more.jsonl"], tmp_path / "out.rsieve", progress=seen.append
    )
    assert (tmp_path / "out.rsieve").read_bytes() == small.read_bytes()
    assert report["bytes_out"] == small.stat().st_size
    assert seen[-1] == report["bytes_in"]


def test_previous_and_as_of(tmp_path: Path) -> None:
    old, new = tmp_path / "old.rsieve", tmp_path / "new.rsieve"
    compiler = robosieve.Compiler()
    compiler.add_response("https://a.example/robots.txt", 404, fetched_at=TIME)
    compiler.add_response("https://b.example/robots.txt", 404, fetched_at=TIME)
    compiler.write(old)
    compiler = robosieve.Compiler(previous=old, as_of="2026-01-02")
    compiler.add_response("https://b.example/robots.txt", 200, b"User-agent: *\nDisallow: /", fetched_at=TIME + 9)
    compiler.add_response("https://c.example/robots.txt", 404, fetched_at="2026-02-01")
    report = compiler.write(new)
    assert (report["counts"]["origins"], report["taken_over"], report["too_new"]) == (2, 1, 1)
    assert robosieve.Snapshot(new).verdict("https://b.example/", "GPTBot") == robosieve.Verdict.DISALLOWED


def test_history_and_as_of(tmp_path: Path) -> None:
    url = "https://a.example/robots.txt"
    compiler = robosieve.Compiler(history=True)
    compiler.add_response(url, 200, b"User-agent: *\nDisallow: /", fetched_at="2026-03-01")
    compiler.add_response(url, 404, fetched_at="2026-05-01T00:00:00Z")
    report = compiler.write(tmp_path / "years.rsieve")
    assert (report["versions"], report["history_urls"], report["old_texts"]) == (2, 1, 1)
    snapshot = robosieve.Snapshot(tmp_path / "years.rsieve")
    page = "https://a.example/page"
    verdicts = {
        None: "ALLOWED",
        "2026-02": "UNKNOWN",
        # A date or a month is its last second.
        "2026-02-28": "UNKNOWN",
        "2026-03-01": "DISALLOWED",
        "2026-04": "DISALLOWED",
        "2026-05": "ALLOWED",
        "2026-05-01T00:00:00Z": "ALLOWED",
        1_777_593_599: "DISALLOWED",
    }
    for time, verdict in verdicts.items():
        assert snapshot.verdict(page, "GPTBot", as_of=time).name == verdict, time
        assert snapshot.verdicts([page], "GPTBot", as_of=time)[0].name == verdict
        assert snapshot.explain(page, "GPTBot", as_of=time).verdict.name == verdict
        assert snapshot.masks([page], "GPTBot", as_of=time) == [{"ALLOWED": 1, "DISALLOWED": 0}.get(verdict)]
    (tmp_path / "rows.csv").write_text(f"url,at\n{page},2026-04\n{page},2026-06-01\n{page},\n")
    rows = tmp_path / "rows.csv"
    counts = robosieve.filter(snapshot, rows, tmp_path / "out.csv", "GPTBot", as_of_column="at")
    assert (counts["disallowed"], counts["allowed"], counts["unknown"], counts["without_time"]) == (1, 1, 1, 1)
    counts = robosieve.filter(snapshot, rows, tmp_path / "out.csv", "GPTBot", as_of="2026-04")
    assert counts["disallowed"] == 3
    newest = robosieve.Compiler(as_of="2026-03")
    newest.add_response(url, 404, fetched_at="2026-03-31T23:59:59Z")
    assert newest.write(tmp_path / "newest.rsieve")["too_new"] == 0
    with pytest.raises(robosieve.RobosieveError, match="no history"):
        robosieve.Snapshot(tmp_path / "newest.rsieve").verdict(page, "GPTBot", as_of="2026-04")


def night(old: Path, failing: int, max_failing: float = 0.2) -> robosieve.Compiler:
    """A crawl of 100 sites that answered in `old`, of which some fail."""
    compiler = robosieve.Compiler(previous=old, max_failing=max_failing)
    for site in range(100):
        url = f"https://{site}.example/robots.txt"
        if site < failing:
            compiler.add_failure(url, "dns: no answer", fetched_at=TIME + 9)
        else:
            compiler.add_response(url, 404, fetched_at=TIME + 9)
    return compiler


def test_an_outage_of_the_fetcher_is_refused(tmp_path: Path) -> None:
    old, new = tmp_path / "old.rsieve", tmp_path / "new.rsieve"
    compiler = robosieve.Compiler()
    for site in range(100):
        compiler.add_response(f"https://{site}.example/robots.txt", 404, fetched_at=TIME)
    compiler.write(old)
    assert night(old, 20).write(tmp_path / "fifth.rsieve")["newly_failing"] == 20
    refused = r"21 of the 100 captured origins .*: dns 21; nothing is written.*: max_failing=1\.0"
    with pytest.raises(robosieve.RobosieveError, match=refused):
        night(old, 21).write(new)
    with pytest.raises(robosieve.RobosieveError, match=refused):
        night(old, 21).to_bytes()
    assert not new.exists()
    report = night(old, 100, 1.0).write(new)
    assert (report["answered_before"], report["newly_failing_causes"]) == (100, {"dns": 100})
    # The function has the option, too.
    lines = (f'{{"url": "https://{site}.example/robots.txt", "status": 503}}\n' for site in range(100))
    (tmp_path / "night.jsonl").write_text("".join(lines).replace("}", f', "fetched_at": {TIME + 9}}}'))
    with pytest.raises(robosieve.RobosieveError, match="status 503 100; nothing is written"):
        robosieve.compile(tmp_path / "night.jsonl", old, previous=old)
    robosieve.compile(tmp_path / "night.jsonl", new, previous=old, max_failing=1)
    for share in (20, -0.1, float("nan")):
        with pytest.raises(ValueError, match="is not a share from 0 to 1, such as 0.2 for 20 %"):
            robosieve.Compiler(max_failing=share)


def test_archives_without_a_capture_are_refused(tmp_path: Path) -> None:
    empty, out = tmp_path / "empty.jsonl", tmp_path / "out.rsieve"
    empty.write_text("\n")
    robosieve.Compiler().write(out)
    before = out.read_bytes()
    for previous in (None, out):
        with pytest.raises(robosieve.RobosieveError, match="no capture of any /robots.txt"):
            robosieve.compile(empty, out, previous=previous)
    assert out.read_bytes() == before
    # Without an archive, none is missing.
    robosieve.Compiler(previous=out).write(tmp_path / "again.rsieve")
    assert (tmp_path / "again.rsieve").read_bytes() == before


def test_errors_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "bad.rsieve").write_bytes(b"nothing")
    (tmp_path / "urls.txt").write_bytes(b"https://a.example/\n")
    with pytest.raises(FileNotFoundError) as missing:
        robosieve.compile(tmp_path / "nope.warc", tmp_path / "out.rsieve")
    assert missing.value.filename == str(tmp_path / "nope.warc")
    with pytest.raises(robosieve.SnapshotError, match="bad.rsieve: not a robosieve snapshot"):
        robosieve.Compiler(previous=tmp_path / "bad.rsieve")
    with pytest.raises(robosieve.RobosieveError, match="urls.txt: neither WARC nor JSONL"):
        robosieve.compile(tmp_path / "urls.txt", tmp_path / "out.rsieve")
    with pytest.raises(ValueError, match="the output of path is the same file as an input"):
        (tmp_path / "a.jsonl").write_text('{"url": "https://a.example/robots.txt", "status": 404}\n')
        robosieve.compile(tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    with pytest.raises(ValueError, match='profile="bing"; give one of "google", "rfc9309"'):
        robosieve.Compiler("bing")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'soon' is not a time"):
        robosieve.Compiler(as_of="soon")
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(robosieve.Compiler())
    assert not (tmp_path / "out.rsieve").exists()


def test_captures_files_stand_for_their_archives(program: Path, tmp_path: Path, small: Path) -> None:
    data = Path(__file__).resolve().parents[2] / "datasets/small"
    archives = [data / "robots.warc", data / "more.jsonl"]
    compiler = robosieve.Compiler(memory=0, temp_dir=tmp_path)
    compiler.add_path(archives)
    report = compiler.write_captures(tmp_path / "small.captures")
    assert report["input"]["bytes_out"] == (tmp_path / "small.captures").stat().st_size
    assert (report["content"]["captures"], report["content"]["origins"]) == (58, 48)
    command = [program, "captures", "-q", "-o", tmp_path / "by-command.captures", *archives]
    subprocess.run(command, check=True)
    assert (tmp_path / "by-command.captures").read_bytes() == (tmp_path / "small.captures").read_bytes()
    robosieve.compile(tmp_path / "small.captures", tmp_path / "out.rsieve")
    assert (tmp_path / "out.rsieve").read_bytes() == small.read_bytes()
    with pytest.raises(RuntimeError, match="has written its output"):
        compiler.write(tmp_path / "again.rsieve")
    compiler = robosieve.Compiler()
    compiler.add_path(tmp_path / "small.captures")
    with pytest.raises(ValueError, match="the output of path is the same file as an input"):
        compiler.write_captures(tmp_path / "small.captures")


def test_reports_have_the_keys_of_their_type(tmp_path: Path) -> None:
    data = Path(__file__).resolve().parents[2] / "datasets/small"
    report = robosieve.compile(data / "robots.warc", tmp_path / "web.rsieve")
    assert set(report) == robosieve.CompileReport.__required_keys__
    assert set(report["counts"]) == SnapshotCounts.__required_keys__
    assert report["counts"]["origins"] > 0
