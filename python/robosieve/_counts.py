"""The dicts that jobs on files and compilations return, for type checkers: plain dicts at run time."""

from __future__ import annotations

from typing import TypedDict


class ReasonCounts(TypedDict):
    """Records by the reasons of their verdicts (:attr:`Explanation.reason`)."""

    allowed: dict[str, int]
    disallowed: dict[str, int]


class _SomeCounts(TypedDict, total=False):
    """The counts that only some jobs have."""

    listed: int
    """Records that lists name. With ``lists`` only, as ``listed_by``."""
    listed_by: dict[str, int]
    """The records that each list names, by the names of the lists."""
    without_time: int
    """Records to be judged as of their own time that have none. Left out if it is 0."""
    warcinfo: int
    """Records of type ``warcinfo`` in WARC files, which are not among ``lines``. Left out if it is 0."""


class FilterCounts(_SomeCounts):
    """The counts of :func:`robosieve.filter` and :func:`robosieve.annotate`.

    ``lines`` is the sum of ``allowed``, ``disallowed``, ``unknown``, ``invalid`` and ``listed``.
    """

    lines: int
    """Records read."""
    allowed: int
    disallowed: int
    unknown: int
    """Records of origins that the snapshot does not hold."""
    invalid: int
    """Records that are not URLs."""
    blank: int
    """Of these, the blank ones."""
    bytes: int
    """Bytes of all records, after decompression."""
    via_other_scheme: int
    """Records judged by the entry of the other of http and https."""
    reasons: ReasonCounts
    agent_allowed: list[int]
    """The records that each agent may fetch, in the order of the agents. A filter leaves it empty."""


class SnapshotCounts(TypedDict):
    """Counts of the content of a snapshot."""

    origins: int
    redirected: int
    outcome_rules: int
    outcome_client_error: int
    outcome_server_error: int
    outcome_unreachable: int
    outcome_unresolved: int
    files: int
    """Distinct robots.txt files."""
    rule_sets_before: int
    rule_sets: int
    rules: int
    tokens: int


class CompileReport(TypedDict):
    """The report of :func:`robosieve.compile` and :meth:`Compiler.write`: what was read, and ``counts``
    of the snapshot. ``robosieve compile --stats-json`` writes the same keys."""

    profile: str
    inputs: int
    bytes_in: int
    bytes_out: int
    captures: int
    other_urls: int
    superseded: int
    taken_over: int
    outdated: int
    answered_before: int
    newly_failing: int
    newly_failing_causes: dict[str, int]
    not_urls: int
    too_new: int
    undated: int
    revisits_without_body: int
    first_version: int
    cut_texts: int
    damaged: int
    unread_keys: dict[str, int]
    coded_texts: int
    coded_example: str | None
    skipped_files: int
    skipped_examples: list[str]
    body_bytes: int
    distinct_text_bytes: int
    counts: SnapshotCounts
    versions: int
    history_urls: int
    old_texts: int
    first_versions_from_previous: bool
