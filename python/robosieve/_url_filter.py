"""The filter of :mod:`robosieve.datatrove` that takes the arguments of datatrove's ``URLFilter``.

datatrove holds its lists as sets of Python, in each worker, and splits each URL with regular
expressions. Here the lists are compiled once on a machine. The workers map the same files, and look
up a batch at a time.
"""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.writers.disk_base import DiskWriter

from . import _native
from ._list_texts import Kind, add_text
from ._lists import Lists
from ._node_copy import _locked, _own_directory
from ._options import Path

#: The seconds to wait for another worker that compiles the lists.
_TIMEOUT = 1800.0
#: The bytes of a file that are read at once.
_CHUNK = 1 << 20
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?=//)")
#: The end of the host and the port of a URL.
_AUTHORITY = re.compile(r"(?=[/?])|$")
_LABEL = re.compile(r"[\w-]+")
_NOT_OF_WORDS = re.compile(r"[^a-zA-Z0-9]+")

#: The reasons for the lists of `_OTHERS`, without the prefix of extra ones.
_REASONS = {"urls": "url", "words": "hard_blacklisted", "soft": "soft_blacklisted", "subwords": "blacklisted_subword"}
#: The kinds of the lists in each of the two files. Domains have one of their own, because datatrove
#: asks them first, also if an entry for a URL is more specific.
_HOSTS: dict[str, Kind] = {"domains": "block"}
_OTHERS: dict[str, Kind] = {"urls": "block", "words": "words", "soft": "soft-words", "subwords": "substrings"}


