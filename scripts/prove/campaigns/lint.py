"""Lines that lint calls superfluous: without each of them, and after `lint --fix`, no verdict changes.

Each changed file is a site of its own in one snapshot. The same paths are asked of all, in both
profiles; some of them of Google's parser too.

With real files, each is also put below a block of a provider, with a byte order mark between them, as
content networks serve it: its first user-agent line is then misspelt, and its rules belong to the
last crawler of the block. Whatever else is mended, no fix may remove a rule that is missed then.
"""

import collections
import json

from jwm.robotstxt.googlebot import RobotsMatcher

from . import command, grammar
from .command import run
from .rounds import Result
from .shrinking import smallest_text

FILES = 30
REAL_FILES = 20
# A block as content networks put in front of a file. The crawlers in it may fetch nothing.
MANAGED_BLOCK = (
    b"# BEGIN Managed content\n\nUser-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n\n"
    + b"".join(b"User-agent: %s\nDisallow: /\n\n" % name for name in [b"Amazonbot", b"CCBot", b"GPTBot"])
    + b"# END Managed content\n\n\xef\xbb\xbf"
)
# Codes whose fixes remove lines.
REMOVING = "duplicate-rule,redundant-rule,never-decides,empty-rule,empty-group,repeated-agent"
# Findings of rules that change no verdict.
SUPERFLUOUS = ["duplicate-rule", "redundant-rule", "never-decides"]
EXTENDED = [("google", "extended"), ("rfc9309", "extended")]
AGENTS = [*grammar.NAMES, "zz", "MJ12bot", "ab:Foo", "*"]


def written(directory, body):
    path = directory / "file" / "robots.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(body)
    return path


def findings(directory, body):
    return json.loads(run("lint", "--json", written(directory, body), statuses=(0, 1)))


def changed_files(directory, body, planted):
    """The file in each form that must give the same verdicts, by the name of the change."""
    superfluous = sorted({found["line"] for found in findings(directory, body) if found["code"] in SUPERFLUOUS})
    if planted:
        superfluous += [number for number, line in enumerate(body.splitlines(), 1) if b"$" in line][:1]
    changed = {f"without line {line}": without(body, [line]) for line in superfluous[:12]}
    if superfluous:
        changed["without all superfluous lines"] = without(body, superfluous)
    changed["after lint --fix"] = mended(directory, body)
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
    captures = [command.robots(f"http://v{number}.example", body) for number, body in enumerate(bodies)]
    snapshot = command.compiled(directory / "lint.rsieve", captures, "--profile", profile)
    urls = [b"http://v%d.example%s" % (number, path) for number in range(len(bodies)) for path in paths]
    out = command.letters(snapshot, ",".join(AGENTS), urls, "--agent-match", match, "--input-format", "text")
    return [out[number * len(paths) : (number + 1) * len(paths)] for number in range(len(bodies))]


def google(body, paths):
    allows = RobotsMatcher().OneAgentAllowedByRobots
    return [
        allows(body, agent, b"http://h.example" + grammar.normal_form(path))
        for path in paths
        for agent in ["Foo", "zz"]
    ]


def changed_verdict(directory, original, changed, paths, settings):
    """The first change to a file that changes a verdict, and what differs; None without one. The settings are
    pairs of a profile and of a match of agents. Also returns the number of questions."""
    questions = len(paths) * len(AGENTS) * len(changed) * len(settings)
    for profile, match in settings:
        before, *after = letters(directory, [original, *changed.values()], paths, profile, match)
        for name, own in zip(changed, after):
            for path, one, two in zip(paths, before, own, strict=True):
                if one != two:
                    agents = [agent for agent, *both in zip(AGENTS, one, two) if both[0] != both[1]]
                    return f"{name}, profile {profile}, --agent-match {match}: {agents} and {path!r}", questions
    return None, questions


def difference(directory, body, paths, planted):
    """The first change that changes a verdict, and what differs, and the number of questions."""
    changed = changed_files(directory, body, planted)
    if not changed:
        return None, 0
    found, questions = changed_verdict(directory, body, changed, paths, [("google", "google"), *EXTENDED])
    few = paths[:20]
    expected = google(body, few)
    for name, text in changed.items():
        questions += len(expected)
        if not found and google(text, few) != expected:
            found = f"{name}: Google's parser answers otherwise"
    return found, questions


def mended(directory, body, *options):
    """The file after `lint --fix` with these options."""
    path = written(directory, body)
    run("lint", "-q", "--fix", *options, path, statuses=(0, 1))
    return path.read_bytes()


def rule_paths(body):
    """Paths that the rules of a file match: at most 100."""
    paths = []
    for line in body.splitlines():
        field, _, value = line.partition(b"#")[0].partition(b":")
        value = value.strip()
        if field.strip().lower() in (b"allow", b"disallow") and value.startswith(b"/"):
            paths.append(value.replace(b"*", b"x").rstrip(b"$").split()[0])
    return list(dict.fromkeys(paths))[:100] or [b"/"]


def missed_rules(directory, body, planted):
    """The name of a form of the file in which a removed rule is missed, what differs, and the number of
    questions."""
    questions = 0
    paths = rule_paths(body)
    for name, text in [("the file", body), ("below a block", MANAGED_BLOCK + body.removeprefix(b"\xef\xbb\xbf"))]:
        safe = mended(directory, text)
        if planted:
            safe = b"".join(line for line in text.splitlines(keepends=True) if b"isallow: /" not in line)
        # All mends after the safe ones, and the same without any removal.
        whole = mended(directory, text, "--unsafe-fixes", "--allow", REMOVING)
        removed = {f"{name}, with removed lines": mended(directory, safe, "--unsafe-fixes")}
        found, asked = changed_verdict(directory, whole, removed, paths, EXTENDED)
        questions += asked
        if found:
            return found, questions
    return None, questions


def play_files(rng, directory, options):
    """Some real files."""
    counts = collections.Counter()
    for path in rng.sample(options.files, min(REAL_FILES, len(options.files))):
        body = path.read_bytes()
        if len(body) > 400_000 or body[:2] in (b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff"):
            continue
        found, questions = missed_rules(directory, body, options.self_test)
        counts["verdicts after all mends, with and without removed lines"] += questions
        if found:
            return Result(counts, f"# {path.name}: {found}\n")
    return Result(counts)


def play(rng, directory, options, number):
    if options.files:
        return play_files(rng, directory, options)
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
