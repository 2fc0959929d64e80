"""robosieve.spark on a cluster of two executor processes, compared with the command line.

The environment variable ROBOSIEVE names the command-line program. The corpus is ../shared/corpus,
or datasets/small if it is absent. ``pytest -s`` prints the log of the killed executor.
"""

import doctest
import gzip
import json
import multiprocessing
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import robosieve
from conftest import ROOT
from robosieve._cluster.jobs import Call, _groups, _write_outputs
from robosieve._cluster.outputs import LocalDirectory
from robosieve._cluster.paths import InputFile, check_outputs, find_inputs
from robosieve._cluster.source import snapshot_source
from robosieve.spark import (
    InputsError,
    annotate_files,
    compile_files,
    filter_files,
    register,
    register_allowed,
    register_origin,
    register_reason,
    with_verdicts,
)

SMALL = ROOT / "datasets" / "small"
CORPUS = ROOT.parent / "shared" / "corpus"
AGENTS = "FooBot,Googlebot,GPTBot,CCBot,Bingbot"
LETTERS = "DAUI"

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture(scope="module")
def program():
    """The command-line program."""
    name = os.environ.get("ROBOSIEVE", ROOT / "target" / "release" / "robosieve")
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is missing: build the program, or name it with the variable ROBOSIEVE")
    return os.path.abspath(path)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def urls():
    """The URLs of the corpus, as bytes."""
    if (CORPUS / "urls.tsv").exists():
        return [line.split(b"\t")[1] for line in (CORPUS / "urls.tsv").read_bytes().splitlines()]
    return SMALL.joinpath("urls.txt").read_bytes().splitlines() * 100


@pytest.fixture(scope="module")
def snapshot(program, tmp_path_factory):
    """The path of the corpus's snapshot."""
    archive = CORPUS / "robots.warc.gz"
    path = tmp_path_factory.mktemp("snapshot") / "web.rsieve"
    run(program, "compile", "-q", "-o", path, archive if archive.exists() else SMALL / "robots.warc")
    return path


@pytest.fixture(scope="module")
def spark_environment(tmp_path_factory):
    """Sets the environment of Spark. Its home has links to PySpark's files, because workers write
    to a directory below it."""
    pyspark = pytest.importorskip("pyspark", reason='PySpark is missing: pip install "pyspark>=3.5"')
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("java is missing: install a Java runtime, 17 or newer")
    home = tmp_path_factory.mktemp("spark-home")
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONPATH", str(Path(robosieve.__file__).parents[1]))
        yield


@pytest.fixture(scope="module")
def spark(spark_environment, tmp_path_factory):
    """A session on two executors with one core each."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    # The status tracker answers without delay.
    builder = builder.config("spark.ui.liveUpdate.period", "0")
    session = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse"))).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def write_gzip(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"".join(line + b"\n" for line in lines))


def lines(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()


def hidden(directory):
    return [path for path in directory.rglob("*") if path.name.startswith(".")]


@pytest.fixture(scope="module")
def table(urls, tmp_path_factory):
    """A directory of four Parquet files with all URLs and their numbers."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    directory = tmp_path_factory.mktemp("table") / "pages"
    directory.mkdir()
    text = [url.decode("utf-8", "replace") for url in urls]
    rows = pa.table({"url": pa.array(text), "n": pa.array(range(len(text)))})
    for part in range(4):
        first, last = part * len(text) // 4, (part + 1) * len(text) // 4
        parquet.write_table(rows.slice(first, last - first), directory / f"part-{part}.parquet", row_group_size=5000)
    return directory


@pytest.fixture(scope="module")
def letters(program, snapshot, urls, tmp_path_factory):
    """The letters that the command line gives each URL of the table, for five agents."""
    path = tmp_path_factory.mktemp("letters") / "urls.txt"
    path.write_text("".join(url.decode("utf-8", "replace") + "\n" for url in urls), encoding="utf-8")
    printed = run(program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, path)
    return [line.split(b"\t")[0].decode() for line in printed.splitlines()]


def in_order(frame, *columns):
    rows = sorted(frame.select("n", *columns).collect())
    return [[row[column] for row in rows] for column in columns]


def test_sql_function_equals_the_command_line(spark, snapshot, table, letters):
    function = register(spark, snapshot, agent="GPTBot")
    register(spark, robosieve.Snapshot(snapshot), name="googlebot_verdict", agent="Googlebot")
    frame = spark.read.parquet(str(table))
    frame.createOrReplaceTempView("pages")
    judged = spark.sql("SELECT n, robots_verdict(url) AS gptbot, googlebot_verdict(url) AS googlebot FROM pages")
    assert [field.dataType.simpleString() for field in judged.schema.fields] == ["bigint", "tinyint", "tinyint"]
    gptbot, googlebot = in_order(judged, "gptbot", "googlebot")
    assert "".join(LETTERS[code] for code in gptbot) == "".join(row[2] for row in letters)
    assert "".join(LETTERS[code] for code in googlebot) == "".join(row[1] for row in letters)
    allowed = spark.sql("SELECT count(*) AS n FROM pages WHERE robots_verdict(url) = 1").collect()[0].n
    assert allowed == sum(row[2] == "A" for row in letters)
    assert in_order(frame.withColumn("v", function("url")), "v") == [gptbot]


def test_allowed_urls_are_those_that_filter_keeps(spark, program, snapshot, table, letters, urls, tmp_path):
    frame = spark.read.parquet(str(table))
    frame.createOrReplaceTempView("pages")
    text = [url.decode("utf-8", "replace") for url in urls]
    every = [set(row) for row in letters]
    host = next(url for url, found in zip(text, every) if found == {"A"}).split("/")[2]
    (tmp_path / "own").write_text(f"{host}\n")
    run(program, "lists", "-q", "-o", tmp_path / "own.rlists", tmp_path / "own")
    listed = [reason is not None for reason in robosieve.Lists(tmp_path / "own.rlists").match(text)]
    cases = [
        ({}, [found == {"A"} for found in every]),
        ({"require": "any"}, ["A" in found for found in every]),
        ({"unknown": "allow"}, [found <= {"A", "U"} for found in every]),
        ({"lists": tmp_path / "own.rlists"}, [found == {"A"} and not named for found, named in zip(every, listed)]),
    ]
    assert len({sum(expected) for _, expected in cases}) == len(cases)
    for options, expected in cases:
        function = register_allowed(spark, snapshot, agents=AGENTS, **options)
        judged = spark.sql("SELECT n, robots_allowed(url) AS allowed FROM pages")
        assert judged.schema["allowed"].dataType.simpleString() == "boolean"
        assert in_order(judged, "allowed") == [expected]
        assert frame.where(function("url")).count() == sum(expected)
    nulls = spark.createDataFrame([(None,), ("no url",)], "url string")
    assert [row.found for row in nulls.select(function("url").alias("found")).collect()] == [None, False]
    with pytest.raises(ValueError, match="require"):
        register_allowed(spark, snapshot, agents="GPTBot", require="both")
    # The advice is the call above.
    with pytest.raises(TypeError, match=r"spark\.register_allowed\(spark, path, agents=agents\)"):
        robosieve.Snapshot(snapshot).allowed(frame["url"], AGENTS)


