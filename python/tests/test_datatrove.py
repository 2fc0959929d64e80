"""The filter for datatrove pipelines."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import Snapshot

AGENTS = ["GPTBot", "Googlebot"]


def needs_datatrove() -> Any:
    pytest.importorskip("regex", reason="datatrove's filters need regex")
    return pytest.importorskip("datatrove")


def documents(urls: list[Any]) -> list[Any]:
    from datatrove.data import Document

    return [Document(text="text", id=str(row), metadata={"url": url, "lang": "en"}) for row, url in enumerate(urls)]


def kept(step: Any, urls: list[Any]) -> list[str]:
    return [document.metadata["url"] for document in step.run(documents(urls))]


def total(stat: Any) -> int:
    """The total of a statistic, which datatrove writes as a number if that is all there is to say."""
    return int(stat["total"] if isinstance(stat, dict) else stat)


@pytest.mark.parametrize("module", ["datatrove", "regex"])
def test_missing_modules_are_named(module: str) -> None:
    if module != "datatrove":
        needs_datatrove()
    code = f"import sys; sys.modules[{module!r}] = None; import robosieve.datatrove"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    message = f"needs the filters of datatrove, and {module} is missing; pip install datatrove regex"
    assert f"ModuleNotFoundError: robosieve.datatrove {message}" in run.stderr


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
@pytest.mark.parametrize("require", ["all", "any"])
@pytest.mark.parametrize("unknown", [None, "allow", "disallow"])
@pytest.mark.parametrize("invalid", ["keep", "drop"])
def test_kept_documents_are_those_of_the_verdicts(
    snapshot: Snapshot, urls: list[str], batch_size: int, require: str, unknown: str | None, invalid: str
) -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    step = RobotsFilter(snapshot, AGENTS, require=require, unknown=unknown, invalid=invalid, batch_size=batch_size)
    wanted, reasons = [], Counter()
    for url in urls:
        verdicts = [snapshot.verdict(url, agent) for agent in AGENTS]
        if verdicts[0] == 2:
            keep, reason = unknown == "allow", "robots_disallowed" if unknown else "robots_unknown"
        elif verdicts[0] == 3:
            keep, reason = invalid == "keep", "robots_not_a_url"
        else:
            allowed = [verdict.allowed for verdict in verdicts]
            keep, reason = (all if require == "all" else any)(allowed), "robots_disallowed"
        wanted += [url] if keep else []
        reasons += Counter() if keep else Counter([f"dropped_{reason}"])
    assert kept(step, urls) == wanted
    stats = {name: total(stat) for name, stat in step.stats.to_dict()["stats"].items()}
    assert {name: count for name, count in stats.items() if name.startswith("dropped_")} == reasons
    assert stats["total"] == len(urls) and stats["forwarded"] == len(wanted)


def test_documents_without_a_url(snapshot: Snapshot) -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    batch = documents(["https://shop.example/", None])
    del batch[1].metadata["url"]
    with pytest.raises(KeyError, match="document '1' has no 'url' in its metadata, whose keys are .'lang'."):
        RobotsFilter(snapshot, AGENTS).filter_batch(batch)
    assert RobotsFilter(snapshot, AGENTS, missing="keep").filter_batch(batch) == [True, True]
    assert RobotsFilter(snapshot, AGENTS, missing="drop").filter_batch(batch) == [True, (False, "robots_no_url")]
    assert RobotsFilter(snapshot, AGENTS, missing="drop").filter(batch[1]) == (False, "robots_no_url")
    # Another key.
    batch[1].metadata["link"] = "https://news.example/world/"
    assert RobotsFilter(snapshot, AGENTS, url="link", missing="keep").filter_batch(batch)[1] == (
        False,
        "robots_disallowed",
    )
    with pytest.raises(TypeError, match="row 0: int: a URL is str or bytes"):
        RobotsFilter(snapshot, AGENTS).filter_batch(documents([7]))


def test_options_reach_the_judge(snapshot: Snapshot) -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    def of(url: str, **options: Any) -> Any:
        return RobotsFilter(snapshot, "@ai-train", **options).filter_batch(documents([url]))[0]

    assert of("https://busy.example/") == (False, "robots_disallowed")
    assert of("https://busy.example/", status_policy="rfc9309") is True
    assert of("https://old.example/") == (False, "robots_unknown")
    assert of("https://old.example/", unknown="allow") is True
    assert of("https://old.example/", unknown="disallow") == (False, "robots_disallowed")
    assert of("https://old.example/", any_scheme=True) is True
    assert of("https://timeout.example/", at="2027-01-01") is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"require": "some"}, "require='some'; give one of 'all', 'any'"),
        ({"unknown": "keep"}, "unknown='keep'; give one of 'allow', 'disallow', None"),
        ({"invalid": "error"}, "invalid='error'; give one of"),
        ({"missing": None}, "missing=None; give one of 'keep', 'drop', 'error'"),
        ({"batch_size": 0}, "batch_size=0; give at least 1"),
        ({"agents": "@nosuchset"}, "unknown set of agents"),
        ({"agents": []}, "no agent"),
        ({"agents": [f"Bot{'x' * at}" for at in range(64)]}, "64 agents; at most 63"),
        ({"status_policy": "lax"}, 'status_policy="lax"; give one of'),
        ({"agent_match": "lax"}, 'agent_match="lax"; give one of'),
        ({"at": "soon"}, "'soon' is not a time"),
    ],
)
def test_bad_arguments(snapshot: Snapshot, arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    with pytest.raises(ValueError, match=message):
        RobotsFilter(snapshot, **{"agents": AGENTS, **arguments})
    with pytest.raises(ValueError, match=message):
        RobotsFilter(snapshot.path, **{"agents": AGENTS, **arguments})
    # Without a file at the path, options of the judge are checked with the first batch.
    path = tmp_path / "later.rsieve"
    with pytest.raises(ValueError, match=message):
        step = RobotsFilter(path, **{"agents": AGENTS, **arguments})
        os.link(snapshot.path, path)
        step.filter_batch(documents(["https://shop.example/"]))


def test_pickles_open_the_snapshot_again(small: Path, snapshot: Snapshot, tmp_path: Path) -> None:
    needs_datatrove()
    import dill
    from robosieve.datatrove import RobotsFilter

    batch = documents(["https://shop.example/", "https://news.example/world/"])
    for given in (snapshot, small, str(small)):
        step = RobotsFilter(given, AGENTS)
        for module in (pickle, dill):
            wanted = [True, (False, "robots_disallowed")]
            assert module.loads(module.dumps(step)).filter_batch(batch) == wanted
            assert step.filter_batch(batch) == wanted
            # The open snapshot is not in the pickle.
            assert module.loads(module.dumps(step))._snapshot is None
    # A path may be that of a file of the machine of the workers.
    missing = pickle.loads(pickle.dumps(RobotsFilter(tmp_path / "missing.rsieve", AGENTS)))
    with pytest.raises(robosieve.SnapshotError, match="missing.rsieve"):
        missing.filter_batch(batch)
    # With a snapshot, the file must be the same.
    path = tmp_path / "web.rsieve"
    path.write_bytes(small.read_bytes())
    step = RobotsFilter(Snapshot(path), AGENTS)
    step.checksum = "0" * 16
    with pytest.raises(robosieve.SnapshotError, match="another snapshot"):
        step.filter_batch(batch)


def test_snapshots_of_a_store(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_datatrove()
    pytest.importorskip("pyarrow")
    memory = pytest.importorskip("fsspec").filesystem("memory")
    from robosieve.datatrove import RobotsFilter

    uri, batch = "memory://robots/web.rsieve", documents(["https://shop.example/", "https://news.example/world/"])
    memory.pipe_file("/robots/web.rsieve", small.read_bytes())
    monkeypatch.chdir(tmp_path)
    for given in (uri, Snapshot(uri, node_directory="here")):
        copies = tmp_path / "there"
        step = RobotsFilter(given, AGENTS, node_directory="there" if given == uri else None)
        # Neither the driver's copy nor its directory is on the machine of a worker.
        shutil.rmtree(tmp_path / "here", ignore_errors=True)
        data = pickle.dumps(step)
        monkeypatch.chdir("/")
        worker = pickle.loads(data)
        assert worker.source.path == uri
        assert worker.filter_batch(batch) == [True, (False, "robots_disallowed")]
        monkeypatch.chdir(tmp_path)
        assert len(list((copies if given == uri else tmp_path / "here").glob("web-*.rsieve"))) == 1
    # The pipeline may be written where the store cannot be reached.
    missing = RobotsFilter("memory://robots/missing.rsieve", AGENTS)
    with pytest.raises(robosieve.SnapshotError, match="^memory://robots/missing.rsieve: "):
        missing.filter_batch(batch)
    with_filesystem = RobotsFilter(uri, AGENTS, filesystem=memory, node_directory=tmp_path / "given")
    assert with_filesystem.filter_batch(batch)[0] is True


def test_paths_that_no_worker_finds_are_refused() -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    with pytest.raises(ValueError, match="file:///mnt/web.rsieve: write the path alone: /mnt/web.rsieve"):
        RobotsFilter("file:///mnt/web.rsieve", AGENTS)
    with pytest.raises(ValueError, match="s3:/crawl/web.rsieve: no URI has a single slash; .* s3://crawl/web.rsieve"):
        RobotsFilter(Path("s3://crawl/web.rsieve"), AGENTS)


def test_workers_copy_the_snapshot_once(small: Path, snapshot: Snapshot, tmp_path: Path) -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    for given in (small, snapshot):
        step = RobotsFilter(given, AGENTS, node_directory=tmp_path / "disk")
        assert not step.filter_batch(documents(["https://news.example/world/"]))[0] is True
        assert step.snapshot.path == str(tmp_path / "disk" / f"small-{snapshot.checksum}.rsieve")
    assert len(list((tmp_path / "disk").glob("*.rsieve"))) == 1


#: A pipeline in processes of its own, which must be a program: the workers import its file.
PIPELINE = """
import sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter
from robosieve.datatrove import RobotsFilter

