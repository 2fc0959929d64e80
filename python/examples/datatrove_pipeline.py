"""datatrove: drop documents with two workers. Run it as `datatrove_pipeline.py SNAPSHOT FOLDER`.

The documents of the folder's Parquet files go to `FOLDER-kept` and `FOLDER-dropped`."""

import json
import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter

from robosieve.datatrove import RobotsFilter

if __name__ == "__main__":
    snapshot, folder = sys.argv[1:]
    dropped = ParquetWriter(f"{folder}-dropped", expand_metadata=True)
    robots = RobotsFilter(snapshot, "GPTBot", exclusion_writer=dropped)
    steps = [ParquetReader(folder), robots, ParquetWriter(f"{folder}-kept", expand_metadata=True)]
    stats = LocalPipelineExecutor(steps, tasks=2, workers=2, logging_dir=f"{folder}-logs").run()
    counts = stats.stats[1].stats
    names = {"disallowed": "dropped_robots_disallowed", "allowed": "forwarded"}
    names |= {"unknown": "dropped_robots_unknown", "invalid": "dropped_robots_not_a_url"}
    print(json.dumps({verdict: int(counts[name].total) for verdict, name in names.items()}))
