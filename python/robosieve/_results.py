"""Gives results back in the library that the caller's column came from."""

from __future__ import annotations

from typing import Any, Callable

from ._native import Array


def library_of(column: Any) -> str:
    """The top-level package of the column's type."""
    return type(column).__module__.partition(".")[0]


def as_urls(column: Any) -> Any:
    """The column in a form that the native half reads."""
    if library_of(column) == "pandas" and type(column).__name__ == "Series":
        # Missing values of pandas are None, NaN, NaT or NA; `isna` knows them all.
        if column.dtype == object or not hasattr(column, "__arrow_c_stream__"):
            return [None if missing else url for url, missing in zip(column, column.isna())]
    return column


def like(column: Any, result: Array, name: str, to_list: Callable[[Array], list[Any]]) -> Any:
    """The result as the type of the column: see `Snapshot.verdicts`."""
    library, kind = library_of(column), type(column).__name__
    if library == "pyarrow":
        return _pyarrow(column, result)
    if library == "polars" and kind == "Series":
        import polars

        return polars.Series(result).alias(name)
    if library == "pandas" and kind == "Series":
        import pandas

        if result.null_count:
            values = pandas.array(result.tolist(), dtype=result.type.capitalize())
        else:
            values = result.__array__()
        return pandas.Series(values, index=column.index, name=name)
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
