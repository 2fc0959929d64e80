"""The public names of the package. ``__init__`` imports this module when one of them is first used."""

from ._cluster.jobs import InputsError as InputsError
from ._compiler import Compiler as Compiler, compile as compile
from ._counts import CompileReport as CompileReport, FilterCounts as FilterCounts
from ._files import annotate as annotate, filter as filter
from ._lists import ListMatch as ListMatch, Lists as Lists
from ._native import (
    Array as Array,
    ExportedTable as ExportedTable,
    RobosieveError as RobosieveError,
    SnapshotError as SnapshotError,
    Table as Table,
    __version__ as __version__,
)
from ._node_copy import node_copy as node_copy
from ._robots import Finding as Finding, Robots as Robots, product_token as product_token
from ._snapshot import (
    Explanation as Explanation,
    Snapshot as Snapshot,
    Verdict as Verdict,
    agents as agents,
    origins as origins,
)
