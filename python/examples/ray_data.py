"""Ray Data: a filter and a column of verdicts. Run it as `ray_data.py SNAPSHOT PAGES.parquet`.

Each worker opens the snapshot once. `robosieve.ray` also goes from files to files."""

import json
import sys
from collections import Counter

import ray

import robosieve
from robosieve.ray import filter_allowed, with_verdicts

snapshot, files = sys.argv[1:]
pages = ray.data.read_parquet(files)
judged = with_verdicts(pages, snapshot, "GPTBot", form="int8")
counts = Counter(row["robots_GPTBot"] for row in judged.iter_rows())
counts[robosieve.Verdict.ALLOWED] = filter_allowed(pages, snapshot, "GPTBot").count()
print(json.dumps({verdict.name.lower(): counts[verdict] for verdict in robosieve.Verdict}))