class URLFilter(BaseFilter):  # type: ignore[misc, unused-ignore]
    """Drop the documents whose URLs are on lists: datatrove's ``URLFilter``, faster.

    >>> from robosieve.datatrove import URLFilter
    >>> pipeline = [reader, URLFilter(extra_domains=["ads.example"]), writer]

    It takes the arguments of datatrove's filter, and gives the same reasons: ``domain``,
    ``subdomain``, ``url``, ``hard_blacklisted``, ``soft_blacklisted`` and ``blacklisted_subword``.
    docs/LISTS.md has a table of the URLs for which the answers differ.

    Args:
        soft_word_threshold: The number of different soft words from which on a URL is dropped: 1 to 1,000.
        extra_domains: Domains, whose subdomains are dropped too. A line may have each form of
            docs/LISTS.md.
        extra_urls: URLs. One with a scheme is that URL alone, one without the URLs that begin so.
        banned_words: Words that drop a URL. Words are the runs of ASCII letters and digits in it.
        banned_subwords: Texts that drop a URL which has them without its other characters.
        soft_banned_words: Soft words.
        use_integrated_lists: Use the lists of the installed datatrove too: a list of adult sites, and
            words. They are those of its package, and nothing is downloaded.
        exclusion_writer: A writer of datatrove for the dropped documents.
        batch_size: The number of documents that are looked up at once.
        node_directory: A directory on a local disk. The first worker on a machine compiles the lists
            there, and the others map the same files, whose names hold a checksum of the lists. The
            default is that of temporary files (``TMPDIR``); see :func:`robosieve.node_copy`. The
            integrated lists take 100 MB.

    A line that is not an entry gives a warning in the worker that compiles the lists.

    Raises:
        TypeError: A list is a text, or has a line that is not one.
        ValueError: A bad threshold or batch size.

    In a worker, the filter raises :class:`KeyError` for a document without a URL,
    :class:`robosieve.RobosieveError` if no line of ``extra_domains`` or ``extra_urls`` is an entry, and
    :class:`OSError` if the lists cannot be written.
    """

    name = "😈 Url-filter (robosieve)"

    def __init__(
        self,
        soft_word_threshold: int = 2,
        extra_domains: Iterable[str] | None = None,
        extra_urls: Iterable[str] | None = None,
        banned_words: Iterable[str] | None = None,
        banned_subwords: Iterable[str] | None = None,
        soft_banned_words: Iterable[str] | None = None,
        use_integrated_lists: bool = True,
        exclusion_writer: DiskWriter | None = None,
        *,
        batch_size: int = 1000,
        node_directory: Path | None = None,
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        if not 1 <= soft_word_threshold <= 1000:
            raise ValueError(f"soft_word_threshold={soft_word_threshold}; give 1 to 1000")
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size}; give at least 1")
        self.soft_word_threshold = soft_word_threshold
        self.use_integrated_lists = use_integrated_lists
        #: The entries of the arguments, by the names of the integrated lists.
        self.extra = {
            "domains": _lines("extra_domains", extra_domains, _domain_entry),
            "urls": _lines("extra_urls", extra_urls, _url_entry),
            "words": _lines("banned_words", banned_words, _normal_word),
            "soft": _lines("soft_banned_words", soft_banned_words, _normal_word),
            "subwords": _lines("banned_subwords", banned_subwords, _normal_word),
        }
        self.node_directory = os.path.abspath(os.fspath(node_directory or tempfile.gettempdir()))
        self._opened: tuple[Lists, Lists] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A worker opens or compiles the files itself: it may run on another machine.
        return {**self.__dict__, "_opened": None}

    @property
    def lists(self) -> tuple[Lists, Lists]:
        """The domains, and the URLs and words, opened on first use."""
        if self._opened is None:
            digest = self._digest()
            self._opened = self._open(f"hosts-{digest}", _HOSTS), self._open(f"others-{digest}", _OTHERS)
        return self._opened

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Look up one document. Batches are faster: see :meth:`filter_batch`."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Look documents up at once: for each True, or False with the reason."""
        hosts, others = self.lists
        urls = [_as_url(doc.metadata.get("url") or _missing(doc)) for doc in batch]
        results: list[bool | tuple[bool, str]] = []
        for url, host, other in zip(urls, hosts.match(urls), others.match(urls)):
            if host is not None:
                results.append((False, self._host_reason(url)))
            elif other is not None:
                results.append((False, _REASONS[other.removeprefix("list:").removeprefix("extra-")]))
            else:
                results.append(True)
        return results

    def _host_reason(self, url: str) -> str:
        """Whether the registered domain of a listed host is on the list, or the host alone."""
        hosts, _ = self.lists
        found = hosts.find(url)
        entry = "" if found is None else found.entry.removeprefix("=")
        domain = _native.registered_domain(entry) or entry
        if entry == domain:
            return "domain"
        found = hosts.find(f"http://{domain}/")
        return "subdomain" if found is None or found.is_exception else "domain"

    def _digest(self) -> str:
        """The checksum of all that decides: equal arguments find the file of another worker."""
        digest = hashlib.sha256(f"{_native.__version__} {self.soft_word_threshold}".encode())
        for name, lines in self.extra.items():
            digest.update(f"\n{name} {len(lines)}\n".encode())
            digest.update("\n".join(lines).encode("utf-8", "surrogateescape"))
        if self.use_integrated_lists:
            for path in map(_asset, [*_WORD_FILES.values(), _ARCHIVE]):
                with open(path, "rb") as file:
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
        return digest.hexdigest()[:32]

    def _open(self, name: str, kinds: dict[str, Kind]) -> Lists:
        """Opens the file of lists, which is compiled first if no worker on this machine has done so."""
        directory = _own_directory(self.node_directory)
        path = os.path.join(directory, f"{name}.rlists")
        if opened := _intact(path):
            return opened
        with _locked(os.path.join(directory, f"{name}.lock"), _TIMEOUT, "compiles the lists"):
            # Another worker may have written it meanwhile.
            if opened := _intact(path):
                return opened
            compiler = _native.ListTexts(False, self.soft_word_threshold, "url")
            for list_name, kind in kinds.items():
                # The lines of a published list that are not entries concern nobody here.
                if self.use_integrated_lists:
                    compiler.add_lines(kind, list_name, _integrated(list_name))
                if self.extra[list_name]:
                    add_text(compiler, kind, f"extra-{list_name}", self.extra[list_name], strict=False)
            compiler.write(path)
        return Lists(path)


