"""Compiles archives of robots.txt files into snapshots."""

from __future__ import annotations

from . import _native


class Compiler:
    """A compiler of robots.txt archives."""

    def __init__(self, profile: str = "google") -> None:
        self._native = _native.Compiler(profile)


def compile() -> None:
    """Compile archives."""
