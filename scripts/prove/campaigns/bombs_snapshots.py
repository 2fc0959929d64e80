"""Forged snapshots: small files whose checksums are right, and whose references lead to the same bytes
again and again, or whose counts claim more than they hold. docs/FORMAT.md has the layout."""

import json
import struct

try:
    import xxhash
except ImportError:
    # scripts/x bombs leaves these bombs out.
    xxhash = None

from .bomb import Bomb

NONE = 0xFFFFFFFF
UNION = 0xFFFFFFFF
NAMES = ["metadata", "index", "origins", "origin metadata", "origin details", "files", "named", "rule sets",
         "tokens", "texts", "dictionary", "strings"]
BLOCK = 65536


class Sections(dict):
    """The sections of a snapshot by name, and the counts of its metadata that verification compares."""

    def __init__(self):
        super().__init__({name: b"" for name in NAMES})
        self.counts = {}

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
        checksums = {name: b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(self[name][at:at + BLOCK]))
                                    for at in range(0, len(self[name]), BLOCK)) for name in NAMES}
        table, body, offset = b"", b"", 40 + 13 * 32
        for number, name in enumerate([*NAMES, "checksums"], 1):
            is_last = name == "checksums"
            content = b"".join(checksums.values()) if is_last else self[name]
            padding = -offset % 64
            offset += padding
            # Each of these sections is required.
            table += struct.pack("<2I", number, 1)
            table += struct.pack("<3Q", offset, len(content), 0 if is_last else xxhash.xxh3_64_intdigest(checksums[name]))
            body += bytes(padding) + content
            offset += len(content)
        head = b"RSIEVE\x1a\n" + struct.pack("<IIQQ", 5, 13, offset, 0)
        checksum = xxhash.xxh3_64_intdigest(head + bytes(8) + table)
        return head + struct.pack("<Q", checksum) + table + body


def sections_of(data):
    """The sections of a file, whose index has another seed than those that are made here."""
    sections = Sections()
    for row, name in enumerate(NAMES):
        offset, size = struct.unpack_from("<QQ", data, 48 + 32 * row)
        sections[name] = data[offset:offset + size]
    return sections


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


def rows_of_files(rows):
    """Rows of `files`: global rules, first named row, start of the frame; the last has the ends."""
    return b"".join(struct.pack("<IIQ", *row) for row in rows)


def tokens(names):
    ends = [0]
    for name in names:
        ends.append(ends[-1] + len(name))
    return struct.pack(f"<Q{len(ends)}Q", len(names), *ends) + b"".join(names)


def frame(size, byte=b"\n"):
    """A zstd frame of `size` equal bytes: four bytes for every 128 KiB."""
    out = struct.pack("<IBI", 0xFD2FB528, 0xA0, size)
    if size == 0:
        return out + b"\1\0\0"
    while size > 0:
        part = min(size, 128 << 10)
        size -= part
        out += struct.pack("<I", (size == 0) | 1 << 1 | part << 3)[:3] + byte
    return out


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


def one_file(sections, rules, offset=0):
    """One origin with one file, whose global rules are at an offset of `rules`."""
    sections["rule sets"] = rules
    sections["tokens"] = tokens([])
    sections["texts"] = frame(0)
    sections["files"] = rows_of_files([(offset, 0, 0), (NONE, 0, len(sections["texts"]))])
    origins(sections, [0])
    sections.counts.setdefault("rule_sets", 1)


def write(folder, sections, urls):
    (folder / "x.rsieve").write_bytes(sections.assemble())
    finish(folder, sections, urls)


def finish(folder, sections, urls):
    """Writes the other inputs: URLs, an archive, and a snapshot with the same rules for `diff`, whose texts
    count as others because of their dictionary."""
    sections["dictionary"] += b" "
    (folder / "y.rsieve").write_bytes(sections.assemble())
    (folder / "new.jsonl").write_text('{"url": "https://new.example/robots.txt", "status": 404}\n')
    (folder / "urls").write_bytes(b"".join(url + b"\n" for url in urls))


def paths(count, path=b"/" + b"a" * 4000):
    return [key(0) + path + b"%d" % number for number in range(count)]


