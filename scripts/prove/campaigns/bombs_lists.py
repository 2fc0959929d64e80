"""Hostile filter lists, as texts and compiled. docs/LIMITS.md, "Compiled filter lists"."""

import json
import struct

from . import bombs_snapshots as snapshots
from .bomb import Bomb
from .bombs_inputs import MIB, gzip_repeated

COMPILE = "lists -q -o x.rlists l.gz"
FIND = "lists x.rlists --find http://h.example/a/b"
VERIFY = "lists --verify x.rlists"
FILTER = "filter -q --lists x.rlists urls -o out --listed-to listed"
ANNOTATE = "annotate -q --lists x.rlists --as jsonl --add list,entry urls -o out"
COMPILE_WORDS = "lists -q -o x.rlists --block-words l.gz"
COMPILE_SOFT = "lists -q -o x.rlists --soft-words l.gz --soft-threshold 1000"
COMPILE_SUBSTRINGS = "lists -q -o x.rlists --block-substrings l.gz"

# Numbers of sections.
METADATA = 26
HOST_PATHS, PATH_GROUPS, PATH_RULES, PATH_ENTRIES, PATH_TEXTS = range(34, 39)
WORDS, WORD_TEXTS = 39, 40
# The bytes of a row of `path groups`, and where it has its scheme.
GROUP, SCHEME = 12, 1

# Most of the bytes that the name of a host may have, in labels of one byte.
DEEP = b"a." * 118

# The length of the longest word.
MAX_WORD = 255


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


def numbered(count):
    """Makes a list, l.gz, of as many words of six letters and digits."""

    def make(folder, _robosieve):
        gzip_repeated(folder / "l.gz", b"".join(b"%06x\n" % number for number in range(count)))
        write_urls(folder, 20_000)

    return make


def word_prefixes(folder, _robosieve):
    """All words of one letter. The filter takes the tokens of the URLs for words, because it only looks at their
    lengths and ends. All comparisons of the searches end near the end of the shorter text."""
    gzip_repeated(folder / "l.gz", b"".join(b"a" * length + b"\n" for length in range(1, MAX_WORD + 1)))
    tokens = ["a" * (length - 9) + "b" + "a" * 8 for length in range(17, MAX_WORD + 1)]
    (folder / "urls").write_text(f"http://h.example/{'/'.join(tokens)}\n" * 1000)


def substring_prefixes(folder, _robosieve):
    """Substrings with 240 letters in common, some of which begin with each other. In the URLs, each place but the
    last ones begins with these letters, and with no substring."""
    common = b"a" * 240
    texts = [common + b"%06d" % number for number in range(100_000)]
    texts += [common + b"b" * length for length in range(2, 16)]
    gzip_repeated(folder / "l.gz", b"\n".join(texts))
    write_urls(folder, 20, "a" * 60_000)


def soft_words(folder, _robosieve):
    """200,000 soft words, and a URL of 1 MB that has 999 of them, again and again."""
    gzip_repeated(folder / "l.gz", b"".join(b"%05x\n" % number for number in range(200_000)))
    tokens = "/".join(f"{200 * number:05x}" for number in range(999))
    (folder / "urls").write_text(f"http://h.example/{'/'.join([tokens] * 175)}\n")


def escapes(folder, _robosieve):
    """URLs of 60 KB, in which each character of a path is an escape, or begins one in vain."""
    gzip_repeated(folder / "l.gz", b"aa\n")
    gzip_repeated(folder / "urls.gz", (b"http://h.example/" + b"%61" * 20_000 + b"\n", 1000),
                  (b"http://h.example/" + b"%%6" * 20_000 + b"\n", 1000))


# Forged files.


def compiled(folder, robosieve, lines, *options):
    """A compiled file of a list. An option names its kind."""
    (folder / "l").write_text("".join(f"{line}\n" for line in lines))
    robosieve("lists", "-q", "-o", "x.rlists", *options, "l")
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


def word_rows(places):
    """Rows of substrings, each with the offset of its text and whether it is one."""
    return b"".join(struct.pack("<I4H", text, 0, 0, is_substring, 0) for text, is_substring in places)


