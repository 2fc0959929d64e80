"""Polars: judge a column of a LazyFrame. Run it as `polars_lazy.py SNAPSHOT PAGES.parquet`."""

import json
import sys

import polars as pl

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])


def judge(urls: pl.Series) -> pl.Series:
    return snapshot.verdicts(urls, "GPTBot")


allowed = pl.col("url").map_batches(judge, return_dtype=pl.Int8, is_elementwise=True)
pages = pl.scan_parquet(sys.argv[2]).with_columns(allowed.alias("robots"))
counts = dict(pages.group_by("robots").len().collect(engine="streaming").iter_rows())
print(json.dumps({verdict.name.lower(): counts.get(verdict, 0) for verdict in robosieve.Verdict}))
