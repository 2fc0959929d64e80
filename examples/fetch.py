#!/usr/bin/env python3
"""Fetches the robots.txt files that `robosieve due` lists, and writes JSON lines for `compile`.

  robosieve due -s web.rsieve --stale-at now urls.txt --as jsonl |
      examples/fetch.py --agent 'MyBot/1.0 (+https://example.com/bot)' > fetched.jsonl
  robosieve compile --previous web.rsieve -o web.rsieve fetched.jsonl

It is polite: a host gets one request at a time, each URL is asked for once, and the User-Agent
names a contact. Every request has time limits, and at most 500 KiB of a body are read (RFC 9309
section 2.5). Up to five redirects are followed, and each hop is a record of its own: `compile`
follows them again. A failure is a record too, so a site that does not answer is known to fail.
If the list is JSON lines, a server may answer 304 for a file that has not changed since.

Private addresses get no request unless --private allows them: lists and redirects may name the
services of your own network. Python 3.10 or newer, without other packages.
"""

import argparse
import asyncio
import base64
import collections
import email.utils
import ipaddress
import json
import socket
import ssl
import sys
import time
import weakref
from datetime import datetime, timezone
from urllib.parse import quote, urldefrag, urljoin, urlsplit

BODY_LIMIT = 500 * 1024
HEADER_LINES = 200
REDIRECTS = 5
# The headers that `compile` reads.
KEPT_HEADERS = ("location", "cache-control", "content-encoding", "retry-after")
# Several headers of these names are one list.
LISTS = ("cache-control", "content-encoding", "transfer-encoding")
# The characters that a URL may have. Others, such as blanks, are escaped.
URL_CHARACTERS = "%/:?#[]@!$&'()*+,;=~"


class FetchError(Exception):
    """A failed fetch, in the words of the archive."""


class Fetcher:
    def __init__(self, options):
        self.options = options
        self.tls = ssl.create_default_context()
        # The URLs that were requested; http and https of a site often redirect to one of them.
        self.requested = set()
        # A host's lock exists as long as a worker uses it.
        self.locks = weakref.WeakValueDictionary()
        self.counts = collections.Counter()

    async def run(self, lines):
        """Workers share the list, which is read as they need it. It may have millions of URLs."""
        workers = (self.work(lines) for _ in range(self.options.connections))
        await asyncio.gather(*workers)

    async def work(self, lines):
        for line in lines:
            url, since = parse_line(line)
            if url.startswith(("http://", "https://")):
                await self.follow(url, since)

    async def follow(self, url, since):
        """Fetches a URL, and the URLs to which it redirects."""
        for _ in range(REDIRECTS + 1):
            if url in self.requested:
                return
            self.requested.add(url)
            record = await self.record(url, since)
            target = redirect_of(url, record)
            print(json.dumps(record), flush=True)
            self.counts[record.get("status", "failed")] += 1
            if not target.startswith(("http://", "https://")):
                return
            # The condition was for the first URL only.
            url, since = target, None

    async def record(self, url, since):
        """The record of one request: an answer, or the reason why there is none."""
        record = {"url": url}
        try:
            parts = urlsplit(url)
            host = (parts.hostname or ".").encode("idna").decode()
            port = parts.port or (443 if parts.scheme == "https" else 80)
            lock = self.locks.setdefault(host, asyncio.Lock())
            async with lock:
                record["fetched_at"] = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                exchange = self.exchange(parts, host, port, since)
                record.update(await asyncio.wait_for(exchange, self.options.time_limit))
        except (asyncio.TimeoutError, TimeoutError):
            record["error"] = "timeout"
        except (FetchError, OSError, EOFError, ValueError) as err:
            record["error"] = describe(err)
        return record

    async def exchange(self, parts, host, port, since):
        """Sends one request on a connection of its own, and reads the answer."""
        tls = self.tls if parts.scheme == "https" else None
        connecting = asyncio.open_connection(host, port, ssl=tls)
        reader, writer = await asyncio.wait_for(connecting, self.options.connect_limit)
        try:
            # The address in use counts, because a name may have others by now.
            address = ipaddress.ip_address(writer.get_extra_info("peername")[0].split("%")[0])
            if not (address.is_global or self.options.private):
                raise FetchError("private address")
            path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
            lines = [
                f"GET {path} HTTP/1.1",
                f"Host: {parts.netloc.rpartition('@')[2]}",
                f"User-Agent: {self.options.agent}",
                "Accept: text/plain, */*;q=0.5",
                "Accept-Encoding: identity",
                "Connection: close",
            ]
            if since:
                lines.append(f"If-Modified-Since: {since}")
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
            await writer.drain()
            return await read_answer(reader)
        finally:
            writer.transport.abort()