COMMANDS = {
    "inspect": ["inspect", "--verify", "x.rsieve"],
    "filter": ["filter", "-q", "-s", "x.rsieve", "-a", "FooBot", "urls", "-o", "out"],
    "report": ["report", "-q", "-s", "x.rsieve", "-a", "FooBot"],
    "export": ["export", "-q", "-s", "x.rsieve", "-a", "FooBot", "-o", "out.tsv"],
    "lint": ["lint", "-q", "-s", "x.rsieve"],
    "diff": ["diff", "-q", "x.rsieve", "y.rsieve", "-a", "FooBot"],
    "agents": ["agents", "-q", "-s", "x.rsieve"],
    "compile": ["compile", "-q", "--previous", "x.rsieve", "-o", "new.rsieve", "new.jsonl"],
}


def literal_rules_that_share_a_pattern(folder, _):
    count, length = 100_000, 65_535
    sections = Sections()
    sections.counts["rules"] = count
    states = WORD * count + packed(0, length) * count + link(NO_STATE, 0, 2 * length) * count
    one_file(sections, rule_set(states=states, patterns=b"a" * (length - 9)))
    write(folder, sections, paths(1000))


def wildcard_rules_that_share_a_pattern(folder, _):
    count, pattern = 100_000, b"*a" * 30_000 + b"x"
    sections = Sections()
    sections.counts["rules"] = count
    buckets = struct.pack("<4I", 0, 0, 2 * len(pattern), 0)
    wildcards = bytes(16) * count + packed(0, len(pattern)) * count
    one_file(sections, rule_set(buckets=buckets, wildcards=wildcards, patterns=pattern))
    write(folder, sections, paths(1000))


def rules_that_share_a_prefix(folder, _):
    """Wildcard rules of one bucket, as an encoder writes them: each stores only what follows the prefix."""
    prefix, count = b"/" + b"a" * 65_000, 40_000
    tails = b"".join(b"*" + short_word(number)[4:7] for number in range(count))
    sections = Sections()
    sections.counts["rules"] = count
    states = WORD + packed(0, len(prefix), 4) + link(NO_STATE, 1, 0)
    buckets = struct.pack("<8I", 0, 0, 0, 0, 0, len(prefix), 2 * len(prefix) + 8, 0)
    wildcards = bytes(16) * count + b"".join(packed(len(prefix) - 9 + 4 * number, len(prefix) + 4)
                                             for number in range(count))
    one_file(sections, rule_set(states, buckets, wildcards, prefix[9:] + tails))
    write(folder, sections, [key(0) + prefix + b"%d" % number for number in range(100)])


def rules_of_a_long_prefix(folder, robosieve):
    """50 robots.txt files of 500 KB, whose rules have the same beginning of 8 KB: compiled, not forged."""
    with open(folder / "long.jsonl", "w") as archive:
        for number in range(50):
            line = "disallow: /%d/" % number + "\xe9" * 1_300 + "*"
            body = "user-agent: *\n" + "".join(f"{line}{rule}\n" for rule in range(190))
            archive.write(json.dumps({"url": key(number).decode() + "/robots.txt", "body": body}) + "\n")
    robosieve("compile", "-q", "long.jsonl", "-o", "x.rsieve")
    (folder / "long.jsonl").unlink()
    finish(folder, sections_of((folder / "x.rsieve").read_bytes()), paths(100))


def chain_of_prefixes(folder, _):
    """Each state links to the state before it, and none is a prefix of any path."""
    count = 300_000
    sections = Sections()
    sections.counts["rules"] = count
    links = b"".join(link(max(state - 1, 0) if state else NO_STATE, 0, 8) for state in range(count))
    one_file(sections, rule_set(states=WORD * count + packed(0, 60_000) * count + links, patterns=b"A" * 60_000))
    write(folder, sections, paths(20_000, b"/aaaaaaaab"))


