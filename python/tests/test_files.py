"""Jobs on files give the bytes of the command-line program, and end cleanly."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import robosieve

SMALL = Path(__file__).resolve().parents[2] / "datasets/small"
URLS = SMALL / "urls.txt"
PAGES = SMALL / "pages.parquet"


def run(program: Path, *arguments: object) -> None:
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(
    ("source", "options", "flags"),
    [
        (URLS, {}, []),
        (URLS, {"form": "jsonl", "preferences": True}, ["--as", "jsonl", "--preferences"]),
        (URLS, {"form": "mask"}, ["--as", "mask"]),
        (
            URLS,
            {"unknown": "disallow", "status_policy": "strict"},
            ["--unknown", "disallow", "--status-policy", "strict"],
        ),
        (URLS, {"any_scheme": True, "agent_match": "google"}, ["--scheme", "any", "--agent-match", "google"]),
        (URLS, {"at": "2027-01-01"}, ["--at", "2027-01-01T00:00:00Z"]),
        (PAGES, {}, []),
        (PAGES, {"form": "int8", "name": "may_"}, ["--as", "int8", "--as-name", "may_"]),
    ],
    ids=str,
)
def test_annotate_equals_the_command(
    program: Path, small: Path, tmp_path: Path, source: Path, options: dict[str, Any], flags: list[str], threads: int
) -> None:
    ours, theirs = tmp_path / ("ours" + source.suffix), tmp_path / ("theirs" + source.suffix)
    counts = robosieve.annotate(small, source, ours, "GPTBot,Googlebot", threads=threads, **options)
    run(program, "annotate", "-s", small, "-a", "GPTBot,Googlebot", "-o", theirs, *flags, source)
    assert ours.read_bytes() == theirs.read_bytes()
    assert counts["lines"] == sum(counts[verdict] for verdict in ["allowed", "disallowed", "unknown", "invalid"]) > 0
    assert len(counts["agent_allowed"]) == 2


@pytest.mark.parametrize("source", [URLS, PAGES], ids=str)
@pytest.mark.parametrize(("keep", "require"), [("allowed", "all"), ("disallowed", "any")])
def test_filter_equals_the_command(
    program: Path, small: Path, tmp_path: Path, source: Path, keep: Any, require: Any
) -> None:
    names = ["kept", "disallowed", "unknown", "invalid"]
    ours = {name: tmp_path / f"ours-{name}{source.suffix}" for name in names}
    theirs = {name: tmp_path / f"theirs-{name}{source.suffix}" for name in names}
    outputs = {f"{name}_to": ours[name] for name in names[1:] if (keep, name) != ("disallowed", "disallowed")}
    counts = robosieve.filter(
        robosieve.Snapshot(small),
        [source, source],
        ours["kept"],
        ["GPTBot", "CCBot"],
        keep=keep,
        require=require,
        **outputs,
    )
    flags = [word for name in outputs for word in (f"--{name.replace('_', '-')}", theirs[name[:-3]])]
    run(
        program,
        "filter",
        "-s",
        small,
        "-a",
        "GPTBot,CCBot",
        "--keep",
        keep,
        "--require",
        require,
        "-o",
        theirs["kept"],
        *flags,
        source,
        source,
    )
    assert counts["lines"] > 300
    for name in ["kept", *(output[:-3] for output in outputs)]:
        assert ours[name].read_bytes() == theirs[name].read_bytes(), name


def test_urls_in_columns_and_keys(small: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('id,page\n1,"https://news.example/world/"\n2,https://shop.example/\n')
    (tmp_path / "rows.jsonl").write_text('{"page": "https://news.example/world/"}\n{"page": "https://shop.example/"}\n')
    cases: list[tuple[str, dict[str, Any]]] = [
        ("rows.csv", {"field": "page"}),
        ("rows.csv", {"field": 2, "header": True}),
        ("rows.jsonl", {"json_key": "page"}),
    ]
    for name, options in cases:
        counts = robosieve.annotate(small, tmp_path / name, tmp_path / "out", "GPTBot", **options)
        assert (counts["lines"], counts["allowed"], counts["disallowed"]) == (2, 1, 1), (name, options)
    (tmp_path / "paths.txt").write_text("/world/\n/robots.txt\n")
    counts = robosieve.filter(
        small,
        tmp_path / "paths.txt",
        None,
        "GPTBot",
        default_scheme="https",
        host="news.example",
        invalid_to=tmp_path / "odd",
    )
    assert (counts["lines"], counts["invalid"]) == (2, 0)


def test_compressed_outputs(small: Path, tmp_path: Path) -> None:
    import gzip

    robosieve.annotate(small, URLS, tmp_path / "plain.txt", "GPTBot")
    robosieve.annotate(small, URLS, tmp_path / "out.txt.gz", "GPTBot")
    assert gzip.decompress((tmp_path / "out.txt.gz").read_bytes()) == (tmp_path / "plain.txt").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (["nope.txt", "out", "GPTBot"], {}, FileNotFoundError, "nope.txt"),
        (["urls.txt", "nowhere/out", "GPTBot"], {}, robosieve.RobosieveError, "there is no folder"),
        (["urls.txt", "urls.txt", "GPTBot"], {}, ValueError, "would be overwritten while it is read"),
        (["urls.txt", "link.txt", "GPTBot"], {}, ValueError, "would be overwritten while it is read"),
        (["urls.txt", "web.rsieve", "GPTBot"], {}, ValueError, "the same file as the snapshot"),
        (["web.rsieve", "out", "GPTBot"], {}, robosieve.RobosieveError, "a robosieve snapshot, not a list of URLs"),
        (["words.txt", "out", "GPTBot"], {}, robosieve.RobosieveError, "no URL in 2 lines"),
        ([["urls.txt", "pages.parquet"], "out", "GPTBot"], {}, ValueError, "some inputs are Parquet files"),
        (["pages.parquet", "out", "GPTBot"], {"field": "nope"}, robosieve.RobosieveError, 'has no column "nope"'),
        (["pages.parquet", "out", "GPTBot"], {"field": 3}, ValueError, "field=3: the columns of a Parquet file"),
        (["pages.parquet", "out", "GPTBot"], {"form": "letters"}, ValueError, 'give one of "bits", "int8"'),
        (["pages.parquet", "out", "GPTBot"], {"preferences": True}, ValueError, "preferences=True is for lists"),
        (["urls.txt", "out", "GPTBot"], {"form": "bits"}, ValueError, 'give one of "letters", "jsonl", "mask"'),
        (["urls.txt", "out", "GPTBot"], {"name": "x"}, ValueError, "name= is for the columns"),
        (["urls.txt", "out", "GPTBot"], {"delimiter": "::"}, ValueError, "give one ASCII character"),
        (["urls.txt", "out", "GPTBot"], {"input_format": "xml"}, ValueError, 'input_format="xml"; give one of'),
        (["urls.txt", "out", "GPTBot"], {"threads": 0}, ValueError, "threads=0; give at least 1"),
        (["urls.txt", "out", "@nobody"], {}, ValueError, "@nobody"),
        (["urls.txt", "out", []], {}, ValueError, "no agent; name one"),
    ],
)
def test_errors_say_what_to_do_and_leave_no_output(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, options: Any, error: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("urls.txt").write_bytes(URLS.read_bytes())
    os.link("urls.txt", "link.txt")
    Path("pages.parquet").write_bytes(PAGES.read_bytes())
    Path("words.txt").write_text("some\nwords\n")
    Path("web.rsieve").write_bytes(small.read_bytes())
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    with pytest.raises(error, match=message):
        robosieve.annotate("web.rsieve", *arguments, **options)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_outputs_of_a_filter_are_distinct(small: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="named for two outputs, output and disallowed_to"):
        robosieve.filter(small, URLS, tmp_path / "a", "GPTBot", disallowed_to=tmp_path / "a")


@pytest.fixture(scope="module")
def long_list(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list that takes a second or more on one thread."""
    path = tmp_path_factory.mktemp("long") / "urls.txt"
    path.write_bytes(URLS.read_bytes() * 60_000)
    return path


