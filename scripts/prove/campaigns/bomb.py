"""One bomb: files that a hostile author made, and the commands that must survive them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Callable


@dataclass(frozen=True)
class Bomb:
    """A bomb of `scripts/x bombs`, which describes every field."""

    name: str
    what: str
    make: Callable[[Path, Callable], None]
    runs: list
    refused: str | None
    seconds: float
    mebibytes: int