def overlapping_buckets(folder, _):
    """Every other wildcard bucket of a chain has all rules."""
    buckets, rules = 100_000, 100_000
    sections = Sections()
    sections.counts["rules"] = rules
    states = WORD[:0] + struct.pack("<Q", 0) + packed(0, 1, 4) + link(NO_STATE, buckets - 1, 0)
    rows = b"".join(struct.pack("<4I", number % 2 * rules, 1, (1 - number % 2) << 19, max(number - 1, 0))
                    for number in range(buckets))
    wildcards = b"\xff" * 16 * rules + packed(0, 2) * rules
    one_file(sections, rule_set(states, rows, wildcards, b"*b"))
    write(folder, sections, paths(1000, b"/aaaaaaaa"))


def unions(folder, number):
    """Unions of the same 100,000 distinct rule sets."""
    count = 100_000
    single = [literal_set(number) for number in range(count)]
    size = len(single[0]) // 8
    sections = Sections()
    sections.counts.update(rules=count, rule_sets=count + number)
    offsets = [number * size for number in range(count)]
    one_file(sections, b"".join(single) + union(offsets) * number, count * size)
    write(folder, sections, paths(20_000, b"/aaaa"))


def long_union(folder, _):
    """One union of 100,000 distinct rule sets."""
    unions(folder, 1)


