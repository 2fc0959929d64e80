"""One bomb: files that a hostile author made, and the commands that must survive them."""

import struct
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
    seconds: float
    mebibytes: int
    refused: str | None = None


def zstd(*parts, window_log=17, size=None):
    """A zstd frame of parts: bytes, which are stored, and pairs of a byte and its repetitions, of which a block
    of 128 KiB takes four bytes. With a size in its head, the frame has no window."""
    frame = bytearray(b"\x28\xb5\x2f\xfd")
    frame += bytes([0, (window_log - 10) << 3]) if size is None else struct.pack("<BI", 0xA0, size)
    blocks = []
    for part in parts:
        content, length = (part, len(part)) if isinstance(part, bytes) else part
        for at in range(0, length, 128 << 10):
            run = min(length - at, 128 << 10)
            blocks.append((0, run, content[at : at + run]) if content is part else (1, run, content))
    blocks = blocks or [(0, 0, b"")]
    for number, (kind, length, content) in enumerate(blocks, 1):
        frame += struct.pack("<I", length << 3 | kind << 1 | (number == len(blocks)))[:3] + content
    return bytes(frame)
