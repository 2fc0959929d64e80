"""Verdicts against Google's own parser, in every way of asking.

Google's code answers through the package jwm.robotstxt. Against it stand annotate (one thread and two,
every vector backend, each URL several times in any order), filter, a snapshot that was compiled through
a captures file, and the Python package, if it is installed: columns, single URLs and `Robots`.
"""

import base64
import collections
import dataclasses
import functools
import itertools
import json
import random
import warnings

from jwm.robotstxt.googlebot import RobotsMatcher

from . import grammar
from .command import compiled, robots, run
from .rounds import Result
from .shrinking import smallest, smallest_text

try:
    import robosieve
except ImportError:
    robosieve = None

SITES = 60
FEW_RULES_SITES = 1000
# How many rules the files of a round have.
RULES_BY_KIND = {
    "edges": grammar.RULES,
    "few rules": grammar.RULES[:5],
    "short": grammar.RULES[:3],
    "long": grammar.MANY_RULES,
    "busy": [rules for rules in grammar.RULES if rules < 130],
}
# Paths of each site, where their number does not differ by site.
COUNTS_BY_KIND = {"few rules": 40, "short": 150, "busy": 8}
# Google's code parses the file for each question, so a long file gets fewer of them.
BYTES_PER_SITE = 4_000_000
# From about 4,096 paths on, a thread promotes the rules of a site to another layout, and it keeps 256
# sites so. See "Busy sites" in docs/dev/DESIGN.md.
BUSY_LINES = [4000, 4096, 4500, 6000, 9000]
BUSY_SITES = [255, 256, 257, 300]
# None leaves the choice to robosieve: AVX2 or NEON, if the machine has it.
BACKENDS = ["scalar", None]


@dataclasses.dataclass(frozen=True)
class Site:
    """A robots.txt with the paths that are asked about it."""

    origin: bytes
    body: bytes
    paths: tuple
    lines: int  # how many lines of the shuffled list are about this site, at least


@dataclasses.dataclass(frozen=True)
class Questions:
    """Each agent is asked about each path of each site."""

    sites: list
    agents: list
    seed: float  # of the order of the list
    ways: int | None = None  # how many of the ways are asked, drawn by `seed`; None means all


class Google:
    """Google's answers, each asked once."""

    def __init__(self):
        self.matcher = RobotsMatcher()
        self.answers = {}
        self.strangers = set()
        self.asked = 0

    def letter(self, body, agent, path, url=None):
        # By the word of Google's code, no line names the stranger: its answers are those of any other.
        if (body, agent) in self.strangers:
            agent = None
        letter = self.answers.get((body, agent, path))
        if letter is None:
            self.asked += 1
            url = url or self.url(path)
            allowed = self.matcher.OneAgentAllowedByRobots(body, agent or "nobody-has-this-name", url)
            letter = "A" if allowed else "D"
            self.answers[body, agent, path] = letter
            if agent and not self.matcher.ever_seen_specific_agent():
                self.strangers.add((body, agent))
        return letter

    @staticmethod
    def url(path):
        """The parser wants a URL in normal form."""
        return b"http://h.example" + grammar.normal_form(path)

    def letters(self, questions):
        """The letters of each URL, one per agent."""
        letters = {}
        for site in questions.sites:
            for path in site.paths:
                url = self.url(path)
                found = "".join([self.letter(site.body, agent, path, url) for agent in questions.agents])
                letters[site.origin + path] = found.encode()
        return letters


def made_up(rng, kind=None):
    """Questions from the grammar: about some sites, many sites with few rules, a few long files, or more
    busy sites than a thread keeps."""
    kind = kind or rng.choice([kind for kind, share in grammar.SHARE_BY_KIND.items() for _ in range(share)])
    agents, ways = grammar.agents(rng), None
    # Google's code needs 1.6 microseconds per line, so files of a few lines answer most questions. The ways
    # take longer than that, so a round of such files asks some of them.
    if kind == "few rules":
        sites, agents = FEW_RULES_SITES, grammar.NAMES[:6]
    elif kind == "short":
        sites, agents, ways = FEW_RULES_SITES, grammar.NAMES[:3], 3
    elif kind == "busy":
        sites, agents = rng.choice(BUSY_SITES), agents[:2]
    else:
        sites = SITES if kind == "edges" else 4
    made = []
    for number in range(sites):
        rules = rng.choice(RULES_BY_KIND[kind])
        body, rule_paths = grammar.robots(rng, rules)
        count = COUNTS_BY_KIND.get(kind) or rng.choice([5, 30, 60, 200])
        paths = [grammar.url_path(rng, rule_paths) for _ in range(count)]
        lines = rng.choice(BUSY_LINES) if kind == "busy" or rng.random() < 0.04 or kind == "long" else 0
        made.append(site(number, body, paths, lines, agents))
    return Questions(made, agents, rng.random(), ways)


