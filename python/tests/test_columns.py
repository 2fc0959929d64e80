"""Columns of every accepted type give the verdicts that `verdict()` gives row by row."""

from __future__ import annotations

import struct
from typing import Any, Callable

import pytest

import robosieve
from robosieve import Verdict

AGENT = "GPTBot"
AGENTS = ["GPTBot", "Googlebot", "MJ12bot"]
THREADS = [None, 1, 2, 7]
#: Around the rows of a task of a thread, and around the rows from which several threads are used.
SIZES = [0, 1, 2, 1000, (16 << 10) - 1, 16 << 10, (16 << 10) + 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1]

Rows = list[Any]


class Expected:
    """The verdicts of single rows, from `verdict()`, which takes another way through the code."""

    def __init__(self, snapshot: robosieve.Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[Any, tuple[int | None, int | None]] = {None: (None, None)}

    def _of(self, url: Any) -> tuple[int | None, int | None]:
        if url not in self._known:
            each = [self._snapshot.verdict(url, agent) for agent in AGENTS]
            assert len(set(each)) == 1 or set(each) <= {0, 1}, "unknown and invalid do not depend on the agent"
            mask = None if each[0] > 1 else sum(verdict << bit for bit, verdict in enumerate(each))
            self._known[url] = (int(each[0]), mask)
        return self._known[url]

    def verdicts(self, rows: Rows) -> list[int | None]:
        return [self._of(url)[0] for url in rows]

    def masks(self, rows: Rows) -> list[int | None]:
        return [self._of(url)[1] for url in rows]


@pytest.fixture(scope="module")
def expected(snapshot: robosieve.Snapshot) -> Expected:
    return Expected(snapshot)


def rows_of(urls: list[str], size: int, null_every: int = 0) -> Rows:
    """`size` rows in another order than the data set's, some of them null."""
    rows: Rows = [urls[row * 37 % len(urls)] for row in range(size)]
    if null_every:
        rows[1::null_every] = [None] * len(rows[1::null_every])
    return rows


def judged(snapshot: robosieve.Snapshot, column: Any, threads: int | None = None) -> tuple[Any, Any]:
    return snapshot.verdicts(column, AGENT, threads=threads), snapshot.masks(column, AGENTS, threads=threads)


def test_small_urls_have_every_verdict(expected: Expected, urls: list[str]) -> None:
    assert set(expected.verdicts(urls)) == {0, 1, 2, 3}
    assert None in expected.masks(urls) and 7 in expected.masks(urls)
    assert len({mask for mask in expected.masks(urls) if mask is not None}) >= 4


# Sequences: a list of Verdict, and a list of int.


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("size", SIZES)
def test_lists_of_every_size(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], size: int, threads: int | None
) -> None:
    rows = rows_of(urls, size, null_every=5)
    verdicts, masks = judged(snapshot, rows, threads)
    assert verdicts == expected.verdicts(rows)
    assert masks == expected.masks(rows)
    assert {type(verdict) for verdict in verdicts} <= {Verdict, type(None)}
    assert {type(mask) for mask in masks} <= {int, type(None)}


SEQUENCES: dict[str, Callable[[Rows], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": lambda rows: (row for row in rows),
    "iterator": iter,
    "dict keys": dict.fromkeys,
    "map": lambda rows: map(lambda row: row, rows),
    "bytes": lambda rows: [None if row is None else row.encode() for row in rows],
    "mixed": lambda rows: [row.encode() if row and at % 2 else row for at, row in enumerate(rows)],
}


@pytest.mark.parametrize("form", SEQUENCES)
def test_sequences(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], form: str) -> None:
    rows = list(dict.fromkeys(rows_of(urls, 300, null_every=7)))
    assert snapshot.verdicts(SEQUENCES[form](rows), AGENT) == expected.verdicts(rows)
    assert snapshot.masks(SEQUENCES[form](rows), AGENTS) == expected.masks(rows)


