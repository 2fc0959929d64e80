"""The interface of `urllib.robotparser`: alone, in Scrapy, and in the tests of CPython."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
import unittest
import urllib.robotparser

import pytest

from robosieve.robotparser import RequestRate, RobotFileParser

LINES = [
    "User-agent: *",
    "Disallow: /cart",
    "Allow: /cart/help",
    "Crawl-delay: 2",
    "Request-rate: 3/15",
    "Sitemap: https://shop.example/s.xml",
    "",
    "User-agent: GPTBot",
    "Disallow: /",
    "Crawl-delay: 0.5",
    "Request-rate: 9",
]


@pytest.fixture
def parser() -> RobotFileParser:
    parser = RobotFileParser("https://shop.example/robots.txt")
    parser.parse(LINES)
    return parser


def test_every_public_method_of_the_standard_library_is_here() -> None:
    theirs = urllib.robotparser.RobotFileParser
    for name, method in inspect.getmembers(theirs, inspect.isfunction):
        if not name.startswith("_") or name == "__init__":
            mine = inspect.signature(getattr(RobotFileParser, name))
            assert list(mine.parameters) == list(inspect.signature(method).parameters), name


def test_answers(parser: RobotFileParser) -> None:
    assert (parser.url, parser.host, parser.path) == ("https://shop.example/robots.txt", "shop.example", "/robots.txt")
    assert not parser.can_fetch("*", "https://shop.example/cart") and parser.can_fetch("*", "/cart/help")
    assert not parser.can_fetch("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "/")
    assert [parser.crawl_delay("FooBot"), parser.crawl_delay("GPTBot")] == [2, 0.5]
    assert isinstance(parser.crawl_delay("FooBot"), int)
    rate = parser.request_rate("FooBot")
    assert rate == RequestRate(3, 15) and rate is not None and (rate.requests, rate.seconds) == (3, 15)
    assert parser.request_rate("GPTBot") is None
    assert parser.site_maps() == ["https://shop.example/s.xml"]
    assert str(parser) == "\n".join(LINES)


def test_before_parsing_nothing_may_be_fetched() -> None:
    parser = RobotFileParser()
    assert parser.mtime() == 0 and not parser.can_fetch("*", "/")
    assert parser.crawl_delay("*") is parser.request_rate("*") is parser.site_maps() is None
    parser.allow_all = True
    assert parser.can_fetch("*", "/")
    parser.disallow_all = True
    assert not parser.can_fetch("*", "/")


def test_mtime_is_the_time_of_parsing(parser: RobotFileParser) -> None:
    assert 0 <= time.time() - parser.mtime() < 60
    parser.last_checked = 1
    parser.modified()
    assert parser.mtime() > 1


def test_read_says_what_to_do() -> None:
    with pytest.raises(NotImplementedError, match="fetch https://a.example/robots.txt with an HTTP client"):
        RobotFileParser("https://a.example/robots.txt").read()


def test_responses() -> None:
    parser = RobotFileParser()
    parser.set_response(404)
    assert parser.can_fetch("*", "/") and parser.mtime() > 0
    parser.set_response(503)
    assert not parser.can_fetch("*", "/")
    parser.set_response(200, b"User-agent: *\nDisallow: /x")
    assert not parser.can_fetch("*", "/x") and parser.can_fetch("*", "/")


def test_in_scrapy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy's parser for the standard library, with this class in its place."""
    robotstxt = pytest.importorskip("scrapy.robotstxt")
    monkeypatch.setattr(robotstxt, "RobotFileParser", RobotFileParser)
    rp = robotstxt.PythonRobotParser.from_crawler(None, "\n".join(LINES).encode())
    assert not rp.allowed("https://shop.example/cart", "Scrapy/2.13 (+https://scrapy.org)")
    assert rp.allowed(b"https://shop.example/cart/help", b"Scrapy/2.13")
    assert rp.crawl_delay("GPTBot") == 0.5


#: The tests of CPython that expect another answer than RFC 9309 and Google's parser give.
DIFFERENT = {
    # Their text is written anew, in another order.
    "StringFormattingTest.test_string_formatting",
    # There, the first group for `*` replaces the others. RFC 9309 §2.2.1 merges them.
    "UseFirstUserAgentWildcardTest.test_good_urls",
    # There, a group names each agent whose name contains its own. RFC 9309 compares whole names.
    "UserAgentGoogleMobileTest.test_bad_urls",
    # There, `/%7ejoe` also matches `/~joe`. Here it does with the profile "rfc9309".
    "CrawlDelayAndRequestRateTest.test_bad_urls",
    "DifferentAgentTest.test_bad_urls",
}


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the tests of later versions were not compared")
def test_the_tests_of_cpython_that_do_not_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        theirs = importlib.import_module("test.test_robotparser")
    except ImportError:
        pytest.skip("the tests of CPython are not installed")
    monkeypatch.setattr(urllib.robotparser, "RobotFileParser", RobotFileParser)
    groups = list(unittest.defaultTestLoader.loadTestsFromModule(theirs))
    tests = [test for group in groups for test in group if hasattr(test, "get_agent_and_url")]
    assert len(tests) > 30
    result = unittest.TestResult()
    unittest.TestSuite(tests).run(result)
    different = set()
    for test, _ in result.failures + result.errors:
        # A failed part of a test is an object of its own.
        test = getattr(test, "test_case", test)
        different.add(f"{type(test).__name__}.{test._testMethodName}")
    assert different <= DIFFERENT


def test_text_that_is_neither_a_url_nor_a_path_cannot_be_fetched() -> None:
    parser = RobotFileParser()
    parser.parse(["User-agent: *", "Disallow: /cart"])
    for text in ("GPTBot", "cart", "mailto:a@shop.example", "#top", "shop.example/x"):
        assert not parser.can_fetch("GPTBot", text)
    # Arguments in the wrong order.
    assert not parser.can_fetch("https://shop.example/cart", "GPTBot")
    assert parser.can_fetch("GPTBot", "") and parser.can_fetch("GPTBot", "/")
    assert not parser.can_fetch("GPTBot", "/cart")
