import sys

import pyarrow.parquet

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])
pages = pyarrow.parquet.read_table(sys.argv[2])
print(pages.filter(snapshot.allowed(pages["url"], "GPTBot")).num_rows)
