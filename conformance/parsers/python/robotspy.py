from base import serve, text
from robots import RobotsParser

serve(
    parse=lambda body, _: RobotsParser.from_string(text(body)),
    allowed=lambda robots, agent, url: robots.can_fetch(agent, url),
)
