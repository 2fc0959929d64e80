"""Filter lists: columns of every library get the reasons that the command finds."""

from __future__ import annotations

import gzip
import itertools
import json
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import ListMatch, Lists, Snapshot

DOMAINS = "adult.example\nmünchen.example\n192.0.2.7\nshared.example\n"
ADS = "0.0.0.0 ads.example\n0.0.0.0 shared.example\nshop.example/cart\n@@good.ads.example\n"
OURS = "www.adult.example\n"

#: URLs, with the word, the lists and the entry that the command prints for them.
FOUND: list[tuple[Any, tuple[str, str, str]]] = [
    ("https://adult.example/", ("listed", "adult", "adult.example")),
    ("http://a.b.adult.example:81/x", ("listed", "adult", "adult.example")),
    ("https://www.adult.example/", ("exception", "ours", "@@www.adult.example")),
    ("https://WWW.München.example/", ("listed", "adult", "xn--mnchen-3ya.example")),
    ("http://0xc0000207/", ("listed", "adult", "192.0.2.7")),
    ("https://x.shared.example/", ("listed", "adult,ads", "shared.example")),
    ("https://x.ads.example/", ("listed", "ads", "ads.example")),
    ("https://good.ads.example/", ("exception", "ads", "@@good.ads.example")),
    ("https://shop.example/cart/7", ("listed", "ads", "shop.example/cart")),
    ("https://shop.example/tea", ("-", "-", "-")),
    ("https://tea.example/", ("-", "-", "-")),
    ("/cart", ("invalid", "-", "-")),
    ("", ("invalid", "-", "-")),
]
URLS = [url for url, _ in FOUND]
REASONS = [f"list:{names.split(',')[0]}" if word == "listed" else None for _, (word, names, _) in FOUND]


