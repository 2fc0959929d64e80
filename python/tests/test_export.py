"""Snapshots as tables, compared with the Parquet files of the command."""

from __future__ import annotations

import gc
import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import Snapshot

AGENTS = "GPTBot,Googlebot-Image:Googlebot,FooBot"

# The arguments of `Snapshot.export`, and the options of the command that mean the same.
CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"agents": AGENTS}, ["-a", AGENTS]),
    ({"agents": ["GPTBot", "@ai-search"]}, ["-a", "GPTBot,@ai-search"]),
    ({"agents": AGENTS, "long": True}, ["-a", AGENTS, "--long"]),
    ({"agents": AGENTS, "column_names": "dots"}, ["-a", AGENTS, "--column-names", "dots"]),
    ({"table": "sitemaps"}, ["--sitemaps"]),
    ({"table": "rules"}, ["--rules"]),
    ({"table": "rules", "agents": AGENTS}, ["--rules", "-a", AGENTS]),
    ({"columns": "tld,origin,failing_since"}, ["--columns", "tld,origin,failing_since"]),
    (
        {"agents": "FooBot", "columns": ["FooBot.named", "foobot_ACCESS"]},
        ["-a", "FooBot", "--columns", "FooBot.named,foobot_ACCESS"],
    ),
    ({"at": "2026-10-01", "columns": "age"}, ["--at", "2026-10-01", "--columns", "age"]),
    ({"stale_at": "2026-09-16T06:30:00Z"}, ["--stale-at", "2026-09-16T06:30:00Z"]),
    ({"outcomes": "unreachable"}, ["--outcome", "unreachable"]),
    ({"outcomes": ["unreachable", "server-error"]}, ["--outcome", "unreachable,server-error"]),
    ({"reasons": ["rules", "forbidden"]}, ["--reason", "rules,forbidden"]),
    ({"agents": "FooBot", "status_policy": "strict"}, ["-a", "FooBot", "--status-policy", "strict"]),
    ({"agents": "MJ12bot", "agent_match": "google"}, ["-a", "MJ12bot", "--agent-match", "google"]),
    # No rows.
    ({"stale_at": 0}, ["--stale-at", "1970-01-01"]),
    ({"stale_at": "2026-09-15T07:30:00Z", "retry_failed": 60}, ["--stale-at", "2026-09-15T07:30:00Z", "--retry-failed", "60s"]),
]

# The same for a snapshot with a history.
HISTORY_CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({"table": "history"}, ["--history"]),
    ({"table": "history", "agents": AGENTS}, ["--history", "-a", AGENTS]),
    (
        {"table": "history", "agents": "FooBot", "columns": "url,since,foobot.access"},
        ["--history", "-a", "FooBot", "--columns", "url,since,foobot.access"],
    ),
    ({"agents": AGENTS, "disallowed_since": True}, ["-a", AGENTS, "--disallowed-since"]),
    (
        {"agents": AGENTS, "disallowed_since": True, "column_names": "dots"},
        ["-a", AGENTS, "--disallowed-since", "--column-names", "dots"],
    ),
    ({"agents": AGENTS, "disallowed_since": True, "long": True}, ["-a", AGENTS, "--disallowed-since", "--long"]),
    (
        {"agents": "FooBot", "columns": "origin,FooBot_disallowed_since", "status_policy": "strict"},
        ["-a", "FooBot", "--columns", "origin,FooBot_disallowed_since", "--status-policy", "strict"],
    ),
    ({"agents": AGENTS, "as_of": "2026-05-01T05:59:59Z"}, ["-a", AGENTS, "--as-of", "2026-05-01T05:59:59Z"]),
    # A month and a date are their last second.
    ({"agents": AGENTS, "as_of": "2026-04"}, ["-a", AGENTS, "--as-of", "2026-04"]),
    ({"as_of": "2026-03-01", "table": "rules"}, ["--as-of", "2026-03-01", "--rules"]),
    ({"as_of": "2026-03-01", "agents": "@ai-search", "long": True}, ["--as-of", "2026-03-01", "-a", "@ai-search", "--long"]),
    # No rows.
    ({"as_of": "2020-12"}, ["--as-of", "2020-12"]),
]


