from base import serve, text
from robotexclusionrulesparser import RobotExclusionRulesParser


def parse(body, _):
    robots = RobotExclusionRulesParser()
    robots.parse(text(body))
    return robots


serve(parse, allowed=lambda robots, agent, url: robots.is_allowed(agent, url))
