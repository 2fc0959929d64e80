"""One robots.txt, without a snapshot."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from . import _native
from ._guesses import GuidedInstance
from ._options import AgentMatch, StatusPolicy
from ._results import as_urls, like
from ._snapshot import Explanation, Verdict, _explanation, _verdict_list

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

    from ._native import Array
    from ._typing import (
        ArrowArray,
        ArrowColumn,
        ArrowStream,
        ChunkedArray,
        NumpyArray,
        PandasIndex,
        PandasSeries,
        PolarsSeries,
        RobotsOptions,
        Texts,
    )

#: The parser that is reproduced.
Profile = Literal["google", "rfc9309"]
#: The headers of a response: a mapping, or pairs of name and value.
Headers = Union[Mapping[Any, Any], Iterable[tuple[Any, Any]]]


@dataclass(frozen=True)
class Finding:
    """A defect of a robots.txt: see :meth:`Robots.lint`."""

    line: int
    """The line's number, from 1; line 1 for a defect of the whole file."""
    code: str
    """The kind of defect, such as ``missing-colon`` (docs/LINT.md)."""
    severity: Literal["note", "warning", "error"]
    message: str
    """What parsers make of the line. It quotes the file."""
    help: str
    """What to write instead."""
    fix: dict[str, Any] | None = field(hash=False)
    """The edits that mend it, or None: ``{"safe": bool, "edits": [{"start", "end", "text"}, …]}``.

    An edit replaces the bytes of the body from offset ``start`` to ``end`` with ``text``. A safe fix
    changes no verdict.
    """


