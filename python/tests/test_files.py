"""Jobs on files give the bytes of the command-line program, and end cleanly."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import _native
from robosieve._cluster.paths import find_inputs
from robosieve._counts import ReasonCounts

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


def test_tables_name_their_sets_as_the_command(program: Path, small: Path, tmp_path: Path) -> None:
    agents = ["@ai-search", "GPTBot", "@AI-SEARCH", "@ai-user"]
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    for name, function in [("annotate", robosieve.annotate), ("filter", robosieve.filter)]:
        function(small, PAGES, ours, agents)
        run(program, name, "-q", "-s", small, "-a", ",".join(agents), "-o", theirs, PAGES)
        assert b"robosieve." in ours.read_bytes()
        assert ours.read_bytes() == theirs.read_bytes()
        assert all(text in theirs.read_bytes() for text in [b'"@ai-search":["', b'"@ai-user":["'])
        assert b'"@AI-SEARCH"' not in theirs.read_bytes()


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


def test_filter_keeps_the_chosen_reasons(program: Path, small: Path, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    counts = robosieve.filter(small, URLS, ours, "GPTBot", keep="disallowed", reasons=["rules", "last-good-copy"])
    flags = ["--keep", "disallowed", "--reason", "rules,last-good-copy"]
    run(program, "filter", "-s", small, "-a", "GPTBot", "-o", theirs, *flags, URLS)
    assert ours.read_bytes() == theirs.read_bytes()
    by_reason = counts["reasons"]["disallowed"]
    assert len(ours.read_bytes().splitlines()) == by_reason["rules"] + by_reason["last-good-copy"]
    assert sum(by_reason.values()) == counts["disallowed"]
    with pytest.raises(ValueError, match="reasons"):
        robosieve.filter(small, URLS, ours, "GPTBot", reasons="no-such")  # type: ignore[arg-type]


def test_filter_adds_columns_to_disallowed_lines(program: Path, small: Path, tmp_path: Path) -> None:
    ours, theirs, kept = tmp_path / "ours", tmp_path / "theirs", tmp_path / "kept"
    robosieve.filter(small, URLS, kept, "GPTBot", disallowed_to=ours, disallowed_add=["reason", "rule"])
    flags = ["-o", kept, "--disallowed-to", theirs, "--disallowed-add", "reason,rule"]
    run(program, "filter", "-s", small, "-a", "GPTBot", *flags, URLS)
    assert ours.read_bytes() == theirs.read_bytes()
    assert {line.split("\t")[0] for line in ours.read_text().splitlines()} >= {"rules", "server-error"}
    robosieve.filter(small, URLS, theirs, "GPTBot", keep="disallowed", disallowed_add="reason")
    assert [line.split("\t")[1] for line in theirs.read_text().splitlines()] == [
        line.split("\t")[2] for line in ours.read_text().splitlines()
    ]
    with pytest.raises(ValueError, match="needs a file of disallowed records"):
        robosieve.filter(small, URLS, kept, "GPTBot", disallowed_add="reason")
    with pytest.raises(ValueError, match="disallowed_add"):
        robosieve.filter(small, URLS, kept, "GPTBot", disallowed_to=ours, disallowed_add="no-such")  # type: ignore[arg-type]


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
    robosieve.annotate(small, URLS, tmp_path / "plain.txt", "GPTBot")
    robosieve.annotate(small, URLS, tmp_path / "out.txt.gz", "GPTBot")
    assert gzip.decompress((tmp_path / "out.txt.gz").read_bytes()) == (tmp_path / "plain.txt").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (["nope.txt", "out", "GPTBot"], {}, FileNotFoundError, "nope.txt"),
        (["urls.txt", "nowhere/out", "GPTBot"], {}, FileNotFoundError, "there is no folder"),
        (["urls.txt", "urls.txt", "GPTBot"], {}, ValueError, "would be overwritten while it is read"),
        (["urls.txt", "link.txt", "GPTBot"], {}, ValueError, "would be overwritten while it is read"),
        (["urls.txt", "web.rsieve", "GPTBot"], {}, ValueError, "the same file as the snapshot"),
        (["web.rsieve", "out", "GPTBot"], {}, robosieve.RobosieveError, "a robosieve snapshot, not a list of URLs"),
        (["words.txt", "out", "GPTBot"], {}, robosieve.RobosieveError, "none of the 2 lines has a URL"),
        ([["urls.txt", "pages.parquet"], "out", "GPTBot"], {}, ValueError, "some inputs are lists and some are Parquet files"),
        (["pages.parquet", "out", "GPTBot"], {"field": "nope"}, robosieve.RobosieveError, 'has no column "nope"'),
        (["pages.parquet", "out", "GPTBot"], {"field": 3}, ValueError, "field 3: the columns of a Parquet file"),
        (["pages.parquet", "out", "GPTBot"], {"as_of_column": "nope"}, robosieve.RobosieveError, 'has no column "nope"'),
        (["pages.parquet", "out", "GPTBot"], {"as_of_column": 3}, ValueError, "column 3 of times"),
        (["pages.parquet", "out", "GPTBot"], {"as_of_record": True}, ValueError, "column or key of the times: as_of_column="),
        (["urls.txt", "out", "GPTBot"], {"as_of_record": True}, robosieve.RobosieveError, "a list of URLs has no times"),
        (["pages.parquet", "out", "GPTBot"], {"form": "letters"}, ValueError, "a Parquet file takes bits or int8"),
        (["pages.parquet", "out", "GPTBot"], {"preferences": True}, ValueError, "a Parquet file takes verdicts only"),
        (["urls.txt", "out", "GPTBot"], {"form": "bits"}, ValueError, "lines take letters, jsonl, csv or mask"),
        (["urls.txt", "out", "GPTBot"], {"name": "x"}, ValueError, "the form letters has no name"),
        (["urls.txt", "out.parquet", "GPTBot"], {}, ValueError, "name it out.txt"),
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


@pytest.mark.parametrize(
    ("inputs", "output", "error", "name"),
    [
        ("missing.txt", "out.txt", FileNotFoundError, "missing.txt"),
        ("urls.txt", "missing/out.txt", FileNotFoundError, "missing/out.txt"),
        ("urls.txt", "urls.txt/out.txt", NotADirectoryError, "urls.txt/out.txt"),
        ("urls.txt", "folder", IsADirectoryError, "folder"),
        ("folder", "out.txt", IsADirectoryError, "folder"),
    ],
)
def test_missing_files_and_folders_are_os_errors(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: str, output: str, error: Any, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("urls.txt").write_bytes(URLS.read_bytes())
    jobs = [lambda: robosieve.filter(small, inputs, output, "GPTBot")]
    jobs += [lambda: robosieve.annotate(small, inputs, output, "GPTBot")]
    if inputs != "folder":
        Path("urls.txt").write_bytes((URLS.parent / "robots.warc").read_bytes())
        jobs += [lambda: robosieve.compile(inputs, output)]
    for job in jobs:
        with pytest.raises(error) as caught:
            job()
        assert caught.value.errno is not None and caught.value.filename == name


def test_wrong_types_name_the_argument(small: Path) -> None:
    for arguments, message in [
        ((7, "urls.txt", "out"), "snapshot is of type int; give a Snapshot, or the path of one"),
        ((small, 7, "out"), "inputs is of type int; give a path, or a list of paths"),
        ((small, ["urls.txt", None], "out"), "inputs holds a value of type NoneType; give a path"),
        ((small, b"urls.txt", "out"), "inputs is of type bytes"),
    ]:
        with pytest.raises(TypeError, match=message):
            robosieve.annotate(*arguments, "GPTBot")  # type: ignore[arg-type]


def warc_record(url: str, text: bytes) -> bytes:
    """A gzip member with one record."""
    target = f"WARC-Target-URI: {url}\r\n" if url else ""
    kind = "conversion" if url else "warcinfo"
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\n{target}Content-Length: {len(text)}\r\n\r\n"
    return gzip.compress(head.encode() + text + b"\r\n\r\n", mtime=0)


def test_warc_files_are_filtered_and_annotated(
    small: Path, snapshot: robosieve.Snapshot, urls: list[str], tmp_path: Path
) -> None:
    """Kept records keep their gzip members, and annotations are those of a list of the same URLs."""
    judged = [url for url in urls if int(snapshot.verdict(url, "GPTBot")) != 3] + ["dns:a.example"]
    records = [warc_record(url, b"text") for url in judged]
    info = warc_record("", b"software: none\r\n")
    (tmp_path / "pages.warc.wet.gz").write_bytes(info + b"".join(records))
    pages = tmp_path / "pages.warc.wet.gz"
    outputs = {name: tmp_path / f"{name}.warc.wet.gz" for name in ["kept", "disallowed_to", "unknown_to", "invalid_to"]}
    others = {name: path for name, path in outputs.items() if name != "kept"}
    index = tmp_path / "kept.cdxj"
    counts = robosieve.filter(small, pages, outputs["kept"], "GPTBot", cdxj=index, **others)
    verdicts = [snapshot.verdict(url, "GPTBot") for url in judged]
    expected = {"kept": [info], "disallowed_to": [], "unknown_to": [], "invalid_to": []}
    places = {0: "disallowed_to", 1: "kept", 2: "unknown_to", 3: "invalid_to"}
    for record, verdict in zip(records, verdicts):
        expected[places[int(verdict)]].append(record)
    for name, path in outputs.items():
        # A gzip file has at least one member.
        assert not expected[name] or path.read_bytes() == b"".join(expected[name]), name
    assert counts["lines"] == len(records) and counts["warcinfo"] == 1
    assert len(index.read_text().splitlines()) == len(expected["kept"]) - 1

    robosieve.annotate(small, pages, tmp_path / "records.txt", "GPTBot")
    letters = [line.split("\t")[0] for line in (tmp_path / "records.txt").read_text().splitlines()]
    assert letters == ["I"] + ["DAUI"[int(verdict)] for verdict in verdicts]

    with pytest.raises(ValueError, match="the name must end in .gz"):
        robosieve.filter(small, pages, tmp_path / "kept.warc", "GPTBot")
    with pytest.raises(ValueError, match="WARC-Target-URI"):
        robosieve.filter(small, pages, tmp_path / "kept.warc.gz", "GPTBot", host="e.example")


def test_arc_and_wacz_files_stand_for_warc_files(small: Path, tmp_path: Path) -> None:
    first = b"filedesc://x.arc 0.0.0.0 20260304050607 text/plain 12\n1 0 Crawler\n\n"
    page = b"HTTP/1.0 200 OK\r\n\r\n<p>"
    line = b"https://shop.example/ 192.0.2.1 20260304050607 text/html %d\n" % len(page)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "x.arc").write_bytes(first + line + page + b"\n")
    with zipfile.ZipFile(folder / "crawl.wacz", "w") as archive:
        archive.writestr("archive/x.warc", gzip.decompress(warc_record("https://shop.example/cart", b"text")), zipfile.ZIP_DEFLATED)
        archive.writestr("datapackage.json", "{}")
    snapshot = robosieve.Snapshot(small)
    counts = robosieve.filter(snapshot, folder / "x.arc", tmp_path / "kept.warc", "GPTBot")
    assert (counts["allowed"], counts["warcinfo"]) == (1, 1)
    assert b"WARC-Target-URI: https://shop.example/\r\n" in (tmp_path / "kept.warc").read_bytes()
    counts = robosieve.annotate(snapshot, folder / "crawl.wacz", tmp_path / "lines", "GPTBot")
    assert (tmp_path / "lines").read_bytes().endswith(b"\thttps://shop.example/cart\n")
    with pytest.raises(ValueError, match="wacz create"):
        robosieve.filter(snapshot, folder / "crawl.wacz", tmp_path / "kept.wacz", "GPTBot")
    # Jobs on clusters name their outputs so.
    for output_name, expected in [
        (_native.name_after_input, {"x.arc": "x.warc", "crawl.wacz": "crawl.warc.gz"}),
        (lambda name: _native.name_of_annotations(name, None), {"x.arc": "x.arc.tsv", "crawl.wacz": "crawl.wacz.tsv.gz"}),
        (lambda name: _native.name_of_annotations(name, "jsonl"), {"x.arc": "x.arc.jsonl", "crawl.wacz": "crawl.wacz.jsonl.gz"}),
    ]:
        files = find_inputs(folder).as_outputs(output_name).files
        assert {os.path.basename(file.path): file.name for file in files} == expected
    with pytest.raises(ValueError, match="the name says .warc; name it .*crawl.txt"):
        robosieve.annotate(snapshot, folder / "crawl.wacz", tmp_path / "crawl.warc.gz", "GPTBot")
    robosieve.annotate(snapshot, folder / "crawl.wacz", tmp_path / "crawl.wacz.tsv.gz", "GPTBot")
    assert gzip.decompress((tmp_path / "crawl.wacz.tsv.gz").read_bytes()) == (tmp_path / "lines").read_bytes()


@pytest.mark.parametrize("codec", ["snappy", "gz", "zstd", "lz4", "lz4raw", "lz4hadoop", "br", "lzo", "brotli"])
def test_names_may_say_the_compression_inside(small: Path, tmp_path: Path, codec: str) -> None:
    source, name = tmp_path / f"part-0-c000.{codec}.parquet", f"out-c000.{codec}.parquet"
    source.write_bytes((SMALL / "pages.parquet").read_bytes())
    assert robosieve.annotate(small, source, tmp_path / name, "GPTBot")["lines"] == 200
    assert robosieve.filter(small, source, tmp_path / name, "GPTBot")["lines"] == 200
    if codec in ("snappy", "gz", "zstd", "lz4"):
        with pytest.raises(ValueError, match="Parquet is written here"):
            robosieve.filter(small, source, tmp_path / f"out.parquet.{codec}", "GPTBot")


def test_directories_of_tables_are_refused_by_name(small: Path, tmp_path: Path) -> None:
    (tmp_path / "pages" / "_delta_log").mkdir(parents=True)
    (tmp_path / "pages" / "lang=de").mkdir()
    file = tmp_path / "pages" / "lang=de" / "part-0.snappy.parquet"
    file.write_bytes((SMALL / "pages.parquet").read_bytes())
    for directory in (tmp_path / "pages", tmp_path / "pages" / "lang=de"):
        for function in (robosieve.annotate, robosieve.filter):
            with pytest.raises(robosieve.RobosieveError, match=f"^{directory}: belongs to the Delta Lake table "):
                function(small, directory, tmp_path / "out.parquet", "GPTBot")
    assert robosieve.filter(small, file, tmp_path / "out.parquet", "GPTBot")["lines"] == 200


def test_no_output_overwrites_the_file_of_a_copy(small: Path, tmp_path: Path) -> None:
    shared = tmp_path / "web.rsieve"
    shared.write_bytes(small.read_bytes())
    snapshot = robosieve.Snapshot(shared, node_directory=tmp_path / "disk")
    for output in (shared, tmp_path / "disk" / ".." / "web.rsieve"):
        with pytest.raises(ValueError, match="is the same file as the snapshot"):
            robosieve.filter(snapshot, SMALL / "urls.txt", output, "GPTBot")
    assert shared.read_bytes() == small.read_bytes()


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


def test_counts_have_the_keys_of_their_type(small: Path, tmp_path: Path) -> None:
    required, optional = robosieve.FilterCounts.__required_keys__, robosieve.FilterCounts.__optional_keys__
    for counts in (
        robosieve.filter(small, URLS, None, "GPTBot"),
        robosieve.annotate(small, URLS, tmp_path / "out", "GPTBot"),
    ):
        assert set(counts) == required
        assert set(counts["reasons"]) == ReasonCounts.__required_keys__
    lists = robosieve.Lists.compile({"own": ["shop.example"]})
    counts = robosieve.filter(small, URLS, None, "GPTBot", lists=lists)
    assert set(counts) == required | {"listed", "listed_by"} and counts["listed_by"] == {"own": counts["listed"]}
    assert optional == {"listed", "listed_by", "without_time", "warcinfo"}
    assert robosieve.filter(small, URLS.parent / "robots.warc", None, "GPTBot")["warcinfo"] > 0