@pytest.fixture(scope="module")
def path(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three lists, compiled by the command."""
    directory = tmp_path_factory.mktemp("lists")
    for name, text in [("domains", DOMAINS), ("ads.txt", ADS), ("ours.txt", OURS)]:
        (directory / name).write_text(text, encoding="utf-8")
    command: list[Any] = [program, "lists", "-q", "-o", "own.rlists", "adult=domains", "ads.txt", "--allow", "ours.txt"]
    subprocess.run(command, check=True, cwd=directory)
    return directory / "own.rlists"


@pytest.fixture(scope="module")
def lists(path: Path) -> Lists:
    return Lists(path)


def test_entries_are_those_of_the_command(program: Path, path: Path, lists: Lists) -> None:
    options = [option for url in URLS[:-1] for option in ("--find", url)]
    done = subprocess.run([program, "lists", path, *options], check=True, capture_output=True)
    rows = [tuple(line.split("\t")[:3]) for line in done.stdout.decode().splitlines()]
    assert rows == [row for _, row in FOUND[:-1]]
    for url, (word, names, entry) in FOUND:
        found = lists.find(url)
        if word in ("listed", "exception"):
            assert found == ListMatch(tuple(names.split(",")), entry, word == "exception")
        else:
            assert found is None
        assert lists.find(url.encode()) == found
    assert lists.names == ["adult", "ads", "ours"]
    assert repr(lists) == f"<robosieve.Lists {path}: adult, ads, ours>"


def test_columns_of_every_library(lists: Lists) -> None:
    urls, expected = [*URLS, None, *URLS[:3]], [*REASONS, None, *REASONS[:3]]
    assert lists.match(urls) == expected
    assert lists.match([]) == []
    assert lists.match([None]) == [None]
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        column = pa.array(urls, pa.string()).cast(kind) if kind != pa.string_view() else pa.array(urls, kind)
        found = lists.match(column)
        assert pa.types.is_dictionary(found.type) and found.to_pylist() == expected
    chunks = pa.chunked_array([urls[:5], [], urls[5:]], pa.string())
    found = lists.match(chunks)
    assert [len(chunk) for chunk in found.chunks] == [5, 0, len(urls) - 5] and found.to_pylist() == expected
    assert lists.match(pa.array(urls)[3:9]).to_pylist() == expected[3:9]


def test_frames(lists: Lists) -> None:
    polars = pytest.importorskip("polars")
    series = lists.match(polars.Series("url", URLS))
    assert (series.name, series.to_list()) == ("robots_listed", REASONS)
    pandas = pytest.importorskip("pandas")
    column = lists.match(pandas.Series(URLS, index=range(5, 5 + len(URLS))))
    assert column.index[0] == 5 and [None if pandas.isna(word) else word for word in column] == REASONS
    numpy = pytest.importorskip("numpy")
    assert list(lists.match(numpy.array(URLS))) == REASONS


def test_lists_are_opened_in_every_way(path: Path, lists: Lists) -> None:
    data = path.read_bytes()
    for opened in (
        Lists(path, verify="full"),
        Lists(str(path), verify=False),
        Lists.from_bytes(data),
        Lists.from_bytes(bytearray(data), verify="full"),
        pickle.loads(pickle.dumps(lists)),
        pickle.loads(pickle.dumps(Lists.from_bytes(data))),
    ):
        assert opened.match(URLS) == REASONS and opened.checksum == lists.checksum
    assert repr(Lists.from_bytes(data)) == "<robosieve.Lists in memory: adult, ads, ours>"
    other = path.with_name("other.rlists")
    other.write_bytes(data)
    pickled = pickle.dumps(Lists(other))
    other.write_bytes(robosieve_lists(path, "only.example\n"))
    with pytest.raises(ValueError, match="its content is another"):
        pickle.loads(pickled)


#: The lists of the fixture, as they are given to `Lists.compile`.
TEXTS = {"adult": DOMAINS, "ads": ADS}


def lines_of(text: str) -> list[str | bytes]:
    """Lines in every form: str and bytes, with and without their ends."""
    ends = ["", "\n", "\r\n"]
    lines = [line + ends[number % 3] for number, line in enumerate(text.splitlines())]
    return [line if number % 2 else line.encode() for number, line in enumerate(lines)]


def test_lists_are_compiled_as_by_the_command(path: Path, tmp_path: Path) -> None:
    expected = path.read_bytes()
    files = {name: path.parent / file for name, file in [("adult", "domains"), ("ads", "ads.txt")]}
    ours = path.parent / "ours.txt"
    packed = tmp_path / "domains.gz"
    packed.write_bytes(gzip.compress(DOMAINS.encode()))
    forms: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (files, {"ours": ours}),
        ({name: str(file) for name, file in files.items()}, {"ours": str(ours)}),
        ({"adult": packed, "ads": ADS.splitlines()}, {"ours": (OURS,)}),
        ({name: lines_of(text) for name, text in TEXTS.items()}, {"ours": lines_of(OURS)}),
        ({name: (line for line in lines_of(text)) for name, text in TEXTS.items()}, {"ours": iter([OURS])}),
    ]
    for number, (given, allow) in enumerate(forms):
        compiled = Lists.compile(given, allow=allow)
        assert compiled.names == ["adult", "ads", "ours"] and compiled.match(URLS) == REASONS
        assert pickle.loads(pickle.dumps(compiled)).checksum == compiled.checksum == Lists(path).checksum
        if number < 4:
            out = tmp_path / f"{number}.rlists"
            assert repr(Lists.compile(given, allow=allow, output=out)).startswith(f"<robosieve.Lists {out}: ")
            assert out.read_bytes() == expected
    domains = Lists.compile({"adult": files["adult"]}, output=tmp_path / "adult.rlists")
    for before in (domains, tmp_path / "adult.rlists", [str(tmp_path / "adult.rlists")], pickle.loads(pickle.dumps(domains))):
        merged = Lists.compile({"ads": files["ads"]}, allow={"ours": ours}, compiled=before)
        assert merged.checksum == Lists(path).checksum
    assert Lists.compile(compiled=[domains]).match(URLS) == domains.match(URLS)
    with open(files["ads"], "rb") as file:
        assert Lists.compile({"ads": file}).names == ["ads"]
    assert Lists.compile(allow={"ours": ours}).match(URLS) == [None] * len(URLS)
    # More lines than are taken at once, and a line longer than that.
    many = [f"{number}.example" for number in range(100_000)]
    compiled = Lists.compile({"many": iter(many)})
    assert compiled.match([f"https://www.{many[-1]}/", "https://x.example/"]) == ["list:many", None]
    with pytest.warns(UserWarning, match=r"line 2 is `xxx.*` \(a line of more than"):
        Lists.compile({"long": ["a.example", "x" * 600_000, "b.example"]})


def test_lists_of_words_are_compiled_as_by_the_command(program: Path, tmp_path: Path) -> None:
    texts = {"sites": "bad.example\n", "bets": "casino\nPoker\n", "soft": "win\nbonus\nfree\n", "wide": "big win\n"}
    for name, text in [*texts.items(), ("ours", "good.example\n")]:
        (tmp_path / name).write_text(text)
    arguments: dict[str, Any] = {
        "block_words": {"bets": texts["bets"].splitlines()},
        "soft_words": {"soft": tmp_path / "soft"},
        "block_substrings": {"wide": iter(["big win"])},
        "allow": {"ours": ["good.example"]},
    }
    urls = ["https://bad.example/", "https://a.example/my-POKER", "https://poker.good.example/"]
    urls += ["https://a.example/pokers", "https://a.example/win?bonus", "https://a.example/win/win"]
    urls += ["https://a.example/abigwinner", "https://free.win.example/bonus"]
    listed = ["list:sites", "list:bets", None, None, "list:soft", None, "list:wide", "list:soft"]
    options = ["--block-words", "bets", "--soft-words", "soft", "--block-substrings", "wide", "--allow", "ours"]
    cases: list[tuple[dict[str, Any], list[str], dict[int, str | None]]] = [
        ({}, [], {}),
        ({"soft_threshold": 1}, ["--soft-threshold", "1"], {5: "list:soft"}),
        ({"soft_threshold": 3}, ["--soft-threshold", "3"], {4: None}),
        ({"words_in": "host"}, ["--words-in", "host"], {1: None, 4: None, 6: None}),
        ({"words_in": "path"}, ["--words-in", "path"], {7: None}),
    ]
    for given, added, changed in cases:
        compiled = Lists.compile({"sites": ["bad.example"]}, output=tmp_path / "ours.rlists", **arguments, **given)
        assert compiled.match(urls) == [changed.get(row, word) for row, word in enumerate(listed)], given
        command = [program, "lists", "-q", "-o", "their.rlists", "sites", *options, *added]
        subprocess.run(command, check=True, cwd=tmp_path)
        assert (tmp_path / "ours.rlists").read_bytes() == (tmp_path / "their.rlists").read_bytes(), given
        arguments["block_substrings"] = {"wide": texts["wide"].splitlines()}
    assert Lists.compile(block_words={"bets": ["casino"]}).match(["https://casino.example/"]) == ["list:bets"]
    with pytest.warns(UserWarning, match="list 'bets': 1 line is not an entry, and skipped: line 2 is `two words` "):
        Lists.compile(block_words={"bets": ["casino", "two words"]})


def test_lines_that_are_not_entries(tmp_path: Path) -> None:
    lines = ["a.example", "two words here", "# a comment", "com", ""]
    (tmp_path / "list").write_text("\n".join(lines))
    forms: list[tuple[Any, str]] = [(lines, "list 'mine'"), (iter(lines), "list 'mine'")]
    forms.append((tmp_path / "list", f"{tmp_path}/list"))
    for text, shown in forms:
        with pytest.warns(UserWarning) as caught:
            compiled = Lists.compile({"mine": text})
        assert [Path(warning.filename).name for warning in caught] == ["test_lists.py"]
        message = str(caught[0].message)
        assert message.startswith(f"{shown}: 2 lines are not entries, and skipped: line 2 is `two words here` (")
        assert message.endswith("line 4 is `com` (a public suffix)")
        assert compiled.match(["https://a.example/", "https://b.com/"]) == ["list:mine", None]
    with pytest.raises(robosieve.RobosieveError, match="list 'mine': 2 lines are not entries: line 2 is `two words"):
        Lists.compile({"mine": lines}, strict=True)
    with pytest.warns(UserWarning, match="list 'mine': 1 line is not an entry, and skipped: line 2 is"):
        accepting = Lists.compile({"mine": lines}, allow_suffixes=True)
    assert accepting.match(["https://b.com/"]) == ["list:mine"]
    with pytest.warns(UserWarning, match="list 'none': the list has no entry"):
        assert Lists.compile({"none": []}).match(URLS) == [None] * len(URLS)
    with pytest.raises(robosieve.RobosieveError, match="list 'none': the list has no entry; remove it"):
        Lists.compile({"none": []}, strict=True)


def test_errors_of_compiling_say_what_to_do(path: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("a.example\n")
    hosts = tmp_path / "hosts.rlists"
    Lists.compile(block_words={"bets": ["casino"]}, words_in="host", output=hosts)

    def failing() -> Iterator[str]:
        yield "a.example"
        raise LookupError("of the iterable")

    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({}, ValueError, "no list is given; give at least one by its name"),
        ({"lists": {}, "allow": {}}, ValueError, "no list is given"),
        ({"lists": [str(text)]}, TypeError, "lists is of type list; give the lists by their names"),
        ({"lists": str(text)}, TypeError, "lists is of type str; give the lists by their names"),
        ({"lists": {7: text}}, TypeError, "lists has a key of type int"),
        ({"lists": {"two words": text}}, ValueError, '"two words": the name of a list has letters'),
        ({"lists": {"a": text}, "allow": {"a": text}}, ValueError, "lists and allow both have a list 'a'"),
        ({"lists": {"ads": text}, "compiled": path}, ValueError, "compiled and lists both have a list 'ads'"),
        ({"compiled": [path, path]}, ValueError, "two of the compiled lists are named 'adult'; compile one"),
        ({"compiled": path, "output": path}, ValueError, "is the same file as a list"),
        ({"compiled": text}, robosieve.RobosieveError, "not a compiled file of filter lists"),
        ({"block_words": {"a": ["x"]}, "compiled": hosts, "words_in": "url"}, robosieve.RobosieveError, "`host`, 2"),
        ({"block_words": {"a": ["x"]}, "soft_words": {"a": ["x"]}}, ValueError, "block_words and soft_words both have"),
        ({"soft_words": {"a": ["x"]}, "soft_threshold": 1001}, ValueError, "soft_threshold=1001; give 1 to 1000"),
        ({"soft_words": {"a": ["x"]}, "soft_threshold": 0}, ValueError, "soft_threshold=0; give 1"),
        ({"block_words": {"a": ["x"]}, "words_in": "query"}, ValueError, 'words_in="query"; give one of "url", "host"'),
        ({"lists": {"a": b"a.example"}}, TypeError, "list 'a' is of type bytes; give a path, or the lines"),
        ({"lists": {"a": None}}, TypeError, "list 'a' is of type NoneType"),
        ({"lists": {"a": ["a.example", 7]}}, TypeError, 'list "a", line 2: int: a line is str or bytes'),
        ({"lists": {"a": ["a.example", "\ud800"]}}, ValueError, 'list "a", line 2: .* surrogates not allowed'),
        ({"lists": {"a": failing()}}, LookupError, "of the iterable"),
        ({"lists": {"a": "a.example\nb.example"}}, ValueError, r"list 'a': .* its lines: text.splitlines\(\)"),
        ({"lists": {"a": "s3://b/list"}}, ValueError, "s3://b/list: a list is a local file"),
        ({"lists": {"a": text}, "output": "s3://b/own"}, ValueError, "s3://b/own: lists are a local file"),
        ({"lists": {"a": ["<html>"]}}, robosieve.RobosieveError, 'list "a": no line is an entry .*: line 1 is `<html>`'),
        ({"lists": {"a": path}}, robosieve.RobosieveError, "own.rlists: a file of filter lists, not a list"),
        ({"lists": {"a": tmp_path / "missing"}}, FileNotFoundError, "missing"),
        ({"lists": {"a": "-"}}, FileNotFoundError, "-"),
        ({"lists": {"a": tmp_path}}, IsADirectoryError, str(tmp_path)),
        ({"lists": {"a": text}, "output": text}, ValueError, "is the same file as a list"),
        ({"lists": {"a": text}, "output": tmp_path / "no" / "own"}, FileNotFoundError, "there is no folder"),
    ]
    before = sorted(tmp_path.iterdir())
    for arguments, error, message in cases:
        with pytest.raises(error, match=message):
            Lists.compile(**arguments)
        assert sorted(tmp_path.iterdir()) == before and text.read_text() == "a.example\n"


def test_an_interrupt_ends_compiling(interrupt_after: Callable[[float], None]) -> None:
    interrupt_after(0.3)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Lists.compile({"endless": itertools.repeat("a.example")})
    assert time.monotonic() - start < 10


def robosieve_lists(path: Path, text: str) -> bytes:
    """Another list, compiled by the command of the package."""
    (path.parent / "more.txt").write_text(text)
    command = [sys.executable, "-m", "robosieve", "lists", "-q", "-o", "more.rlists", "more.txt"]
    subprocess.run(command, check=True, cwd=path.parent)
    return (path.parent / "more.rlists").read_bytes()


def test_errors(path: Path, lists: Lists, small: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Lists(path.with_name("missing"))
    with pytest.raises(robosieve.RobosieveError, match="small.rsieve: not a compiled file of filter lists but a robo"):
        Lists(small)
    with pytest.raises(robosieve.SnapshotError, match="not a robosieve snapshot but a file of filter lists"):
        robosieve.Snapshot(path)
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    with pytest.raises(robosieve.RobosieveError, match="damaged filter lists"):
        Lists.from_bytes(damaged)
    Lists.from_bytes(damaged, verify=False)
    with pytest.raises(ValueError, match="verify='all'; give True"):
        Lists(path, verify="all")  # type: ignore[arg-type]
    for column in ["https://adult.example/", 7, None, [1]]:
        with pytest.raises(TypeError):
            lists.match(column)
    with pytest.raises(TypeError):
        lists.find(7)  # type: ignore[arg-type]


AGENTS = ["GPTBot", "Googlebot"]
COUNTS = ["disallowed", "allowed", "unknown", "invalid"]


@pytest.fixture(scope="module")
def judged(urls: list[str]) -> list[str]:
    """2,000 lines: URLs of sites in the snapshot and of others, of listed domains, subdomains,
    exceptions and paths, and text that is not a URL."""
    chosen = random.Random(59)
    hosts = ["adult.example", "www.adult.example", "a.b.adult.example", "shared.example", "x.shared.example"]
    hosts += ["good.ads.example", "c.good.ads.example", "ads.example", "notadult.example", "nobody.example"]
    hosts += ["shop.example", "news.example", "wiki.example", "192.0.2.7"]
    paths = ["/", "/cart", "/cart/7?x=1", "/world/", "/wiki/Talk:Tea", "/tea#cart", ""]
    lines = [chosen.choice(urls) for _ in range(400)]
    for _ in range(1500):
        scheme, port = chosen.choice(["http", "https", "HTTPS"]), chosen.choice(["", "", ":8443"])
        lines.append(f"{scheme}://{chosen.choice(hosts)}{port}{chosen.choice(paths)}")
    lines += [chosen.choice(["/cart", "adult.example/x", "https://", "mailto:x@ads.example"]) for _ in range(100)]
    chosen.shuffle(lines)
    return [line for line in lines if line.strip()]


@pytest.fixture(scope="module")
def site_lists(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lists with sites that the snapshot holds, and one that names nothing."""
    directory = tmp_path_factory.mktemp("site-lists")
    (directory / "adult").write_text(DOMAINS + "news.example/world\n", encoding="utf-8")
    (directory / "ads").write_text(ADS + "*.example/cart/7\n")
    (directory / "none").write_text("never.example\n")
    (directory / "ours").write_text(OURS + "https://news.example/world/\n")
    command: list[Any] = [program, "lists", "-q", "-o", "own.rlists", "adult", "ads", "none", "--allow", "ours"]
    subprocess.run(command, check=True, cwd=directory)
    return directory / "own.rlists"


def expected_destinations(
    snapshot: Snapshot, lists: Lists, judged: list[str], keep: str, require: str
) -> tuple[list[str], dict[str, int]]:
    """The destination of each line by the verdicts and the lists, and the lines by list."""
    verdicts = snapshot.verdicts(judged, AGENTS)
    combined = all if (keep, require) in [("allowed", "all"), ("disallowed", "any")] else any
    destinations, by_list = [], dict.fromkeys(lists.names, 0)
    for url, reason, *row in zip(judged, lists.match(judged), *verdicts.values()):
        code = row[0] if row[0] in (2, 3) else int(combined(verdict == 1 for verdict in row))
        destinations.append("listed" if reason else COUNTS[int(code)])
        found = lists.find(url)
        assert (reason is None) == (found is None or found.is_exception)
        for name in found.lists if reason and found else ():
            by_list[name] += 1
    return destinations, by_list


@pytest.mark.parametrize("kind", ["txt", "parquet"])
@pytest.mark.parametrize(("keep", "require"), [("allowed", "all"), ("disallowed", "any"), ("allowed", "any")])
def test_a_filter_splits_as_verdicts_and_lists_do(
    snapshot: Snapshot, site_lists: Path, judged: list[str], tmp_path: Path, kind: str, keep: Any, require: Any
) -> None:
    lists = Lists(site_lists)
    source = write_lines(judged, tmp_path / f"in.{kind}")
    names = {"allowed": "output", "disallowed": "disallowed_to", "unknown": "unknown_to", "invalid": "invalid_to"}
    names["listed"] = "listed_to"
    if keep == "disallowed":
        names["disallowed"] = "output"
        del names["allowed"]
    outputs: dict[str, Any] = {argument: tmp_path / f"{name}.{kind}" for name, argument in names.items()}
    for given in (lists, site_lists, str(site_lists)):
        counts = robosieve.filter(
            snapshot, source, outputs["output"], AGENTS, keep=keep, require=require, lists=given,
            **{argument: path for argument, path in outputs.items() if argument != "output"},
        )  # fmt: skip
    destinations, by_list = expected_destinations(snapshot, lists, judged, keep, require)
    for name, argument in names.items():
        expected = [url for url, destination in zip(judged, destinations) if destination == name]
        assert expected and read_lines(outputs[argument]) == expected, name
    assert {name: counts[name] for name in [*COUNTS, "listed"]} == {
        name: destinations.count(name) for name in [*COUNTS, "listed"]
    }
    assert counts["listed_by"] == by_list and by_list["adult"] and by_list["ads"] and by_list["none"] == 0
    assert counts["lines"] == len(judged) and sum(by_list.values()) > counts["listed"]
    for verdict in ("allowed", "disallowed"):
        assert sum(counts["reasons"][verdict].values()) == counts[verdict]


@pytest.mark.parametrize("kind", ["txt", "parquet"])
def test_annotations_name_lists_and_entries(
    snapshot: Snapshot, site_lists: Path, judged: list[str], tmp_path: Path, kind: str
) -> None:
    lists = Lists(site_lists)
    source, out = write_lines(judged, tmp_path / f"in.{kind}"), tmp_path / f"out.{kind}"
    form: Any = "jsonl" if kind == "txt" else "int8"
    counts = robosieve.annotate(snapshot, source, out, AGENTS, form=form, add=["list", "entry"], lists=lists)
    if kind == "txt":
        words = {verdict.name.lower(): int(verdict) for verdict in robosieve.Verdict}
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        found = [(row["robots_list"], row["robots_entry"]) for row in rows]
        codes = [[words[row["robots"][agent]] for row in rows] for agent in AGENTS]
    else:
        table = pytest.importorskip("pyarrow.parquet").read_table(out)
        found = list(zip(table["robots_list"].to_pylist(), table["robots_entry"].to_pylist()))
        codes = [table[f"robots_{agent}"].to_pylist() for agent in AGENTS]
    matches = [None if match is None or match.is_exception else match for match in map(lists.find, judged)]
    assert found == [(None, None) if match is None else (",".join(match.lists), match.entry) for match in matches]
    # Lists change no verdict.
    assert codes == list(snapshot.verdicts(judged, AGENTS).values())
    destinations, by_list = expected_destinations(snapshot, lists, judged, "allowed", "all")
    assert (counts["listed"], counts["listed_by"]) == (destinations.count("listed"), by_list)
    assert counts["agent_allowed"] == [
        sum(code == 1 and match is None for code, match in zip(column, matches)) for column in codes
    ]


def write_lines(lines: list[str], path: Path) -> Path:
    """A file of URLs, text or Parquet by its name."""
    if path.suffix == ".txt":
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"id": range(len(lines)), "url": lines}), path, row_group_size=300)
    return path


