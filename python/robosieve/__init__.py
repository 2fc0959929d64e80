"""Decide in bulk which crawler may fetch which URL under robots.txt.

>>> import robosieve
>>> snapshot = robosieve.Snapshot("web.rsieve")
>>> snapshot.verdicts(["https://news.example/world/"], "GPTBot")
[<Verdict.DISALLOWED: 0>]

A snapshot is a file that :func:`compile` (or the command ``robosieve compile``) makes from
archives of robots.txt files. :class:`Snapshot` judges columns of URLs of any Arrow library, and
lists. :func:`annotate` and :func:`filter` go from files to files without reading rows into Python.
:class:`Robots` is a single robots.txt.
"""

from ._compiler import Compiler, compile
from ._files import annotate, filter
from ._native import Array, RobosieveError, SnapshotError, __version__
from ._node_copy import node_copy
from ._robots import Finding, Robots, product_token
from ._snapshot import Explanation, Snapshot, Verdict, agents

__all__ = [
    "Array",
    "Compiler",
    "Explanation",
    "Finding",
    "RobosieveError",
    "Robots",
    "Snapshot",
    "SnapshotError",
    "Verdict",
    "__version__",
    "agents",
    "annotate",
    "compile",
    "filter",
    "node_copy",
    "product_token",
]