def test_columns_equal_the_command_line(spark, snapshot, table, letters):
    frame = spark.read.parquet(str(table))
    (bits,) = in_order(with_verdicts(frame, snapshot, AGENTS), "robots_allowed")
    expected = [
        sum((letter == "A") << bit for bit, letter in enumerate(row)) if row[0] in "AD" else None for row in letters
    ]
    assert bits == expected
    names = [f"robots_{agent}" for agent in AGENTS.split(",")]
    judged = with_verdicts(frame, snapshot, AGENTS, form="int8")
    assert judged.columns == ["url", "n", *names]
    columns = in_order(judged, *names)
    assert ["".join(LETTERS[code] for code in row) for row in zip(*columns)] == letters


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A snapshot of a site that is closed in March and April, and open from the first of May on."""
    path = tmp_path_factory.mktemp("history") / "history.rsieve"
    compiler = robosieve.Compiler(history=True)
    for time, body in [("2026-03-01T06:00:00Z", b"user-agent: *\ndisallow: /"), ("2026-05-01T06:00:00Z", b"")]:
        compiler.add_response("https://e.test/robots.txt", 200, body=body, fetched_at=time)
    compiler.write(path)
    return path


def test_each_url_is_judged_by_the_rules_of_its_own_time(spark, history):
    register(spark, history, name="verdict_at", agent="FooBot")
    register(spark, history, name="verdict_at_or_now", agent="FooBot", no_time="newest")
    register_reason(spark, history, name="reason_at")
    expected = {"2026-04-30": 0, "2026-05-01T05:59:59Z": 0, "2026-05-01T06:00:00Z": 1, "2026-02": 2, None: 2}
    rows = [("https://e.test/page", time) for time in expected]
    pages = spark.createDataFrame(rows, "url string, fetched string")
    pages.createOrReplaceTempView("dated_pages")

    def judged(function, kind="string"):
        query = f"SELECT fetched, {function}(url, cast(fetched AS {kind})) AS found FROM dated_pages"
        return {row.fetched: row.found for row in spark.sql(query).collect()}

    assert judged("verdict_at") == expected
    # A month is not a date of Spark, and a date is its last second.
    assert judged("verdict_at", "date") == {**expected, "2026-05-01T05:59:59Z": 1}
    assert judged("verdict_at", "timestamp")["2026-05-01T05:59:59Z"] == 0
    assert judged("verdict_at", "timestamp")["2026-05-01T06:00:00Z"] == 1
    assert judged("verdict_at_or_now") == {**expected, None: 1}
    assert judged("reason_at")[None] == "unknown-time"
    newest = spark.sql("SELECT verdict_at(url) AS found FROM dated_pages").collect()
    assert {row.found for row in newest} == {1}
    for form, column in [("bits", "robots_allowed"), ("int8", "robots_FooBot")]:
        added = ["reason", "crawl_delay"]
        found = with_verdicts(pages, history, "FooBot", as_of_column="fetched", form=form, add=added).collect()
        values = {row.fetched: (row[column], row.robots_reason) for row in found}
        no_verdict = None if form == "bits" else 2
        assert values["2026-04-30"] == (0, "rules")
        assert values["2026-02"] == (no_verdict, "unknown-origin")
        assert values[None] == (no_verdict, "unknown-time")


def test_nulls_bytes_and_nested_columns(spark, snapshot):
    rows = [(1, ("https://nowhere.invalid/",), b"https://nowhere.invalid/"), (2, None, None), (3, ("no url",), b"\xff")]
    frame = spark.createDataFrame(rows, "n int, page struct<url: string>, raw binary")
    for url in ["page.url", "raw"]:
        judged = with_verdicts(frame, snapshot, "GPTBot", url=url, form="int8", name="v_")
        assert in_order(judged, "v_GPTBot") == [[2, None, 3]]
    judged = with_verdicts(frame, snapshot, "GPTBot", url=frame["page.url"], unknown="allow")
    assert in_order(judged, "robots_allowed") == [[1, None, None]]


def test_large_strings_of_arrow(spark, snapshot):
    setting = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(setting, "true")
    try:
        frame = spark.createDataFrame([(1, "https://nowhere.invalid/"), (2, None)], "n int, url string")
        assert in_order(with_verdicts(frame, snapshot, "GPTBot", form="int8"), "robots_GPTBot") == [[2, None]]
    finally:
        spark.conf.unset(setting)


def test_masks_of_63_agents_with_nulls(spark, tmp_path):
    """A floating-point number, as pandas holds integers with nulls, has 53 bits."""
    compiler = robosieve.Compiler()
    compiler.add_response("https://e.test/robots.txt", 200, body=b"")
    compiler.write(tmp_path / "web.rsieve")
    frame = spark.createDataFrame([(1, "https://e.test/"), (2, None)], "n int, url string").coalesce(1)
    judged = with_verdicts(frame, tmp_path / "web.rsieve", [f"Bot{number}" for number in range(63)])
    assert in_order(judged, "robots_allowed") == [[2**63 - 1, None]]


def test_partitions_without_rows(spark, snapshot):
    frame = spark.createDataFrame([(1, None)], "n int, url string").repartition(3)
    assert in_order(with_verdicts(frame, snapshot, "GPTBot", add=["origin", "reason"]), "robots_reason") == [[None]]
    assert in_order(with_verdicts(frame.filter("n > 1"), snapshot, "GPTBot"), "robots_allowed") == [[]]


def test_bytes_that_are_not_utf8_are_judged(spark, snapshot):
    """Spark holds such bytes in a string, for instance those of a text file in Latin-1."""
    # ASCII, and "ä" in Latin-1.
    address = "68747470733a2f2f6e6f77686572652e696e76616c69642f"
    rows = f"VALUES (1, '{address}'), (2, '{address}E4') AS v(n, x)"
    frame = spark.sql(f"SELECT n, cast(unhex(x) AS string) AS url FROM {rows}")
    judged = with_verdicts(frame, snapshot, "GPTBot", form="int8", add="origin")
    assert in_order(judged, "robots_GPTBot", "robots_origin") == [[2, 2], ["https://nowhere.invalid"] * 2]
    register(spark, snapshot, name="verdict_of_bytes", agent="GPTBot")
    frame.createOrReplaceTempView("latin1")
    assert in_order(spark.sql("SELECT n, verdict_of_bytes(binary(url)) AS v FROM latin1"), "v") == [[2, 2]]


def test_timestamps_of_any_session(spark, tmp_path):
    """The clocks of Berlin go back at 2026-10-25 01:00 UTC, so 02:30 there is 00:30 and 01:30 UTC."""
    compiler = robosieve.Compiler(history=True)
    for time, body in [("2026-03-01T06:00:00Z", b"user-agent: *\ndisallow: /"), ("2026-10-25T01:00:00Z", b"")]:
        compiler.add_response("https://e.test/robots.txt", 200, body=body, fetched_at=time)
    compiler.write(tmp_path / "history.rsieve")
    expected = {"2026-10-25T00:30:00Z": 0, "2026-10-25T00:59:59.999Z": 0, "2026-10-25T01:30:00Z": 1, None: 2}
    rows = [("https://e.test/page", number, time) for number, time in enumerate(expected)]
    pages = spark.createDataFrame(rows, "url string, n int, fetched string")
    register(spark, tmp_path / "history.rsieve", name="verdict_in_zone", agent="FooBot")
    pages.createOrReplaceTempView("pages_in_zone")
    setting = "spark.sql.session.timeZone"
    try:
        for zone in ["Europe/Berlin", "UTC"]:
            spark.conf.set(setting, zone)
            for time in ["to_timestamp(fetched)", "fetched"]:
                dated = pages.selectExpr("url", "n", f"{time} AS time")
                judged = with_verdicts(dated, tmp_path / "history.rsieve", "FooBot", as_of_column="time", form="int8")
                assert in_order(judged, "robots_FooBot") == [list(expected.values())], (zone, time)
            # A TIMESTAMP_NTZ is in UTC.
            local = pages.selectExpr("url", "n", "to_timestamp_ntz(rtrim('Z', fetched)) AS time")
            judged = with_verdicts(local, tmp_path / "history.rsieve", "FooBot", as_of_column="time", form="int8")
            assert in_order(judged, "robots_FooBot") == [list(expected.values())], zone
            query = "SELECT n, verdict_in_zone(url, {}) AS found FROM pages_in_zone"
            text = "date_format(to_timestamp(fetched), \"yyyy-MM-dd'T'HH:mm:ssXXX\")"
            assert in_order(spark.sql(query.format(text)), "found") == [list(expected.values())]
            times = spark.sql(query.format("to_timestamp(fetched)"))
            if zone == "UTC" or has_arrow_functions():
                assert in_order(times, "found") == [list(expected.values())]
            else:
                with pytest.raises(Exception, match=r"local times of the session \(Europe/Berlin\).* date_format\("):
                    times.collect()
    finally:
        spark.conf.unset(setting)


def has_arrow_functions():
    """Whether PySpark is 4.1 or newer."""
    from pyspark.sql import functions

    return hasattr(functions, "arrow_udf")


def test_errors_come_before_any_job(spark, snapshot, tmp_path):
    frame = spark.createDataFrame([("https://e.example/", 1)], "url string, n int")
    for url in ["urll", "url.path"]:
        with pytest.raises(ValueError, match=f"no column '{url}'; the columns are: url, n"):
            with_verdicts(frame, snapshot, "GPTBot", url=url)
    with pytest.raises(TypeError, match="column 'n' is int"):
        with_verdicts(frame, snapshot, "GPTBot", url="n")
    with pytest.raises(ValueError, match="already"):
        with_verdicts(frame.withColumnRenamed("n", "Robots_Allowed"), snapshot, "GPTBot")
    with pytest.raises(ValueError, match="at most 63"):
        with_verdicts(frame, snapshot, [f"Bot{number}" for number in range(64)])
    with pytest.raises(ValueError, match="form='bit'; give one of 'bits', 'int8'"):
        with_verdicts(frame, snapshot, "GPTBot", form="bit")
    for agent in ["@nope", "", "@ai-train"]:
        with pytest.raises(ValueError, match="agent"):
            register(spark, snapshot, agent=agent)
    with pytest.raises(ValueError, match="node_directory='copies': give an absolute path"):
        register(spark, snapshot, agent="GPTBot", node_directory="copies")
    with pytest.raises(robosieve.SnapshotError, match="missing.rsieve"):
        register(spark, tmp_path / "missing.rsieve", agent="GPTBot")
    with pytest.raises(TypeError, match="colour"):
        register(spark, snapshot, agent="GPTBot", colour="red")

    pages, out = SMALL / "pages.parquet", tmp_path / "out"
    with pytest.raises(ValueError, match="@nope"):
        annotate_files(spark, snapshot, pages, out, "@nope")
    with pytest.raises((ValueError, robosieve.RobosieveError), match=r'pages.parquet.* no column "urll"'):
        annotate_files(spark, snapshot, pages, out, "GPTBot", field="urll")
    with pytest.raises(ValueError, match="a Parquet file takes bits or int8"):
        annotate_files(spark, snapshot, pages, out, "GPTBot", form="letters")
    with pytest.raises(TypeError, match="colour"):
        filter_files(spark, snapshot, pages, out, "GPTBot", colour="red")
    with pytest.raises(ValueError, match="partitions=0"):
        filter_files(spark, snapshot, pages, out, "GPTBot", partitions=0)
    with pytest.raises(ValueError, match="no output directory"):
        filter_files(spark, snapshot, pages, None, "GPTBot")
    assert not out.exists()


def test_missing_pyspark_is_an_import_error(tmp_path):
    code = "import sys; sys.modules['pyspark'] = None; import robosieve.spark as s; s.register(None, 'x', agent='y')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": package_path()}
    )
    message = 'robosieve.spark needs PySpark, which is missing: pip install "pyspark>=3.5" pyarrow pandas'
    assert f"ImportError: {message}" in done.stderr


def test_missing_pandas_is_an_error_before_pyspark_4_1(spark_environment):
    code = "import sys; sys.modules['pandas'] = None; from robosieve.spark._functions import column_function as c; "
    done = subprocess.run([sys.executable, "-c", code + "c(None, lambda urls: urls, 'int')"], capture_output=True, text=True)
    message = "passes columns to Python as pandas series, and pandas is missing: pip install pandas"
    assert (message in done.stderr) == (not has_arrow_functions())


def package_path():
    return str(Path(robosieve.__file__).parents[1])


def test_archives_of_pages_equal_the_command_line(spark, program, snapshot, urls, tmp_path):
    """WARC files are filtered with their gzip members, and annotated as lists."""
    pages = tmp_path / "pages"
    pages.mkdir()
    for part in range(3):
        records = []
        for url in [url for url in urls[part::3] if not set(url) & set("\r\n")]:
            head = f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {url}\r\nContent-Length: 2\r\n\r\nab"
            records.append(gzip.compress(head.encode() + b"\r\n\r\n"))
        (pages / f"{part}.warc.wet.gz").write_bytes(b"".join(records))
    counts = filter_files(spark, snapshot, pages, tmp_path / "kept", "GPTBot", disallowed_to=tmp_path / "refused")
    annotated = annotate_files(spark, snapshot, pages, tmp_path / "lines", "GPTBot")
    assert counts["files"] == 3 and counts["lines"] == annotated["lines"] > 300
    common = ["-q", "-s", snapshot, "-a", "GPTBot", pages]
    run(program, "filter", *common, "--out-dir", tmp_path / "kept2", "--disallowed-to", tmp_path / "refused2")
    run(program, "annotate", *common, "--out-dir", tmp_path / "lines2")
    for name in ["0.warc.wet.gz", "1.warc.wet.gz", "2.warc.wet.gz"]:
        lines_name = name.replace(".gz", ".tsv.gz")
        for directory, output in [("kept", name), ("refused", name), ("lines", lines_name)]:
            expected = (tmp_path / f"{directory}2" / output).read_bytes()
            assert (tmp_path / directory / output).read_bytes() == expected, (directory, output)


def test_files_equal_the_command_line(spark, program, snapshot, urls, table, tmp_path):
    lists = tmp_path / "lists"
    write_gzip(lists / "day=1" / "a.txt.gz", urls[::2])
    write_gzip(lists / "day=2" / "a.txt.gz", urls[1::2])
    (lists / "day=2" / "empty.txt").write_bytes(b"")
    (lists / "day=2" / "_SUCCESS").write_bytes(b"")
    out = tmp_path / "out"
    counts = annotate_files(spark, snapshot, [lists, table], out, AGENTS, form=None)
    assert counts["files"] == 7 and counts["lines"] == 2 * len(urls) and len(counts["agent_allowed"]) == 5
    for name in ["day=1/a.txt.gz", "day=2/a.txt.gz"]:
        printed = run(program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, lists / name)
        assert lines(out / name) == printed.splitlines()
    for part in table.iterdir():
        run(program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, "-o", tmp_path / part.name, part)
        assert (out / part.name).read_bytes() == (tmp_path / part.name).read_bytes()
    assert (out / "day=2" / "empty.txt").read_bytes() == b""
    assert (out / "_SUCCESS").read_bytes() == b"" and not hidden(out)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        annotate_files(spark, snapshot, lists, out, AGENTS)
    again = annotate_files(spark, snapshot, [lists, table], out, AGENTS, overwrite=True, partitions=2)
    assert again == counts and not hidden(out)


def test_files_are_filtered_by_own_lists(spark, program, snapshot, urls, tmp_path, monkeypatch):
    host = max(set(url.split(b"/")[2] for url in urls if url.count(b"/") > 2), key=b"".join(urls).count)
    (tmp_path / "own").write_bytes(host + b"\n")
    run(program, "lists", "-q", "-o", tmp_path / "own.rlists", tmp_path / "own")
    for part in range(2):
        write_gzip(tmp_path / "lists" / f"{part}.txt.gz", urls[part::2])
    # The driver's directory is not that of a task.
    monkeypatch.chdir(tmp_path)
    common = [spark, snapshot, tmp_path / "lists"]
    counts = filter_files(*common, "kept", "GPTBot", listed_to="listed", lists="own.rlists")
    opened = robosieve.Lists("own.rlists")
    annotated = annotate_files(*common, "lines", "GPTBot", form="jsonl", add="list", lists=opened)
    assert counts["listed"] == annotated["listed"] > 0
    assert counts["listed_by"] == annotated["listed_by"] == {"own": counts["listed"]}
    total = 0
    for part in range(2):
        source = urls[part::2]
        listed = [url for url, reason in zip(source, opened.match(source)) if reason]
        assert lines(tmp_path / "listed" / f"{part}.txt.gz") == listed
        rows = [json.loads(line) for line in lines(tmp_path / "lines" / f"{part}.txt.gz")]
        assert [row["robots_list"] == "own" for row in rows].count(True) == len(listed)
        assert not set(listed) & set(lines(tmp_path / "kept" / f"{part}.txt.gz"))
        total += len(listed)
    assert total == counts["listed"]
    with pytest.raises(ValueError, match="give them: lists="):
        filter_files(*common, "other", "GPTBot", listed_to="x")
    # As a column.
    text = [url.decode("utf-8", "replace") for url in urls[:300]]
    frame = spark.createDataFrame([(url,) for url in text], "url string")
    rows = with_verdicts(frame, snapshot, "GPTBot", form="int8", lists="own.rlists").collect()
    assert rows[0].__fields__ == ["url", "robots_GPTBot", "robots_listed"]
    found = {row.url: (row.robots_GPTBot, row.robots_listed) for row in rows}
    verdicts = robosieve.Snapshot(snapshot).verdicts(text, "GPTBot")
    assert found == dict(zip(text, zip(verdicts, opened.match(text))))
    named = with_verdicts(frame, snapshot, "GPTBot", name="may", lists=opened)
    assert named.columns == ["url", "may", "may_listed"]


def test_filtered_files_equal_the_command_line(spark, program, snapshot, urls, tmp_path):
    lists = tmp_path / "lists"
    for part in range(3):
        write_gzip(lists / f"{part}.txt.gz", [*urls[part::3], b"no url"])
    outputs = {name: tmp_path / name for name in ["kept", "dropped", "unknown", "invalid"]}
    counts = filter_files(
        spark, snapshot, f"{lists}/*.gz", outputs["kept"], "GPTBot,CCBot", require="any", partitions=2,
        disallowed_to=outputs["dropped"], unknown_to=outputs["unknown"], invalid_to=outputs["invalid"],
    )  # fmt: skip
    for part in range(3):
        name = f"{part}.txt.gz"
        expected = {output: tmp_path / f"{output}-{part}.txt" for output in outputs}
        run(
            program, "filter", "-q", "-s", snapshot, "-a", "GPTBot,CCBot", "--require", "any", "-o", expected["kept"],
            "--disallowed-to", expected["dropped"], "--unknown-to", expected["unknown"],
            "--invalid-to", expected["invalid"], lists / name,
        )  # fmt: skip
        for output, directory in outputs.items():
            assert lines(directory / name) == lines(expected[output]), (output, name)
    assert counts["lines"] == len(urls) + 3
    assert all((directory / "_SUCCESS").exists() and not hidden(directory) for directory in outputs.values())


def test_a_damaged_input_stops_no_other(spark, snapshot, urls, tmp_path):
    lists, out = tmp_path / "lists", tmp_path / "out"
    for part in range(3):
        write_gzip(lists / f"{part}.txt.gz", urls[:1000])
    whole = (lists / "1.txt.gz").read_bytes()
    (lists / "1.txt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputsError, match="1 of 3 inputs failed") as caught:
        annotate_files(spark, snapshot, lists, out, "GPTBot")
    assert list(caught.value.failures) == [str(lists / "1.txt.gz")]
    assert caught.value.counts["lines"] == 2000 and caught.value.counts["files"] == 2
    assert sorted(path.name for path in out.iterdir()) == ["0.txt.gz", "2.txt.gz"]
    # The damaged file alone completes the directory.
    (lists / "1.txt.gz").write_bytes(whole)
    assert annotate_files(spark, snapshot, lists / "1.txt.gz", out, "GPTBot")["files"] == 1
    assert sorted(path.name for path in out.iterdir()) == ["0.txt.gz", "1.txt.gz", "2.txt.gz", "_SUCCESS"]


def processes():
    """The parent of each process."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                status = Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(status.rpartition(")")[2].split()[1])
    return parents


