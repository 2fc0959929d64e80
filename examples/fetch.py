#!/usr/bin/env python3
"""Fetches the robots.txt files that `robosieve due` lists, and writes JSON lines for `compile`.

  robosieve due -s web.rsieve --stale-at now --as jsonl urls.txt |
      examples/fetch.py --agent 'MyBot/1.0 (+https://example.com/bot)' > fetched.jsonl
  robosieve compile --previous web.rsieve -o web.rsieve fetched.jsonl

It is polite: a host gets one request at a time, each URL is asked for once, and the User-Agent
names a contact. A host that answers 429 or 503 with Retry-After gets no request before that time.
Every request has time limits, and at most 500 KiB of a body are read (RFC 9309 section 2.5). Up to
five redirects are followed, and each hop is a record of its own: `compile` follows them again. If
the list is JSON lines, a server may answer 304 for a file that has not changed since.

A failure is a record too, so a site that does not answer is known to fail. A failure of this
machine is not: without a network or open files, URLs get no record, and the exit status is 1.

Private addresses get no connection unless --private allows them: lists and redirects may name the
services of your own network. Python 3.10 or newer, without other packages.
"""

import argparse
import asyncio
import base64
import collections
import contextlib
import email.utils
import errno
import ipaddress
import json
import os
import queue
import signal
import socket
import ssl
import sys
import threading
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

# What this machine lacks. No request can succeed then.
NO_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}
# Errors of a site, or of a machine without a network.
NO_ROUTE = {errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL}
# Answers of the resolver about a name.
NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
# Errors of the resolver itself. All others may be those of a name's servers, or of the network.
RESOLVER_FAILED = {socket.EAI_MEMORY, getattr(socket, "EAI_SYSTEM", socket.EAI_MEMORY)}
# After this many failures in a row that may be those of this machine's network, it is probed. As
# long as no site was reached, there is nothing to probe with, and the run ends after more of them.
MAX_HELD = 50
MAX_HELD_AT_FIRST = 5000


def networks(*names):
    return [ipaddress.ip_network(name) for name in names]


