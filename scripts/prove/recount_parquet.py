#!/usr/bin/env python3
"""Reads Parquet outputs of `annotate` and `filter` with pyarrow, an independent reader.

usage: scripts/x recount-parquet

pyarrow writes many kinds of files. All other columns must be identical, and verdicts and rows must
equal those of the same URLs in a list. The entries and words of filter lists are those that a slow
model here finds, by urllib. Without pyarrow, nothing runs and the exit status is 0.
ROBOSIEVE names the binary (default: target/release/robosieve).
"""

import dataclasses
import datetime
import itertools
import json
import re
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

from campaigns.command import BINARY, ROOT

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError:
    print("recount-parquet: skipped: pyarrow is missing (pip install pyarrow)", file=sys.stderr)
    sys.exit()

SMALL = ROOT / "datasets" / "small"
AGENTS = "GPTBot,Googlebot,MyBot"

# Filter lists by their names, in the form in which entries are shown.
LISTS = {
    "shops": ["shop.example", "@@www.shop.example", "https://garden.example", "news.example/about"],
    "paths": ["wiki.example/w", "||blog.example/wp-admin/", "@@blog.example/wp-admin/admin-ajax.php"],
    "more": ["=patterns.example", "shop.example", "||wiki.example/wiki", "@@shop.example/search/help", "192.0.2.10"],
    "last": ["shop.example/cart"],
}
# Lists of words by their names, with the option for their kind and the words as they are shown.
WORDS = {
    "hard": ("--block-words", ["private", "warenkorb", "status", "kva", "heartbeat"]),
    "harder": ("--block-words", ["status", "stag", "users"]),
    "soft": ("--soft-words", ["example", "news", "2026", "v1", "api", "typos", "about", "8443"]),
    "softer": ("--soft-words", ["2026", "blog", "80", "menu", "prices"]),
    "parts": ("--block-substrings", ["plecaf", "bytesexamplecafm", "feedsall"]),
    "longer": ("--block-substrings", ["examplecaf", "feedsall"]),
}
SOFT_THRESHOLD = 3
DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}

KINDS = [
    dict(),
    dict(row_group_size=50),
    dict(compression="zstd", data_page_version="2.0", row_group_size=1000),
    dict(compression="gzip", use_dictionary=False, write_page_index=True),
    dict(compression="lz4", use_dictionary=False, data_page_version="2.0", data_page_size=512, write_page_index=True),
    dict(compression="none", use_dictionary=False, column_encoding={"url": "DELTA_BYTE_ARRAY", "n": "DELTA_BINARY_PACKED"}),
    dict(compression="none", use_dictionary=False, column_encoding={"url": "DELTA_LENGTH_BYTE_ARRAY"}, row_group_size=77),
    dict(store_schema=False, use_deprecated_int96_timestamps=True, data_page_size=100, row_group_size=333),
]


