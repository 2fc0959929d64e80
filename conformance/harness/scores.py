"""Compares the answers of a parser with the expected ones."""

import collections
import dataclasses
import re

# What RFC 9309 §2.2.1 lets an agent be named by, and the name of the global group.
PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+|\*")


@dataclasses.dataclass
class Expected:
    """The answers to an item: Google's, and where RFC 9309 alone gives the same one.

    A question is *standard* if both profiles answer alike, for an agent with a product token. Of the
    others, the answer is specific to Google's code, and a parser that differs is not wrong by the RFC."""

    google: list
    standard: list


def expect(item, google, rfc):
    """The answers to an item, from the letters of both profiles."""
    standard = [
        [PRODUCT_TOKEN.fullmatch(agent) is not None and a == b for a, b in zip(*pair)]
        for agent, pair in zip(item.agents, zip(google, rfc))
    ]
    return Expected(google, standard)


@dataclasses.dataclass
class Difference:
    """A question whose answer differs."""

    item: object
    agent: str
    url: str
    expected: str
    found: str
    standard: bool


@dataclasses.dataclass
class Score:
    """Counts of one category, or of all."""

    asked: int = 0
    wrong: int = 0
    wrongly_allowed: int = 0
    # E, X and T: no answer.
    unanswered: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    standard: int = 0
    wrong_standard: int = 0
    wrongly_allowed_standard: int = 0

    def add(self, expected, found, standard):
        wrong = found in "AD" and found != expected
        allowed = wrong and found == "A"
        self.asked += 1
        self.wrong += wrong
        self.wrongly_allowed += allowed
        if found not in "AD":
            self.unanswered[found] += 1
        if standard:
            self.standard += 1
            self.wrong_standard += wrong
            self.wrongly_allowed_standard += allowed


def compare(items, expectations, answers):
    """Scores by category, and the differences."""
    scores, differences = collections.defaultdict(Score), []
    for item, expected, found in zip(items, expectations, answers):
        for number, agent in enumerate(item.agents):
            for url, want, standard, got in zip(item.urls, expected.google[number], expected.standard[number], found[number]):
                scores[item.category].add(want, got, standard)
                if want != got:
                    differences.append(Difference(item, agent, url, want, got, standard))
    return dict(scores), differences


def total(scores, names):
    """The sum of some categories."""
    found = Score()
    for name in names:
        for field in dataclasses.fields(Score):
            both = getattr(found, field.name) + getattr(scores.get(name, Score()), field.name)
            setattr(found, field.name, both)
    return found
