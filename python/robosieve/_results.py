"""Gives results back in the library that the caller's column came from."""

from __future__ import annotations

from typing import Any, Callable

from ._native import Array, Table

_MAP_PARTITIONS = (
    'judge its partitions: frame["url"].map_partitions(snapshot.allowed, agents, meta=("allowed", "boolean"))'
)
_MAP_BATCHES = 'judge its batches: pl.col("url").map_batches(judge, return_dtype=pl.Boolean, is_elementwise=True)'
_SPARK = "register a function: robosieve.spark.register_allowed(spark, path, agents=agents)"
_RAY = "write robosieve.ray.filter_allowed(dataset, path, agents)"
#: Columns without values, by library and class, and how their libraries judge them.
_LAZY = {
    ("dask", "Series"): _MAP_PARTITIONS,
    ("dask", "DataFrame"): _MAP_PARTITIONS,
    ("dask", "Index"): _MAP_PARTITIONS,
    ("polars", "Expr"): _MAP_BATCHES,
    ("polars", "LazyFrame"): _MAP_BATCHES,
    ("pyspark", "Column"): _SPARK,
    ("ray", "Dataset"): _RAY,
}


def _is_arrow(column: Any) -> bool:
    return hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__")


def library_of(column: Any) -> str:
    """The top-level package of the column's type."""
    return type(column).__module__.partition(".")[0]


def as_urls(column: Any) -> Any:
    """The column in a form that the native half reads.

    Raises:
        TypeError: It has no values yet. The message says how its library judges them.
    """
    library = library_of(column)
    advice = _LAZY.get((library, type(column).__name__))
    if advice and not _is_arrow(column):
        raise TypeError(f"urls is a {type(column).__name__} of {library}, without values yet; {advice}")
    # The items of an array of NumPy take longest to make, one by one.
    if library == "numpy" and hasattr(column, "tolist"):
        return column.tolist()
    # Series of Arrow types export them. Other missing values are None, NaN, NaT or NA.
    if library == "pandas" and (
        getattr(column, "dtype", None) == object or not hasattr(column, "__arrow_c_stream__")
    ):
        import pandas

        values = column.to_numpy(dtype=object)
        missing = pandas.isna(values)
        if missing.any():
            values = values.copy()
            values[missing] = None
        return values.tolist()
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
    if _is_arrow(column):
        return result
    return to_list(result)


def table_like(column: Any, result: Table, to_list: Callable[[Array], list[Any]]) -> Any:
    """The result as a table of the column's library: see `Snapshot.verdicts`."""
    library, kind = library_of(column), type(column).__name__
    if library == "pyarrow":
        import pyarrow

        return pyarrow.table(result)
    if library == "polars" and kind == "Series":
        import polars

        return polars.DataFrame(result)
    if library == "pandas":
        import pandas

        index = column.index if isinstance(column, pandas.Series) else None
        values = {name: _pandas_values(result[name]) for name in result.columns}
        return pandas.DataFrame(values, index=index)
    if library == "numpy":
        import numpy

        return numpy.column_stack([result[name].__array__() for name in result.columns])
    if _is_arrow(column):
        return result
    return {name: _column_list(result[name], to_list) for name in result.columns}


def _column_list(column: Array, to_list: Callable[[Array], list[Any]]) -> list[Any]:
    """The values of a column of verdicts, which `to_list` gives, or of one of words."""
    return column.tolist() if column.type == "dictionary" else to_list(column)


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

    values = _pandas_values(result)
    if isinstance(column, pandas.Series):
        return pandas.Series(values, index=column.index, name=name)
    if isinstance(column, pandas.Index):
        return pandas.Index(values, name=name)
    is_extension = isinstance(values, pandas.api.extensions.ExtensionArray)
    return values if is_extension else pandas.array(values)


def _pandas_values(result: Array) -> Any:
    """The values as a NumPy array; with nulls, and for texts, as an array of pandas."""
    import pandas

    if result.type == "dictionary":
        return pandas.Categorical.from_codes(result.codes.__array__(), categories=result.categories)
    if result.type in ("string", "large_string"):
        return pandas.array(result.tolist(), dtype="string")
    if result.null_count:
        values, nulls = result.masked()
        masked = {"bool": pandas.arrays.BooleanArray, "float64": pandas.arrays.FloatingArray}
        return masked.get(result.type, pandas.arrays.IntegerArray)(values, nulls)
    return result.__array__()
