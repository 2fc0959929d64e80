"""Protego, with a cache of the last 8,192 parsed files."""

from functools import lru_cache

from protego import Protego
from robots_texts import arguments, origin_of, write_answers

texts, urls, agents = arguments()


@lru_cache(maxsize=8192)
def parser_of(origin):
    text = texts.get(origin)
    return None if text is None else Protego.parse(text.decode("utf-8", "replace"))


def is_allowed(url: str) -> bool:
    parser = parser_of(origin_of(url))
    return parser is None or all(parser.can_fetch(url, agent) for agent in agents)


if __name__ == "__main__":
    write_answers(map(is_allowed, urls))