@pytest.fixture(scope="module")
def history_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history: `e` closes and opens, `r` redirects to it, `f` fails after a good answer, `g` is closed to
    one agent alone."""
    captures = [
        {"url": "https://e.test/robots.txt", "fetched_at": "2026-03-01T06:00:00Z", "body": "user-agent: *\nallow: /"},
        {"url": "https://e.test/robots.txt", "fetched_at": "2026-05-01T06:00:00Z", "body": "user-agent: *\ndisallow: /"},
        {"url": "https://r.test/robots.txt", "fetched_at": "2026-03-02T06:00:00Z", "status": 301,
         "headers": {"Location": "https://e.test/robots.txt"}},
        {"url": "https://f.test/robots.txt", "fetched_at": "2026-03-03T06:00:00Z", "body": "user-agent: a\ndisallow: /x"},
        {"url": "https://f.test/robots.txt", "fetched_at": "2026-04-03T06:00:00Z", "status": 503},
        {"url": "https://g.test/robots.txt", "body": "user-agent: FooBot\ndisallow: /"},
        {"url": "https://g.test/robots.txt", "fetched_at": "2026-04-04T06:00:00Z", "status": 404},
        {"url": "https://g.test/robots.txt", "fetched_at": "2026-06-04T06:00:00Z", "body": "user-agent: FooBot\ndisallow: /"},
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("history")
    folder.joinpath("captures.jsonl").write_text("".join(json.dumps(capture) + "\n" for capture in captures))
    robosieve.compile([folder / "captures.jsonl"], folder / "history.rsieve", history=True)
    return folder / "history.rsieve"


@pytest.fixture
def history(history_file: Path) -> Snapshot:
    return Snapshot(history_file)


@pytest.mark.parametrize(("arguments", "options"), CASES)
def test_tables_are_those_of_the_command(
    program: Path, small: Path, snapshot: Snapshot, tmp_path: Path, arguments: dict[str, Any], options: list[str]
) -> None:
    check_table(program, small, snapshot, tmp_path / "t.parquet", arguments, options)


@pytest.mark.parametrize(("arguments", "options"), HISTORY_CASES)
def test_tables_of_a_history_are_those_of_the_command(
    program: Path, history_file: Path, history: Snapshot, tmp_path: Path, arguments: dict[str, Any], options: list[str]
) -> None:
    check_table(program, history_file, history, tmp_path / "t.parquet", arguments, options)


def check_table(
    program: Path, file: Path, snapshot: Snapshot, path: Path, arguments: dict[str, Any], options: list[str]
) -> None:
    """Compares a table with the Parquet file of the command, with its metadata."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    subprocess.run([program, "export", "-q", "-s", file, *options, "-o", path], check=True)
    expected = parquet.read_table(path)
    # A table says which snapshot, version and agents it comes from, as the file does.
    run = {b"robosieve.agents", b"robosieve.version", b"robosieve.snapshot", b"robosieve.options"}
    sets = {b"robosieve.sets"} if "@" in str(arguments.get("agents")) else set()
    assert set(expected.schema.metadata) == run | sets
    for threads in (None, 1, 3):
        exported = snapshot.export(threads=threads, **arguments)
        table = pyarrow.table(exported)
        table.validate(full=True)
        assert table.schema.equals(expected.schema, check_metadata=True)
        assert all(field.nullable for field in table.schema)
        assert table.equals(expected)
        assert exported.columns == expected.column_names
        # Each reader gets all rows.
        assert pyarrow.table(exported).equals(table)


def test_each_library_reads_it(snapshot: Snapshot) -> None:
    exported = snapshot.export("GPTBot")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(exported)
    assert frame.shape == (48, len(exported.columns))
    assert frame.schema["fetched"] == polars.Datetime("us", "UTC")
    duckdb = pytest.importorskip("duckdb")
    query = "select count(*) from exported where GPTBot_access = 'blocked' and failing_since is null"
    assert duckdb.sql(query).fetchall() == [
        (frame.filter(polars.col("GPTBot_access") == "blocked", polars.col("failing_since").is_null()).height,)
    ]


