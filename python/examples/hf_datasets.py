"""Hugging Face datasets: judge batches in two processes. Run it as `hf_datasets.py SNAPSHOT PAGES.parquet`."""

import json
import sys
from collections import Counter

import datasets
import pyarrow as pa

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])


def judge(pages: pa.Table) -> pa.Table:
    return pages.append_column("robots", snapshot.verdicts(pages["url"], "GPTBot"))


if __name__ == "__main__":
    pages = datasets.load_dataset("parquet", data_files=sys.argv[2], split="train").with_format("arrow")
    pages = pages.map(judge, batched=True, num_proc=2)
    counts = Counter(pages.with_format(None)["robots"])
    print(json.dumps({verdict.name.lower(): counts[verdict] for verdict in robosieve.Verdict}))
