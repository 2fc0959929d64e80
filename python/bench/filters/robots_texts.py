"""The texts of an archive of robots.txt files, and the agents and URLs of a contestant."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from urllib.parse import urljoin, urlsplit

from fastwarc.warc import ArchiveIterator, WarcRecordType


def read_texts(archive: str) -> dict[str, bytes]:
    """The text of each origin that answered with status 200, or with a redirect to such an answer."""
    texts: dict[str, bytes] = {}
    targets: dict[str, str] = {}
    with open(archive, "rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            url, head = record.headers["WARC-Target-URI"], record.http_headers
            if head.status_code == 200:
                texts[origin_of(url)] = record.reader.read()
            elif head.status_code in (301, 302, 303, 307, 308) and "Location" in head:
                targets[origin_of(url)] = origin_of(urljoin(url, head["Location"]))
    for origin in targets:
        last = origin
        for _ in range(5):
            last = targets.get(last, last)
        if last in texts:
            texts.setdefault(origin, texts[last])
    return texts


def origin_of(url: str) -> str:
    """The scheme, host and port of a URL; nothing if it has none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}".lower()


def arguments() -> tuple[dict[str, bytes], list[str], list[str]]:
    """The texts by origin, the URLs and the agents: the first, second and fourth argument of a contestant."""
    with open(sys.argv[2], encoding="utf-8", errors="surrogateescape") as lines:
        urls = lines.read().split("\n")[:-1]
    return read_texts(sys.argv[1]), urls, sys.argv[4].split(",")


def write_answers(answers: Iterable[bool]) -> None:
    """Writes a line for each URL into the third argument: 1 if it is kept, else 0."""
    with open(sys.argv[3], "w") as out:
        out.writelines("1\n" if answer else "0\n" for answer in answers)
