"""Crawls that are compiled over each other with --previous, against the model of histories.py.

A snapshot keeps less of a history than an archive: `remembered` in histories.py is the model of that. It
still differs from robosieve where redirects lead in a circle, and where times are unknown.
"""

from . import histories

WAYS = ["--previous, in time order", "--previous, in any order"]


def play(rng, directory, options, number):
    return histories.play(rng, directory, options, number, WAYS)
