import sys

import pandas

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])
pages = pandas.read_parquet(sys.argv[2])
print(len(pages[snapshot.allowed(pages["url"], "GPTBot")]))
