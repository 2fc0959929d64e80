"""Snapshots and verdicts."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from . import _native
from ._options import AgentMatch, Agents, Path, StatusPolicy, Time, UnknownOrigin, names, seconds
from ._results import as_urls, like


class Verdict(IntEnum):
    """Whether an agent may fetch a URL."""

    DISALLOWED = 0
    """The agent may not fetch it."""
    ALLOWED = 1
    """The agent may fetch it."""
    UNKNOWN = 2
    """The snapshot does not hold the URL's origin."""
    INVALID = 3
    """The text is not a URL with a scheme and a host."""


_VERDICTS = tuple(Verdict)


@dataclass(frozen=True)
class Explanation:
    """Why an agent may fetch a URL or not: see :meth:`Snapshot.explain`."""

    url: str
    agent: str
    verdict: Verdict
    reason: str
    """What decided, for example ``rules``, ``client-error`` or ``unknown-origin`` (docs/CHECK.md)."""
    origin: str | None
    """The URL's origin, or None if the text is not a URL."""
    rule: str | None
    """The line of the rule that decided, as the site wrote it, or None."""
    line: int | None
    """The number of that line in the robots.txt, from 1."""
    details: dict[str, Any] = field(repr=False, compare=False)
    """Everything that ``robosieve check --explain --json`` prints (docs/CHECK.md)."""


class Snapshot:
    """A compiled archive of robots.txt files, mapped into memory.

    Args:
        path: The file that ``robosieve compile`` or :func:`robosieve.compile` wrote.
        verify: Read the whole file and check it. Without this, only the header is checked.

    Opening costs microseconds; pages are read when they are needed, and all processes of a machine
    share them. The file must not be changed in place; replace it by renaming.

    A snapshot can be used from several threads at once, and after ``fork``. It pickles by its path
    and checksum: where it is unpickled, the same file must be at the same path.

    ``len(snapshot)`` is the number of origins (scheme, host and port).

    Raises:
        SnapshotError: The file cannot be opened, is not a snapshot, or is damaged.

    Options of the judging methods:

    - ``status_policy``: the meaning of answers other than 2xx: ``"google"``, ``"rfc9309"`` or
      ``"strict"``. The default is the policy named like the snapshot's profile.
    - ``unknown``: the verdict on origins that the snapshot does not hold, ``"allow"`` or
      ``"disallow"``, in place of ``Verdict.UNKNOWN``.
    - ``any_scheme``: use the http entry for https URLs, and the reverse, if only one exists.
    - ``at``: the time at which failing sites are judged (30 days after the first failure, they are
      treated as RFC 9309 §2.3.1.4 says). The default is the time of the newest capture.
    - ``agent_match``: ``"extended"`` also matches names like ``MJ12bot`` that RFC 9309 excludes;
      ``"google"`` does not.
    """

    __slots__ = ("_native", "__weakref__")

    def __init__(self, path: Path, *, verify: bool = False) -> None:
        self._native = _native.Snapshot(os.fspath(path), verify)

    @property
    def path(self) -> str:
        """The path, as it was given."""
        return os.fspath(self._native.path)

    @property
    def checksum(self) -> str:
        """The checksum of the header, 16 hexadecimal digits: it differs for different contents."""
        return f"{self._native.checksum:016x}"

    @property
    def metadata(self) -> dict[str, Any]:
        """What the snapshot says of itself.

        ``tool``, ``profile``, ``counts`` (of origins, files, rules and outcomes) and ``captured``,
        the times of the oldest and the newest capture in seconds since 1970.
        """
        metadata: dict[str, Any] = json.loads(self._native.metadata())
        return metadata

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<robosieve.Snapshot {self.path!r}: {len(self)} origins>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (os.path.abspath(self.path), self.checksum)

    def verdicts(
        self,
        urls: Any,
        agent: str,
        *,
        threads: int | None = None,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        agent_match: AgentMatch = "extended",
    ) -> Any:
        """The verdict on each URL for one agent, as int8.

        Args:
            urls: A column of n URLs: any object with ``__arrow_c_array__`` or
                ``__arrow_c_stream__`` (pyarrow, Polars, pandas 3, DuckDB) of type string,
                large_string, string_view, binary or a dictionary of these, or a sequence of str,
                bytes and None. Arrow memory is judged in place.
            agent: The product token of the crawler, such as ``"GPTBot"``, or a chain of fallbacks,
                ``"Googlebot-Image:Googlebot"``.
            threads: The number of threads. The default is 1 below 65,536 rows, else one per core.

        Returns:
            n values, 0 disallowed, 1 allowed, 2 unknown, 3 not a URL (see :class:`Verdict`), null
            for null. pyarrow, Polars, pandas and NumPy get their own type back; a sequence gets a
            list of :class:`Verdict`; any other Arrow object gets an :class:`Array`.

        Raises:
            TypeError: ``urls`` is of another type.
            ValueError: A bad agent or option.
            SnapshotError: The snapshot is damaged.

        Costs 15 to 50 ns per URL and thread on real lists, without the interpreter's lock.
        """
        options = (status_policy, unknown, any_scheme, seconds(at), agent_match)
        result = self._native.verdicts(as_urls(urls), agent, options, threads)
        return like(urls, result, f"robots_{agent}", _verdict_list)

    def masks(
        self,
        urls: Any,
        agents: Agents,
        *,
        threads: int | None = None,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        agent_match: AgentMatch = "extended",
    ) -> Any:
        """The verdicts on each URL for up to 63 agents at once, as bits of an int64.

        Args:
            urls: As for :meth:`verdicts`.
            agents: Names and sets: ``["GPTBot", "CCBot"]``, ``"GPTBot,CCBot"``, ``"@ai-train"``.
                :func:`robosieve.agents` tells their order.

        Returns:
            n values: bit 0 is set if the first agent may fetch the URL, bit 1 for the second. Null
            for null, for unknown origins, and for text that is not a URL. The type is that of
            :meth:`verdicts`; a sequence gets a list of int and None.

        Raises:
            TypeError, ValueError, SnapshotError: As :meth:`verdicts`.
        """
        options = (status_policy, unknown, any_scheme, seconds(at), agent_match)
        result = self._native.masks(as_urls(urls), names(agents), options, threads)
        return like(urls, result, "robots_allowed", _native.Array.tolist)

    def verdict(
        self,
        url: str | bytes,
        agent: str,
        *,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        agent_match: AgentMatch = "extended",
    ) -> Verdict:
        """The verdict on one URL. For many URLs, :meth:`verdicts` is about 20 times as fast.

        Raises:
            TypeError: ``url`` is neither str nor bytes.
            ValueError, SnapshotError: As :meth:`verdicts`.
        """
        options = (status_policy, unknown, any_scheme, seconds(at), agent_match)
        return _VERDICTS[self._native.verdict(url, agent, options)]

    def explain(
        self,
        url: str | bytes,
        agent: str,
        *,
        all_rules: bool = False,
        status_policy: StatusPolicy | None = None,
        unknown: UnknownOrigin | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        agent_match: AgentMatch = "extended",
    ) -> Explanation:
        """Why an agent may fetch a URL or not.

        Args:
            url: One URL.
            agent: As for :meth:`verdicts`.
            all_rules: Also list the rules of the group that do not match, in
                ``details["losers"]``.

        Raises:
            TypeError: ``url`` is neither str nor bytes.
            ValueError, SnapshotError: As :meth:`verdicts`.
        """
        options = (status_policy, unknown, any_scheme, seconds(at), agent_match)
        why = json.loads(self._native.explain(url, agent, all_rules, options))
        rule = why["rule"] or {}
        return Explanation(
            url=why["url"],
            agent=why["agent"],
            verdict=Verdict[why["verdict"].upper()],
            reason=why["basis"],
            origin=why["origin"],
            rule=rule.get("text"),
            line=rule.get("line"),
            details=why,
        )

    def robots_text(self, url: str | bytes) -> bytes | None:
        """The robots.txt that holds for a URL's origin, or None if there is none.

        It is stored without comments and without lines that have no meaning.

        Raises:
            TypeError: ``url`` is neither str nor bytes.
            SnapshotError: The snapshot is damaged.
        """
        return self._native.robots_text(url)

    def sitemaps(self, url: str | bytes) -> list[str]:
        """The sitemaps that the robots.txt of a URL's origin names.

        They are in the order of the file, as written, without repetitions. They may be relative to
        the URL of the robots.txt. The list is empty if there is no robots.txt.

        Raises:
            TypeError, SnapshotError: As :meth:`robots_text`.
        """
        return self._native.sitemaps(url)

    def crawl_delay(self, url: str | bytes, agent: str, *, agent_match: AgentMatch = "extended") -> float | None:
        """The crawl-delay of a URL's origin for an agent, in seconds, or None.

        A robots.txt may name any number, so limit it before you wait. No verdict depends on it;
        docs/SEMANTICS.md says which line counts.

        Raises:
            ValueError: A bad agent.
            TypeError, SnapshotError: As :meth:`robots_text`.
        """
        return self._native.crawl_delay(url, agent, agent_match)


