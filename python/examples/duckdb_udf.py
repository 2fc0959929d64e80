"""DuckDB: Arrow functions for SQL. Run it as `duckdb_udf.py SNAPSHOT PAGES.parquet`."""

import json
import sys

import duckdb
import pyarrow as pa

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])


def robots_allowed(urls: pa.ChunkedArray) -> pa.ChunkedArray:
    return snapshot.allowed(urls, "GPTBot")


def robots(urls: pa.ChunkedArray) -> pa.ChunkedArray:
    return snapshot.verdicts(urls, "GPTBot")


duckdb.create_function("robots_allowed", robots_allowed, ["VARCHAR"], "BOOLEAN", type="arrow")
duckdb.create_function("robots", robots, ["VARCHAR"], "TINYINT", type="arrow")
kept = duckdb.execute("select 1, count(*) from read_parquet(?) where robots_allowed(url)", [sys.argv[2]]).fetchall()
query = "select robots(url), count(*) from read_parquet(?) where not robots_allowed(url) group by all"
counts = dict(kept + duckdb.execute(query, [sys.argv[2]]).fetchall())
print(json.dumps({verdict.name.lower(): counts.get(verdict, 0) for verdict in robosieve.Verdict}))
