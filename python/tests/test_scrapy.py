"""The parser for Scrapy, in Scrapy: its contract for parsers, and its middleware in a crawl."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("scrapy")
import scrapy.robotstxt

from robosieve.scrapy import RobotParser

SITE = "https://www.site.example"


def parser(text: str | bytes) -> Any:
    return RobotParser.from_crawler(crawler=None, robotstxt_body=text.encode() if isinstance(text, str) else text)


# What Scrapy asks of any parser.


def test_it_is_a_parser_of_scrapy() -> None:
    assert issubclass(RobotParser, scrapy.robotstxt.RobotParser)
    from scrapy.utils.misc import load_object

    assert load_object("robosieve.scrapy.RobotParser") is RobotParser


@pytest.mark.parametrize("kind", [str, str.encode])
def test_paths_with_text_and_bytes(kind: Any) -> None:
    rp = parser("User-agent: * \nDisallow: /closed \nAllow: /open \nCrawl-delay: 10")
    assert rp.allowed(kind(f"{SITE}/open"), kind("*"))
    assert not rp.allowed(kind(f"{SITE}/closed"), kind("*"))
    assert rp.crawl_delay(kind("*")) == 10.0 and parser("").crawl_delay(kind("*")) is None


def test_wildcards() -> None:
    rp = parser("User-agent: one\nDisallow: /closed/*/end$\n\nUser-agent: two\nAllow: *open\nDisallow: /")
    assert rp.allowed(f"{SITE}/closed", "one") and not rp.allowed(f"{SITE}/closed/xyz/end", "one")
    assert rp.allowed(f"{SITE}/closed/xyz/ending", "one")
    assert rp.allowed(f"{SITE}/is_open", "two") and not rp.allowed(f"{SITE}/is_closed", "two")


def test_the_longest_rule_decides() -> None:
    for lines in ("Disallow: /\nAllow: /page", "Allow: /page\nDisallow: /"):
        rp = parser(f"User-agent: *\n{lines}")
        assert rp.allowed(f"{SITE}/page", "*") and not rp.allowed(f"{SITE}/other", "*")


def test_bodies_without_rules_allow() -> None:
    for body in (b"", b"\n", b"<html><body>Not found", b"GIF89a\xd3\xfe\x00\xa2", bytes(range(256))):
        rp = parser(body)
        assert rp.allowed(f"{SITE}/", "*") and rp.allowed(f"{SITE}/page", "*")


@pytest.mark.parametrize("kind", [str, str.encode])
def test_letters_outside_ascii(kind: Any) -> None:
    rp = parser(
        "User-Agent: *\nDisallow: /admin/\nDisallow: /wiki/K%C3%A4ytt%C3%A4j%C3%A4:\nDisallow: /b\u00fccher\n\n"
        "User-Agent: B\u00f6tli\nDisallow: /page.html"
    )
    assert rp.allowed(kind(f"{SITE}/"), kind("*")) and not rp.allowed(kind(f"{SITE}/admin/"), kind("*"))
    assert not rp.allowed(kind(f"{SITE}/wiki/K%C3%A4ytt%C3%A4j%C3%A4:"), kind("*"))
    assert not rp.allowed(kind(f"{SITE}/wiki/K\u00e4ytt\u00e4j\u00e4:"), kind("*"))
    assert not rp.allowed(kind(f"{SITE}/b%C3%BCcher"), kind("*"))
    assert rp.allowed(kind(f"{SITE}/page.html"), kind("*"))
    assert not rp.allowed(kind(f"{SITE}/page.html"), kind("B\u00f6tli"))


def test_arguments_in_the_wrong_order_are_an_error() -> None:
    rp = parser("User-agent: *\nDisallow: /")
    with pytest.raises(ValueError, match=r"url='GPTBot': neither .* the URL comes first: allowed\(url, user_agent\)"):
        rp.allowed("GPTBot", f"{SITE}/closed")
    # Scrapy asks about the URLs of its requests, which have a scheme and a host.
    assert not rp.allowed("ftp://files.example/x", "GPTBot") and not rp.allowed(f"{SITE}?q", b"GPTBot")


def test_whole_headers() -> None:
    rp = parser("User-agent: scrapy\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nAllow: /")
    for header in (
        "Scrapy/2.13 (+https://scrapy.org)",
        b"Scrapy/2.13 (+https://scrapy.org)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        "GPTBot",
    ):
        assert not rp.allowed(f"{SITE}/", header), header
    for header in ("myproject (+https://scrapy.org)", "", b"\xff\xfe", "(;:,@ai", "Mozilla/5.0 (X11; Linux) Firefox/1"):
        assert rp.allowed(f"{SITE}/", header), header


# In a crawl.


class Site(http.server.BaseHTTPRequestHandler):
    """A site with a robots.txt, that answers each other path with the path."""

    def do_GET(self) -> None:
        body = b"User-agent: testbot\nDisallow: /*?\nAllow: /a?x" if self.path == "/robots.txt" else self.path.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


#: Crawls some paths and prints those that it got.
CRAWL = """
import sys, scrapy
from scrapy.crawler import CrawlerProcess

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [sys.argv[1] + "/a"]

    # The rest follows when the robots.txt is there: Scrapy 2.19 lets requests that wait for it pass.
    def parse(self, response):
        print(response.text, flush=True)
        for path in ("/a?x=1", "/b?x=1", "/b"):
            yield response.follow(path)

settings = {
    "ROBOTSTXT_OBEY": True,
    "ROBOTSTXT_PARSER": "robosieve.scrapy.RobotParser",
    "USER_AGENT": sys.argv[2],
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "RETRY_ENABLED": False,
}
process = CrawlerProcess(settings)
process.crawl(Pages)
process.start()
"""


def test_crawl(site: str) -> None:
    for agent, expected in (
        ("TestBot/1.0 (+https://test.example)", ["/a", "/a?x=1", "/b"]),
        ("OtherBot/1.0", ["/a", "/a?x=1", "/b", "/b?x=1"]),
    ):
        command = [sys.executable, "-c", CRAWL, site, agent]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stderr
        assert sorted(run.stdout.split()) == expected, run.stderr
