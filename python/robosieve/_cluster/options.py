"""The options that functions on clusters hand on, for type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from .._compiler import Profile
from .._files import AddedColumn
from .._lists import Lists
from .._options import InputFormat, NoTime, Path, Reason, StatusPolicy, Time
from .._typing import JudgeOptions as JudgeOptions


class ReasonOptions(TypedDict, total=False):
    """The options that reasons depend on: see :class:`robosieve.Snapshot`."""

    status_policy: StatusPolicy | None
    any_scheme: bool
    at: Time | None
    as_of: Time | None
    no_time: NoTime


class RecordOptions(JudgeOptions, total=False):
    """Where the URLs of files are, and the lists to ask: see :func:`robosieve.annotate`."""

    field: str | int | None
    input_format: InputFormat | None
    header: bool
    delimiter: str | None
    json_key: str | None
    default_scheme: str | None
    host: str | None
    as_of_column: str | int | None
    as_of_record: bool
    lists: Lists | Path | None


class AnnotateOptions(RecordOptions, total=False):
    """The options of :func:`robosieve.annotate`."""

    form: Literal["letters", "jsonl", "csv", "mask", "bits", "int8"] | None
    name: str | None
    add: AddedColumn | Sequence[AddedColumn]
    preferences: bool


class FilterOptions(RecordOptions, total=False):
    """The options of :func:`robosieve.filter`."""

    keep: Literal["allowed", "disallowed"]
    require: Literal["all", "any"]
    reasons: Reason | Sequence[Reason]
    disallowed_add: AddedColumn | Sequence[AddedColumn]


class CompileOptions(TypedDict, total=False):
    """The options of :func:`robosieve._cluster.compilation.compile_with`."""

    profile: Profile
    previous: Path | None
    max_failing: float
    as_of: Time | None
    history: bool
    skip_damaged: bool
    captures_dir: Path | None
    memory: int | None
    temp_dir: Path | None
    overwrite: bool
