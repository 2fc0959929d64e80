"""The command ``robosieve``, also as ``python -m robosieve``."""

import sys

from ._native import command


def main() -> int:
    """Runs the command with the arguments of the process, and returns its exit status.

    The process has to end afterwards: the command takes over signals and file descriptors.
    """
    # It finds out which standard streams are closed, so nothing may be opened in their place here.
    return command(["robosieve", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
