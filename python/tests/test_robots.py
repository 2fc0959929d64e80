"""One robots.txt: the answers of the command, of a snapshot, and of the specification cases."""

from __future__ import annotations

import base64
import copy
import email.message
import gzip
import json
import multiprocessing
import pickle
import re
import subprocess
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest

import robosieve
from robosieve import Robots, Snapshot, Verdict
from robosieve._options import StatusPolicy

POLICIES = get_args(StatusPolicy)
CASES = Path(__file__).resolve().parents[2] / "tests" / "cases"
TEXT = """
User-agent: *
Disallow: /cart
Allow: /cart/help
Crawl-delay: 10
Content-Usage: train-ai=n
Sitemap: https://shop.example/s.xml

User-agent: GPTBot
User-agent: MJ12bot
Disallow: /
Crawl-delay: 0.5
"""


def cases(folder: str) -> list[dict[str, Any]]:
    """The specification cases of a folder of `tests/cases`."""
    tomllib = pytest.importorskip("tomllib")
    files = sorted((CASES / folder).glob("*.toml"))
    assert files
    return [case for file in files for case in tomllib.loads(file.read_text())["case"]]


def body_of(case: dict[str, Any]) -> bytes:
    if "robots_repeat" in case:
        return b"".join(part["text"].encode() * part["times"] for part in case["robots_repeat"])
    if "robots_base64" in case:
        return base64.b64decode(case["robots_base64"])
    return str(case["robots"]).encode()


def profiles_of(case: dict[str, Any]) -> list[Any]:
    return [case["profile"]] if "profile" in case else ["google", "rfc9309"]


@pytest.fixture
def robots() -> Robots:
    return Robots.parse(TEXT)


# Answers.


def test_answers(robots: Robots) -> None:
    assert not robots.allows("FooBot", "https://shop.example/cart/1")
    assert robots.allows("FooBot", "https://shop.example/cart/help") and robots.allows("FooBot", "/")
    assert not robots.allows("GPTBot", b"/") and not robots.allows("gptbot/1.2", "/")
    assert not robots.allows("Foo:GPTBot", "/") and not robots.allows("*", "/cart")
    assert [robots.crawl_delay("FooBot"), robots.crawl_delay("GPTBot")] == [10.0, 0.5]
    assert robots.sitemaps == ["https://shop.example/s.xml"] and robots.licenses == []
    licensed = Robots.parse("License: https://l.example/l.xml\nlicense: /m\nUser-agent: *\nlicense: /m")
    assert licensed.licenses == ["https://l.example/l.xml", "/m"]
    assert licensed.preferences("GPTBot")["license"] == ["https://l.example/l.xml"]
    assert (robots.profile, robots.reason) == ("google", "rules")
    assert repr(robots) == "<robosieve.Robots: 2 groups, 3 rules, profile google>"


def test_names_outside_the_alphabet(robots: Robots) -> None:
    for turn in range(20):
        assert not robots.allows("MJ12bot", "/")
        assert robots.allows("MJ12bot", "/", agent_match="google")
    assert robots.crawl_delay("MJ12bot", agent_match="google") == 10.0
    assert robots.verdicts("MJ12bot", ["/"], agent_match="google") == [1]


