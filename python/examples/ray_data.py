"""Ray Data: judge batches of Arrow tables. Run it as `ray_data.py SNAPSHOT PAGES.parquet`.

The functions pickle with the path of the snapshot, and each worker opens it once."""

import json
import sys
from collections import Counter

import pyarrow as pa
import ray

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])


def keep(pages: pa.Table) -> pa.Table:
    return pages.filter(snapshot.allowed(pages["url"], "GPTBot"))


def judge(pages: pa.Table) -> pa.Table:
    return pages.append_column("robots", snapshot.verdicts(pages["url"], "GPTBot"))


pages = ray.data.read_parquet(sys.argv[2])
counts = Counter(row["robots"] for row in pages.map_batches(judge, batch_format="pyarrow").iter_rows())
counts[robosieve.Verdict.ALLOWED] = pages.map_batches(keep, batch_format="pyarrow").count()
print(json.dumps({verdict.name.lower(): counts[verdict] for verdict in robosieve.Verdict}))
