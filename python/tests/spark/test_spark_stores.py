"""robosieve.spark on files of a store: executors in processes of their own, and moto's S3 server."""

from __future__ import annotations

import gzip
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import robosieve
from conftest import SMALL
from robosieve import RobosieveError
from robosieve._uris import join
from robosieve._cluster.outputs import StoreDirectory
from robosieve._cluster.paths import InputFile, find_inputs
from robosieve.spark import InputsError, annotate_files, compile_files, filter_files, register
from test_spark import spark, spark_environment  # noqa: F401
from test_store import Bucket, Refusing, bucket, server, staging  # noqa: F401

#: The names of the inputs below a directory, as Spark writes them.
NAMES = ["year=2025/a.txt", "year=2026/b.txt.gz", "year=2026/deep/c.parquet"]


@pytest.fixture
def uri(bucket: Bucket) -> Any:
    """The URI of a key, with the secrets that executors need: they do not have this environment."""
    return lambda key: secret(bucket.uri(key))


def secret(uri: str) -> str:
    return uri.replace("s3://", "s3://test:test@") + "&region=us-east-1"


@pytest.fixture
def tree(bucket: Bucket, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, Path]:
    """The prefix and the directory of the same inputs, and of files that Spark skips."""
    prefix = re.sub(r"\W+", "-", request.node.name)
    contents = [(SMALL / "urls.txt").read_bytes(), gzip.compress(b"https://shop.example/cart\n" * 9)]
    contents += [(SMALL / "pages.parquet").read_bytes(), b"", b"not a list"]
    for name, content in zip([*NAMES, "_SUCCESS", "year=2026/.part.crc"], contents):
        local = tmp_path / "in" / name
        local.parent.mkdir(parents=True, exist_ok=True)
        local.write_bytes(content)
        bucket.put(f"{prefix}/in/{name}", content)
    return prefix, tmp_path / "in"


def test_files_of_stores_equal_those_of_mounts(
    spark: Any, bucket: Bucket, uri: Any, small: Path, tree: tuple[str, Path], tmp_path: Path
) -> None:
    prefix, local = tree
    bucket.put(f"{prefix}/web.rsieve", small.read_bytes())
    jobs: Any = [
        (annotate_files, "GPTBot,CCBot", {}, ["out"]),
        (filter_files, "GPTBot", {"unknown_to": "unknown", "invalid_to": "invalid"}, ["kept", "unknown", "invalid"]),
    ]
    for function, agents, more, outputs in jobs:
        there = {option: tmp_path / name for option, name in more.items()}
        expected = function(spark, small, local, tmp_path / outputs[0], agents, **there)
        stored = {option: uri(f"{prefix}/{name}") for option, name in more.items()}
        stored["node_directory"] = str(tmp_path / "copies")
        arguments = (uri(f"{prefix}/web.rsieve"), uri(f"{prefix}/in/"), uri(f"{prefix}/{outputs[0]}"), agents)
        assert function(spark, *arguments, **stored) == expected
        for output in outputs:
            assert bucket.keys(f"{prefix}/{output}/") == sorted(f"{prefix}/{output}/{n}" for n in [*NAMES, "_SUCCESS"])
            for name in NAMES:
                assert bucket.get(f"{prefix}/{output}/{name}") == (tmp_path / output / name).read_bytes(), name
    assert bucket.uploads() == []
    copies = [path.name for path in (tmp_path / "copies").glob("*.rsieve")]
    assert copies == [f"web-{robosieve.Snapshot(small).checksum}.rsieve"]


def test_mounts_and_stores_mix(
    spark: Any, bucket: Bucket, uri: Any, small: Path, tree: tuple[str, Path], tmp_path: Path
) -> None:
    prefix, local = tree
    counts = filter_files(spark, small, local, uri(f"{prefix}/kept"), "GPTBot", disallowed_to=tmp_path / "refused")
    assert counts["files"] == 3
    assert sorted(
        str(p.relative_to(tmp_path / "refused")) for p in (tmp_path / "refused").rglob("*") if p.is_file()
    ) == [
        "_SUCCESS",
        *NAMES,
    ]
    assert bucket.keys(f"{prefix}/kept/") == sorted(f"{prefix}/kept/{name}" for name in [*NAMES, "_SUCCESS"])
    # The SQL function takes a snapshot of a store, too.
    bucket.put(f"{prefix}/web.rsieve", small.read_bytes())
    snapshot, copies = uri(f"{prefix}/web.rsieve"), tmp_path / "copies"
    verdict = register(spark, snapshot, agent="GPTBot", node_directory=copies)
    frame = spark.createDataFrame([("https://shop.example/cart",), ("https://shop.example/",)], "url string")
    assert [row[0] for row in frame.select(verdict("url")).collect()] == [0, 1]