def executor_pids(spark, tasks=8):
    """The process ids of the executors, found by tasks: the parent of a worker is PySpark's daemon,
    and the parent of the daemon is the executor."""

    def find(batches):
        import pyarrow

        for _ in batches:
            time.sleep(0.3)
            daemon = Path("/proc", str(os.getppid()), "stat").read_text()
            yield pyarrow.RecordBatch.from_pydict({"pid": [int(daemon.rpartition(")")[2].split()[1])]})

    return sorted({row.pid for row in spark.range(0, tasks, 1, tasks).mapInArrow(find, "pid bigint").collect()})


def workers_with_open(executor, prefix):
    """Descendants of the executor that have a file open whose path has this prefix."""
    parents = processes()
    found = []
    for pid in parents:
        ancestor = pid
        while ancestor not in (0, executor):
            ancestor = parents.get(ancestor, 0)
        if ancestor != executor:
            continue
        try:
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        if any(link.startswith(prefix) for link in links):
            found.append(pid)
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes in /proc")
def test_a_killed_executor_costs_its_file_only(spark, program, snapshot, urls, tmp_path):
    lists, out, expected = tmp_path / "lists", tmp_path / "out", tmp_path / "expected"
    for part in range(12):
        write_gzip(lists / f"{part:02}.txt.gz", (urls[part:] + urls[:part]) * 4)
    executors = executor_pids(spark)
    assert len(executors) == 2
    print(f"\nexecutors {executors}, 12 files")
    job = {}

    def work():
        spark.sparkContext.setJobGroup("kill", "annotate_files")
        try:
            job["counts"] = annotate_files(spark, snapshot, lists, out, AGENTS)
        except BaseException as err:
            job["error"] = err

    tracker = spark.sparkContext.statusTracker()

    def stage():
        jobs = tracker.getJobIdsForGroup("kill")
        return tracker.getStageInfo(tracker.getJobInfo(max(jobs)).stageIds[0]) if jobs else None

    start = time.monotonic()
    thread = threading.Thread(target=work)
    thread.start()
    killed = None
    while thread.is_alive() and killed is None:
        time.sleep(0.05)
        if len(list(out.glob("*.gz"))) >= 3:
            for executor in executors:
                if workers := workers_with_open(executor, f"{out}{os.sep}.robosieve-"):
                    before, killed = stage(), executor
                    os.kill(executor, signal.SIGKILL)
                    break
    at, complete = time.monotonic() - start, len(list(out.glob("*.gz")))
    thread.join(timeout=120)
    assert "error" not in job, job["error"]
    assert killed is not None, "the job ended before an executor was killed"
    # The tracker learns of the last tasks a little later than the job.
    deadline = time.monotonic() + 10
    while (after := stage()).numCompletedTasks < 12 and time.monotonic() < deadline:
        time.sleep(0.1)
    print(f"{at:.1f} s: kill -9 {killed}, while its worker {workers[0]} was writing a file")
    print(f"  outputs {complete} of 12, tasks finished {before.numCompletedTasks}, running {before.numActiveTasks}")
    print(f"{time.monotonic() - start:.1f} s: tasks finished {after.numCompletedTasks}, lost {after.numFailedTasks}")
    assert after.numCompletedTasks == 12 and after.numFailedTasks >= 1
    left = executor_pids(spark)
    print(f"executors afterwards {left}")
    assert killed not in left

    printed = run(
        program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, "--out-dir", expected, *sorted(lists.iterdir())
    )
    assert printed == b""
    files = sorted(path.name for path in out.iterdir())
    assert files == [*(f"{part:02}.txt.gz" for part in range(12)), "_SUCCESS"], "something partial was left"
    for part in range(12):
        assert lines(out / f"{part:02}.txt.gz") == lines(expected / f"{part:02}.txt.gz")
    assert job["counts"]["lines"] == 12 * 4 * len(urls) and job["counts"]["files"] == 12
    print("12 files equal those of the command line; nothing else is left")