# The special addresses of IPv4 (the IANA registry), multicast, and a service of Azure's machines.
NOT_PUBLIC_V4 = networks(
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
)  # fmt: skip
# Public addresses of IPv6, and the parts of them for protocols (Teredo is one) and documentation.
# All others are private: loopback, mapped, IPv4-compatible, site-local, unique local, link-local,
# multicast.
(PUBLIC_V6,) = networks("2000::/3")
NOT_PUBLIC_V6 = networks("2001::/23", "2001:db8::/32", "3fff::/20")
NAT64, SIX_TO_FOUR, MAPPED = networks("64:ff9b::/96", "2002::/16", "::ffff:0:0/96")
# The middle of the interface identifier of ISATAP, before an address of IPv4.
ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(text):
    """Whether an address is on the public internet. Addresses of IPv6 may have one of IPv4 in them,
    which a translator or a tunnel of the network may connect to."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if address.version == 4:
        return not any(address in network for network in NOT_PUBLIC_V4)
    value = int(address)
    if address in NAT64 or address in MAPPED:
        return is_public(str(ipaddress.IPv4Address(value & 0xFFFFFFFF)))
    if address not in PUBLIC_V6 or any(address in network for network in NOT_PUBLIC_V6):
        return False
    if address in SIX_TO_FOUR:
        return is_public(str(ipaddress.IPv4Address(value >> 80 & 0xFFFFFFFF)))
    if value >> 32 & 0xFFFFFFFF in ISATAP:
        return is_public(str(ipaddress.IPv4Address(value & 0xFFFFFFFF)))
    return True


class FetchError(Exception):
    """A failed fetch, in the words of the archive."""


class OwnFailure(Exception):
    """A failure of this machine, which says nothing about a site."""


class Threads:
    """Threads for calls that block: resolving names, reading the list, and writing records.

    A name whose servers do not answer blocks getaddrinfo for half a minute. Each worker makes one
    call at a time and waits for its end, so there is a thread for each worker, and no call waits
    for that of another. The threads are daemons: none delays the end of the program.
    """

    def __init__(self, number):
        self.calls = queue.SimpleQueue()
        for _ in range(number):
            threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            loop, future, function, arguments = self.calls.get()
            try:
                result, error = function(*arguments), None
            except Exception as err:
                result, error = None, err
            # The loop is closed if the program ends meanwhile.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self.finish, future, result, error)

    @staticmethod
    def finish(future, result, error):
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    async def call(self, function, *arguments):
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.calls.put((loop, future, function, arguments))
        return await future


class Fetcher:
    def __init__(self, options, output=sys.stdout):
        self.options = options
        self.output = output
        self.tls = None
        try:
            self.threads = Threads(options.connections)
        except RuntimeError as err:
            raise OwnFailure(f"{err}; give fewer --connections") from None
        # The URLs that were requested; http and https of a site often redirect to one of them.
        self.requested = set()
        # A host's lock exists as long as a worker uses it.
        self.locks = weakref.WeakValueDictionary()
        # The servers that asked to wait longer than this run does.
        self.postponed = set()
        self.counts = collections.Counter()
        self.left_out = collections.Counter()
        # Failures that a machine without a resolver ("names") or without a network ("routes") has
        # too. They are those of their sites once another site is reached.
        self.held = {"names": [], "routes": []}
        # The host and port that were reached last: by a name, and at all.
        self.reached = {}
        # Held while a line is written, so that the program does not end within one.
        self.writing = threading.Lock()

    async def run(self, lines):
        """Workers share the list, which is read as they need it. It may have millions of URLs."""
        reading = asyncio.Lock()
        workers = [
            asyncio.ensure_future(self.work(lines, reading))
            for _ in range(self.options.connections)
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        for kind in self.held:
            await self.settle_held(kind)

    async def work(self, lines, reading):
        while True:
            async with reading:
                # A pipe may be slow, and the other workers have requests under way.
                line = await self.threads.call(lines.readline)
            if not line:
                return
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
            if record is None:
                return
            target = redirect_of(url, record)
            await self.write(record)
            if not target.startswith(("http://", "https://")):
                return
            # The condition was for the first URL only.
            url, since = target, None

    async def write(self, record):
        self.counts[record.get("status", "failed")] += 1
        await self.threads.call(self.write_line, json.dumps(record) + "\n")

    def write_line(self, line):
        with self.writing:
            self.output.write(line)
            self.output.flush()

    async def record(self, url, since):
        """The record of one request: an answer, or the reason why there is none. None if it is held
        or left out."""
        record = {"url": url}
        try:
            parts = urlsplit(url)
            host = (parts.hostname or ".").encode("idna").decode()
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError as err:
            record["fetched_at"] = now()
            record["error"] = describe(err)
            return record
        # http and https of a host are one server. Other ports may have other ones.
        server = host if port in (80, 443) else (host, port)
        lock = self.locks.setdefault(host, asyncio.Lock())
        async with lock:
            for has_waited in (False, True):
                if server in self.postponed:
                    self.left_out["their server asks for a longer wait (Retry-After)"] += 1
                    return None
                try:
                    record.update(await self.answer(record, parts, host, port, since))
                except (asyncio.TimeoutError, TimeoutError):
                    record["error"] = "timeout"
                except (FetchError, OSError, EOFError, ValueError) as err:
                    record["error"] = describe(err)
                    if getattr(err, "errno", None) in NO_RESOURCES:
                        raise OwnFailure(f"{describe(err)}; give fewer --connections") from None
                    if isinstance(err, socket.gaierror) and err.errno in RESOLVER_FAILED:
                        self.left_out["the resolver of this machine failed"] += 1
                        return None
                    kind = kind_of_own(err)
                    if kind is not None:
                        await self.hold(kind, record)
                        return None
                # The wait is within the lock, so it holds for all URLs of the server.
                wait = retry_after(record)
                if wait is None:
                    break
                if has_waited or wait > self.options.retry_limit:
                    self.postponed.add(server)
                    break
                await self.sleep(wait)
                record = {"url": url}
        return record

    async def answer(self, record, parts, host, port, since):
        """Resolves the host, connects to an address of it, and sends the request."""
        record["fetched_at"] = now()
        addresses = await self.addresses(host, port)
        record["fetched_at"] = now()
        exchange = self.exchange(addresses, parts, host, port, since)
        return await asyncio.wait_for(exchange, self.options.time_limit)

    async def addresses(self, host, port):
        """The addresses of a host to which a connection is allowed. The connection is to these: the
        name may have others by then."""
        # No clock runs here: the resolver has its own, and a name that is slow delays no other.
        found = await self.threads.call(self.resolve, host, port)
        allowed = [address for address in found if self.options.private or is_public(address)]
        if not allowed:
            raise FetchError("private address" if found else "dns: no address")
        return allowed

    @staticmethod
    def resolve(host, port):
        """The addresses of a host, in the order in which to try them."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(address[0] for *_, address in found))

    async def exchange(self, addresses, parts, host, port, since):
        """Sends one request on a connection of its own, and reads the answer."""
        tls = self.certificates() if parts.scheme == "https" else None
        reader, writer = await self.connected(addresses, host, port, tls)
        try:
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

    def certificates(self):
        """The settings of TLS. Without certificates of authorities, no site has a valid one."""
        if self.tls is None:
            paths = ssl.get_default_verify_paths()
            has_directory = (
                paths.capath and os.path.isdir(paths.capath) and os.listdir(paths.capath)
            )
            tls = ssl.create_default_context()
            if not (paths.cafile or has_directory or tls.cert_store_stats()["x509_ca"]):
                raise OwnFailure("no certificates of authorities; install them (ca-certificates)")
            self.tls = tls
        return self.tls

    async def connected(self, addresses, host, port, tls):
        """A connection to the first address that accepts one."""
        for number, address in enumerate(addresses, 1):
            try:
                connecting = self.connect(address, port, tls, host.rstrip("."))
                connection = await asyncio.wait_for(connecting, self.options.connect_limit)
            except (OSError, asyncio.TimeoutError) as err:
                # A refusal comes from the site, too.
                if isinstance(err, (ConnectionError, ssl.SSLError)):
                    await self.reach(host, port)
                if number == len(addresses) or getattr(err, "errno", None) in NO_RESOURCES:
                    raise
            else:
                await self.reach(host, port)
                return connection
        raise FetchError("dns: no address")

    @staticmethod
    async def connect(address, port, tls, host):
        return await asyncio.open_connection(
            address, port, ssl=tls, server_hostname=host if tls else None
        )

    @staticmethod
    async def sleep(seconds):
        await asyncio.sleep(seconds)

    async def hold(self, kind, record):
        """Keeps a failure back until it is known whose it is: the site's, or this machine's."""
        held = self.held[kind]
        held.append(record)
        if len(held) >= (MAX_HELD if kind in self.reached else MAX_HELD_AT_FIRST):
            await self.settle_held(kind)

    async def reach(self, host, port):
        """Notes that a site was reached, so the failures that were kept back are those of their
        sites. A host that is an address says nothing about the resolver."""
        for kind in ("routes",) if is_address(host) else ("routes", "names"):
            self.reached[kind] = (host, port)
            held, self.held[kind] = self.held[kind], []
            for record in held:
                await self.write(record)

    async def settle_held(self, kind):
        """Probes the network, by a connection to a host that was reached before."""
        if not self.held[kind]:
            return
        if kind in self.reached:
            host, port = self.reached[kind]
            try:
                addresses = await self.addresses(host, port)
                _, writer = await self.connected(addresses, host, port, None)
                writer.transport.abort()
            except (FetchError, OSError, asyncio.TimeoutError):
                pass
            # Reaching it has written them.
            if not self.held[kind]:
                return
        what = "no name can be resolved" if kind == "names" else "no address can be reached"
        last = self.held[kind][-1]
        self.left_out["they cannot be told from a failure of this machine"] += sum(
            map(len, self.held.values())
        )
        raise OwnFailure(
            f"{what}, such as {urlsplit(last['url']).netloc} ({last['error']}); is there a network?"
        )


