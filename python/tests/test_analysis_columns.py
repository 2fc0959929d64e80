"""Origins, reasons, crawl-delays and tables of verdicts: in columns of every type, in annotated files,
and as the key of exported tables."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

import robosieve
from robosieve import Verdict

AGENT = "FooBot"
AGENTS = ["GPTBot", "FooBot", "Googlebot"]
TABLE = [f"robots_{agent}" for agent in AGENTS]
ADDED = ["robots_origin", "robots_reason", "robots_crawl_delay_FooBot"]
SMALL = Path(__file__).resolve().parents[2] / "datasets" / "small"

Rows = list[Any]


class Expected:
    """The values of single URLs, from `explain()` and `crawl_delay()`."""

    def __init__(self, snapshot: robosieve.Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[Any, tuple[Any, ...]] = {None: (None, None, None, (None, None, None))}

    def _of(self, url: Any) -> tuple[Any, ...]:
        if url not in self._known:
            why = self._snapshot.explain(url, AGENT)
            codes = tuple(int(self._snapshot.verdict(url, agent)) for agent in AGENTS)
            delay = self._snapshot.crawl_delay(url, AGENT)
            self._known[url] = (why.origin, why.reason, delay, codes)
        return self._known[url]

    def added(self, rows: Rows) -> list[Rows]:
        """The origins, the reasons and the crawl-delays."""
        return [[self._of(url)[number] for url in rows] for number in range(3)]

    def table(self, rows: Rows) -> list[Rows]:
        """The verdicts for each agent."""
        return [[self._of(url)[3][number] for url in rows] for number in range(len(AGENTS))]


@pytest.fixture(scope="module")
def expected(snapshot: robosieve.Snapshot) -> Expected:
    return Expected(snapshot)


def added(snapshot: robosieve.Snapshot, column: Callable[[], Any], threads: int | None = None) -> list[Any]:
    return [
        snapshot.origins(column()),
        snapshot.reasons(column(), threads=threads),
        snapshot.crawl_delays(column(), AGENT, threads=threads),
    ]


def rows_of(urls: list[str], size: int) -> Rows:
    """`size` rows in another order than the data set's, some of them null."""
    rows: Rows = [urls[row * 37 % len(urls)] for row in range(size)]
    rows[1::5] = [None] * len(rows[1::5])
    return rows


def test_small_urls_have_every_value(expected: Expected, urls: list[str]) -> None:
    origins, reasons, delays = expected.added(urls)
    assert None in origins and None in delays and len(set(delays)) == 3
    assert set(reasons) >= {
        "rules", "last-good-copy", "no-robots-txt", "forbidden", "server-error", "unresolved-redirect",
        "unknown-origin", "not-a-url",
    }  # fmt: skip


