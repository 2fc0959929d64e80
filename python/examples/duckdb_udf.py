"""DuckDB: an Arrow function for SQL. Run it as `duckdb_udf.py SNAPSHOT PAGES.parquet`."""

import json
import sys

import duckdb
import pyarrow as pa

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])


def robots(urls: pa.ChunkedArray) -> pa.ChunkedArray:
    return snapshot.verdicts(urls, "GPTBot")


duckdb.create_function("robots", robots, ["VARCHAR"], "TINYINT", type="arrow")
query = "select robots(url), count(*) from read_parquet(?) group by all"
counts = dict(duckdb.execute(query, [sys.argv[2]]).fetchall())
print(json.dumps({verdict.name.lower(): counts.get(verdict, 0) for verdict in robosieve.Verdict}))