FETCHED = 1_767_225_600
COLUMNS = ["url", "fetched_at", "status", "body", "location", "max_age", "error"]


def captures(part, count):
    """Captures of every kind. Hosts of several parts are the same, at other times."""
    for number in range(count):
        host = (part * 7 + number * 13) % (count * 2)
        capture = {"url": f"https://h{host}.example/robots.txt", "fetched_at": FETCHED + number * 17 % 977}
        kind = (number + part) % 8
        if kind < 5:
            rules = "".join(f"Disallow: /{host % 50}/{line * kind}\n" for line in range(12))
            capture |= {"status": 200, "body": f"User-agent: *\n{rules}# {host}\n"}
        elif kind == 5:
            capture |= {"status": 301, "location": f"https://h{host // 2}.example/robots.txt", "max_age": number}
        elif kind == 6:
            capture |= {"status": [404, 503][number % 2], "max_age": number * 10**6}
        else:
            capture |= {"error": "timeout"}
        yield capture


def write_archive(path, rows):
    """Writes captures as JSON lines."""
    with gzip.open(path, "wt", compresslevel=1) as file:
        for row in rows:
            row = dict(row)
            names = {"location": "location", "max_age": "cache-control"}
            headers = {header: row.pop(name) for name, header in names.items() if name in row}
            if "cache-control" in headers:
                headers["cache-control"] = f"max-age={headers['cache-control']}"
            file.write(json.dumps(row | ({"headers": headers} if headers else {})) + "\n")