class Stream:
    """An Arrow object of no known library."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._column.__arrow_c_stream__(requested_schema)


def _pyarrow(kind: str) -> Callable[[Rows], Any]:
    def build(rows: Rows) -> Any:
        pa = pytest.importorskip("pyarrow")
        if kind == "dictionary":
            return pa.array(rows).dictionary_encode()
        if kind == "chunked":
            return pa.chunked_array(
                [pa.array(rows[:9], "string"), pa.array([], "string"), pa.array(rows[9:], "string")]
            )
        if kind == "stream":
            return Stream(pa.chunked_array([pa.array(rows[:9], "string"), pa.array(rows[9:], "string")]))
        return pa.array(rows, kind)

    return build


def _pandas(dtype: str) -> Callable[[Rows], Any]:
    def build(rows: Rows) -> Any:
        pd = pytest.importorskip("pandas")
        return pd.Series(rows, dtype=dtype, index=[f"row {row}" for row in range(len(rows))])

    return build


#: Each type of column, the type of its results, and of a table of results.
COLUMNS: dict[str, tuple[Callable[[Rows], Any], str, str]] = {
    "list": (list, "list", "dict"),
    "generator": (lambda rows: (row for row in rows), "list", "dict"),
    "numpy": (lambda rows: pytest.importorskip("numpy").array(rows, dtype=object), "ndarray", "ndarray"),
    "pyarrow string": (_pyarrow("string"), "Array", "Table"),
    "pyarrow large_string": (_pyarrow("large_string"), "Array", "Table"),
    "pyarrow string_view": (_pyarrow("string_view"), "Array", "Table"),
    "pyarrow dictionary": (_pyarrow("dictionary"), "Array", "Table"),
    "pyarrow chunks": (_pyarrow("chunked"), "ChunkedArray", "Table"),
    "other Arrow object": (_pyarrow("stream"), "robosieve.Array", "robosieve.Table"),
    "polars": (lambda rows: pytest.importorskip("polars").Series(rows), "Series", "DataFrame"),
    "pandas object": (_pandas("object"), "Series", "DataFrame"),
    "pandas str": (_pandas("str"), "Series", "DataFrame"),
    "pandas category": (_pandas("category"), "Series", "DataFrame"),
}


def as_list(column: Any) -> Rows:
    """The values of a column of any library, None for missing ones."""
    if hasattr(column, "isna"):
        return [None if missing else value for value, missing in zip(column, column.isna())]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            column = getattr(column, method)()
    return [None if isinstance(value, float) and value != value else value for value in column]


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_have_the_values_of_single_urls(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], kind: str
) -> None:
    build, result, _ = COLUMNS[kind]
    for size in [1, 10, 1000, 17_000]:
        rows = rows_of(urls, size)
        columns = added(snapshot, lambda: build(rows))
        for column, values, name in zip(columns, expected.added(rows), ADDED):
            assert as_list(column) == values, name
            assert f"{type(column).__module__}.{type(column).__name__}".endswith(result) or result == "Array"
            if kind.startswith(("polars", "pandas")):
                assert column.name == name


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_list_of_agents_gives_a_table(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], kind: str
) -> None:
    build, _, result = COLUMNS[kind]
    for size in [10, 17_000]:
        rows = [row for row in rows_of(urls, size) if row is not None or kind != "numpy"]
        table = snapshot.verdicts(build(rows), AGENTS)
        values = expected.table(rows)
        assert f"{type(table).__module__}.{type(table).__name__}".endswith(result)
        if kind == "numpy":
            assert (table.shape, table.dtype) == ((len(rows), len(AGENTS)), "int8")
            assert table.T.tolist() == values
            continue
        names = (
            table.column_names
            if kind.startswith("pyarrow")
            else list(table if isinstance(table, dict) else table.columns)
        )
        assert names == TABLE
        for name, column in zip(TABLE, values):
            assert as_list(table[name]) == column, name
        if isinstance(table, dict):
            assert {type(verdict) for verdict in table["robots_GPTBot"]} <= {Verdict, type(None)}
        if kind.startswith("pandas"):
            assert table.index.equals(build(rows).index)


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_threads_change_no_value(
    snapshot: robosieve.Snapshot, expected: Expected, urls: list[str], threads: int | None
) -> None:
    for size in [0, 1, (16 << 10) + 1, (64 << 10) + 1]:
        rows = rows_of(urls, size)
        assert added(snapshot, lambda: rows, threads) == expected.added(rows)
        assert list(snapshot.verdicts(rows, tuple(AGENTS), threads=threads).values()) == expected.table(rows)


def test_types_fit_each_library(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    words = pa.dictionary(pa.int32(), pa.string())
    rows = rows_of(urls, 100)
    assert [column.type for column in added(snapshot, lambda: pa.array(rows))] == [pa.string(), words, pa.float64()]
    arrays = added(snapshot, lambda: Stream(pa.chunked_array([pa.array(rows)])))
    assert [array.type for array in arrays] == ["string", "dictionary", "float64"]
    assert [pa.array(array).type for array in arrays] == [pa.string(), words, pa.float64()]
    table = snapshot.verdicts(pa.array(rows), AGENTS)
    assert table.schema.types == [pa.int8()] * len(AGENTS)

    polars = pytest.importorskip("polars")
    columns = added(snapshot, lambda: polars.Series(rows))
    assert [str(column.dtype) for column in columns] == ["String", "Categorical", "Float64"]
    frame = snapshot.verdicts(polars.Series(rows), AGENTS)
    assert frame.dtypes == [polars.Int8] * len(AGENTS)

    pandas = pytest.importorskip("pandas")
    columns = added(snapshot, lambda: pandas.Series(rows))
    assert [str(column.dtype) for column in columns] == ["string", "category", "Float64"]
    whole = pandas.Series(urls)
    assert set(snapshot.verdicts(whole, AGENTS).dtypes) == {pandas.Series([0], dtype="int8").dtype}


def test_words_of_reasons_can_be_compared(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    count = snapshot.reasons(urls).count("server-error")
    assert count > 0
    pc = pytest.importorskip("pyarrow.compute")
    pa = pytest.importorskip("pyarrow")
    assert pc.sum(pc.equal(snapshot.reasons(pa.array(urls)), "server-error")).as_py() == count
    polars = pytest.importorskip("polars")
    assert (snapshot.reasons(polars.Series(urls)) == "server-error").sum() == count
    pandas = pytest.importorskip("pandas")
    assert (snapshot.reasons(pandas.Series(urls)) == "server-error").sum() == count


def test_reasons_depend_on_policy_scheme_and_time(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    for options in [
        {"status_policy": "strict"}, {"status_policy": "rfc9309"}, {"any_scheme": True}, {"at": "2026-08-10"},
    ]:  # fmt: skip
        explained = [snapshot.explain(url, AGENT, **options).reason for url in urls]
        assert snapshot.reasons(urls, **options) == explained
    assert snapshot.reasons(urls, at="2026-08-10") != snapshot.reasons(urls)


def test_reasons_are_those_of_a_report(
    program: Path, small: Path, snapshot: robosieve.Snapshot, lines: list[bytes], tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    command = [program, "report", "-q", "-s", small, "-a", AGENT, SMALL / "urls.txt", "--json-to", report]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    counted = {row["basis"]: row["urls"] for row in json.loads(report.read_text())["bases"]}
    reasons = snapshot.reasons(lines)
    assert {reason: reasons.count(reason) for reason in counted} == counted
    assert sum(counted.values()) == len(lines)


def test_sets_and_single_agents_of_lists(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    assert snapshot.verdicts(urls, ["GPTBot"]) == {"robots_GPTBot": snapshot.verdicts(urls, "GPTBot")}
    members = robosieve.agents("@ai")
    assert len(members) > 63
    table = snapshot.verdicts(urls, ["@ai"])
    assert list(table) == [f"robots_{agent}" for agent in members]
    assert all(table[f"robots_{agent}"] == snapshot.verdicts(urls, agent) for agent in members[::20])
    with pytest.raises(ValueError, match="no agent"):
        snapshot.verdicts(urls, [])
    with pytest.warns(UserWarning, match="did you mean GPTBot"):
        snapshot.verdicts(urls, ["GTPBot"])
    with pytest.raises(ValueError, match="did you mean GPTBot"):
        snapshot.verdicts(urls, ["GTPBot"], strict_agents=True)


def test_other_types_raise_type_error(snapshot: robosieve.Snapshot) -> None:
    for column in ["https://shop.example/", 7, None, [1]]:
        for call in (snapshot.origins, snapshot.reasons, robosieve.origins):
            with pytest.raises(TypeError):
                call(column)
        with pytest.raises(TypeError):
            snapshot.verdicts(column, AGENTS)
        with pytest.raises(TypeError):
            snapshot.crawl_delays(column, AGENT)


def test_tables_of_no_library(snapshot: robosieve.Snapshot, expected: Expected, urls: list[str]) -> None:
    pa = pytest.importorskip("pyarrow")
    table = snapshot.verdicts(Stream(pa.chunked_array([pa.array(urls)])), AGENTS)
    assert (len(table), table.columns) == (len(urls), TABLE)
    assert repr(table) == f"<robosieve.Table {len(urls)} rows: {', '.join(TABLE)}>"
    assert list(table.to_dict().values()) == expected.table(urls)
    with pytest.raises(KeyError, match='no column "x"; the columns are robots_GPTBot'):
        table["x"]
    imported = pa.table(table)
    assert imported.to_pydict() == table.to_dict()
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(table).to_dict(as_series=False) == table.to_dict()
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("judged", table)
        allowed = connection.sql("select count(*) from judged where robots_GPTBot = 1").fetchall()
    assert allowed == [(expected.table(urls)[0].count(1),)]


def test_dictionaries_reach_duckdb(snapshot: robosieve.Snapshot, urls: list[str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    judged = pa.table({"reason": snapshot.reasons(pa.array(urls)), "origin": snapshot.origins(pa.array(urls))})
    with duckdb.connect() as connection:
        connection.register("judged", judged)
        found = connection.sql("select count(*) from judged where reason = 'rules' and origin is not null")
        assert found.fetchall() == [(snapshot.reasons(urls).count("rules"),)]


def test_origins_are_the_key_of_exported_tables(
    program: Path, small: Path, snapshot: robosieve.Snapshot, urls: list[str], tmp_path: Path
) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    exported = tmp_path / "origins.parquet"
    command = [program, "export", "-q", "-s", small, "--columns", "origin,outcome", "-o", exported]
    subprocess.run(command, check=True)
    known = [url for url in urls if url in snapshot]
    assert known and len(known) < len(urls)

    pages = pa.table({"url": urls, "origin": snapshot.origins(pa.array(urls))})
    joined = pages.join(parquet.read_table(exported), "origin", join_type="inner")
    assert sorted(joined["url"].to_pylist()) == sorted(known)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"url": urls}).with_columns(snapshot.origins(polars.Series(urls)).alias("origin"))
    assert frame.join(polars.read_parquet(exported), on="origin")["url"].to_list() == known
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"url": urls, "origin": snapshot.origins(pandas.Series(urls))})
    assert data.dropna().merge(pandas.read_parquet(exported), on="origin")["url"].to_list() == known


@pytest.mark.parametrize("form", ["bits", "int8"])
def test_annotated_columns_equal_those_in_memory(snapshot: robosieve.Snapshot, tmp_path: Path, form: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    output = tmp_path / "annotated.parquet"
    add = ["origin", "reason", "crawl_delay"]
    robosieve.annotate(snapshot, SMALL / "pages.parquet", output, AGENTS, form=form, add=add)  # type: ignore[arg-type]
    pages = parquet.read_table(output)
    assert pages["robots_origin"].equals(snapshot.origins(pages["url"]))
    assert pages["robots_reason"].to_pylist() == snapshot.reasons(pages["url"]).to_pylist()
    for agent in AGENTS:
        delays = snapshot.crawl_delays(pages["url"], agent)
        assert pages[f"robots_crawl_delay_{agent}"].equals(delays)
    if form == "int8":
        assert pages.select(TABLE).equals(snapshot.verdicts(pages["url"], AGENTS))


def test_annotated_lines_equal_columns_in_memory(
    snapshot: robosieve.Snapshot, lines: list[bytes], tmp_path: Path
) -> None:
    output = tmp_path / "annotated.jsonl"
    add = ("origin", "reason", "crawl_delay")
    robosieve.annotate(snapshot, SMALL / "urls.txt", output, AGENTS, form="jsonl", add=add)
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [line["robots_origin"] for line in found] == robosieve.origins(lines)
    assert [line["robots_reason"] for line in found] == snapshot.reasons(lines)
    for agent in AGENTS:
        delays = [line["robots_crawl_delay"][agent] for line in found]
        assert delays == snapshot.crawl_delays(lines, agent)
        verdicts = [Verdict[line["robots"][agent].upper()] for line in found]
        assert verdicts == snapshot.verdicts(lines, AGENTS)[f"robots_{agent}"]


def test_annotate_refuses_unknown_columns_and_forms_without_keys(snapshot: robosieve.Snapshot, tmp_path: Path) -> None:
    output = tmp_path / "out"
    with pytest.raises(ValueError, match="add='reasn'; give one of|add=\"reasn\"; give one of"):
        robosieve.annotate(snapshot, SMALL / "urls.txt", output, AGENT, form="jsonl", add=["reasn"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="the form letters has no room for added columns"):
        robosieve.annotate(snapshot, SMALL / "urls.txt", output, AGENT, add="origin")
    assert not output.exists()
