"""The questions: robots.txt files with agents and URLs, by category.

All of them follow from a seed and from the files of `real`, and `digest` tells whether two runs asked
the same. The answers that are expected are not here: Google's parser gives them, see `scores.py`.
"""

import base64
import dataclasses
import hashlib
import json
import pathlib
import random
import re
import tomllib

from . import hostile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORIGIN = "http://example.com"
# The agents that real files are asked about, besides one that the file names.
AGENTS = ["Googlebot", "GPTBot", "bingbot", "CCBot", "ClaudeBot", "AhrefsBot", "FooBot", "Twitterbot", "MJ12bot", "*"]
URLS_PER_FILE = 7
# Paths that most sites have, for files without rules.
USUAL_PATHS = ["/", "/index.html", "/robots.txt", "/search?q=1", "/admin/", "/wp-admin/", "/images/a.png", "/a/b/c.html"]
# Bytes that may stand in a URL of the normal form (RFC 3986 §2).
NOT_NORMAL = re.compile(rb"%[0-9a-fA-F]{2}|[^!#$&'()*+,/:;=?@\[\]~0-9A-Za-z._-]")


@dataclasses.dataclass(frozen=True)
class Item:
    """A robots.txt, and the URLs that each agent is asked about."""

    category: str
    body: bytes
    agents: tuple
    urls: tuple

    def question(self, **options):
        """The question in the form of the protocol. `repeat` and `keep` are its options."""
        return {
            "robots": base64.b64encode(self.body).decode(),
            "agents": list(self.agents),
            "urls": list(self.urls),
            **options,
        }


@dataclasses.dataclass(frozen=True)
class Category:
    """`clause` is the text that decides the answers, or None if Google's code alone does."""

    name: str
    clause: str | None
    about: str


CATEGORIES = [
    Category("real files", "RFC 9309 §2", "robots.txt files of sites, with URLs derived from their rules"),
    Category("Google's suite", "RFC 9309, and Google's documentation", "robots_test.cc of Google's parser"),
    Category("Protego's suite", None, "tests of Protego, answered by Google's parser"),
    Category("crawler-commons' suite", None, "tests of crawler-commons, answered by Google's parser"),
    Category("cases of robosieve", None, "tests/cases of this repository"),
    *(Category(name, clause, about) for name, (clause, about, _) in hostile.CATEGORIES.items()),
    Category("raw URLs", None, "the questions of real files with URLs as browsers do not send them"),
    Category("standing still", "RFC 9309 §5", "small files that take some parsers minutes"),
]


def normal_form(path):
    """The path as a browser sends it: other bytes are escaped, escapes are in upper case."""
    escape = lambda found: found[0].upper() if len(found[0]) == 3 else b"%%%02X" % found[0][0]  # noqa: E731
    return NOT_NORMAL.sub(escape, path).decode()


def is_normal(path):
    """Whether the path is in normal form, with whole escapes."""
    return all(len(found[0]) == 3 and found[0] == found[0].upper() for found in NOT_NORMAL.finditer(path))


def real(rng, files):
    """Questions about each file: for an agent that it names and one that it may not name, about paths
    that its rules match or nearly match, and paths that sites have."""
    for file in files:
        body = file.read_bytes()[:500_000]
        fields = re.findall(rb"(?im)^[ \t]*(user-agent|allow|disallow)[ \t]*:[ \t]*([^#\r\n]*)", body)
        names = [value.strip().decode("ascii", "replace") for key, value in fields if key.lower() == b"user-agent"]
        names = sorted({name for name in names if re.fullmatch("[A-Za-z0-9_-]+", name)})
        rules = [value.strip() for key, value in fields if key.lower() != b"user-agent" and value.strip()]
        agents = dict.fromkeys([rng.choice(names or AGENTS), rng.choice(AGENTS)])
        paths = dict.fromkeys(path_near(rng, rng.choice(rules)) for _ in range(URLS_PER_FILE - 2)) if rules else {}
        paths |= dict.fromkeys(rng.sample(USUAL_PATHS, 2 if rules else URLS_PER_FILE))
        yield Item("real files", body, tuple(agents), tuple(ORIGIN + normal_form(path.encode() if isinstance(path, str) else path) for path in paths))