def test_compiled_snapshots_equal_the_command_line(spark, program, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    archives, inputs = tmp_path / "archives", tmp_path / "inputs"
    for directory in [archives, inputs / "day=1", inputs / "day=2"]:
        directory.mkdir(parents=True)
    for part in range(3):
        write_archive(archives / f"{part}.jsonl.gz", captures(part, 2000))
    # The same captures: an archive, a table with one more column, and a captures file.
    shutil.copy(archives / "0.jsonl.gz", inputs / "day=1" / "a.jsonl.gz")
    rows = list(captures(1, 2000))
    table = pa.table({name: [row.get(name) for row in rows] for name in [*COLUMNS, "other"]})
    parquet.write_table(table, inputs / "day=1" / "a.parquet", row_group_size=300)
    run(program, "captures", "-q", "-o", inputs / "day=2" / "a.captures", archives / "2.jsonl.gz")
    shutil.copy(SMALL / "robots.warc", inputs / "day=2" / "a.warc")
    shutil.copy(SMALL / "robots.warc", archives)
    old = tmp_path / "old.rsieve"
    run(program, "compile", "-q", "-o", old, SMALL / "more.jsonl")
    for options, arguments in [
        ({}, []),
        ({"as_of": "2026-01-01T00:05:00Z", "memory": 10_000, "partitions": 2}, ["--as-of", "2026-01-01T00:05:00Z"]),
        ({"profile": "rfc9309", "previous": old}, ["--profile", "rfc9309", "--previous", old]),
    ]:
        stats = tmp_path / "stats.json"
        expected = tmp_path / "expected.rsieve"
        run(program, "compile", "-q", "--stats-json", stats, "-o", expected, *arguments, *sorted(archives.iterdir()))
        report = compile_files(spark, inputs, tmp_path / "out.rsieve", **options)
        assert (tmp_path / "out.rsieve").read_bytes() == expected.read_bytes()
        assert not hidden(tmp_path)
        # Sizes of archives differ here, and a table and a captures file have no bodies of archives.
        wanted = json.loads(stats.read_text()) | {name: report[name] for name in ["bytes_in", "body_bytes"]}
        # What a file says of its run.
        del wanted["made_by"], wanted["arguments"]
        assert report == wanted and report["captures"] > 6000


def test_an_outage_is_counted_over_all_inputs(spark, tmp_path):
    """Each input has fewer failing origins than the limit counts from; the driver counts them together."""
    archives, old, out = tmp_path / "archives", tmp_path / "old.rsieve", tmp_path / "out.rsieve"
    archives.mkdir()
    compiler = robosieve.Compiler()
    for site in range(120):
        compiler.add_response(f"https://{site}.example/robots.txt", 404, fetched_at=1)
        with open(archives / f"{site % 4}.jsonl", "a", encoding="utf-8") as file:
            record = {"url": f"https://{site}.example/robots.txt", "error": "dns: no answer", "fetched_at": 2}
            print(json.dumps(record), file=file)
    compiler.write(old)
    with pytest.raises(robosieve.RobosieveError, match="120 of the 120 captured origins .*: dns 120"):
        compile_files(spark, archives, out, previous=old)
    assert not out.exists() and not hidden(tmp_path)
    assert compile_files(spark, archives, out, previous=old, max_failing=1)["newly_failing"] == 120
    # Inputs without a capture.
    (archives / "0.jsonl").write_text("\n")
    with pytest.raises(robosieve.RobosieveError, match="no capture of any /robots.txt"):
        compile_files(spark, archives / "0.jsonl", out, previous=old)


def test_captures_files_are_kept(spark, program, tmp_path):
    archives, kept, out = tmp_path / "archives", tmp_path / "kept", tmp_path / "out.rsieve"
    archives.mkdir()
    for part in range(2):
        write_archive(archives / f"{part}.jsonl.gz", captures(part, 500))
    compile_files(spark, archives, out, captures_dir=kept)
    names = [f"{part}.jsonl.gz.captures" for part in range(2)]
    assert sorted(path.name for path in kept.iterdir()) == [*names, "_SUCCESS"]
    for part, name in enumerate(names):
        run(program, "captures", "-q", "-o", tmp_path / "expected", archives / f"{part}.jsonl.gz")
        assert (kept / name).read_bytes() == (tmp_path / "expected").read_bytes()
    whole = out.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        compile_files(spark, archives, out, captures_dir=kept)
    compile_files(spark, archives, out, captures_dir=kept, overwrite=True)
    # Captures files need no tasks.
    compile_files(spark, kept, tmp_path / "again.rsieve")
    assert (tmp_path / "again.rsieve").read_bytes() == out.read_bytes() == whole


def test_relative_paths_are_those_of_the_driver(spark, tmp_path, monkeypatch):
    write_archive(tmp_path / "a.jsonl.gz", captures(0, 500))
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    # So little memory that tasks need temporary files.
    compile_files(spark, "a.jsonl.gz", "web.rsieve", captures_dir="kept", temp_dir="temporary", memory=1 << 12)
    assert (tmp_path / "web.rsieve").exists() and (tmp_path / "kept" / "a.jsonl.gz.captures").exists()


def test_compilations_refuse_bad_inputs(spark, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    archives, out = tmp_path / "archives", tmp_path / "out.rsieve"
    archives.mkdir()
    write_archive(archives / "0.jsonl.gz", captures(0, 50))
    (archives / "1.txt").write_text("https://a.example/\n")
    parquet.write_table(pa.table({"x": [1]}), archives / "2.parquet")
    damaged = gzip.compress(b'{"url": "https://a.example/robots.txt", "status": 404}\n') + b"\x1f\x8bdamage"
    (archives / "3.jsonl.gz").write_bytes(damaged)
    with pytest.raises(InputsError, match="3 of 4 inputs failed") as caught:
        compile_files(spark, archives, out)
    failures = caught.value.failures
    assert "neither WARC nor JSONL" in failures[str(archives / "1.txt")]
    assert "no column of URLs or domains" in failures[str(archives / "2.parquet")]
    assert "damaged at byte" in failures[str(archives / "3.jsonl.gz")]
    assert not out.exists() and not hidden(tmp_path)
    report = compile_files(spark, [archives / "0.jsonl.gz", archives / "3.jsonl.gz"], out, skip_damaged=True)
    assert (report["inputs"], report["captures"], report["damaged"]) == (2, 51, 1)
    archive = archives / "0.jsonl.gz"
    with pytest.raises(robosieve.RobosieveError, match="would overwrite the input"):
        compile_files(spark, archive, archive)
    with pytest.raises(robosieve.RobosieveError, match="among the inputs"):
        compile_files(spark, archives, out, captures_dir=archives / "captures")
    with pytest.raises(ValueError, match="profile="):
        compile_files(spark, archive, out, profile="bing")
    with pytest.raises(ValueError, match="partitions=0"):
        compile_files(spark, archive, out, partitions=0)


def test_tables_of_spark_are_compiled_at_the_driver(spark, program, tmp_path):
    archive, rows = tmp_path / "web.jsonl.gz", list(captures(0, 500))
    write_archive(archive, rows)
    schema = "url string, fetched_at bigint, status int, body string, location string, max_age bigint, error string"
    frame = spark.createDataFrame([[row.get(name) for name in COLUMNS] for row in rows], schema)
    compiler = robosieve.Compiler()
    assert compiler.add(frame.limit(0)) == 0
    assert compiler.add(frame) == 500
    compiler.write(tmp_path / "out.rsieve")
    run(program, "compile", "-q", "-o", tmp_path / "expected.rsieve", archive)
    assert (tmp_path / "out.rsieve").read_bytes() == (tmp_path / "expected.rsieve").read_bytes()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes in /proc")
def test_a_killed_executor_does_not_change_the_snapshot(spark, program, tmp_path):
    archives, kept, out = tmp_path / "archives", tmp_path / "kept", tmp_path / "out.rsieve"
    archives.mkdir()
    for part in range(12):
        write_archive(archives / f"{part:02}.jsonl.gz", captures(part, 60_000))
    executors = executor_pids(spark)
    job = {}

    def work():
        spark.sparkContext.setJobGroup("kill compile", "compile_files")
        try:
            job["report"] = compile_files(spark, archives, out, captures_dir=kept)
        except BaseException as err:
            job["error"] = err

    thread = threading.Thread(target=work)
    thread.start()
    killed = None
    while thread.is_alive() and killed is None:
        time.sleep(0.01)
        if len(list(kept.glob("*.captures"))) >= 3:
            for executor in executors:
                if workers_with_open(executor, f"{archives}{os.sep}"):
                    killed = executor
                    os.kill(executor, signal.SIGKILL)
                    break
    complete = len(list(kept.glob("*.captures")))
    thread.join(timeout=300)
    assert "error" not in job, job["error"]
    assert killed is not None, "the job ended before an executor was killed"
    tracker = spark.sparkContext.statusTracker()
    stage = tracker.getStageInfo(tracker.getJobInfo(max(tracker.getJobIdsForGroup("kill compile"))).stageIds[0])
    print(f"\nkill -9 {killed} with {complete} of 12 captures files; tasks lost {stage.numFailedTasks}")
    assert stage.numFailedTasks >= 1 and killed not in executor_pids(spark)
    assert len(list(kept.iterdir())) == 13 and not hidden(tmp_path), "something partial was left"
    run(program, "compile", "-q", "-o", tmp_path / "expected.rsieve", *sorted(archives.iterdir()))
    assert out.read_bytes() == (tmp_path / "expected.rsieve").read_bytes()
    assert job["report"]["captures"] == 12 * 60_000


def copy_at_once(source, directory, barrier, copies):
    barrier.wait()
    path = robosieve.node_copy(source, directory)
    copies.put((path, os.stat(path).st_ino))


def test_several_processes_make_one_copy(snapshot, tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, copies = context.Barrier(4), context.Queue()
    arguments = (snapshot, tmp_path / "node", barrier, copies)
    workers = [context.Process(target=copy_at_once, args=arguments) for _ in range(4)]
    for worker in workers:
        worker.start()
    found = {copies.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()
    assert len(found) == 1
    assert [path.suffix for path in sorted((tmp_path / "node").iterdir())] == [".lock", ".rsieve", ".verified"]


def test_node_copy_and_shipped_snapshot(spark, snapshot, table, letters, tmp_path):
    # The executors get the snapshot from Spark, and no other file has its name.
    shipped = tmp_path / "shipped-to-executors.rsieve"
    shutil.copy(snapshot, shipped)
    spark.sparkContext.addFile(str(shipped))
    node = tmp_path / "node"
    frame = with_verdicts(
        spark.read.parquet(str(table)), snapshot, "GPTBot", form="int8", node_directory=node, executor_path=shipped.name
    )
    (codes,) = in_order(frame, "robots_GPTBot")
    assert "".join(LETTERS[code] for code in codes) == "".join(row[2] for row in letters)
    (copy,) = node.glob("*.rsieve")
    inode = copy.stat().st_ino
    out = tmp_path / "out"
    counts = annotate_files(spark, snapshot, table, out, "GPTBot", node_directory=node, executor_path=shipped.name)
    assert counts["allowed"] == sum(row[2] == "A" for row in letters)
    assert [path.stat().st_ino for path in node.glob("*.rsieve")] == [inode]


def test_int8_columns_of_all_ways_are_the_same(spark, program, snapshot, table, letters, tmp_path):
    frame = spark.read.parquet(str(table))
    columns = [f"robots_{agent}" for agent in AGENTS.split(",")]
    expected = [[LETTERS.index(row[agent]) for row in letters] for agent in range(len(columns))]
    assert 2 in expected[0]
    assert in_order(with_verdicts(frame, snapshot, AGENTS, form="int8"), *columns) == expected
    annotate_files(spark, snapshot, table, tmp_path / "files", AGENTS, form="int8")
    assert in_order(spark.read.parquet(str(tmp_path / "files")), *columns) == expected
    (tmp_path / "command").mkdir()
    for part in table.iterdir():
        output = tmp_path / "command" / part.name
        run(program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, "--as", "int8", "-o", output, part)
    assert in_order(spark.read.parquet(str(tmp_path / "command")), *columns) == expected


def test_added_columns_of_all_ways_are_those_of_one_machine(spark, snapshot, table, tmp_path):
    add, agents = ["origin", "reason", "crawl_delay"], ["FooBot", "GPTBot"]
    columns = ["robots_origin", "robots_reason", "robots_crawl_delay_FooBot", "robots_crawl_delay_GPTBot"]
    frame = spark.read.parquet(str(table))
    (urls,) = in_order(frame, "url")
    opened = robosieve.Snapshot(snapshot)
    expected = [opened.origins(urls), opened.reasons(urls)] + [opened.crawl_delays(urls, agent) for agent in agents]
    assert all(len(set(values)) > 2 for values in expected)
    judged = with_verdicts(frame, snapshot, agents, add=add)
    assert judged.columns == ["url", "n", "robots_allowed", *columns]
    assert [field.dataType.simpleString() for field in judged.schema[3:]] == ["string", "string", "double", "double"]
    assert in_order(judged, *columns) == expected
    annotate_files(spark, snapshot, table, tmp_path / "files", agents, add=add)
    assert in_order(spark.read.parquet(str(tmp_path / "files")), *columns) == expected

    register_origin(spark)
    reason = register_reason(spark, snapshot, name="reason_strict", status_policy="strict", any_scheme=True)
    register_reason(spark, snapshot)
    frame.createOrReplaceTempView("added")
    query = spark.sql("SELECT n, robots_origin(url) AS o, robots_reason(url) AS r, reason_strict(url) AS s FROM added")
    strict = opened.reasons(urls, status_policy="strict", any_scheme=True)
    assert in_order(query, "o", "r", "s") == [*expected[:2], strict]
    assert in_order(frame.withColumn("s", reason("url")), "s") == [strict]


def test_added_columns_of_nulls_bytes_and_names(spark, snapshot):
    frame = spark.createDataFrame([(1, b"HTTPS://A.example:443/x"), (2, None), (3, b"\xff")], "n int, url binary")
    judged = with_verdicts(frame, snapshot, "FooBot", form="int8", name="v_", add="origin")
    assert judged.columns == ["n", "url", "v_FooBot", "v_origin"]
    assert in_order(judged, "v_origin") == [["https://a.example", None, None]]
    judged = with_verdicts(frame, snapshot, "FooBot", name="may", add=["crawl_delay", "reason"])
    assert judged.columns == ["n", "url", "may", "may_reason", "may_crawl_delay_FooBot"]
    setting = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(setting, "true")
    try:
        assert in_order(judged, "may_reason") == [["unknown-origin", None, "not-a-url"]]
        assert in_order(judged, "may_crawl_delay_FooBot") == [[None, None, None]]
    finally:
        spark.conf.unset(setting)
    with pytest.raises(ValueError, match="add='reasn'; give some of 'origin', 'reason', 'crawl_delay'"):
        with_verdicts(frame, snapshot, "FooBot", add=["reasn"])
    with pytest.raises(ValueError, match="a column 'robots_origin' already"):
        with_verdicts(frame.withColumnRenamed("n", "robots_origin"), snapshot, "FooBot", add="origin")
    with pytest.raises(ValueError, match="status_policy"):
        register_reason(spark, snapshot, status_policy="lenient")


def test_the_driver_warns_of_misspelled_agents_once(spark, snapshot, table, tmp_path):
    frame = spark.read.parquet(str(table))
    opened = [robosieve.Snapshot(snapshot) for _ in range(4)]
    calls = {
        lambda **options: register(spark, opened[0], agent="Googelbot", **options): line(),
        lambda **options: with_verdicts(frame, opened[1], "GPTBot,Googelbot", **options).collect(): line(),
        lambda **options: with_verdicts(frame, opened[2], "GPTBot,Googelbot", form="int8", **options): line(),
        lambda **options: annotate_files(spark, opened[3], table, tmp_path / "a", "Googelbot", **options): line(),
        lambda **options: filter_files(spark, snapshot, table, tmp_path / "f", "Googelbot", **options): line(),
    }
    for call, called_at in calls.items():
        with pytest.raises(ValueError, match="names Googelbot; did you mean Googlebot. .strict_agents=True."):
            call(strict_agents=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            opened[:] = [robosieve.Snapshot(snapshot) for _ in opened]
            call()
        found = [warning for warning in caught if "did you mean Googlebot?" in str(warning.message)]
        assert [(warning.filename, warning.lineno) for warning in found] == [(__file__, called_at)]


def line():
    """The line of the caller."""
    return sys._getframe(1).f_lineno


def test_workers_verify_the_snapshot(spark, snapshot, table, tmp_path):
    path = tmp_path / "web.rsieve"
    shutil.copy(snapshot, path)
    ways = {
        True: with_verdicts(spark.read.parquet(str(table)), path, "GPTBot"),
        False: with_verdicts(spark.read.parquet(str(table)), robosieve.Snapshot(path, verify=False), "GPTBot"),
    }
    data = bytearray(path.read_bytes())
    # The name of the tool that wrote it. The checksum of the header, which tasks compare, stays.
    data[data.index(b'"tool"') + len('"tool":"r')] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    os.replace(tmp_path / "damaged", path)
    with pytest.raises(Exception, match="damaged snapshot"):
        ways[True].collect()
    assert len(ways[False].collect()) == spark.read.parquet(str(table)).count()


def test_tasks_refuse_another_snapshot(spark, snapshot, program, table, tmp_path):
    path = tmp_path / "web.rsieve"
    shutil.copy(snapshot, path)
    frame = with_verdicts(spark.read.parquet(str(table)), path, "GPTBot")
    run(program, "compile", "-q", "-o", tmp_path / "other.rsieve", SMALL / "more.jsonl")
    os.replace(tmp_path / "other.rsieve", path)
    with pytest.raises(Exception, match="another snapshot .* than the driver's"):
        frame.collect()
    # No input is at fault, so the task fails.
    with pytest.raises(Exception, match="nowhere.rsieve: No such file") as caught:
        annotate_files(spark, snapshot, table, tmp_path / "out", "GPTBot", executor_path=tmp_path / "nowhere.rsieve")
    assert not isinstance(caught.value, InputsError)
    assert os.listdir(tmp_path / "out") == []


def test_a_source_pickles_without_the_snapshot(snapshot, tmp_path):
    opened, source = snapshot_source(snapshot, tmp_path / "node", None)
    copy = pickle.loads(pickle.dumps(source))
    assert copy == source and not (tmp_path / "node").exists()
    assert copy.open().checksum == opened.checksum and copy.open() is source.open()
    assert copy.open().path.startswith(str(tmp_path / "node"))


def test_tasks_copy_the_file_that_the_driver_has_a_copy_of(snapshot, tmp_path):
    opened = robosieve.Snapshot(snapshot, node_directory=tmp_path / "disk")
    _, source = snapshot_source(opened, None, None)
    assert (source.path, source.node_directory) == (str(snapshot), str(tmp_path / "disk"))
    # The file itself is guarded, too.
    assert Call("annotate", (opened, source), ["GPTBot"], {}).snapshot_path == str(snapshot)


def output_directory(path):
    path.mkdir()
    return LocalDirectory(str(path), str(path / ".robosieve-run"))


def test_attempts_share_no_file_and_orphans_write_nothing(snapshot, urls, tmp_path):
    source = tmp_path / "urls.txt"
    source.write_bytes(b"".join(url + b"\n" for url in urls))
    call = Call("annotate", snapshot_source(snapshot, None, None), ["GPTBot"], {})
    expected, out = tmp_path / "expected.txt", output_directory(tmp_path / "out")
    counts = robosieve.annotate(snapshot, source, expected, "GPTBot")
    out.start(find_inputs(source).files)
    with ThreadPoolExecutor(4) as attempts:
        work = [attempts.submit(_write_outputs, call, [out], 1, str(source), "urls.txt") for _ in range(8)]
        assert [attempt.result() for attempt in work] == [counts] * 8
    assert (tmp_path / "out" / "urls.txt").read_bytes() == expected.read_bytes()
    assert not os.listdir(out.staging)
    out.remove_staging()
    (tmp_path / "out" / "urls.txt").unlink()
    with pytest.raises(FileNotFoundError, match="the run has ended"):
        _write_outputs(call, [out], 1, str(source), "urls.txt")
    assert os.listdir(tmp_path / "out") == []


def test_an_orphan_that_ends_after_its_run_writes_nothing(tmp_path):
    out = output_directory(tmp_path / "out")
    out.start([])
    source = touch(tmp_path / "urls.txt")

    def ends_later(path, outputs, threads):
        Path(outputs[0]).write_bytes(b"late")
        out.remove_staging()
        return {}

    with pytest.raises(FileNotFoundError):
        _write_outputs(ends_later, [out], 1, str(source), "urls.txt")
    assert os.listdir(tmp_path / "out") == []


def test_small_files_share_tasks():
    files = [InputFile(f"/in/{size}", str(size), size) for size in [1, 9, 4, 0, 5, 0]]
    groups = _groups(files, 2)
    assert [[file[2] for file in group] for group in groups] == [["9", "1", "0"], ["5", "4", "0"]]
    assert sorted(file[0] for group in groups for file in group) == list(range(6))
    assert len(_groups(files, None)) == len(_groups(files, 100)) == 6


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"https://e.example/\n")
    return path


def named(paths):
    return [file.name for file in find_inputs(paths).files]


def test_inputs_of_directories_and_globs_keep_their_partitions(tmp_path):
    for name in ["a.txt", "day=1/b.txt", "day=2/c.gz", "_SUCCESS", ".hidden", "_temporary/d.txt", "day=2/_metadata"]:
        touch(tmp_path / "in" / name)
    # Spark skips the first, which is not complete, and reads the second.
    touch(tmp_path / "in" / "e.txt._COPYING_")
    touch(tmp_path / "in" / "_day=3" / "f.txt")
    everything = ["_day=3/f.txt", "a.txt", "day=1/b.txt", "day=2/c.gz"]
    assert named(f"{tmp_path}/in/**") == everything
    (tmp_path / "in" / "day=1" / "loop").symlink_to(tmp_path / "in")
    assert named(tmp_path / "in") == everything
    assert named([f"{tmp_path}/in/day=*/*.gz", tmp_path / "in" / "a.txt"]) == ["day=2/c.gz", "a.txt"]
    assert named(tmp_path / "in" / "_SUCCESS") == ["_SUCCESS"]
    literal = touch(tmp_path / "[1].txt")
    assert named(literal) == ["[1].txt"]
    empty = tmp_path / "empty"
    empty.mkdir()
    for missing in ["missing.txt", "*.zst", "empty"]:
        with pytest.raises(FileNotFoundError, match="no file"):
            find_inputs(tmp_path / missing)
    with pytest.raises(ValueError, match="no input"):
        find_inputs([])
    for url in ["dbfs:/a", "alluxio:/a"]:
        with pytest.raises(ValueError, match="with_verdicts takes all"):
            find_inputs(url)
    with pytest.raises(ValueError, match="write the path alone: /data/a"):
        find_inputs("file:///data/a")


def test_tables_with_a_log_are_refused(tmp_path):
    metadata = "00000-f463ba78-a472-4032-a02a-4cedf9c8ccf3.metadata.json"
    logs = {
        "Delta Lake": ("delta", "", "_delta_log/00000000000000000000.json"),
        "Hudi": ("hudi", "", ".hoodie/hoodie.properties"),
        "Iceberg": ("ice", "data/", f"metadata/{metadata}"),
    }
    for kind, (table, data, log) in logs.items():
        touch(tmp_path / "all" / table / log)
        file = touch(tmp_path / "all" / table / f"{data}lang=de/part-0.snappy.parquet")
        root = tmp_path / "all" / table
        globs = [f"{root}/**/*.parquet", f"{root}/{data}*", f"{tmp_path}/*/{table}"]
        for path in [root, root / data, file.parent, *globs]:
            with pytest.raises(robosieve.RobosieveError, match=f"belongs to the {kind} table {root}, "):
                find_inputs(path)
        assert named(file) == ["part-0.snappy.parquet"]
        with pytest.raises(robosieve.RobosieveError, match="belongs to the"):
            find_inputs(tmp_path / "all")
    # Other metadata.
    touch(tmp_path / "plain" / "metadata" / "crawl.metadata.json")
    touch(tmp_path / "plain" / "data" / "a.txt")
    assert named(tmp_path / "plain" / "data") == ["a.txt"]


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "zstd", "lz4", "lz4_raw"])
def test_files_that_spark_names_are_judged(spark, snapshot, tmp_path, codec):
    rows = [(f"https://shop{row}.example/{row}", ["de", "a b", "x=y"][row % 3]) for row in range(30)]
    frame = spark.createDataFrame(rows, "url string, _lang string").coalesce(1)
    frame.write.option("compression", codec).partitionBy("_lang").parquet(str(tmp_path / "pages"))
    names = sorted(file.name for file in find_inputs(tmp_path / "pages").files)
    assert [os.path.dirname(name) for name in names] == ["_lang=a b", "_lang=de", "_lang=x%3Dy"]
    assert annotate_files(spark, snapshot, tmp_path / "pages", tmp_path / "all", "GPTBot")["lines"] == 30
    filter_files(spark, snapshot, tmp_path / "pages", tmp_path / "kept", "GPTBot", unknown="allow")
    for output in ("all", "kept"):
        found = spark.read.parquet(str(tmp_path / output)).select("url", "_lang").collect()
        assert sorted(map(tuple, found)) == sorted(rows)
        assert sorted(file.name for file in find_inputs(tmp_path / output).files) == names


def test_lists_that_spark_writes_are_judged_or_refused(spark, program, tmp_path):
    """A codec of Hadoop that is not read is refused. Snappy leaves parts of the text as it is."""
    found = SMALL.joinpath("urls.txt").read_bytes().decode("utf-8", "replace").splitlines()
    plain = [url for url in found if url.startswith("http") and not set(url) & set(',"\\\ufffd')] * 20
    frame = spark.createDataFrame([(url,) for url in plain], "url string").repartition(2)
    snapshot = tmp_path / "web.rsieve"
    run(program, "compile", "-q", "-o", snapshot, SMALL / "robots.warc", SMALL / "more.jsonl")
    verdicts = list(robosieve.Snapshot(snapshot).verdicts(plain, "GPTBot"))
    for layout in ["text", "csv", "json"]:
        for codec in ["none", "gzip", "bzip2", "deflate", "lz4", "snappy"]:
            pages, kept = tmp_path / f"{layout}-{codec}", tmp_path / f"{layout}-{codec}-kept"
            frame.write.format(layout).option("compression", codec).save(str(pages))
            if codec in ("none", "gzip"):
                counts = filter_files(spark, snapshot, pages, kept, "GPTBot")
                assert counts["files"] == 2 and counts["lines"] == len(plain), (layout, codec)
                assert spark.read.text(str(kept)).count() == counts["allowed"] == verdicts.count(1) > 0
            else:
                with pytest.raises(InputsError, match="(?s)2 of 2 inputs failed.*decompress it first"):
                    filter_files(spark, snapshot, pages, kept, "GPTBot")
                assert os.listdir(kept) == []


def test_outputs_that_would_harm_are_refused(tmp_path):
    snapshot = str(touch(tmp_path / "web.rsieve"))
    first, second = touch(tmp_path / "1" / "a.txt"), touch(tmp_path / "2" / "a.txt")
    out = str(tmp_path / "out")

    def check(paths, *directories, overwrite=True):
        check_outputs(find_inputs(paths), list(directories), snapshot, overwrite)

    check([first], out)
    with pytest.raises(ValueError, match="would have one output"):
        check([first, second], out)
    with pytest.raises(ValueError, match="named twice"):
        check([first, first], out)
    with pytest.raises(ValueError, match="two outputs share a directory"):
        check([first], out, out)
    with pytest.raises(robosieve.RobosieveError, match="would overwrite"):
        check([first], str(tmp_path / "1"))
    with pytest.raises(robosieve.RobosieveError, match="among the inputs"):
        check(tmp_path / "1", str(tmp_path / "1" / "deep" / "out"))
    (tmp_path / "link").symlink_to(tmp_path / "1")
    with pytest.raises(robosieve.RobosieveError, match="among the inputs"):
        check(tmp_path / "1", str(tmp_path / "link"))
    (tmp_path / "out").mkdir()
    os.link(second, tmp_path / "out" / "a.txt")
    check([first], out)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        check([first], out, overwrite=False)
    with pytest.raises(robosieve.RobosieveError, match="would overwrite"):
        check([second], out)
    touch(tmp_path / "3" / "web.rsieve")
    with pytest.raises(robosieve.RobosieveError, match="would overwrite .*web.rsieve"):
        check([tmp_path / "3" / "web.rsieve"], str(tmp_path))
    touch(tmp_path / "4" / "a.txt" / "b")
    with pytest.raises(ValueError, match="would be a directory of the other"):
        check([first, tmp_path / "4"], out + "2")


def run_module(command, *arguments):
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True)


def test_the_command_runs_by_itself_and_under_spark_submit(spark_environment, program, snapshot, urls, tmp_path):
    source = tmp_path / "urls.txt"
    urls = [*urls, b"https://nowhere.invalid/"]
    source.write_bytes(b"".join(url + b"\n" for url in urls))
    module = [sys.executable, "-m", "robosieve.spark"]
    shared = ["-s", snapshot, "-a", "GPTBot,CCBot"]
    conf = ["--conf", "spark.ui.enabled=false"]
    done = run_module(module, "annotate", "--master", "local[2]", *conf, *shared, "-o", tmp_path / "annotated", source)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"files 1  lines {len(urls):,}  allowed ")
    expected = run(program, "annotate", "-q", *shared, source)
    assert (tmp_path / "annotated" / "urls.txt").read_bytes() == expected

    script = run_module(module, "--script").stdout.strip()
    submit = [os.path.join(os.environ["SPARK_HOME"], "bin", "spark-submit"), "--master", "local[2]", *conf, script]
    dropped = ["--disallowed-to", tmp_path / "dropped", "--scheme", "any"]
    done = run_module(submit, "filter", *shared, *dropped, "-o", tmp_path / "kept", source)
    assert done.returncode == 0, done.stderr
    run(
        program, "filter", "-q", *shared, "--scheme", "any", "-o", tmp_path / "kept.txt",
        "--disallowed-to", tmp_path / "dropped.txt", source,
    )  # fmt: skip
    for output in ["kept", "dropped"]:
        assert (tmp_path / output / "urls.txt").read_bytes() == (tmp_path / f"{output}.txt").read_bytes()
    # The summary names the option that keeps the lines of unknown origins.
    unknown = re.search(r"unknown ([\d,]+)", done.stdout)[1]
    lines_ = "1 line" if unknown == "1" else f"{unknown} lines"
    hint = f"not written: {lines_} of unknown origins (--unknown allow keeps, --unknown-to DIR writes them)"
    assert unknown != "0" and hint in done.stdout


