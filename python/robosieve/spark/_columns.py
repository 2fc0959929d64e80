"""Verdicts as columns of DataFrames and as a function of SQL.

Spark passes a column to Python in Arrow batches (10,000 rows by default), and a snapshot judges
each batch in place. A batch is far too small for several threads, and a task has one core, so one
thread judges it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import Snapshot, origins
from .._cluster.columns import JudgedColumn, unknown_column, verdict_columns
from .._cluster.source import SnapshotSource, worker_options
from .._files import AddedColumn
from .._lists import Lists, as_lists
from .._options import Agents, Path, Require, names
from ._engine import require_pyspark, spark_source
from ._functions import column_function, exact_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from typing_extensions import Unpack

    from .._cluster.options import JudgeOptions, ReasonOptions


def register(
    spark: SparkSession,
    snapshot: Snapshot | Path,
    *,
    name: str = "robots_verdict",
    agent: str,
    node_directory: Path | None = None,
    executor_path: Path | None = None,
    **options: Unpack[JudgeOptions],
) -> Any:
    """Register a SQL function that gives the verdict on a URL for one agent.

    Args:
        spark: The session.
        snapshot: A snapshot, or its path. Each Python worker verifies its checksums once, unless
            it is a :class:`robosieve.Snapshot` opened with ``verify=False``.
        name: The name of the function. For several agents, register one function for each.
        agent: The product token of the crawler, such as ``"GPTBot"``, or a chain of fallbacks,
            ``"Googlebot-Image:Googlebot"``.
        node_directory: A directory on a local disk of every node. The first task of a node copies
            the snapshot there with :func:`robosieve.node_copy`, and all tasks read the copy. By
            default, tasks read the snapshot at its path, which then must exist on every node.
        executor_path: The path of the snapshot on the executors, if it differs from the driver's. A
            relative path is that of a file shipped with ``--files``, ``--archives`` or
            ``SparkContext.addFile``.
        options: ``status_policy``, ``unknown``, ``any_scheme``, ``at``, ``as_of``, ``no_time``,
            ``agent_match`` and ``strict_agents``, as for :class:`robosieve.Snapshot`. The driver
            checks the spelling of agents.

    Returns:
        The function, for DataFrames: ``df.withColumn("verdict", function("url"))``. It takes a
        string or binary column and gives a tinyint: 0 disallowed, 1 allowed, 2 unknown origin, 3
        not a URL (see :class:`robosieve.Verdict`), null for null. With a second column,
        ``robots_verdict(url, fetched_at)``, each URL is judged by the rules in force at its own
        time. The snapshot needs a history. Times are timestamps, dates, numbers or texts, as for
        :meth:`robosieve.Snapshot.verdicts`; ``no_time`` says what a null gets.

    Raises:
        ImportError: A library is missing: PySpark, pyarrow, or for PySpark before 4.1 pandas.
        SnapshotError: The driver cannot open the snapshot.
        TypeError, ValueError: A bad agent or option.

    An executor that finds another snapshot at the path fails the query. The cost per row is that of
    moving it from the JVM to Python; the verdict itself is a small part.
    """
    require_pyspark()
    opened, source = spark_source(snapshot, node_directory, executor_path)
    # Raises for a bad agent or option.
    opened.verdicts([], agent, **options)
    return spark.udf.register(name, _verdict_function(spark, source, agent, worker_options(options)))


def register_allowed(
    spark: SparkSession,
    snapshot: Snapshot | Path,
    *,
    name: str = "robots_allowed",
    agents: Agents,
    require: Require = "all",
    lists: Lists | Path | None = None,
    node_directory: Path | None = None,
    executor_path: Path | None = None,
    **options: Unpack[JudgeOptions],
) -> Any:
    """Register a SQL function that says whether a URL may be fetched. A URL of an origin that the snapshot
    does not hold is not allowed, unless ``unknown="allow"``; neither is text that is not a URL.

    Args:
        spark, snapshot, node_directory, executor_path, options: As for :func:`register`.
        name: The name of the function.
        agents: Any number of names and sets, as for :func:`with_verdicts`.
        require: A URL is allowed if all agents may fetch it, or with ``"any"`` at least one.
        lists: Lists to ask too: a URL that they name is not allowed. The driver opens them, and each
            task opens the same file at the same path.

    Returns:
        The function, for DataFrames: ``df.where(function("url"))``. It takes a string or binary column,
        and a column of times as that of :func:`register` if it is given one. It gives a boolean, as
        :meth:`robosieve.Snapshot.allowed`; null for null.

    Raises:
        ImportError, SnapshotError, TypeError, ValueError: As :func:`register`.
        OSError, RobosieveError: The driver cannot open the lists.
    """
    require_pyspark()
    opened, source = spark_source(snapshot, node_directory, executor_path)
    asked = as_lists(lists)
    # Raises for a bad agent or option.
    opened.allowed([], agents, require=require, lists=asked, **options)
    function = _allowed_function(spark, source, names(agents), require, asked, worker_options(options))
    return spark.udf.register(name, function)


def register_origin(spark: SparkSession, *, name: str = "robots_origin") -> Any:
    """Register a SQL function that gives the origin of a URL, the key of exported tables.

    Args:
        spark: The session.
        name: The name of the function.

    Returns:
        The function, for DataFrames. It takes a string or binary column and gives a string, as
        :func:`robosieve.origins`: null for text that is not a URL, and for null.

    Raises:
        ImportError: A library is missing: PySpark, pyarrow, or for PySpark before 4.1 pandas.

    It needs no snapshot. ``SELECT * FROM pages JOIN origins ON robots_origin(url) = origin`` joins
    pages with the table of ``robosieve export``.
    """
    require_pyspark()
    return spark.udf.register(name, _origin_function(spark))


def register_reason(
    spark: SparkSession,
    snapshot: Snapshot | Path,
    *,
    name: str = "robots_reason",
    node_directory: Path | None = None,
    executor_path: Path | None = None,
    **options: Unpack[ReasonOptions],
) -> Any:
    """Register a SQL function that says what the verdicts on a URL rest on.

    Args:
        spark, snapshot, node_directory, executor_path: As for :func:`register`.
        name: The name of the function.
        options: ``status_policy``, ``any_scheme``, ``at``, ``as_of`` and ``no_time``, as for
            :class:`robosieve.Snapshot`. The reason does not depend on the agent.

    Returns:
        The function, for DataFrames. It takes a string or binary column, and a column of times as that
        of :func:`register` if it is given one. It gives a string, as
        :meth:`robosieve.Snapshot.reasons`, such as ``rules`` or ``server-error``; null for null.

    Raises:
        ImportError, SnapshotError, TypeError, ValueError: As :func:`register`.
    """
    require_pyspark()
    opened, source = spark_source(snapshot, node_directory, executor_path)
    # Raises for a bad option.
    opened.reasons([], **options)
    return spark.udf.register(name, _reason_function(spark, source, worker_options(options)))


def with_verdicts(
    df: DataFrame,
    snapshot: Snapshot | Path,
    agents: Agents,
    *,
    url: str | Column = "url",
    as_of_column: str | Column | None = None,
    form: Literal["bits", "int8"] = "bits",
    name: str | None = None,
    add: AddedColumn | Sequence[AddedColumn] = (),
    lists: Lists | Path | None = None,
    node_directory: Path | None = None,
    executor_path: Path | None = None,
    **options: Unpack[JudgeOptions],
) -> DataFrame:
    """Add the verdicts for agents to a DataFrame.

    Args:
        df: The DataFrame.
        snapshot, node_directory, executor_path, options: As for :func:`register`.
        agents: Names and sets: ``["GPTBot", "CCBot"]``, ``"GPTBot,CCBot"``, ``"@ai-train"``.
            :func:`robosieve.agents` gives their order.
        url: The column of the URLs, string or binary; ``"page.url"`` is a field of a struct.
        as_of_column: A column of times: each URL is judged by the rules in force at its own, as by the
            function of :func:`register` with two columns.
        form: ``"bits"`` adds one bigint column for up to 63 agents: bit 0 is set if the first agent
            may fetch the URL, bit 1 for the second. It is null for null, for unknown origins and
            for text that is not a URL. ``"int8"`` adds a tinyint column per agent with the values
            of :func:`register`.
        name: The name of the column (default ``robots_allowed``), or the prefix of the columns per
            agent (default ``robots_``).
        add: Columns to write after the verdicts, with the names and values of :func:`robosieve.annotate`:
            ``"origin"``, ``"reason"``, and ``"crawl_delay"``, a double column per agent.
        lists: Add a string column ``robots_listed`` with the words of :meth:`robosieve.Lists.match`,
            ``list:NAME`` for a URL that a list names, else null. They change no other column. The
            driver opens the lists, and each task opens the same file at the same path.

    Returns:
        The DataFrame with the new columns after the others.

    Raises:
        ImportError: A library is missing: PySpark, pyarrow, or for PySpark before 4.1 pandas.
        SnapshotError: The driver cannot open the snapshot.
        OSError, RobosieveError: The driver cannot open the lists.
        TypeError: The column holds neither strings nor bytes, or an unknown option.
        ValueError: A bad agent or option, an unknown column, or the new column exists already.
    """
    require_pyspark()
    opened, source = spark_source(snapshot, node_directory, executor_path)
    _check_url_column(df, url)
    judged = [exact_column(df, column) for column in (url, as_of_column) if column is not None]
    added = verdict_columns(opened, source, agents, form, name, add, lists, options, "DataFrame", df.columns)
    columns = {}
    for column, values in added.items():
        function = column_function(df.sparkSession, _function_of(values), values.type)
        columns[column] = function(*(judged if values.takes_times else judged[:1]))
    return df.withColumns(columns)


def _function_of(column: JudgedColumn) -> Any:
    """The values of a column, as a function for Spark."""

    def robots_column(urls: Any, times: Any = None) -> Any:
        return column.values(urls, times)

    return robots_column


def _verdict_function(spark: SparkSession, source: SnapshotSource, agent: str, options: Any) -> Any:
    def robots_verdict(urls: Any, times: Any = None) -> Any:
        return source.open().verdicts(urls, agent, threads=1, **_with_times(options, times))

    return column_function(spark, robots_verdict, "tinyint")


def _allowed_function(
    spark: SparkSession, source: SnapshotSource, agents: list[str], require: Require, lists: Lists | None, options: Any
) -> Any:
    def robots_allowed(urls: Any, times: Any = None) -> Any:
        in_batch = _with_times(options, times)
        return source.open().allowed(urls, agents, require=require, lists=lists, threads=1, **in_batch)

    return column_function(spark, robots_allowed, "boolean")


def _with_times(options: dict[str, Any], times: Any) -> dict[str, Any]:
    """The options, with a column of times if there is one."""
    return options if times is None else {**options, "as_of": times}


def _origin_function(spark: SparkSession) -> Any:
    def robots_origin(urls: Any) -> Any:
        return origins(urls)

    return column_function(spark, robots_origin, "string")


def _reason_function(spark: SparkSession, source: SnapshotSource, options: dict[str, Any]) -> Any:
    def robots_reason(urls: Any, times: Any = None) -> Any:
        # Spark takes no dictionaries.
        return source.open().reasons(urls, threads=1, **_with_times(options, times)).dictionary_decode()

    return column_function(spark, robots_reason, "string")


def _check_url_column(df: DataFrame, url: str | Column) -> None:
    """Raises for a column that does not exist or holds no text, before any job starts."""
    from pyspark.errors import AnalysisException
    from pyspark.sql.types import BinaryType, CharType, StringType, VarcharType

    unknown = unknown_column(url, df.columns)
    # PySpark logs a long trace for a name that it cannot resolve, so simple names are looked up here.
    if isinstance(url, str) and url.isidentifier() and url.lower() not in map(str.lower, df.columns):
        raise unknown
    try:
        field = df.select(url).schema[0]
    except AnalysisException as err:
        raise unknown from err
    if not isinstance(field.dataType, (BinaryType, CharType, StringType, VarcharType)):
        raise TypeError(
            f"column {field.name!r} is {field.dataType.simpleString()}; URLs are a column of string or binary"
        )