def path_near(rng, rule):
    """A path that a rule matches, or one that it nearly matches."""
    path = rule.removesuffix(b"$") if rng.random() < 0.8 else rule
    path = b"".join(rng.choice([b"", b"x", b"a/b", b"index"]) if part == b"*" else part for part in re.split(rb"(\*)", path))
    change = rng.random()
    if change < 0.35:
        path += rng.choice([b"x", b"/", b"/a", b"?q=1", b".html", b"/index.php?id=7&x=y"])
    elif change < 0.5:
        path = path[: rng.randrange(len(path) + 1)]
    elif change < 0.56:
        path = path.swapcase()
    return path if path.startswith(b"/") else b"/" + path.lstrip(b"/")


def suite(name):
    """The questions of a test suite: one JSON line per question, after a first line about its origin."""
    file = ROOT / "suites" / f"{name}.jsonl"
    _, *lines = file.read_text().splitlines()
    for line in lines:
        fact = json.loads(line)
        body = base64.b64decode(fact["robots_base64"]) if "robots_base64" in fact else fact["robots"].encode()
        yield body, fact["agent"], path_of(fact["url"])


def path_of(url):
    """Path, query and fragment of a URL."""
    return re.sub(r"^[a-z]+://[^/?#]*", "", url) or "/"


def own_cases():
    """The cases of this repository that hold in Google's profile, with their robots.txt."""
    for file in sorted((ROOT.parent / "tests" / "cases").glob("*.toml")):
        for case in tomllib.loads(file.read_text())["case"]:
            is_short = "robots" in case or "robots_base64" in case
            if not is_short or case.get("profile") == "rfc9309" or not re.fullmatch(r"[\w*-]+", case["agent"]):
                continue
            yield case, base64.b64decode(case["robots_base64"]) if "robots_base64" in case else case["robots"].encode()


def cases():
    """The questions of these cases."""
    for case, body in own_cases():
        for url in case.get("allow", []) + case.get("disallow", []):
            yield body, case["agent"], path_of(url)


def grouped(category, questions):
    """One item per robots.txt and agent."""
    items = {}
    for body, agent, path in questions:
        url = ORIGIN + normal_form(path.encode())
        items.setdefault((body, agent), {})[url] = None
    return [Item(category, body, (agent,), tuple(urls)) for (body, agent), urls in items.items()]


def raw(rng, items):
    """Questions about real files with URLs that are not in normal form: escapes in lower case, escaped
    letters, bytes that are not escaped."""
    for item in rng.sample(items, min(400, len(items))):
        urls = []
        for url in item.urls:
            path = url.removeprefix(ORIGIN)
            change = rng.choice(["lower", "letter", "text", "slash"])
            if change == "lower":
                path = re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), path) + "%c3%a4"
            elif change == "letter" and len(path) > 1:
                at = rng.randrange(1, len(path))
                path = f"{path[:at]}%{ord(path[at]):02X}{path[at + 1:]}" if path[at].isalpha() else path
            elif change == "text":
                path += "ä"
            else:
                path = path.replace("/", "//", 1)
            urls.append(ORIGIN + path)
        yield Item("raw URLs", item.body, item.agents, tuple(dict.fromkeys(urls)))


def all_items(seed, files):
    """All questions, in an order that depends on the seed only."""
    rng = random.Random(seed)
    items = list(real(rng, files))
    items += raw(rng, list(items))
    for name, category in [("google", "Google's suite"), ("protego", "Protego's suite"), ("crawler-commons", "crawler-commons' suite")]:
        items += grouped(category, suite(name))
    items += grouped("cases of robosieve", cases())
    for category in hostile.CATEGORIES:
        # Each category draws on its own, so a change of one leaves the others as they are.
        items += grouped(category, hostile.questions(random.Random(f"{seed} {category}"), category))
    items += [Item("standing still", *question) for question in hostile.standing_still()]
    return items


def digest(items):
    """The SHA-256 of all questions."""
    found = hashlib.sha256()
    for item in items:
        found.update(json.dumps([item.category, item.question()]).encode())
    return found.hexdigest()
