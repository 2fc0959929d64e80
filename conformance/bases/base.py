"""Answers questions about robots.txt files with a Python parser, by the protocol of README.md.

A parser is a file that calls `serve`. `parse` and `allowed` are the two calls that a user of the library
makes; the base times them, catches what they raise, and keeps the parsed files if it is told to.
"""

import base64
import json
import sys
import time
import warnings


def text(body):
    """The body for a library that takes texts: bytes that are not UTF-8 become U+FFFD, as RFC 9309 §2.3
    has UTF-8 files. A byte order mark stays, because the library must handle it."""
    return body.decode("utf-8", "replace")


def serve(parse, allowed, per_agent=False):
    """Answers until the input ends.

    `parse(body, agent)` gives a parsed file, `allowed(parsed, agent, url)` a truth value. `agent` is None
    unless `per_agent` is set, for a library that parses for one agent.
    """
    warnings.simplefilter("ignore")
    # What a library prints must not mix with the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    sys.setrecursionlimit(10_000)
    say(answers, {"hello": 1, "parses": "per agent" if per_agent else "once"})
    kept = []
    for line in sys.stdin:
        question = json.loads(line)
        body = base64.b64decode(question["robots"])
        for _ in range(question.get("repeat", 1)):
            answer = ask(parse, allowed, per_agent, body, question, kept)
        say(answers, answer)


def say(answers, message):
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def ask(parse, allowed, per_agent, body, question, kept):
    verdicts, parse_ns, ask_ns, parsed, error = [], 0, 0, None, None
    for agent in question["agents"]:
        letters = ""
        if per_agent or not verdicts:
            start = time.process_time_ns()
            try:
                parsed, error = parse(body, agent if per_agent else None), None
            except Exception as raised:
                error = raised
            parse_ns += time.process_time_ns() - start
            if question.get("keep"):
                kept.append(parsed)
        start = time.process_time_ns()
        for url in question["urls"]:
            try:
                letters += "E" if error else "A" if allowed(parsed, agent, url) else "D"
            except Exception as raised:
                letters, message = letters + "E", raised
                print(f"{type(message).__name__}: {message}"[:200], file=sys.stderr)
        ask_ns += time.process_time_ns() - start
        verdicts.append(letters)
    if error:
        print(f"{type(error).__name__}: {error}"[:200], file=sys.stderr)
    return {"verdicts": verdicts, "parse_ns": parse_ns, "ask_ns": ask_ns}
