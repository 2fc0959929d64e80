"""asyncio: judge batches in threads, and swap the snapshot when another file takes its place.
Run it as `asyncio_swap.py SNAPSHOT PAGES.parquet`."""

import asyncio
import json
import os
import sys
from collections import Counter

import pyarrow.parquet as pq

import robosieve


async def swap(current: dict, path: str, seconds: float = 1.0) -> None:
    while await asyncio.sleep(seconds, True):
        if os.stat(path).st_ino != current["inode"]:
            # Running calls keep the old snapshot until they end.
            current.update(inode=os.stat(path).st_ino, web=await asyncio.to_thread(robosieve.Snapshot, path))


async def main(path: str, pages: str) -> None:
    current, counts = {"inode": os.stat(path).st_ino, "web": robosieve.Snapshot(path)}, Counter()
    swapping = asyncio.create_task(swap(current, path))  # `run` ends it
    for batch in pq.ParquetFile(pages).iter_batches(64, columns=["url"]):
        counts.update((await asyncio.to_thread(current["web"].verdicts, batch["url"], "GPTBot")).to_pylist())
    print(json.dumps({verdict.name.lower(): counts[verdict] for verdict in robosieve.Verdict}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