def union_that_repeats(folder, _):
    """A union that has one large rule set 20,000 times."""
    count = 50_000
    sections = Sections()
    sections.counts.update(rules=count, rule_sets=2)
    wildcards = b"\xff" * 16 * count + packed(0, 2) * count
    large = rule_set(buckets=struct.pack("<4I", 0, 0, 4, 0), wildcards=wildcards, patterns=b"*b")
    one_file(sections, large + union([0] * 20_000), len(large) // 8)
    write(folder, sections, paths(1000))


def many_unions(folder, _):
    """20 unions of 100,000 rule sets."""
    unions(folder, 20)


def files_that_share_a_frame(folder, _):
    """20,000 files with the same text: every other row ends where the text does, the others begin there."""
    count = 40_000
    sections = Sections()
    text = frame(512_000, b"a")
    sections["texts"] = text
    sections["tokens"] = tokens([])
    rows = [(NONE, 0, number % 2 * len(text)) for number in range(count + 1)]
    rows[-1] = (NONE, 0, len(text))
    sections["files"] = rows_of_files(rows)
    origins(sections, range(0, count, 2))
    write(folder, sections, [key(number) + b"/" for number in range(0, count // 2)])


def files_that_share_names(folder, _):
    """10,000 files with the same 50,000 agent names."""
    count, names = 20_000, 50_000
    sections = Sections()
    sections["texts"] = frame(0) * count
    sections["tokens"] = tokens([b"%06d" % number for number in range(names)])
    sections["rule sets"] = rule_set()
    sections.counts["rule_sets"] = 1
    sections["named"] = b"".join(struct.pack("<II", number, 0) for number in range(names))
    size = len(frame(0))
    sections["files"] = rows_of_files([(NONE, number % 2 * names, number * size) for number in range(count)]
                                      + [(NONE, names, count * size)])
    origins(sections, range(0, count, 2))
    write(folder, sections, [key(number) + b"/" for number in range(0, count // 2)])


def files_that_share_rules(folder, _):
    """20,000 files without text, all with the same rule set of 100,000 rules."""
    count, rules = 20_000, 100_000
    sections = Sections()
    words = b"".join(map(short_word, range(rules)))
    large = bytearray(rule_set(states=words + packed(0, 5) * rules + link(NO_STATE, 0, 10) * rules, first=0x61))
    seconds = {0x40 + (number >> 12) for number in range(rules)}
    struct.pack_into("<Q", large, 24, sum(1 << (byte + byte // 4) % 64 for byte in seconds))
    sections["rule sets"] = bytes(large)
    sections.counts.update(rules=rules, rule_sets=1)
    sections["texts"] = frame(0) * count
    sections["tokens"] = tokens([])
    size = len(frame(0))
    sections["files"] = rows_of_files([(0, 0, number * size) for number in range(count)] + [(NONE, 0, count * size)])
    origins(sections, range(count))
    write(folder, sections, [key(number) + b"/" for number in range(count)])


def texts_that_expand(folder, robosieve):
    """2,000 texts of 512 KB, each in some 100 bytes: repeated lines, as a compiler stores them."""
    count = 2_000
    body = "user-agent: a\ndisallow: /b\n" * 18_900
    (folder / "one.jsonl").write_text(json.dumps({"url": "https://a.example/robots.txt", "body": body}))
    robosieve("compile", "-q", "one.jsonl", "-o", "one.rsieve")
    honest = sections_of((folder / "one.rsieve").read_bytes())
    (folder / "one.jsonl").unlink()
    (folder / "one.rsieve").unlink()
    text = honest["texts"]
    sections = Sections()
    sections["dictionary"] = honest["dictionary"]
    sections["rule sets"] = honest["rule sets"]
    sections["tokens"] = honest["tokens"]
    sections["named"] = honest["named"] * count
    sections.counts.update(rules=1, rule_sets=1)
    sections["texts"] = text * count
    sections["files"] = rows_of_files([(NONE, number, number * len(text)) for number in range(count + 1)])
    origins(sections, range(count))
    write(folder, sections, [key(number) + b"/" for number in range(count)])


def marked_buckets(folder, _):
    """Every bucket of the index is marked and full, so that a search visits sixteen and reads the entries
    of all equal tags."""
    count = 50_000
    sections = Sections()
    sections["texts"] = frame(0)
    sections["tokens"] = tokens([])
    sections["files"] = rows_of_files([(NONE, 0, 0), (NONE, 0, len(sections["texts"]))])
    origins(sections, [0] * count)
    honest = sections["index"]
    buckets = []
    for at in range(0, len(honest), 64):
        fields = struct.unpack_from("<10HB3x10I", honest, at)
        slots = [(tag, offset) for tag, offset in zip(fields[:10], fields[11:]) if tag]
        buckets.append(bucket((slots + [(7, 0)] * 10)[:10], 1))
    sections["index"] = b"".join(buckets)
    write(folder, sections, [b"https://%d.absent/" % number for number in range(200_000)])


def overlapping_origins(folder, _):
    """The key of each entry is 64,000 bytes long, and has the entries of the next origins in it."""
    count, length = 40_000, 64_000
    sections = Sections()
    sections["texts"] = frame(0)
    sections["tokens"] = tokens([])
    sections["files"] = rows_of_files([(NONE, 0, 0), (NONE, 0, len(sections["texts"]))])
    entries = b"".join(struct.pack("<IIHBB", 0, row, length, 0, 0) + struct.pack(">I", row) for row in range(count))
    entries += bytes(length)
    sections["origins"] = entries
    sections["origin metadata"] = b"".join(struct.pack("<IIIHBB", 2 * row, NONE, NONE, 200, 0, 0)
                                           for row in range(count))
    # Hashing these keys here would take an hour: look-ups fail at the first one, after the pass over all.
    sections["index"] = index_of([], [])
    write(folder, sections, [b"https://%d.absent/" % number for number in range(1000)])


def claimed_tokens(folder, _):
    sections = Sections()
    one_file(sections, rule_set())
    sections["tokens"] = struct.pack("<2Q", 1 << 60, 0)
    write(folder, sections, paths(10))


def strings_that_are_shared(folder, _):
    """5,000 origins whose reason for a missing answer is the same text of 65,535 bytes."""
    count = 5_000
    sections = Sections()
    sections["texts"] = frame(0)
    sections["tokens"] = tokens([])
    sections["files"] = rows_of_files([(NONE, 0, 0), (NONE, 0, len(sections["texts"]))])
    origins(sections, [NONE] * count)
    sections["strings"] = struct.pack("<H", 65_535) + b"x" * 65_535 + bytes(3)
    sections["origins"] = bytes(sections["origins"])
    rows, entries = [], bytearray(sections["origins"])
    for row in range(count):
        at = struct.unpack_from("<I", sections["origin metadata"], 16 * row)[0]
        entries[8 * at + 10] = 3
        rows.append(struct.pack("<IIIHBB", at, NONE, row, 0, 8, 3))
    sections["origins"] = bytes(entries)
    sections["origin metadata"] = b"".join(rows)
    unknown = -1 << 63
    sections["origin details"] = struct.pack("<3q4I", unknown, unknown, unknown, NONE, NONE, NONE, 0) * count
    sections.counts.update(outcome_rules=0, outcome_unreachable=count)
    write(folder, sections, [key(number) + b"/" for number in range(count)])


def nested_metadata(folder, _):
    sections = Sections()
    one_file(sections, rule_set())
    sections["metadata"] = b'{"x":' + b"[" * 4_000_000
    write(folder, sections, paths(10))


def bomb(make, what, *refusals, seconds=1, mebibytes=100, skip=""):
    """A bomb for all commands but those of `skip`. A refusal is the names of commands, or `all`, and the
    words of their message; a later one precedes an earlier one."""
    name = "snapshot-" + make.__name__.replace("_", "-")
    refused = dict.fromkeys(COMMANDS)
    for verbs, words in refusals:
        refused.update(dict.fromkeys(COMMANDS if verbs == "all" else verbs.split(), words))
    runs = [(refused[verb], arguments) for verb, arguments in COMMANDS.items() if verb not in skip.split()]
    return Bomb(name, what, make, runs, None, seconds, mebibytes)


SHARED_BYTES = "pattern bytes, whose rules have"
SHARED_PATTERNS = "wildcard rules that share their patterns"
MORE_RULES = "more rules than 500 KiB of a robots.txt have"
LONG_UNION = "a union of 100000 rule sets"
LARGE_UNION = "a union of over 8 MB of rules"
# `report` compares some rules with the text, which a forger forgets.
OTHER_TEXT = ("report", "contradicts its compiled rules")

BOMBS = [
    bomb(literal_rules_that_share_a_pattern, "100,000 literal rules with one pattern of 64 KiB",
         ("inspect compile", SHARED_BYTES), ("report", MORE_RULES)),
    bomb(wildcard_rules_that_share_a_pattern, "100,000 wildcard rules with one pattern of 64 KiB",
         ("inspect compile", SHARED_BYTES), ("filter report export agents", SHARED_PATTERNS)),
    bomb(rules_that_share_a_prefix, "40,000 wildcard rules with one prefix of 64 KiB",
         ("inspect compile report export agents", MORE_RULES)),
    bomb(rules_of_a_long_prefix, "50 robots.txt files with 190 rules of 8 KB, compiled", skip="lint"),
    bomb(chain_of_prefixes, "300,000 prefixes, each linked to the one before",
         ("inspect compile", SHARED_BYTES), ("report", MORE_RULES), ("filter", "a chain of prefix links")),
    bomb(overlapping_buckets, "100,000 wildcard buckets with the same 100,000 rules",
         ("inspect compile filter report export agents", "wildcard buckets that share rules")),
    bomb(long_union, "a union of 100,000 rule sets", ("all", LONG_UNION), ("lint", None)),
    bomb(union_that_repeats, "a union of one set of 50,000 rules, 20,000 times",
         ("filter report export agents", LARGE_UNION), ("inspect compile", SHARED_BYTES)),
    bomb(many_unions, "20 unions of 100,000 rule sets", ("all", LONG_UNION), ("lint", None)),
    bomb(files_that_share_a_frame, "20,000 files with one compressed text of 512 KB",
         ("all", "files are out of order")),
    bomb(files_that_share_names, "10,000 files with the same 50,000 names", ("all", "files are out of order")),
    bomb(files_that_share_rules, "20,000 files with the same 100,000 rules", OTHER_TEXT),
    # `export` and `lint` parse each line of these texts, which are a gigabyte.
    bomb(texts_that_expand, "2,000 texts of 512 KB in 100 bytes each", skip="export lint", seconds=5),
    bomb(marked_buckets, "an index whose buckets are all full and marked",
         ("inspect compile", "an index of 100010 keys for 50000 origins")),
    bomb(overlapping_origins, "40,000 keys of 64,000 bytes in one another",
         ("all", "does not end where the next one begins"), ("filter", None), ("inspect compile", "an index of 0 keys")),
    bomb(claimed_tokens, "2^60 agent names", ("all", "a token's"), ("lint", None)),
    # The output has 330 MB.
    bomb(strings_that_are_shared, "5,000 reasons that are one text of 64 KiB", seconds=3),
    bomb(nested_metadata, "metadata of four million brackets", ("all", "the metadata")),
]
