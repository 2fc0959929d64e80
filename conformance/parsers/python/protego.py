from base import serve, text
from protego import Protego

serve(
    parse=lambda body, _: Protego.parse(text(body)),
    allowed=lambda robots, agent, url: robots.can_fetch(url, agent),
)