def _verdict_list(result: _native.Array) -> list[Verdict | None]:
    return [None if code is None else _VERDICTS[code] for code in result.tolist()]


@functools.lru_cache(maxsize=8)
def _unpickled(path: str, checksum: str) -> Snapshot:
    """The snapshot of a pickle. A process that unpickles many opens each once."""
    snapshot = Snapshot(path)
    if snapshot.checksum != checksum:
        raise _native.SnapshotError(
            f"{path}: another snapshot (checksum {snapshot.checksum}) than the pickled one ({checksum}); "
            "copy the same file to all machines, for instance with robosieve.node_copy"
        )
    return snapshot


def agents(spec: Agents) -> list[str]:
    """The names of agents, with sets replaced by their members.

    >>> robosieve.agents("GPTBot,@ai-search")
    ['GPTBot', ...]

    Args:
        spec: Names and sets, separated by commas or as a sequence. The sets are ``@ai``,
            ``@ai-train``, ``@ai-search``, ``@ai-user`` and ``@search``.

    Returns:
        The names in the order of the bits of :meth:`Snapshot.masks`.

    Raises:
        ValueError: An unknown set, or a name that no crawler can have.
    """
    return _native.agents(names(spec))


def node_copy(source: Path, directory: Path) -> str:
    """Copy a snapshot to a local directory, once for all processes of a machine.

    The copy's name holds the checksum of the snapshot, so another content gets another name and no
    copy is overwritten. A lock lets one process copy while the others wait. The copy appears when
    it is complete and its checksums are right.

    Args:
        source: The snapshot, for instance on a shared file system.
        directory: A directory on a local disk. It is created if needed.

    Returns:
        The path of the copy.

    Raises:
        SnapshotError: ``source`` cannot be read, is not a snapshot, or is damaged.
        OSError: The copy cannot be written.
    """
    return os.fspath(_native.node_copy(os.fspath(source), os.fspath(directory)))