def is_address(host):
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def urls(number):
    return "1 URL" if number == 1 else f"{number} URLs"


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def kind_of_own(err):
    """The kind of failure that this is, if a machine without a resolver or a network has it too."""
    if isinstance(err, socket.gaierror):
        return None if err.errno in NO_SUCH_NAME else "names"
    return "routes" if getattr(err, "errno", None) in NO_ROUTE else None


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


def retry_after(record):
    """The seconds to wait that a 429 or 503 asks for, or None."""
    value = record.get("headers", {}).get("retry-after", "")
    if record.get("status") not in (429, 503) or not value:
        return None
    if value.isascii() and value.isdigit():
        # No wait of this many digits is different from a longer one.
        return float(value[:9])
    try:
        date = email.utils.parsedate_to_datetime(value)
        return max(0.0, (date - datetime.now(date.tzinfo)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


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
        case OSError(errno=int(number)) if number in NO_ROUTE | NO_RESOURCES:
            return os.strerror(number)
        case _:
            return str(err) or type(err).__name__


def parse_options(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("list", nargs="?", help="output of `robosieve due` (default: stdin)")
    parser.add_argument("--agent", required=True, help="User-Agent, with a URL or e-mail address")
    parser.add_argument("--connections", type=int, default=100, help="at most (default: 100)")
    parser.add_argument("--connect-limit", type=float, default=10, help="seconds (default: 10)")
    parser.add_argument("--time-limit", type=float, default=30, help="seconds (default: 30)")
    parser.add_argument(
        "--retry-limit", type=float, default=60,
        help="seconds of a Retry-After to wait for; longer ones are left to `due` (default: 60)",
    )  # fmt: skip
    parser.add_argument("--private", action="store_true", help="allow private addresses")
    options = parser.parse_args(arguments)
    if not ("://" in options.agent or "@" in options.agent) or not options.agent.isprintable():
        parser.error("--agent must name a contact: 'MyBot/1.0 (+https://example.com/bot)'")
    if options.connections < 1:
        parser.error("--connections must be 1 or more")
    return options


def allow_open_files(connections):
    """Raises the limit of open files, if the connections may need more."""
    try:
        import resource
    except ImportError:
        # Windows has no such limit.
        return
    # A connection, and a socket of the resolver, for each worker.
    needed = 2 * connections + 50
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise OwnFailure(
            f"{connections} connections may need {needed} open files, and the limit is {hard}; give "
            "fewer --connections, or raise the limit (ulimit -n)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


async def run_until_signal(fetcher, lines):
    """Fetches the list. Returns the signal that ended it early, or None."""
    received = []
    task = asyncio.ensure_future(fetcher.run(lines))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Not on Windows, where Ctrl-C raises KeyboardInterrupt.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(
                number, lambda number=number: (received.append(number), task.cancel())
            )
    try:
        await task
    except asyncio.CancelledError:
        return received[0] if received else signal.SIGINT
    return None


def leave(fetcher, status, number=None):
    """Ends the program, or ends it by a signal, so that a script that runs it ends too.

    A thread may still wait for a name or for the list, so the interpreter is not shut down. No line
    is cut: a second signal ends the program at once if writing one takes too long.
    """
    if number is not None:
        signal.signal(number, signal.SIG_DFL)
        print("fetch.py: interrupted; the records so far are complete", file=sys.stderr)
    with fetcher.writing:
        sys.stderr.flush()
        if number is not None:
            os.kill(os.getpid(), number)
        os._exit(status)


def main():
    options = parse_options()
    started = time.monotonic()
    try:
        allow_open_files(options.connections)
        lines = open(options.list, encoding="utf-8") if options.list else sys.stdin
        fetcher = Fetcher(options)
    except (OSError, OwnFailure) as err:
        sys.exit(f"fetch.py: {err}")
    error, ended_by = None, None
    try:
        ended_by = asyncio.run(run_until_signal(fetcher, lines))
    except (json.JSONDecodeError, KeyError, UnicodeDecodeError) as err:
        error = f"the list is not the output of `robosieve due`: {err}"
    except (OSError, OwnFailure) as err:
        error = str(err)
    except KeyboardInterrupt:
        ended_by = signal.SIGINT
    if error is not None:
        print(f"fetch.py: {error}", file=sys.stderr)
    counts = ", ".join(f"{status}: {n}" for status, n in sorted(fetcher.counts.items(), key=str))
    seconds = time.monotonic() - started
    requests = sum(fetcher.counts.values())
    print(f"{requests} requests in {seconds:.1f} s ({counts})", file=sys.stderr)
    for reason, number in fetcher.left_out.items():
        print(f"{urls(number)} without a record: {reason}", file=sys.stderr)
    leave(fetcher, 0 if error is None else 1, ended_by)


if __name__ == "__main__":
    main()
