"""Hostile filter lists, as texts and compiled. docs/LIMITS.md, "Compiled filter lists"."""

import struct

from . import bombs_snapshots as snapshots
from .bomb import Bomb
from .bombs_inputs import MIB, gzip_repeated

COMPILE = "lists -q -o x.rlists l.gz"
FIND = "lists x.rlists --find http://h.example/a/b"
VERIFY = "lists --verify x.rlists"
FILTER = "filter -q --lists x.rlists urls -o out --listed-to listed"
ANNOTATE = "annotate -q --lists x.rlists --as jsonl --add list,entry urls -o out"

# Numbers of sections.
HOST_PATHS, PATH_GROUPS, PATH_RULES, PATH_ENTRIES, PATH_TEXTS = range(34, 39)
# The bytes of a row of `path groups`, and where it has its scheme.
GROUP, SCHEME = 12, 1

# Most of the bytes that the name of a host may have, in labels of one byte.
DEEP = b"a." * 118


def text(*parts):
    """Makes a list, l.gz, of such parts, and URLs."""

    def make(folder, _robosieve):
        gzip_repeated(folder / "l.gz", *parts)
        write_urls(folder, 1000)

    return make


def write_urls(folder, count, path="a/b"):
    (folder / "urls").write_text("".join(f"http://h.example/{number}{path}\n" for number in range(count)))


def deep_hosts(folder, _robosieve):
    """Hosts of 120 labels, each below a domain of its own. All names between are stored too."""
    gzip_repeated(folder / "l.gz", *[DEEP + b"%x.example\n" % number for number in range(20_000)])
    write_urls(folder, 1000)


def paths(folder, _robosieve):
    """Paths of one host, each of which begins the next but the last byte."""
    gzip_repeated(folder / "l.gz", *[b"h.example/%d\n" % number for number in range(200_000)])
    write_urls(folder, 20_000)


def wildcards(folder, _robosieve):
    """Patterns of one host. The paths have all pairs of bytes of each, so that no pattern is dismissed by these."""
    gzip_repeated(folder / "l.gz", *[b"h.example/*a*b*%d\n" % number for number in range(100_000, 300_000)])
    pairs = "".join(f"{first}{second}" for first in range(10) for second in range(10))
    write_urls(folder, 50, "ab" + pairs)


def names(count):
    """Makes a list, and the names for as many lists of it."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"

    def make(folder, _robosieve):
        (folder / "l").write_text("h.example\n")

    words = ("".join(digits[number // 36**place % 36] for place in range(4)) + "=l" for number in range(count))
    return make, "lists -q -o x.rlists " + " ".join(words)


# Forged files.


def compiled(folder, robosieve, lines):
    """A compiled file of a list."""
    (folder / "l").write_text("".join(f"{line}\n" for line in lines))
    robosieve("lists", "-q", "-o", "x.rlists", "l")
    (folder / "l").unlink()
    return (folder / "x.rlists").read_bytes()


def shared_rules(folder, robosieve):
    """A host with 50,000 groups that all have the same rule set of 8,000 patterns."""
    count = 50_000
    honest = compiled(folder, robosieve, [f"h.example/*a*{number}b" for number in range(8000)])
    rows = snapshots.contents(honest)
    groups = rows[PATH_GROUPS][:GROUP] * count + rows[PATH_GROUPS][GROUP:]
    host, = struct.unpack_from("<I", rows[HOST_PATHS])
    host_paths = struct.pack("<4I", host, 0, snapshots.NONE, count)
    forged = snapshots.replace(honest, {HOST_PATHS: host_paths, PATH_GROUPS: groups})
    (folder / "x.rlists").write_bytes(forged)
    write_urls(folder, 1000)


def overlapping(folder, robosieve):
    """All sections for paths are the same bytes: those of a megabyte of patterns."""
    honest = compiled(folder, robosieve, [f"h.example/*a*{number}b" for number in range(100_000)])
    texts = snapshots.contents(honest)[PATH_TEXTS]
    forged = dict.fromkeys([HOST_PATHS, PATH_GROUPS, PATH_RULES, PATH_ENTRIES, PATH_TEXTS], texts)
    (folder / "x.rlists").write_bytes(snapshots.replace(honest, forged, stores_once=True))
    write_urls(folder, 1000)


TOO_MANY, COMPILE_TOO_MANY = names(65_536)

BOMBS = [
    Bomb("own-long-line", "an entry of 1 GB without a line end", text(b"h.example\n", (b"a", 1 << 30)),
         [COMPILE, FILTER, "filter -q --block l.gz urls -o out"], 5, 50),
    Bomb("own-zeros", "10 GB of zero bytes after a line", text(b"h.example\n" * 100, (bytes(MIB), 10_000)), [COMPILE],
         30, 50),
    Bomb("own-blank-lines", "200 million blank lines", text((b"\n", 200_000_000), b"h.example\n"), [COMPILE], 10, 50),
    Bomb("own-equal", "10 million equal entries", text((b"h.example\n", 10_000_000)), [COMPILE, FILTER], 10, 400),
    Bomb("own-labels", "a host of 127 labels 3 million times", text((b"a." * 126 + b"a\n", 3_000_000)),
         [COMPILE, FILTER], 20, 350),
    Bomb("own-deep-hosts", "20,000 hosts of 120 labels that have only the last in common", deep_hosts,
         [COMPILE, FILTER], 10, 400),
    Bomb("own-long-paths", "a path of 60,000 bytes 20,000 times", text((b"h.example/" + b"a" * 60_000 + b"\n", 20_000)),
         [COMPILE, FILTER], 20, 350),
    Bomb("own-paths", "200,000 paths of one host", paths, [COMPILE, FILTER, ANNOTATE], 10, 150),
    Bomb("own-wildcards", "200,000 patterns of one host that nearly match", wildcards, [COMPILE, FILTER], 10, 150),
    Bomb("own-names", "65,536 lists", TOO_MANY, [COMPILE_TOO_MANY], 10, 150, "over 65535 lists"),
]
# These need xxhash.
FORGED = [
    Bomb("own-forged-rules", "50,000 groups of a host with one set of 8,000 patterns", shared_rules,
         [FIND, FILTER, ANNOTATE, ("the entries of the group 0", VERIFY)], 1, 50, "share rule sets"),
    Bomb("own-forged-overlap", "sections for paths that are the same megabyte", overlapping,
         [FIND, FILTER, ANNOTATE, VERIFY], 1, 50, "the sections overlap"),
]