def test_progress_reaches_the_size_of_the_inputs(small: Path, long_list: Path) -> None:
    seen: list[int] = []
    robosieve.filter(small, long_list, None, "GPTBot", invalid_to=os.devnull, progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == long_list.stat().st_size


def test_ctrl_c_ends_a_run_and_leaves_no_output(
    small: Path, long_list: Path, tmp_path: Path, interrupt_after: Callable[[float], None]
) -> None:
    interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        robosieve.annotate(small, long_list, tmp_path / "out", "GPTBot", threads=1, form="jsonl")
    assert list(tmp_path.iterdir()) == []


def test_an_exception_of_the_callback_ends_a_run(small: Path, long_list: Path, tmp_path: Path) -> None:
    def progress(_: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        robosieve.annotate(small, long_list, tmp_path / "out", "GPTBot", threads=1, progress=progress)
    assert list(tmp_path.iterdir()) == []


def test_counts_are_those_of_the_verdicts(snapshot: robosieve.Snapshot, lines: list[bytes], tmp_path: Path) -> None:
    counts = robosieve.annotate(snapshot, URLS, tmp_path / "out.jsonl", "GPTBot", form="jsonl")
    verdicts = snapshot.verdicts(lines, "GPTBot")
    names = ["disallowed", "allowed", "unknown", "invalid"]
    assert [counts[name] for name in names] == [verdicts.count(code) for code in range(4)]
    written = [json.loads(line)["robots"]["GPTBot"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert written == [verdict.name.lower() for verdict in verdicts]


def test_int8_columns_are_those_of_verdicts(snapshot: robosieve.Snapshot, urls: list[str], tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = pa.array([None, *urls, None])
    parquet.write_table(pa.table({"url": rows}), tmp_path / "in.parquet", row_group_size=50)
    agents = ["GPTBot", "Googlebot"]
    robosieve.annotate(snapshot, tmp_path / "in.parquet", tmp_path / "out.parquet", agents, form="int8")
    table = parquet.read_table(tmp_path / "out.parquet")
    for agent in agents:
        codes = table[f"robots_{agent}"].to_pylist()
        assert codes == snapshot.verdicts(rows, agent).to_pylist()
        assert set(codes) == {0, 1, 2, 3, None}