def test_streams_are_read_batch_by_batch(tmp_path: Path) -> None:
    """A snapshot with several reads gives the same rows with any number of threads."""
    pyarrow = pytest.importorskip("pyarrow")
    compiler = robosieve.Compiler()
    for number in range(20_000):
        body = f"User-agent: a\nDisallow: /{number % 50}\nSitemap: /s{number % 7}.xml\n"
        compiler.add_response(f"https://h{number}.example/robots.txt", 200, body)
    compiler.write(tmp_path / "web.rsieve")
    snapshot = Snapshot(tmp_path / "web.rsieve")
    for arguments, rows in [
        ({"agents": "a,b"}, 20_000),
        ({"agents": "a,b,c", "long": True}, 60_000),
        ({"table": "sitemaps"}, 20_000),
        ({"table": "rules"}, 20_000),
    ]:
        one, several = (
            list(pyarrow.RecordBatchReader.from_stream(snapshot.export(threads=threads, **arguments)))
            for threads in (1, 3)
        )
        assert len(one) > 1 and max(batch.num_rows for batch in one) <= 65_536
        table = pyarrow.Table.from_batches(one)
        assert table.num_rows == rows and table.equals(pyarrow.Table.from_batches(several))
        assert table["origin"].to_pylist() == sorted(table["origin"].to_pylist())
    # A stream that is dropped before its end, and one that outlives the snapshot.
    reader = pyarrow.RecordBatchReader.from_stream(snapshot.export("a"))
    reader.read_next_batch()
    del reader
    reader = pyarrow.RecordBatchReader.from_stream(snapshot.export("a"))
    snapshot.close()
    del snapshot
    gc.collect()
    assert reader.read_all().num_rows == 20_000


def test_snapshots_in_memory_are_exported(small: Path, snapshot: Snapshot) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    exported = Snapshot.from_bytes(small.read_bytes()).export("GPTBot", threads=-1)
    gc.collect()
    assert pyarrow.table(exported).equals(pyarrow.table(snapshot.export("GPTBot")))


def test_threads_read_at_once(snapshot: Snapshot) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    exported = snapshot.export("GPTBot")
    expected, found = pyarrow.table(exported), []
    threads = [threading.Thread(target=lambda: found.append(pyarrow.table(exported))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(table.equals(expected) for table in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": "domains"}, 'table="domains"; give one of "origins", "sitemaps", "rules", "history"'),
        ({"long": True}, "name agents"),
        ({"agents": "GPTBot", "long": True, "table": "rules"}, "leave table= out"),
        ({"columns": "nothing"}, "column nothing: there is no such column; the columns are origin, outcome"),
        ({"columns": []}, "names nothing"),
        ({"columns": "origin,Origin"}, "the column origin appears twice"),
        ({"agents": "Qqqq-Wwww,Qqqq_Wwww"}, 'column_names="dots", or one row per origin and agent with long=True'),
        ({"outcomes": "fine"}, '"unresolved-redirect"'),
        ({"column_names": "spaces"}, '"underscores"'),
        ({"threads": 0}, "threads=0"),
        ({"agents": "@nobody"}, "@nobody"),
        ({"agents": ""}, "agent"),
        ({"status_policy": "lax"}, "status_policy"),
        ({"stale_at": "soon"}, "not a time"),
        # What a history refuses, which has all times.
        ({"table": "history", "long": True, "agents": "GPTBot"}, "leave table= out"),
        ({"table": "history", "as_of": 0}, "as_of= selects among the answers of one time"),
        ({"table": "history", "at": 0}, "at= selects"),
        ({"table": "history", "stale_at": 0}, "stale_at= selects"),
        ({"table": "history", "outcomes": "rules"}, "outcomes= selects"),
        ({"table": "history", "reasons": "rules"}, "reasons= selects"),
        ({"table": "history", "disallowed_since": True, "agents": "GPTBot"}, "adds columns to the table of origins"),
        ({"table": "rules", "disallowed_since": True, "agents": "GPTBot"}, "leave table= out"),
        ({"table": "history", "columns": "age"}, "the columns are url, origin, since"),
        ({"disallowed_since": True}, "two columns per agent"),
        ({"disallowed_since": True, "agents": "FooBot", "as_of": "2026-04"}, "one time, which has no history"),
        ({"columns": "FooBot_disallowed_since", "agents": "FooBot", "as_of": "2026-04"}, "one time, which has no history"),
        ({"as_of": "2026-04", "at": "2026-04-01"}, "leave at= or as_of= out"),
        ({"as_of": "soon"}, "not a time"),
        ({"as_of": "2026-04", "agents": "@nobody"}, "@nobody"),
    ],
)
def test_wrong_arguments_are_refused(history: Snapshot, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        history.export(**arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"table": "history"},
        {"agents": "GPTBot", "disallowed_since": True},
        {"agents": "GPTBot", "columns": "GPTBot_disallowed_after"},
        {"as_of": "2026-04"},
    ],
)
def test_a_snapshot_without_a_history_has_no_table_of_it(snapshot: Snapshot, arguments: dict[str, Any]) -> None:
    with pytest.raises(robosieve.SnapshotError, match="no history.*history=True of robosieve.Compiler") as error:
        snapshot.export(**arguments)
    assert str(snapshot.path) in str(error.value)