def test_subclasses_of_str_and_bytes_are_urls(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str]
) -> None:
    class Text(str):
        pass

    class Data(bytes):
        pass

    rows = urls[:50]
    assert snapshot.verdicts([Text(row) for row in rows], AGENT) == expected.verdicts(rows)
    assert snapshot.verdicts([Data(row.encode()) for row in rows], AGENT) == expected.verdicts(rows)


def test_escaped_surrogates_are_the_bytes_that_they_escape(
    snapshot: robosieve.Snapshot, expected: Expected, lines: list[bytes]
) -> None:
    raw = lines + [line.rstrip() + b"caf\xe9" for line in lines if line.startswith(b"https://bytes.example/")]
    assert any(b"\xe9" in line for line in raw)
    texts = [line.decode("utf-8", "surrogateescape") for line in raw]
    assert snapshot.verdicts(texts, AGENT) == expected.verdicts(raw)
    assert [snapshot.verdict(text, AGENT) for text in texts] == expected.verdicts(raw)


def test_verdicts_equal_the_command_line(program: Any, small: Any, snapshot: robosieve.Snapshot, lines: Any) -> None:
    import subprocess

    command = [program, "annotate", "-q", "-s", small, "-a", ",".join(AGENTS)]
    output = subprocess.run(command, input=b"\n".join(lines) + b"\n", stdout=subprocess.PIPE, check=True).stdout
    letters = [line.partition(b"\t")[0].decode() for line in output.split(b"\n")[:-1]]
    for bit, agent in enumerate(AGENTS):
        assert ["DAUI"[verdict] for verdict in snapshot.verdicts(lines, agent)] == [line[bit] for line in letters]


# NumPy: int8 and int64 arrays.


