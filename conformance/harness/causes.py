"""Names the cause of a difference by its smallest question.

Nothing can be left out of a shrunk file without losing the difference, so what is in it is needed for the
difference. The first row of CAUSES whose test is true gives the name.
"""

import dataclasses
import difflib
import re

from .questions import ORIGIN, is_normal

KEYS = {"user-agent", "allow", "disallow"}


@dataclasses.dataclass
class Small:
    """A shrunk question, with its lines as key and value."""

    body: bytes
    agent: str
    path: str
    expected: str
    found: str
    text: str
    fields: list  # [key in lower case, value] of lines with a colon
    agents: list  # values of user-agent lines
    rules: list  # values of allow and disallow lines


def read(difference):
    body = difference.item.body
    text = body.decode("utf-8", "replace")
    lines = [line.split("#")[0] for line in re.split("[\r\n]+", text)]
    fields = [[part.strip() for part in line.split(":", 1)] for line in lines if ":" in line]
    fields = [[key.lower().lstrip("\ufeff"), value] for key, value in fields]
    return Small(
        body, difference.agent, difference.url.removeprefix(ORIGIN) or "/", difference.expected, difference.found, text, fields,
        [value for key, value in fields if key == "user-agent"],
        [value for key, value in fields if key in ("allow", "disallow")],
    )


def is_utf8(body):
    try:
        body.decode()
        return True
    except UnicodeDecodeError:
        return False


def without_colon(small):
    return any(re.match(r"(?i)\s*(user|allow|di)[a-z-]*[ \t]+[^:\s]+\s*$", line) for line in re.split("[\r\n]+", small.text))


def odd_key(small):
    return any(key not in KEYS and difflib.get_close_matches(key, KEYS, cutoff=0.65) for key, _ in small.fields)


def names_alike(small):
    """A name is a part of the agent's, or contains it."""
    agent, names = small.agent.lower(), [value.lower() for value in small.agents]
    return any(name not in (agent, "*", "") and (agent in name or name.split("/")[0].strip() in agent) for name in names)


def odd_name(small):
    return any(not re.fullmatch("[a-zA-Z_-]+|\\*", value) for value in small.agents) or not re.fullmatch("[a-zA-Z_-]+|\\*", small.agent)


def interrupted(small):
    """Something stands between a user-agent line and the next line that matters."""
    return bool(re.search(r"(?i)user-agent[^\r\n]*(\r?\n[ \t]*){2,}\S", small.text)) or any(
        key not in KEYS for key, _ in small.fields
    )


CAUSES = [
    ("no answer: the process died", lambda small: small.found == "X"),
    ("no answer: too slow", lambda small: small.found == "T"),
    ("no answer: an error of the library", lambda small: small.found == "E"),
    ("a URL that is not in normal form", lambda small: not is_normal(small.path.encode())),
    ("a long file", lambda small: len(small.body) > 20_000),
    ("byte order mark", lambda small: small.body[:1] == b"\xef" or small.body[:2] in (b"\xfe\xff", b"\xff\xfe")),
    ("control bytes", lambda small: re.search(rb"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]", small.body)),
    ("bytes that are not UTF-8", lambda small: not is_utf8(small.body)),
    ("a URL without a path", lambda small: small.path[0] != "/"),
    ("percent-encoding of rules and URLs", lambda small: "%" in small.text or "%" in small.path),
    ("characters outside ASCII", lambda small: not small.text.isascii() or not small.path.isascii()),
    ("a missing colon, which Google's code supplies", without_colon),
    ("line ends (CR alone)", lambda small: re.search(rb"\r(?!\n)", small.body)),
    ("misspelled keys, some of which Google's code accepts", odd_key),
    ("`$` that is not at the end, or an escaped one", lambda small: any("$" in rule[:-1] for rule in small.rules)),
    ("`$` anchors the end of the path", lambda small: any(rule.endswith("$") for rule in small.rules)),
    ("`index.html`, which stands for its directory", lambda small: any("/index.htm" in rule for rule in small.rules)),
    ("a rule that begins with `*`", lambda small: any(rule.startswith("*") for rule in small.rules)),
    ("`*` in a rule", lambda small: any("*" in rule for rule in small.rules)),
    ("a rule without a leading slash", lambda small: any(rule and rule[0] not in "/*" for rule in small.rules)),
    ("`/robots.txt`, which the RFC always allows", lambda small: small.path == "/robots.txt" and "/robots.txt" not in small.rules),
    ("names that are not a product token", odd_name),
    ("names that contain one another", names_alike),
    ("a group that is interrupted by a blank or another line", interrupted),
    ("several groups of an agent are merged", lambda small: len(small.agents) != len({name.lower() for name in small.agents})),
    ("the agent's own group replaces the global one", lambda small: len(small.agents) > 1),
    ("rules before the first user-agent line", lambda small: small.rules and not small.agents),
    ("a comment", lambda small: "#" in small.text),
    ("an empty rule", lambda small: "" in small.rules),
    ("an equal allow rule wins", lambda small: len(small.rules) > 1 and len({len(rule) for rule in small.rules}) == 1),
    ("the longest rule wins", lambda small: len(small.rules) > 1),
    ("dot segments in a path", lambda small: re.search(r"/\.{1,2}(/|$)", small.path)),
    ("the query of a URL", lambda small: "?" in small.path),
    ("parameters after `;`", lambda small: ";" in small.path or any(";" in rule for rule in small.rules)),
    ("`//` in a path", lambda small: "//" in small.path or any("//" in rule for rule in small.rules)),
    ("paths compare with case", lambda small: any(small.path.lower().startswith(rule.lower()) and not small.path.startswith(rule) for rule in small.rules)),
    ("the agent `*`", lambda small: small.agent == "*"),
    ("white space around keys or values", lambda small: re.search(r"(?m)^[ \t]|[ \t]:|[ \t]\r?$|:[ \t]{2}", small.text)),
    ("white space in a rule", lambda small: any(re.search(r"\s", rule) for rule in small.rules)),
    ("a line that is no field", lambda small: any(line.strip() and ":" not in line for line in re.split("[\r\n]+", small.text))),
    ("a group that names the agent", lambda small: small.agent != "*" and small.agent.lower() in [name.lower() for name in small.agents]),
    ("a dot or another special character of regular expressions", lambda small: any(re.search(r"[.+()\[\]|^{}\\?!]", rule) for rule in small.rules)),
]


def cause(difference):
    """The name of the cause. A file that has nothing of the list is plain."""
    small = read(difference)
    return next((name for name, applies in CAUSES if applies(small)), "a plain rule")
