"""The versions of answers in a history, and since when sites disallow, derived from captures.

What each URL answered comes from the slow model in histories.py, which reads captures as docs/SEMANTICS.md
says. Nothing here reads a snapshot. The text of a capture is its robots.txt, and a policy of verdicts is
applied to whole texts: `blocked` says whether one disallows everything to an agent.

Since when an origin disallows is found by the definition, in time quadratic in its captures: at each
instant at which anything may change, from the newest answer back.
"""

import base64
import collections
import dataclasses
import datetime
import json
import re

from . import histories
from .histories import DAY, HALF_DAY, Capture

# A failure means something else from these ages on, in some policy.
AGES = (0, HALF_DAY + 1, 30 * DAY)
BEFORE_ALL = -(10**15)


def read(path):
    """The captures of an archive of JSON lines, by URL."""
    found = collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in filter(str.strip, lines):
            capture = capture_of(json.loads(line))
            found[capture.url].append(capture)
    return found


def capture_of(record):
    time = record.get("fetched_at")
    if isinstance(time, str):
        time = int(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())
    if "error" in record:
        return Capture(record["url"], time, "unreachable", 0)
    status = record.get("status", 200)
    body = record.get("body", "")
    if "body_base64" in record:
        body = base64.b64decode(record["body_base64"]).decode(errors="replace")
    if status == 304:
        kind, body = "not-modified", ""
    elif status // 100 == 3:
        kind, body = "redirect", record.get("headers", {}).get("Location", "")
    elif status // 100 == 2:
        kind = "rules"
    else:
        kind, body = {429: "busy"}.get(status, "server-error" if status >= 500 else "unavailable"), ""
    return Capture(record["url"], time, kind, status, body)


@dataclasses.dataclass
class Version:
    """An answer of a URL, from one capture to the last that found it unchanged; None for unknown times."""

    answer: Capture
    since: int | None
    last_seen: int | None
    failing_since: int | None = None
    first_unreachable: int | None = None
    before: Capture | None = None  # the answer before the failures
    changed_at: int | None = None

    @property
    def outcome(self):
        return {"unavailable": "client-error", "busy": "server-error"}.get(self.answer.kind, self.answer.kind)

    def state(self):
        before = self.before and (self.before.kind, self.before.text)
        answer = (self.answer.kind, self.answer.status, stored(self.answer))
        return answer, self.failing_since, self.first_unreachable, before


def stored(answer):
    """What decides whether two texts are the same one: comments and blank lines at the end are not stored."""
    if answer.kind != "rules":
        return answer.text
    return "\n".join(line.partition("#")[0].strip() for line in answer.text.splitlines()).rstrip("\n")


def versions(captures, url):
    """The versions of the answer of a URL, in the order of time."""
    answers = histories.history(captures, url)
    found = []
    for number, answer in enumerate(answers, 1):
        # Of the captures of one second, the one that says most is the answer. The others may begin a run of
        # failures.
        if number < len(answers) and answers[number].time == answer.time:
            continue
        version = Version(answer, answer.time, answer.time)
        earlier, failures = histories.without_failures(answers[:number], "google")
        if failures:
            unreachable = histories.without_failures(answers[:number], "rfc9309")[1]
            version.failing_since = failures[0].time
            version.first_unreachable = unreachable[0].time if unreachable else None
            if earlier and earlier[-1].kind in ("rules", "redirect"):
                version.before = earlier[-1]
        if found and found[-1].state() == version.state():
            found[-1].last_seen = answer.time
        else:
            found.append(version)
    for version, following in zip(found, found[1:]):
        version.changed_at = following.since
    return found


def reached(by_url, robots):
    """The URLs with captures that redirects of robots.txt files lead to, at any time."""
    found, waiting = set(), sorted(robots)
    while waiting:
        url = waiting.pop()
        for version in versions(by_url.get(url, []), url):
            for answer in filter(None, (version.answer, version.before)):
                target = answer.text
                if answer.kind == "redirect" and target in by_url and target not in found:
                    found.add(target)
                    waiting.append(target)
    return found


