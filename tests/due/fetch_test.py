"""Tests of examples/fetch.py with a resolver and a network of their own, run by tests/due/crawl.rs.

No clock decides a test: what must happen first is waited for, and every wait has a bound.
"""

import asyncio
import errno
import importlib.util
import io
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import unittest
from unittest import mock

PATH = pathlib.Path(__file__).parents[2] / "examples/fetch.py"
SPEC = importlib.util.spec_from_file_location("fetch", PATH)
fetch = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fetch)

AGENT = "TestBot/1.0 (+https://bot.example/)"
# The bound of each wait, in seconds. A test that needs it fails.
BOUND = 60
OK = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n"
LAME = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


def reader_of(text):
    reader = asyncio.StreamReader()
    reader.feed_data(text.encode())
    reader.feed_eof()
    return reader


class Web(fetch.Fetcher):
    """A fetcher with a network of its own. `names` has the addresses of each host, or an error, or a
    function that returns them. `sites` has the answers of each address, one per connection; the last
    one is repeated. An answer is a text or an error."""

    def __init__(self, names, sites, *arguments):
        options = fetch.parse_options(["--agent", AGENT, *arguments])
        super().__init__(options, io.StringIO())
        self.names, self.sites = names, sites
        self.resolved, self.connected_to, self.requests, self.slept = [], [], [], []

    def resolve(self, host, port):
        self.resolved.append(host)
        found = self.names[host]
        if callable(found):
            found = found()
        if isinstance(found, Exception):
            raise found
        return found

    async def connect(self, address, port, tls, host):
        self.connected_to.append(address)
        answers = self.sites.get(address, [ConnectionRefusedError()])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        writer = mock.MagicMock()
        writer.drain = mock.AsyncMock()
        writer.write = lambda request: self.requests.append((address, request.decode()))
        return reader_of(answer), writer

    async def sleep(self, seconds):
        self.slept.append(seconds)

    def fetch(self, *urls):
        """Fetches URLs, and returns the records by URL."""
        lines = io.StringIO("".join(f"{url}\n" for url in urls))
        return self.fetch_lines(lines)

    def fetch_lines(self, lines):
        async def bounded():
            # The pool that asyncio shares has few threads: no call may wait for it.
            loop = asyncio.get_running_loop()
            loop.run_in_executor = mock.Mock(side_effect=AssertionError("the pool of asyncio"))
            await asyncio.wait_for(self.run(lines), BOUND)

        asyncio.run(bounded())
        return self.records()

    def records(self):
        records = [json.loads(line) for line in self.output.getvalue().splitlines()]
        # A capture without a time is older than every other one.
        assert all("fetched_at" in record for record in records), records
        return {record["url"]: record for record in records}


def robots(*hosts):
    return [f"http://{host}/robots.txt" for host in hosts]


class Threads(unittest.TestCase):
    def test_slow_names_change_no_other_record(self):
        """Nineteen of twenty workers wait for a name. The other one fetches all other hosts."""
        slow = [f"slow{number}.example" for number in range(19)]
        good = [f"good{number}.example" for number in range(60)]
        done = threading.Event()

        def lame():
            assert done.wait(BOUND), "the records of the other hosts"
            return LAME

        names = {**dict.fromkeys(slow, lame), **dict.fromkeys(good, ["8.8.8.8"])}
        web = Web(names, {"8.8.8.8": [OK]}, "--connections", "20", "--connect-limit", "1e-3")
        write_line = web.write_line

        def write(line):
            write_line(line)
            if len(web.records()) == len(good):
                done.set()

        web.write_line = write
        records = web.fetch(*robots(*slow, *good))
        for url in robots(*good):
            self.assertEqual(records[url].get("status"), 200, records[url])
        for url in robots(*slow):
            self.assertEqual(records[url]["error"], "dns: Temporary failure in name resolution")

    def test_a_slow_list_delays_no_request(self):
        """The second line comes after the record of the first URL."""
        first, second = robots("a.example", "b.example")
        written = threading.Event()

        class Lines:
            given = iter([first, second])

            def readline(self):
                line = next(self.given, "")
                assert line == first or written.wait(BOUND), "the record of the first URL"
                return line and line + "\n"

        web = Web({"a.example": ["8.8.8.8"], "b.example": ["8.8.8.8"]}, {"8.8.8.8": [OK]})
        write_line = web.write_line
        web.write_line = lambda line: (write_line(line), written.set())
        self.assertEqual(set(web.fetch_lines(Lines())), {first, second})


