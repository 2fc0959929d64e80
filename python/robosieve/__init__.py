"""Decide in bulk which crawler may fetch which URL under robots.txt.

>>> import robosieve
>>> snapshot = robosieve.Snapshot("web.rsieve")
>>> snapshot.verdicts(["https://news.example/world/"], "GPTBot")
[<Verdict.DISALLOWED: 0>]

A snapshot is a file that :func:`compile` (or the command ``robosieve compile``) makes from archives
of robots.txt files. :class:`Snapshot` judges columns of URLs of any Arrow library, and lists:
:meth:`Snapshot.allowed` gives booleans, :meth:`Snapshot.verdicts` all four verdicts.
:meth:`Snapshot.export` gives it as a table. :func:`annotate` and :func:`filter` go from files to
files without reading rows into Python. :class:`Robots` is a single robots.txt. :class:`Lists` finds
URLs in your own lists of domains and URL prefixes.
"""

# Type checkers read the names in place; `typing.TYPE_CHECKING` would import its module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._public import *

__all__ = [
    "Array",
    "CompileReport",
    "Compiler",
    "Explanation",
    "ExportedTable",
    "FilterCounts",
    "Finding",
    "InputsError",
    "ListMatch",
    "Lists",
    "RobosieveError",
    "Robots",
    "Snapshot",
    "SnapshotError",
    "Table",
    "Verdict",
    "__version__",
    "agents",
    "annotate",
    "compile",
    "filter",
    "node_copy",
    "origins",
    "product_token",
]


# Importing everything takes longer than the command `robosieve` takes to start, and the command
# needs the native half only. Type checkers would take any name for one of the package.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            from ._guesses import attribute_error

            raise attribute_error(f"module {__name__!r}", __name__, name)
        from . import _public

        globals().update({public: getattr(_public, public) for public in __all__})
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