def test_specification_cases_give_the_answers_of_the_command(program: Path, tmp_path: Path) -> None:
    file, answers = tmp_path / "robots.txt", 0
    for case in cases("."):
        body, how = body_of(case), case.get("agent_match", "extended")
        file.write_bytes(body)
        urls = [*case.get("allow", []), *case.get("disallow", [])]
        expected = [url in case.get("allow", []) for url in urls]
        for profile in profiles_of(case):
            robots = Robots.parse(body, profile=profile)
            # Each URL by comparing rules, then by the compiled rules.
            for _ in range(12):
                found = [robots.allows(case["agent"], url, agent_match=how) for url in urls]
                assert found == expected, case["name"]
            assert robots.verdicts(case["agent"], urls, agent_match=how) == expected
            options = ["--robots", file, "--profile", profile, "-a", case["agent"], "--agent-match", how, "--json"]
            command = [program, "check", "-q", *options, "--explain=all", "--", *urls]
            run = subprocess.run(command, capture_output=True)
            for url, line in zip(urls, run.stdout.splitlines(), strict=True):
                wanted = json.loads(line)
                why = robots.explain(case["agent"], url, all_rules=True, agent_match=how)
                wanted["robots"]["file"] = None
                assert why.details == wanted, case["name"]
                assert "line" not in case or (why.line or 0) == case["line"]
                preferences = robots.preferences(case["agent"], url, agent_match=how)
                assert preferences == wanted["preferences"]
                answers += 1
    assert answers > 1000


def test_extension_cases() -> None:
    for case in cases("extensions"):
        for profile in ("google", "rfc9309"):
            robots = Robots.parse(body_of(case), profile=profile)
            delay = robots.crawl_delay(case.get("agent", "FooBot"), agent_match=case.get("agent_match", "extended"))
            assert delay == case.get("crawl_delay"), case["name"]
            assert robots.sitemaps == case.get("sitemaps", []), case["name"]


def test_preference_cases() -> None:
    letter = {"y": "y", "n": "n", "unknown": "-", None: "-"}
    for case in cases("preferences"):
        for profile in profiles_of(case):
            robots = Robots.parse(body_of(case), profile=profile)
            for expected in case["expect"]:
                how = case.get("agent_match", "extended")
                found = robots.preferences(case["agent"], expected["url"], agent_match=how)
                usage = letter[found["train-ai"]] + letter[found["search"]]
                assert usage == expected.get("usage", "--"), case["name"]


def test_lint_cases(program: Path) -> None:
    for case in cases("lint"):
        body = body_of(case)
        found = Robots.parse(body).lint()
        if "count" in case:
            assert len(found) == case["count"], case["name"]
        else:
            assert [f"{finding.line}:{finding.code}" for finding in found] == case["findings"], case["name"]
    run = subprocess.run([program, "lint", "--json", "-"], input=TEXT.encode(), capture_output=True)
    wanted = json.loads(run.stdout)
    assert [{"file": "-", **vars(finding)} for finding in Robots.parse(TEXT).lint()] == wanted


def test_snapshot_gives_the_same_answers(snapshot: Snapshot, urls: list[str]) -> None:
    answers = 0
    for url in urls:
        text = snapshot.robots_text(url)
        why = snapshot.explain(url, "GPTBot", all_rules=True)
        if text is None or why.reason != "rules":
            continue
        robots = Robots.parse(text)
        assert robots.allows("GPTBot", url) == why.verdict.allowed
        mine = robots.explain("GPTBot", url, all_rules=True)
        for key in ("path", "group", "rule", "losers", "preferences"):
            assert mine.details[key] == why.details[key]
        assert robots.sitemaps == snapshot.sitemaps(url)
        assert robots.crawl_delay("GPTBot") == snapshot.crawl_delay(url, "GPTBot")
        answers += 1
    assert answers > 100


# Bodies, URLs and agents.


def test_bodies_are_bytes_or_str() -> None:
    text = "User-agent: *\nDisallow: /\u00e4"
    for body in (text, text.encode(), "\ufeff" + text, text.encode("utf-8-sig")):
        assert not Robots.parse(body).allows("a", "/\u00e4/x"), body
    assert not Robots.parse("User-agent: *\nDisallow: /\udcff").allows("a", b"/\xff")
    assert Robots.parse(b"").allows("a", "/") and Robots.parse("").lint() == []
    for body in (None, 7, ["User-agent: *"], bytearray(b"x")):
        with pytest.raises(TypeError, match="the body of a robots.txt is bytes or str"):
            Robots.parse(body)  # type: ignore[arg-type]


