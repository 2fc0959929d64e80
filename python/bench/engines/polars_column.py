import sys

import polars

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])
pages = polars.read_parquet(sys.argv[2])
print(pages.filter(snapshot.allowed(pages["url"], "GPTBot")).height)