def test_numpy(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str]) -> None:
    numpy = pytest.importorskip("numpy")
    rows = [url for url in rows_of(urls, 2000) if expected.masks([url]) != [None]]
    for column in [numpy.array(rows), numpy.array(rows, dtype=object), numpy.array(rows * 2)[::2][: len(rows) // 2]]:
        values = [str(row) for row in column]
        verdicts, masks = judged(snapshot, column)
        assert (type(verdicts), verdicts.dtype) == (numpy.ndarray, numpy.int8)
        assert (type(masks), masks.dtype) == (numpy.ndarray, numpy.int64)
        assert verdicts.tolist() == expected.verdicts(values)
        assert masks.tolist() == expected.masks(values)


def test_numpy_has_no_nulls(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ValueError, match="1 nulls, which a NumPy array of integers cannot hold"):
        snapshot.verdicts(numpy.array([urls[0], None], dtype=object), AGENT)


# pyarrow: an int8 and an int64 array, chunked like the column.


def _dictionary(key: str) -> Callable[[Any, Rows], Any]:
    def build(pa: Any, rows: Rows) -> Any:
        # 120 distinct values fit each key type. Nulls are in the keys.
        return pa.array(_few(rows)).dictionary_encode().cast(pa.dictionary(getattr(pa, key)(), pa.string()))

    return build


def _null_values(pa: Any, rows: Rows) -> Any:
    """A dictionary whose values hold a null, in place of keys that are null."""
    rows = _few(rows)
    values = [*dict.fromkeys(rows), None]
    keys = pa.array([values.index(row) for row in rows], pa.int16())
    return pa.DictionaryArray.from_arrays(keys, pa.array(values, pa.string()))


def _both_nulls(pa: Any, rows: Rows) -> Any:
    rows = _few(rows)
    values = [*dict.fromkeys(rows), None]
    keys = pa.array([None if row is None and at % 2 else values.index(row) for at, row in enumerate(rows)], pa.int32())
    return pa.DictionaryArray.from_arrays(keys, pa.array(values, pa.string()))


def _few(rows: Rows) -> Rows:
    """The rows with at most 120 distinct values."""
    distinct = list(dict.fromkeys(rows))[:119]
    known = set(distinct)
    return [row if row in known or row is None else distinct[len(row) % len(distinct)] for row in rows]


def _typed(name: str) -> Callable[[Any, Rows], Any]:
    def build(pa: Any, rows: Rows) -> Any:
        if "binary" in name:
            rows = [None if row is None else row.encode() for row in rows]
        return pa.array(rows, getattr(pa, name)())

    return build


def _sliced(build: Callable[[Any, Rows], Any]) -> Callable[[Any, Rows], Any]:
    """The rows at an odd offset of a longer array, in which neighbours would give other verdicts."""

    def slice_of(pa: Any, rows: Rows) -> Any:
        before = ["https://shop.example/cart", None, "https://news.example/"]
        return build(pa, before + rows + before)[3 : 3 + len(rows)]

    return slice_of


TEXTS = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]
KEYS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ARROW: dict[str, Callable[[Any, Rows], Any]] = {name: _typed(name) for name in TEXTS}
ARROW |= {f"dictionary of {key}": _dictionary(key) for key in KEYS}
ARROW |= {"dictionary with null values": _null_values, "dictionary with nulls in both": _both_nulls}
ARROW |= {
    f"dictionary of {text}": lambda pa, rows, text=text: _typed(text)(pa, rows).dictionary_encode()
    for text in ["large_string", "binary", "large_binary"]
}
ARROW |= {f"{name}, sliced": _sliced(build) for name, build in list(ARROW.items())}


def values_of(column: Any) -> Rows:
    return column.to_pylist()


def check_pyarrow(snapshot: robosieve.Snapshot, expected: Expected, column: Any, threads: int | None) -> None:
    import pyarrow as pa

    verdicts, masks = judged(snapshot, column, threads)
    rows = values_of(column)
    chunked = isinstance(column, pa.ChunkedArray)
    for result, data_type, values in [
        (verdicts, pa.int8(), expected.verdicts(rows)),
        (masks, pa.int64(), expected.masks(rows)),
    ]:
        array_type = pa.Int8Array if data_type == pa.int8() else pa.Int64Array
        assert type(result) is (pa.ChunkedArray if chunked else array_type)
        assert result.type == data_type
        assert result.to_pylist() == values
        result.validate(full=True)
        if chunked:
            assert [len(chunk) for chunk in result.chunks] == [len(chunk) for chunk in column.chunks]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("form", ARROW)
def test_pyarrow_arrays(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], form: str, threads: int | None
) -> None:
    pa = pytest.importorskip("pyarrow")
    for size, null_every in [(0, 0), (1, 0), (2, 2), (1000, 3), (33_333 if threads == 2 else 100, 5)]:
        column = ARROW[form](pa, rows_of(urls, size, null_every))
        assert len(column) == size
        check_pyarrow(snapshot, expected, column, threads)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", ["string", "string_view, sliced"])
def test_pyarrow_sizes(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], form: str, size: int, threads: int | None
) -> None:
    pa = pytest.importorskip("pyarrow")
    check_pyarrow(snapshot, expected, ARROW[form](pa, rows_of(urls, size, 11)), threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", ARROW)
def test_pyarrow_chunks(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], form: str, threads: int | None
) -> None:
    pa = pytest.importorskip("pyarrow")
    build = ARROW[form]
    data_type = build(pa, rows_of(urls, 10)).type
    for sizes in [[], [0], [300], [0, 300, 0], [17, 18_000, 1]]:
        chunks = [build(pa, rows_of(urls[at:], size, 3 + at)) for at, size in enumerate(sizes)]
        column = pa.chunked_array(chunks, type=data_type)
        check_pyarrow(snapshot, expected, column, threads)
        if len(column):
            check_pyarrow(snapshot, expected, column[1 : len(column) - 1], threads)