def read_lines(path: Path) -> list[str]:
    """The URLs of a file."""
    if path.suffix == ".txt":
        return path.read_text(encoding="utf-8").split("\n")[:-1]
    urls: list[str] = pytest.importorskip("pyarrow.parquet").read_table(path)["url"].to_pylist()
    return urls


def test_counts_have_all_lists_or_none(snapshot: Snapshot, site_lists: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("https://tea.example/\n")
    for job in (robosieve.filter, robosieve.annotate):
        counts = job(snapshot, tmp_path / "in.txt", tmp_path / "out", "GPTBot", lists=site_lists)
        assert (counts["listed"], counts["listed_by"]) == (0, {"adult": 0, "ads": 0, "none": 0, "ours": 0})
        counts = job(snapshot, tmp_path / "in.txt", tmp_path / "out", "GPTBot")
        assert "listed" not in counts and "listed_by" not in counts


def test_jobs_give_the_bytes_of_the_command(
    program: Path, small: Path, site_lists: Path, judged: list[str], tmp_path: Path
) -> None:
    """So the metadata of tables name the lists, too."""
    for kind in ("txt", "parquet"):
        source = write_lines(judged, tmp_path / f"in.{kind}")
        ours, theirs = [[tmp_path / f"{who}-{name}.{kind}" for name in ("kept", "listed")] for who in ("our", "their")]
        robosieve.filter(small, source, ours[0], "GPTBot", lists=site_lists, listed_to=ours[1])
        command: list[Any] = [program, "filter", "-q", "-s", small, "-a", "GPTBot", "--lists", site_lists, "-o", theirs[0]]
        subprocess.run([*command, "--listed-to", theirs[1], source], check=True)
        assert [path.read_bytes() for path in ours] == [path.read_bytes() for path in theirs]


@pytest.mark.parametrize("kind", ["txt", "parquet"])
def test_lists_alone_filter_files_as_the_command_does(
    program: Path, site_lists: Path, judged: list[str], tmp_path: Path, kind: str
) -> None:
    source = write_lines(judged, tmp_path / f"in.{kind}")
    names = ["output", "listed_to", "invalid_to"]
    ours, theirs = [[tmp_path / f"{who}-{name}.{kind}" for name in names] for who in ("our", "their")]
    lists = Lists(site_lists)
    memory = Lists.from_bytes(site_lists.read_bytes())
    command: list[Any] = [program, "filter", "-q", "--lists", site_lists, "-o", theirs[0], "--listed-to", theirs[1]]
    stats = tmp_path / "stats.json"
    subprocess.run([*command, "--invalid-to", theirs[2], "--stats-json", stats, source], check=True)
    for opened in (lists, memory):
        counts = opened.filter(source, ours[0], listed_to=ours[1], invalid_to=ours[2], threads=2)
        assert [path.read_bytes() for path in ours] == [path.read_bytes() for path in theirs]
        assert counts.pop("listed_by") == dict(zip(lists.names, json.loads(stats.read_text())["listed_by"]))
        assert counts.items() <= json.loads(stats.read_text()).items()
    # As single look-ups say.
    matches = list(zip(judged, lists.match(judged), robosieve.origins(judged)))
    assert read_lines(ours[1]) == [url for url, reason, _ in matches if reason]
    assert read_lines(ours[0]) == [url for url, reason, origin in matches if not reason and origin]
    assert counts["lines"] == counts["not_listed"] + counts["listed"] + counts["invalid"] == len(judged)
    assert 0 < counts["invalid"] < counts["listed"] and set(counts) == {
        "lines", "not_listed", "listed", "invalid", "blank", "bytes",
    }  # fmt: skip
    # Without an output, the records are counted.
    again = lists.filter([source], None)
    assert again.pop("listed_by") and again == counts


def test_options_of_records_reach_the_filter_of_lists(site_lists: Path, tmp_path: Path) -> None:
    lists, out = Lists(site_lists), tmp_path / "out"
    source = tmp_path / "in.csv"
    source.write_text("id;link\n1;adult.example/x\n2;tea.example/\n")
    counts = lists.filter(source, out, field="link", delimiter=";", default_scheme="https")
    assert out.read_text() == "id;link\n2;tea.example/\n" and counts["listed_by"]["adult"] == 1
    source = tmp_path / "in.jsonl"
    source.write_text('{"a":{"b":"/cart/7"}}\n{"a":{"b":"/tea"}}\n')
    calls: list[int] = []
    lists.filter(source, out, json_key="a.b", host="shop.example", default_scheme="https", progress=calls.append)
    assert out.read_text() == '{"a":{"b":"/tea"}}\n' and calls[-1] == source.stat().st_size
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe_file("/lists/in.jsonl", source.read_bytes())
    options: dict[str, Any] = {"json_key": "a.b", "host": "shop.example", "default_scheme": "https"}
    lists.filter("memory://lists/in.jsonl", "memory://lists/out.jsonl", filesystem=memory, **options)
    assert memory.cat_file("/lists/out.jsonl") == out.read_bytes()
    before = site_lists.read_bytes()
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({"output": site_lists}, ValueError, "is the same file as the lists"),
        ({"output": out, "listed_to": out}, ValueError, "two outputs, output and listed_to"),
        ({"output": source}, ValueError, "is the same file as an input"),
        ({"output": out, "cdxj": tmp_path / "x"}, ValueError, "lists the records of WARC files, and no input is one"),
        ({"output": out, "delimiter": ";;"}, ValueError, "delimiter: give one ASCII character"),
        ({"inputs": tmp_path / "missing", "output": out}, FileNotFoundError, "missing"),
    ]
    for arguments, error, message in cases:
        with pytest.raises(error, match=message):
            lists.filter(**{"inputs": source, **arguments})
    assert site_lists.read_bytes() == before