def test_any_bytes_are_parsed() -> None:
    for body in (b"\xff\xfe\x00", b"PK\x03\x04", b"\0" * 100, bytes(range(256)) * 50, b"user-agent: *\ndisallow: /" * 30_000):
        robots = Robots.parse(body)
        robots.lint()
        assert robots.explain("a", "/").verdict.allowed == robots.allows("a", "/")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("shift", range(24))
def test_500_kib_count(program: Path, tmp_path: Path, shift: int, end: str) -> None:
    line = f"disallow: /0123456789{end}"
    body = (f"user-agent: *{end}" + "#" * shift + end + line * (512_000 // len(line) + 3)).encode()
    robots = Robots.parse(body)
    (tmp_path / "robots.txt").write_bytes(body)
    run = subprocess.run([program, "check", "--robots", tmp_path / "robots.txt", "-a", "a", "--json", "/0"], capture_output=True)
    wanted = json.loads(run.stdout)
    wanted["robots"]["file"] = None
    for parsed in (robots, pickle.loads(pickle.dumps(robots))):
        why = parsed.explain("a", "/0")
        assert why.details == wanted and why.details["robots"]["bytes"] == len(body)
    if shift < 3:
        run = subprocess.run([program, "lint", "--json", tmp_path / "robots.txt"], capture_output=True)
        found = [{"file": str(tmp_path / "robots.txt"), **vars(finding)} for finding in robots.lint()]
        assert found == json.loads(run.stdout)


def test_columns(robots: Robots) -> None:
    urls = ["/cart", None, "https://x.example/", b"/cart/help", "/cart\udcff"]
    assert robots.verdicts("FooBot", urls) == [0, None, 1, 1, 0]
    assert all(isinstance(verdict, (Verdict, type(None))) for verdict in robots.verdicts("FooBot", urls))
    assert robots.verdicts("FooBot", []) == [] and robots.verdicts("FooBot", iter(["/"])) == [1]
    for single in ("/cart", b"/cart"):
        with pytest.raises(TypeError, match=r"urls is a single (str|bytes); give a list, or ask allows\(agent, url\)"):
            robots.verdicts("FooBot", single)
    with pytest.raises(TypeError, match="row 1: int: a URL is str or bytes"):
        robots.verdicts("FooBot", ["/", 7])


#: Texts that are neither a URL with a scheme and a host nor a path that begins with a slash.
NEITHER = [
    "GPTBot", "x", "cart", "shop.example/cart", "mailto:a@shop.example", "data:,x", "?q", "#f", "file:///cart", "", " ",
    "http://:80/", "https:/cart",
]  # fmt: skip


@pytest.mark.parametrize("text", [*NEITHER, b"cart", " cart"])
def test_text_that_is_neither_a_url_nor_a_path(robots: Robots, text: Any) -> None:
    # A rule matches none of these, so they would all be allowed.
    everything = Robots.parse("User-agent: *\nDisallow: /")
    for method in (everything.allows, everything.explain, everything.preferences):
        order = rf"the agent comes first: {method.__name__}\(agent, url_or_path\)"
        with pytest.raises(ValueError, match=f"url_or_path={re.escape(repr(text))}: neither .* begins with /; {order}"):
            method("GPTBot", text)
    for _ in range(2):
        assert everything.verdicts("GPTBot", [text, "/cart", None, text]) == [3, 0, None, 3]
    # A URL in the place of the agent.
    for url in ("https://shop.example/cart", "/cart"):
        with pytest.raises(ValueError):
            everything.allows(url, "GPTBot")


def test_urls_and_paths_of_any_form() -> None:
    everything = Robots.parse("User-agent: *\nDisallow: /")
    for text in (
        "/", " /x", "//h/x", "http://h", "HTTPS://H/x", "svn+ssh://h/x", "http://[::1]/", "http://u@h?x",
    ):  # fmt: skip
        assert not everything.allows("GPTBot", text)
        assert everything.verdicts("GPTBot", [text]) == [0] == [everything.explain("GPTBot", text).verdict]


def test_arrow_columns(robots: Robots) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = ["/cart", None, "https://shop.example/cart/help/of/more/than/12/bytes", "/cart"] * 50
    expected = [0, None, 1, 0] * 50
    plain = pa.array(rows)
    columns = [
        plain,
        pa.array(rows, pa.large_string()),
        pa.array(rows, pa.string_view()),
        pa.array(rows, pa.binary()),
        plain.dictionary_encode(),
        pa.concat_arrays([plain, plain])[200:],
        pa.chunked_array([rows[:40], rows[40:]]),
    ]
    for column in columns:
        found = robots.verdicts("FooBot", column)
        assert found.type == pa.int8() and found.to_pylist() == expected, column.type
    assert robots.verdicts("FooBot", pa.nulls(3)).to_pylist() == [None] * 3


def test_bad_agents_and_options(robots: Robots) -> None:
    calls = (
        lambda agent, **options: robots.allows(agent, "/", **options),
        lambda agent, **options: robots.verdicts(agent, ["/"], **options),
        lambda agent, **options: robots.explain(agent, "/", **options),
        lambda agent, **options: robots.preferences(agent, **options),
        lambda agent, **options: robots.crawl_delay(agent, **options),
    )
    for call in calls:
        for agent in ("", " ", "a:", "@ai"):
            with pytest.raises(ValueError):
                call(agent)
        with pytest.raises(ValueError, match='agent="a,b": no name has a comma; ask about one agent at a time'):
            call("a,b")
        with pytest.raises(ValueError, match="this is a whole User-Agent header"):
            call("Mozilla/5.0 (compatible; FooBot/1.0)")
        with pytest.raises(ValueError, match='agent_match="x"; give one of "extended", "google"'):
            call("a", agent_match="x")
        with pytest.raises(TypeError):
            call(7)
    with pytest.raises(TypeError, match="int: a URL is str or bytes"):
        robots.allows("a", 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='profile="x"; give one of "google", "rfc9309"'):
        Robots.parse("", profile="x")  # type: ignore[arg-type]


def test_more_agents_than_are_remembered() -> None:
    names = [f"bot{'abcdefghijklmnopqrst'[number]}" for number in range(20)]
    robots = Robots.parse("".join(f"User-agent: {name}\nDisallow: /{name}\n" for name in names))
    for turn in range(15):
        for name in names[turn % 7 :]:
            assert not robots.allows(name, f"/{name}/1") and robots.allows(name, "/else")


# Pickles, processes and threads.


def test_pickles_and_copies(robots: Robots) -> None:
    robots.allows("GPTBot", "/")
    for again in (pickle.loads(pickle.dumps(robots)), copy.copy(robots), copy.deepcopy(robots)):
        assert again.arguments() == robots.arguments()
        assert not again.allows("GPTBot", "/") and again.sitemaps == robots.sitemaps
        assert type(again) is Robots
    strict = pickle.loads(pickle.dumps(Robots.from_response(503, profile="rfc9309")))
    assert (strict.reason, strict.profile) == ("server-error", "rfc9309")
    assert not strict.allows("a", "/") and strict.allows("a", "/robots.txt")


def _ask(robots: Robots) -> list[bool]:
    return [robots.allows("FooBot", path) for path in ("/cart", "/")]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(robots: Robots, method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_ask, [robots] * 4) == [[False, True]] * 4


def test_threads(robots: Robots) -> None:
    start = threading.Barrier(8)

    def work(worker: int) -> bool:
        start.wait()
        good = True
        for turn in range(400):
            agent = f"bot{'abcdefghijkl'[(worker + turn) % 12]}"
            good &= not robots.allows(agent, "/cart") and robots.allows(agent, "/x")
            good &= robots.verdicts(agent, ["/cart", "/"]) == [0, 1]
        return good

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_objects_leak_nothing() -> None:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("needs /proc")

    def resident() -> int:
        pages = statm.read_text().split()
        return (int(pages[1]) - int(pages[2])) * 4096

    def turn() -> None:
        for _ in range(50):
            robots = Robots.parse(TEXT * 50)
            for path in ["/cart"] * 12:
                robots.allows("GPTBot", path)
            robots.explain("GPTBot", "/cart")

    for _ in range(10):
        turn()
    before = resident()
    for _ in range(40):
        turn()
    assert resident() - before < 8 << 20


# Responses.


def test_responses_with_rules() -> None:
    for status in (200, 204, 206, 299):
        robots = Robots.from_response(status, b"User-agent: *\nDisallow: /x")
        assert robots.reason == "rules" and not robots.allows("a", "/x")
    assert Robots.from_response(200).allows("a", "/x")


def test_statuses_follow_the_policies() -> None:
    # Whether google, its editions 2012, 2019, 2023 and 2026, rfc9309 and strict allow.
    expected = {
        400: "AAAAAAA no-robots-txt",
        401: "AAAAAAD forbidden",
        403: "AAAAAAD forbidden",
        404: "AAAAAAA no-robots-txt",
        429: "DAADDAD server-error",
        500: "DDDDDDD server-error",
        None: "DDDDDDD unreachable",
        0: "DDDDDDD unreachable",
        199: "DDDDDDD unreachable",
        600: "DDDDDDD unreachable",
    }
    for status, expectation in expected.items():
        letters, reason = expectation.split()
        for policy, letter in zip(POLICIES, letters, strict=True):
            robots = Robots.from_response(status, b"User-agent: *\nDisallow: /x", status_policy=policy)
            assert robots.allows("a", "/y") == (letter == "A"), (status, policy)
            assert robots.reason == reason
            assert robots.sitemaps == [] and robots.lint() == [] and robots.crawl_delay("a") is None
            why = robots.explain("a", "/y", all_rules=True)
            assert (why.verdict.allowed, why.reason) == (letter == "A", reason)
            assert (why.rule, why.line, why.details["losers"], why.details["robots"]) == (None, None, [], None)
            assert repr(robots) == f"<robosieve.Robots: {reason}, profile google>"


def test_policy_of_the_profile() -> None:
    assert not Robots.from_response(429).allows("a", "/")
    rfc = Robots.from_response(429, profile="rfc9309")
    assert rfc.allows("a", "/")
    failing = Robots.from_response(500, profile="rfc9309")
    assert failing.allows("a", "/robots.txt") and not failing.allows("a", "/robots.txt?")
    assert not Robots.from_response(500).allows("a", "/robots.txt")


def test_compiled_responses_have_the_same_meaning(tmp_path: Path) -> None:
    statuses = [200, 204, 400, 401, 403, 404, 410, 429, 500, 503]
    compiler = robosieve.Compiler()
    for status in statuses:
        compiler.add_response(f"https://s{status}.example/robots.txt", status, b"User-agent: *\nDisallow: /x")
    compiler.write(tmp_path / "web.rsieve")
    snapshot = Snapshot(tmp_path / "web.rsieve")
    for status in statuses:
        for policy in POLICIES:
            robots = Robots.from_response(status, b"User-agent: *\nDisallow: /x", status_policy=policy)
            for path in ("/", "/x"):
                why = snapshot.explain(f"https://s{status}.example{path}", "a", status_policy=policy)
                assert robots.allows("a", path) == why.verdict.allowed, (status, policy)
                assert robots.reason == why.reason


def test_redirects_are_the_callers() -> None:
    for status in (301, 302, 307, 308):
        with pytest.raises(ValueError, match=f"status={status} is a redirect; follow it and pass the last response"):
            Robots.from_response(status)
    with pytest.raises(ValueError, match="status=304 confirms the robots.txt that you have"):
        Robots.from_response(304)
    for number in (-1, 1000, 1 << 40):
        with pytest.raises(ValueError, match=f"status={number}; give the status of the response, or None"):
            Robots.from_response(number)
    with pytest.raises(ValueError, match='status_policy="lax"; give one of "google", "google-2012"'):
        Robots.from_response(200, status_policy="lax")  # type: ignore[arg-type]


# "User-agent: *\nDisallow: /x" of the encoder of Google.
BROTLI = bytes.fromhex("8b0c80557365722d6167656e743a202a0a446973616c6c6f773a202f7803")


def test_content_codings() -> None:
    body = b"User-agent: *\nDisallow: /x"
    packed = gzip.compress(body)
    raw = zlib.compressobj(wbits=-15)
    deflated = raw.compress(body) + raw.flush()
    message = email.message.Message()
    message["Content-Encoding"] = "gzip"
    good: list[tuple[bytes, Any]] = [
        (packed, message),
        (body, None),
        (packed, {"Content-Encoding": "gzip"}),
        (packed, {b"content-encoding": [b"gzip"]}),
        (packed, [("CONTENT-ENCODING", "x-gzip"), ("Vary", "x")]),
        (gzip.compress(packed), [("Content-Encoding", "gzip"), ("Content-Encoding", "gzip")]),
        (zlib.compress(body), {"Content-Encoding": "deflate"}),
        (deflated, {"Content-Encoding": "deflate"}),
        # Clients decode the body and leave the headers.
        (body, {"Content-Encoding": "gzip", "Content-Length": str(len(packed))}),
        (body, {"Content-Encoding": "br", "Content-Length": "40"}),
        (BROTLI, {"Content-Encoding": "br"}),
        (body, {"Content-Range": f"bytes 0-{len(body) - 1}/{len(body)}"}),
        (body, {"Content-Encoding": "deflate", "Transfer-Encoding": "chunked"}),
        (body, {"Content-Length": str(len(body))}),
        (body, {"Content-Length": "x", "X": "\u2713"}),
    ]
    for sent, headers in good:
        robots = Robots.from_response(200, sent, headers)
        assert robots.reason == "rules" and not robots.allows("a", "/x") and robots.allows("a", "/"), headers
    text = Robots.from_response(200, body.decode(), {"Content-Length": "999", "Content-Encoding": "br"})
    assert text.reason == "rules"
    bad: list[tuple[bytes, Any]] = [
        (packed[:15], {"Content-Encoding": "gzip"}),
        (b"\x0b\x02\x80\x01", {"Content-Encoding": "br"}),
        (BROTLI[:-1], {"Content-Encoding": "br"}),
        (body, {"Content-Encoding": "br", "Content-Length": "999"}),
        (body, {"Content-Range": f"bytes 0-{len(body) - 1}/999"}),
        (body, {"Content-Length": str(len(body) + 1)}),
    ]
    for sent, headers in bad:
        robots = Robots.from_response(200, sent, headers)
        assert robots.reason == "unreachable" and not robots.allows("a", "/"), headers
    # The headers of other statuses do not count.
    assert Robots.from_response(404, b"", {"Content-Length": "9"}).reason == "no-robots-txt"


# Headers.


def test_product_tokens() -> None:
    token = robosieve.product_token
    assert token("Scrapy/2.13 (+https://scrapy.org)") == "Scrapy"
    assert token("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)") == "Googlebot"
    assert [token(""), token("*"), token("(x)")] == ["*"] * 3
    with pytest.raises(TypeError):
        token(b"x")  # type: ignore[arg-type]


def test_every_product_token_is_an_agent(robots: Robots) -> None:
    for code in [*range(0x250), 0x2028, 0x1F916]:
        for header in (chr(code), f"a{chr(code)}b/1", f"Mozilla/5.0 (compatible; {chr(code)}x)"):
            robots.allows(robosieve.product_token(header), "/")


def test_module_needs_no_library() -> None:
    code = "import sys, robosieve, robosieve.robotparser; print('scrapy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
