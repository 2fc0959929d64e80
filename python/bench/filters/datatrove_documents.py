"""Runs a filter of datatrove over a list of URLs."""

from datatrove.data import Document
from robots_texts import write_answers


def write_kept(urls, document_filter):
    """Writes for each URL whether the filter keeps its document."""
    documents = (Document(text="", id=str(row), metadata={"url": url}) for row, url in enumerate(urls))
    kept = {document.id for document in document_filter.run(documents)}
    write_answers(str(row) in kept for row in range(len(urls)))