def _intact(path: str) -> Lists | None:
    """The file, if it is there and its checksums are right."""
    try:
        return Lists(path)
    except (FileNotFoundError, _native.RobosieveError):
        return None


def _missing(doc: Document) -> str:
    raise KeyError(f"document {doc.id!r} has no 'url' in its metadata, whose keys are {sorted(doc.metadata)}")


def _as_url(text: str) -> str:
    """A URL with a scheme that lists know. datatrove reads hosts without a scheme, or after any other."""
    if text.startswith(("https://", "http://")):
        return text
    if scheme := _SCHEME.match(text):
        return text if scheme[0].lower() in ("http:", "https:", "ftp:") else f"http:{text[scheme.end() :]}"
    return f"http:{text}" if text.startswith("//") else f"http://{text}"


def _lines(argument: str, lines: Iterable[str] | None, entry: Callable[[str], str]) -> list[str]:
    """The entries of the lines of an argument, without comments."""
    if isinstance(lines, (str, bytes)):
        raise TypeError(f"{argument} is a text; give an iterable of lines: text.splitlines()")
    given = list(lines or ())
    for line in given:
        if not isinstance(line, str):
            raise TypeError(f"{argument} has a line of type {type(line).__name__}; a line is a str")
    return [text for line in given if not line.startswith("#") and (text := entry(line.strip()))]


def _domain_entry(line: str) -> str:
    """The entry for a domain. One label alone is that host, not a top-level domain."""
    return f"={line}" if _LABEL.fullmatch(line) else line


def _url_entry(line: str) -> str:
    """The entry for a URL. With a scheme it is that URL alone, as in datatrove, where others match nothing."""
    scheme = _SCHEME.match(line)
    if scheme is None:
        return line
    authority, rest = _AUTHORITY.split(line[scheme.end() + 2 :].partition("#")[0], maxsplit=1)
    # Every URL has a path.
    return f"{scheme[0]}//{authority}{rest if rest.startswith('/') else f'/{rest}'}$"


def _normal_word(line: str) -> str:
    return _NOT_OF_WORDS.sub("", line).lower()


#: The files of words, and the start of the name of the archive with domains and URLs, of the assets
#: of datatrove.
_WORD_FILES = {"words": "banned_words.txt", "soft": "soft_banned_words.txt", "subwords": "banned_subwords.txt"}
_ARCHIVE = "url_filterblacklists"


def _assets() -> str:
    """The directory of datatrove's lists, which only its own modules name."""
    from datatrove.utils._import_utils import ASSETS_PATH

    return str(ASSETS_PATH)


def _asset(name: str) -> str:
    """The path of the last asset of datatrove whose name begins so."""
    directory = _assets()
    found = sorted(file for file in os.listdir(directory) if file.startswith(name))
    if not found:
        path = os.path.join(directory, name)
        raise FileNotFoundError(f"{path}: this datatrove has no such list; give use_integrated_lists=False")
    return os.path.join(directory, found[-1])


def _integrated(name: str) -> Iterator[str | bytes]:
    """The lines of an integrated list, or several at once."""
    if name in _WORD_FILES:
        with open(_asset(_WORD_FILES[name]), encoding="utf-8") as file:
            yield from filter(None, (_normal_word(line) for line in file if not line.startswith("#")))
        return
    with tarfile.open(_asset(_ARCHIVE), "r:gz") as archive:
        member = archive.extractfile(name)
        assert member is not None, name
        # Millions of lines one by one would take as long as compiling them.
        while chunk := member.read(_CHUNK):
            yield chunk + member.readline()
