"""A filter of datatrove that parses the robots.txt of each document with Python's own parser."""

from urllib.robotparser import RobotFileParser

from datatrove.pipeline.filters import LambdaFilter
from datatrove_documents import write_kept
from robots_texts import arguments, origin_of

texts, urls, agents = arguments()


def is_allowed(document):
    url = document.metadata["url"]
    text = texts.get(origin_of(url))
    if text is None:
        return True
    parser = RobotFileParser()
    parser.parse(text.decode("utf-8", "replace").splitlines())
    return all(parser.can_fetch(agent, url) for agent in agents)


write_kept(urls, LambdaFilter(is_allowed))
