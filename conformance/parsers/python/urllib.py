# The standard library of the Python that runs this; the record has its version.
import urllib.robotparser

from base import serve, text


def parse(body, _):
    robots = urllib.robotparser.RobotFileParser()
    robots.parse(text(body).splitlines())
    return robots


serve(parse, allowed=lambda robots, agent, url: robots.can_fetch(agent, url))