def test_the_command_compiles(spark_environment, program, tmp_path):
    module = [sys.executable, "-m", "robosieve.spark", "compile", "--master", "local[2]"]
    archives = [SMALL / "robots.warc", SMALL / "more.jsonl"]
    conf = ["--conf", "spark.ui.enabled=false", "--captures-dir", tmp_path / "kept"]
    done = run_module(module, *conf, "-o", tmp_path / "out.rsieve", *archives)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "files 2  captures 58  not urls 0  damaged 0  origins 48  robots.txt 29\n"
    run(program, "compile", "-q", "-o", tmp_path / "expected.rsieve", *archives)
    assert (tmp_path / "out.rsieve").read_bytes() == (tmp_path / "expected.rsieve").read_bytes()
    assert (tmp_path / "kept" / "robots.warc.captures").is_file()


def test_the_command_warns_of_misspelled_agents(spark_environment, snapshot, tmp_path):
    source = tmp_path / "urls.txt"
    source.write_text("https://e.example/\n")
    module = [sys.executable, "-m", "robosieve.spark", "annotate", "--master", "local[1]"]
    conf = ["--conf", "spark.ui.enabled=false", "-s", snapshot, "-a", "Googelbot", "-o"]
    done = run_module(module, *conf, tmp_path / "out", source)
    warning = f"robosieve.spark: warning: no robots.txt in {snapshot} names Googelbot; did you mean Googlebot?\n"
    assert done.returncode == 0 and warning in done.stderr, done.stderr
    done = run_module(module, *conf, tmp_path / "strict", "--strict-agents", source)
    assert done.returncode == 1 and "did you mean Googlebot? (strict_agents=True)" in done.stderr