@pytest.mark.parametrize(
    "pattern",
    ["", "year=2026", "year=2026/", "*/", "*", "**", "**/*.txt*", "year=*/*.txt", "year=202[5]/*.txt", "**/deep"],
)
def test_inputs_are_named_as_those_of_mounts(bucket: Bucket, uri: Any, tree: tuple[str, Path], pattern: str) -> None:
    prefix, local = tree
    expected = find_inputs(f"{local}/{pattern}")
    found = find_inputs(uri(f"{prefix}/in/{pattern}"))
    assert [(file.name, file.size) for file in found.files] == [(file.name, file.size) for file in expected.files]
    assert len(found.files) > 0 and len(found.directories) == len(expected.directories)


def test_tables_with_a_log_are_refused(bucket: Bucket, uri: Any) -> None:
    metadata = "metadata/00000-f463ba78-a472-4032-a02a-4cedf9c8ccf3.metadata.json"
    logs = [("delta", "", "_delta_log/0.json"), ("hudi", "", ".hoodie/hoodie.properties"), ("ice", "data/", metadata)]
    for table, data, log in logs:
        bucket.put(f"tables/{table}/{log}", b"{}")
        bucket.put(f"tables/{table}/{data}_lang=de/part-0.snappy.parquet", b"PAR1")
        root = f"tables/{table}"
        for path in [root, f"{root}/{data}", f"{root}/{data}_lang=de", f"{root}/**/*.parquet", "tables/*/", "tables"]:
            with pytest.raises(RobosieveError, match="belongs to the .* table .*, whose files also hold rows"):
                find_inputs(uri(path))
        file = find_inputs(uri(f"{root}/{data}_lang=de/part-0.snappy.parquet"))
        assert [found.name for found in file.files] == ["part-0.snappy.parquet"]
    bucket.put("plain/_lang=de/part-0.txt", b"https://e.example/\n")
    bucket.put("plain/metadata/crawl.metadata.json", b"{}")
    assert [file.name for file in find_inputs(uri("plain/*/*.txt")).files] == ["_lang=de/part-0.txt"]


def test_bad_calls_change_nothing(
    spark: Any, bucket: Bucket, uri: Any, small: Path, tree: tuple[str, Path], tmp_path: Path
) -> None:
    prefix, _ = tree
    bucket.put(f"{prefix}/web.rsieve", small.read_bytes())
    bucket.put(f"{prefix}/full/year=2025/a.txt", b"old")
    bucket.put(f"{prefix}/full/_SUCCESS", b"")
    snapshot, before = uri(f"{prefix}/web.rsieve"), bucket.keys()
    inputs = f"{prefix}/in/"
    calls: Any = [
        (inputs, f"{prefix}/in/out", RobosieveError, "the outputs would be among the inputs of s3://test:...@data/"),
        (f"{prefix}/in/year=2025/a.txt", f"{prefix}/in/year=2025/", RobosieveError, "would overwrite s3://test:...@"),
        (f"{prefix}/web.rsieve", f"{prefix}", RobosieveError, "web.rsieve: would overwrite s3://test:...@data/"),
        (inputs, f"{prefix}/full", FileExistsError, "this output exists; give an empty directory, or overwrite=True"),
        (f"{prefix}/nothing/", f"{prefix}/x", FileNotFoundError, "there is no such object; check the bucket"),
        (f"{prefix}/*/*.csv", f"{prefix}/x", FileNotFoundError, "no file is there"),
    ]
    for paths, out, error, message in calls:
        with pytest.raises(error, match=message) as caught:
            filter_files(spark, snapshot, uri(paths), uri(out).replace("s3:", "s3a:"), "GPTBot")
        assert "test:test" not in str(caught.value)
    nowhere = secret(bucket.uri("x", "nobucket"))
    with pytest.raises(FileNotFoundError, match="there is no such bucket"):
        filter_files(spark, small, uri(inputs), nowhere, "GPTBot")
    with pytest.raises(ValueError, match="a wildcard stands for names in a bucket, not for buckets"):
        filter_files(spark, small, "s3://bucket*/x", uri("x"), "GPTBot")
    pages = uri(f"{inputs}year=2026/deep/c.parquet")
    with pytest.raises((ValueError, RobosieveError), match='s3://test:[*]*@data/.*c.parquet.* no column "urll"'):
        filter_files(spark, small, pages, uri(f"{prefix}/x"), "GPTBot", field="urll")
    with pytest.raises(ValueError, match="not a path of a mounted file system"):
        compile_files(spark, uri("in/robots.warc"), tmp_path / "web.rsieve")
    assert bucket.keys() == before and bucket.uploads() == []


