# Google's C++, through its PyPI build. It parses the file for each question.
from base import serve
from jwm.robotstxt.googlebot import RobotsMatcher

matcher = RobotsMatcher()
serve(
    parse=lambda body, _: body,
    allowed=lambda body, agent, url: matcher.OneAgentAllowedByRobots(body, agent, url.encode()),
)