class Robots(_native.Robots, GuidedInstance):
    """A parsed robots.txt. :meth:`parse` and :meth:`from_response` make one.

    >>> robots = Robots.parse("User-agent: *\\nDisallow: /cart\\nCrawl-delay: 2")
    >>> robots.allows("GPTBot", "https://shop.example/cart/1")
    False
    >>> robots.allows("GPTBot", "/shoes")
    True
    >>> robots.verdicts("GPTBot", ["/cart", "/shoes"])
    [<Verdict.DISALLOWED: 0>, <Verdict.ALLOWED: 1>]
    >>> robots.crawl_delay("GPTBot")
    2.0

    ``agent`` comes first, then the URL, or a path with its query that begins with ``/``. Other text is
    an error, and in a column :attr:`Verdict.INVALID`.

    It owns what it needs, does not change, can be used from several threads at once, and pickles.
    The answers are those of ``robosieve check --robots``: only the rules decide, and the origin of a
    URL plays no part. ``agent`` is the product token of a crawler (``"GPTBot"``), a chain of
    fallbacks (``"Googlebot-Image:Googlebot"``), or ``"*"``; :func:`robosieve.product_token` takes a
    token from a User-Agent header. ``agent_match="google"`` matches no group with a name that RFC
    9309 excludes, such as ``MJ12bot``.

    Cost: parsing is one pass over the body. The first eight answers by a group compare each of its
    rules. Then its rules are compiled for all agents, and an answer takes less than a microsecond
    for any number of rules. For many sites, compile a :class:`Snapshot`.
    """

    __slots__ = ("__weakref__",)

    @classmethod
    def parse(cls, body: bytes | str, *, profile: Profile = "google") -> Robots:
        """Parses the body of a robots.txt. No content is an error; 500 KiB of it count.

        Args:
            body: The body after content decoding. A str is encoded as UTF-8.
            profile: The parser that is reproduced: ``"google"``, or ``"rfc9309"`` to the letter.

        Raises:
            TypeError: ``body`` is neither bytes nor str.
            ValueError: An unknown profile.
        """
        return cls(body, profile)

    @classmethod
    def from_response(
        cls,
        status: int | None,
        body: bytes | str = b"",
        headers: Headers | None = None,
        *,
        profile: Profile = "google",
        status_policy: StatusPolicy | None = None,
    ) -> Robots:
        """The robots.txt that a response to ``GET /robots.txt`` stands for.

        >>> missing = Robots.from_response(404)
        >>> missing.allows("GPTBot", "/"), missing.reason
        (True, 'no-robots-txt')
        >>> Robots.from_response(503).allows("GPTBot", "/")
        False

        Args:
            status: The HTTP status, or None if there was no response: a timeout, a DNS failure.
            body: The body of a 2xx.
            headers: The headers of the response. ``Content-Encoding`` (gzip, deflate, br,
                zstd) is decoded, unless the body is text already, as many clients leave it. A body
                shorter than its ``Content-Length`` is incomplete, and so is a part of a body
                (``Content-Range``). Other headers do not count.
            status_policy: The meaning of other statuses than 2xx: ``"google"``, ``"rfc9309"``,
                ``"strict"``, or an edition such as ``"google-2019"`` (docs/SEMANTICS.md). The
                default has the name of the profile.

        Returns:
            The rules of a 2xx. For other statuses, a robots.txt that allows or disallows everything;
            with the profile ``"rfc9309"``, ``/robots.txt`` itself is allowed. A body that cannot be
            decoded, or is incomplete, counts as no response. :attr:`reason` says which it is. One
            response has no history, so a failing site disallows, however long it has failed.

        Raises:
            ValueError: A redirect, which the caller follows first; a 304, which confirms the object
                that the caller has; a number that is not a status; an unknown option.
            TypeError: ``body`` is neither bytes nor str.
        """
        code = 0 if status is None else int(status)
        if not 0 <= code <= 999:
            raise ValueError(f"status={status!r}; give the status of the response, or None if there was none")
        # A str was decoded by the client, and has another length than the bytes that were sent.
        pairs = _coding_headers(headers) if headers is not None and isinstance(body, bytes) else []
        text, reason = _native.robots_of_response(code, body, pairs, status_policy or profile)
        return cls(text, profile, reason)

    @overload
    def verdicts(self, agent: str, urls: Texts, **options: Unpack[RobotsOptions]) -> list[Verdict | None]: ...
    @overload
    def verdicts(self, agent: str, urls: PandasSeries, **options: Unpack[RobotsOptions]) -> pandas.Series[Any]: ...
    @overload
    def verdicts(self, agent: str, urls: PandasIndex, **options: Unpack[RobotsOptions]) -> pandas.Index[Any]: ...
    @overload
    def verdicts(self, agent: str, urls: PolarsSeries, **options: Unpack[RobotsOptions]) -> polars.Series: ...
    @overload
    def verdicts(
        self, agent: str, urls: ChunkedArray, **options: Unpack[RobotsOptions]
    ) -> pyarrow.ChunkedArray[Any]: ...
    @overload
    def verdicts(self, agent: str, urls: ArrowArray, **options: Unpack[RobotsOptions]) -> pyarrow.Array[Any]: ...
    @overload
    def verdicts(
        self, agent: str, urls: NumpyArray, **options: Unpack[RobotsOptions]
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.int8]]: ...
    @overload
    def verdicts(self, agent: str, urls: ArrowColumn | ArrowStream, **options: Unpack[RobotsOptions]) -> Array: ...
    def verdicts(self, agent: str, urls: Any, *, agent_match: AgentMatch = "extended") -> Any:
        """The verdict on each URL or path for an agent, as int8: 0 disallowed, 1 allowed, 3 invalid.

        Args:
            agent: The agent.
            urls: A column or a sequence, as for :meth:`Snapshot.verdicts`.

        Returns:
            As :meth:`Snapshot.verdicts`, but no text is unknown. A text is invalid if it is neither a URL
            with scheme and host nor a path, which begins with ``/``.

        Raises:
            TypeError: ``urls`` has another type.
            ValueError: A bad agent or option.

        The calling thread does the work, without the interpreter's lock.
        """
        if isinstance(urls, (str, bytes)):
            raise TypeError(f"urls is a single {type(urls).__name__}; give a list, or ask allows(agent, url)")
        if not isinstance(agent, str):
            raise TypeError(f"agent is of type {type(agent).__name__}; one name comes first: verdicts(agent, urls)")
        result = self.verdict_column(agent, as_urls(urls), agent_match)
        return like(urls, result, f"robots_{agent}", _verdict_list)

    def explain(
        self, agent: str, url_or_path: str | bytes, *, all_rules: bool = False, agent_match: AgentMatch = "extended"
    ) -> Explanation:
        """Why an agent may fetch a URL or not.

        >>> robots = Robots.parse("User-agent: *\\nDisallow: /cart")
        >>> why = robots.explain("GPTBot", "/cart/1")
        >>> why.line, why.rule
        (2, 'Disallow: /cart')

        Args:
            all_rules: Also list the rules of the group that do not match, in ``details["losers"]``.

        Returns:
            ``details`` has the keys of ``robosieve check --robots --json`` (docs/CHECK.md).

        Raises:
            TypeError: ``url_or_path`` is neither str nor bytes.
            ValueError: A bad agent or option, or text that is neither a URL nor a path.
        """
        return _explanation(self.explain_json(agent, url_or_path, all_rules, agent_match))

    def preferences(
        self, agent: str, url_or_path: str | bytes = "/", *, agent_match: AgentMatch = "extended"
    ) -> dict[str, Any]:
        """What the site says about the use of a page: the lines ``content-usage``,
        ``content-signal`` and ``license``. No verdict depends on them.

        >>> robots = Robots.parse("User-agent: *\\nContent-Usage: train-ai=n")
        >>> robots.preferences("GPTBot")["train-ai"]
        'n'

        Returns:
            The keys of ``preferences`` in docs/CHECK.md: ``train-ai``, ``search``,
            ``content-signal``, ``license``, ``usage_lines``, ``signal_lines`` and ``license_lines``.

        Raises:
            TypeError, ValueError: As :meth:`explain`.
        """
        found: dict[str, Any] = json.loads(self.preferences_json(agent, url_or_path, agent_match))
        return found

    def crawl_delay(self, agent: str, *, agent_match: AgentMatch = "extended") -> float | None:
        """The time that an agent should wait between two requests, in seconds, or None.

        A robots.txt may name any number, so limit it before you wait.

        Raises:
            ValueError: A bad agent or option.
        """
        return self.crawl_delay_for(agent, agent_match)

    def lint(self) -> list[Finding]:
        """The defects of the file in the order of lines: those of ``robosieve lint --json``.

        >>> Robots.parse("User-agent: *\\nDisallow: cart").lint()[0].help
        'write `/cart`'

        The list is empty for a response without rules. Cost: for up to 8,192 rules of the same
        agents, the square of their number.
        """
        return [Finding(**finding) for finding in json.loads(self.lint_json())]

    def __repr__(self) -> str:
        if self.reason != "rules":
            return f"<robosieve.Robots: {self.reason}, profile {self.profile}>"
        groups, rules = self.counts()
        return f"<robosieve.Robots: {groups} groups, {rules} rules, profile {self.profile}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.arguments()


def _coding_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers that say how a body is coded, and how long it is; one pair per value."""
    pairs = []
    # Headers of http.client have items, but are not a Mapping.
    items: Iterable[tuple[Any, Any]] = headers.items() if hasattr(headers, "items") else headers
    for name, value in items:
        name = _header_bytes(name)
        if name.lower() in (b"content-encoding", b"content-length", b"content-range"):
            values = value if isinstance(value, (list, tuple)) else [value]
            pairs += [(name, _header_bytes(value)) for value in values]
    return pairs


def _header_bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("latin-1", "replace")


@functools.lru_cache(maxsize=1024)
def product_token(user_agent: str) -> str:
    """The product token of a whole User-Agent header: the agent for the methods of this package.

    >>> product_token("Scrapy/2.13 (+https://scrapy.org)")
    'Scrapy'
    >>> product_token("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
    'Googlebot'

    It is the first product of the header, without its version. A header that begins with ``Mozilla``
    names a crawler in a comment: after ``compatible``, else by the first ``NAME/VERSION`` there. A
    header without a name gives ``"*"``, the rules for all. The last 1,024 headers are remembered.

    Raises:
        TypeError: ``user_agent`` is not a str.
    """
    return _native.product_token(user_agent)