@pytest.mark.parametrize("start", [0, 1, 2, 3, 7, 8, 9, 63, 64, 65])
def test_pyarrow_slices(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], start: int) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = rows_of(urls, 400, null_every=3)
    for form in [*TEXTS, "dictionary of int8", "dictionary with null values"]:
        column = ARROW[form](pa, rows)
        for end in [start, start + 1, start + 8, 399, 400]:
            check_pyarrow(snapshot, expected, column[start:end], 1)
            # A slice of a slice.
            check_pyarrow(snapshot, expected, column[start:end][1:], 1)


def test_pyarrow_nulls(snapshot: robosieve.Snapshot, expected: Expected) -> None:
    pa = pytest.importorskip("pyarrow")
    check_pyarrow(snapshot, expected, pa.nulls(5), 1)
    check_pyarrow(snapshot, expected, pa.nulls(0), 1)
    check_pyarrow(snapshot, expected, pa.nulls(5, pa.string()), 1)
    check_pyarrow(snapshot, expected, pa.nulls(70_000, pa.string_view()), 2)
    check_pyarrow(snapshot, expected, pa.chunked_array([pa.nulls(5), pa.nulls(2)]), 1)
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    check_pyarrow(snapshot, expected, empty, 1)


def test_pyarrow_tables_of_one_column(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"url": urls})
    assert snapshot.verdicts(table, AGENT).to_pylist() == expected.verdicts(urls)


# Polars: a Series.

POLARS: dict[str, Callable[[Any, Rows], Any]] = {
    "String": lambda pl, rows: pl.Series("u", rows, dtype=pl.String),
    "Binary": lambda pl, rows: pl.Series("u", [None if row is None else row.encode() for row in rows], dtype=pl.Binary),
    "Categorical": lambda pl, rows: pl.Series("u", rows, dtype=pl.String).cast(pl.Categorical),
    "Enum": lambda pl, rows: pl.Series(
        "u", rows, dtype=pl.Enum(list(dict.fromkeys(row for row in rows if row is not None)))
    ),
    "chunks": lambda pl, rows: pl.concat(
        [pl.Series("u", part, dtype=pl.String) for part in (rows[:7], rows[7:8], rows[8:])], rechunk=False
    ),
    "slice": lambda pl, rows: pl.Series("u", ["https://shop.example/", None, *rows], dtype=pl.String)[2:],
}


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("form", POLARS)
def test_polars_series(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], form: str, threads: int | None
) -> None:
    pl = pytest.importorskip("polars")
    for size, null_every in [(0, 0), (1, 0), (1000, 3), (70_000 if threads == 2 else 100, 5)]:
        column = POLARS[form](pl, rows_of(urls, size, null_every))
        rows = column.to_list()
        verdicts, masks = judged(snapshot, column, threads)
        assert (verdicts.dtype, verdicts.name) == (pl.Int8, "robots_GPTBot")
        assert (masks.dtype, masks.name) == (pl.Int64, "robots_allowed")
        assert verdicts.to_list() == expected.verdicts(rows)
        assert masks.to_list() == expected.masks(rows)


def test_polars_nulls(snapshot: robosieve.Snapshot) -> None:
    pl = pytest.importorskip("polars")
    assert snapshot.verdicts(pl.Series("u", [None] * 3, dtype=pl.Null), AGENT).to_list() == [None] * 3


# pandas: a Series with the index of the column; nullable integers where there are nulls.

PANDAS: dict[str, Callable[[Any, Rows], Any]] = {
    "object": lambda pd, rows: pd.Series(rows, dtype=object),
    "str": lambda pd, rows: pd.Series(rows, dtype="str"),
    "string": lambda pd, rows: pd.Series(rows, dtype="string"),
    "string[python]": lambda pd, rows: pd.Series(rows, dtype="string[python]"),
    "string[pyarrow]": lambda pd, rows: pd.Series(rows, dtype="string[pyarrow]"),
    "ArrowDtype": lambda pd, rows: pd.Series(rows, dtype=pd.ArrowDtype(__import__("pyarrow").large_string())),
    "category": lambda pd, rows: pd.Series(rows, dtype="category"),
    "NaN": lambda pd, rows: pd.Series([float("nan") if row is None else row for row in rows], dtype=object),
    "NA": lambda pd, rows: pd.Series([pd.NA if row is None else row for row in rows], dtype=object),
}


