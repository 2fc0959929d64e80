"""Captures of a few origins over time against a slow model of docs/SEMANTICS.md.

A round has many small webs: some captures of four URLs each, with failures, redirects, 304, equal and
unknown times. The model follows the section "Results of fetching" and looks at one question at a time.
For crawls over each other, `remembered` replaces all earlier captures by those that a previous snapshot
stands for, with all that it forgets.

Against the model stand one compilation, also of captures files and with --as-of, a history that is
judged as of a time, and crawls that are compiled over each other with --previous, in time order and in
any order; all with every status policy and --at.
"""

import collections
import dataclasses
import datetime
import itertools
import json
import math
import random

from .command import run, write_archive
from .rounds import Result
from .shrinking import smallest

WEBS = 150
DAY = 24 * 3600
MAX_HOPS = 5
START = 1_767_225_600  # 2026-01-01
HALF_DAY = 12 * 3600
POLICIES = ["google", "google-2012", "google-2019", "google-2023", "google-2026", "rfc9309", "strict"]
# The others read a 429 as any 4xx: an answer without a robots.txt.
FAILS_BY_429 = {"google", "google-2023", "google-2026", "strict"}


@dataclasses.dataclass(frozen=True)
class Capture:
    """One answer of a URL. `text` is the disallowed path of a robots.txt, or the target of a redirect."""

    url: str
    time: int | None
    kind: str  # rules, redirect, not-modified, unavailable, busy (429), server-error or unreachable
    status: int
    text: str = ""
    # What a previous snapshot has of a redirect: the number of redirects to the end of its chain, and for
    # a chain that leads nowhere the URL without a capture and the time of the last redirect.
    is_stored: bool = False
    hops: int = 1
    leads_nowhere: bool = False
    missing: str = ""
    end_time: int | None = None
    is_earlier: bool = False  # a redirect before a run of failures
    # Whether only a later time than its own is stored.
    is_undated: bool = False
    is_oldest: bool = False  # the copy before failures of an unknown time

    def record(self):
        """The capture as a line of a JSONL archive."""
        record = {"url": self.url}
        if self.kind == "unreachable":
            record["error"] = "timeout"
        else:
            record["status"] = self.status
        if self.kind == "rules":
            record["body"] = f"user-agent: *\ndisallow: {self.text}\n" if self.text else ""
        if self.kind == "redirect" and self.text:
            record["headers"] = {"Location": self.text}
        if self.time is not None:
            record["fetched_at"] = timestamp(self.time)
        return record

    def order(self):
        """Later in this order means newer: an unknown time is older than all others, and of two with the
        same time, the one that says more wins, then the lower status. A previous snapshot is older than a
        capture if both times are unknown, and it does not have the status of a redirect."""
        ranks = ["unreachable", "server-error", "unavailable", "not-modified", "redirect", "rules"]
        rank = ranks.index("server-error" if self.kind == "busy" else self.kind)
        is_timed, is_new = self.time is not None, not self.is_stored
        says_more = (rank, is_new or self.kind != "redirect", -self.status)
        return (not self.is_oldest, is_timed, self.time or 0, is_timed or is_new, *says_more)


# A crawl without any robots.txt is an error, so each has this capture.
ALWAYS = Capture("https://always.example/robots.txt", START, "unavailable", 404)


def timestamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- The model ---


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a URL came to at a time: `text` and `status` as in a capture. A failure has for each policy the
    first failure of its run and the text of its last good copy."""

    kind: str  # rules, unavailable, failure, unresolved (redirect), missing (its target)
    text: str = ""
    status: int = 0
    first: dict | None = None  # by policy: the time of the first failure, or None if unknown
    newest: int | None = None
    good: dict | None = None


def history(captures, url, until=None, with_undated=False):
    """The captures of a URL up to a time, the oldest first. Those that 304 confirms count again. With
    `with_undated`, what a previous snapshot has without its time may have been there, before all others."""
    own = sorted((one for one in captures if one.url == url), key=Capture.order)
    answers = []
    for capture in own:
        if until is not None and capture.time is not None and capture.time > until:
            break
        if capture.kind == "not-modified":
            confirmed = next((one for one in reversed(answers) if not is_failure(one, "google")), None)
            if confirmed is not None and confirmed.kind in ("rules", "redirect"):
                capture = dataclasses.replace(confirmed, time=capture.time)
            else:
                capture = dataclasses.replace(capture, kind="unreachable")
        answers.append(capture)
    return [*undated(own, until), *answers] if with_undated else answers


def undated(own, until):
    """What may have been there at a time, of the captures of one URL that are stored with a later time."""
    later = [] if until is None else [one for one in own if one.is_undated and math.floor(one.time or 0) > until]
    return [dataclasses.replace(one, leads_nowhere=False, missing="") for one in later]


def without_failures(answers, policy):
    """The answers before the run of failures at the end, and the run."""
    end = len(answers)
    while end and is_failure(answers[end - 1], policy):
        end -= 1
    return answers[:end], answers[end:]


def is_failure(capture, policy):
    return capture.kind in ("server-error", "unreachable") or (capture.kind == "busy" and policy in FAILS_BY_429)


@dataclasses.dataclass(frozen=True)
class Chain:
    """Where redirects lead: to the URL `end`, which answers or redirects nowhere."""

    end: str
    hops: int
    state: str = "answered"  # or unresolved, or missing (the target)
    missing: str = ""
    time: int | None = None  # of the answer at the end
    with_undated: bool = True


def chain(captures, url, newest, until, hops=0, with_undated=True):
    """The chain from a URL with this newest capture by a time, after some redirects."""
    visited = [url]
    while newest.kind == "redirect":
        # The snapshot with a redirect before failures knew that its target had no copy by then.
        with_undated = not newest.is_earlier if newest.is_earlier or not newest.is_stored else with_undated
        nowhere = Chain(visited[-1], hops, "unresolved", time=newest.time)
        missing = dataclasses.replace(nowhere, state="missing", missing=newest.text)
        target = newest.text
        further = newest.hops
        if newest.leads_nowhere:
            state = "missing" if newest.missing else "unresolved"
            missing = Chain(newest.text, hops + newest.hops, state, newest.missing, newest.end_time)
            if hops + newest.hops > MAX_HOPS:
                return nowhere
            # Only new captures change it: of the end, or of what was missing.
            if not is_replaced(captures, newest):
                if newest.text in visited:
                    return nowhere
                target = newest.missing
                further = newest.hops + 1
                if not target:
                    return missing
        if not target or target in visited or hops + further > MAX_HOPS:
            return nowhere
        answers = history(captures, target, until, with_undated)
        if not answers:
            return missing
        newest = answers[-1]
        hops += further
        visited.append(target)
    return Chain(visited[-1], hops, time=newest.time, with_undated=with_undated)


def is_replaced(captures, stored):
    """Whether the end of a stored chain that leads nowhere has a newer capture than its redirect, or one of
    the same second that says more."""
    new = [one for one in captures if one.url == stored.text and not one.is_stored]
    newest = max(new, key=Capture.order, default=None)
    if newest is None or newest.time == stored.end_time:
        return newest is not None and newest.kind == "rules"
    return newest.time is not None and (stored.end_time is None or newest.time > stored.end_time)


def outcome(captures, url):
    """What a URL came to; None without a capture."""
    answers = history(captures, url)
    return outcome_of(captures, chain(captures, url, answers[-1], None), None) if answers else None


def outcome_of(captures, redirects, until):
    if redirects.state != "answered":
        return Outcome(redirects.state)
    answers = history(captures, redirects.end, until, redirects.with_undated)
    newest = answers[-1]
    if newest.kind in ("rules", "unavailable"):
        return Outcome(newest.kind, text=newest.text, status=newest.status)
    first, good = {}, {}
    for policy in POLICIES:
        before, failures = without_failures(answers, policy)
        if failures:
            # A 429 that was remembered without its time came before the failure half a second later.
            first[policy] = failures[0].time and math.ceil(failures[0].time)
        # Of a 429 before the run there is no copy, as of a 404.
        answer = answer_before(before)
        if failures and answer and answer.kind != "busy":
            good[policy] = copy(captures, redirects, answer, first[policy], until)
    return Outcome("failure", status=newest.status, first=first, newest=newest.time, good=good)


def answer_before(before):
    """The last of these answers. A 429 that was remembered without its time, half a second before the first
    server error, is older than a capture that arrived later."""
    is_remembered = bool(before) and before[-1].kind == "busy" and (before[-1].time or 0) % 1 > 0
    if is_remembered and len(before) > 1 and not is_failure(before[-2], "google"):
        return before[-2]
    return before[-1] if before else None


def copy(captures, redirects, answer, first, until):
    """The text of the answer before a run of failures, or what a redirect there led to; None without one."""
    if answer.kind == "rules":
        return answer.text
    if answer.kind != "redirect":
        return None
    by = until if first is None else first
    leads_to = chain(captures, redirects.end, answer, by, redirects.hops, redirects.with_undated)
    target = outcome_of(captures, leads_to, by)
    # `compile` follows the redirect, and to it a 429 of the target is a failure.
    return target.text if target.kind == "rules" else (target.good or {}).get("google")


def remembered(captures):
    """The captures that a snapshot of `captures` stands for in a later compilation with --previous."""
    robots = sorted({one.url for one in captures if one.url.endswith("/robots.txt")})
    chains = {url: chain(captures, url, history(captures, url)[-1], None) for url in robots}
    kept = []
    # Of other URLs, only those that answered for an origin are stored.
    ends = sorted({redirects.end for redirects in chains.values()} - set(robots))
    for url in [*robots, *ends]:
        redirects = chains.get(url)
        # If a 304 confirmed a redirect from before failures, that is in force.
        newest = dataclasses.replace(history(captures, url)[-1], is_earlier=False, is_undated=False)
        if is_failure(newest, "google"):
            kept += remembered_failure(captures, url)
        elif redirects is None and newest.kind == "redirect":
            missing = next(redirects.missing for redirects in chains.values() if redirects.end == url)
            kept.append(dataclasses.replace(newest, text=missing))
        elif redirects is not None and redirects.end != url:
            # Only the end of a chain is stored, and the time there.
            end = {"text": redirects.end, "hops": redirects.hops, "time": redirects.time, "end_time": redirects.time}
            nowhere = {"leads_nowhere": redirects.state != "answered", "missing": redirects.missing}
            kept.append(dataclasses.replace(newest, **end, **nowhere, is_undated=True))
        else:
            kept.append(newest)
    return [dataclasses.replace(one, is_stored=True) for one in kept]


def remembered_failure(captures, url):
    """Of a run of failures, the newest is stored, the time of the first of each policy's run, and the
    last good copy."""
    newest, found = history(captures, url)[-1], outcome(captures, url)
    first, unreachable = found.first["google"], found.first.get("rfc9309")
    busy = Capture(url, first, "busy", 429)
    kept = [newest]
    if unreachable != first and newest.kind != "busy":
        # A 429 came before. That of the first failure stands for it, but it was later than that.
        kept.append(dataclasses.replace(newest, time=unreachable))
        kept.append(dataclasses.replace(busy, time=unreachable - 0.5))
    kept.append(busy if unreachable != first else dataclasses.replace(newest, time=first))
    good = found.good.get("google")
    if good is not None:
        # Its time is not stored. It is the answer before the first failure, whatever arrives later.
        time = None if first is None else first - 1
        kept.append(Capture(url, time, "rules", 0, good, is_undated=True, is_oldest=first is None))
    before = without_failures(history(captures, url), "google")[0]
    if good is None and first is not None and before and before[-1].kind == "redirect":
        kept.append(remembered_redirect(captures, url, before[-1], first))
    return kept


def remembered_redirect(captures, url, answer, first):
    """The redirect before a run of failures without a good copy: only the end of its chain is stored, which
    has a history of its own."""
    redirects = chain(captures, url, answer, first)
    if redirects.missing and not (redirects.hops and redirects.end.endswith("/robots.txt")):
        # No origin remembers where another URL than a robots.txt redirects to.
        end = (redirects.missing, redirects.hops + 1)
    else:
        end = (redirects.end if redirects.hops else "", redirects.hops or 1)
    # What no new capture extends stays as it is.
    if not (answer.is_earlier and end[0] in ("", answer.text)):
        answer = dataclasses.replace(answer, text=end[0], hops=end[1], leads_nowhere=False, missing="")
    # Whatever arrives later comes before it: its time is not stored.
    return dataclasses.replace(answer, time=first - 0.5, is_earlier=True, is_undated=True)


def letter(captures, url, policy, at):
    """The letter of a URL under a status policy."""
    origin, _, path = url.partition(".example")
    return letter_of(outcome(captures, origin + ".example/robots.txt"), path, policy, at)


def letter_of(found, path, policy, at, decide=None):
    """The letter of a path of an origin that came to `found`. `decide` gives that of a text and the path."""
    decide = decide or refuses
    strict = policy == "strict"
    if found is None:
        return "D" if strict else "U"
    if found.kind == "rules":
        return decide(found.text, path)
    if found.kind == "unavailable":
        return "D" if strict and found.status in (401, 403) else "A"
    if found.kind == "unresolved":
        return "A"
    if found.kind == "missing":
        return "D" if strict else "A"
    if found.status == 429 and policy not in FAILS_BY_429:
        return "A"
    first, now = found.first[policy], found.newest if at is None else at
    # Without a time, a failure is as if it had just begun.
    age = 0 if first is None or now is None else now - first
    state = failing(policy, age)
    if state == "copy":
        text = found.good.get(policy)
        return "A" if text is None else decide(text, path)
    return "D" if state == "refused" else "A"


def failing(policy, age):
    """The state of a site that has failed for `age` seconds: refused, by its last good copy, or open. Each
    policy by the words of its source."""
    if policy == "strict":
        return "refused"
    if policy == "google-2012":
        # Until the site answers something else than a server error.
        return "refused"
    if policy == "google-2026":
        # 12 hours without any crawling, then the copy, and after 30 days no robots.txt.
        return "refused" if age <= HALF_DAY else "copy" if age < 30 * DAY else "open"
    if policy == "rfc9309":
        return "refused" if age < 30 * DAY else "open"
    return "refused" if age < 30 * DAY else "copy"


def refuses(text, path):
    return "D" if text and path.startswith(text) else "A"


# --- Webs at random ---

STATUSES = {
    "rules": [200],
    "redirect": [301, 302, 307],
    "not-modified": [304],
    "unavailable": [401, 403, 404, 410],
    "busy": [429],
    "server-error": [500, 503],
    "unreachable": [0],
}


@dataclasses.dataclass(frozen=True)
class Web:
    """Captures, each with the number of its crawl."""

    captures: list
    hosts: list

    def urls(self):
        texts = sorted({one.text for one in self.captures if one.kind == "rules" and one.text}) + ["/else"]
        return [f"https://{host}{text}" for host in self.hosts for text in texts]


def made_up(rng, number):
    hosts = [f"{name}{number}.example" for name in "abc"]
    # The last URL is not a robots.txt, so it answers only for origins that redirect to it.
    urls = [f"https://{host}/robots.txt" for host in hosts] + [f"https://c{number}.example/r.txt"]
    captures, taken = [], set()
    weights = rng.choice([[4, 1, 1, 1, 1, 3, 1], [2, 5, 1, 1, 0, 1, 0], [2, 1, 3, 1, 1, 2, 1], [1, 1, 1, 1, 3, 3, 1]])
    for _ in range(rng.choice([2, 3, 4, 6, 9, 14])):
        url, kind = rng.choice(urls), rng.choices(list(STATUSES), weights)[0]
        time = START + rng.randrange(9) * 10 * DAY
        time += rng.choice([0, 0, -1, 1, HALF_DAY, HALF_DAY + 1, rng.randrange(DAY)])
        time = None if rng.random() < 0.04 else time
        # The order of two captures of one second that say the same is that of their bytes.
        if (url, time, kind) in taken or (kind == "not-modified" and any(key[:2] == (url, time) for key in taken)):
            continue
        if (url, time, "not-modified") in taken:
            continue
        taken.add((url, time, kind))
        captures.append(capture(rng, url, time, kind, urls))
    return Web(captures, hosts)


def capture(rng, url, time, kind, urls):
    text, status = "", rng.choice(STATUSES[kind])
    if kind == "rules":
        text = rng.choice(["/1", "/2", "/3", "/4", ""])
    elif kind == "redirect":
        text = rng.choice([*urls, *urls, "https://nobody.example/robots.txt", ""])
    return Capture(url, time, kind, status, text)


# --- Ways ---


class Ways:
    """Some webs in a directory, compiled in different ways."""

    def __init__(self, directory, seed, planted):
        self.directory, self.seed, self.planted = directory, seed, planted

    def records(self, captures):
        if self.planted:
            captures = [
                dataclasses.replace(one, kind="unavailable", status=404) if one.kind == "busy" else one
                for one in captures
            ]
        return [one.record() for one in captures]

    def archive(self, name, captures):
        captures = [*captures, ALWAYS]
        random.Random(self.seed).shuffle(captures)
        return write_archive(self.directory / f"{name}.jsonl", self.records(captures))

    def snapshot(self, question, crawls):
        """The snapshot of crawls, compiled in the way of a question."""
        captures = list(itertools.chain.from_iterable(crawls))
        if question.way == "captures files":
            return self.compile(*reversed(list(self.captures_files(captures))))
        if question.way == "--as-of":
            return self.compile("--as-of", timestamp(question.as_of), self.archive("all", captures))
        if question.way == "--history":
            return self.compile("--history", self.archive("all", captures))
        if question.way == "one compilation":
            return self.compile(self.archive("all", captures))
        return self.crawls(crawls)

    def compile(self, *arguments):
        run("compile", "-q", "-o", self.directory / "web", *arguments)
        return self.directory / "web"

    def captures_files(self, captures):
        """Two captures files with any half of the captures each."""
        for number in range(2):
            file = self.directory / f"{number}.captures"
            run("captures", "-q", "-o", file, self.archive("half", captures[number::2]))
            yield file

    def crawls(self, crawls):
        """Crawls over each other."""
        old = self.directory / "old"
        for number, captures in enumerate(crawls):
            # Made-up sites fail as often as not.
            over = ["--previous", old, "--max-failing", "100%"] if number else []
            snapshot = self.compile(*over, self.archive("crawl", captures))
            old.write_bytes(snapshot.read_bytes())
        return snapshot

    def letters(self, snapshot, urls, question):
        (self.directory / "urls").write_text("".join(url + "\n" for url in urls))
        at = [] if question.at is None else ["--at", timestamp(question.at)]
        if question.way == "--history":
            at = ["--as-of", timestamp(question.as_of)]
        policy = ["--status-policy", question.policy]
        out = run("annotate", "-q", "-s", snapshot, "-a", "FooBot", *policy, *at, self.directory / "urls")
        return dict(reversed(line.split("\t")) for line in out.decode().splitlines())


def split(way, captures, rng):
    """The crawls of a way, by the times of the captures or not."""
    count = rng.choice([2, 2, 3, 5])
    if way == "--previous, in time order":
        cuts = [START + rng.randrange(90) * DAY + rng.randrange(DAY) for _ in range(count - 1)]
        numbers = [sum(one.time is not None and cut <= one.time for cut in cuts) for one in captures]
    else:
        numbers = [rng.randrange(count) for _ in captures]
    crawls = [[] for _ in range(count)]
    for number, one in zip(numbers, captures):
        crawls[number].append(one)
    # A crawl without captures has no archive.
    return [crawl for crawl in crawls if crawl]


@dataclasses.dataclass(frozen=True)
class Question:
    """A way of compiling, a status policy, and times. `crawls` has the captures: one list, unless the way
    is that of --previous."""

    way: str
    policy: str
    at: int | None
    as_of: int | None

    def counted(self, crawls):
        """The captures that count for the model."""
        if self.way in ("--as-of", "--history"):
            return [one for one in crawls[0] if one.time is None or one.time <= self.as_of]
        counted = []
        for crawl in crawls:
            counted = [*remembered(counted), *crawl]
        return counted


WAYS = [
    "one compilation",
    "captures files",
    "--as-of",
    "--history",
    "--previous, in time order",
    "--previous, in any order",
]


def ask(ways, question, crawls, url):
    """The letter of robosieve for one URL, and that of the model."""
    found = ways.letters(ways.snapshot(question, crawls), [url], question)[url]
    return found, letter(question.counted(crawls), url, question.policy, question.at)


def shrink(ways, question, crawls, url):
    """The smallest crawls that still give another letter than the model for the URL."""
    numbered = [(number, one) for number, crawl in enumerate(crawls) for one in crawl]

    def parts(kept):
        crawls = [[] for _ in range(1 + max(number for number, _ in kept))]
        for number, one in kept:
            crawls[number].append(one)
        return [crawl for crawl in crawls if crawl]

    def differs(kept):
        if not kept:
            return False
        found, expected = ask(ways, question, parts(kept), url)
        return found != expected

    return parts(smallest(numbered, differs))


def case(ways, question, crawls, url):
    """A difference in the form of tests/cases/fetch or tests/cases/recrawl."""
    found, expected = ask(ways, question, crawls, url)
    times = [
        f"--{name} {timestamp(time)}"
        for name, time in [("at", question.at), ("as-of", question.as_of)]
        if time is not None
    ]
    text = f"# {', '.join([question.way, *times])}: the model has {expected}, robosieve {found}\n"
    text += '[[case]]\nname = ""\nclause = ""\n'
    lists = [
        "  [\n" + "".join(f"    {toml(one)},\n" for one in sorted(crawl, key=Capture.order)) + "  ],\n"
        for crawl in crawls
    ]
    if question.way.startswith("--previous"):
        text += "crawls = [\n" + "".join(lists) + "]\n"
    else:
        text += "captures = [\n" + "".join(f"  {toml(one)},\n" for crawl in crawls for one in crawl) + "]\n"
    # The cases have no letters of `google-2023`: they are those of `google`.
    policy = "google" if question.policy == "google-2023" else question.policy
    return text + f'agent = "FooBot"\nexpect = [\n  {{ url = "{url}", {policy} = "{expected}" }},\n]\n'


def toml(capture):
    def value(item):
        if isinstance(item, dict):
            return "{ " + ", ".join(f"{key} = {value(inner)}" for key, inner in item.items()) + " }"
        return json.dumps(item)

    return value(capture.record())


def play(rng, directory, options, number):
    webs = [made_up(rng, web) for web in range(WEBS)]
    counts = collections.Counter()
    urls = [url for web in webs for url in web.urls()]
    ways = Ways(directory, rng.random(), options.self_test)
    for way in WAYS:
        is_dated = way in ("--as-of", "--history")
        as_of = START + rng.randrange(90) * DAY + rng.choice([-1, 0, 1, HALF_DAY + 1]) if is_dated else None
        captures = [one for web in webs for one in web.captures]
        crawls = split(way, captures, rng) if way.startswith("--previous") else [captures]
        snapshot = ways.snapshot(Question(way, "", None, as_of), crawls)
        outcomes = []
        for web, own in zip(webs, split_by_web(webs, crawls)):
            counted = Question(way, "", None, as_of).counted(own)
            origins = {host: outcome(counted, f"https://{host}/robots.txt") for host in web.hosts}
            outcomes.append((web, own, origins))
        judged_at = START + rng.randrange(150) * DAY + rng.choice([0, HALF_DAY, HALF_DAY + 1])
        # As of a time, sites are judged at it.
        times = [as_of] if way == "--history" else [None, judged_at]
        for policy, at in itertools.product(POLICIES, times):
            question = Question(way, policy, at, as_of)
            found = ways.letters(snapshot, urls, question)
            counts[way] += len(urls)
            for web, own, origins in outcomes:
                for url in web.urls():
                    host, path = url.removeprefix("https://").split("/", 1)
                    if found[url] != letter_of(origins[host], f"/{path}", policy, at):
                        return Result(counts, case(ways, question, shrink(ways, question, own, url), url))
    return Result(counts)


def split_by_web(webs, crawls):
    """The crawls of each web."""
    numbers = {one: number for number, crawl in enumerate(crawls) for one in crawl}
    for web in webs:
        yield [[one for one in web.captures if numbers[one] == number] for number in range(len(crawls))]
