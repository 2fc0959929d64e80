"""robots.txt on Apache Spark: verdicts in SQL, as columns and from files to files; compilation.

>>> from robosieve.spark import annotate_files, register, with_verdicts
>>> register(spark, "/mnt/web.rsieve", agent="GPTBot")
>>> spark.sql("SELECT url FROM pages WHERE robots_verdict(url) = 1")
DataFrame[url: string]

:func:`register`, :func:`register_allowed` and :func:`with_verdicts` judge columns of anything that Spark reads.
:func:`annotate_files` and :func:`filter_files` read and write whole files in the tasks, so no row
passes through the JVM: the fastest way for files that all nodes mount, or that are in a store.
:func:`compile_files` makes the snapshot from archives and tables.

The driver reads the snapshot's header and checks agents and options before a job starts. Each
Python worker of Spark opens the snapshot once and checks that its content is the driver's.
``docs/SPARK.md`` has the settings that matter. ``python -m robosieve.spark --help`` is the command.
"""

from .._cluster.jobs import InputsError
from ._columns import register, register_allowed, register_origin, register_reason, with_verdicts
from ._files import annotate_files, compile_files, filter_files

__all__ = [
    "InputsError",
    "annotate_files",
    "compile_files",
    "filter_files",
    "register",
    "register_allowed",
    "register_origin",
    "register_reason",
    "with_verdicts",
]
