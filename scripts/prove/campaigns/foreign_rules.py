"""Rules for the sites of a list, and Google's answers about its URLs."""

import re
import urllib.parse
import zlib

from jwm.robotstxt.googlebot import RobotsMatcher

from . import grammar
from .command import compiled

AGENT = "GPTBot"
# URLs whose origin every parser reads alike. Of others, only robosieve's own answers are compared.
PLAIN = re.compile(r"https?://[a-z0-9-]+(\.[a-z0-9-]+)*(:[1-9]\d{0,3})?([/?#]|$)", re.IGNORECASE)


class Sites:
    """A robots.txt for each plain origin of a list, which refuses some of its URLs."""

    def __init__(self, urls):
        self.matcher, self.paths = RobotsMatcher(), {}
        for url in urls:
            origin, path = self.parts(url)
            if origin:
                self.paths.setdefault(origin, set()).add(path)
        self.files = {origin: self.robots(paths) for origin, paths in self.paths.items()}

    @staticmethod
    def parts(url):
        if not url or not PLAIN.match(url):
            return None, None
        parts = urllib.parse.urlsplit(url)
        default = {"http": ":80", "https": ":443"}[parts.scheme]
        return f"{parts.scheme}://{parts.netloc.lower().removesuffix(default)}", parts.path or "/"

    @staticmethod
    def robots(paths):
        """The same rules in each run: a checksum decides which paths they refuse, and at which length."""
        rules = ["User-agent: *"]
        for path in sorted(paths):
            number = zlib.crc32(path.encode("utf-8", "surrogateescape"))
            if re.fullmatch(r"[!-~]+", path) and not re.search(r"[#*$]", path) and number % 3 == 0:
                rules.append(f"{'Allow' if number % 5 == 0 else 'Disallow'}: {path[: 2 + number % (len(path) + 1)]}")
        return "\n".join(rules) + "\n"

    def compile(self, folder):
        """A snapshot of the files."""
        folder.mkdir(exist_ok=True)
        captures = [{"url": f"{origin}/robots.txt", "status": 200, "body": text} for origin, text in self.files.items()]
        captures.append({"url": "https://nobody.example/robots.txt", "status": 404})
        return compiled(folder / "sites.rsieve", captures)

    def letter(self, url):
        """A verdict by Google's parser; None if it has none."""
        if url is None:
            return "I"
        origin, _ = self.parts(url)
        if origin is None:
            return None
        if origin not in self.files:
            return "U"
        text = grammar.normal_form(url.encode("utf-8", "surrogateescape"))
        return "A" if self.matcher.OneAgentAllowedByRobots(self.files[origin].encode(), AGENT, text) else "D"