def write_substrings(folder, robosieve, places, texts):
    """A compiled file with these rows and these texts."""
    honest = compiled(folder, robosieve, ["ab"], "--block-substrings")
    forged = snapshots.replace(honest, {WORDS: word_rows(places), WORD_TEXTS: texts})
    (folder / "x.rlists").write_bytes(forged)
    write_urls(folder, 1000)


def shared_substrings(folder, robosieve):
    """Substrings that are all parts of 255 bytes of a text of 9 KB. They ascend, as honest ones do."""
    texts = b"".join(bytes([letter]) * MAX_WORD for letter in b"0123456789abcdefghijklmnopqrstuvwxyz")
    starts = range(len(texts) - MAX_WORD)
    # Every other row leads back to the start of the next part.
    places = [place for start in starts for place in [(start, 1), (start + MAX_WORD, 0)]]
    write_substrings(folder, robosieve, [*places, (0, 0)], texts)


def equal_substrings(folder, robosieve):
    """Substrings of one letter, 131,072 times, and a substring of as many."""
    count = 128 << 10
    places = [(0, 1), (1, 0)] * count + [(0, 1), (count, 0)]
    write_substrings(folder, robosieve, places, b"a" * count)


def endless_threshold(folder, robosieve):
    """A file whose 200,000 soft words are never enough, and a URL that has all of them."""
    words = [f"{number:05x}" for number in range(200_000)]
    honest = compiled(folder, robosieve, words, "--soft-words")
    metadata = json.loads(snapshots.contents(honest)[METADATA])
    metadata["words"]["soft_threshold"] = 0xFFFFFFFF
    forged = snapshots.replace(honest, {METADATA: json.dumps(metadata).encode()})
    (folder / "x.rlists").write_bytes(forged)
    (folder / "urls").write_text(f"http://h.example/{'/'.join(words)}\n")


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
    Bomb("own-words", "a million words", numbered(1_000_000), [COMPILE_WORDS, FILTER, VERIFY], 10, 250),
    Bomb("own-word-lines", "a line of words of 1 GB", text(b"casino\n", (b"casino " * 1000, 150_000)),
         [COMPILE_WORDS, FILTER, "filter -q --block-substrings l.gz urls -o out"], 10, 50),
    Bomb("own-word-prefixes", "255 words that are prefixes of each other, and tokens that the filter takes for them",
         word_prefixes, [COMPILE_WORDS, FILTER], 10, 50),
    Bomb("own-substring-prefixes", "100,000 substrings with 240 letters in common, and 20 URLs of these letters",
         substring_prefixes, [COMPILE_SUBSTRINGS, FILTER, VERIFY], 20, 250),
    Bomb("own-substrings", "a million substrings", numbered(1_000_000), [COMPILE_SUBSTRINGS, FILTER, VERIFY], 10, 250),
    Bomb("own-soft-words", "a URL of 1 MB of soft words, one different word short of the threshold", soft_words,
         [COMPILE_SOFT, FILTER, ANNOTATE], 5, 100),
    Bomb("own-escapes", "2,000 URLs of 60 KB of percent escapes", escapes,
         [COMPILE_WORDS, "filter -q --lists x.rlists urls.gz -o out"], 10, 50),
]
# These need xxhash.
FORGED = [
    Bomb("own-forged-rules", "50,000 groups of a host with one set of 8,000 patterns", shared_rules,
         [FIND, FILTER, ANNOTATE, ("the entries of the group 0", VERIFY)], 1, 50, "share rule sets"),
    Bomb("own-forged-overlap", "sections for paths that are the same megabyte", overlapping,
         [FIND, FILTER, ANNOTATE, VERIFY], 1, 50, "the sections overlap"),
    Bomb("own-forged-substrings", "9,000 substrings of 255 bytes that are parts of 9 KB", shared_substrings,
         [FIND, FILTER, ANNOTATE, ("the word 1", VERIFY)], 1, 50),
    Bomb("own-forged-equal", "131,072 equal substrings", equal_substrings,
         [FIND, FILTER, ANNOTATE, VERIFY], 1, 50, "substrings that are empty, equal"),
    Bomb("own-forged-threshold", "200,000 soft words that are never enough, in a URL of 1 MB", endless_threshold,
         [FIND, FILTER, VERIFY], 1, 100, "a threshold of 4294967295 soft words"),
]
