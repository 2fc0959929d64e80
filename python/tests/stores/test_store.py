"""Files of object stores, against a real S3 server on loopback: moto's.

``pytest -s`` prints what the server holds after uploads that fail or are killed.
"""

from __future__ import annotations

import gc
import gzip
import http.client
import http.server
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import robosieve
from conftest import ROOT, SMALL
from robosieve import SnapshotError
from robosieve import _stores, _uris

pytest.importorskip("pyarrow", reason="pyarrow is missing: pip install pyarrow")
pytest.importorskip("moto.server", reason='moto is missing: pip install "moto[server]" boto3')
boto3 = pytest.importorskip("boto3", reason='boto3 is missing: pip install "moto[server]" boto3')
s3fs = pytest.importorskip("s3fs", reason="s3fs is missing: pip install s3fs")

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
NAMES = ["robots.warc", "more.jsonl", "urls.txt", "pages.parquet"]


class Bucket:
    """A bucket, with its URIs and what is in it."""

    name = "data"

    def __init__(self, endpoint: str) -> None:
        self.host = endpoint.removeprefix("http://")
        self.endpoint = endpoint
        self.client = boto3.client("s3", endpoint_url=endpoint)
        self.client.create_bucket(Bucket=self.name)

    def uri(self, key: str, bucket: str = "data") -> str:
        return f"s3://{bucket}/{key}?endpoint_override={self.host}&scheme=http"

    def put(self, key: str, data: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=key, Body=data)

    def get(self, key: str) -> bytes:
        return self.client.get_object(Bucket=self.name, Key=key)["Body"].read()

    def keys(self, prefix: str = "") -> list[str]:
        found = self.client.list_objects_v2(Bucket=self.name, Prefix=prefix).get("Contents", [])
        return [file["Key"] for file in found]

    def uploads(self) -> list[str]:
        """The keys of the multipart uploads that were neither completed nor aborted."""
        return [up["Key"] for up in self.client.list_multipart_uploads(Bucket=self.name).get("Uploads", [])]

    def abort_all(self) -> None:
        for upload in self.client.list_multipart_uploads(Bucket=self.name).get("Uploads", []):
            self.client.abort_multipart_upload(Bucket=self.name, Key=upload["Key"], UploadId=upload["UploadId"])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        server = ThreadedMotoServer("127.0.0.1", 0)
        server.start()
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
        server.stop()


@pytest.fixture(scope="module")
def bucket(server: str) -> Bucket:
    bucket = Bucket(server)
    for name in NAMES:
        bucket.put(f"in/{name}", (SMALL / name).read_bytes())
    return bucket


