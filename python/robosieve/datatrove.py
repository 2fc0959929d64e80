"""Filters for datatrove pipelines: documents whose URLs a crawler may not fetch, and URLs on lists.

Needs datatrove: ``pip install datatrove regex``.

>>> from robosieve.datatrove import RobotsFilter, URLFilter
>>> pipeline = [reader, URLFilter(), RobotsFilter("web.rsieve", ["GPTBot", "CCBot"]), writer]

:class:`URLFilter` takes the arguments of datatrove's filter of this name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

try:
    from datatrove.data import Document
    from datatrove.pipeline.filters.base_filter import BaseFilter
    from datatrove.pipeline.writers.disk_base import DiskWriter
    from loguru import logger
except ModuleNotFoundError as err:
    missing = (err.name or str(err)).partition(".")[0]
    raise ModuleNotFoundError(
        f"robosieve.datatrove needs the filters of datatrove, and {missing} is missing; "
        "pip install datatrove regex",
        name=err.name,
    ) from err

from ._lists import Lists, as_lists
from ._options import AgentMatch, Agents, Path, StatusPolicy, Time, UnknownOrigin, seconds
from ._snapshot import Snapshot, SourceArguments, Verdict, Verify, agents as agent_names, open_same
from ._uris import absolute, is_uri
from ._url_filter import URLFilter as URLFilter

#: What happens to a document whose URL is missing or not a URL.
Action = Literal["keep", "drop"]

LISTED = "robots_listed"
DISALLOWED = "robots_disallowed"
UNKNOWN = "robots_unknown"
INVALID = "robots_not_a_url"
MISSING = "robots_no_url"


class RobotsFilter(BaseFilter):  # type: ignore[misc, unused-ignore]
    """Keep the documents whose URLs the agents may fetch.

    Args:
        snapshot: A snapshot, or its path, or its URI in a store (``s3://bucket/web.rsieve``). Each
            worker opens it when the first document arrives, and verifies its checksums, so the
            pipeline pickles. With a path or URI, the file need not exist where the pipeline is
            written. With a :class:`robosieve.Snapshot`, the workers also check that the file is the
            same, and verify as much of it as was verified here.
        agents: Names and sets, at most 63 agents: ``"GPTBot"``, ``["GPTBot", "CCBot"]``,
            ``"@ai-train"``.
        url: The key of the URL in a document's metadata.
        require: A document is kept if all agents may fetch it, or with ``"any"`` at least one.
        unknown: The verdict on origins that the snapshot does not hold, ``"allow"`` or
            ``"disallow"``. By default it stays unknown, and the documents are dropped for a reason
            of their own; the log of each task says how many.
        invalid: Keep or drop documents whose URL is not a URL with a scheme and a host.
        missing: Keep or drop documents without a URL (the key is absent, or its value is None), or
            raise an error, which often shows that ``url`` names the wrong key.
        lists: Drop also the documents whose URLs these lists name, whatever the agents may do:
            :class:`robosieve.Lists`, or the local path of a compiled file. A path is opened here, and
            each worker opens the same file at the same path.
        exclusion_writer: A writer of datatrove for the dropped documents.
        batch_size: The number of documents that are judged at once.
        node_directory: A directory on a local disk. The workers of a machine copy the snapshot
            there once and open the copy; see :func:`robosieve.node_copy`. The default, for a store
            only, is that of temporary files (``TMPDIR``).
        filesystem: For a URI: see :func:`robosieve.filter`.
        status_policy, any_scheme, at, agent_match, strict_agents: See :class:`robosieve.Snapshot`.
            The spelling of the agents is checked here, or in the workers if there is no file at the
            path, or for a URI.

    A dropped document has one of these reasons. datatrove counts each as ``dropped_<reason>`` in
    its statistics, and writes it as ``filter_reason`` into the metadata of excluded documents:

    - ``robots_listed``: a list names the URL. No other reason counts then.
    - ``robots_disallowed``: the agents may not fetch the URL.
    - ``robots_unknown``: the snapshot does not hold the origin. ``unknown="allow"`` keeps these.
    - ``robots_not_a_url``: the text is not a URL.
    - ``robots_no_url``: the document has no URL.

    With an exclusion writer, the metadata of a dropped document also gets
    ``robots_disallowed_agents``: the agents that may not fetch its URL, separated by commas. It is
    empty for the other reasons, since writers of Parquet take the columns from the first document.
    With ``lists``, the metadata also get ``robots_listed``, the word of :meth:`robosieve.Lists.match`
    (``list:NAME``), which is empty for the other reasons.

    Raises:
        ValueError: A bad agent or option, or a path like ``file:///web.rsieve``. If there is no file
            at the path, and for a URI, the values of ``status_policy``, ``at`` and ``agent_match`` are
            checked in the workers.
        SnapshotError: The file at the path is not a snapshot.
        OSError, RobosieveError, TypeError: The lists cannot be opened.

    In a worker, the filter raises :class:`robosieve.SnapshotError` if the snapshot cannot be
    opened or is damaged, :class:`KeyError` for a document without a URL if ``missing="error"``,
    and :class:`TypeError` if a URL is neither str nor bytes.
    """

    name = "🤖 Robots-filter"

    def __init__(
        self,
        snapshot: Snapshot | Path,
        agents: Agents,
        *,
        url: str = "url",
        require: Literal["all", "any"] = "all",
        unknown: UnknownOrigin | None = None,
        invalid: Action = "drop",
        missing: Action | Literal["error"] = "error",
        lists: Lists | Path | None = None,
        exclusion_writer: DiskWriter | None = None,
        batch_size: int = 1000,
        node_directory: Path | None = None,
        filesystem: Any = None,
        status_policy: StatusPolicy | None = None,
        any_scheme: bool = False,
        at: Time | None = None,
        agent_match: AgentMatch = "extended",
        strict_agents: bool = False,
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        _check("require", require, ("all", "any"))
        _check("unknown", unknown, ("allow", "disallow", None))
        _check("invalid", invalid, ("keep", "drop"))
        _check("missing", missing, ("keep", "drop", "error"))
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size}; give at least 1")
        self.agents = agent_names(agents)
        if len(self.agents) > 63:
            raise ValueError(f"{len(self.agents)} agents; at most 63 can be judged at once")
        directory = None if node_directory is None else os.path.abspath(os.fspath(node_directory))
        if isinstance(snapshot, Snapshot):
            opened = snapshot._source
            if opened is None:
                raise ValueError(
                    "snapshot is in memory, where no worker finds it; write it to a file, and give its path"
                )
            self.source = SourceArguments(
                opened.path, directory or opened.node_directory, filesystem or opened.filesystem
            )
        else:
            self.source = SourceArguments(absolute(snapshot), directory, filesystem)
        # Of an open snapshot, the checksum and what to verify.
        self.checksum = snapshot.checksum if isinstance(snapshot, Snapshot) else None
        self.verify: Verify = snapshot._verify if isinstance(snapshot, Snapshot) else True
        self.url, self.require = url, require
        self.invalid, self.missing = invalid, missing
        self.lists = as_lists(lists)
        self.options: dict[str, Any] = dict(
            status_policy=status_policy, unknown=unknown, any_scheme=any_scheme, at=seconds(at), agent_match=agent_match
        )
        self.strict_agents = strict_agents
        self.is_checked = False
        self._unknown_dropped = 0
        self._snapshot: Snapshot | None = None
        if not isinstance(snapshot, Snapshot) and not is_uri(self.source.path) and os.path.exists(self.source.path):
            # The workers verify the file. One of a store is downloaded by them alone.
            snapshot = Snapshot(self.source.path, verify=False)
        if isinstance(snapshot, Snapshot):
            # Checks the options and the spelling of agents here, once, and not in each worker.
            snapshot.masks([], self.agents, strict_agents=strict_agents, **self.options)
            self.is_checked = True

    def __getstate__(self) -> dict[str, Any]:
        # A worker opens the snapshot itself: it may run on another machine.
        return {**self.__dict__, "_snapshot": None}

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot, opened on first use."""
        if self._snapshot is None:
            self._snapshot = self._opened()
        return self._snapshot

    def _opened(self) -> Snapshot:
        if self.checksum is None:
            snapshot = self.source.open(self.verify)
        else:
            snapshot = open_same(self.source, self.checksum, self.verify)
        if not self.is_checked:
            snapshot.masks([], self.agents, strict_agents=self.strict_agents, **self.options)
        return snapshot._without_spelling()

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Filter the documents of a task. The log says how many of unknown origins were dropped."""
        self._unknown_dropped = 0
        yield from super().run(data, rank, world_size)
        if self._unknown_dropped:
            documents = "1 document" if self._unknown_dropped == 1 else f"{self._unknown_dropped:,} documents"
            hint = "unknown='allow' keeps them"
            logger.info(f"{self.name}: dropped {documents} of unknown origins (dropped_{UNKNOWN}); {hint}")

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Judge one document. Batches are faster: see :meth:`filter_batch`."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Judge documents at once: for each True, or False with the reason."""
        urls = [doc.metadata.get(self.url) for doc in batch]
        masks = self.snapshot.masks(urls, self.agents, threads=1, **self.options)
        listed: list[str | None] = [None] * len(urls) if self.lists is None else self.lists.match(urls)
        # Masks have no bits that separate unknown origins from text that is not a URL.
        unjudged = [url for url, mask, reason in zip(urls, masks, listed) if mask is None and reason is None]
        judged = self.snapshot.verdicts(unjudged, self.agents[0], threads=1, **self.options) if unjudged else []
        verdicts = iter(judged)
        every = (1 << len(self.agents)) - 1
        results: list[bool | tuple[bool, str]] = []
        for doc, mask, reason in zip(batch, masks, listed):
            if reason is not None:
                results.append((False, LISTED))
            elif mask is None:
                results.append(self._unjudged(doc, next(verdicts)))
            elif mask == every or (mask and self.require == "any"):
                results.append(True)
            else:
                results.append((False, DISALLOWED))
            if results[-1] is not True and self.exclusion_writer:
                doc.metadata["robots_disallowed_agents"] = self._refused(mask) if reason is None else ""
                if self.lists is not None:
                    doc.metadata["robots_listed"] = reason or ""
        return results

    def _refused(self, mask: int | None) -> str:
        """The agents whose bits are not set."""
        if mask is None:
            return ""
        return ",".join(agent for bit, agent in enumerate(self.agents) if not mask >> bit & 1)

    def _unjudged(self, doc: Document, verdict: Verdict | None) -> bool | tuple[bool, str]:
        """The result for a document without a mask."""
        if verdict is None:
            if self.missing == "error":
                raise KeyError(
                    f"document {doc.id!r} has no {self.url!r} in its metadata, whose keys are {sorted(doc.metadata)}; "
                    "name the key of the URL with url=, or give missing='keep' or missing='drop'"
                )
            return True if self.missing == "keep" else (False, MISSING)
        if verdict == Verdict.UNKNOWN:
            self._unknown_dropped += 1
            return False, UNKNOWN
        return True if self.invalid == "keep" else (False, INVALID)


def _check(option: str, given: str | None, values: Sequence[str | None]) -> None:
    if given not in values:
        raise ValueError(f"{option}={given!r}; give one of {', '.join(map(repr, values))}")
