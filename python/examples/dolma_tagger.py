"""dolma: a tagger of whole documents. Run it as `dolma_tagger.py SNAPSHOT documents/PAGES.jsonl.gz`.

The attributes are written to the folder `attributes`, next to the documents, for dolma's mixer."""

import gzip
import json
import sys
from collections import Counter

from dolma.core.data_types import DocResult, DocumentWithMetadata, Span
from dolma.core.registry import TaggerRegistry
from dolma.core.runtime import create_and_run_tagger
from dolma.core.taggers import BaseTaggerWithMetadata

import robosieve

snapshot = robosieve.Snapshot(sys.argv[1])


@TaggerRegistry.add("robots_v1")
class RobotsTagger(BaseTaggerWithMetadata):
    def predict(self, doc: DocumentWithMetadata) -> DocResult:
        verdict = snapshot.verdict(doc.metadata["url"], "GPTBot")
        return DocResult(doc=doc, spans=[Span(0, len(doc.text), type=verdict.name.lower(), score=1.0)])


if __name__ == "__main__":
    create_and_run_tagger(documents=[sys.argv[2]], taggers=["robots_v1"])
    with gzip.open(sys.argv[2].replace("/documents/", "/attributes/robots_v1/")) as rows:
        counts = Counter(name.rpartition("_")[2] for row in rows for name in json.loads(row)["attributes"])
    print(json.dumps({name: counts[name] for name in ("disallowed", "allowed", "unknown", "invalid")}))