def parse_line(line):
    """The URL of a line, and for JSON lines the time since which it may be unchanged."""
    line = line.strip()
    if not line.startswith("{"):
        return line, None
    due = json.loads(line)
    # A 304 confirms the newest robots.txt. After a failure, and through redirects, the time is not
    # that of this URL's own robots.txt.
    if due.get("outcome") != "rules" or due.get("source") or not due.get("fetched"):
        return due["url"], None
    fetched = datetime.fromisoformat(due["fetched"].replace("Z", "+00:00"))
    return due["url"], email.utils.format_datetime(fetched, usegmt=True)


def redirect_of(url, record):
    """The target of a redirect, or nothing. The record gets it as an absolute URL."""
    location = record.get("headers", {}).get("location")
    if not location or record["status"] not in (301, 302, 303, 307, 308):
        return ""
    try:
        target = urldefrag(quote(urljoin(url, location), safe=URL_CHARACTERS)).url
    except ValueError:
        return ""
    record["headers"]["location"] = target
    return target


async def read_answer(reader):
    """The status, the headers and the body of an answer, with the keys of a record."""
    status, headers = await read_head(reader)
    # Interim answers precede the final one.
    while 100 <= status < 200:
        status, headers = await read_head(reader)
    kept = {name: headers[name] for name in KEPT_HEADERS if name in headers}
    answer = {"status": status, "headers": kept}
    if status in (204, 304):
        return answer
    body = await read_body(reader, headers)
    if len(body) > BODY_LIMIT:
        body = body[:BODY_LIMIT]
        answer["truncated"] = "length"
    try:
        answer["body"] = body.decode()
    except UnicodeDecodeError:
        answer["body_base64"] = base64.b64encode(body).decode()
    return answer


async def read_head(reader):
    line = await reader.readline()
    version, _, rest = line.partition(b" ")
    if not version.startswith(b"HTTP/") or not rest[:3].isdigit():
        raise FetchError("not an HTTP answer" if line else "closed without an answer")
    headers = {}
    for _ in range(HEADER_LINES):
        line = await reader.readline()
        if not line.endswith(b"\n"):
            raise FetchError("truncated: disconnect")
        if not line.strip():
            return int(rest[:3]), headers
        name, _, value = line.decode(errors="replace").partition(":")
        name, value = name.strip().lower(), value.strip()
        if name in LISTS and name in headers:
            headers[name] += ", " + value
        headers.setdefault(name, value)
    raise FetchError("too many headers")


async def read_body(reader, headers):
    """The body; one byte more than the limit says that it is longer."""
    wanted = BODY_LIMIT + 1
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = bytearray()
        while len(body) < wanted:
            size = int((await reader.readline()).split(b";")[0], 16)
            if size == 0:
                return body
            body += await reader.readexactly(min(size, wanted - len(body)))
            if len(body) < wanted:
                await reader.readline()
        return body
    if "content-length" in headers:
        return await reader.readexactly(min(int(headers["content-length"]), wanted))
    body = bytearray()
    while len(body) < wanted and (part := await reader.read(wanted - len(body))):
        body += part
    return body


def describe(err):
    """An error in a few words."""
    match err:
        case ssl.SSLError():
            return f"tls: {getattr(err, 'verify_message', '') or err.reason}"
        case asyncio.IncompleteReadError():
            return "truncated: disconnect"
        case UnicodeError():
            return "dns: not a host name"
        case ValueError():
            return "not an HTTP answer"
        case socket.gaierror():
            return f"dns: {err.strerror}"
        case ConnectionRefusedError():
            return "connection refused"
        case ConnectionError():
            return "connection reset"
        case _:
            return str(err) or type(err).__name__


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("list", nargs="?", help="output of `robosieve due` (default: stdin)")
    parser.add_argument("--agent", required=True, help="User-Agent, with a URL or e-mail address")
    parser.add_argument("--connections", type=int, default=100, help="at most (default: 100)")
    parser.add_argument("--connect-limit", type=float, default=10, help="seconds (default: 10)")
    parser.add_argument("--time-limit", type=float, default=30, help="seconds (default: 30)")
    parser.add_argument("--private", action="store_true", help="allow private addresses")
    options = parser.parse_args()
    if not ("://" in options.agent or "@" in options.agent) or not options.agent.isprintable():
        parser.error("--agent must name a contact: 'MyBot/1.0 (+https://example.com/bot)'")
    return options


def main():
    options = parse_options()
    started = time.monotonic()
    fetcher = Fetcher(options)
    try:
        with open(options.list, encoding="utf-8") if options.list else sys.stdin as lines:
            asyncio.run(fetcher.run(lines))
    except (json.JSONDecodeError, KeyError) as err:
        sys.exit(f"fetch.py: the list is not the output of `robosieve due`: {err}")
    except OSError as err:
        sys.exit(f"fetch.py: {err}")
    counts = ", ".join(f"{status}: {n}" for status, n in sorted(fetcher.counts.items(), key=str))
    seconds = time.monotonic() - started
    requests = sum(fetcher.counts.values())
    print(f"{requests} requests in {seconds:.1f} s ({counts})", file=sys.stderr)


if __name__ == "__main__":
    main()
