"""Google's parser, which parses the robots.txt for each question.

An agent that a text does not name has the verdict of `*`, so all of those are asked once."""

import re
from functools import lru_cache

from jwm.robotstxt.googlebot import RobotsMatcher
from robots_texts import arguments, origin_of, write_answers

texts, urls, agents = arguments()
matcher = RobotsMatcher()


@lru_cache(maxsize=None)
def distinct_agents(origin):
    """The agents that may have different verdicts."""
    text = texts[origin].lower()
    return {agent if agent.lower().encode() in text else "*" for agent in agents}


def is_allowed(url):
    origin = origin_of(url)
    if origin not in texts:
        return True
    # Google's parser wants escapes in upper case.
    url = re.sub("%[0-9a-fA-F]{2}", lambda escape: escape[0].upper(), url)
    return all(matcher.OneAgentAllowedByRobots(texts[origin], agent, url) for agent in distinct_agents(origin))


write_answers(map(is_allowed, urls))