@pytest.fixture(params=["pyarrow", "fsspec"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The library that reads: pyarrow, or s3fs where it is given as the file system."""
    if request.param == "fsspec":

        def by_fsspec(*arguments: Any, reached: Any = _stores._reached) -> Any:
            _, base, s3 = reached(*arguments)
            return _stores._given(s3), base, s3

        monkeypatch.setattr(_stores, "_reached", by_fsspec)
    return str(request.param)


@pytest.fixture(autouse=True)
def staging(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of temporary files, which every call leaves as it was."""
    directory = tmp_path_factory.mktemp("tmp")
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert [path.name for path in directory.glob("robosieve-*")] == []


# From files to files.


def test_jobs_on_a_store_write_what_they_write_locally(
    bucket: Bucket, small: Path, library: str, tmp_path: Path
) -> None:
    run = library.replace(" ", "-")
    bucket.put(f"{run}/web.rsieve", small.read_bytes())
    snapshot = bucket.uri(f"{run}/web.rsieve")
    local, stored = {}, {}
    for side, counts in [("local", local), ("stored", stored)]:

        def source(name: str, side: str = side) -> str:
            return bucket.uri(f"in/{name}") if side == "stored" else str(SMALL / name)

        def target(name: str, side: str = side) -> str:
            return bucket.uri(f"{run}/{name}") if side == "stored" else str(tmp_path / name)

        opened = snapshot if side == "stored" else str(small)
        counts["filter"] = robosieve.filter(
            opened, source("urls.txt"), target("kept.txt.gz"), "GPTBot", unknown_to=target("unknown.txt")
        )
        counts["rows"] = robosieve.filter(opened, source("pages.parquet"), target("kept.parquet"), "GPTBot")
        counts["annotate"] = robosieve.annotate(opened, source("pages.parquet"), target("pages.parquet"), "@ai-train")
        counts["compile"] = robosieve.compile([source("robots.warc"), source("more.jsonl")], target("new.rsieve"))
    assert local == stored
    names = ["kept.txt.gz", "unknown.txt", "kept.parquet", "pages.parquet", "new.rsieve"]
    for name in names:
        assert bucket.get(f"{run}/{name}") == (tmp_path / name).read_bytes(), name
    assert bucket.keys(f"{run}/") == sorted(f"{run}/{name}" for name in [*names, "web.rsieve"])
    assert bucket.uploads() == []


def test_the_staging_directory_holds_one_archive_at_a_time(
    bucket: Bucket, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        body = f'{{"url": "https://site{number}.example/robots.txt", "status": 404}}\n'
        bucket.put(f"many/part-{number}.jsonl", body.encode())
    bucket.put("many/_SUCCESS", b"")
    held = []

    def download(location: _stores.Location, local: str, original: Any = _stores.Location.download) -> None:
        original(location, local)
        held.append(sum(len(files) for _, _, files in os.walk(staging)))

    monkeypatch.setattr(_stores.Location, "download", download)
    report = robosieve.compile(bucket.uri("many/"), bucket.uri("out/many.rsieve"))
    assert report["counts"]["origins"] == 5
    assert held == [1] * 5


def test_disk_space_is_checked_before_a_download(
    bucket: Bucket, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 100))  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="the inputs have [0-9,]+ bytes, and 100 are free; set TMPDIR") as caught:
        robosieve.filter(small, bucket.uri("in/urls.txt"), tmp_path / "kept.txt", "GPTBot")
    assert caught.value.errno == 28 and not (tmp_path / "kept.txt").exists()


def test_a_full_disk_names_the_input_and_the_remedy(
    bucket: Bucket, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space is left in .*; set TMPDIR to a larger disk"):
        robosieve.filter(small, bucket.uri("in/urls.txt"), tmp_path / "kept.txt", "GPTBot")


def test_an_interrupted_job_uploads_nothing(bucket: Bucket, small: Path, large_list: Path) -> None:
    bucket.put("interrupted.txt", b"old")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        robosieve.filter(small, large_list, bucket.uri("interrupted.txt"), "GPTBot", progress=interrupt)
    assert bucket.get("interrupted.txt") == b"old" and bucket.uploads() == []


# Errors.


@pytest.mark.parametrize(
    ("inputs", "output", "error", "message"),
    [
        ("in/missing.txt", "out/x", FileNotFoundError, "'s3://data/in/missing.txt'"),
        ("nobucket:in/urls.txt", "out/x", OSError, "'s3://nobucket/in/urls.txt'"),
        ("in/urls.txt", "nobucket:x", FileNotFoundError, "there is no such bucket: 's3://nobucket/x'"),
        ("in/urls.txt", "in/urls.txt", ValueError, "s3://data/in/urls.txt: is the same file as an input"),
        ("in/urls.txt", "in//urls.txt", ValueError, "s3://data/in//urls.txt: is the same file as an input"),
        ("in/urls.txt", "./in/x/../urls.txt", ValueError, "urls.txt: is the same file as an input"),
        ("in/urls.txt", "in/", IsADirectoryError, "name a file in it: 's3://data/in/'"),
        ("in", "out/x", IsADirectoryError, "'s3://data/in'"),
        ("in/robots.warc", "out/x.parquet", (ValueError, robosieve.RobosieveError), "s3://data/out/x.parquet: "),
        ("in/web.rsieve", "out/x", robosieve.RobosieveError, "s3://data/in/web.rsieve: a robosieve snapshot"),
    ],
)
def test_errors_name_the_uri_and_write_nothing(
    bucket: Bucket, small: Path, library: str, inputs: str, output: str, error: Any, message: str
) -> None:
    bucket.put("in/web.rsieve", small.read_bytes())
    before = bucket.keys()

    def uri(name: str) -> str:
        other, colon, key = name.rpartition(":")
        return bucket.uri(key, other) if colon else bucket.uri(name)

    with pytest.raises(error) as caught:
        robosieve.filter(small, uri(inputs), uri(output), "GPTBot")
    assert message in str(caught.value), str(caught.value)
    assert "robosieve-" not in str(caught.value) and "endpoint" not in str(caught.value)
    assert (bucket.keys(), bucket.uploads()) == (before, [])


def test_no_output_overwrites_the_snapshot_an_output_or_an_archive(bucket: Bucket, small: Path) -> None:
    bucket.put("guarded/web.rsieve", small.read_bytes())
    stored = robosieve.Snapshot(bucket.uri("guarded/web.rsieve"))
    urls = SMALL / "urls.txt"
    for snapshot, output, more, other in [
        (stored, "guarded/web.rsieve", {}, "the snapshot"),
        (bucket.uri("guarded/web.rsieve"), "guarded//web.rsieve", {}, "the snapshot"),
        (small, "guarded/x", {"unknown_to": bucket.uri("guarded//x")}, "another output"),
        (small, "guarded/x", {"unknown_to": bucket.uri("guarded/x").replace("s3:", "S3A:")}, "another output"),
    ]:
        with pytest.raises(ValueError, match=f"is the same file as {other}; give the output another name"):
            robosieve.filter(snapshot, urls, bucket.uri(output), "GPTBot", **more)
    with pytest.raises(ValueError, match="is the same file as the snapshot"):
        robosieve.annotate(stored, urls, bucket.uri("guarded/web.rsieve"), "GPTBot")
    with pytest.raises(ValueError, match="s3://data/in/more.jsonl: is the same file as an archive that was added"):
        robosieve.compile(bucket.uri("in/more.jsonl"), bucket.uri("in/more.jsonl"))
    assert bucket.keys("guarded/") == ["guarded/web.rsieve"]
    assert bucket.get("guarded/web.rsieve") == small.read_bytes()


@pytest.mark.parametrize(
    ("uri", "name", "same"),
    [
        ("s3://user:password@bucket/key?region=x", "s3://user:***@bucket/key", "s3a://bucket//key"),
        ("s3n://bucket/a/b", "s3://bucket/a/b", "s3://bucket/a/./b"),
        ("gs://anonymous@bucket/a", "gs://anonymous@bucket/a", "gcs://bucket/a"),
        ("abfs://files@account/a", "abfs://files@account/a", "abfss://files@account/b/../a"),
        ("hdfs://node:8020/a", "hdfs://node:8020/a", "hdfs:///a"),
    ],
)
def test_names_hide_secrets_and_identities_see_through_aliases(uri: str, name: str, same: str) -> None:
    assert _uris.name_of(uri) == name
    assert _uris.identity(uri) == _uris.identity(same) != _uris.identity(same[:-1])


def test_uris_without_a_library_are_refused(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="nosuch://x/y: neither pyarrow nor fsspec knows nosuch://"):
        robosieve.filter(small, "nosuch://x/y", None, "GPTBot", unknown_to="z")
    with pytest.raises(TypeError, match="filesystem is of type int; give a pyarrow.fs.FileSystem, or one of fsspec"):
        robosieve.filter(small, "s3://x/y", None, "GPTBot", unknown_to="z", filesystem=7)
    for module in ["fsspec", "fsspec.core"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="pyarrow does not know memory://, and fsspec is not installed: pip install"):
        robosieve.filter(small, "memory://x/y", None, "GPTBot", unknown_to="z")
    for module in ["pyarrow", "pyarrow.fs"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="s3://x/y: pyarrow is not installed, which reads stores: pip install"):
        robosieve.filter(small, "s3://x/y", None, "GPTBot", unknown_to="z")


def test_given_file_systems_are_used(bucket: Bucket, small: Path, tmp_path: Path) -> None:
    from pyarrow import fs

    robosieve.filter(small, SMALL / "urls.txt", tmp_path / "kept.txt", "GPTBot")
    arrow = fs.S3FileSystem(endpoint_override=bucket.host, scheme="http", region="us-east-1")
    fsspec = s3fs.S3FileSystem(endpoint_url=bucket.endpoint)
    robosieve.filter(small, "s3://data/in/urls.txt", tmp_path / "stored.txt", "GPTBot", filesystem=arrow)
    assert (tmp_path / "stored.txt").read_bytes() == (tmp_path / "kept.txt").read_bytes()
    for given in [fsspec, fs.PyFileSystem(fs.FSSpecHandler(fsspec))]:
        robosieve.filter(small, "s3://data/in/urls.txt", "s3://data/given.txt", "GPTBot", filesystem=given)
        assert bucket.get("given.txt") == (tmp_path / "kept.txt").read_bytes()
        bucket.put("given.txt", b"")
    with pytest.raises(ImportError, match="give an s3fs.S3FileSystem, since that of pyarrow cannot abort an upload"):
        robosieve.filter(small, "s3://data/in/urls.txt", "s3://data/given.txt", "GPTBot", filesystem=arrow)


def test_paths_of_given_file_systems() -> None:
    from pyarrow import fs

    mock = fs._MockFileSystem()
    for uri, path in [
        ("s3://key:secret@bucket/a/b", "bucket/a/b"),
        ("abfs://files@account.dfs.core.windows.net/a/b", "files/a/b"),
        ("hdfs://node:8020/a/b", "/a/b"),
    ]:
        assert _stores.locate(uri, mock).path == path


def test_lists_of_s3_are_read_without_s3fs_and_not_written(
    bucket: Bucket, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    _stores._reached.cache_clear()
    assert robosieve.filter(small, bucket.uri("in/urls.txt"), tmp_path / "x", "GPTBot")["allowed"] == 144
    with pytest.raises(ImportError, match="s3://data/x: s3fs is missing, which uploads to S3: pip install s3fs"):
        robosieve.filter(small, SMALL / "urls.txt", bucket.uri("x"), "GPTBot")
    _stores._reached.cache_clear()


def test_other_schemes_go_through_fsspec(small: Path, tmp_path: Path) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe_file("/lists/urls.txt", (SMALL / "urls.txt").read_bytes())
    robosieve.filter(small, "memory://lists/urls.txt", "memory://lists/kept.txt", "GPTBot")
    robosieve.filter(small, SMALL / "urls.txt", tmp_path / "kept.txt", "GPTBot")
    assert memory.cat_file("/lists/kept.txt") == (tmp_path / "kept.txt").read_bytes()
    assert sorted(memory.ls("/lists", detail=False)) == ["/lists/kept.txt", "/lists/urls.txt"]


# Uploads that fail.

#: Three parts of an upload, and a little.
LARGE = (3 << 24) + 1000


@pytest.fixture(scope="module")
def large_list(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.txt"
    line = b"https://shop.example/products/tea-pot\n"
    path.write_bytes(line * (LARGE // len(line) + 1))
    return path


def test_large_files_go_up_in_parts(bucket: Bucket, library: str, large_list: Path) -> None:
    location = _stores.locate(bucket.uri("large/whole.txt"))
    location.upload(str(large_list))
    assert bucket.get("large/whole.txt") == large_list.read_bytes()
    assert (location.size(), bucket.uploads()) == (large_list.stat().st_size, [])


def test_a_failed_upload_leaves_no_object_and_no_parts(
    bucket: Bucket, small: Path, large_list: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put("failed/kept.txt", b"old")
    original = s3fs.S3File._call_s3
    sent = []

    def fail_at_the_third_part(file: Any, method: str, *arguments: Any, **options: Any) -> Any:
        if method == "upload_part":
            sent.append(bucket.uploads())
            if len(sent) % 3 == 0:
                raise failure
        return original(file, method, *arguments, **options)

    monkeypatch.setattr(s3fs.S3File, "_call_s3", fail_at_the_third_part)
    for failure in (OSError(5, "the connection was lost"), KeyboardInterrupt()):
        with pytest.raises(type(failure)):
            robosieve.filter(small, large_list, bucket.uri("failed/kept.txt"), "GPTBot")
        print(f"after {failure!r}: uploads before {sent[-1]}, after {bucket.uploads()}")
        assert sent[-1] == ["failed/kept.txt"] and bucket.uploads() == []
        assert bucket.keys("failed/") == ["failed/kept.txt"] and bucket.get("failed/kept.txt") == b"old"


class Refusing(http.server.BaseHTTPRequestHandler):
    """Hands requests on to the server, but refuses those with a text in their path."""

    server_host = ""
    refused = ""
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while length := int(self.rfile.readline(), 16):
                body += self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()
        if self.refused in self.path:
            status, data, answered = 403, b"<Error><Code>AccessDenied</Code></Error>", []
        else:
            dropped = ("expect", "transfer-encoding")
            headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
            connection = http.client.HTTPConnection(self.server_host, timeout=20)
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            status, data, answered = response.status, response.read(), response.getheaders()
            connection.close()
        self.send_response(status)
        for name, value in answered:
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        length = dict(answered).get("Content-Length", "0") if self.command == "HEAD" else str(len(data))
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else data)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def refusing(bucket: Bucket, refused: str) -> Iterator[str]:
    """The options of a URI for a server that refuses requests."""
    handler = type("Handler", (Refusing,), {"server_host": bucket.host, "refused": refused})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"endpoint_override=127.0.0.1:{proxy.server_port}&scheme=http"
        proxy.shutdown()


def test_refused_access_names_the_uri_and_the_remedy(bucket: Bucket, small: Path, library: str, tmp_path: Path) -> None:
    with refusing(bucket, "/") as options:
        for snapshot, source, output, name in [
            (small, f"s3://data/in/urls.txt?{options}", tmp_path / "x", "in/urls.txt"),
            (small, SMALL / "urls.txt", f"s3://data/out/x?{options}", "out/x"),
            (f"s3://data/web.rsieve?{options}", SMALL / "urls.txt", tmp_path / "x", "web.rsieve"),
        ]:
            with pytest.raises((PermissionError, SnapshotError)) as caught:
                robosieve.filter(snapshot, source, output, "GPTBot")
            assert "the store refuses access; check its credentials and permissions" in str(caught.value)
            assert f"s3://data/{name}" in str(caught.value) and not (tmp_path / "x").exists()


def test_a_refused_part_leaves_no_object(bucket: Bucket, large_list: Path) -> None:
    with refusing(bucket, "partNumber=3") as options:
        with pytest.raises(PermissionError, match="the store refuses access; check its credentials"):
            _stores.locate(f"s3://data/refused/x.txt?{options}").upload(str(large_list))
        gc.collect()
    print(f"after a refused part: objects {bucket.keys('refused/')}, uploads {bucket.uploads()}")
    assert (bucket.keys("refused/"), bucket.uploads()) == ([], [])


KILLED = """
import os, signal, sys, s3fs
from robosieve import _stores
original = s3fs.S3File._call_s3
sent = []
def kill(file, method, *arguments, **options):
    if method == "upload_part" and len(sent) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    sent.append(method) if method == "upload_part" else None
    return original(file, method, *arguments, **options)
s3fs.S3File._call_s3 = kill
_stores.locate(sys.argv[1]).upload(sys.argv[2])
"""


def test_a_killed_upload_shows_nothing(bucket: Bucket, large_list: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, bucket.uri("killed/x.txt"), large_list], check=False)
    assert done.returncode == -signal.SIGKILL
    print(f"after SIGKILL: objects {bucket.keys('killed/')}, multipart uploads {bucket.uploads()}")
    assert bucket.keys("killed/") == []
    # Nobody was left to abort it; a lifecycle rule of the bucket does (docs/SPARK.md).
    bucket.abort_all()


def test_a_failed_run_uploads_nothing(bucket: Bucket, small: Path) -> None:
    before = bucket.keys()
    bucket.put("damaged/urls.txt.gz", b"\x1f\x8b\x08 not gzip")
    with pytest.raises(robosieve.RobosieveError, match="s3://data/damaged/urls.txt.gz: damaged"):
        robosieve.filter(small, bucket.uri("damaged/urls.txt.gz"), bucket.uri("damaged/kept.txt.gz"), "GPTBot")
    assert bucket.keys() == sorted([*before, "damaged/urls.txt.gz"])


# Snapshots.


def test_a_snapshot_is_downloaded_once_and_named_by_its_checksum(
    bucket: Bucket, small: Path, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put("web.rsieve", small.read_bytes())
    copies = []

    def copy_to(location: _stores.Location, output: int, original: Any = _stores.Location.copy_to) -> None:
        copies.append(location.name)
        original(location, output)

    monkeypatch.setattr(_stores.Location, "copy_to", copy_to)
    directory = tmp_path / "copies"
    for _ in range(3):
        snapshot = robosieve.Snapshot(bucket.uri("web.rsieve"), node_directory=directory)
        assert snapshot.path == str(directory / f"web-{snapshot.checksum}.rsieve")
        assert snapshot.verdict("https://shop.example/cart", "GPTBot") == 0
    copy = pickle.loads(pickle.dumps(snapshot))
    assert copy.path == snapshot.path and copies == ["s3://data/web.rsieve"]
    # Another content has another copy, and a pickle of the first notices.
    pickled = pickle.dumps(snapshot)
    compiler = robosieve.Compiler()
    compiler.add_response("https://shop.example/robots.txt", 404)
    bucket.put("web.rsieve", compiler.to_bytes())
    assert robosieve.node_copy(bucket.uri("web.rsieve"), directory) != snapshot.path
    with pytest.raises(SnapshotError, match="another snapshot"):
        pickle.loads(pickled)


def test_what_is_no_snapshot_is_not_downloaded(bucket: Bucket, small: Path, library: str, staging: Path) -> None:
    damaged = bytearray(small.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    for key, data in [("empty", b""), ("text", b"User-agent: *\n" * 100), ("cut", small.read_bytes()[:-9])]:
        bucket.put(f"bad/{key}", data)
    bucket.put("bad/flipped", bytes(damaged))
    for key, message in [
        ("empty", "not a robosieve snapshot"),
        ("text", "not a robosieve snapshot"),
        ("cut", "damaged"),
        ("flipped", "damaged"),
        ("missing", ""),
    ]:
        with pytest.raises(SnapshotError, match=f"^s3://data/bad/{key}: .*{message}") as caught:
            robosieve.Snapshot(bucket.uri(f"bad/{key}"))
        assert caught.value.path == f"s3://data/bad/{key}"
    assert [path.name for path in staging.iterdir() if path.suffix in (".part", ".rsieve")] == []


def test_compilers_take_and_write_stores(bucket: Bucket, small: Path, library: str) -> None:
    bucket.put("old.rsieve", small.read_bytes())
    compiler = robosieve.Compiler(previous=bucket.uri("old.rsieve"))
    compiler.add_response("https://new.example/robots.txt", 404)
    assert compiler.write(bucket.uri("out/newer.rsieve"))["counts"]["origins"] == 49
    compiler = robosieve.Compiler()
    compiler.add_path([SMALL / "more.jsonl", bucket.uri("in/robots.warc")])
    with pytest.raises(ValueError, match="is the same file as an archive that was added"):
        compiler.write(bucket.uri("in/robots.warc"))
    compiler.write_captures(bucket.uri("out/all.captures"))
    robosieve.compile(bucket.uri("out/all.captures"), bucket.uri("out/web.rsieve"))
    assert bucket.get("out/web.rsieve") == small.read_bytes()


# Documentation.


@pytest.fixture
def crawl(server: str, small: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """The bucket of the pages, at a server that the environment names."""
    monkeypatch.setattr(Bucket, "name", "crawl")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    _stores._reached.cache_clear()
    crawl = Bucket(server)
    crawl.put("robotstxt/robots.warc", (SMALL / "robots.warc").read_bytes())
    crawl.put("robotstxt/more.jsonl", (SMALL / "more.jsonl").read_bytes())
    crawl.put("web.rsieve", small.read_bytes())
    crawl.put("urls.txt", (SMALL / "urls.txt").read_bytes())
    crawl.put("urls.txt.gz", gzip.compress((SMALL / "urls.txt").read_bytes()))
    yield crawl
    _stores._reached.cache_clear()


def example(page: str, language: str, text: str) -> str:
    """The only code block of a page with a text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if text in block]
    return str(found)


def test_the_example_of_the_package_runs(crawl: Bucket, small: Path) -> None:
    exec(example("python/README.md", "python", "s3://"), {"robosieve": robosieve})
    assert crawl.get("web.rsieve") == small.read_bytes()
    assert gzip.decompress(crawl.get("allowed.txt.gz")).count(b"\n") == 144


def test_the_pipe_of_the_guide_runs(crawl: Bucket, program: Path, tmp_path: Path) -> None:
    if shutil.which("aws") is None:
        pytest.skip("aws is missing: install the AWS CLI")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    script = example("docs/GUIDE.md", "sh", "aws s3 cp")
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=os.environ | {"PATH": path}, check=True)
    assert gzip.decompress(crawl.get("allowed.txt.gz")).count(b"\n") == 144
    assert crawl.keys("unchecked/") == []