class OwnFailures(unittest.TestCase):
    def fails(self, web, urls, words):
        with self.assertRaisesRegex(fetch.OwnFailure, words):
            web.fetch(*urls)
        return web.records()

    def test_a_machine_without_a_network_records_nothing(self):
        for number in (3, 500):
            hosts = [f"{site}.example" for site in range(number)]
            for names, sites in [
                (dict.fromkeys(hosts, LAME), {}),
                (dict.fromkeys(hosts, ["8.8.8.8"]), {"8.8.8.8": [OSError(errno.ENETUNREACH, "")]}),
            ]:
                records = self.fails(Web(names, sites), robots(*hosts), "is there a network")
                self.assertEqual(records, {})
        # It does not read the whole list for that.
        hosts = [f"{site}.example" for site in range(2 * fetch.MAX_HELD_AT_FIRST)]
        web = Web(dict.fromkeys(hosts, LAME), {})
        self.assertEqual(self.fails(web, robots(*hosts), "no name can be resolved"), {})
        self.assertLess(len(web.resolved), len(hosts) - 1000)

    def test_a_network_that_is_lost_ends_the_run(self):
        """The first hosts answer. From then on neither names nor addresses are reached."""
        hosts = [f"{site}.example" for site in range(500)]
        names = {host: ["8.8.8.8"] if site < 9 else LAME for site, host in enumerate(hosts)}
        sites = {"8.8.8.8": [*[OK] * 9, OSError(errno.ENETUNREACH, "")]}
        web = Web(names, sites, "--connections", "1")
        records = self.fails(web, robots(*hosts), "no name can be resolved")
        self.assertEqual(set(records), set(robots(*hosts[:9])))
        self.assertLess(len(web.resolved), 9 + 2 * fetch.MAX_HELD)

    def test_a_resolver_that_is_lost_ends_the_run(self):
        """Addresses are still reached, but no name is resolved, also not of a host that answered."""
        hosts = [f"{site}.example" for site in range(500)]
        sites = {"8.8.8.8": [OK], "9.9.9.9": [OK]}
        web = Web({"9.9.9.9": ["9.9.9.9"]}, sites, "--connections", "1")
        web.names.update(
            dict.fromkeys(hosts, lambda: ["8.8.8.8"] if len(web.resolved) <= 9 else LAME)
        )
        urls = robots(*hosts)
        urls.insert(20, "http://9.9.9.9/robots.txt")
        records = self.fails(web, urls, "no name can be resolved, such as .*Temporary failure")
        self.assertEqual(set(records), {*robots(*hosts[:9]), "http://9.9.9.9/robots.txt"})

    def test_an_unreachable_address_is_recorded_with_a_network(self):
        sites = {"8.8.8.8": [OK], "9.9.9.9": [OSError(errno.EHOSTUNREACH, "")]}
        names = {"8.8.8.8": ["8.8.8.8"], "9.9.9.9": ["9.9.9.9"]}
        for hosts in (list(names), list(reversed(names))):
            records = Web(names, sites, "--connections", "1").fetch(*robots(*hosts))
            self.assertEqual(records["http://9.9.9.9/robots.txt"]["error"], "No route to host")

    def test_a_lack_of_certificates_is_no_record(self):
        paths = mock.Mock(cafile=None, capath=None)
        with (
            mock.patch("ssl.get_default_verify_paths", return_value=paths),
            mock.patch("ssl.create_default_context") as context,
        ):
            context.return_value.cert_store_stats.return_value = {"x509_ca": 0}
            web = Web({"a.example": ["8.8.8.8"]}, {"8.8.8.8": [OK]})
            self.assertEqual(self.fails(web, ["https://a.example/robots.txt"], "install them"), {})

    def test_names_of_lame_servers_are_recorded_with_a_network(self):
        hosts = [f"{site}.example" for site in range(200)]
        names = {"first.example": ["8.8.8.8"], **dict.fromkeys(hosts, LAME)}
        records = Web(names, {"8.8.8.8": [OK]}, "--connections", "1").fetch(
            *robots("first.example", *hosts)
        )
        self.assertEqual(len(records), 201)

    def test_missing_names_are_answers(self):
        missing = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        [record] = Web({"a.example": missing}, {}).fetch(*robots("a.example")).values()
        self.assertEqual(record["error"], "dns: Name or service not known")

    def test_a_lack_of_files_is_no_record(self):
        names = {"a.example": ["8.8.8.8"], "b.example": ["9.9.9.9"]}
        for number in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS):
            sites = {"8.8.8.8": [OK], "9.9.9.9": [OSError(number, os.strerror(number))]}
            records = self.fails(
                Web(names, sites, "--connections", "1"), robots(*names), "--connections"
            )
            self.assertEqual(list(records), robots("a.example"))

    def test_a_failing_resolver_is_no_record(self):
        for number in (socket.EAI_SYSTEM, socket.EAI_MEMORY):
            web = Web(
                {"a.example": socket.gaierror(number, "System error"), "b.example": ["8.8.8.8"]},
                {"8.8.8.8": [OK]},
            )
            self.assertEqual(
                list(web.fetch(*robots("a.example", "b.example"))), robots("b.example")
            )
            self.assertEqual(web.left_out["the resolver of this machine failed"], 1)

    def test_a_lack_of_threads_is_no_record(self):
        with mock.patch(
            "threading.Thread.start", side_effect=RuntimeError("can't start new thread")
        ):
            with self.assertRaisesRegex(
                fetch.OwnFailure, "can't start new thread; give fewer --connections"
            ):
                Web({}, {})


