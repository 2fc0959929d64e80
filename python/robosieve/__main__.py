"""The command ``robosieve``, also as ``python -m robosieve``."""

import os
import sys

from ._native import command


def main() -> int:
    """Runs the command with the arguments of the process, and returns its exit status.

    The process has to end afterwards: the command takes over signals and file descriptors.
    """
    # A file that is opened later must not become a standard stream that was closed.
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    return command(["robosieve", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
