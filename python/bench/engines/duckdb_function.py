import sys

import duckdb

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])
duckdb.create_function("allowed", lambda urls: snapshot.allowed(urls, "GPTBot"), ["VARCHAR"], "BOOLEAN", type="arrow")
print(duckdb.sql(f"SELECT count(*) FROM '{sys.argv[2]}' WHERE allowed(url)").fetchall()[0][0])
