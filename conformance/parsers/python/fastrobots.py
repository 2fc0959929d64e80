# Paths and URLs are both accepted; a URL may need more work, so it is asked by its path.
from base import serve, text
from fastrobots import Robots

serve(
    parse=lambda body, _: Robots.parse(text(body)),
    allowed=lambda robots, agent, url: robots.allowed(url.removeprefix("http://example.com"), agent),
)