@pytest.mark.parametrize("null_every", [0, 4])
@pytest.mark.parametrize("form", PANDAS)
def test_pandas_series(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], form: str, null_every: int
) -> None:
    pd = pytest.importorskip("pandas")
    if form in ("string[pyarrow]", "ArrowDtype"):
        pytest.importorskip("pyarrow")
    for size in [1, 1000, 17_000]:
        rows = rows_of(urls, size, null_every)
        column = PANDAS[form](pd, rows)
        column.index = range(5, 5 + 3 * size, 3)
        verdicts, masks = judged(snapshot, column)
        wanted = expected.verdicts(rows), expected.masks(rows)
        for result, values, name, kind in zip(
            (verdicts, masks), wanted, ("robots_GPTBot", "robots_allowed"), ("int8", "int64")
        ):
            assert type(result) is pd.Series and result.name == name
            assert result.dtype == (kind.capitalize() if None in values else kind)
            assert result.index.equals(column.index)
            assert [None if missing else int(value) for value, missing in zip(result, result.isna())] == values


def test_pandas_slices_and_selections(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str]) -> None:
    pd = pytest.importorskip("pandas")
    column = pd.Series(rows_of(urls, 500, 5), dtype="str", index=[f"row {row}" for row in range(500)])
    for part in [column[3:200], column[::-1], column[::3], column.sample(frac=0.5, random_state=1), column[:0]]:
        verdicts = snapshot.verdicts(part, AGENT)
        rows = [None if missing else row for row, missing in zip(part, part.isna())]
        assert verdicts.index.equals(part.index)
        assert [None if missing else int(value) for value, missing in zip(verdicts, verdicts.isna())] == (
            expected.verdicts(rows)
        )


def test_empty_pandas_series_have_integers(snapshot: robosieve.Snapshot) -> None:
    pd = pytest.importorskip("pandas")
    for dtype in ["object", "str", "category"]:
        assert snapshot.verdicts(pd.Series([], dtype=dtype), AGENT).dtype == "int8"


# Other Arrow objects: an `Array`, which any Arrow library imports.