snapshot, folder = sys.argv[1:]
if __name__ == "__main__":
    LocalPipelineExecutor(
        pipeline=[
            ParquetReader(f"{folder}/in"),
            RobotsFilter(
                snapshot, ["GPTBot", "Googlebot"], batch_size=50,
                exclusion_writer=ParquetWriter(f"{folder}/excluded", expand_metadata=True),
            ),
            ParquetWriter(f"{folder}/kept", expand_metadata=True),
        ],
        tasks=4, workers=2, logging_dir=f"{folder}/logs",
    ).run()
"""


def test_pipeline_with_two_workers(small: Path, snapshot: Snapshot, urls: list[str], tmp_path: Path) -> None:
    needs_datatrove()
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in").mkdir()
    for part in range(4):
        rows = [{"id": f"{part}/{row}", "text": "text", "url": url} for row, url in enumerate(urls[part::4])]
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "in" / f"{part}.parquet")
    (tmp_path / "pipeline.py").write_text(PIPELINE)
    command = [sys.executable, tmp_path / "pipeline.py", small, tmp_path]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr

    wanted = {url: [snapshot.verdict(url, agent) for agent in AGENTS] for url in urls}
    found = [url for path in (tmp_path / "kept").glob("*") for url in parquet.read_table(path)["url"].to_pylist()]
    assert sorted(found) == sorted(url for url in urls if wanted[url] == [1, 1])
    files = (tmp_path / "excluded").glob("*.parquet")
    excluded = [row for file in files for row in parquet.read_table(file).to_pylist()]
    assert len(excluded) + len(found) == len(urls)
    for row in excluded:
        verdicts = wanted[row["url"]]
        reason = {2: "robots_unknown", 3: "robots_not_a_url"}.get(int(verdicts[0]), "robots_disallowed")
        refused = [agent for agent, verdict in zip(AGENTS, verdicts) if verdict == 0]
        assert (row["filter_reason"], row["robots_disallowed_agents"]) == (reason, ",".join(refused))
    stats = json.loads((tmp_path / "logs" / "stats.json").read_text())[1]["stats"]
    assert total(stats["dropped_robots_disallowed"]) == sum(0 in verdicts for verdicts in map(wanted.get, urls))
    # The statistics and the log say what the default dropped, and how to keep it.
    unknown = sum(2 in verdicts for verdicts in map(wanted.get, urls))
    assert total(stats["dropped_robots_unknown"]) == unknown > 0
    log = "".join(path.read_text() for path in (tmp_path / "logs" / "logs").iterdir())
    said = re.findall(r"dropped ([\d,]+) documents? of unknown origins .*unknown='allow' keeps them", log)
    assert sum(int(count.replace(",", "")) for count in said) == unknown


def test_workers_verify_the_snapshot(small: Path, tmp_path: Path) -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    path = tmp_path / "web.rsieve"
    path.write_bytes(small.read_bytes())
    steps = [RobotsFilter(path, AGENTS), RobotsFilter(Snapshot(path), AGENTS)]
    unverified = RobotsFilter(Snapshot(path, verify=False), AGENTS)
    data = bytearray(small.read_bytes())
    # The name of the tool that wrote it, in a section that is verified before judging.
    data[data.index(b'"tool"') + len('"tool":"r')] ^= 1
    path.write_bytes(data)
    batch = documents(["https://shop.example/"])
    for step in steps:
        with pytest.raises(robosieve.SnapshotError, match="checksum"):
            step.filter_batch(batch)
    assert unverified.snapshot.checksum == steps[1].checksum


@pytest.mark.parametrize("invalid", ["keep", "drop"])
def test_documents_that_a_list_names_are_dropped(
    program: Path, small: Path, urls: list[str], tmp_path: Path, invalid: str
) -> None:
    needs_datatrove()
    from robosieve.datatrove import RobotsFilter

    (tmp_path / "own").write_text("shop.example/shoes\nnews.example\nnobody.example\n@@shop.example/shoes/red\n")
    subprocess.run([program, "lists", "-q", "-o", "own.rlists", "own"], check=True, cwd=tmp_path)
    lists = robosieve.Lists(tmp_path / "own.rlists")
    chosen = [*urls, "https://nobody.example/", "https://shop.example/shoes/1", "https://shop.example/shoes/red", None]
    reasons = lists.match(chosen)
    plain = RobotsFilter(small, AGENTS, missing="keep", invalid=invalid).filter_batch(documents(chosen))
    wanted = [(False, "robots_listed") if reason else result for reason, result in zip(reasons, plain)]
    assert wanted[-4:] == [(False, "robots_listed"), (False, "robots_listed"), plain[-2], True]
    assert len(set(wanted) - {True}) == (3 if invalid == "keep" else 4)
    for given in (lists, tmp_path / "own.rlists", str(tmp_path / "own.rlists")):
        step = RobotsFilter(small, AGENTS, missing="keep", invalid=invalid, lists=given)
        assert step.filter_batch(documents(chosen)) == wanted
        assert pickle.loads(pickle.dumps(step)).filter_batch(documents(chosen)) == wanted
    # The metadata of dropped documents.
    step.exclusion_writer = object()
    batch = documents(chosen)
    for document, reason, result in zip(batch, reasons, step.filter_batch(batch)):
        if result is True:
            assert "robots_listed" not in document.metadata
            continue
        assert document.metadata["robots_listed"] == (reason or "")
        assert bool(document.metadata["robots_disallowed_agents"]) == (result == (False, "robots_disallowed"))
    with pytest.raises(FileNotFoundError):
        RobotsFilter(small, AGENTS, lists=tmp_path / "missing")