PRIVATE = """
    0.0.0.0 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.8.8.8 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.1 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
    240.0.0.1 255.255.255.255 168.63.129.16 :: ::1 ::10.0.0.1 ::8.8.8.8 ::ffff:10.0.0.1
    ::ffff:169.254.169.254 64:ff9b::a00:1 64:ff9b::7f00:1 64:ff9b:1::808:808 100::1 2001::1
    2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101::1
    2a00::5efe:10.0.0.1 2a00::200:5efe:127.0.0.1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1
    fe80::1%eth0 fec0::1 ff02::1
""".split()
PUBLIC = """
    8.8.8.8 172.32.0.1 192.0.1.1 2606:4700::1111 2001:4860:4860::8888 64:ff9b::808:808
    2002:808:808::1 ::ffff:8.8.8.8 2a00::5efe:8.8.8.8
""".split()


class PrivateAddresses(unittest.TestCase):
    def test_addresses_are_told_apart(self):
        self.assertEqual([address for address in PRIVATE if fetch.is_public(address)], [])
        self.assertEqual([address for address in PUBLIC if not fetch.is_public(address)], [])

    def test_private_addresses_get_no_connection(self):
        names = {f"{number}.example": [address] for number, address in enumerate(PRIVATE)}
        web = Web(names, {})
        for record in web.fetch(*robots(*names)).values():
            self.assertEqual(record["error"], "private address")
        self.assertEqual(web.connected_to, [])

    def test_a_name_with_both_is_reached_by_its_public_address(self):
        web = Web({"a.example": ["10.0.0.1", "8.8.8.8"]}, {"8.8.8.8": [OK]})
        [record] = web.fetch(*robots("a.example")).values()
        self.assertEqual((record["status"], web.connected_to), (200, ["8.8.8.8"]))

    def test_redirects_lead_to_no_private_address(self):
        moved = "HTTP/1.1 301 Moved\r\nLocation: {}\r\n\r\n"
        for target in (
            "http://intern.example/robots.txt",
            "http://[64:ff9b::a00:1]/latest/meta-data",
        ):
            names = {
                "a.example": ["8.8.8.8"],
                "intern.example": ["10.0.0.1"],
                "64:ff9b::a00:1": ["64:ff9b::a00:1"],
            }
            web = Web(names, {"8.8.8.8": [moved.format(target)]})
            records = web.fetch(*robots("a.example"))
            self.assertEqual(records[target]["error"], "private address")
            self.assertEqual(web.connected_to, ["8.8.8.8"])

    def test_a_name_that_changes_is_reached_by_the_address_that_was_checked(self):
        answers = iter([["8.8.8.8"], ["127.0.0.1"]])
        web = Web({"a.example": lambda: next(answers)}, {"8.8.8.8": [OK]})
        web.fetch(*robots("a.example"))
        self.assertEqual((web.resolved, web.connected_to), (["a.example"], ["8.8.8.8"]))
        # The connection itself is to the address, and not to the name.
        with mock.patch("asyncio.open_connection", mock.AsyncMock()) as opened:
            asyncio.run(fetch.Fetcher.connect("8.8.8.8", 443, "tls", "a.example"))
        opened.assert_called_once_with("8.8.8.8", 443, ssl="tls", server_hostname="a.example")


