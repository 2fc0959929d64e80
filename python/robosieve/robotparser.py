"""The interface of ``urllib.robotparser``, without its fetch. One line of a program changes:

    from robosieve.robotparser import RobotFileParser  # was: from urllib.robotparser

The answers are those of :class:`robosieve.Robots`: the longest matching rule decides, ``*`` and
``$`` have their meaning, and names of agents are compared whole (RFC 9309). The standard library of
Python 3.13.0 and older takes the first matching rule and compares prefixes, so it allows and
disallows other URLs. CPython's main branch of 2026 follows RFC 9309 too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from urllib.parse import urlsplit
from urllib.robotparser import RequestRate  # type: ignore[attr-defined, unused-ignore]

from ._robots import Headers, Profile, Robots, product_token

__all__ = ["RequestRate", "RobotFileParser"]


class RobotFileParser:
    """A robots.txt. Fetch it with any client, and pass the response to :meth:`set_response`, or the
    lines to :meth:`parse`.

    >>> parser = RobotFileParser("https://shop.example/robots.txt")
    >>> parser.parse(["User-agent: *", "Disallow: /cart", "Crawl-delay: 2"])
    >>> parser.can_fetch("GPTBot/1.2", "https://shop.example/cart/1")
    False
    >>> parser.crawl_delay("GPTBot")
    2

    ``useragent`` is a product token or a whole User-Agent header. As in the standard library,
    :meth:`can_fetch` is False before the first call of :meth:`parse`, and the attributes
    ``allow_all`` and ``disallow_all`` overrule the rules. ``profile`` is ``"google"``; a subclass
    may set ``"rfc9309"``.
    """

    profile: Profile = "google"

    def __init__(self, url: str = "") -> None:
        self.allow_all = False
        self.disallow_all = False
        self.last_checked: float = 0
        self.robots = Robots.parse(b"", profile=self.profile)
        self.set_url(url)

    def set_url(self, url: str) -> None:
        """Sets the URL of the robots.txt, and ``host`` and ``path`` with it."""
        self.url = url
        self.host, self.path = urlsplit(url)[1:3]

    def read(self) -> None:
        """Not here: robosieve fetches nothing.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            f"robosieve fetches nothing; fetch {self.url or 'the robots.txt'} with an HTTP client, and pass the "
            "response to set_response(status, body, headers), or the lines to parse(lines)"
        )

    def parse(self, lines: Iterable[str]) -> None:
        """Parses the lines of a robots.txt."""
        self.robots = Robots.parse("\n".join(lines), profile=self.profile)
        self.modified()

    def set_response(self, status: int | None, body: bytes | str = b"", headers: Headers | None = None) -> None:
        """Takes the response to a request for the robots.txt: see :meth:`robosieve.Robots.from_response`.

        Raises:
            ValueError: A redirect, which the caller follows first.
        """
        self.robots = Robots.from_response(status, body, headers, profile=self.profile)
        self.modified()

    def mtime(self) -> float:
        """The time of the last :meth:`parse`, in seconds since 1970; 0 before."""
        return self.last_checked

    def modified(self) -> None:
        """Sets :meth:`mtime` to the current time."""
        self.last_checked = time.time()

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Whether an agent may fetch a URL, or a path that begins with ``/``.

        Other text, such as ``mailto:`` links and arguments in the wrong order, cannot be fetched: the
        answer is False, where the standard library says True. As there, no text is an error.
        """
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        if self.last_checked == 0:
            return False
        try:
            # As in the standard library, no text is the path "/".
            return self.robots.allows(product_token(useragent), url or "/")
        except ValueError:
            # A product token is always an agent, so the text is neither a URL nor a path.
            return False

    def crawl_delay(self, useragent: str) -> float | None:
        """The crawl-delay in seconds, an int if it is whole; None without one."""
        delay = self.robots.crawl_delay(product_token(useragent))
        return int(delay) if delay is not None and delay.is_integer() else delay

    def request_rate(self, useragent: str) -> RequestRate | None:
        """The last valid ``request-rate: REQUESTS/SECONDS`` of the agent's groups, or None."""
        for value in reversed(self.robots.request_rates(product_token(useragent))):
            requests, _, seconds = (part.strip() for part in value.partition("/"))
            if requests.isdecimal() and seconds.isdecimal():
                return RequestRate(int(requests), int(seconds))
        return None

    def site_maps(self) -> list[str] | None:
        """The sitemaps, or None without any."""
        return self.robots.sitemaps or None

    def __str__(self) -> str:
        return self.robots.arguments()[0].decode("utf-8", "replace")
