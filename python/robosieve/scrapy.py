"""The robots.txt parser of Scrapy. One line of the settings turns it on:

    ROBOTSTXT_PARSER = "robosieve.scrapy.RobotParser"

Scrapy passes ``ROBOTSTXT_USER_AGENT``, or else the whole User-Agent header of a request.
:func:`robosieve.product_token` takes the name of the crawler from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import scrapy.robotstxt
except ModuleNotFoundError as err:
    raise ModuleNotFoundError(
        f"robosieve.scrapy needs Scrapy, and {err.name} is missing; pip install scrapy", name=err.name
    ) from err

from ._robots import Robots, product_token

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class RobotParser(scrapy.robotstxt.RobotParser):  # type: ignore[misc, unused-ignore]
    """A parsed robots.txt, as Scrapy's middleware uses it.

    ``robots`` is the :class:`robosieve.Robots`, for example in a handler of the signal
    ``robots_parsed``. No content of a robots.txt, and no header, is an error.
    """

    def __init__(self, robotstxt_body: bytes) -> None:
        self.robots = Robots.parse(robotstxt_body)

    @classmethod
    def from_crawler(cls, crawler: Crawler | None, robotstxt_body: bytes) -> RobotParser:
        """The parser of a body. Scrapy calls this for each site."""
        return cls(robotstxt_body)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Whether a crawler with this User-Agent header, or product token, may fetch a URL.

        Scrapy asks about URLs with a scheme and a host.

        Raises:
            ValueError: ``url`` is neither a URL nor a path that begins with ``/``, for instance
                because the arguments are in the wrong order.
        """
        try:
            return self.robots.allows(_token(user_agent), url)
        except UnicodeError:
            raise
        except ValueError as err:
            raise ValueError(
                f"url={url!r}: neither a URL with a scheme and a host nor a path that begins with /; "
                "the URL comes first: allowed(url, user_agent)"
            ) from err

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """The crawl-delay for a crawler in seconds, or None."""
        return self.robots.crawl_delay(_token(user_agent))


def _token(user_agent: str | bytes) -> str:
    return product_token(user_agent.decode("utf-8", "replace") if isinstance(user_agent, bytes) else user_agent)