class Stream:
    """Any object with the stream method."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._column.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("threads", THREADS)
def test_other_arrow_objects_get_an_array(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], threads: int | None
) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = rows_of(urls, 70_000, null_every=9)
    column = Stream(pa.chunked_array([pa.array(rows[:100]), pa.array(rows[100:])]))
    verdicts, masks = judged(snapshot, column, threads)
    for result, kind, values in [
        (verdicts, "int8", expected.verdicts(rows)),
        (masks, "int64", expected.masks(rows)),
    ]:
        assert (type(result), result.type) == (robosieve.Array, kind)
        assert result.tolist() == values == list(result)
        assert len(result) == len(rows) and result[0] == values[0] and result[-1] == values[-1]
        assert result.null_count == values.count(None)
        imported = pa.array(result)
        assert imported.type == getattr(pa, kind)() and imported.to_pylist() == values
        with pytest.raises(IndexError):
            result[len(rows)]
        with pytest.raises(IndexError):
            result[-len(rows) - 1]


def test_arrays_convert_to_numpy(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str]) -> None:
    numpy = pytest.importorskip("numpy")
    pa = pytest.importorskip("pyarrow")
    column = Stream(pa.chunked_array([pa.array(urls)]))
    verdicts = snapshot.verdicts(column, AGENT)
    assert numpy.asarray(verdicts).dtype == numpy.int8
    assert numpy.asarray(verdicts).tolist() == expected.verdicts(urls)
    assert numpy.asarray(verdicts, dtype="int32").dtype == numpy.int32
    # Unknown origins have no mask.
    with pytest.raises(ValueError, match="nulls, which a NumPy array of integers cannot hold"):
        numpy.asarray(snapshot.masks(column, AGENTS))


def test_results_outlive_column_and_snapshot(small: Any, expected: Expected, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    snapshot = robosieve.Snapshot(small)
    verdicts = snapshot.verdicts(Stream(pa.chunked_array([pa.array(urls)])), AGENT)
    imported = pa.array(verdicts)
    del snapshot, verdicts
    assert imported.to_pylist() == expected.verdicts(urls)


def test_duckdb_relations(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    pages = pa.table({"url": rows_of(urls, 70_000, 5), "id": range(70_000)})
    with duckdb.connect() as connection:
        connection.register("pages", pages)
        relation = connection.sql("select url from pages order by id")
        verdicts, masks = judged(snapshot, relation)
        rows = pages["url"].to_pylist()
        assert list(verdicts) == expected.verdicts(rows)
        assert list(masks) == expected.masks(rows)
        with pytest.raises(TypeError, match=r'urls is a table with the columns \["url", "id"\]; give one of them'):
            snapshot.verdicts(connection.sql("select url, id from pages"), AGENT)


# What is not accepted.

ACCEPTED = "a column of URLs is an Arrow array or stream .* of type string, large_string, string_view, binary"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("https://shop.example/", r"urls is a single str; give a list, or ask verdict\(url, agent\)"),
        (b"https://shop.example/", "urls is a single bytes; give a list, or ask verdict"),
        (
            {"id": [1], "page_URL": ["https://shop.example/"]},
            r'urls is a dict with the columns \["id", "page_URL"\]; give one of them, such as table\["page_URL"\]',
        ),
        (7, f"urls is of type int; {ACCEPTED}"),
        (None, f"urls is of type NoneType; {ACCEPTED}"),
        (object(), f"urls is of type object; {ACCEPTED}"),
        (["https://shop.example/", 7], "row 1: int: a URL is str or bytes"),
        ([None, 1.5], "row 1: float: a URL is str or bytes"),
        ([["https://shop.example/"]], "row 0: list: a URL is str or bytes"),
        (bytearray(b"https://shop.example/"), "row 0: int: a URL is str or bytes"),
    ],
)
def test_other_types_raise_type_error(snapshot: robosieve.Snapshot, column: Any, message: str) -> None:
    for judge in (snapshot.verdicts, snapshot.masks):
        with pytest.raises(TypeError, match=message):
            judge(column, AGENT)


def test_other_arrow_types_raise_type_error(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    for column, name in [
        (pa.array([1, 2]), "Int64"),
        (pa.array([True]), "Boolean"),
        (pa.array([[url] for url in urls]), "List"),
        (pa.array([b"ab"], pa.binary(2)), "FixedSizeBinary"),
        (pa.array([1, 2]).dictionary_encode(), r"Dictionary\(Int32, Int64\)"),
        (pa.chunked_array([[1], [2]]), "Int64"),
        (pa.chunked_array([[], []], pa.int32()), "Int32"),
    ]:
        for judge in (snapshot.verdicts, snapshot.masks):
            with pytest.raises(TypeError, match=f"an Arrow array of type {name}.*; {ACCEPTED}"):
                judge(column, AGENT)


def test_tables_of_several_columns_raise_type_error(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    for table in [pa.table({"url": urls, "id": range(len(urls))}), pa.array([{"url": "a", "id": 1}])]:
        for judge in (snapshot.verdicts, snapshot.masks):
            with pytest.raises(TypeError, match=r'urls is a table with the columns \["url", "id"\]; give one of them'):
                judge(table, AGENT)


def test_empty_streams_of_other_types_raise_type_error(snapshot: robosieve.Snapshot) -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError):
        snapshot.verdicts(pa.chunked_array([], pa.int32()), AGENT)


def test_errors_of_an_iterator_pass_through(snapshot: robosieve.Snapshot) -> None:
    def broken() -> Any:
        yield "https://shop.example/"
        raise KeyError("the source is gone")

    with pytest.raises(KeyError, match="the source is gone"):
        snapshot.verdicts(broken(), AGENT)


def test_lone_surrogates_are_not_text(snapshot: robosieve.Snapshot) -> None:
    # U+D800 is no escape of a byte.
    url = "https://shop.example/\ud800"
    with pytest.raises((TypeError, UnicodeEncodeError), match="surrogates not allowed"):
        snapshot.verdict(url, AGENT)
    with pytest.raises(TypeError, match="row 0: .*surrogates not allowed"):
        snapshot.verdicts([url], AGENT)


# Malformed arrays. The interface has no lengths of buffers, but the rest is checked.


def _string_with_offsets(pa: Any, *offsets: int) -> Any:
    data = pa.py_buffer(b"https://shop.example/" * 4)
    packed = pa.py_buffer(struct.pack(f"<{len(offsets)}q", *offsets))
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, [None, packed, data])


def _view(pa: Any, *fields: int) -> Any:
    data = pa.py_buffer(b"https://shop.example/" * 4)
    return pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(struct.pack("<iiii", *fields)), data])


@pytest.mark.parametrize("threads", [1, 2])
def test_malformed_arrays_raise_value_error(snapshot: robosieve.Snapshot, threads: int) -> None:
    pa = pytest.importorskip("pyarrow")
    for column, message in [
        (_string_with_offsets(pa, 0, 30, 5), "the offsets descend"),
        (_view(pa, 30, 0, 7, 0), "the view of row 0 exceeds its buffer"),
        (_view(pa, 30_000, 0, 0, 0), "the view of row 0 exceeds its buffer"),
        (_view(pa, -3, 0, 0, 0), "the view of row 0 exceeds its buffer"),
    ]:
        for judge in (snapshot.verdicts, snapshot.masks):
            with pytest.raises(ValueError, match=message):
                judge(column, AGENT, threads=threads)


@pytest.mark.parametrize(("keys", "values"), [([0, 9], ["https://shop.example/"]), ([0, -1], ["a"]), ([0], [])])
def test_keys_outside_a_dictionary_raise_value_error(
    snapshot: robosieve.Snapshot, keys: list[int], values: list[str]
) -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(values, pa.string()), safe=False)
    with pytest.raises(ValueError):
        snapshot.verdicts(column, AGENT)


def test_objects_with_other_capsules_raise(snapshot: robosieve.Snapshot) -> None:
    pa = pytest.importorskip("pyarrow")

    class Exporter:
        def __init__(self, result: Any) -> None:
            self._result = result

        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return self._result

    schema, array = pa.array(["https://shop.example/"]).__arrow_c_array__()
    for result in [(1, 2), (), 5, None, (array, schema), (schema, schema)]:
        with pytest.raises((TypeError, ValueError, IndexError)):
            snapshot.verdicts(Exporter(result), AGENT)


def test_released_arrays_raise(snapshot: robosieve.Snapshot) -> None:
    pa = pytest.importorskip("pyarrow")
    capsules = pa.array(["https://shop.example/"]).__arrow_c_array__()

    class Exporter:
        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return capsules

    assert list(snapshot.verdicts(Exporter(), AGENT)) == [1]
    with pytest.raises((TypeError, ValueError, robosieve.RobosieveError)):
        snapshot.verdicts(Exporter(), AGENT)


def test_pandas_arrays_and_indexes_have_nulls(snapshot: robosieve.Snapshot) -> None:
    pd = pytest.importorskip("pandas")
    for make in (pd.array, pd.Index):
        verdicts = snapshot.verdicts(make(["https://shop.example/", None]), AGENT)
        assert int(verdicts[0]) == 1 and pd.isna(verdicts[1])
