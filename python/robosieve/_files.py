"""From files to files: rows never pass through Python."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from . import _native
from ._counts import FilterCounts
from ._options import (
    AgentMatch,
    Agents,
    Annotation,
    InputFormat,
    JobOptions,
    JudgeOptions,
    NoTime,
    Path,
    Reason,
    RecordOptions,
    Require,
    Selection,
    StatusPolicy,
    Time,
    UnknownOrigin,
    as_list,
    last_second,
    names,
    optional_path,
    path_of,
    paths,
    seconds,
)
from ._lists import Lists, as_lists
from ._snapshot import Snapshot
from ._staging import Staging
from ._tables import refuse_tables
from ._uris import is_uri

#: A value that annotating adds to the verdicts.
AddedColumn = Literal["origin", "reason", "crawl_delay", "rule", "line", "agent", "list", "entry"]


def _opened(snapshot: Snapshot | Path, agents: list[str], strict_agents: bool, filesystem: Any) -> Snapshot:
    """A snapshot, or that of a path. The spelling of the agents is checked."""
    if not isinstance(snapshot, (Snapshot, str, os.PathLike)):
        raise TypeError(f"snapshot is of type {type(snapshot).__name__}; give a Snapshot, or the path of one")
    opened = snapshot if isinstance(snapshot, Snapshot) else Snapshot(snapshot, filesystem=filesystem)
    opened._check_spelling(agents, strict_agents)
    return opened


def _input_paths(inputs: Path | Sequence[Path]) -> list[str]:
    """The paths of the inputs, one per item.

    Raises:
        RobosieveError: One is the directory of a table. The native half refuses other directories.
    """
    given = paths(inputs)
    refuse_tables(path for path in given if not is_uri(path) and os.path.isdir(path))
    return given


def _as_dict(counts: str, lists: Lists | None) -> dict[str, Any]:
    """The counts, with those by list under the names of the lists."""
    decoded: dict[str, Any] = json.loads(counts)
    if lists is not None:
        # The native half leaves out zeros: all if no line is listed, else those of the last lists.
        numbers = decoded.get("listed_by", [])
        decoded.setdefault("listed", 0)
        decoded["listed_by"] = dict.fromkeys(lists.names, 0)
        for name, lines in zip(lists.names, numbers):
            decoded["listed_by"][name] += lines
    return decoded


def _output_paths(**outputs: Path | None) -> list[str | None]:
    """The paths of outputs, by their arguments.

    Raises:
        TypeError: One is not a path. The message names its argument.
    """
    return [optional_path(path, argument) for argument, path in outputs.items()]


def annotate(
    snapshot: Snapshot | Path,
    inputs: Path | Sequence[Path],
    output: Path,
    agents: Agents,
    *,
    form: Literal["letters", "jsonl", "csv", "mask", "bits", "int8"] | None = None,
    name: str | None = None,
    add: AddedColumn | Sequence[AddedColumn] = (),
    preferences: bool = False,
    field: str | int | None = None,
    input_format: InputFormat | None = None,
    header: bool = False,
    delimiter: str | None = None,
    json_key: str | None = None,
    default_scheme: str | None = None,
    host: str | None = None,
    as_of_column: str | int | None = None,
    as_of_record: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    status_policy: StatusPolicy | None = None,
    unknown: UnknownOrigin | None = None,
    any_scheme: bool = False,
    at: Time | None = None,
    as_of: Time | None = None,
    no_time: NoTime = "unknown",
    agent_match: AgentMatch = "extended",
    strict_agents: bool = False,
    lists: Lists | Path | None = None,
    filesystem: Any = None,
) -> FilterCounts:
    """Write every record of the inputs with its verdicts, as ``robosieve annotate`` does.

    Args:
        snapshot: A snapshot, or its path. Its checksums are verified, once per process, unless it
            was opened with ``verify=False``.
        inputs: Lists of URLs (text, TSV, CSV, JSONL, CDXJ, CDX; plain, gzip or zstd), Parquet files,
            or WARC, WET and WAT files. Several are written one after the other. Like the snapshot
            and the output, they may be in a store, such as ``s3://bucket/urls.txt``: see
            :func:`filter`.
        output: The file to write: Parquet for Parquet, else lines; a record of a WARC file becomes a
            line. The extensions .gz and .zst compress lines.
        agents: As for :meth:`Snapshot.masks`; files may have any number.
        form: For lists and WARC files ``"letters"`` (default), ``"jsonl"`` or ``"mask"``, for CSV and
            TSV also ``"csv"``; for Parquet ``"bits"`` (default: one int64 column, as
            :meth:`Snapshot.masks`) or ``"int8"`` (one column per agent, as
            :meth:`Snapshot.verdicts`: 0 disallowed, 1 allowed, 2 unknown, 3 not a URL, null for
            null).
        name: The name of the Parquet column (default ``robots_allowed``), or the prefix of the
            columns per agent (default ``robots_``).
        add: Values to write after the verdicts, for ``form="jsonl"``, ``form="csv"`` and Parquet:
            ``"origin"`` (as :meth:`Snapshot.origins`), ``"reason"`` (as :meth:`Snapshot.reasons`),
            and for each agent ``"crawl_delay"`` (as :meth:`Snapshot.crawl_delays`), and the line
            that disallows the URL (``"rule"``), its number (``"line"``) and the name by which the
            agent obeys it (``"agent"``). With ``lists``, also the names of the lists that name the
            URL (``"list"``, with commas between several) and their entry (``"entry"``), both null for
            other URLs. The keys are ``robots_origin``, ``robots_reason``, and
            ``robots_crawl_delay`` and so on with an object. The columns are ``robots_origin``,
            ``robots_reason`` and ``robots_crawl_delay_GPTBot`` and so on.
        preferences: Add the site's statements about the use of its content, also those in the
            headers of WARC responses (not for Parquet).
        field: The column of the URLs in Parquet, TSV and CSV files, by name, or for lists by
            number from 1. The default is ``url``, or another name that is usual for URLs.
        json_key: The key of the URLs in JSON lines; ``a.b`` is the key b of the object at a. The
            default is ``url``, or another key that is usual for URLs.
        input_format: The format of lists. The default follows from their names and content.
        header: The first line of lists is a header, although ``field`` is a number.
        delimiter: The character between columns. The default is a comma, a tab in TSV, or another one
            on which the first records agree.
        default_scheme: The scheme of URLs without one.
        host: The host of URLs that are only a path.
        as_of_column: The column or key of the time as of which each record is judged, named as
            ``field`` and ``json_key``: RFC 3339 (without a zone in UTC), ``YYYYMMDDhhmmss``, or seconds,
            milliseconds, microseconds or nanoseconds since 1970 with 10, 13, 16 or 19 digits. A date,
            a month or a year is its last second. Parquet columns may also be timestamps and dates.
        as_of_record: Judge each record as of its own time: ``WARC-Date``, or the timestamp of CDXJ
            and CDX. Other inputs are an error.
        no_time: The verdict on a record whose time is missing or not a time: ``"unknown"``, or
            ``"newest"``, which judges it by the newest rules.
        threads: The number of threads; the default, like -1, is one per core.
        progress: A function to call some ten times a second, with the number of bytes read so far.
        status_policy, unknown, any_scheme, at, as_of, agent_match, strict_agents: See :class:`Snapshot`.
        lists: :class:`Lists`, or the local path of a compiled file, whose checksums are verified. They
            are asked in the same pass. They change no verdict and no reason: ``add`` writes what they
            say, and ``counts["listed"]`` has the lines that they name.
        filesystem: For URIs: see :func:`filter`.

    Returns:
        The counts ``lines``, ``allowed``, ``disallowed``, ``unknown``, ``invalid``, ``bytes``,
        ``via_other_scheme`` and ``agent_allowed`` (a list in the order of the agents). A line with
        several agents counts as allowed if all of them may fetch it. ``reasons`` has ``allowed`` and
        ``disallowed``, each with the lines by reason: ``counts["reasons"]["disallowed"]`` gives the
        rules of sites from their failures.

        With ``lists``, also ``listed``, the lines that a list names, and ``listed_by``, a dict from the
        name of each list to its lines: a line whose entry is in several lists counts for each. A listed
        line counts as listed only, whatever its verdicts are: ``lines`` is the sum of ``allowed``,
        ``disallowed``, ``unknown``, ``invalid`` and ``listed``, and neither ``reasons`` nor
        ``agent_allowed`` has listed lines.

    Raises:
        ImportError: The library for a store is missing. The message names it.
        OSError: A file cannot be read or written: ``FileNotFoundError`` for a missing one, or for an
            output in a missing folder.
        RobosieveError: An input is damaged or has no URL.
        ValueError: A bad agent or option, or the output would overwrite an input. Lists or entries
            are added without ``lists``.

    The output appears when it is complete; after an error and after Ctrl-C, there is none. The
    lock of the interpreter is released.
    """
    records = RecordOptions(
        field, input_format, header, delimiter, json_key, default_scheme, host, as_of_column, as_of_record
    )
    judging = JudgeOptions(status_policy, unknown, any_scheme, seconds(at), agent_match, last_second(as_of), no_time)
    asked = as_lists(lists)
    native_lists = None if asked is None else asked._native
    options = JobOptions(names(agents), records, judging, native_lists, threads, progress)
    opened = _opened(snapshot, options.agents, strict_agents, filesystem)
    with Staging(_input_paths(inputs), [path_of(output, "output")], filesystem, guarded=opened._guarded()) as files:
        annotation = Annotation(form, name, as_list(add), preferences)
        counts: str = _native.annotate(opened._native, files.inputs, str(files.outputs[0]), annotation, options)
        files.upload()
    return cast(FilterCounts, _as_dict(counts, asked))


def filter(
    snapshot: Snapshot | Path,
    inputs: Path | Sequence[Path],
    output: Path | None,
    agents: Agents,
    *,
    keep: Literal["allowed", "disallowed"] = "allowed",
    require: Require = "all",
    reasons: Reason | Sequence[Reason] = (),
    disallowed_to: Path | None = None,
    disallowed_add: AddedColumn | Sequence[AddedColumn] = (),
    unknown_to: Path | None = None,
    invalid_to: Path | None = None,
    listed_to: Path | None = None,
    cdxj: Path | None = None,
    field: str | int | None = None,
    input_format: InputFormat | None = None,
    header: bool = False,
    delimiter: str | None = None,
    json_key: str | None = None,
    default_scheme: str | None = None,
    host: str | None = None,
    as_of_column: str | int | None = None,
    as_of_record: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    status_policy: StatusPolicy | None = None,
    unknown: UnknownOrigin | None = None,
    any_scheme: bool = False,
    at: Time | None = None,
    as_of: Time | None = None,
    no_time: NoTime = "unknown",
    agent_match: AgentMatch = "extended",
    strict_agents: bool = False,
    lists: Lists | Path | None = None,
    filesystem: Any = None,
) -> FilterCounts:
    """Write every record of the inputs to the output of its verdict, as ``robosieve filter`` does.

    Args:
        snapshot, inputs, agents: As for :func:`annotate`.
        output: The file for the records that are kept, or None.
        keep: Keep the records that agents may fetch, or those that they may not.
        require: A record is kept if all agents have that verdict, or with ``"any"`` at least one.
        reasons: Keep only records whose verdicts have one of these reasons, such as ``["rules",
            "last-good-copy"]``; all if it is empty. A record with the kept verdict and another reason
            is in no output, and ``counts["reasons"]`` counts it.
        disallowed_to: A file for the records with the other verdict.
        disallowed_add: Values to add to the disallowed records, as ``add`` of :func:`annotate`: columns
            in Parquet, CSV and TSV files, keys in JSON lines, and in front of other lines with a TAB
            after each. They are for the file of disallowed records: ``disallowed_to``, or
            ``output`` with ``keep="disallowed"``. Not for WARC files.
        unknown_to: A file for the records of origins that the snapshot does not hold. Without it,
            and without ``unknown``, they are in no output.
        invalid_to: A file for the records that are not URLs.
        listed_to: A file for the records that ``lists`` name. Without it, they are in no output.
        cdxj: A file for an offset index of the kept records of WARC files.
        field, input_format, header, delimiter, json_key, default_scheme, host, as_of_column,
        as_of_record, no_time, threads, progress, status_policy, unknown, any_scheme, at, as_of, agent_match, strict_agents: As for
            :func:`annotate`.
        lists: As for :func:`annotate`. A record that a list names is not kept, whatever the verdicts on
            it are, also with ``keep="disallowed"``. ``reasons``, ``disallowed_to`` and ``unknown_to``
            concern the other records alone.
        filesystem: The file system of the URIs among the paths: one of ``pyarrow.fs`` or fsspec. By
            default pyarrow's for the scheme (``s3://``, ``gs://``, ``abfs://``, ``hdfs://``), with the
            options and credentials that it takes from the URI and the environment; for other schemes
            fsspec's. Uploads to S3 need s3fs.

    Inputs, outputs and the snapshot may be URIs of a store. Inputs are downloaded to a directory of
    temporary files (``TMPDIR``), where outputs are written; both are removed at the end. It needs the
    space of both. An object appears complete or not at all. Objects appear one after the other, after
    the local files.

    Returns:
        The counts, as :func:`annotate`; ``agent_allowed`` is empty. ``unknown`` counts the records
        of unknown origins, which are dropped unless ``unknown_to`` takes them. With
        ``unknown="allow"`` they are allowed and kept, with ``"disallow"`` they are disallowed, and
        this count is 0. With ``lists``, ``listed`` and ``listed_by`` as for :func:`annotate`.

    Raises:
        ImportError, OSError, RobosieveError, ValueError: As :func:`annotate`. Also ValueError for
            ``listed_to`` without ``lists``.

    Every record goes to exactly one output, in order. Lines and the records of WARC files keep their
    bytes, except for what ``disallowed_add`` adds, and gzip members are copied. The outputs appear
    together when they are complete.
    """
    if as_list(disallowed_add) and keep == "allowed" and disallowed_to is None:
        raise ValueError('disallowed_add needs a file of disallowed records: disallowed_to, or keep="disallowed"')
    if listed_to is not None and lists is None:
        raise ValueError("listed_to gets the records that lists name, and there are none; give them: lists=")
    records = RecordOptions(
        field, input_format, header, delimiter, json_key, default_scheme, host, as_of_column, as_of_record
    )
    judging = JudgeOptions(status_policy, unknown, any_scheme, seconds(at), agent_match, last_second(as_of), no_time)
    outputs = _output_paths(
        output=output,
        disallowed_to=disallowed_to,
        unknown_to=unknown_to,
        invalid_to=invalid_to,
        listed_to=listed_to,
        cdxj=cdxj,
    )
    asked = as_lists(lists)
    native_lists = None if asked is None else asked._native
    options = JobOptions(names(agents), records, judging, native_lists, threads, progress)
    opened = _opened(snapshot, options.agents, strict_agents, filesystem)
    with Staging(_input_paths(inputs), outputs, filesystem, guarded=opened._guarded()) as files:
        selection = Selection(keep, require, as_list(reasons), as_list(disallowed_add))
        counts: str = _native.filter(opened._native, files.inputs, files.outputs, selection, options)
        files.upload()
    return cast(FilterCounts, _as_dict(counts, asked))


def filter_by_lists(
    lists: Lists,
    inputs: Path | Sequence[Path],
    outputs: Sequence[Path | None],
    records: RecordOptions,
    threads: int | None,
    progress: Callable[[int], object] | None,
    filesystem: Any,
) -> dict[str, Any]:
    """The work of :meth:`Lists.filter`. ``outputs`` are ``output``, ``listed_to``, ``invalid_to`` and ``cdxj``."""
    names_of_outputs = ("output", "listed_to", "invalid_to", "cdxj")
    output, listed_to, invalid_to, cdxj = map(optional_path, outputs, names_of_outputs)
    options = JobOptions([], records, JudgeOptions(), lists._native, threads, progress)
    # No record is disallowed or of an unknown origin.
    native_outputs = [output, None, None, invalid_to, listed_to, cdxj]
    with Staging(_input_paths(inputs), native_outputs, filesystem) as files:
        selection = Selection("allowed", "all", [], [])
        counts: str = _native.filter_by_lists(files.inputs, files.outputs, selection, options)
        files.upload()
    return _as_dict(counts, lists)
