# The Python package of this project.
import robosieve
from base import serve

serve(
    parse=lambda body, _: robosieve.Robots.parse(body),
    allowed=lambda robots, agent, url: robots.allows(agent, url),
)