def test_the_command_explains_itself():
    pytest.importorskip("pyspark")
    module = [sys.executable, "-m", "robosieve.spark"]
    assert "spark-submit --master yarn" in run_module(module, "--help").stdout
    for command, option in [("annotate", "--node-directory"), ("filter", "--keep"), ("compile", "--captures-dir")]:
        assert option in run_module(module, command, "--help").stdout
    code = "import sys; sys.modules['pyspark'] = None; import robosieve.spark.__main__ as m; sys.exit(m.main())"
    done = run_module([sys.executable, "-c", code], "annotate", "-s", "x", "-a", "y", "-o", "z", "urls.txt")
    assert done.returncode == 1 and done.stderr.startswith("robosieve.spark: robosieve.spark needs PySpark")
    done = run_module(module, "annotate", "-a", "GPTBot", "-o", "out", "urls.txt")
    assert done.returncode == 2 and "-s/--snapshot" in done.stderr


def test_documentation_shows_what_runs(spark, program, tmp_path):
    page = "docs/SPARK.md"
    source = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", source, re.DOTALL | re.MULTILINE)
    for directory in ["mnt/pages", "mnt/lists", "mnt/robotstxt", "local"]:
        (tmp_path / directory).mkdir(parents=True)
    run(program, "compile", "-q", "-o", tmp_path / "mnt/web.rsieve", SMALL / "robots.warc", SMALL / "more.jsonl")
    shutil.copy(SMALL / "pages.parquet", tmp_path / "mnt/pages/part-0.parquet")
    shutil.copy(SMALL / "urls.txt", tmp_path / "mnt/lists/urls.txt")
    for archive in ["robots.warc", "more.jsonl"]:
        shutil.copy(SMALL / archive, tmp_path / "mnt/robotstxt")
    text = "\n".join(blocks).replace("/mnt/", f"{tmp_path}/mnt/").replace("/local/", f"{tmp_path}/local/")
    test = doctest.DocTestParser().get_doctest(text, {"spark": spark}, page, page, 0)
    assert len(test.examples) >= 8
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
