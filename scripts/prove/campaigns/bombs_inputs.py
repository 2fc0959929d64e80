"""Hostile lists, archives, tables, robots.txt files and access logs. docs/LIMITS.md, "Inputs"."""

import gzip
import json
import random
import struct
import zlib

from .bomb import Bomb

MIB = 1 << 20

# Writers of hostile formats. Only the standard library, so all bytes are made here.


def zstd_run(byte, length, window_log=17):
    """A zstd frame of one repeated byte. A block of 128 KiB takes four bytes."""
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00" + bytes([(window_log - 10) << 3]))
    while length:
        part = min(length, 128 << 10)
        length -= part
        frame += struct.pack("<I", part << 3 | 1 << 1 | (length == 0))[:3] + byte
    return bytes(frame)


def zstd_parts(*parts):
    """A zstd frame of parts: bytes, which are stored, and pairs of a byte and its repetitions."""
    blocks = []
    for part in parts:
        if isinstance(part, bytes):
            blocks += [(0, len(part[at:at + (128 << 10)]), part[at:at + (128 << 10)])
                       for at in range(0, len(part), 128 << 10)]
        else:
            byte, length = part
            while length:
                run = min(length, 128 << 10)
                length -= run
                blocks.append((1, run, byte))
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x38")
    for number, (kind, length, content) in enumerate(blocks):
        is_last = number + 1 == len(blocks)
        frame += struct.pack("<I", length << 3 | kind << 1 | is_last)[:3] + content
    return bytes(frame)


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
        length = bytes([len(values) << 4 | code]) if len(values) < 15 else bytes([0xf0 | code]) + varint(len(values))
        return length + b"".join(encoded(item, one) for one in values)
    return value


# The codec, and encodings of pages.
ZSTD = 6
PLAIN, RLE, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY, RLE_DICTIONARY = 0, 3, 6, 7, 8


def data_page(compressed, length, values, encoding=PLAIN):
    header = thrift((1, "i32", 0), (2, "i32", length), (3, "i32", len(compressed)),
                    (5, "struct", thrift((1, "i32", values), (2, "i32", encoding), (3, "i32", RLE), (4, "i32", RLE))))
    return header + compressed


def dictionary_page(compressed, length, values):
    header = thrift((1, "i32", 2), (2, "i32", length), (3, "i32", len(compressed)),
                    (7, "struct", thrift((1, "i32", values), (2, "i32", PLAIN))))
    return header + compressed


def parquet(folder, rows, pages, dictionary=b"", encoding=PLAIN):
    """A table with a column `url` of required strings in one row group."""
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
    (folder / "t.parquet").write_bytes(b"PAR1" + dictionary + pages + footer + struct.pack("<I", len(footer)) + b"PAR1")


def snapshot(folder, robosieve, robots="user-agent: *\ndisallow: /x\n", host="h.example"):
    """Writes s.rbs, a snapshot of one origin."""
    line = {"url": f"http://{host}/robots.txt", "status": 200, "body": robots}
    (folder / "a.jsonl").write_text(json.dumps(line) + "\n")
    robosieve("compile", "a.jsonl", "-o", "s.rbs", "-q")


# Lists.


def gzip_repeated(path, *parts):
    """A gzip file of (bytes, repetitions), made without holding the text. Repeated bytes are compressed
    once: blocks after a full flush refer to nothing before them, so they can be repeated too."""
    checksum = length = 0
    with open(path, "wb") as out:
        out.write(b"\x1f\x8b\x08\0\0\0\0\0\x02\xff")
        for text, times in parts:
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


def long_lines(folder, robosieve):
    snapshot(folder, robosieve)
    line = [(b"http://h.example/", 1), (b"a", 63 * MIB), (b"\n", 1)]
    gzip_repeated(folder / "0.gz", *(line * 3))
    text = (folder / "0.gz").read_bytes()
    for number in range(1, 9):
        (folder / f"{number}.gz").write_bytes(text)


def wide_row(ending, delimiter, header):
    def make(folder, robosieve):
        snapshot(folder, robosieve)
        good = b"http://h.example/" + delimiter + b"b\n" if header else b""
        gzip_repeated(folder / f"l.{ending}.gz", (header + good, 1), (b"x" + delimiter, 10_000_000), (b"\n", 1))
    return make