def test_bounds_are_those_of_the_captures(history: Snapshot) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns = "origin,FooBot_disallowed_after,FooBot_disallowed_since"
    rows = pyarrow.table(history.export("FooBot", columns=columns)).to_pylist()
    written = [tuple(value and str(value) for value in row.values()) for row in rows]
    assert written == [
        ("https://e.test", "2026-03-01 06:00:00+00:00", "2026-05-01 06:00:00+00:00"),
        ("https://f.test", "2026-03-03 06:00:00+00:00", "2026-04-03 06:00:00+00:00"),
        ("https://g.test", "2026-04-04 06:00:00+00:00", "2026-06-04 06:00:00+00:00"),
        ("https://r.test", "2026-03-02 06:00:00+00:00", "2026-05-01 06:00:00+00:00"),
    ]
    versions = pyarrow.table(history.export("FooBot", table="history", columns="url,since,outcome,target"))
    assert versions.num_rows == 8 and repr(history.export(table="history")).endswith("of versions: 17 columns>")


def test_similar_agents_have_names_with_dots(snapshot: Snapshot) -> None:
    exported = snapshot.export("Qqqq-Wwww,Qqqq_Wwww", column_names="dots")
    assert exported.columns[-3:] == [f"Qqqq_Wwww.{name}" for name in ("access", "named", "crawl_delay")]
    assert snapshot.export("Qqqq-Wwww,Qqqq_Wwww", long=True).columns[-4:] == ["agent", "access", "named", "crawl_delay"]
    assert repr(exported) == f"<robosieve.ExportedTable of origins: {len(exported.columns)} columns>"


def test_damage_is_found_before_rows_are_read(small: Path, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    data = small.read_bytes()
    errors = 0
    for at in range(4096, len(data), max(1, len(data) // 40)):
        path = tmp_path / f"{at}.rsieve"
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with pytest.raises(robosieve.SnapshotError) as error:
            Snapshot(path).export("GPTBot")
        assert str(path) in str(error.value)
        # Without verification, damage is an error of the reader, or changes values.
        try:
            pyarrow.table(Snapshot(path, verify=False).export("GPTBot"))
        except (robosieve.SnapshotError, OSError, pyarrow.ArrowException):
            errors += 1
    assert errors < 40


def test_a_closed_snapshot_is_not_exported(small: Path) -> None:
    snapshot = Snapshot(small)
    snapshot.close()
    with pytest.raises(ValueError, match="is closed"):
        snapshot.export()
