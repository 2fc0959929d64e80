# A port of Google's code. It parses the file for each question.
from base import serve
from gpyrobotstxt.robots_cc import RobotsMatcher

serve(
    parse=lambda body, _: body,
    allowed=lambda body, agent, url: RobotsMatcher().one_agent_allowed_by_robots(body, agent, url),
)
