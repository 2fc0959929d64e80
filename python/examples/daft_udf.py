"""Daft: a batch function for data frames. Run it as `daft_udf.py SNAPSHOT PAGES.parquet`."""

import json
import sys

import daft

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])


@daft.func.batch(return_dtype=daft.DataType.int8())
def robots(urls: daft.Series) -> daft.Series:
    return daft.Series.from_arrow(snapshot.verdicts(urls.to_arrow(), "GPTBot"))


pages = daft.read_parquet(sys.argv[2]).with_column("robots", robots(daft.col("url")))
counts = {row["robots"]: row["url"] for row in pages.groupby("robots").agg(daft.col("url").count("all")).to_pylist()}
print(json.dumps({verdict.name.lower(): counts.get(verdict, 0) for verdict in robosieve.Verdict}))
