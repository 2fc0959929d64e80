"""robots.txt on Ray: verdicts as columns of datasets and from files to files; compilation.

>>> from robosieve.ray import annotate_files, filter_allowed, with_verdicts
>>> pages = ray.data.read_parquet("/mnt/pages")
>>> filter_allowed(pages, "/mnt/web.rsieve", "GPTBot").write_parquet("/mnt/allowed")

:func:`filter_allowed` and :func:`with_verdicts` judge a column of anything that Ray Data reads.
:func:`annotate_files` and :func:`filter_files` read and write whole files in tasks, so no row passes
through Ray. :func:`compile_files` makes the snapshot from archives and tables.

The driver reads the snapshot's header and checks agents and options before a task starts. Each worker
process opens the snapshot once and checks that its content is the driver's. ``docs/RAY.md`` has more.
"""

from .._cluster.jobs import InputsError
from ._datasets import filter_allowed, with_verdicts
from ._files import annotate_files, compile_files, filter_files

__all__ = ["InputsError", "annotate_files", "compile_files", "filter_allowed", "filter_files", "with_verdicts"]
