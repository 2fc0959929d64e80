"""Forged snapshots: small files whose checksums are right, and whose references lead to the same bytes
again and again, or whose counts claim more than they hold. docs/FORMAT.md has the layout."""

import json
import struct

try:
    import xxhash
except ImportError:
    # scripts/x bombs leaves these bombs out.
    xxhash = None

from .bomb import Bomb, zstd

NONE = 0xFFFFFFFF
UNION = 0xFFFFFFFF
NAMES = ["metadata", "index", "origins", "origin metadata", "origin details", "files", "named", "rule sets",
         "tokens", "texts", "dictionary", "strings"]
BLOCK = 65536
CHECKSUMS = 13
# The magic and the version of a snapshot.
SNAPSHOT = b"RSIEVE\x1a\n" + struct.pack("<I", 5)


class Sections(dict):
    """The sections of a snapshot by name, and the counts of its metadata that verification compares."""

    def __init__(self, **counts):
        super().__init__({name: b"" for name in NAMES})
        self["texts"], self["tokens"], self.counts = zstd(size=0), tokens([]), counts

    def assemble(self):
        """The file, with valid checksums."""
        counts = dict.fromkeys(["origins", "redirected", "outcome_rules", "outcome_client_error",
                                "outcome_server_error", "outcome_unreachable", "outcome_unresolved", "files",
                                "rule_sets_before", "rule_sets", "rules", "tokens"], 0)
        counts["origins"] = counts["outcome_rules"] = len(self["origin metadata"]) // 16
        counts["files"] = len(self["files"]) // 16 - 1
        counts["tokens"] = struct.unpack_from("<Q", self["tokens"])[0]
        counts.update(self.counts)
        self["metadata"] = self["metadata"] or json.dumps({"tool": "robosieve 0.1.0", "profile": "google",
                                                           "counts": counts, "captured": None}).encode()
        # Each of these sections is required.
        return file_of([(number, 1, self[name]) for number, name in enumerate(NAMES, 1)])


def file_of(sections, seed=0, kind=SNAPSHOT, stores_once=False):
    """A file with these sections, each a number, flags and bytes, with valid checksums and the seed of the index.
    `kind` is its magic and version. Equal sections may be stored once, so that they overlap."""
    checksums = [b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(content[at:at + BLOCK]))
                          for at in range(0, len(content), BLOCK)) for _, _, content in sections]
    table, body, offset = b"", b"", 40 + 32 * (len(sections) + 1)
    places = {}
    last = (CHECKSUMS, 1, b"".join(checksums))
    for (number, flags, content), sums in zip([*sections, last], [*checksums, None]):
        place = places.get(content)
        if place is None:
            padding = -offset % 64
            place = offset + padding
            body += bytes(padding) + content
            offset = place + len(content)
        if stores_once:
            places[content] = place
        table += struct.pack("<2I3Q", number, flags, place, len(content),
                             0 if sums is None else xxhash.xxh3_64_intdigest(sums))
    head = kind + struct.pack("<IQQ", len(sections) + 1, offset, seed)
    checksum = xxhash.xxh3_64_intdigest(head + bytes(8) + table)
    return head + struct.pack("<Q", checksum) + table + body


def sections_of(data):
    """The sections of a file, whose index has another seed than those that are made here."""
    sections = Sections()
    for row, name in enumerate(NAMES):
        offset, size = struct.unpack_from("<QQ", data, 48 + 32 * row)
        sections[name] = data[offset:offset + size]
    return sections


def rows_of(data):
    """The section table without the checksums: numbers, flags, offsets and lengths."""
    count, = struct.unpack_from("<I", data, 12)
    rows = (struct.unpack_from("<2I2Q", data, 40 + 32 * row) for row in range(count))
    return [row for row in rows if row[0] != CHECKSUMS]


def contents(data):
    """The contents of the sections, by their numbers."""
    return {number: data[offset:offset + size] for number, _, offset, size in rows_of(data)}


def replace(data, others, stores_once=False):
    """A file in which some sections, by their numbers, have other contents."""
    seed, = struct.unpack_from("<Q", data, 24)
    sections = [(number, flags, others.get(number, data[offset:offset + size]))
                for number, flags, offset, size in rows_of(data)]
    return file_of(sections, seed, data[:12], stores_once)


def key(number):
    return b"https://%06d.example" % number