def test_errors_of_jobs_say_what_to_do(small: Path, site_lists: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out"
    source.write_text("https://adult.example/\n")
    own = tmp_path / "own.rlists"
    own.write_bytes(site_lists.read_bytes())
    before = sorted(tmp_path.iterdir())
    cases: list[tuple[Any, dict[str, Any], Any, str]] = [
        (robosieve.filter, {"listed_to": tmp_path / "listed"}, ValueError, "listed_to gets .* give them: lists="),
        (robosieve.annotate, {"form": "jsonl", "add": "list"}, ValueError, "there are none; give them: lists="),
        (robosieve.filter, {"lists": 7}, TypeError, "lists is of type int; give Lists, or the path"),
        (robosieve.filter, {"lists": "s3://b/own.rlists"}, ValueError, "lists are a local file"),
        (robosieve.annotate, {"lists": tmp_path / "missing"}, FileNotFoundError, "missing"),
        (robosieve.filter, {"lists": small}, robosieve.RobosieveError, "not a compiled file of filter lists"),
        (robosieve.filter, {"lists": own, "listed_to": own}, ValueError, "is the same file as the lists"),
        (robosieve.filter, {"lists": Lists(own), "invalid_to": own}, ValueError, "is the same file as the lists"),
        (robosieve.filter, {"lists": own, "listed_to": out}, ValueError, "two outputs, output and listed_to"),
        (
            robosieve.filter,
            {"lists": own, "keep": "disallowed", "disallowed_add": "list"},
            ValueError,
            "annotating writes the list and the entry",
        ),
    ]
    for job, options, error, message in cases:
        with pytest.raises(error, match=message):
            job(small, source, out, "GPTBot", **options)
        assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(ValueError, match="is the same file as the lists"):
        robosieve.annotate(small, source, own, "GPTBot", lists=own)


def test_tables_of_verdicts_get_the_column_of_lists(snapshot: Snapshot, site_lists: Path, judged: list[str]) -> None:
    lists = Lists(site_lists)
    mixed = [*judged, None]
    verdicts, reasons = snapshot.verdicts(mixed, AGENTS), lists.match(mixed)
    assert len(set(reasons)) == 3 and reasons[-1] is None
    expected = {**verdicts, "robots_listed": reasons}
    for threads in (None, 1, 3):
        assert snapshot.verdicts(mixed, AGENTS, lists=lists, threads=threads) == expected
    # More rows than a thread takes at once.
    many = snapshot.verdicts(mixed * 20, AGENTS, lists=lists, threads=3)
    assert many == {name: column * 20 for name, column in expected.items()}
    assert snapshot.verdicts((url for url in mixed), ("GPTBot",), lists=lists)["robots_listed"] == reasons
    assert snapshot.verdicts([], AGENTS, lists=lists) == {name: [] for name in expected}
    assert snapshot.verdicts(mixed, AGENTS) == verdicts
    # Another object with other lists.
    other = Lists.from_bytes(robosieve_lists(site_lists, "tea.example\n"))
    assert set(snapshot.verdicts(mixed, AGENTS, lists=other)["robots_listed"]) == {None}
    assert snapshot.verdicts(mixed, AGENTS, lists=lists) == expected


def test_tables_of_every_library_get_it(snapshot: Snapshot, site_lists: Path, judged: list[str]) -> None:
    lists = Lists(site_lists)
    mixed = [*judged, None]
    reasons, codes = lists.match(mixed), [None if code is None else int(code) for code in snapshot.verdicts(mixed, "GPTBot")]
    pa = pytest.importorskip("pyarrow")
    column = pa.array(mixed, pa.string())
    for given in (column, column.dictionary_encode(), pa.chunked_array([column[:7], column[7:]])):
        table = snapshot.verdicts(given, ["GPTBot"], lists=lists)
        assert table.column_names == ["robots_GPTBot", "robots_listed"]
        assert pa.types.is_dictionary(table["robots_listed"].type)
        assert table["robots_listed"].to_pylist() == reasons and table["robots_GPTBot"].to_pylist() == codes
    polars = pytest.importorskip("polars")
    frame = snapshot.verdicts(polars.Series("url", mixed), ["GPTBot"], lists=lists)
    assert frame.columns == ["robots_GPTBot", "robots_listed"] and frame["robots_listed"].to_list() == reasons
    own = snapshot.verdicts(polars.DataFrame({"url": mixed}), ["GPTBot"], lists=lists)
    assert isinstance(own, robosieve.Table) and own["robots_listed"].tolist() == own.to_dict()["robots_listed"] == reasons
    pandas = pytest.importorskip("pandas")
    frame = snapshot.verdicts(pandas.Series(mixed, index=range(5, 5 + len(mixed))), ["GPTBot"], lists=lists)
    assert list(frame.columns) == ["robots_GPTBot", "robots_listed"] and frame.index[0] == 5
    assert [None if pandas.isna(word) else word for word in frame["robots_listed"]] == reasons
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ValueError, match=r"call lists.match\(urls\)"):
        snapshot.verdicts(numpy.array(judged), ["GPTBot"], lists=lists)