def test_a_damaged_input_stops_no_other(spark: Any, bucket: Bucket, uri: Any, small: Path, tree: Any) -> None:
    prefix, _ = tree
    bucket.put(f"{prefix}/in/year=2026/b.txt.gz", b"\x1f\x8b\x08 not gzip")
    bucket.put(f"{prefix}/out/_SUCCESS", b"")
    with pytest.raises(
        InputsError, match=r"1 of 3 inputs failed.*\ns3://test:\*\*\*@data/.*b.txt.gz: damaged"
    ) as caught:
        annotate_files(spark, small, uri(f"{prefix}/in/"), uri(f"{prefix}/out"), "GPTBot")
    assert "test:test" not in str(caught.value)
    good = [f"{prefix}/out/{name}" for name in NAMES if "b.txt" not in name]
    assert bucket.keys(f"{prefix}/out/") == good
    # A run over the failures completes the directory.
    bucket.put(f"{prefix}/in/year=2026/b.txt.gz", gzip.compress(b"https://shop.example/\n"))
    annotate_files(spark, small, list(caught.value.failures), join(uri(f"{prefix}/out"), "year=2026"), "GPTBot")
    assert f"{prefix}/out/year=2026/b.txt.gz" in bucket.keys(f"{prefix}/out/")


@contextmanager
def refusing_uploads(bucket: Bucket, times: int) -> Iterator[tuple[str, list[str]]]:
    """A server that refuses the first uploads of each list, and the paths that it refused."""
    refused: list[str] = []

    class Handler(Refusing):
        server_host = bucket.host

        def do_PUT(self) -> None:
            path = unquote(self.path.partition("?")[0])
            is_refused = path.endswith(".txt") and refused.count(path) < times
            refused.extend([path] if is_refused else [])
            self.refused = "/" if is_refused else "no path has this text"
            self.answer()

        do_POST = do_PUT
        refused = "no path has this text"

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{proxy.server_port}", refused
        proxy.shutdown()


def test_failed_uploads_are_tried_again(spark: Any, bucket: Bucket, uri: Any, small: Path, tree: Any) -> None:
    prefix, _ = tree
    with refusing_uploads(bucket, times=2) as (host, refused):
        out = uri(f"{prefix}/out").replace(bucket.host, host)
        annotate_files(spark, small, uri(f"{prefix}/in/"), out, "GPTBot")
    assert refused == [f"/data/{prefix}/out/year=2025/a.txt"] * 2
    assert bucket.keys(f"{prefix}/out/") == sorted(f"{prefix}/out/{name}" for name in [*NAMES, "_SUCCESS"])


def test_a_failed_job_leaves_complete_files_and_no_success(
    spark: Any, bucket: Bucket, uri: Any, small: Path, tree: Any
) -> None:
    from pyspark.errors import PySparkException

    prefix, local = tree
    bucket.put(f"{prefix}/out/year=2025/a.txt", b"old")
    bucket.put(f"{prefix}/out/_SUCCESS", b"")
    with refusing_uploads(bucket, times=99) as (host, _):
        out = uri(f"{prefix}/out").replace(bucket.host, host)
        with pytest.raises(PySparkException, match="the store refuses access; check its credentials"):
            annotate_files(spark, small, uri(f"{prefix}/in/"), out, "GPTBot", overwrite=True)
    keys = bucket.keys(f"{prefix}/out/")
    assert set(keys) <= {f"{prefix}/out/{name}" for name in NAMES}
    assert bucket.get(f"{prefix}/out/year=2025/a.txt") == b"old" and bucket.uploads() == []
    for key in keys:
        name = key.removeprefix(f"{prefix}/out/")
        if name != "year=2025/a.txt":
            expected = local.parent / "expected" / Path(name).name
            expected.parent.mkdir(exist_ok=True)
            robosieve.annotate(small, local / name, expected, "GPTBot")
            assert bucket.get(key) == expected.read_bytes()


def test_an_orphan_that_ends_after_its_run_uploads_nothing(bucket: Bucket, uri: Any) -> None:
    directory = StoreDirectory(uri("orphan"), ".robosieve-run")
    directory.start([InputFile("", "x.txt", 0)])
    assert bucket.keys("orphan/") == ["orphan/.robosieve-run"]
    with pytest.raises(FileNotFoundError, match="the run has ended, so nothing is uploaded"):
        with directory.attempt("x.txt") as attempt:
            shutil.copy(SMALL / "urls.txt", attempt.path)
            directory.remove_staging()
            attempt.publish()
    assert bucket.keys("orphan/") == [] and not Path(attempt.path).exists()