class Web:
    """The captures of the URLs that an origin's redirects may lead to."""

    def __init__(self, by_url, url):
        self.url, self.captures, waiting, seen = url, [], [url], {url}
        while waiting:
            of_url = by_url.get(waiting.pop(), [])
            self.captures += of_url
            targets = {one.text for one in of_url if one.kind == "redirect"} - seen
            seen |= targets
            waiting += targets
        self.versions = {url: versions(self.captures, url) for url in {one.url for one in self.captures}}

    def way(self, time):
        """The versions that answer at a time, from the origin's own to the last redirect's target."""
        found, url = [], self.url
        while len(found) <= histories.MAX_HOPS and url not in [version.answer.url for version in found]:
            in_force = [one for one in self.versions.get(url, []) if one.since is None or one.since <= time]
            if not in_force:
                break
            found.append(in_force[-1])
            if in_force[-1].answer.kind != "redirect":
                break
            url = in_force[-1].answer.text
        return found

    def is_blocked(self, time, policy, blocked, at):
        """Whether the origin disallows everything as of a time, judged at another."""
        known = [one for one in self.captures if one.time is None or one.time <= time]
        found = histories.outcome(known, self.url)
        if found is None:
            return False
        return histories.letter_of(found, "", policy, at, lambda text, _: "D" if blocked(text) else "A") == "D"

    def since(self, policy, blocked):
        """The bounds of the time in which the origin began to disallow everything, without a break until its
        newest answer, which is judged at its own newest capture."""
        if not self.is_blocked(10**15, policy, blocked, None):
            return None, None
        way = self.way(10**15)
        newest = max(BEFORE_ALL if one.since is None else one.since for one in way)
        instants = {BEFORE_ALL}
        for one in self.captures:
            instants |= {one.time + age for age in AGES if one.time is not None}
        since = newest
        for time in sorted((time for time in instants if time < newest), reverse=True):
            if not self.is_blocked(time, policy, blocked, time):
                break
            since = time
        if since == BEFORE_ALL:
            return None, None
        return self.seen_before(since, policy), since

    def seen_before(self, since, policy):
        """The last time before `since` at which the answer was seen: by the URL of its way that was seen least
        recently, but not before the answer was found or came to mean what it did."""
        last = since - 1
        way = self.way(last)
        if not way:
            return None
        seen = min(BEFORE_ALL if one.last_seen is None else one.last_seen for one in way)
        starts = [one.since for one in way if one.since is not None]
        # A failing site may have come to be allowed between two captures.
        end = way[-1]
        first = end.failing_since if policy in histories.FAILS_BY_429 else end.first_unreachable
        if first is not None:
            ages = [age for age in AGES if histories.failing(policy, age) != histories.failing(policy, age - 1)]
            starts += [first + age for age in ages if first + age <= last]
        seen = max([min(seen, last), *starts])
        return None if seen == BEFORE_ALL else seen


def agents_rules(text, agent):
    """The rules that an agent obeys: pairs of whether it allows, and its pattern."""
    groups, is_open = [], False
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if key == "user-agent" and colon:
            if not is_open:
                groups.append((set(), []))
            groups[-1][0].add("*" if value == "*" else re.match(r"[A-Za-z_-]*", value)[0].lower())
            is_open = True
        elif key in ("allow", "disallow") and groups:
            is_open = False
            groups[-1][1].append((key == "allow", value))
    for name in (*agent.lower().split(":"), "*"):
        own = [rules for names, rules in groups if name in names]
        if own:
            return name, [rule for rules in own for rule in rules if rule[1]]
    return None, []


def is_allowed(rules, path):
    """Whether rules allow a path: the longest pattern decides, and of two an allow."""

    def matches(pattern):
        text = re.escape(pattern.removesuffix("$")).replace(r"\*", ".*")
        return re.match(text + ("$" if pattern.endswith("$") else ""), path)

    deciding = max(((len(pattern), allow) for allow, pattern in rules if matches(pattern)), default=(0, True))
    return deciding[1]


def access(text, agent):
    """The access and what names the agent, by a robots.txt alone: `allowed`, `partial` or `blocked`, by paths
    at which any rule begins to hold."""
    name, rules = agents_rules(text, agent)
    paths = ["/", "/robosieve-recount"]
    for _, pattern in rules:
        end = "" if pattern.endswith("$") else "~w"
        for star in ("~w", ""):
            paths.append(pattern.removesuffix("$").replace("*", star) + end)
            paths.append(pattern.removesuffix("$").replace("*", star))
    verdicts = {is_allowed(rules, path) for path in paths if path.startswith("/") and path != "/robots.txt"}
    word = {(True,): "allowed", (False,): "blocked"}.get(tuple(verdicts), "partial")
    return word, {None: "none", "*": "*"}.get(name, "name")


def texts_at_random(rng, captures):
    """Captures of histories.made_up with other texts: for everybody, for one agent, for all but one."""
    bodies = {
        "/1": "user-agent: *\ndisallow: /\n",
        "/2": "user-agent: FooBot\ndisallow: /\n",
        "/3": "user-agent: a\ndisallow: /\nallow: /open\nuser-agent: *\ndisallow: /x\n",
        "/4": "user-agent: *\ndisallow: /\nuser-agent: GPTBot\ndisallow:\n",
        "": "",
    }
    records = []
    for one in captures:
        record = one.record()
        if one.kind == "rules":
            record["body"] = bodies[one.text]
        records.append(record)
    rng.shuffle(records)
    return records
