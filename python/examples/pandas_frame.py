"""pandas: judge a column of a DataFrame. Run it as `pandas_frame.py SNAPSHOT PAGES.parquet`."""

import json
import sys

import pandas as pd

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])
pages = pd.read_parquet(sys.argv[2], columns=["url"])
pages["robots"] = snapshot.verdicts(pages["url"], "GPTBot")
counts = pages["robots"].value_counts()
print(json.dumps({verdict.name.lower(): int(counts.get(verdict, 0)) for verdict in robosieve.Verdict}))