def cdxj(folder, robosieve):
    snapshot(folder, robosieve)
    gzip_repeated(folder / "l.cdxj.gz", (b'h,e)/ 20260101000000 {"url": "http://h.example/"}\n', 1), (b'h,e)/ 20260101000000 {"a": ', 1), (b"[", 20_000_000), (b"\n", 1),
                  (b'h,e)/ 20260101000000 {"k": "v"', 1), (b', "k": "v"', 4_000_000), (b"}\n", 1))


def deep_json(folder, robosieve):
    snapshot(folder, robosieve)
    gzip_repeated(folder / "l.jsonl.gz", (b'{"url":"http://h.example/"}\n', 1), (b'{"a":', 1), (b"[", 30_000_000), (b"\n", 1),
                  (b'{"a":', 8_000_000), (b"\n", 1), (b'{"url":"\\u0041', 1), (b"\\u0041", 9_000_000), (b'"}\n', 1))


def long_url(folder, robosieve):
    snapshot(folder, robosieve)
    gzip_repeated(folder / "l.gz", *[part for unit in (b"%", b"\xff", b"../", b"%2", b"*", b"\\")
                                     for part in ((b"http://h.example/x", 1), (unit, 63 * MIB // len(unit)), (b"\n", 1))])


def many_columns(folder, robosieve):
    """A long row without a line end: each step reads it from its start."""
    snapshot(folder, robosieve)
    gzip_repeated(folder / "l.csv.gz", (b"url,b\nhttp://h.example/,b\n", 1), (b"x,", 31 * MIB), (b"\n", 1))


def zstd_window(folder, robosieve):
    snapshot(folder, robosieve)
    frame = zstd_run(b"a", 8 * MIB, window_log=31)
    for number in range(4):
        (folder / f"{number}.zst").write_bytes(frame)


def zero_members(folder, robosieve):
    """Gzip members without text, and the zero bytes that may follow a member."""
    snapshot(folder, robosieve)
    member = gzip.compress(b"")
    (folder / "l.gz").write_bytes(member * 2_000_000 + bytes(40_000_000) + gzip.compress(b"http://h.example/\n"))


def zeros(folder, robosieve):
    """10 GB of zero bytes, as 10 MB of gzip."""
    snapshot(folder, robosieve)
    gzip_repeated(folder / "l.gz", (b"http://h.example/\n", 1), (bytes(MIB), 10_000))


def head_without_end(folder, robosieve):
    snapshot(folder, robosieve)
    gzip_repeated(folder / "l.csv.gz", (b'"', 1), (b"a\n", 50_000_000))


# Archives.


def json_array(folder, _robosieve):
    gzip_repeated(folder / "a.jsonl.gz", (b'{"url":"http://h.example/robots.txt","status":200,"body":"","headers":{"x":[', 1),
                  (b"0,", 31 * MIB), (b"0]}}\n", 1))


def json_keys(folder, _robosieve):
    """Values and keys that nobody reads: 63 MiB of each in a line."""
    lines = []
    for start, part, end in [(b'{"url":"http://a.example/robots.txt","text":[', b"0,", b"0]}\n"),
                             (b'{"url":"http://b.example/robots.txt","status":[', b"0,", b"0]}\n"),
                             (b'{"url":"http://c.example/robots.txt","status":200,"fetched_at":[', b"0,", b"0]}\n"),
                             (b'{"url":"http://d.example/robots.txt","status":200,"headers":{"location":[', b'"",', b'""]}}\n')]:
        lines += [(start, 1), (part, 63 * MIB // len(part)), (end, 1)]
    gzip_repeated(folder / "a.jsonl.gz", *lines)
    keys = b"".join(b',"k%x":0' % number for number in range(4_000_000))
    with gzip.open(folder / "b.jsonl.gz", "wb", 1) as out:
        for start, end in [(b'{"url":"http://e.example/robots.txt","status":200', b"}\n"),
                           (b'{"url":"http://e.example/robots.txt","status":200,"body":"","headers":{"a":0', b"}}\n")]:
            out.write(start + keys + end)


def deep_archive(folder, _robosieve):
    gzip_repeated(folder / "a.jsonl.gz", (b'{"url":"http://h.example/robots.txt","headers":', 1), (b"[", 30_000_000), (b"\n", 1))


def long_archive_lines(folder, _robosieve):
    line = [(b'{"url":"http://h.example/robots.txt","status":200,"body":"', 1), (b"a", 63 * MIB), (b'"}\n', 1)]
    gzip_repeated(folder / "0.gz", *(line * 3))
    text = (folder / "0.gz").read_bytes()
    for number in range(1, 9):
        (folder / f"{number}.gz").write_bytes(text)


WARC = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/robots.txt\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"


def record(block, length=None):
    return WARC + b"Content-Length: %d\r\n\r\n" % (len(block) if length is None else length) + block + b"\r\n\r\n"


def good_record():
    return record(b"HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /x\n")


def bogus_members(folder, robosieve):
    """Headers of gzip members, each of which begins a stream that reaches to the end of 15 MiB. There it is damaged.

    A stream is a stored block up to the end of its part of 60 KB; then come the stored blocks of all later parts."""
    snapshot(folder, robosieve)
    unit = 15
    out = bytearray(gzip.compress(good_record()))
    for last in [False] * 259 + [True]:
        part = bytearray()
        count = 4000
        for number in range(count):
            # The stored block of this header holds the later headers of the part.
            length = (count - 1 - number) * unit
            part += b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"\0" + struct.pack("<HH", length, length ^ 0xffff)
        # A block for the next part: its first header begins with the magic number.
        out += part if last else part + b"\0" + struct.pack("<HH", len(part), len(part) ^ 0xffff)
    out += b"\x07" * 10 + gzip.compress(good_record())
    (folder / "a.warc.gz").write_bytes(bytes(out))


def bogus_records(folder, robosieve):
    """Records whose lengths reach past the next record and past the end."""
    snapshot(folder, robosieve)
    (folder / "a.warc").write_bytes(good_record() + b"".join(record(b"", 1 << 16) for _ in range(100_000)))
    (folder / "b.warc").write_bytes(good_record() + record(b"", 1 << 63) + record(b"", 1 << 40) * 1000)
    (folder / "c.warc").write_bytes(good_record() + b"WARC/1.0\r\n" + b"a: b\r\n" * 8_000_000)
    (folder / "d.warc").write_bytes(good_record() + b"WARC/1.0\r\n" * 5_000_000)
    (folder / "e.warc").write_bytes(good_record() + record(b"", 1 << 62))


def long_head(folder, robosieve):
    """A record whose head has 1 GB."""
    snapshot(folder, robosieve)
    gzip_repeated(folder / "a.warc.gz", (good_record() + b"WARC/1.0\r\n", 1), (b"a: b\r\n", 170_000_000))


def codings(folder, _robosieve):
    """Bodies that decode to much more, and codings without end."""
    bomb = gzip.compress(gzip.compress(gzip.compress(bytes(1 << 30), 9), 9), 9)
    with open(folder / "a.warc", "wb") as out:
        for coding, body in [(b"gzip, gzip, gzip", bomb), (b"gzip," * 60_000, bomb), (b"zstd", zstd_run(b"a", 1 << 30)),
                             (b"zstd", zstd_run(b"a", 1 << 20, window_log=31)),
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
        for more, body in [(b"", BROTLI_ZEROS), (b", br, br, br", brotli_stored(brotli_stored(brotli_stored(BROTLI_ZEROS)))),
                           (b"", brotli_tables(800)), (b"", brotli_stored(brotli_tables(800))),
                           (b", br", brotli_stored(brotli_tables(800))), (b"", b"\x11\x1e" + BROTLI_ZEROS),
                           (b", br, br, br", b"\x06")]:
            out.write(record(head + more + b"\r\n\r\n" + body) * 20)


def short_chunks(folder, _robosieve):
    """Chunks of one byte in blocks of 6 MB and of 600 MB, and chunks with long extensions."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with gzip.open(folder / "a.warc.gz", "wb", 1) as out:
        for _ in range(20):
            out.write(record(head + b"1\r\n#\r\n" * 1_000_000 + b"0\r\n\r\n"))
        out.write(record(head + b"1;" + b"a" * 8_000_000 + b"\r\n#\r\n0\r\n\r\n"))
    gzip_repeated(folder / "b.warc.gz", (WARC + b"Content-Length: %d\r\n\r\n" % (len(head) + 600_000_000) + head, 1),
                  (b"1\r\n#\r\n", 100_000_000), (b"\r\n\r\n", 1))


# Tables.


def page_of_a_gibibyte(folder, robosieve):
    snapshot(folder, robosieve)
    parquet(folder, 1, data_page(zstd_run(b"\0", 1 << 30), 1 << 30, 1))


def dictionary_of_one_value(folder, robosieve):
    """A value of 60 MiB, which each of a million rows repeats."""
    snapshot(folder, robosieve)
    length, rows = 60 * MIB, 1_000_000
    url = b"http://h.example/"
    value = zstd_parts(struct.pack("<I", length), url, (b"a", length - len(url)))
    # One run of the index 0, with a width of one bit.
    indexes = b"\x01" + varint(rows << 1) + b"\0"
    parquet(folder, rows, data_page(zstd_parts(indexes), len(indexes), rows, RLE_DICTIONARY),
            dictionary_page(value, length + 4, 1), RLE_DICTIONARY)


def dictionary_of_empty_values(folder, robosieve):
    """A dictionary of 8 million empty values: each takes four bytes in the page."""
    snapshot(folder, robosieve)
    values = 1 << 23
    indexes = b"\x01" + varint(1 << 1) + b"\0"
    parquet(folder, 1, data_page(zstd_parts(indexes), len(indexes), 1, RLE_DICTIONARY),
            dictionary_page(zstd_run(b"\0", 4 * values), 4 * values, values), RLE_DICTIONARY)


def repeated_prefix(folder, robosieve):
    """Values of 30 MiB, each of which repeats the one before."""
    snapshot(folder, robosieve)
    rows, length = 1024, 30 * MIB

    def deltas(first, later, count):
        # DELTA_BINARY_PACKED: one block of `count` values, whose first delta may differ.
        zigzag = lambda number: varint((number << 1) ^ (number >> 63))
        out = bytearray(varint(1024) + varint(4) + varint(count) + zigzag(first))
        low = min(later)
        out += zigzag(low)
        width = max(later[at] - low for at in range(len(later))).bit_length()
        padded = [number - low for number in later] + [0] * (1024 - len(later))
        for mini in range(4):
            out_bits = sum(number << (width * at) for at, number in enumerate(padded[mini * 256:mini * 256 + 256]))
            if mini == 0:
                widths_at = len(out)
                out += bytes([width] * 4)
            out += out_bits.to_bytes(width * 32, "little")
        return bytes(out)

    prefixes = deltas(0, [length] + [0] * (rows - 2), rows)
    suffixes = deltas(length, [-length] + [0] * (rows - 2), rows)
    url = b"http://h.example/"
    page = zstd_parts(prefixes + suffixes + url, (b"a", length - len(url)))
    parquet(folder, rows, data_page(page, len(prefixes) + len(suffixes) + length, rows, DELTA_BYTE_ARRAY),
            encoding=DELTA_BYTE_ARRAY)


def lengths_without_strings(encoding):
    """A page that states 2^33 lengths of delta-coded strings, in 20 bytes."""
    def make(folder, robosieve):
        snapshot(folder, robosieve)
        lengths = varint(128) + varint(4) + varint(1 << 33) + varint(0) + varint(0) + bytes(4)
        parquet(folder, 1, data_page(zstd_parts(lengths), len(lengths), 1, encoding), encoding=encoding)
    return make


def index_page(folder, robosieve):
    """An index page, whose content looks like the header of a small page to readers that skip it wrongly."""
    snapshot(folder, robosieve)
    hidden = data_page(zstd_run(b"\0", 1 << 30), 1 << 30, 1)
    disguise = thrift((1, "i32", 0), (2, "i32", 1), (3, "i32", len(hidden)),
                      (5, "struct", thrift((1, "i32", 1), (2, "i32", PLAIN), (3, "i32", RLE), (4, "i32", RLE))))
    index = thrift((1, "i32", 1), (2, "i32", len(disguise)), (3, "i32", len(disguise)), (6, "struct", b"\0"))
    parquet(folder, 1, index + disguise + hidden)


# Robots.txt files, and what reads them.


def overlapping_groups(folder, robosieve):
    """170 groups for each of 200 agents, in 500 KB. They stay apart, so a URL is looked up in each."""
    agents = [first + second for first in "abcdefghijklmnopqrst" for second in "abcdefghij"]
    chance = random.Random(1)
    lines = []
    for group in range(340):
        # No two agents have the same groups.
        lines += [f"user-agent:{agent}" for agent in chance.sample(agents, 100)] + [f"allow:/{group:03}", f"disallow:/{group:03}*x"]
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
            archive.write(json.dumps({"url": f"{site}/robots.txt", "status": 200, "body": body}) + "\n")
            urls.write(f"{site}/\n" + f"{site}/{'ab' * 1000}\n" * 10)
    robosieve("compile", "a.jsonl", "-o", "s.rbs", "-q")
    (folder / "agents").write_text("\n".join(agents) + "\n")


def response_headers(folder, robosieve):
    """Responses with the header fields on content use that cost most per byte. The first 16 KiB of a response are read."""
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
            archive.write(json.dumps({"url": f"http://h{site}.example/robots.txt", "status": 200,
                                      "fetched_at": 1767225600, "body": "user-agent:*\n" + rules}) + "\n")
            log.writelines(f'h{site}.example:80 192.0.2.1 - - [01/Feb/2026:00:00:00 +0000] "GET /{site}.{number:x} HTTP/1.1" 200 1 '
                           '"-" "GPTBot/1.2"\n' for number in range(0, 25_000, 10))
    robosieve("compile", "a.jsonl.gz", "-o", "s.rbs", "-q")


def changed_rules(folder, robosieve):
    """Two snapshots of 40 sites with 25,000 rules each, none of which stays."""
    for name, suffix in ("s", "$"), ("t", "/$"):
        with gzip.open(folder / "a.jsonl.gz", "wt", 1) as archive:
            for site in range(40):
                rules = "".join(f"disallow:/{number:x}{suffix}\n" for number in range(25_000))
                archive.write(json.dumps({"url": f"http://h{site}.example/robots.txt", "status": 200,
                                          "body": "user-agent:*\n" + rules}) + "\n")
        robosieve("compile", "a.jsonl.gz", "-o", f"{name}.rbs", "-q")
    (folder / "a.jsonl.gz").unlink()
    gzip_repeated(folder / "l.gz", (b"http://h1.example/1", 1), (b"a", 63 * MIB), (b"\n", 1),
                  *[(b"http://h%d.example/%x\n" % (number % 40, number), 1) for number in range(100_000)])


def mended_rules(folder, robosieve):
    """A robots.txt with 24,000 rules, each of which has a fix."""
    rules = "".join(f"disallow: /{number}é\n" for number in range(24_000))
    (folder / "robots.txt").write_text("user-agent: *\n" + rules)


NINE = [f"{number}.gz" for number in range(9)]


def both(*inputs, output="out"):
    """The commands that copy lines or rows."""
    return [["filter", "-s", "s.rbs", "-a", "FooBot", "-o", output, *inputs],
            ["annotate", "-s", "s.rbs", "-a", "FooBot", "-o", output, *inputs]]


def table_runs():
    return both("t.parquet", output="out.parquet")


BOMBS = [
    Bomb("list-long-lines", "nine gzip files of 63 MiB lines", long_lines,
         [[*run, threads] for threads in ("-j1", "-j2", "-j8") for run in both(*NINE)], None, 30, 600),
    Bomb("list-long-urls", "URLs of 63 MiB whose characters are escaped", long_url, both("l.gz"), None, 10, 550),
    Bomb("list-zeros", "10 GB of zero bytes", zeros, both("l.gz"), None, 60, 300),
    Bomb("list-tsv-columns", "a TSV row of 10 million columns", wide_row("tsv", b"\t", b"url\tb\n"), both("l.tsv.gz"), None, 2, 200),
    Bomb("list-tsv-header", "a TSV header of 10 million columns", wide_row("tsv", b"\t", b""), both("l.tsv.gz")[:1],
         "no column", 2, 100),
    Bomb("list-csv-row", "a CSV row of 62 MiB", many_columns, both("l.csv.gz"), None, 3, 300),
    Bomb("list-csv-quote", "a quote that is never closed", head_without_end, both("l.csv.gz")[:1], "l.csv.gz", 2, 100),
    Bomb("list-cdxj", "CDXJ lines of deep arrays and of millions of keys", cdxj, both("l.cdxj.gz"), None, 2, 300),
    Bomb("list-json-depth", "JSON nested 30 million deep, and a string of escapes", deep_json, both("l.jsonl.gz"), None, 3, 350),
    Bomb("list-zstd-window", "zstd frames with a window of 2 GiB", zstd_window, both(*[f"{number}.zst" for number in range(4)]),
         "zstd", 2, 50),
    Bomb("list-gzip-members", "two million gzip members without text, and 40 MB of zero bytes", zero_members, both("l.gz"),
         None, 3, 50),
    Bomb("archive-json-array", "a header with an array of 31 million numbers", json_array,
         [["compile", "a.jsonl.gz", "-o", "x.rbs"]], None, 3, 150),
    Bomb("archive-json-values", "arrays of millions of values in place of texts", json_keys,
         [["compile", "--skip-damaged", "a.jsonl.gz", "b.jsonl.gz", "-o", "x.rbs"]], None, 10, 250),
    Bomb("archive-json-depth", "JSON nested 30 million deep", deep_archive, [["compile", "a.jsonl.gz", "-o", "x.rbs"]], "line 1", 2, 200),
    Bomb("archive-long-lines", "nine gzip files of 63 MiB lines", long_archive_lines, [["compile", *NINE, "-o", "x.rbs"]], None, 10, 350),
    Bomb("archive-bogus-members", "a million false gzip headers before damage", bogus_members,
         [["compile", "--skip-damaged", "a.warc.gz", "-o", "x.rbs"], ["captures", "--skip-damaged", "a.warc.gz", "-o", "x.cap"]],
         None, 20, 200),
    Bomb("archive-bogus-records", "heads without end, and records of 2^62 bytes", bogus_records,
         [["compile", "--skip-damaged", f"{name}.warc", "-o", "x.rbs"] for name in "abcde"], None, 5, 300),
    Bomb("archive-long-head", "a record whose head has 1 GB", long_head,
         [["compile", "--skip-damaged", "a.warc.gz", "-o", "x.rbs"], both("a.warc.gz")[0]], "a.warc.gz", 5, 50),
    Bomb("archive-codings", "bodies that decode to a gibibyte, and thousands of codings", codings,
         [["compile", "a.warc", "-o", "x.rbs"]], None, 20, 200),
    Bomb("archive-brotli", "brotli with a window of 16 MiB, and with code tables for every byte", brotli,
         [["compile", "a.warc.gz", "-o", "x.rbs"]], None, 20, 150),
    Bomb("archive-chunks", "chunks of one byte, and a chunk with an extension of 8 MB", short_chunks,
         [["compile", "a.warc.gz", "-o", "x.rbs"], ["compile", "b.warc.gz", "-o", "x.rbs"]], None, 20, 200),
    Bomb("table-page", "a page of 31 KB that decompresses to 1 GiB", page_of_a_gibibyte, table_runs(),
         'column "url" of row group 0', 1, 50),
    Bomb("table-index-page", "the same page, hidden behind an index page", index_page, table_runs(),
         'column "url" of row group 0', 1, 50),
    Bomb("table-dictionary-value", "a dictionary value of 60 MiB in a million rows", dictionary_of_one_value,
         [*table_runs(), ["report", "-s", "s.rbs", "-a", "FooBot", "t.parquet"]], None, 3, 150),
    Bomb("table-dictionary-empty", "a dictionary of 8 million empty values", dictionary_of_empty_values, table_runs(),
         "a dictionary of 8388608 values", 1, 50),
    Bomb("table-lengths", "a page that states 2^33 lengths of strings", lengths_without_strings(DELTA_LENGTH_BYTE_ARRAY), table_runs(),
         "states 8589934592 lengths", 1, 50),
    Bomb("table-prefix-lengths", "a page that states 2^33 lengths of prefixes", lengths_without_strings(DELTA_BYTE_ARRAY),
         table_runs(), "states 8589934592 lengths", 1, 50),
    Bomb("table-prefix", "1,024 values of 30 MiB that repeat the one before", repeated_prefix, table_runs(), None, 40, 1500),
    Bomb("site-groups", "170 groups for each of 200 agents in 500 KB", overlapping_groups,
         [["filter", "-s", "s.rbs", "--agents-from", "agents", "-o", "out", "l"]], None, 10, 100),
    Bomb("site-preferences", "thousands of statements on content use, to 200 agents", statements,
         [["annotate", "-s", "s.rbs", "--agents-from", "agents", "--preferences", "--as", "jsonl", "-o", "out", "l"]], None, 10, 300),
    Bomb("archive-headers", "header fields of 15 KB on content use, to 1,000 agents", response_headers,
         [["annotate", "-s", "s.rbs", "--agents-from", "agents", "--preferences", "--as", "jsonl", "-o", "out", "a.warc"]], None, 10, 300),
    Bomb("site-mended", "24,000 rules that all have a fix", mended_rules,
         [["lint", "--diff", "robots.txt"], ["lint", "--diff", "--unsafe-fixes", "robots.txt"]], None, 3, 150),
    Bomb("site-audit", "200,000 rules that begin with a star, and 20,000 requests", many_broken_rules,
         [["audit", "-s", "s.rbs", "l.gz", "-o", "out"]], None, 20, 150),
    Bomb("site-diff", "a million rules of which none stays", changed_rules,
         [["diff", "s.rbs", "t.rbs", "-a", "FooBot"], ["report", "-s", "s.rbs", "-a", "FooBot", "l.gz"]], None, 30, 200),
]
