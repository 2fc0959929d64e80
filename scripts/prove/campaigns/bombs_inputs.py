"""Hostile lists, archives, tables, robots.txt files and access logs. docs/LIMITS.md, "Inputs"."""

import gzip
import json
import random
import struct
import zipfile
import zlib

from .bomb import Bomb, zstd

MIB = 1 << 20

# Writers of hostile formats. Only the standard library, so all bytes are made here.


def packed(*fields):
    """Bytes of bit fields, from the lowest bit on. Fields are (value, number of bits)."""
    number, at = 0, 0
    for value, width in fields:
        number |= value << at
        at += width
    return number.to_bytes((at + 7) // 8, "little")


def brotli_tables(blocks):
    """A brotli stream (RFC 7932 section 9). Each block has a byte of text and 768 code tables, in 1,252 bytes."""
    to_byte = [(6, 4), (0, 2)]

    def one_symbol(symbol, width):
        return [(1, 2), (0, 2), (symbol, width)]

    count = [(1, 1), (7, 3), (127, 7)]  # 256
    block = [(0, 3), (0, 16), (0, 1)] + 3 * (count + one_symbol(0, 9) + one_symbol(25, 5) + [(0, 24)]) + [(0, 6)]
    block += 256 * [(0, 2)]
    for zeros in (14, 10):
        block += count + [(1, 1), (15, 4)] + one_symbol(zeros, 9) + [(0, zeros), (0, 1)]
    block += 256 * one_symbol(97, 8) + 256 * one_symbol(136, 10) + 256 * one_symbol(0, 6) + to_byte
    return packed((15, 4), *to_byte) + blocks * packed(*block) + b"\x03"


# 16 MiB of zero bytes, by the encoder of Google with the largest window.
BROTLI_ZEROS = bytes.fromhex("cfffff7ff82700e2b14020f7fe7f")


def brotli_stored(content):
    """A brotli stream of stored blocks of 64 KiB at most."""
    out = packed((0, 1), (6, 4), (0, 2))
    for at in range(0, len(content), 1 << 16):
        part = content[at:at + (1 << 16)]
        out += packed((0, 3), (len(part) - 1, 16), (1, 1)) + part
    return out + b"\x03"


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def thrift(*fields):
    """A struct of Thrift's compact protocol. Fields are (number, kind, value)."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        code = {"i32": 5, "i64": 6, "binary": 8, "list": 9, "struct": 12}[kind]
        out += bytes([(number - last) << 4 | code]) + encoded(kind, value)
        last = number
    return bytes(out) + b"\0"


def encoded(kind, value):
    if kind in ("i32", "i64"):
        return varint(value << 1)
    if kind == "binary":
        return varint(len(value)) + value
    if kind == "list":
        item, values = value
        code = {"i32": 5, "binary": 8, "struct": 12}[item]
        # Up to 14 items have this form.
        return bytes([len(values) << 4 | code]) + b"".join(encoded(item, one) for one in values)
    return value


# The codec, and encodings of pages.
ZSTD = 6
PLAIN, RLE, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY, RLE_DICTIONARY = 0, 3, 6, 7, 8


def header(kind, length, size, field, *facts):
    """The header of a page: its lengths, and in a field some facts about the values."""
    facts = thrift(*((number, "i32", fact) for number, fact in enumerate(facts, 1)))
    return thrift((1, "i32", kind), (2, "i32", length), (3, "i32", size), (field, "struct", facts))


def data_page(length, content, values, encoding=PLAIN):
    return header(0, length, len(content), 5, values, encoding, RLE, RLE) + content


def stored(*parts):
    """The length of the parts, and a zstd frame of them."""
    return sum(len(part) if isinstance(part, bytes) else part[1] for part in parts), zstd(*parts)


def parquet(rows, pages, dictionary=b"", encoding=PLAIN):
    """Makes a table with a column `url` of required strings in one row group."""
    schema = [thrift((4, "binary", b"schema"), (5, "i32", 1)),
              thrift((1, "i32", 6), (3, "i32", 0), (4, "binary", b"url"), (6, "i32", 0))]
    start = 4
    size = len(dictionary) + len(pages)
    column = [(1, "i32", 6), (2, "list", ("i32", [encoding, RLE])), (3, "list", ("binary", [b"url"])),
              (4, "i32", ZSTD), (5, "i64", rows), (6, "i64", size), (7, "i64", size),
              (9, "i64", start + len(dictionary))]
    if dictionary:
        column.append((11, "i64", start))
    chunk = thrift((2, "i64", start), (3, "struct", thrift(*column)))
    group = thrift((1, "list", ("struct", [chunk])), (2, "i64", size), (3, "i64", rows))
    footer = thrift((1, "i32", 1), (2, "list", ("struct", schema)), (3, "i64", rows), (4, "list", ("struct", [group])))
    return written("t.parquet", b"PAR1" + dictionary + pages + footer + struct.pack("<I", len(footer)) + b"PAR1")


# Makers of inputs. Most bombs have one file, next to the snapshot of an origin.


def archived(host, body, **more):
    """A line of an archive of JSON lines: a robots.txt."""
    return json.dumps({"url": f"http://{host}/robots.txt", "status": 200, **more, "body": body}) + "\n"


def snapshot(folder, robosieve, robots="user-agent: *\ndisallow: /x\n"):
    """Writes s.rbs, a snapshot of one origin."""
    (folder / "a.jsonl").write_text(archived("h.example", robots))
    robosieve("compile", "a.jsonl", "-o", "s.rbs", "-q")


def written(names, content):
    """Makes files that all have this content."""

    def make(folder, robosieve):
        snapshot(folder, robosieve)
        for name in names.split():
            (folder / name).write_bytes(content)

    return make


def repeated(names, *parts):
    """Makes gzip files that all have these parts: bytes, or pairs of bytes and their repetitions."""

    def make(folder, robosieve):
        snapshot(folder, robosieve)
        for name in names.split():
            gzip_repeated(folder / name, *parts)

    return make


def gzip_repeated(path, *parts):
    """A gzip file of such parts, made without holding the text. Repeated bytes are compressed once: blocks
    after a full flush refer to nothing before them, so they can be repeated too."""
    checksum = length = 0
    with open(path, "wb") as out:
        out.write(b"\x1f\x8b\x08\0\0\0\0\0\x02\xff")
        for part in parts:
            text, times = part if isinstance(part, tuple) else (part, 1)
            # About 1 MiB at a time, or one longer text, and then what is left.
            step = max(1, MIB // max(1, len(text)))
            for count, repetitions in (step, times // step), (times % step, 1):
                if repetitions == 0:
                    continue
                content = text * count
                compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
                blocks = compressor.compress(content) + compressor.flush(zlib.Z_FULL_FLUSH)
                for _ in range(repetitions):
                    checksum = zlib.crc32(content, checksum)
                    out.write(blocks)
                length += len(content) * repetitions
        # An empty last block.
        out.write(b"\x03\0" + struct.pack("<II", checksum, length & 0xffffffff))


# Lists.

URL = b"http://h.example/"
ROBOTS = b'{"url":"http://h.example/robots.txt'
NINE = " ".join(f"{number}.gz" for number in range(9))


def wide_row(ending, delimiter, header):
    good = URL + delimiter + b"b\n" if header else b""
    return repeated(f"l.{ending}.gz", header + good, (b"x" + delimiter, 10_000_000), b"\n")


long_urls = [part for unit in (b"%", b"\xff", b"../", b"%2", b"*", b"\\")
             for part in (URL + b"x", (unit, 63 * MIB // len(unit)), b"\n")]

deep_json = [b'{"url":"http://h.example/"}\n{"a":', (b"[", 30_000_000), b"\n", (b'{"a":', 8_000_000),
             b'\n{"url":"\\u0041', (b"\\u0041", 9_000_000), b'"}\n']

CDXJ = b"h,e)/ 20260101000000 {"
cdxj = [CDXJ + b'"url": "http://h.example/"}\n' + CDXJ + b'"a": ', (b"[", 20_000_000),
        b"\n" + CDXJ + b'"k": "v"', (b', "k": "v"', 4_000_000), b"}\n"]


def zero_members(folder, robosieve):
    """Gzip members without text, and the zero bytes that may follow a member."""
    snapshot(folder, robosieve)
    member = gzip.compress(b"")
    (folder / "l.gz").write_bytes(member * 2_000_000 + bytes(40_000_000) + gzip.compress(URL + b"\n"))


# Archives.


def json_keys(folder, _robosieve):
    """Values and keys that nobody reads: 63 MiB of each in a line."""
    lines = []
    for start, part, end in [(b'a.example/robots.txt","text":[', b"0,", b"0]}\n"),
                             (b'b.example/robots.txt","status":[', b"0,", b"0]}\n"),
                             (b'c.example/robots.txt","status":200,"fetched_at":[', b"0,", b"0]}\n"),
                             (b'd.example/robots.txt","status":200,"headers":{"location":[', b'"",', b'""]}}\n')]:
        lines += [b'{"url":"http://' + start, (part, 63 * MIB // len(part)), end]
    gzip_repeated(folder / "a.jsonl.gz", *lines)
    keys = b"".join(b',"k%x":0' % number for number in range(4_000_000))
    with gzip.open(folder / "b.jsonl.gz", "wb", 1) as out:
        for start, end in [(b"", b"}\n"), (b',"body":"","headers":{"a":0', b"}}\n")]:
            out.write(b'{"url":"http://e.example/robots.txt","status":200' + start + keys + end)


WARC = (b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/robots.txt\r\n"
        b"WARC-Date: 2026-01-01T00:00:00Z\r\n")


def record(block, length=None):
    return WARC + b"Content-Length: %d\r\n\r\n" % (len(block) if length is None else length) + block + b"\r\n\r\n"


GOOD_RECORD = record(b"HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /x\n")


def bogus_members(folder, robosieve):
    """Headers of gzip members, each of which begins a stream that reaches to the end of 15 MiB. There it is damaged.

    A stream is a stored block up to the end of its part of 60 KB; then come the stored blocks of all later parts."""
    snapshot(folder, robosieve)
    unit = 15
    out = bytearray(gzip.compress(GOOD_RECORD))
    for last in [False] * 259 + [True]:
        part = bytearray()
        count = 4000
        for number in range(count):
            # The stored block of this header holds the later headers of the part.
            length = (count - 1 - number) * unit
            part += b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"\0" + struct.pack("<HH", length, length ^ 0xffff)
        # A block for the next part: its first header begins with the magic number.
        out += part if last else part + b"\0" + struct.pack("<HH", len(part), len(part) ^ 0xffff)
    out += b"\x07" * 10 + gzip.compress(GOOD_RECORD)
    (folder / "a.warc.gz").write_bytes(bytes(out))


def bogus_records(folder, robosieve):
    """Records whose lengths reach past the next record and past the end."""
    snapshot(folder, robosieve)
    (folder / "a.warc").write_bytes(GOOD_RECORD + b"".join(record(b"", 1 << 16) for _ in range(100_000)))
    (folder / "b.warc").write_bytes(GOOD_RECORD + record(b"", 1 << 63) + record(b"", 1 << 40) * 1000)
    (folder / "c.warc").write_bytes(GOOD_RECORD + b"WARC/1.0\r\n" + b"a: b\r\n" * 8_000_000)
    (folder / "d.warc").write_bytes(GOOD_RECORD + b"WARC/1.0\r\n" * 5_000_000)
    (folder / "e.warc").write_bytes(GOOD_RECORD + record(b"", 1 << 62))


def deflated_wacz(folder, robosieve):
    """A zip archive with a WARC file of a record of 1 GB, next to a robots.txt."""
    snapshot(folder, robosieve)
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/x\r\nContent-Length: "
    with zipfile.ZipFile(folder / "a.wacz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("archive/a.warc", "w", force_zip64=True) as out:
            out.write(GOOD_RECORD + head + b"%d\r\n\r\n" % (1000 * MIB))
            for _ in range(1000):
                out.write(bytes(MIB))
            out.write(b"\r\n\r\n")


def crowded_wacz(folder, robosieve):
    """A zip archive that names one WARC file a million times, and one of that many empty ones."""
    snapshot(folder, robosieve)
    for wacz, content in [("a.wacz", zlib.compress(bytes(MIB), 9)[2:-4]), ("b.wacz", b"\x03\0")]:
        fields = struct.pack("<HHIIIIHH", 0, 8, 0, 0, len(content), MIB, 17, 0)
        local = b"PK\x03\x04\x14\0" + fields + b"archive/0.warc.gz"
        entry = b"PK\x01\x02\x14\0\x14\0" + fields + bytes(14) + b"archive/0.warc.gz"
        end = struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 10**6, 10**6, len(entry) * 10**6, len(local + content))
        with open(folder / wacz, "wb") as out:
            out.write(local + content)
            for _ in range(1000):
                out.write(entry * 1000)
            at = out.tell()
            out.write(b"PK\x06\x06" + end + b"PK\x06\x07" + struct.pack("<IQI", 0, at, 1))
            out.write(b"PK\x05\x06" + bytes(4) + b"\xff" * 12 + bytes(2))


def codings(folder, _robosieve):
    """Bodies that decode to much more, and codings without end."""
    bomb = gzip.compress(gzip.compress(gzip.compress(bytes(1 << 30), 9), 9), 9)
    with open(folder / "a.warc", "wb") as out:
        for coding, body in [(b"gzip, gzip, gzip", bomb), (b"gzip," * 60_000, bomb), (b"zstd", zstd((b"a", 1 << 30))),
                             (b"zstd", zstd((b"a", 1 << 20), window_log=31)),
                             (b"gzip, gzip", gzip.compress(gzip.compress(b"") * 50_000))]:
            out.write(record(b"HTTP/1.1 200 OK\r\nContent-Encoding: " + coding + b"\r\n\r\n" + body) * 20)
        chunks = b"1\r\na\r\n" * 150_000
        out.write(record(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks) * 20)
        out.write(record(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + chunks) * 20)
        out.write(record(b"HTTP/1.1 200 OK\r\n" + b"Content-Encoding: gzip\r\n" * 40_000 + b"\r\n") * 20)


def brotli(folder, _robosieve):
    """Streams of brotli with large windows, with code tables for every byte, and of streams."""
    with gzip.open(folder / "a.warc.gz", "wb", 6) as out:
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: br"
        stored_tables = brotli_stored(brotli_tables(800))
        for more, body in [(b"", BROTLI_ZEROS),
                           (b", br, br, br", brotli_stored(brotli_stored(brotli_stored(BROTLI_ZEROS)))),
                           (b"", brotli_tables(800)), (b"", stored_tables), (b", br", stored_tables),
                           (b"", b"\x11\x1e" + BROTLI_ZEROS), (b", br, br, br", b"\x06")]:
            out.write(record(head + more + b"\r\n\r\n" + body) * 20)


def short_chunks(folder, _robosieve):
    """Chunks of one byte in blocks of 6 MB and of 600 MB, and chunks with long extensions."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with gzip.open(folder / "a.warc.gz", "wb", 1) as out:
        for _ in range(20):
            out.write(record(head + b"1\r\n#\r\n" * 1_000_000 + b"0\r\n\r\n"))
        out.write(record(head + b"1;" + b"a" * 8_000_000 + b"\r\n#\r\n0\r\n\r\n"))
    gzip_repeated(folder / "b.warc.gz", WARC + b"Content-Length: %d\r\n\r\n" % (len(head) + 600_000_000) + head,
                  (b"1\r\n#\r\n", 100_000_000), b"\r\n\r\n")


# Tables.

GIBIBYTE = data_page(*stored((b"\0", 1 << 30)), 1)


def dictionary(rows, values, *parts):
    """A table whose rows all have the first value of a dictionary."""
    # One run of the index 0, with a width of one bit.
    indexes = b"\x01" + varint(rows << 1) + b"\0"
    length, content = stored(*parts)
    return parquet(rows, data_page(*stored(indexes), rows, RLE_DICTIONARY),
                   header(2, length, len(content), 7, values, PLAIN) + content, RLE_DICTIONARY)


def repeated_prefix():
    """Values of 30 MiB, each of which repeats the one before."""
    rows, length = 1024, 30 * MIB

    def zigzag(number):
        return varint((number << 1) ^ (number >> 63))

    def deltas(first, others):
        # DELTA_BINARY_PACKED: one block of four parts, whose first delta may differ.
        low, width = min(others - first, 0), length.bit_length()
        numbers = [others - first - low, *[-low] * (rows - 2), 0]
        head = varint(1024) + varint(4) + varint(rows) + zigzag(first) + zigzag(low) + bytes([width] * 4)
        return head + packed(*((number, width) for number in numbers))

    prefixes, suffixes = deltas(0, length), deltas(length, 0)
    page = stored(prefixes + suffixes + URL, (b"a", length - len(URL)))
    return parquet(rows, data_page(*page, rows, DELTA_BYTE_ARRAY), encoding=DELTA_BYTE_ARRAY)


def lengths_without_strings(encoding):
    """A page that states 2^33 lengths of delta-coded strings, in 20 bytes."""
    lengths = varint(128) + varint(4) + varint(1 << 33) + varint(0) + varint(0) + bytes(4)
    return parquet(1, data_page(*stored(lengths), 1, encoding), encoding=encoding)


def index_page():
    """An index page, whose content looks like the header of a small page to readers that skip it wrongly."""
    disguise = header(0, 1, len(GIBIBYTE), 5, 1, PLAIN, RLE, RLE)
    return parquet(1, header(1, len(disguise), len(disguise), 6) + disguise + GIBIBYTE)


# Robots.txt files, and what reads them.


def overlapping_groups(folder, robosieve):
    """170 groups for each of 200 agents, in 500 KB. They stay apart, so a URL is looked up in each."""
    agents = [first + second for first in "abcdefghijklmnopqrst" for second in "abcdefghij"]
    chance = random.Random(1)
    lines = []
    for group in range(340):
        # No two agents have the same groups.
        lines += [f"user-agent:{agent}" for agent in chance.sample(agents, 100)]
        lines += [f"allow:/{group:03}", f"disallow:/{group:03}*x"]
    snapshot(folder, robosieve, "\n".join(lines) + "\n")
    (folder / "agents").write_text("\n".join(agents) + "\n")
    (folder / "l").write_text("".join(f"http://h.example/{number % 1000:03}/x\n" for number in range(5000)))


def statements(folder, robosieve):
    """Files with the highest cost of their statements on content use per byte, and names that each begin the next."""
    agents = ["a" + "b" * number for number in range(200)]
    star = "user-agent: *\n"
    bodies = [
        star + "content-usage: train-ai=n\n" * 18_000,
        star + "".join(f"content-usage:/{number} train-ai=n\n" for number in range(15_000)),
        star + "".join(f"content-usage:/*a*b*{number}\n" for number in range(17_000)),
        (star + "content-usage: /" + "*a" * 8000 + "b\n") * 30,
        (star + "content-usage: " + "train-ai=y," * 1400 + "train-ai=n\n") * 30,
        (star + "content-usage: train-ai=n" + ';a="x"' * 2500 + "\n") * 30,
        (star + "content-signal: " + "search=no," * 1600 + "\n") * 30,
        "".join(f"user-agent:{agent}\nuser-agent:*\ncontent-usage:/{number} train-ai=n\nallow:\n"
                for number, agent in enumerate(agents * 20)),
    ]
    with open(folder / "a.jsonl", "w") as archive, open(folder / "l", "w") as urls:
        for number, body in enumerate(bodies):
            site = f"http://h{number}.example"
            archive.write(archived(f"h{number}.example", body))
            urls.write(f"{site}/\n" + f"{site}/{'ab' * 1000}\n" * 10)
    robosieve("compile", "a.jsonl", "-o", "s.rbs", "-q")
    (folder / "agents").write_text("\n".join(agents) + "\n")


def response_headers(folder, robosieve):
    """Responses with the header fields on content use that cost most per byte. Their first 16 KiB are read."""
    snapshot(folder, robosieve)
    agents = "".join(f"a{'b' * (number % 200)}{number}\n" for number in range(1000))
    (folder / "agents").write_text(agents)
    fields = [
        ("x-robots-tag", "ab:noai," * 1900),
        ("x-robots-tag", "".join(f"a{number}: noai," for number in range(1200))),
        ("x-robots-tag", ":" * 15_000),
        ("x-robots-tag", "," * 15_000),
        ("x-robots-tag", "a " * 7500 + ": noai"),
        ("content-usage", "train-ai=n," * 1400 + "search=n"),
        ("content-usage", "train-ai=n" + ';a="x"' * 2500),
        ("content-signal", "ai-train=no," * 1250),
    ]
    (folder / "a.warc").write_bytes(b"".join(
        record(f"HTTP/1.1 200 OK\r\n{name}: {value}\r\n\r\n".encode()).replace(b"/robots.txt", b"/page%d" % number)
        for number, (name, value) in enumerate(fields * 50)))


def many_broken_rules(folder, robosieve):
    """8 sites with 25,000 rules each that begin with a star, and a log with a request against every tenth rule."""
    with gzip.open(folder / "a.jsonl.gz", "wt", 1) as archive, gzip.open(folder / "l.gz", "wt", 1) as log:
        for site in range(8):
            rules = "".join(f"disallow:*{site}.{number:x}\n" for number in range(25_000))
            archive.write(archived(f"h{site}.example", "user-agent:*\n" + rules, fetched_at=1767225600))
            client = f"h{site}.example:80 192.0.2.1 - - [01/Feb/2026:00:00:00 +0000]"
            log.writelines(f'{client} "GET /{site}.{number:x} HTTP/1.1" 200 1 "-" "GPTBot/1.2"\n'
                           for number in range(0, 25_000, 10))
    robosieve("compile", "a.jsonl.gz", "-o", "s.rbs", "-q")


def changed_rules(folder, robosieve):
    """Two snapshots of 40 sites with 25,000 rules each, none of which stays."""
    for name, suffix in ("s", "$"), ("t", "/$"):
        with gzip.open(folder / "a.jsonl.gz", "wt", 1) as archive:
            for site in range(40):
                rules = "".join(f"disallow:/{number:x}{suffix}\n" for number in range(25_000))
                archive.write(archived(f"h{site}.example", "user-agent:*\n" + rules))
        robosieve("compile", "a.jsonl.gz", "-o", f"{name}.rbs", "-q")
    (folder / "a.jsonl.gz").unlink()
    gzip_repeated(folder / "l.gz", b"http://h1.example/1", (b"a", 63 * MIB), b"\n",
                  *[b"http://h%d.example/%x\n" % (number % 40, number) for number in range(100_000)])


def mended_rules(folder, robosieve):
    """A robots.txt with 24,000 rules, each of which has a fix."""
    rules = "".join(f"disallow: /{number}é\n" for number in range(24_000))
    (folder / "robots.txt").write_text("user-agent: *\n" + rules)


def both(inputs, output="out"):
    """The commands that copy lines or rows."""
    return [f"{verb} -s s.rbs -a FooBot -o {output} {inputs}" for verb in ("filter", "annotate")]


def compiled(*inputs):
    return [f"compile {words} -o x.rbs" for words in inputs]


TABLE = both("t.parquet", output="out.parquet")
PREFERENCES = "annotate -s s.rbs --agents-from agents --preferences --as jsonl -o out "

BOMBS = [
    Bomb("list-long-lines", "nine gzip files of 63 MiB lines", repeated(NINE, *[URL, (b"a", 63 * MIB), b"\n"] * 3),
         [f"{run} -j{threads}" for threads in (1, 2, 8) for run in both(NINE)], 30, 600),
    Bomb("list-long-urls", "URLs of 63 MiB whose characters are escaped", repeated("l.gz", *long_urls), both("l.gz"),
         10, 550),
    Bomb("list-zeros", "10 GB of zero bytes", repeated("l.gz", URL + b"\n", (bytes(MIB), 10_000)), both("l.gz"),
         60, 300),
    Bomb("list-tsv-columns", "a TSV row of 10 million columns", wide_row("tsv", b"\t", b"url\tb\n"), both("l.tsv.gz"),
         2, 200),
    Bomb("list-tsv-header", "a TSV header of 10 million columns", wide_row("tsv", b"\t", b""), both("l.tsv.gz")[:1],
         2, 100, "no column"),
    # A row without a line end: each step reads it from its start.
    Bomb("list-csv-row", "a CSV row of 62 MiB",
         repeated("l.csv.gz", b"url,b\n" + URL + b",b\n", (b"x,", 31 * MIB), b"\n"), both("l.csv.gz"), 3, 300),
    Bomb("list-csv-quote", "a quote that is never closed", repeated("l.csv.gz", b'"', (b"a\n", 50_000_000)),
         both("l.csv.gz")[:1], 2, 100, "l.csv.gz"),
    Bomb("list-cdxj", "CDXJ lines of deep arrays and of millions of keys", repeated("l.cdxj.gz", *cdxj),
         both("l.cdxj.gz"), 2, 300),
    Bomb("list-json-depth", "JSON nested 30 million deep, and a string of escapes", repeated("l.jsonl.gz", *deep_json),
         both("l.jsonl.gz"), 3, 350),
    Bomb("list-zstd-window", "zstd frames with a window of 2 GiB",
         written("0.zst 1.zst 2.zst 3.zst", zstd((b"a", 8 * MIB), window_log=31)), both("0.zst 1.zst 2.zst 3.zst"),
         2, 50, "zstd"),
    Bomb("list-gzip-members", "two million gzip members without text, and 40 MB of zero bytes", zero_members,
         both("l.gz"), 3, 50),
    Bomb("archive-json-array", "a header with an array of 31 million numbers",
         repeated("a.jsonl.gz", ROBOTS + b'","status":200,"body":"","headers":{"x":[', (b"0,", 31 * MIB), b"0]}}\n"),
         compiled("a.jsonl.gz"), 3, 150),
    Bomb("archive-json-values", "arrays of millions of values in place of texts", json_keys,
         compiled("--skip-damaged a.jsonl.gz b.jsonl.gz"), 10, 250),
    Bomb("archive-json-depth", "JSON nested 30 million deep",
         repeated("a.jsonl.gz", ROBOTS + b'","headers":', (b"[", 30_000_000), b"\n"), compiled("a.jsonl.gz"), 2, 200,
         "line 1"),
    Bomb("archive-long-lines", "nine gzip files of 63 MiB lines",
         repeated(NINE, *[ROBOTS + b'","status":200,"body":"', (b"a", 63 * MIB), b'"}\n'] * 3), compiled(NINE),
         10, 350),
    Bomb("archive-bogus-members", "a million false gzip headers before damage", bogus_members,
         [*compiled("--skip-damaged a.warc.gz"), "captures --skip-damaged a.warc.gz -o x.cap"], 20, 200),
    Bomb("archive-bogus-records", "heads without end, and records of 2^62 bytes", bogus_records,
         compiled(*[f"--skip-damaged {name}.warc" for name in "abcde"]), 5, 300),
    Bomb("archive-long-head", "a record whose head has 1 GB",
         repeated("a.warc.gz", GOOD_RECORD + b"WARC/1.0\r\n", (b"a: b\r\n", 170_000_000)),
         [*compiled("--skip-damaged a.warc.gz"), both("a.warc.gz")[0]], 5, 50, "a.warc.gz"),
    Bomb("archive-arc-line", "an ARC file of 1 GB without a line end", repeated(
         "a.arc.gz", b"filedesc://", (b"a", 1000 * MIB)), [*compiled("a.arc.gz"), both("a.arc.gz")[0]], 3, 50,
         "an ARC record should begin here"),
    Bomb("archive-wacz-deflate", "a WACZ with a WARC file of 1 GB, of zero bytes", deflated_wacz,
         [*compiled("a.wacz"), both("a.wacz", output="o.warc")[0]], 5, 80),
    Bomb("archive-wacz-names", "WACZ files that name a million WARC files", crowded_wacz,
         [*compiled("a.wacz", "b.wacz"), both("a.wacz")[0]], 5, 80, "the zip archive has more than 100000 files in archive/"),
    Bomb("archive-codings", "bodies that decode to a gibibyte, and thousands of codings", codings, compiled("a.warc"),
         20, 200),
    Bomb("archive-brotli", "brotli with a window of 16 MiB, and with code tables for every byte", brotli,
         compiled("a.warc.gz"), 20, 150),
    Bomb("archive-chunks", "chunks of one byte, and a chunk with an extension of 8 MB", short_chunks,
         compiled("a.warc.gz", "b.warc.gz"), 20, 200),
    Bomb("table-page", "a page of 31 KB that decompresses to 1 GiB", parquet(1, GIBIBYTE), TABLE, 1, 50,
         'column "url" of row group 0'),
    Bomb("table-index-page", "the same page, hidden behind an index page", index_page(), TABLE, 1, 50,
         'column "url" of row group 0'),
    Bomb("table-dictionary-value", "a dictionary value of 60 MiB in a million rows",
         dictionary(1_000_000, 1, struct.pack("<I", 60 * MIB), URL, (b"a", 60 * MIB - len(URL))),
         [*TABLE, "report -s s.rbs -a FooBot t.parquet"], 3, 150),
    # Each takes four bytes in the page.
    Bomb("table-dictionary-empty", "a dictionary of 8 million empty values", dictionary(1, 1 << 23, (b"\0", 4 << 23)),
         TABLE, 1, 50, "a dictionary of 8388608 values"),
    Bomb("table-lengths", "a page that states 2^33 lengths of strings",
         lengths_without_strings(DELTA_LENGTH_BYTE_ARRAY), TABLE, 1, 50, "states 8589934592 lengths"),
    Bomb("table-prefix-lengths", "a page that states 2^33 lengths of prefixes",
         lengths_without_strings(DELTA_BYTE_ARRAY), TABLE, 1, 50, "states 8589934592 lengths"),
    Bomb("table-prefix", "1,024 values of 30 MiB that repeat the one before", repeated_prefix(), TABLE, 40, 1500),
    Bomb("site-groups", "170 groups for each of 200 agents in 500 KB", overlapping_groups,
         ["filter -s s.rbs --agents-from agents -o out l"], 10, 100),
    Bomb("site-preferences", "thousands of statements on content use, to 200 agents", statements, [PREFERENCES + "l"],
         10, 300),
    Bomb("archive-headers", "header fields of 15 KB on content use, to 1,000 agents", response_headers,
         [PREFERENCES + "a.warc"], 10, 300),
    Bomb("site-mended", "24,000 rules that all have a fix", mended_rules,
         ["lint --diff robots.txt", "lint --diff --unsafe-fixes robots.txt"], 3, 150),
    Bomb("site-audit", "200,000 rules that begin with a star, and 20,000 requests", many_broken_rules,
         ["audit -s s.rbs l.gz -o out"], 20, 150),
    Bomb("site-diff", "a million rules of which none stays", changed_rules,
         ["diff s.rbs t.rbs -a FooBot", "report -s s.rbs -a FooBot l.gz"], 30, 200),
]
