"""Shrinks a question that a parser answers differently."""

import base64
import dataclasses
import re

from campaigns.shrinking import smallest

from .questions import ORIGIN, is_normal

# Probes for the lines of a file, and as many for what is in them. The best so far is the result when they
# are used up.
PROBES = 400
ESCAPE = re.compile(rb"%[0-9a-fA-F]{2}")
LINE_END = re.compile(rb"\r\n?|\n")
# The value of a line, without the line end.
VALUE = re.compile(rb"[^\r\n]+")


def shrink(difference, reference, parser):
    """A smaller question with the same two answers. Questions without an answer stay as they are.

    What a difference does not need goes: lines of the file, bytes of the URL and of rules, and what a
    plainer text can stand for, such as a rule for `/`, the name `FooBot`, or a line feed. A file with
    groups keeps one, because rules without a group are a difference of their own."""
    if difference.found in "XT":
        return difference
    probes = 0

    def ask(running, body, agent, url):
        question = {"robots": base64.b64encode(body).decode(), "agents": [agent], "urls": [url]}
        return running.ask(question, 2)[0]

    def differs(body, agent, path):
        nonlocal probes
        probes += 1
        if probes > PROBES or has_group(body) != has_group(difference.item.body):
            return False
        url = ORIGIN + path.decode()
        # Google's parser is asked second: most probes end with the first.
        return (
            ask(parser, body, agent, url) == difference.found
            and ask(reference, body, agent, url) == difference.expected
        )

    body, agent = difference.item.body, difference.agent
    path = difference.url.removeprefix(ORIGIN).encode()
    if not differs(body, agent, path):
        return difference
    path = plainest(path, [b"/", ESCAPE.sub(b"x", path)], lambda path: differs(body, agent, path))
    body = plainest(body, [LINE_END.sub(b"\n", body)], lambda body: differs(body, agent, path))
    lines = smallest(body.splitlines(keepends=True), lambda lines: differs(b"".join(lines), agent, path))
    body = b"".join(lines)
    # A long file may have used up all probes.
    probes = 0
    path = plainest(path, [b"/", ESCAPE.sub(b"x", path)], lambda path: differs(body, agent, path))
    named = re.compile(re.escape(agent.encode()), re.IGNORECASE)
    if agent != "*" and differs(named.sub(b"FooBot", body), "FooBot", path):
        body, agent = named.sub(b"FooBot", body), "FooBot"
    # A key without its colon would be another difference, so the values alone become shorter.
    lines = body.splitlines(keepends=True)
    for number, line in enumerate(lines):
        key, colon, value = line.partition(b":")
        if not colon or len(value) > 200 or b"agent" in key.lower():
            continue
        before, after = b"".join(lines[:number]) + key + colon, b"".join(lines[number + 1 :])

        def value_differs(value):
            return differs(before + bytes(value) + after, agent, path)  # noqa: B023

        value = plainest(value, [VALUE.sub(b" /", value)], value_differs)
        lines[number] = key + colon + bytes(smallest(list(value), value_differs))
    body = b"".join(lines)
    path = plainest(path, [b"/"], lambda path: differs(body, agent, path))
    if is_normal(path):

        def path_differs(path):
            return path[:1] == b"/" and is_normal(path) and differs(body, agent, path)

        path = bytes(smallest(list(path), lambda parts: path_differs(bytes(parts))))
    item = dataclasses.replace(difference.item, body=body)
    return dataclasses.replace(difference, item=item, agent=agent, url=ORIGIN + path.decode())


def plainest(text, others, differs):
    """The first of the other texts that shows the difference, or the text itself."""
    return next((other for other in others if other != text and differs(other)), text)


def has_group(body):
    """Whether a line before the first rule looks like a user-agent line."""
    lines = (line.strip().lower() for line in body.replace(b"\r", b"\n").split(b"\n"))
    key = next((line for line in lines if re.search(b"^(dis|al|di)|^[^#]*agent", line)), b"")
    return b"agent" in key
