from base import serve, text
from robotstxt import RobotsFile

serve(
    parse=lambda body, _: RobotsFile(text(body)),
    allowed=lambda robots, agent, url: not robots.test_url(url, agent)["disallowed"],
)