def index_of(keys, offsets):
    """The index as a writer makes it, with seed 0."""
    count = len(keys) // 5 + 1
    buckets = [[[], 0] for _ in range(count)]
    for name, offset in zip(keys, offsets):
        hashed = xxhash.xxh3_64_intdigest(name)
        number = hashed * count >> 64
        while len(buckets[number][0]) == 10:
            buckets[number][1] = 1
            number = (number + 1) % count
        buckets[number][0].append(((hashed & 0xFFFF) or 1, offset))
    return b"".join(bucket(slots, mark) for slots, mark in buckets)


def bucket(slots, mark):
    slots = slots + [(0, NONE)] * (10 - len(slots))
    return struct.pack("<10HB3x10I", *(tag for tag, _ in slots), mark, *(offset for _, offset in slots))


def origins(sections, files):
    """One origin per item of `files`, whose rules are those of the file with this number."""
    entries, rows, offsets = [], [], []
    at = 0
    for row, file in enumerate(files):
        name = key(row)
        entry = struct.pack("<IIHBB", file, row, len(name), 0, 0) + name
        entry += bytes(-len(entry) % 8)
        offsets.append(at // 8)
        rows.append(struct.pack("<IIIHBB", at // 8, NONE, NONE, 200, 0, 0))
        entries.append(entry)
        at += len(entry)
    sections["origins"] = b"".join(entries)
    sections["origin metadata"] = b"".join(rows)
    sections["index"] = index_of([key(row) for row in range(len(files))], offsets)


def tokens(names):
    ends = [0]
    for name in names:
        ends.append(ends[-1] + len(name))
    return struct.pack(f"<Q{len(ends)}Q", len(names), *ends) + b"".join(names)


def rule_set(states=b"", buckets=b"", wildcards=b"", patterns=b"", first=None, second=None):
    """A rule set: `states` are words, packed rules and links; `wildcards` signatures and packed rules.
    The filter has the first and second bytes of the prefixes, or any byte."""
    firsts, seconds = ((1 << 64) - 1 if byte is None else 1 << (byte + byte // 4) % 64 for byte in (first, second))
    head = struct.pack("<4I2Q", len(states) // 24, len(buckets) // 16, len(wildcards) // 24, len(patterns),
                       firsts, seconds)
    out = head + states + buckets + wildcards + patterns
    return out + bytes(-len(out) % 8)


def packed(offset, length, flags=0):
    """A packed rule that disallows; bit 0 of the flags allows."""
    return struct.pack("<Q", offset | length << 36 | flags << 56)


def link(parent, number, rank):
    return struct.pack("<Q", parent | number << 22 | rank << 44)


NO_STATE = (1 << 22) - 1
WORD = struct.pack("<Q", int.from_bytes(b"aaaaaaaa", "big"))


def short_word(number):
    """The word of the pattern `/a` and three bytes, in the order of the numbers."""
    return struct.pack(">8B", 0x61, *(0x40 + (number >> bits & 63) for bits in (12, 6, 0)), 0, 0, 0, 0)[::-1]


def literal_set(number):
    """A rule set of one short rule, as an encoder writes it."""
    states = short_word(number) + packed(0, 5) + link(NO_STATE, 0, 10)
    return rule_set(states, first=0x61, second=0x40 + (number >> 12))


def union(offsets):
    out = struct.pack("<II", UNION, len(offsets)) + struct.pack(f"<{len(offsets)}I", *offsets)
    return out + bytes(-len(out) % 8)


def write(folder, sections, urls):
    """Writes the inputs: the snapshot unless it is there, URLs, an archive, and a snapshot with the same rules for
    `diff`, whose texts count as others because of their dictionary."""
    if not (folder / "x.rsieve").exists():
        (folder / "x.rsieve").write_bytes(sections.assemble())
    sections["dictionary"] += b" "
    (folder / "y.rsieve").write_bytes(sections.assemble())
    (folder / "new.jsonl").write_text('{"url": "https://new.example/robots.txt", "status": 404}\n')
    (folder / "urls").write_bytes(b"".join(url + b"\n" for url in urls))


def with_files(sections, files, keys):
    """Adds files, each by the offset of its global rules and its first named row, and origins, each by the number
    of its file. Every file has a text of its own, equal to the one that is there."""
    text, ends = sections["texts"], (NONE, len(sections["named"]) // 8)
    sections["texts"] = text * len(files)
    # The last row has the ends.
    rows = enumerate([*files, ends])
    sections["files"] = b"".join(struct.pack("<IIQ", *row, number * len(text)) for number, row in rows)
    origins(sections, keys)
    return sections


def one_file(sets, offset=0, **counts):
    """One origin with one file, whose global rules are at an offset of the rule sets."""
    sections = Sections(**{"rule_sets": 1} | counts)
    sections["rule sets"] = sets
    return with_files(sections, [(offset, 0)], [0])


def paths(count, path=b"/" + b"a" * 4000):
    return [key(0) + path + b"%d" % number for number in range(count)]


def pages(count):
    """A URL of each origin."""
    return [key(number) + b"/" for number in range(count)]


COMMANDS = {
    "inspect": "inspect --verify x.rsieve",
    "filter": "filter -q -s x.rsieve -a FooBot urls -o out",
    "report": "report -q -s x.rsieve -a FooBot",
    "export": "export -q -s x.rsieve -a FooBot -o out.tsv",
    "lint": "lint -q -s x.rsieve",
    "diff": "diff -q x.rsieve y.rsieve -a FooBot",
    "agents": "agents -q -s x.rsieve",
    "compile": "compile -q --previous x.rsieve -o new.rsieve new.jsonl",
}
SHARED_BYTES = "pattern bytes, whose rules have"
SHARED_PATTERNS = "wildcard rules that share their patterns"
MORE_RULES = "more rules than 500 KiB of a robots.txt have"
LONG_UNION = "a union of 100000 rule sets"
LARGE_UNION = "a union of over 8 MB of rules"
# `report` compares some rules with the text, which a forger forgets.
OTHER_TEXT = ("report", "contradicts its compiled rules")
BOMBS = []


def bomb(what, *refusals, seconds=1, mebibytes=100, skip=""):
    """A bomb for all commands but those of `skip`, by a function that returns the sections and the URLs. A refusal
    is the names of commands, or `all`, and the words of their message; a later one precedes an earlier one."""
    refused = dict.fromkeys(COMMANDS)
    for verbs, words in refusals:
        refused.update(dict.fromkeys(COMMANDS if verbs == "all" else verbs.split(), words))
    runs = [(refused[verb], command) for verb, command in COMMANDS.items() if verb not in skip.split()]

    def add(forge):
        def make(folder, robosieve):
            write(folder, *forge(folder, robosieve))

        BOMBS.append(Bomb("snapshot-" + forge.__name__.replace("_", "-"), what, make, runs, seconds, mebibytes))

    return add


@bomb("100,000 literal rules with one pattern of 64 KiB", ("inspect compile", SHARED_BYTES), ("report", MORE_RULES))
def literal_rules_that_share_a_pattern(_folder, _robosieve):
    count, length = 100_000, 65_535
    states = WORD * count + packed(0, length) * count + link(NO_STATE, 0, 2 * length) * count
    return one_file(rule_set(states=states, patterns=b"a" * (length - 9)), rules=count), paths(1000)


@bomb("100,000 wildcard rules with one pattern of 64 KiB",
      ("inspect compile", SHARED_BYTES), ("filter report export agents", SHARED_PATTERNS))
def wildcard_rules_that_share_a_pattern(_folder, _robosieve):
    count, pattern = 100_000, b"*a" * 30_000 + b"x"
    buckets = struct.pack("<4I", 0, 0, 2 * len(pattern), 0)
    wildcards = bytes(16) * count + packed(0, len(pattern)) * count
    return one_file(rule_set(buckets=buckets, wildcards=wildcards, patterns=pattern), rules=count), paths(1000)


@bomb("40,000 wildcard rules with one prefix of 64 KiB", ("inspect compile report export agents", MORE_RULES))
def rules_that_share_a_prefix(_folder, _robosieve):
    """Wildcard rules of one bucket, as an encoder writes them: each stores only what follows the prefix."""
    prefix, count = b"/" + b"a" * 65_000, 40_000
    tails = b"".join(b"*" + short_word(number)[4:7] for number in range(count))
    states = WORD + packed(0, len(prefix), 4) + link(NO_STATE, 1, 0)
    buckets = struct.pack("<8I", 0, 0, 0, 0, 0, len(prefix), 2 * len(prefix) + 8, 0)
    wildcards = bytes(16) * count + b"".join(packed(len(prefix) - 9 + 4 * number, len(prefix) + 4)
                                             for number in range(count))
    return one_file(rule_set(states, buckets, wildcards, prefix[9:] + tails), rules=count), paths(100, prefix)


@bomb("50 robots.txt files with 190 rules of 8 KB, compiled", skip="lint")
def rules_of_a_long_prefix(folder, robosieve):
    """The rules of a file have the same beginning of 8 KB. The snapshot is compiled, not forged."""
    with open(folder / "long.jsonl", "w") as archive:
        for number in range(50):
            line = "disallow: /%d/" % number + "\xe9" * 1_300 + "*"
            body = "user-agent: *\n" + "".join(f"{line}{rule}\n" for rule in range(190))
            archive.write(json.dumps({"url": key(number).decode() + "/robots.txt", "body": body}) + "\n")
    robosieve("compile", "-q", "long.jsonl", "-o", "x.rsieve")
    (folder / "long.jsonl").unlink()
    return sections_of((folder / "x.rsieve").read_bytes()), paths(100)


@bomb("300,000 prefixes, each linked to the one before",
      ("inspect compile", SHARED_BYTES), ("report", MORE_RULES), ("filter", "a chain of prefix links"))
def chain_of_prefixes(_folder, _robosieve):
    """Each state links to the state before it, and none is a prefix of any path."""
    count = 300_000
    links = b"".join(link(max(state - 1, 0) if state else NO_STATE, 0, 8) for state in range(count))
    rules = rule_set(states=WORD * count + packed(0, 60_000) * count + links, patterns=b"A" * 60_000)
    return one_file(rules, rules=count), paths(20_000, b"/aaaaaaaab")


@bomb("100,000 wildcard buckets with the same 100,000 rules",
      ("inspect compile filter report export agents", "wildcard buckets that share rules"))
def overlapping_buckets(_folder, _robosieve):
    """Every other wildcard bucket of a chain has all rules."""
    buckets, rules = 100_000, 100_000
    states = struct.pack("<Q", 0) + packed(0, 1, 4) + link(NO_STATE, buckets - 1, 0)
    rows = b"".join(struct.pack("<4I", number % 2 * rules, 1, (1 - number % 2) << 19, max(number - 1, 0))
                    for number in range(buckets))
    wildcards = b"\xff" * 16 * rules + packed(0, 2) * rules
    return one_file(rule_set(states, rows, wildcards, b"*b"), rules=rules), paths(1000, b"/aaaaaaaa")


def unions(number):
    """Unions of the same 100,000 distinct rule sets."""
    count = 100_000
    single = [literal_set(number) for number in range(count)]
    size = len(single[0]) // 8
    rules = b"".join(single) + union([number * size for number in range(count)]) * number
    return one_file(rules, count * size, rules=count, rule_sets=count + number), paths(20_000, b"/aaaa")


@bomb("a union of 100,000 rule sets", ("all", LONG_UNION), ("lint", None))
def long_union(_folder, _robosieve):
    return unions(1)


@bomb("a union of one set of 50,000 rules, 20,000 times",
      ("filter report export agents", LARGE_UNION), ("inspect compile", SHARED_BYTES))
def union_that_repeats(_folder, _robosieve):
    count = 50_000
    wildcards = b"\xff" * 16 * count + packed(0, 2) * count
    large = rule_set(buckets=struct.pack("<4I", 0, 0, 4, 0), wildcards=wildcards, patterns=b"*b")
    return one_file(large + union([0] * 20_000), len(large) // 8, rules=count, rule_sets=2), paths(1000)


@bomb("20 unions of 100,000 rule sets", ("all", LONG_UNION), ("lint", None))
def many_unions(_folder, _robosieve):
    return unions(20)


@bomb("20,000 files with one compressed text of 512 KB", ("all", "files are out of order"))
def files_that_share_a_frame(_folder, _robosieve):
    """Every other row ends where the text does, the others begin there."""
    count = 40_000
    sections = with_files(Sections(), [(NONE, 0)] * count, range(0, count, 2))
    sections["texts"] = zstd((b"a", 512_000), size=512_000)
    ends = [*[0, len(sections["texts"])] * (count // 2), len(sections["texts"])]
    sections["files"] = b"".join(struct.pack("<IIQ", NONE, 0, end) for end in ends)
    return sections, pages(count // 2)


@bomb("10,000 files with the same 50,000 names", ("all", "files are out of order"))
def files_that_share_names(_folder, _robosieve):
    count, names = 20_000, 50_000
    sections = Sections(rule_sets=1)
    sections["tokens"] = tokens([b"%06d" % number for number in range(names)])
    sections["rule sets"] = rule_set()
    sections["named"] = b"".join(struct.pack("<II", number, 0) for number in range(names))
    files = [(NONE, number % 2 * names) for number in range(count)]
    return with_files(sections, files, range(0, count, 2)), pages(count // 2)


@bomb("20,000 files with the same 100,000 rules", OTHER_TEXT)
def files_that_share_rules(_folder, _robosieve):
    """The files have no text, and all the same rule set."""
    count, rules = 20_000, 100_000
    words = b"".join(map(short_word, range(rules)))
    large = bytearray(rule_set(states=words + packed(0, 5) * rules + link(NO_STATE, 0, 10) * rules, first=0x61))
    seconds = {0x40 + (number >> 12) for number in range(rules)}
    struct.pack_into("<Q", large, 24, sum(1 << (byte + byte // 4) % 64 for byte in seconds))
    sections = Sections(rules=rules, rule_sets=1)
    sections["rule sets"] = bytes(large)
    return with_files(sections, [(0, 0)] * count, range(count)), pages(count)


# `export` and `lint` parse each line of these texts, which are a gigabyte.
@bomb("2,000 texts of 512 KB in 100 bytes each", skip="export lint", seconds=5)
def texts_that_expand(folder, robosieve):
    """Texts of repeated lines, as a compiler stores them."""
    count = 2_000
    body = "user-agent: a\ndisallow: /b\n" * 18_900
    (folder / "one.jsonl").write_text(json.dumps({"url": "https://a.example/robots.txt", "body": body}))
    robosieve("compile", "-q", "one.jsonl", "-o", "one.rsieve")
    honest = sections_of((folder / "one.rsieve").read_bytes())
    (folder / "one.jsonl").unlink()
    (folder / "one.rsieve").unlink()
    sections = Sections(rules=1, rule_sets=1)
    sections.update({name: honest[name] for name in ("dictionary", "rule sets", "tokens", "texts")})
    sections["named"] = honest["named"] * count
    return with_files(sections, [(NONE, number) for number in range(count)], range(count)), pages(count)


@bomb("an index whose buckets are all full and marked",
      ("inspect compile", "an index of 100010 keys for 50000 origins"))
def marked_buckets(_folder, _robosieve):
    """A search visits sixteen buckets, and reads the entries of all equal tags."""
    sections = with_files(Sections(), [(NONE, 0)], [0] * 50_000)
    honest = sections["index"]
    buckets = []
    for at in range(0, len(honest), 64):
        fields = struct.unpack_from("<10HB3x10I", honest, at)
        slots = [(tag, offset) for tag, offset in zip(fields[:10], fields[11:]) if tag]
        buckets.append(bucket((slots + [(7, 0)] * 10)[:10], 1))
    sections["index"] = b"".join(buckets)
    return sections, [b"https://%d.absent/" % number for number in range(200_000)]


@bomb("40,000 keys of 64,000 bytes in one another", ("all", "does not end where the next one begins"),
      ("filter", None), ("inspect compile", "an index of 0 keys"))
def overlapping_origins(_folder, _robosieve):
    """The key of each entry has the entries of the next origins in it."""
    count, length = 40_000, 64_000
    # Hashing these keys here would take an hour: look-ups fail at the first one, after the pass over all.
    sections = with_files(Sections(), [(NONE, 0)], [])
    entries = b"".join(struct.pack("<IIHBB", 0, row, length, 0, 0) + struct.pack(">I", row) for row in range(count))
    sections["origins"] = entries + bytes(length)
    sections["origin metadata"] = b"".join(struct.pack("<IIIHBB", 2 * row, NONE, NONE, 200, 0, 0)
                                           for row in range(count))
    return sections, [b"https://%d.absent/" % number for number in range(1000)]


@bomb("2^60 agent names", ("all", "a token's"), ("lint", None))
def claimed_tokens(_folder, _robosieve):
    sections = one_file(rule_set())
    sections["tokens"] = struct.pack("<2Q", 1 << 60, 0)
    return sections, paths(10)


# The output has 330 MB.
@bomb("5,000 reasons that are one text of 64 KiB", seconds=3)
def strings_that_are_shared(_folder, _robosieve):
    """The reasons why origins have no answer."""
    count = 5_000
    sections = with_files(Sections(outcome_rules=0, outcome_unreachable=count), [(NONE, 0)], [NONE] * count)
    sections["strings"] = struct.pack("<H", 65_535) + b"x" * 65_535 + bytes(3)
    rows, entries = [], bytearray(sections["origins"])
    for row in range(count):
        at = struct.unpack_from("<I", sections["origin metadata"], 16 * row)[0]
        entries[8 * at + 10] = 3
        rows.append(struct.pack("<IIIHBB", at, NONE, row, 0, 8, 3))
    sections["origins"] = bytes(entries)
    sections["origin metadata"] = b"".join(rows)
    unknown = -1 << 63
    sections["origin details"] = struct.pack("<3q4I", unknown, unknown, unknown, NONE, NONE, NONE, 0) * count
    return sections, pages(count)


@bomb("metadata of four million brackets", ("all", "the metadata"))
def nested_metadata(_folder, _robosieve):
    sections = one_file(rule_set())
    sections["metadata"] = b'{"x":' + b"[" * 4_000_000
    return sections, paths(10)
