"""A filter of datatrove that parses the robots.txt of each document with Python's own parser."""

from urllib.robotparser import RobotFileParser

from datatrove.data import Document
from datatrove.pipeline.filters import LambdaFilter
from robots_texts import arguments, origin_of, write_answers

texts, urls, agents = arguments()


def is_allowed(document):
    url = document.metadata["url"]
    text = texts.get(origin_of(url))
    if text is None:
        return True
    parser = RobotFileParser()
    parser.parse(text.decode("utf-8", "replace").splitlines())
    return all(parser.can_fetch(agent, url) for agent in agents)


documents = (Document(text="", id=str(row), metadata={"url": url}) for row, url in enumerate(urls))
kept = {document.id for document in LambdaFilter(is_allowed).run(documents)}
write_answers(str(row) in kept for row in range(len(urls)))
