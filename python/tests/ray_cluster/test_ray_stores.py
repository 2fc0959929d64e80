"""robosieve.ray on files of a store: workers in processes of their own, and moto's S3 server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason='Ray is missing: pip install "ray[data]>=2.9"')

import robosieve
from robosieve.ray import InputsError, annotate_files, compile_files, filter_allowed, filter_files
from test_ray import cluster  # noqa: F401
from test_spark_stores import NAMES, refusing_uploads, tree, uri  # noqa: F401
from test_store import Bucket, bucket, server, staging  # noqa: F401


def test_files_of_stores_equal_those_of_mounts_on_ray(
    cluster: Any, bucket: Bucket, uri: Any, small: Path, tree: tuple[str, Path], tmp_path: Path
) -> None:
    prefix, local = tree
    bucket.put(f"{prefix}/web.rsieve", small.read_bytes())
    stored_snapshot, copies = uri(f"{prefix}/web.rsieve"), str(tmp_path / "copies")
    expected = filter_files(small, local, tmp_path / "kept", "GPTBot", unknown_to=tmp_path / "unknown")
    out, unknown = uri(f"{prefix}/kept"), uri(f"{prefix}/unknown")
    counts = filter_files(
        stored_snapshot, uri(f"{prefix}/in/"), out, "GPTBot", unknown_to=unknown, node_directory=copies
    )
    assert counts == expected
    for output in ["kept", "unknown"]:
        assert bucket.keys(f"{prefix}/{output}/") == sorted(f"{prefix}/{output}/{n}" for n in [*NAMES, "_SUCCESS"])
        for name in NAMES:
            assert bucket.get(f"{prefix}/{output}/{name}") == (tmp_path / output / name).read_bytes(), name
    assert bucket.uploads() == []
    assert [path.name for path in (tmp_path / "copies").glob("*.rsieve")] == [
        f"web-{robosieve.Snapshot(small).checksum}.rsieve"
    ]
    with pytest.raises(FileExistsError, match="this output exists"):
        filter_files(stored_snapshot, uri(f"{prefix}/in/"), out, "GPTBot")
    with pytest.raises(ValueError, match="not a path of a mounted file system"):
        compile_files(uri("in/robots.warc"), tmp_path / "web.rsieve")
    pages = ray.data.from_items([{"url": "https://shop.example/cart"}, {"url": "https://shop.example/"}])
    kept = filter_allowed(pages, stored_snapshot, "GPTBot", node_directory=copies).take_all()
    assert [row["url"] for row in kept] == ["https://shop.example/"]


def test_a_damaged_input_stops_no_other_on_ray(cluster: Any, bucket: Bucket, uri: Any, small: Path, tree: Any) -> None:
    prefix, _ = tree
    bucket.put(f"{prefix}/in/year=2026/b.txt.gz", b"\x1f\x8b\x08 not gzip")
    with pytest.raises(
        InputsError, match=r"1 of 3 inputs failed.*\ns3://test:\*\*\*@data/.*b.txt.gz: damaged"
    ) as caught:
        annotate_files(small, uri(f"{prefix}/in/"), uri(f"{prefix}/out"), "GPTBot")
    assert "test:test" not in str(caught.value)
    assert bucket.keys(f"{prefix}/out/") == [f"{prefix}/out/{name}" for name in NAMES if "b.txt" not in name]


def test_failed_uploads_are_tried_again_on_ray(cluster: Any, bucket: Bucket, uri: Any, small: Path, tree: Any) -> None:
    prefix, _ = tree
    with refusing_uploads(bucket, times=2) as (host, refused):
        out = uri(f"{prefix}/out").replace(bucket.host, host)
        annotate_files(small, uri(f"{prefix}/in/"), out, "GPTBot")
    assert refused == [f"/data/{prefix}/out/year=2025/a.txt"] * 2
    assert bucket.keys(f"{prefix}/out/") == sorted(f"{prefix}/out/{name}" for name in [*NAMES, "_SUCCESS"])


def test_a_failed_run_leaves_complete_files_and_no_success_on_ray(
    cluster: Any, bucket: Bucket, uri: Any, small: Path, tree: Any
) -> None:
    prefix, _ = tree
    bucket.put(f"{prefix}/out/_SUCCESS", b"")
    with refusing_uploads(bucket, times=99) as (host, _):
        out = uri(f"{prefix}/out").replace(bucket.host, host)
        with pytest.raises(OSError, match="the store refuses access; check its credentials"):
            annotate_files(small, uri(f"{prefix}/in/"), out, "GPTBot", ray_remote_args={"max_retries": 0})
    assert set(bucket.keys(f"{prefix}/out/")) < {f"{prefix}/out/{name}" for name in NAMES}
    assert bucket.uploads() == []
