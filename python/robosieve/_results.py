"""Gives results back in the library that the caller's column came from."""

from __future__ import annotations

from typing import Any, Callable

from ._native import Array


def library_of(column: Any) -> str:
    """The top-level package of the column's type."""
    return type(column).__module__.partition(".")[0]


def as_urls(column: Any) -> Any:
    """The column in a form that the native half reads."""
    # Series of Arrow types export them. Other missing values are None, NaN, NaT or NA.
    if library_of(column) == "pandas" and (
        getattr(column, "dtype", None) == object or not hasattr(column, "__arrow_c_stream__")
    ):
        import pandas

        return [None if missing else url for url, missing in zip(column, pandas.isna(column))]
    return column


def like(column: Any, result: Array, name: str, to_list: Callable[[Array], list[Any]]) -> Any:
    """The result as the type of the column: see `Snapshot.verdicts`."""
    library, kind = library_of(column), type(column).__name__
    if library == "pyarrow":
        return _pyarrow(column, result)
    if library == "polars" and kind == "Series":
        import polars

        return polars.Series(result).alias(name)
    if library == "pandas":
        return _pandas(column, result, name)
    if library == "numpy":
        return result.__array__()
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        return result
    return to_list(result)


def _pyarrow(column: Any, result: Array) -> Any:
    import pyarrow

    array = pyarrow.array(result)
    if not isinstance(column, pyarrow.ChunkedArray):
        return array
    chunks, start = [], 0
    for chunk in column.chunks:
        chunks.append(array.slice(start, len(chunk)))
        start += len(chunk)
    return pyarrow.chunked_array(chunks, type=array.type)


def _pandas(column: Any, result: Array, name: str) -> Any:
    import pandas

    if result.null_count:
        values = pandas.array(result.tolist(), dtype=result.type.capitalize())
    else:
        values = result.__array__()
    if isinstance(column, pandas.Series):
        return pandas.Series(values, index=column.index, name=name)
    if isinstance(column, pandas.Index):
        return pandas.Index(values, name=name)
    return pandas.array(values) if not result.null_count else values
