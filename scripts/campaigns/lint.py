"""Lines that lint calls superfluous: without each of them, and after `lint --fix`, no verdict changes.

Each changed file is a site of its own in one snapshot. The same paths are asked of all, in both
profiles; some of them of Google's parser too.
"""

import base64
import collections
import json

from jwm.robotstxt.googlebot import RobotsMatcher

from . import grammar
from .command import run, write_archive
from .rounds import Result
from .shrinking import smallest_text

FILES = 30
# Findings of rules that change no verdict.
SUPERFLUOUS = ["duplicate-rule", "redundant-rule", "never-decides"]
AGENTS = [*grammar.NAMES, "zz", "MJ12bot", "ab:Foo", "*"]


def findings(path):
    return json.loads(run("lint", "--json", path, statuses=(0, 1)))


def changed_files(directory, body, planted):
    """The file in each form that must give the same verdicts, by the name of the change."""
    path = directory / "file" / "robots.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(body)
    superfluous = sorted({found["line"] for found in findings(path) if found["code"] in SUPERFLUOUS})
    if planted:
        superfluous += [number for number, line in enumerate(body.splitlines(), 1) if b"$" in line][:1]
    changed = {f"without line {line}": without(body, [line]) for line in superfluous[:12]}
    if superfluous:
        changed["without all superfluous lines"] = without(body, superfluous)
    run("lint", "-q", "--fix", path, statuses=(0, 1))
    changed["after lint --fix"] = path.read_bytes()
    return {name: text for name, text in changed.items() if text != body}


def without(body, numbers):
    """The file without some rules. An empty rule in their place ends the names of the group as before."""
    lines = body.splitlines(keepends=True)
    for number in numbers:
        line = lines[number - 1]
        lines[number - 1] = b"disallow:" + line[len(line.rstrip(b"\r\n")) :]
    return b"".join(lines)


def letters(directory, bodies, paths, profile, match):
    """The letters of each path under each of the files: one list per file."""
    captures = [
        {"url": f"http://v{number}.example/robots.txt", "status": 200, "body_base64": base64.b64encode(body).decode()}
        for number, body in enumerate(bodies)
    ]
    archive, snapshot, urls = (directory / name for name in ["lint.jsonl", "lint.rsieve", "lint.txt"])
    run("compile", "-q", "--profile", profile, "-o", snapshot, write_archive(archive, captures))
    urls.write_bytes(
        b"".join(b"http://v%d.example%s\n" % (number, path) for number in range(len(bodies)) for path in paths)
    )
    options = ["-a", ",".join(AGENTS), "--agent-match", match, "--input-format", "text"]
    out = [line.split(b"\t")[0] for line in run("annotate", "-q", "-s", snapshot, *options, urls).split(b"\n")[:-1]]
    return [out[number * len(paths) : (number + 1) * len(paths)] for number in range(len(bodies))]


def google(body, paths):
    allows = RobotsMatcher().OneAgentAllowedByRobots
    return [
        allows(body, agent, b"http://h.example" + grammar.normal_form(path))
        for path in paths
        for agent in ["Foo", "zz"]
    ]


def difference(directory, body, paths, planted):
    """The name of the first change that changes a verdict, what differs, and the number of questions."""
    changed = changed_files(directory, body, planted)
    questions = 0
    if not changed:
        return None, questions
    for profile, match in [("google", "google"), ("google", "extended"), ("rfc9309", "extended")]:
        original, *others = letters(directory, [body, *changed.values()], paths, profile, match)
        questions += len(paths) * len(AGENTS) * len(others)
        for name, other in zip(changed, others):
            for path, before, after in zip(paths, original, other, strict=True):
                if before != after:
                    agents = [agent for agent, one, two in zip(AGENTS, before.decode(), after.decode()) if one != two]
                    return f"{name}, profile {profile}, --agent-match {match}: {agents} and {path!r}", questions
    few = paths[:20]
    expected = google(body, few)
    for name, text in changed.items():
        questions += len(expected)
        if google(text, few) != expected:
            return f"{name}: Google's parser answers otherwise", questions
    return None, questions


def play(rng, directory, options, number):
    counts = collections.Counter()
    for _ in range(FILES):
        body, rules = grammar.robots(rng, rng.choice([2, 3, 5, 8, 12, 17, 33, 65, 105, 130]))
        paths = list(dict.fromkeys(grammar.url_path(rng, rules) for _ in range(rng.choice([30, 100]))))
        found, questions = difference(directory, body, paths, options.self_test)
        counts["verdicts without superfluous lines"] += questions
        if found:
            body = smallest_text(
                body, lambda text: difference(directory, text, paths, options.self_test)[0] is not None
            )
            found, _ = difference(directory, body, paths, options.self_test)
            return Result(counts, f"# {found}\nrobots = {body!r}\n")
    return Result(counts)
