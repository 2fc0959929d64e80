"""Your own lists of domains and URL prefixes, compiled here or by ``robosieve lists``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import _native
from ._guesses import GuidedInstance
from ._list_texts import Kind, NamedTexts, add_texts
from ._options import InputFormat, Path, RecordOptions
from ._results import as_urls, like
from ._snapshot import Verify, _depth
from ._uris import is_uri, name_of


@dataclass(frozen=True)
class ListMatch:
    """The entry that decides about a URL: see :meth:`Lists.find`."""

    lists: tuple[str, ...]
    """The names of the lists that have the entry, in their order."""
    entry: str
    """The entry as a line of a list: ``example.com``, or ``=example.com`` without subdomains. A word has its
    kind before it, such as ``word:casino``: see docs/LISTS.md."""
    is_exception: bool
    """Whether the entry is an exception, so that the URL is not listed."""


class Lists(GuidedInstance):
    """Compiled filter lists, mapped into memory.

    >>> lists = robosieve.Lists("own.rlists")
    >>> lists.match(["https://www.adult.example/", "https://tea.example/"])
    ['list:adult', None]

    :meth:`compile` makes the file, as ``robosieve lists -o own.rlists adult=domains.txt`` does;
    docs/LISTS.md says which forms entries have, and which entry decides.

    Args:
        path: A local file.
        verify: What to verify: True, all checksums; False, nothing; ``"full"``, also the structure,
            for a file from elsewhere.

    Raises:
        OSError: The file cannot be read.
        RobosieveError: It is not a compiled file of lists, or is damaged.
        ValueError: A bad value of ``verify``, or a URI.

    It does not change, can be used from several threads at once, and pickles by its path, or with its
    bytes. Cost of opening: a pass over the file, or nothing with ``verify=False``.
    """

    def __init__(self, path: Path, *, verify: Verify = True) -> None:
        name = os.fspath(path)
        if is_uri(name):
            raise ValueError(f"{name_of(name)}: lists are a local file; copy it, or give its bytes to Lists.from_bytes")
        self._path: str | None = os.path.abspath(name)
        self._data: bytes | None = None
        self._take(_native.Lists(self._path, _depth(verify)), verify)

    def _take(self, native: _native.Lists, verify: Verify) -> None:
        self._native, self._verify = native, verify
        self._metadata: dict[str, Any] = json.loads(native.metadata())

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, verify: Verify = True) -> Lists:
        """Lists in memory: the bytes of a compiled file.

        Raises:
            RobosieveError: They are not those of a compiled file, or are damaged.
        """
        lists = cls.__new__(cls)
        lists._path, lists._data = None, bytes(data)
        lists._take(_native.Lists.from_bytes(lists._data, _depth(verify)), verify)
        return lists

    @classmethod
    def compile(
        cls,
        lists: NamedTexts | None = None,
        *,
        block_words: NamedTexts | None = None,
        soft_words: NamedTexts | None = None,
        block_substrings: NamedTexts | None = None,
        allow: NamedTexts | None = None,
        compiled: Lists | Path | Sequence[Lists | Path] = (),
        soft_threshold: int | None = None,
        words_in: Literal["url", "host", "path"] | None = None,
        allow_suffixes: bool = False,
        strict: bool = False,
        output: Path | None = None,
    ) -> Lists:
        """Compile lists, in memory or into a file, as ``robosieve lists`` does.

        >>> lists = Lists.compile(
        ...     {"adult": "domains.txt", "mine": ["ads.example", "shop.example/cart"]},
        ...     allow={"ours": ["museum.adult.example"]},
        ... )
        >>> lists.match(["https://ads.example/banner", "https://museum.adult.example/"])
        ['list:mine', None]

        Args:
            lists: The lists by their names, in their order: of equal entries, the first list is named.
                Each is the path of a local text, plain, gzip or zstd, or an iterable of its lines, str
                or bytes.
            block_words: Lists of words, in the same form. A URL is listed that has one of them among the
                runs of ASCII letters and digits after its scheme. Case does not matter, and percent
                escapes are decoded.
            soft_words: Lists of words of which a URL needs several: ``soft_threshold`` different ones.
            block_substrings: Lists of texts. A URL is listed that has one of them without the characters
                that are not ASCII letters and digits, in both: ``big win`` is in ``/a-bigwinner``.
            allow: Lists whose entries for domains and URLs are exceptions, also from words. They come last.
            compiled: Lists that are compiled already, opened or as paths, with their names; they come
                first. Their rules with ``$badfilter`` cancel nothing of the others.
            soft_threshold: The number of different soft words from which on a URL is listed: 1 to 1,000;
                2, or as in ``compiled``.
            words_in: The part of URLs in which words and texts are looked for: all after the scheme, the
                host, or path and query. All after the scheme, or as in ``compiled``.
            allow_suffixes: Accept public suffixes such as ``com`` and ``co.uk`` as domains.
            strict: Fail if a line is not an entry, or if a list has none. By default such lines are
                skipped, and a warning names the first ones.
            output: The file to write. It appears when it is complete, and replaces an existing one.
                Without it, the lists are in memory, and pickle with their bytes.

        Returns:
            The lists, opened. The same lists give the same bytes.

        Raises:
            OSError: A list cannot be read, or ``output`` cannot be written.
            RobosieveError: A text is not a list: a file of another format, or no line is an entry. With
                ``strict``, one line that is not an entry, or a list without any. The message names the
                list and the line. Compiled lists are damaged, or look for words in another way.
            TypeError: A list, or one of its lines, has another type.
            ValueError: No list, two of one name, a name with other characters than letters, digits,
                ``-``, ``_`` and ``.``, a URI, a bad option, or an ``output`` that is one of the lists.

        Exceptions of an iterable are raised. The interpreter's lock is released, except while lines are
        taken from an iterable. Cost: docs/LISTS.md says what compiling takes; lines of an iterable take up
        to twice as long as those of a file.
        """
        if output is not None and is_uri(os.fspath(output)):
            raise ValueError(f"{name_of(os.fspath(output))}: lists are a local file; write it, and copy it then")
        compiler = _native.ListTexts(allow_suffixes, soft_threshold, words_in)
        arguments: dict[str, tuple[Kind, NamedTexts | None]] = {
            "lists": ("block", lists),
            "block_words": ("words", block_words),
            "soft_words": ("soft-words", soft_words),
            "block_substrings": ("substrings", block_substrings),
            "allow": ("allow", allow),
        }
        files = [compiled] if isinstance(compiled, (Lists, str, os.PathLike)) else compiled
        # Adding verifies the whole structure.
        opened = [each if isinstance(each, Lists) else cls(each, verify=False) for each in files]
        for lists_before in opened:
            compiler.add_compiled(lists_before._native)
        add_texts(compiler, arguments, strict, [name for each in opened for name in each.names])
        if output is None:
            return cls.from_bytes(compiler.to_bytes())
        path = os.path.abspath(os.fspath(output))
        compiler.write(path)
        return cls(path)

    @property
    def names(self) -> list[str]:
        """The names of the lists, in their order."""
        return [each["name"] for each in self._metadata["lists"]]

    @property
    def checksum(self) -> str:
        """Sixteen hexadecimal digits that identify the content."""
        return f"{self._native.checksum:016x}"

    def match(self, urls: Any) -> Any:
        """The reason for each URL that is listed.

        Args:
            urls: A column of n URLs, as for :meth:`Snapshot.verdicts`.

        Returns:
            n words: ``list:`` and the name of the first list that has the deciding entry. Null for a
            URL that no list names, or that an exception covers, for text that is not a URL, and for
            null. They are dictionary-encoded: a ``DictionaryArray`` of pyarrow, a Categorical of Polars
            or pandas. NumPy gets objects, a sequence gets a list of str and None.

        Raises:
            TypeError: ``urls`` has another type.
            RobosieveError: The file is damaged, and was opened with ``verify=False``.

        The interpreter's lock is released. One thread does the work.
        """
        return like(urls, self._native.match_column(as_urls(urls)), "robots_listed", _native.Array.tolist)

    def find(self, url: str | bytes) -> ListMatch | None:
        """The entry that decides about a URL; None if no list has one, or the text is not a URL.

        >>> lists.find("https://www.adult.example/")
        ListMatch(lists=('adult',), entry='adult.example', is_exception=False)

        Raises:
            TypeError: ``url`` is neither str nor bytes.
            RobosieveError: As for :meth:`match`.
        """
        found = self._native.find(url)
        if found is None:
            return None
        is_exception, names, entry = found
        return ListMatch(tuple(names), entry, is_exception)

    def filter(
        self,
        inputs: Path | Sequence[Path],
        output: Path | None,
        *,
        listed_to: Path | None = None,
        invalid_to: Path | None = None,
        cdxj: Path | None = None,
        field: str | int | None = None,
        input_format: InputFormat | None = None,
        header: bool = False,
        delimiter: str | None = None,
        json_key: str | None = None,
        default_scheme: str | None = None,
        host: str | None = None,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
        filesystem: Any = None,
    ) -> dict[str, Any]:
        """Write every record of files to the output for listed or other URLs, without a snapshot.

        >>> counts = lists.filter("urls.parquet", "kept.parquet", listed_to="listed.parquet")
        >>> counts["not_listed"], counts["listed"], counts["listed_by"]
        (2, 2, {'adult': 1, 'mine': 1})

        :func:`robosieve.filter` with ``lists=`` asks a snapshot in the same pass.

        Args:
            inputs: As for :func:`robosieve.annotate`: lists of URLs, Parquet files, and WARC files.
            output: The file for the records that no list names, or None.
            listed_to: A file for the records that a list names. Without it, they are in no output.
            invalid_to: A file for the records that are not URLs. Without it, they are in no output.
            cdxj: A file for an offset index of the records of WARC files in ``output``.
            field, input_format, header, delimiter, json_key, default_scheme, host, threads, progress:
                As for :func:`robosieve.annotate`.
            filesystem: For URIs: see :func:`robosieve.filter`.

        Returns:
            The counts ``lines``, ``not_listed``, ``listed``, ``listed_by`` (a dict from the name of each
            list to its lines: a line whose entry is in several lists counts for each), ``invalid``,
            ``blank`` and ``bytes``. ``lines`` is the sum of ``not_listed``, ``listed`` and ``invalid``.

        Raises:
            ImportError, OSError, RobosieveError: As :func:`robosieve.filter`.
            ValueError: A bad option, or an output would overwrite an input or the lists.

        Records keep their order and bytes, as for :func:`robosieve.filter`, and the outputs appear
        together when they are complete.
        """
        from ._files import filter_by_lists

        records = RecordOptions(
            field, input_format, header, delimiter, json_key, default_scheme, host, as_of_column=None, as_of_record=False
        )
        outputs = [output, listed_to, invalid_to, cdxj]
        return filter_by_lists(self, inputs, outputs, records, threads, progress, filesystem)

    def __repr__(self) -> str:
        return f"<robosieve.Lists {self._path or 'in memory'}: {', '.join(self.names)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._data is not None:
            return _unpickled_bytes, (self._data, self._verify)
        return _unpickled, (self._path, self.checksum, self._verify)


def as_lists(lists: Lists | Path | None) -> Lists | None:
    """The lists, or those of a path, verified.

    Raises:
        OSError, RobosieveError, ValueError: As :class:`Lists`.
        TypeError: It is neither.
    """
    if lists is None or isinstance(lists, Lists):
        return lists
    if not isinstance(lists, (str, os.PathLike)):
        raise TypeError(f"lists is of type {type(lists).__name__}; give Lists, or the path of a compiled file")
    return Lists(lists)


def _unpickled(path: str, checksum: str, verify: Verify) -> Lists:
    lists = Lists(path, verify=verify)
    if lists.checksum != checksum:
        raise ValueError(f"{path}: its content is another than that of the pickled lists")
    return lists


def _unpickled_bytes(data: bytes, verify: Verify) -> Lists:
    return Lists.from_bytes(data, verify=verify)
