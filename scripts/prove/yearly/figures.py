"""The figures of the study, from the tables that `export` writes.

`versions` has the answers of each host and the times between which it gave them. `states` has what
each host's rules let each agent fetch, at the last fetch of each month. A host counts in a month if
its answer then is known: a robots.txt, or a status that says there is none.
"""

import collections
import csv
import dataclasses
import math
import statistics

from campaigns.command import run

ANSWERED = ("rules", "client-error")
# The 97.5 % quantile of the normal distribution, for intervals of 95 %.
Z = statistics.NormalDist().inv_cdf(0.975)


@dataclasses.dataclass
class Version:
    """An answer that a host gave from `since` to `last_seen`. Times are texts in RFC 3339, which sort."""

    since: str
    last_seen: str
    outcome: str
    file: str


def table(*arguments):
    """The rows of a table that a command prints as CSV."""
    return csv.DictReader(run(*arguments).decode().splitlines())


def versions(snapshot):
    """The versions of each host, the oldest first."""
    found = collections.defaultdict(list)
    for row in table("export", "-q", "-s", snapshot, "--history", "--as", "csv"):
        version = Version(row["since"], row["last_seen"], row["outcome"], row["rules_file"])
        found[row["origin"]].append(version)
    return found


def answered(found, time, fetched):
    """The hosts that were fetched at a time, and whose answer then is known."""
    return {
        host
        for host in fetched
        if any(version.since <= time <= version.last_seen and version.outcome in ANSWERED for version in found[host])
    }


def states(snapshot, agents, by_month, found, fetched):
    """For each month, the access of each host with an answer: a pair of access and name per agent.
    `fetched` has the hosts of the last fetch of each month: hosts come to the archive and leave it."""
    columns = ["origin", *(f"{agent}.{field}" for agent in agents for field in ("access", "named"))]
    result = {}
    for month, time in by_month.items():
        known = answered(found, time, fetched[month])
        rows = table("export", "-q", "-s", snapshot, "-a", ",".join(agents), "--as-of", time, "--as", "csv", "--columns", ",".join(columns))
        result[month] = {
            row["origin"]: {agent: (row[f"{agent}.access"], row[f"{agent}.named"]) for agent in agents}
            for row in rows
            if row["origin"] in known
        }
    return result


def refuses(state, how):
    """Whether an agent may fetch nothing: by a group with its name, or by any group."""
    access, named = state
    return access == "blocked" and (how == "any" or named == "name")


def shares(by_state, agents, how):
    """For each month, the number of hosts, and of those that refuse each agent."""
    return {
        month: (len(hosts), {agent: sum(refuses(state[agent], how) for state in hosts.values()) for agent in agents})
        for month, hosts in by_state.items()
    }


def interval(count, whole):
    """The interval of 95 % of a share, by Wilson's formula."""
    if whole == 0:
        return 0.0, 0.0
    share = count / whole
    centre = share + Z * Z / (2 * whole)
    width = Z * math.sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole))
    scale = 1 + Z * Z / whole
    return max(0.0, (centre - width) / scale), min(1.0, (centre + width) / scale)


def first_refusals(by_state, agents):
    """For each agent, how many hosts refuse it by name for the first time, by month."""
    found = {agent: collections.Counter() for agent in agents}
    seen = {agent: set() for agent in agents}
    for month, hosts in by_state.items():
        for agent in agents:
            new = {host for host, state in hosts.items() if refuses(state[agent], "name")} - seen[agent]
            found[agent][month] += len(new)
            seen[agent] |= new
    return found


@dataclasses.dataclass
class Life:
    """How long something lasted, in steps, and whether its end was seen."""

    length: int
    has_ended: bool


def still_allowed(by_state, agent, how, start):
    """How many months hosts let an agent fetch something, counted from `start`. Hosts that refuse it in
    that month are left out. The life of a host is seen until its last month with an answer; months
    without one in between are skipped."""
    following = [month for month in by_state if month >= start]
    lives = []
    for host, state in by_state[start].items():
        if refuses(state[agent], how):
            continue
        life = Life(0, False)
        for number, month in enumerate(following):
            if host in by_state[month]:
                life = Life(number, refuses(by_state[month][host][agent], how))
            if life.has_ended:
                break
        lives.append(life)
    return lives


def survival(lives):
    """The estimate of Kaplan and Meier, with Greenwood's interval of 95 % on the log-log scale: rows of
    length, hosts at risk, ends, share that lasts longer, and its bounds."""
    ends = collections.Counter(life.length for life in lives if life.has_ended)
    leaving = collections.Counter(life.length for life in lives)
    at_risk, share, variance, rows = len(lives), 1.0, 0.0, []
    for length in range(max(leaving, default=0) + 1):
        ended = ends[length]
        if at_risk and ended:
            share *= 1 - ended / at_risk
            if at_risk > ended:
                variance += ended / (at_risk * (at_risk - ended))
        rows.append((length, at_risk, ended, share, *bounds(share, variance)))
        at_risk -= leaving[length]
    return rows


def bounds(share, variance):
    if share in (0.0, 1.0):
        return share, share
    width = Z * math.sqrt(variance) / abs(math.log(share))
    return share ** math.exp(width), share ** math.exp(-width)


def median(rows):
    """The length that at most half of the lives pass; `None` if more than half are not seen to end."""
    return next((length for length, _, _, share, _, _ in rows if share <= 0.5), None)


def texts(listed):
    """The robots.txt files of a host, each once from its first to its last version in a row. Answers
    without a file between two equal ones do not divide them."""
    merged = []
    for version in listed:
        if version.outcome != "rules":
            continue
        if merged and merged[-1].file == version.file:
            merged[-1] = dataclasses.replace(merged[-1], last_seen=version.last_seen)
        else:
            merged.append(version)
    return merged


def rule_lives(found, days):
    """How long hosts kept the same robots.txt, in days. The first of a host began before the archive, so
    it is left out."""
    lives = []
    for listed in found.values():
        files = texts(listed)[1:]
        lives += [Life(days(file.since, after.since), True) for file, after in zip(files, files[1:])]
        lives += [Life(days(file.since, file.last_seen), False) for file in files[-1:]]
    return lives


@dataclasses.dataclass
class Changes:
    """The hosts that had another robots.txt in a fetch than in their answer before, by the number of
    their new text."""

    texts: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    @property
    def hosts(self):
        return self.texts.total()

    @property
    def with_the_same_text(self):
        """The hosts with the commonest of the new texts."""
        return max(self.texts.values(), default=0)


def changes(found):
    """The changes of each fetch that has any."""
    counts = collections.defaultdict(Changes)
    for listed in found.values():
        for file in texts(listed)[1:]:
            counts[file.since].texts[file.file] += 1
    return counts
