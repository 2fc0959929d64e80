"""The kit: questions and answers as files that other projects copy into their tests.

`kit/README.md` describes the files. The questions are those of the suites, of the cases of this
repository, and of hostile files. The answers are those of Google's parser and of the profile
`rfc9309`. This module draws the questions, writes the files, and compares answers with them.
"""

import base64
import collections
import dataclasses
import hashlib
import itertools
import json
import random
import re

from . import hostile, questions
from .scores import PRODUCT_TOKEN

FORMAT = 1
# Another seed would make other hostile files, with other names.
SEED = "kit 1"
FILES_PER_CATEGORY = 24
# These have 100 to 500 KB, most of it one line many times.
FILES_OF_SIZE = 6
MAX_BYTES = 2_000_000
LEVELS = {
    "core": "RFC 9309 decides these questions, and Google's parser gives the same answers.",
    "full": "The other questions of the suites. In many, RFC 9309 and Google's parser differ.",
    "hostile": "Made-up files with what parsers get wrong, by category.",
    "time": "Files for which some parsers need minutes. Ten seconds per file are enough.",
}
OWN = {"source": "robosieve", "licence": "MIT OR Apache-2.0"}
SUITES = {"google": "Google's suite", "protego": "Protego's suite", "crawler-commons": "crawler-commons' suite"}
# A line, or a unit of one or two bytes, that is repeated so often that the file has it once.
REPEATED = re.compile(rb"(?s)(..?)\1{49,}")
LEAST_REPEATED_LINES = 20


@dataclasses.dataclass(frozen=True)
class Question:
    """A question of the kit, without its answers. `level` is `None` if the answers decide it."""

    level: str | None
    category: str
    source: str
    licence: str
    clause: str | None
    robots: bytes
    agent: str
    url: str


@dataclasses.dataclass(frozen=True)
class Answered:
    """A question with the answers of both, `A` or `D`."""

    question: Question
    rfc: str
    google: str

    @property
    def level(self):
        """Core questions have an answer by the RFC, and both parsers give it. They are about a crawler
        with a product token, and a text without control characters or a byte order mark."""
        question = self.question
        if question.level:
            return question.level
        is_decided = self.rfc == self.google and question.clause
        is_token = question.agent != "*" and PRODUCT_TOKEN.fullmatch(question.agent)
        return "core" if is_decided and is_token and is_plain(question.robots) else "full"


def is_plain(robots):
    """Whether a text has what RFC 9309 §2.2 lets a file have: UTF-8, and lines."""
    try:
        text = robots.decode()
    except UnicodeDecodeError:
        return False
    return not text.startswith("\ufeff") and not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]", text)


def draw():
    """All questions of the kit, each once."""
    drawn = itertools.chain(from_suites(), from_cases(), from_hostile(), from_standing_still())
    return list(dict.fromkeys(drawn))


def url_of(path):
    """The URL in normal form, in which the path is not empty (RFC 3986 §6.2.3)."""
    return questions.ORIGIN + questions.normal_form(path.encode() if path.startswith("/") else b"/" + path.encode())


def from_suites():
    for name, category in SUITES.items():
        head = json.loads((questions.ROOT / "suites" / f"{name}.jsonl").read_text().partition("\n")[0])
        source = f"{head['suite']}, {head.get('commit') or head['version']}"
        for body, agent, path in questions.suite(name):
            yield Question(None, category, source, head["licence"], clause_of(body), body, agent, url_of(path))


def from_cases():
    for case, body in questions.own_cases():
        # A case of Google's code has no clause of the RFC.
        clause = case["clause"] if case["clause"].startswith("RFC 9309") else None
        for url in case.get("allow", []) + case.get("disallow", []):
            yield Question(None, "cases of robosieve", **OWN, clause=clause, robots=body, agent=case["agent"],
                           url=url_of(questions.path_of(url)))


def from_hostile():
    for category, (clause, _, make) in hostile.CATEGORIES.items():
        rng = random.Random(f"{SEED} {category}")
        for _ in range(FILES_OF_SIZE if category == "size" else FILES_PER_CATEGORY):
            body = make(rng)
            for path in hostile.paths(rng, category):
                yield Question("hostile", category, **OWN, clause=clause, robots=body, agent=hostile.AGENT, url=url_of(path))


def from_standing_still():
    for body, agents, urls in hostile.standing_still():
        for agent, url in itertools.product(agents, urls):
            yield Question("time", "standing still", **OWN, clause="RFC 9309 §5", robots=body, agent=agent, url=url)


def clause_of(body):
    """The section of RFC 9309 to read first about a file of a suite, by what the file has."""
    fields = [line.split(b"#")[0].partition(b":") for line in re.split(b"[\r\n]+", body)]
    fields = [(key.strip().lower(), value) for key, _, value in fields]
    agents = [value for key, value in fields if key == b"user-agent"]
    rules = [value for key, value in fields if key in (b"allow", b"disallow")]
    if any(b"*" in rule or b"$" in rule for rule in rules):
        return "RFC 9309 §2.2.3"
    if len(agents) > 1:
        return "RFC 9309 §2.2.1"
    return "RFC 9309 §2.2.2" if rules else "RFC 9309 §2.2"


def items(drawn):
    """What the harness asks: one item per robots.txt and agent, with all its URLs."""
    urls = collections.defaultdict(dict)
    for question in drawn:
        urls[question.robots, question.agent][question.url] = None
    return [questions.Item("kit", body, (agent,), tuple(asked)) for (body, agent), asked in urls.items()]


