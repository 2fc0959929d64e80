"""Dask: judge the partitions of a DataFrame. Run it as `dask_frame.py SNAPSHOT PAGES.parquet`.

The methods pickle with the path of the snapshot, and each worker opens it once."""

import json
import sys

import dask.dataframe as dd

import robosieve

if __name__ == "__main__":
    snapshot = robosieve.Snapshot(sys.argv[1])
    pages = dd.read_parquet(sys.argv[2], columns=["url"])
    pages["allowed"] = pages["url"].map_partitions(snapshot.allowed, "GPTBot", meta=("allowed", "bool"))
    pages["robots"] = pages["url"].map_partitions(snapshot.verdicts, "GPTBot", meta=("robots", "int8"))
    others = pages[~pages["allowed"]]["robots"].value_counts().compute(scheduler="processes", num_workers=2)
    counts = {**others, robosieve.Verdict.ALLOWED: pages["allowed"].sum().compute()}
    print(json.dumps({verdict.name.lower(): int(counts.get(verdict, 0)) for verdict in robosieve.Verdict}))