def table():
    """The small list repeated twelve times, with columns of all types, nulls and metadata."""
    lines = (SMALL / "urls.txt").read_bytes().split(b"\n")[:-1]
    urls = [line.decode("utf-8", "replace").rstrip("\r") for line in lines] * 12
    urls = [None if i % 17 == 3 else url + "\nhttps://x/" if i % 101 == 7 else url for i, url in enumerate(urls)]
    rows = range(len(urls))
    when = datetime.datetime(2026, 1, 1)
    return pa.table(
        {
            "n": pa.array(rows, pa.int64()),
            "url": pa.array(urls, pa.string()),
            "text": pa.array([None if i % 5 == 0 else "words " * (i % 9) for i in rows], pa.string()),
            "small": pa.array([i % 100 for i in rows], pa.int8()),
            "real": pa.array([i / 7 for i in rows], pa.float64()),
            "flag": pa.array([None if i % 3 == 0 else i % 2 == 0 for i in rows], pa.bool_()),
            "when": pa.array([when + datetime.timedelta(seconds=i) for i in rows], pa.timestamp("us")),
            "where": pa.array([when + datetime.timedelta(seconds=i) for i in rows], pa.timestamp("us", tz="Europe/Berlin")),
            "took": pa.array([datetime.timedelta(milliseconds=i) for i in rows], pa.duration("ms")),
            "body": pa.array(["text " * (i % 4) for i in rows], pa.large_string()),
            "lang": pa.array(["en" if i % 3 else "de" for i in rows]).dictionary_encode(),
            "key": pa.array([i.to_bytes(4, "big") for i in rows], pa.binary(4)),
            "list": pa.array([None if i % 7 == 0 else list(range(i % 4)) for i in rows], pa.list_(pa.int32())),
            "deep": pa.array([[[str(i)] * (i % 3), []] if i % 2 else [] for i in rows], pa.list_(pa.list_(pa.string()))),
            "pair": pa.array([None if i % 11 == 0 else {"a": i, "b": [{"c": "x" * (i % 3)}]} for i in rows]),
        },
        metadata={"made by": "recount-parquet"},
    )


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of a list. A scheme is compared with the default port, as no entry here has another."""

    text: str
    host: str
    has_subdomains: bool
    scheme: str
    path: str
    is_exception: bool

    def specificity(self, url):
        """The labels of the host and the length of the path, if the entry covers the URL."""
        # A `;` ends a host, and begins a path.
        host = (url.hostname or "").partition(";")[0].rstrip(".")
        is_covered = host == self.host or self.has_subdomains and host.endswith("." + self.host)
        if self.scheme:
            is_covered &= url.scheme == self.scheme and url.port in (None, 443)
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        if not is_covered or not target.startswith(self.path):
            return None
        return self.host.count("."), len(self.path) or bool(self.scheme)


def entry_of(text):
    line = text.removeprefix("@@")
    scheme, _, rest = line.rpartition("://")
    host, slash, path = rest.lstrip("|=").partition("/")
    is_address = host.replace(".", "").isdigit()
    is_domain = not (scheme or slash or line.startswith("=") or is_address)
    return Entry(text, host, is_domain or line.startswith("||"), scheme, slash + path, text.startswith("@@"))


def words_of(option):
    """The lists of each word of a kind."""
    lists = {}
    for name, (kind, words) in WORDS.items():
        for word in words if kind == option else []:
            lists.setdefault(word, []).append(name)
    return lists


def listed_by_words(url):
    """The names of the lists and the word that names a URL; a pair of None if none does."""
    parts = urllib.parse.urlsplit(url)
    host = urllib.parse.unquote(parts.hostname or "")
    if not host.isascii():
        host = host.encode("idna").decode()
    is_default = parts.port in (None, DEFAULT_PORTS.get(parts.scheme))
    text = host + ("" if is_default else f":{parts.port}")
    text += f"/{parts.path}?{parts.query}"
    tokens = re.findall("[a-z0-9]+", urllib.parse.unquote_to_bytes(text).lower().decode("latin-1"))
    hard, soft, parts = map(words_of, ["--block-words", "--soft-words", "--block-substrings"])
    for token in tokens:
        if token in hard:
            return ",".join(hard[token]), f"word:{token}"
    found = list(dict.fromkeys(token for token in tokens if token in soft))[:SOFT_THRESHOLD]
    if len(found) == SOFT_THRESHOLD:
        return ",".join(soft[found[-1]]), f"soft:{found[0]},{found[-1]}"
    # The one that begins first, and of several the longest.
    text = "".join(tokens)
    begins = [(text.index(part), -len(part), part) for part in parts if part in text]
    if begins:
        part = min(begins)[-1]
        return ",".join(parts[part]), f"substring:{part}"
    return None, None


def listed(urls, verdicts):
    """The names of the lists and the entry that name each URL; a pair of None if no list does."""
    entries = {text: entry_of(text) for lines in LISTS.values() for text in lines}
    for url, row in zip(urls, verdicts):
        if set(row) == {"I"}:
            yield None, None
            continue
        parts = urllib.parse.urlsplit(url.strip())
        found = [(specificity, entry) for entry in entries.values() if (specificity := entry.specificity(parts))]
        # An exception wins against an entry that is no more specific; the earlier one of equal entries is first.
        best = max(found, key=lambda pair: (pair[0], pair[1].is_exception), default=None)
        if best is None:
            yield listed_by_words(url.strip())
        elif best[1].is_exception:
            yield None, None
        else:
            text = best[1].text
            yield ",".join(name for name, lines in LISTS.items() if text in lines), text


def run(folder, *arguments):
    subprocess.run([BINARY, *arguments], cwd=folder, check=True)


def letters(folder, data):
    """The letters of `annotate` for each URL in a list: I for null and for URLs with a line end."""
    urls = data["url"].to_pylist()
    lines = ["" if url is None or "\n" in url else url for url in urls]
    (folder / "lines.txt").write_bytes("".join(line + "\n" for line in lines).encode())
    run(folder, "annotate", "-q", "-s", "s", "-a", AGENTS, "lines.txt", "-o", "letters.txt")
    return [line.split(b"\t")[0].decode() for line in (folder / "letters.txt").read_bytes().splitlines()]


def check_annotated(folder, data, verdicts):
    known = [not set(row) & set("UI") for row in verdicts]
    run(folder, "annotate", "-q", "-s", "s", "-a", AGENTS, "in.parquet", "-o", "out.parquet")
    out = pq.read_table(folder / "out.parquet")
    assert out.column_names == data.column_names + ["robots_allowed"], out.column_names
    selected = out.select(data.column_names)
    assert selected.equals(data), "columns differ"
    assert selected.schema.equals(data.schema), "types differ"
    metadata = out.schema.metadata or {}
    found = {key: text for key, text in metadata.items() if not key.startswith(b"robosieve.")}
    assert found == (data.schema.metadata or {}), f"metadata differ: {found}"
    counts = json.loads(pq.read_metadata(folder / "out.parquet").metadata[b"robosieve.counts"])
    allowed = [sum(row[number] == "A" for row in verdicts) for number in range(len(AGENTS.split(",")))]
    assert counts["lines"] == len(verdicts) and (counts["agent_allowed"] or [0] * len(allowed)) == allowed, f"{counts}, not {allowed}"
    bits = [sum(1 << i for i, letter in enumerate(row) if letter == "A") if ok else None for row, ok in zip(verdicts, known)]
    assert out["robots_allowed"].type == pa.int64() and out["robots_allowed"].to_pylist() == bits
    run(folder, "annotate", "-q", "-s", "s", "-a", AGENTS, "--as", "int8", "in.parquet", "-o", "out.parquet")
    out = pq.read_table(folder / "out.parquet")
    assert out.select(data.column_names).equals(data), "columns differ"
    for i, agent in enumerate(AGENTS.split(",")):
        codes = ["DAUI".index(row[i]) if url is not None else None for row, url in zip(verdicts, data["url"].to_pylist())]
        column = out["robots_" + agent]
        assert column.type == pa.int8() and column.to_pylist() == codes, agent
    before, after = pq.ParquetFile(folder / "in.parquet"), pq.ParquetFile(folder / "out.parquet")
    assert before.num_row_groups == after.num_row_groups
    for group, column in itertools.product(range(before.num_row_groups), range(before.metadata.num_columns)):
        old, new = (file.metadata.row_group(group).column(column) for file in (before, after))
        for name in ("compression", "total_compressed_size", "has_offset_index", "has_column_index"):
            assert getattr(old, name) == getattr(new, name), name
        # Floating-point columns are declared in IEEE 754's total order, whose bounds pyarrow ignores.
        if old.physical_type in ("FLOAT", "DOUBLE"):
            continue
        assert set(old.encodings) == set(new.encodings), "encodings"
        found = [chunk.statistics and chunk.statistics.to_dict() for chunk in (old, new)]
        assert str(found[0]) == str(found[1]), f"statistics: {found}"


def plain(data):
    """Decodes dictionaries: pyarrow treats them as equal only if their values have the same order."""
    at = data.column_names.index("lang")
    return data.set_column(at, "lang", data["lang"].cast(pa.string()))


JUDGING = ["-q", "-s", "s", "-a", AGENTS]
OTHERS = ["--disallowed-to", "d.parquet", "--unknown-to", "u.parquet", "--invalid-to", "i.parquet"]
ASKING = ["--lists", "own.rlists"]


def check_filtered(folder, data, verdicts):
    kinds = [row[0] if row[0] in "UI" else "A" if set(row) == {"A"} else "D" for row in verdicts]
    run(folder, "filter", *JUDGING, "in.parquet", "-o", "a.parquet", *OTHERS)
    check_rows(folder, data, kinds, "ADUI")
    names = [name for name, _ in listed(data["url"].to_pylist(), verdicts)]
    kinds = ["L" if name else kind for name, kind in zip(names, kinds)]
    run(folder, "filter", *JUDGING, *ASKING, "in.parquet", "-o", "a.parquet", *OTHERS, "--listed-to", "l.parquet")
    check_rows(folder, data, kinds, "ADUIL")
    # Without a snapshot, every other URL is kept.
    kinds = [kind if kind in "IL" else "A" for kind in kinds]
    others = ["--invalid-to", "i.parquet", "--listed-to", "l.parquet"]
    run(folder, "filter", "-q", *ASKING, "in.parquet", "-o", "a.parquet", *others)
    check_rows(folder, data, kinds, "AIL")


def check_listed(folder, data, verdicts):
    """The names and entries of lists as columns, next to a snapshot and alone."""
    names, entries = zip(*listed(data["url"].to_pylist(), verdicts)) if verdicts else ((), ())
    for judging in (JUDGING, ["-q"]):
        run(folder, "annotate", *judging, *ASKING, "--add", "list,entry", "in.parquet", "-o", "out.parquet")
        out = pq.read_table(folder / "out.parquet")
        assert out.select(data.column_names).equals(data), "columns differ"
        for column, values in [("robots_list", names), ("robots_entry", entries)]:
            assert out.num_rows == len(values), "rows are missing"
            for url, found, wanted in zip(data["url"].to_pylist(), out[column].to_pylist(), values):
                assert found == wanted, f"{column} of {url} is {found!r}, not {wanted!r}"


def check_rows(folder, data, kinds, outputs):
    """Each output, named by a letter, has the rows of this kind."""
    for kind in outputs:
        out = pq.read_table(folder / f"{kind.lower()}.parquet")
        wanted = data.filter(pc.equal(pa.array(kinds), kind))
        assert out.schema.equals(data.schema), f"the schema of {kind} differs"
        assert plain(out).equals(plain(wanted)), f"rows of {kind} differ"


def write_groups(path, parts, kind):
    """Writes each part as separate row groups. A part without rows becomes an empty row group."""
    kind = dict(kind)
    size = kind.pop("row_group_size", None)
    with pq.ParquetWriter(path, parts[0].schema, **kind) as writer:
        for part in parts:
            writer.write_table(part, row_group_size=size)


def check_without_rows(folder, data, verdicts, kind):
    """Annotates, filters and reports on files without rows and files with empty row groups."""
    some = data.slice(0, 100)
    for parts in [[data.slice(0, 0)], [some.slice(0, 0), some.slice(0, 40), some.slice(0, 0), some.slice(40), some.slice(0, 0)]]:
        write_groups(folder / "in.parquet", parts, kind)
        read = pq.read_table(folder / "in.parquet")
        check_annotated(folder, read, verdicts[: read.num_rows])
        check_filtered(folder, read, verdicts[: read.num_rows])
        run(folder, "report", "-q", "-s", "s", "-a", AGENTS, "in.parquet", "--json-to", "report.json")
        check_listed(folder, read, verdicts[: read.num_rows])
        run(folder, "annotate", "-q", "-s", "s", "-a", AGENTS, "in.parquet", "--out-dir", "many")
        assert pq.read_table(folder / "many" / "in.parquet").num_rows == read.num_rows


def main():
    data = table()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, "compile", "-q", "-o", "s", SMALL / "robots.warc", SMALL / "more.jsonl")
        lists = LISTS | {name: words for name, (_, words) in WORDS.items()}
        for name, lines in lists.items():
            (folder / name).write_text("".join(f"{line}\n" for line in lines))
        words = [argument for name, (option, _) in WORDS.items() for argument in (option, name)]
        words += ["--soft-threshold", str(SOFT_THRESHOLD)]
        run(folder, "lists", "-q", "-o", "own.rlists", *LISTS, *words)
        verdicts = letters(folder, data)
        for kind in KINDS:
            pq.write_table(data, folder / "in.parquet", **kind)
            read = pq.read_table(folder / "in.parquet")
            try:
                check_annotated(folder, read, verdicts)
                check_filtered(folder, read, verdicts)
                check_listed(folder, read, verdicts)
                check_without_rows(folder, data, verdicts, kind)
            except AssertionError as err:
                sys.exit(f"recount-parquet: {kind}: {err}")
    print(f"recount-parquet: {len(KINDS)} files of {data.num_rows} rows, and files without rows: equal to pyarrow and the lists")


main()
