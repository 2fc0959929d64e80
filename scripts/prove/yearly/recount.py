"""Counts again from the captures, with a parser of its own: shares nothing with the command.

It reads the captures in the order of their times, keeps the newest answer of each host, and at the last
fetch of each month counts who may fetch nothing. The parser is short: groups of user-agent lines, and
whether the rules of a group leave any path.
"""

import base64
import collections
import json
import re

ANSWERED = {"rules", "none"}
# A pattern that matches every path.
EVERYTHING = re.compile(r"\*|/?\*+\$?|/")


def groups(body):
    """The rules of each name in lower case: pairs of key and pattern."""
    found = collections.defaultdict(list)
    names, has_rules = [], False
    for line in re.split(r"[\r\n]+", body.removeprefix("\ufeff")):
        text = line.partition("#")[0].strip(" \t")
        # Google's parser also takes two words without a colon.
        words = text.split(":", 1) if ":" in text else text.split()
        if len(words) != 2:
            continue
        key, value = (word.strip(" \t") for word in words)
        key = key.lower()
        if key in ("user-agent", "useragent", "user agent"):
            if has_rules:
                names, has_rules = [], False
            token = re.match(r"[A-Za-z_-]*", value)[0].lower()
            names.append("*" if value[:1] == "*" and value[1:2] in ("", " ", "\t") else token)
            for name in names:
                found[name]
        elif key in ("allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
            has_rules = True
            for name in names:
                found[name].append(("allow" if key == "allow" else "disallow", value))
    return found


def refuses(found, agent):
    """Whether the agent may fetch nothing, and whether a group names it."""
    name = agent.lower()
    rules = found[name] if name in found else found.get("*", [])
    whole = [len(pattern) for key, pattern in rules if key == "disallow" and EVERYTHING.fullmatch(pattern)]
    # Of equal lengths, the allow wins.
    kept = [pattern for key, pattern in rules if key == "allow" and pattern and whole and len(pattern) >= max(whole)]
    return bool(whole) and not kept, name in found


class Answer:
    """What a capture says: its kind, and who may fetch nothing."""

    def __init__(self, fields, agents):
        self.refused = {}
        if "error" in fields:
            self.kind = "failed"
        elif 400 <= fields["status"] < 500 and fields["status"] != 429:
            self.kind = "none"
        # 206 is a part of a file.
        elif not 200 <= fields["status"] < 300 or fields["status"] == 206:
            self.kind = "failed"
        else:
            self.kind = "rules"
            body = base64.b64decode(fields["body_base64"]) if "body_base64" in fields else fields["body"].encode("utf-8", "surrogatepass")
            found = groups(body[:512_000].decode("utf-8", "replace"))
            self.refused = {agent: named for agent in agents for refused, named in [refuses(found, agent)] if refused}


def count(lines, agents, last_fetches):
    """For each month: the hosts with an answer, and those that refuse each agent, in all and by name.
    `last_fetches` has the last fetch of each month, in seconds since 1970."""
    wanted = {time: month for month, time in last_fetches.items()}
    parsed, result = {}, {}
    for line in lines:
        # Most answers are those of the week before, and parsed once.
        _, _, rest = line.partition(b'"fetched_at": ')
        time, _, fields = rest.partition(b", ")
        month = wanted.get(int(time))
        if month is None:
            continue
        if fields not in parsed:
            parsed[fields] = Answer(json.loads(b"{" + fields), agents)
        answer = parsed[fields]
        hosts, any_group, by_name = result.setdefault(month, [0, collections.Counter(), collections.Counter()])
        if answer.kind not in ANSWERED:
            continue
        result[month][0] += 1
        for agent, named in answer.refused.items():
            any_group[agent] += 1
            by_name[agent] += named
    return result