def test_lists_do_not_depend_on_the_time_of_a_row(site_lists: Path) -> None:
    compiler = robosieve.Compiler(history=True)
    for day, body in [("2026-03-01", b"user-agent: *\ndisallow: /"), ("2026-05-01", b"")]:
        compiler.add_response("https://adult.example/robots.txt", 200, body=body, fetched_at=day)
    history = Snapshot.from_bytes(compiler.to_bytes())
    urls = ["https://adult.example/a", "https://tea.example/", "https://adult.example/b", "https://adult.example/c"]
    days = ["2026-04-02", "2026-04-02", "2026-06-01", None]
    table = history.verdicts(urls, ["GPTBot"], as_of=days, lists=Lists(site_lists))
    assert table == {"robots_GPTBot": [0, 2, 1, 2], "robots_listed": ["list:adult", None, "list:adult", "list:adult"]}


def test_errors_of_columns_say_what_to_do(snapshot: Snapshot, site_lists: Path) -> None:
    lists = Lists(site_lists)
    with pytest.raises(ValueError, match=r"without room for lists; give a list: \['GPTBot'\]"):
        snapshot.verdicts(URLS, "GPTBot", lists=lists)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"lists is of type str; give robosieve.Lists\(path\)"):
        snapshot.verdicts(URLS, ["GPTBot"], lists=str(site_lists))  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="column robots_listed is that of an agent already"):
        snapshot.verdicts(URLS, ["GPTBot", "listed"], lists=lists)


def test_damage_of_lists_is_not_that_of_the_snapshot(snapshot: Snapshot, site_lists: Path) -> None:
    whole = site_lists.read_bytes()
    messages: list[str] = []
    for start in range(0, len(whole), 16):
        damaged = whole[:start] + bytes([0xFF]) * 16 + whole[start + 16 :]
        try:
            broken = Lists.from_bytes(damaged, verify=False)
        except robosieve.RobosieveError:
            continue
        try:
            broken.match(URLS)
        except robosieve.RobosieveError as err:
            messages.append(str(err))
            with pytest.raises(robosieve.RobosieveError, match="damaged filter lists") as caught:
                snapshot.verdicts(URLS, ["GPTBot"], lists=broken)
            assert not isinstance(caught.value, robosieve.SnapshotError)
    assert messages and all("damaged filter lists" in message for message in messages)
