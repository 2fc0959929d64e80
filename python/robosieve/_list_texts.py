"""The texts that :meth:`robosieve.Lists.compile` compiles: paths and lines, by the names of lists."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Literal, Union

from . import _native
from ._options import Path
from ._snapshot import _level_of_caller
from ._uris import is_uri, name_of

#: A list: the path of a text, or its lines.
ListText = Union[Path, Iterable[Union[str, bytes]]]
#: Lists by their names.
NamedTexts = Mapping[str, ListText]
#: What the entries of a list are: see `ListKind` in the Rust library.
Kind = Literal["block", "allow", "words", "soft-words", "substrings"]


def add_texts(
    compiler: _native.ListTexts,
    arguments: Mapping[str, tuple[Kind, NamedTexts | None]],
    strict: bool,
    compiled: Iterable[str] = (),
) -> None:
    """Adds lists to a compiler, in their order. ``arguments`` has them by the names of the arguments, and
    ``compiled`` the names of the lists that it has already.

    Raises:
        OSError, RobosieveError, TypeError, ValueError: As :meth:`robosieve.Lists.compile`.
    """
    taken: dict[str, str] = {}
    for name in compiled:
        if name in taken:
            raise ValueError(f"two of the compiled lists are named {name!r}; compile one again, with another name")
        taken[name] = "compiled"
    for argument, (kind, texts) in arguments.items():
        if texts is not None and not isinstance(texts, Mapping):
            raise TypeError(
                f"{argument} is of type {type(texts).__name__}; give the lists by their names, paths or lines: "
                '{"adult": "adult.txt", "more": ["a.example", "b.example/path"]}'
            )
        for name, text in (texts or {}).items():
            if not isinstance(name, str):
                raise TypeError(f"{argument} has a key of type {type(name).__name__}; the name of a list is a str")
            if name in taken:
                raise ValueError(f"{taken[name]} and {argument} both have a list {name!r}; give each its own name")
            taken[name] = argument
            add_text(compiler, kind, name, text, strict)
    if not taken:
        raise ValueError("no list is given; give at least one by its name: {'adult': 'adult.txt'}")


def add_text(compiler: _native.ListTexts, kind: Kind, name: str, text: ListText, strict: bool) -> None:
    """Adds a list. Warns of lines that are not entries and of a list without entries, or fails because of them."""
    if isinstance(text, (str, os.PathLike)):
        shown, contents = _add_path(compiler, kind, name, os.fspath(text))
    elif isinstance(text, (bytes, bytearray, memoryview)) or not isinstance(text, Iterable):
        raise TypeError(f"list {name!r} is of type {type(text).__name__}; give a path, or the lines: a list of str")
    else:
        shown, contents = f"list {name!r}", compiler.add_lines(kind, name, iter(text))
    entries, count, examples = contents
    if count:
        defects = f"{shown}: {'1 line is not an entry' if count == 1 else f'{count:,} lines are not entries'}"
        found = ", ".join(f"line {number} is `{line}` ({reason})" for number, line, reason in examples)
        if strict:
            raise _native.RobosieveError(f"{defects}: {found}; correct the list, or leave strict=True out")
        _warn(f"{defects}, and skipped: {found}")
    elif not entries and strict:
        raise _native.RobosieveError(f"{shown}: the list has no entry; remove it, or leave strict=True out")
    elif not entries:
        _warn(f"{shown}: the list has no entry")


def _add_path(compiler: _native.ListTexts, kind: Kind, name: str, path: str) -> tuple[str, _native._Contents]:
    if is_uri(path):
        raise ValueError(f"{name_of(path)}: a list is a local file; copy it, or give its lines")
    if "\n" in path:
        raise ValueError(f"list {name!r}: a str is the path of a list; give a text as its lines: text.splitlines()")
    # The native half reads standard input by the name `-`.
    return path, compiler.add_path(kind, name, os.path.join(".", path) if path == "-" else path)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=_level_of_caller())
