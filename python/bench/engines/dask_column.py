import sys

import dask.dataframe

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])
urls = dask.dataframe.read_parquet(sys.argv[2], columns=["url"])["url"]
print(urls.map_partitions(snapshot.allowed, "GPTBot", meta=("allowed", "bool")).sum().compute())