def by_question(asked, answers):
    """The answers of a parser by robots.txt, agent and URL."""
    return {
        (item.body, agent, url): letter
        for item, found in zip(asked, answers)
        for agent, letters in zip(item.agents, found)
        for url, letter in zip(item.urls, letters)
    }


def answered(drawn, rfc, google):
    """The questions with their answers. Both parsers must have one for each."""
    found = [
        Answered(question, rfc[question.robots, question.agent, question.url], google[question.robots, question.agent, question.url])
        for question in drawn
    ]
    if missing := next((one for one in found if one.rfc not in "AD" or one.google not in "AD"), None):
        raise SystemExit(f"conformance/run --kit: no answer about {missing.question.agent} {missing.question.url}")
    return found


def encode(found):
    """The files of the kit, by name."""
    files = {f"{level}.json": level_file(level, [one for one in found if one.level == level]) for level in LEVELS}
    sums = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items()))
    return files | {"SHA256SUMS": sums}


def level_file(level, found):
    """One case per line, so that a change of the kit is a readable diff."""
    cases = collections.defaultdict(list)
    for one in found:
        question = one.question
        cases[question.category, question.source, question.licence, question.clause, question.robots].append(one)
    head = {"format": FORMAT, "level": level, "about": LEVELS[level]}
    lines = [json.dumps(case_of(key, tests), ensure_ascii=True) for key, tests in cases.items()]
    return json.dumps(head)[:-1] + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"


def case_of(key, found):
    category, source, licence, clause, robots = key
    tests = []
    for one in found:
        test = {"agent": one.question.agent, "url": one.question.url, "allowed": one.rfc == "A"}
        # Most answers are the same.
        if one.google != one.rfc:
            test["google"] = one.google == "A"
        tests.append(test)
    # The name stays the same when other cases come and go.
    name = hashlib.sha256(f"{category}\0{clause}\0".encode() + robots).hexdigest()[:12]
    return {
        "id": f"{category.replace(' ', '-').lower()}-{name}".replace("'", ""),
        "category": category,
        "clause": clause,
        "source": source,
        "licence": licence,
        **robots_fields(robots),
        "tests": tests,
    }


def robots_fields(robots):
    """The text, or its base64 if it is not UTF-8, or its parts with how often each is repeated."""
    parts = parts_of(robots) if len(robots) > 20_000 else [(robots, 1)]
    try:
        texts = [[part.decode(), times] for part, times in parts]
    except UnicodeDecodeError:
        return {"robots_base64": base64.b64encode(robots).decode()}
    if len(texts) > 1:
        return {"robots_parts": texts}
    return {"robots": texts[0][0]}


def parts_of(robots):
    """Parts that give the text when each is repeated and all are joined."""
    parts = []
    for line, same in itertools.groupby(robots.splitlines(keepends=True)):
        times = len(list(same))
        if times >= LEAST_REPEATED_LINES:
            parts.append((line, times))
            continue
        at = 0
        text = line * times
        for run in REPEATED.finditer(text):
            parts += [(text[at : run.start()], 1), (run[1], len(run[0]) // len(run[1]))]
            at = run.end()
        parts.append((text[at:], 1))
    joined = []
    for part, times in parts:
        if times == 1 and joined and joined[-1][1] == 1:
            joined[-1] = (joined[-1][0] + part, 1)
        elif part:
            joined.append((part, times))
    return joined


def write(folder, files):
    """Writes the files, if they are small enough."""
    size = sum(len(text.encode()) for text in files.values())
    if size > MAX_BYTES:
        raise SystemExit(f"conformance/run --kit: {size:,} bytes are more than {MAX_BYTES:,}")
    for name, text in files.items():
        (folder / name).write_text(text)
        print(f"written: conformance/kit/{name}, {len(text.encode()):,} bytes")


def differing_files(folder, files):
    """The names of files that are not the same in the folder."""
    return [name for name, text in files.items() if not (folder / name).is_file() or (folder / name).read_text() != text]


def check_schema(folder):
    """Validates the files by the schema, with the package jsonschema. Returns an error, or `None`."""
    try:
        import jsonschema
    except ImportError:
        print("skipped: the package jsonschema is not installed, so kit.schema.json is not checked")
        return None
    validator = jsonschema.Draft202012Validator(json.loads((folder / "kit.schema.json").read_text()))
    for level in LEVELS:
        for error in validator.iter_errors(json.loads((folder / f"{level}.json").read_text())):
            return f"conformance/kit/{level}.json is not as kit.schema.json says: {error.json_path}: {error.message[:200]}"
    return None


def print_scores(name, found, answers):
    """How a parser does on each level, and its smallest failing case of each category."""
    asked, failed, as_google = collections.Counter(), collections.Counter(), collections.Counter()
    smallest = {}
    for one in found:
        question = one.question
        letter = answers[question.robots, question.agent, question.url]
        asked[one.level] += 1
        if letter == one.rfc:
            continue
        failed[one.level] += 1
        as_google[one.level] += letter == one.google
        known = smallest.setdefault(question.category, (one, letter))
        if len(question.robots) < len(known[0].question.robots):
            smallest[question.category] = (one, letter)
    print(name)
    for level in LEVELS:
        note = f", {as_google[level]:,} of them as Google's parser" if as_google[level] else ""
        print(f"  {level:8} {asked[level] - failed[level]:,} of {asked[level]:,} as by the RFC; {failed[level]:,} differ{note}")
    for category, (one, letter) in smallest.items():
        question = one.question
        robots = question.robots if len(question.robots) <= 200 else question.robots[:200] + b"..."
        print(f"    {category}: {robots!r}\n      {question.agent} {question.url}: {letter}, by the RFC {one.rfc}, by Google {one.google}")
