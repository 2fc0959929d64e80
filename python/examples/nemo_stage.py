"""NeMo Curator: a stage that judges batches of documents. Run it as `nemo_stage.py SNAPSHOT PAGES.parquet`."""

import json
import sys
from dataclasses import dataclass, replace

import pandas as pd
from nemo_curator.backends.ray_data import RayDataExecutor
from nemo_curator.pipeline import Pipeline
from nemo_curator.stages.base import ProcessingStage
from nemo_curator.stages.text.io.reader.parquet import ParquetReader
from nemo_curator.tasks import DocumentBatch

import robosieve


@dataclass
class RobotsStage(ProcessingStage[DocumentBatch, DocumentBatch]):
    snapshot: robosieve.Snapshot
    name: str = "robots"

    def process(self, task: DocumentBatch) -> DocumentBatch:
        return replace(task, data=task.data.assign(robots=self.snapshot.verdicts(task.data["url"], "GPTBot")))


stages = [ParquetReader(sys.argv[2], fields=["url"]), RobotsStage(robosieve.Snapshot(sys.argv[1]))]
batches = Pipeline(name="robots", stages=stages).run(RayDataExecutor())
counts = pd.concat(batch.to_pandas() for batch in batches)["robots"].value_counts()
print(json.dumps({verdict.name.lower(): int(counts.get(verdict, 0)) for verdict in robosieve.Verdict}))