class RetryAfter(unittest.TestCase):
    def web(self, *answers):
        return Web({"a.example": ["8.8.8.8"]}, {"8.8.8.8": list(answers)}, "--connections", "1")

    def test_a_short_wait_ends_with_an_answer(self):
        for status in (429, 503):
            web = self.web(f"HTTP/1.1 {status} Busy\r\nRetry-After: 7\r\n\r\n", OK)
            [record] = web.fetch(*robots("a.example")).values()
            self.assertEqual((record["status"], web.slept, len(web.requests)), (200, [7.0], 2))

    def test_a_host_is_asked_again_once(self):
        web = self.web("HTTP/1.1 429 Busy\r\nRetry-After: 7\r\n\r\n")
        records = web.fetch("http://a.example/robots.txt", "http://a.example:80/robots.txt")
        self.assertEqual((len(records), web.slept, len(web.requests)), (1, [7.0], 2))
        [record] = records.values()
        self.assertEqual((record["status"], record["headers"]["retry-after"]), (429, "7"))
        self.assertEqual(sum(web.left_out.values()), 1)

    def test_long_waits_are_left_to_due(self):
        date = "Fri, 31 Dec 9999 23:59:59 GMT"
        for value in ("61", "9" * 5000, date):
            web = self.web(f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\n\r\n")
            records = web.fetch("http://a.example/robots.txt", "https://a.example/robots.txt")
            self.assertEqual((list(records), web.slept), (robots("a.example"), []))
            # Another port may be another server.
            self.assertEqual(len(web.fetch("http://a.example:8080/robots.txt")), 2)

    def test_other_answers_wait_for_nothing(self):
        for head in (
            "200 OK\r\nRetry-After: 9",
            "429 Busy",
            "429 Busy\r\nRetry-After: soon",
            "503 Busy\r\nRetry-After: -1",
        ):
            web = self.web(f"HTTP/1.1 {head}\r\n\r\n")
            self.assertEqual((len(web.fetch(*robots("a.example"))), web.slept), (1, []))
        past = self.web(
            "HTTP/1.1 503 Busy\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n", OK
        )
        past.fetch(*robots("a.example"))
        self.assertEqual(past.slept, [0.0])


class Ends(unittest.TestCase):
    """The list has no end, so a thread waits for its next line."""

    def ends(self, command, urls, signal_number=None, sockets=()):
        """The exit status, the output and the messages of a run. A signal follows the first record."""
        reading, writing = os.pipe()
        with subprocess.Popen(
            [sys.executable, *command, "--agent", AGENT, "--private", "--time-limit", str(10 * BOUND)],
            stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            os.close(reading)
            os.write(writing, "".join(f"{url}\n" for url in urls).encode())
            for one in sockets:
                one.settimeout(BOUND)
                connection, _ = one.accept()
                connection.recv(1 << 16)
                connection.sendall(OK.encode())
                connection.close()
            first = process.stdout.readline() if signal_number is not None else ""
            if signal_number is not None:
                process.send_signal(signal_number)
            out, err = process.communicate(timeout=BOUND)
        os.close(writing)
        self.assertNotIn("Traceback", err)
        self.assertNotIn("Fatal", err)
        return process.returncode, first + out, err

    @unittest.skipIf(os.name == "nt", "no signals")
    def test_an_interrupted_run_ends_with_whole_lines(self):
        """One server answers, the other never does."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with (
                socket.create_server(("127.0.0.1", 0)) as silent,
                socket.create_server(("127.0.0.1", 0)) as good,
            ):
                urls = [
                    f"http://127.0.0.1:{one.getsockname()[1]}/robots.txt" for one in (good, silent)
                ]
                code, out, err = self.ends([PATH], urls, number, [good])
            self.assertEqual(code, -number, err)
            self.assertEqual([json.loads(line)["status"] for line in out.splitlines()], [200])
            self.assertIn("interrupted; the records so far are complete", err)

    def test_a_failure_of_the_machine_is_the_exit_status(self):
        program = """if True:
            import importlib.util, socket, sys
            spec = importlib.util.spec_from_file_location("fetch", sys.argv.pop(1))
            fetch = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(fetch)
            def resolve(host, port):
                raise socket.gaierror(socket.EAI_AGAIN, "no answer")
            fetch.Fetcher.resolve = staticmethod(resolve)
            fetch.MAX_HELD_AT_FIRST = 1
            fetch.main()
        """
        code, out, err = self.ends(["-c", program, PATH], robots("a.example"))
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn("fetch.py: no name can be resolved, such as a.example (dns: no answer)", err)
        self.assertIn("1 URL without a record", err)


if __name__ == "__main__":
    unittest.main()