def real(rng, files, number):
    """Questions about the next real files, also for agents that they name."""
    bodies = [path.read_bytes()[:500_000] for path in (files * 2)[SITES * number % len(files) :][:SITES]]
    agents, named = grammar.agents(rng), set()
    for body in bodies:
        named.update(
            line.partition(b":")[2].strip() for line in body.splitlines() if line[:10].lower() == b"user-agent"
        )
    named = sorted(name.decode() for name in named if name and not name.lower().translate(None, grammar.TOKEN_BYTES))
    agents += rng.sample(named, min(8, len(named)))
    agents = list({agent.lower(): agent for agent in agents}.values())
    made = []
    for position, body in enumerate(bodies):
        rules = [line.partition(b":")[2].strip() for line in body.splitlines() if b"llow" in line.lower()]
        paths = [grammar.url_path(rng, rules) for _ in range(60)]
        made.append(site(position, body, paths, rng.choice(BUSY_LINES) if position < 2 else 0, agents))
    return Questions(made, agents, rng.random())


def site(number, body, paths, lines, agents):
    """A site with as many of the paths as Google's code reads in the time."""
    most = max(3, BYTES_PER_SITE // (len(body) + 100) // len(agents))
    return Site(f"http://h{number}.example".encode(), body, tuple(dict.fromkeys(paths))[:most], lines)


@dataclasses.dataclass
class Answers:
    """What a way gave, and what Google's answers make of the same questions."""

    found: bytes
    expected: bytes
    questions: int


class Ways:
    """The files of some questions in a directory. `all` lists the ways of asking."""

    def __init__(self, directory, questions, google, planted):
        self.directory, self.questions, self.planted = directory, questions, planted
        self.answers = google.letters(questions)
        urls, shuffled = list(self.answers), []
        for site in questions.sites:
            times = max(2, -(-site.lines // max(1, len(site.paths))))
            shuffled += [site.origin + path for path in site.paths] * times
        random.Random(questions.seed).shuffle(shuffled)
        self.lists = {"grouped": urls, "shuffled": shuffled}
        for name, list_of_urls in self.lists.items():
            (directory / name).write_bytes(joined(list_of_urls))
        (directory / "agents").write_text("".join(agent + "\n" for agent in questions.agents))
        self.snapshot = self.compile("web", lambda body: body)

    def compile(self, name, change):
        """The snapshot of the files, each changed by a function. Its archive has the name `.jsonl`."""
        captures = [robots(site.origin.decode(), change(site.body)) for site in self.questions.sites]
        return compiled(self.directory / name, captures)

    def all(self):
        """The ways by name: functions that return `Answers`."""
        ways = {}
        for name, threads, backend in itertools.product(self.lists, ["1", "2"], BACKENDS):
            way = f"annotate, {name}, -j {threads}, {backend or 'vectors'}"
            ways[way] = functools.partial(self.annotate, name, threads, backend)
        ways["annotate --as mask"] = self.mask
        ways["filter --require all"] = functools.partial(self.filter, "all")
        ways["filter --require any"] = functools.partial(self.filter, "any")
        ways["captures, then compile"] = self.captures
        if robosieve:
            ways["Python, table of verdicts"] = self.table
            for method in ["verdict", "explain", "Robots.allows"]:
                ways[f"Python, {method}"] = functools.partial(self.one_by_one, method)
        return ways

    def judging(self, snapshot, name):
        agents = ["--agents-from", self.directory / "agents", "--agent-match", "google"]
        return ["-q", "-s", snapshot, *agents, "--input-format", "text", self.directory / name]

    def annotate(self, name, threads, backend):
        snapshot = self.snapshot
        if self.planted and threads == "2" and backend:
            snapshot = self.compile("planted", lambda body: body.replace(b"$", b""))
        found = run("annotate", "-j", threads, *self.judging(snapshot, name), backend=backend)
        urls = self.lists[name]
        expected = joined(self.answers[url] + b"\t" + url for url in urls)
        return Answers(found, expected, len(urls) * len(self.questions.agents))

    def mask(self):
        found = run("annotate", "--as", "mask", *self.judging(self.snapshot, "shuffled"))
        digits, urls = bytes.maketrans(b"AD", b"10"), self.lists["shuffled"]
        expected = joined(self.answers[url].translate(digits) for url in urls)
        return Answers(found, expected, len(urls) * len(self.questions.agents))

    def filter(self, require):
        found = run("filter", "--require", require, *self.judging(self.snapshot, "shuffled"))
        urls = self.lists["shuffled"]
        if require == "all":
            kept = [url for url in urls if b"D" not in self.answers[url]]
        else:
            kept = [url for url in urls if b"A" in self.answers[url]]
        return Answers(found, joined(kept), len(urls))

    def captures(self):
        """A captures file in place of the archive gives the same bytes."""
        captures, second = self.directory / "web.captures", self.directory / "second"
        run("captures", "-q", "-o", captures, self.directory / "web.jsonl")
        run("compile", "-q", "-o", second, captures)
        return Answers(second.read_bytes(), self.snapshot.read_bytes(), len(self.questions.sites))

    def table(self):
        """A column of Python has texts, so the URLs are in normal form."""
        urls = [grammar.normal_form(url).decode() for url in self.lists["grouped"]]
        snapshot, agents = robosieve.Snapshot(self.snapshot), self.questions.agents
        table = snapshot.verdicts(urls, agents, agent_match="google")
        found = joined(bytes(b"DAUI"[verdict] for verdict in row) for row in zip(*table.values()))
        return Answers(found, joined(self.answers.values()), len(urls) * len(agents))

    def one_by_one(self, method):
        """Some of the questions, by a function that answers one at a time."""
        rng, snapshot = random.Random(self.questions.seed), robosieve.Snapshot(self.snapshot)
        ask = {
            "verdict": lambda _, url, agent: snapshot.verdict(url, agent, agent_match="google").allowed,
            "explain": lambda _, url, agent: snapshot.explain(url, agent, agent_match="google").verdict.allowed,
            "Robots.allows": lambda robots, url, agent: robots.allows(agent, url, agent_match="google"),
        }[method]
        found, expected = [], []
        for site in self.questions.sites:
            robots = robosieve.Robots.parse(site.body)
            for path in rng.sample(site.paths, min(3, len(site.paths))):
                url, number = site.origin + path, rng.randrange(len(self.questions.agents))
                found.append(b"A" if ask(robots, url, self.questions.agents[number]) else b"D")
                expected.append(self.answers[url][number : number + 1])
        return Answers(joined(found), joined(expected), len(found))


def joined(lines):
    return b"".join(line + b"\n" for line in lines)


def shrink(directory, questions, google, planted, way):
    """The smallest questions that differ in a way."""

    def differs(**change):
        smaller = dataclasses.replace(questions, **change)
        if not smaller.agents or not any(site.paths for site in smaller.sites):
            return False
        answers = Ways(directory, smaller, google, planted).all()[way]()
        return answers.found != answers.expected

    def change_site(number, **change):
        changed = dataclasses.replace(questions.sites[number], **change)
        return questions.sites[:number] + [changed] + questions.sites[number + 1 :]

    # First what takes longest: the sites, then the agents, the paths, and at last the text.
    kept = smallest(questions.sites, lambda sites: differs(sites=sites))
    questions = dataclasses.replace(questions, sites=kept)
    kept = smallest(questions.agents, lambda agents: differs(agents=agents))
    questions = dataclasses.replace(questions, agents=kept)
    for number, site in enumerate(questions.sites):
        kept = smallest(list(site.paths), lambda paths: differs(sites=change_site(number, paths=tuple(paths))))
        questions = dataclasses.replace(questions, sites=change_site(number, paths=tuple(kept)))
        if site.lines and differs(sites=change_site(number, lines=0)):
            questions = dataclasses.replace(questions, sites=change_site(number, lines=0))
        kept = smallest_text(site.body, lambda body: differs(sites=change_site(number, body=body)))
        questions = dataclasses.replace(questions, sites=change_site(number, body=kept))
    return questions


def case(questions, google, way):
    """Questions as cases of tests/cases."""
    text = f"# {way}: differs from Google's parser\n"
    for site in questions.sites:
        if site.lines:
            text += f"# the list needs {site.lines} lines of this site\n"
        for agent in questions.agents:
            for path in site.paths:
                verdict = "allow" if google.letter(site.body, agent, path) == "A" else "disallow"
                url = "http://example.com" + path.decode(errors="backslashreplace")
                text += f'[[case]]\nname = ""\nclause = "Reference"\nprofile = "google"\n{toml_body(site.body)}\n'
                text += f'agent = {json.dumps(agent)}\nagent_match = "google"\n{verdict} = [{json.dumps(url)}]\n'
    return text


def toml_body(body):
    """The key of a case with the text of a robots.txt. JSON's escapes are TOML's too."""
    try:
        return f"robots = {json.dumps(body.decode())}"
    except UnicodeDecodeError:
        return f'robots_base64 = "{base64.b64encode(body).decode()}"'


def play(rng, directory, options, number):
    # Names of the grammar are misspelled on purpose.
    warnings.simplefilter("ignore")
    google = Google()
    questions = real(rng, options.files, number) if options.files else made_up(rng, options.kind)
    ways = Ways(directory, questions, google, options.self_test)
    counts = collections.Counter({"asked of Google's parser": google.asked})
    asked = list(ways.all().items())
    if questions.ways:
        asked = random.Random(questions.seed).sample(asked, questions.ways)
    for way, ask in asked:
        answers = ask()
        counts[way] += answers.questions
        if answers.found != answers.expected:
            smallest_questions = shrink(directory, questions, google, options.self_test, way)
            return Result(counts, case(smallest_questions, google, way))
    return Result(counts)
