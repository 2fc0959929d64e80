"""Compares what robosieve reads in an archive of another project with what warcio reads there.

records    type, target, offset and length of each record, in `annotate --as jsonl`
verdicts   the letter of each record by rules for its site, and Google's answer
index      `filter --cdxj`, and cdxj-indexer; both lists of the same URLs have the same letters
times      the time of each capture
captures   the outcome of each robots.txt of the archive
unchanged  the outcome of each other response, as the robots.txt of a site of its own: its record with
           another target
rules      the text of these, if they had robots.txt files in place of their bodies, in the same coding
revisits   the outcome of each revisit record, as a robots.txt, next to the record to which it refers
arc        URL, time and length of each record of an ARC file, in the records that `filter` writes
wacz       the records that `filter` writes of a WACZ file, and those of its WARC files one by one
"""

import calendar
import collections
import dataclasses
import gzip
import io
import json
import re
import subprocess
import sys
import urllib.parse
import zipfile
import zlib

import brotli
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import BufferedReader

from . import foreign_rules
from .command import Failed, robots, run, write_archive
from .foreign_sources import decompressed

# A robots.txt with lines that every wrong cut or decoding changes.
RULES = b"".join(
    [
        b"User-agent: *\r\nDisallow: /private/\r\n",
        *(b"Disallow: /%d/%s\r\n" % (number, b"x" * (number % 23)) for number in range(200)),
        b"Allow: /private/open\r\nSitemap: https://site.example/the-last-line.xml\r\n",
    ]
)
ANSWERS = ("response", "resource", "revisit")
# Responses whose blocks have a form that the check `rules` does not understand.
LEFT_OUT = "left out"
# The message of `compile` for an archive without a robots.txt.
NOTHING = "no capture of any /robots.txt"
# The types of records that `filter --cdxj` writes.
INDEXED = "response,revisit,resource,metadata,conversion"
CDXJ_INDEXER = "from cdxj_indexer.main import main; main()"


class Brotli:
    """What warcio expects of a decoder. Its own code fits the old package brotlipy only."""

    unused_data = None

    def __init__(self):
        self.decoder = brotli.Decompressor()

    def decompress(self, data):
        return self.decoder.process(data)


BufferedReader.DECOMPRESSORS["br"] = Brotli


@dataclasses.dataclass
class Record:
    """A record as warcio reads it."""

    type: str
    url: str | None
    head: bytes  # of the record, with the blank line
    block: bytes
    date: str | None
    digest: str | None  # of the payload
    refers_to: str | None  # the URL
    truncated: str | None
    status: int | None  # of the HTTP head
    body: bytes | None  # decoded


def listed(data):
    """Type, target, offset and length of each record, as (list, error)."""
    found = []
    iterator = ArchiveIterator(io.BytesIO(data), no_record_parse=True)
    try:
        for record in iterator:
            row = [record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), iterator.get_record_offset()]
            record.raw_stream.read()
            iterator.read_to_end()
            found.append([*row, iterator.get_record_length()])
    # warcio has no common class of errors.
    except Exception as error:
        return found, f"{type(error).__name__}: {error}"
    return found, None


def filtered(path, folder):
    """All records of a file as `filter` writes them; or the message of robosieve."""
    nothing = foreign_rules.Sites([]).compile(folder / "nothing")
    kept, invalid = folder / "all.warc", folder / "invalid.warc"
    try:
        policy = ["-q", "-s", nothing, "-a", foreign_rules.AGENT, "--unknown", "allow", "--invalid-to", invalid]
        run("filter", *policy, path, "-o", kept)
    except Failed as failed:
        return None, str(failed).splitlines()[-1]
    return (kept.read_bytes(), invalid.read_bytes()), None


def check_arc(path, folder, differs, asked, planted):
    """Compares what robosieve converts with what warcio reads in the ARC file itself."""
    expected, refused = [], None
    try:
        for record in ArchiveIterator(io.BytesIO(path.read_bytes()), arc2warc=True, no_record_parse=True):
            header = record.rec_headers.get_header
            block = record.raw_stream.read()
            if len(block) != int(header("Content-Length") or -1) and record.rec_type != "warcinfo":
                raise ValueError("a record is cut off")
            expected.append([header("WARC-Target-URI"), header("WARC-Date"), block])
    # warcio has no common class of errors.
    except Exception as error:
        refused = f"{type(error).__name__}: {error}"
    outputs, message = filtered(path, folder)
    if outputs is None:
        if not refused:
            differs("arc", "refused", message)
        return
    if refused:
        differs("arc", "read", f"warcio refuses it: {refused.strip().splitlines()[0]}")
        return
    # The first record describes the file, and warcio parts its block.
    expected = [[(url or "").replace(" ", "%20"), date, block] for url, date, block in expected[1:]]
    found = []
    for output in outputs:
        found += [[record.url, record.date, record.block] for record in records(output) if record.type != "warcinfo"]
    if planted:
        found = found[:-1]
    asked["arc"] += len(expected)
    if sorted(found) != sorted(expected):
        lost = [url for url, *_ in expected if url not in {url for url, *_ in found}]
        differs("arc", "records", f"{len(found)} records, warcio has {len(expected)}; without {lost[:3]}")


def check_wacz(path, folder, differs, asked, planted):
    """Compares the records of a WACZ file with those of its WARC files, which Python unpacks."""
    expected, refused = [b"", b""], None
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if re.fullmatch(r"archive/.*\.warc(\.gz)?", name)]
            for name in names:
                member = folder / f"member-{re.sub('.*/', '', name)}"
                member.write_bytes(archive.read(name))
                outputs, refused = filtered(member, folder)
                if outputs is None:
                    break
                expected = [text + more for text, more in zip(expected, outputs)]
            refused = refused or (None if names else "there is no WARC file")
    except (zipfile.BadZipFile, OSError, zlib.error) as error:
        refused = str(error)
    found, message = filtered(path, folder)
    asked["wacz"] += 1
    if planted and found:
        found = (found[0][1:], found[1])
    if (found is None) != bool(refused):
        differs("wacz", "refused" if refused is None else "read", f"{message or 'read'}; {refused}")
    elif found is not None and [decompressed(text) for text in found] != [decompressed(text) for text in expected]:
        differs("wacz", "records", "the records differ from those of the files in it")


def records(plain):
    """The records of decompressed text up to the first damage, with their decoded contents."""
    found = []
    iterator = ArchiveIterator(io.BytesIO(plain), no_record_parse=True)
    try:
        for record in iterator:
            block = record.raw_stream.read()
            offset = iterator.get_record_offset()
            begin = re.compile(rb"\r?\n\r?\n").search(plain, offset).end()
            stated = int(record.rec_headers.get_header("Content-Length"))
            if plain[begin : begin + len(block)] != block or len(block) != stated:
                break
            found.append(parsed(plain[offset:begin], block))
    # warcio has no common class of errors.
    except Exception:
        pass
    return found


def parsed(head, block):
    """A record by its head, with the blank line, and its block."""
    record = next(iter(ArchiveIterator(io.BytesIO(head + block + b"\r\n\r\n"))))
    header = record.rec_headers.get_header
    status = body = None
    try:
        status = int(record.http_headers.get_statuscode()) if record.http_headers else None
        body = record.content_stream().read()
    # The content is damaged: its outcome shows whether robosieve thinks so too.
    except Exception:
        pass
    return Record(
        type=record.rec_type,
        url=header("WARC-Target-URI"),
        head=head,
        block=block,
        date=header("WARC-Date"),
        digest=header("WARC-Payload-Digest"),
        refers_to=header("WARC-Refers-To-Target-URI"),
        truncated=header("WARC-Truncated"),
        status=status,
        body=body,
    )


def changed_head(head, target, referred=None, length=None):
    """A record's head with another target, and another URL to which it refers. With another length of its
    block, the digests are left out."""
    head = changed_field(head, b"WARC-Target-URI", target)
    head = changed_field(head, b"WARC-Refers-To-Target-URI", referred or target)
    if length is None:
        return head
    head = changed_field(head, b"Content-Length", b"%d" % length)
    return re.sub(rb"(?im)^WARC-(Block|Payload)-Digest:[^\n]*\n", b"", head)


def changed_field(head, name, value):
    """A head with another value of a field, if it has that field."""
    return re.sub(rb"(?im)^(%s[ \t]*:[ \t]*)[^\r\n]*" % name, lambda match: match[1] + value, head)


def http_parts(block):
    """Head with its blank line, and payload."""
    match = re.search(rb"\r?\n\r?\n", block)
    return (block[: match.end()], block[match.end() :]) if match else (block, b"")


def field(head, name):
    match = re.search(rb"(?im)^%s[ \t]*:[ \t]*([^\r\n]*)" % name, head)
    return match[1].strip().lower() if match else b""


def chunks(payload):
    """The content of a chunked body; None if it is not one."""
    content, place = [], 0
    while True:
        size = re.compile(rb"([0-9A-Fa-f]+)[^\r\n]*\r\n").match(payload, place)
        if not size:
            return None
        place = size.end() + int(size[1], 16) + 2
        if int(size[1], 16) == 0:
            return b"".join(content)
        content.append(payload[size.end() : place - 2])


def recoded(block):
    """The block of a response with the text of RULES as its body: in the codings in which the archive has the
    body, which are not always those of the head."""
    head, payload = http_parts(block)
    text = RULES
    content = chunks(payload) if b"chunked" in field(head, rb"transfer-encoding") else None
    inner = payload if content is None else content
    coding = field(head, rb"content-encoding")
    if inner.startswith(b"\x1f\x8b") and b"gzip" in coding:
        text = gzip.compress(text, mtime=0)
    elif coding == b"br" and decodes(brotli.decompress, inner):
        text = brotli.compress(text)
    elif coding == b"deflate" and decodes(zlib.decompress, inner, 15):
        text = zlib.compress(text)
    elif coding == b"deflate" and decodes(zlib.decompress, inner, -15):
        deflater = zlib.compressobj(wbits=-15)
        text = deflater.compress(text) + deflater.flush()
    if content is not None:
        parts = [text[at : at + 700] for at in range(0, len(text), 700)]
        text = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
    stated = field(head, rb"content-length")
    # A length that fitted fits again. One that stated another form of the body is wrong again.
    if stated.isdigit():
        factor = 1 if int(stated) == len(payload) else 0.5 if int(stated) < len(payload) else 2
        head = changed_field(head, b"Content-Length", b"%d" % (len(text) * factor))
    return head + text


def decodes(decode, *arguments):
    try:
        decode(*arguments)
        return True
    except (brotli.error, zlib.error):
        return False


def expected_time(date):
    """The second of a time in W3C's profile of ISO 8601. One of low precision is its last second, by
    docs/SEMANTICS.md."""
    match = re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.\d+)?)?)?Z?)?)?)?", date or "")
    if not match:
        return None
    year, month, day, hour, minute, second = match.groups()
    month = month or "12"
    day = day or str(calendar.monthrange(int(year), int(month))[1])
    return f"{year}-{month}-{day}T{hour or 23}:{minute or 59}:{second or 59}Z"


def expected_outcome(record):
    """The outcome of a robots.txt whose only capture is this record, by docs/SEMANTICS.md."""
    if record.type == "resource":
        return "rules"
    if record.status is None or not 200 <= record.status < 600 or record.truncated in ("time", "disconnect"):
        return "unreachable"
    if record.status < 300:
        return "rules"
    if record.status < 400:
        return "unreachable" if record.status == 304 else "unresolved-redirect"
    return "server-error" if record.status == 429 or record.status >= 500 else "client-error"


def exported(snapshot):
    """What a snapshot has of each origin: its row, and the text as rules and lengths."""
    rows = {}
    for line in run("export", "-q", "-s", snapshot, "--as", "jsonl").splitlines():
        row = json.loads(line)
        rows[row["origin"]] = row
        row["text"] = [row[column] for column in ("bytes", "groups", "sitemaps", "other_fields")]
    for line in run("export", "-q", "-s", snapshot, "--rules", "--as", "jsonl").splitlines():
        rule = json.loads(line)
        rows[rule["origin"]]["text"].append([rule[column] for column in ("line", "group", "kind", "pattern")])
    return rows


class Archive:
    """The comparisons for one file. `differs(check, subject, text)` takes a difference."""

    def __init__(self, path, folder, differs, asked, planted):
        self.path, self.folder, self.differs, self.asked, self.planted = path, folder, differs, asked, planted
        self.data = path.read_bytes()
        self.plain = decompressed(self.data)
        self.records = records(self.plain)

    def check(self):
        self.check_records()
        self.check_index()
        self.check_captures()
        self.check_unchanged()
        self.check_rules()
        self.check_revisits()

    def annotate(self, form, path):
        return run("annotate", "-q", "-s", self.snapshot, "-a", foreign_rules.AGENT, "--as", form, path)

    def check_records(self):
        expected, error = listed(self.data)
        whole, _ = listed(self.plain)
        urls = [url for _, url, _, _ in whole if url]
        sites = foreign_rules.Sites(urls)
        self.snapshot = sites.compile(self.folder)
        try:
            lines = self.annotate("jsonl", self.path)
        except Failed as failed:
            if not error:
                self.differs("records", "refused", str(failed).splitlines()[-1])
            self.found = None
            return
        self.found = [json.loads(line) for line in lines.splitlines()]
        by_text = self.data == self.plain or bool(error)
        # A file that is compressed as a whole has no members that are records.
        if error and "non-chunked" in error:
            expected, error = listed(self.plain)
        if error:
            self.differs("records", "read", f"warcio refuses it: {error}")
            return
        found = [[row["type"], row.get("url"), row["offset"], row["length"]] for row in self.found]
        if by_text:
            # The blank lines after a record belong to it here, and in part to nobody in warcio.
            ends = [row[2] + row[3] for row in found]
            if ends != [row[2] for row in found[1:]] + [len(self.plain)]:
                self.differs("records", "length", "the records leave a gap")
            found, expected = [row[:3] for row in found], [row[:3] for row in expected]
        if self.planted:
            found = found[:-1]
        self.asked["records"] += len(expected)
        if len(found) != len(expected):
            self.differs("records", "number", f"{len(found)} records, warcio has {len(expected)}")
        for row, wanted in zip(found, expected):
            if row != wanted:
                self.differs("records", str(wanted[1]), f"{row}, warcio has {wanted}")
        for row in self.found:
            letter = row["robots"][foreign_rules.AGENT][0].upper()
            wanted = sites.letter(row.get("url"))
            self.asked["verdicts"] += wanted is not None
            if wanted and letter != wanted:
                self.differs("verdicts", str(row.get("url")), f"{letter}, Google's parser has {wanted}")

    def check_index(self):
        if self.found is None:
            return
        # Only records that are kept have entries, so all sites are unknown, and unknown is allowed.
        (self.folder / "kept").mkdir()
        name = self.path.name.removesuffix(".gz") + ".gz" * self.data.startswith(b"\x1f\x8b")
        kept, index = self.folder / "kept" / name, self.folder / "kept.cdxj"
        nothing = foreign_rules.Sites([]).compile(self.folder / "none")
        try:
            policy = ["-q", "-s", nothing, "-a", foreign_rules.AGENT, "--unknown", "allow"]
            run("filter", *policy, self.path, "-o", kept, "--cdxj", index)
        except Failed as failed:
            self.differs("index", "refused", str(failed).splitlines()[-1])
            return
        done = subprocess.run([sys.executable, "-c", CDXJ_INDEXER, "--records", INDEXED, kept], capture_output=True)
        if done.returncode:
            return
        own, other = self.entries(index.read_bytes()), self.entries(done.stdout)
        self.asked["index"] += len(other)
        # Records of this type describe the crawl, and have no entries here.
        other = {key: entry for key, entry in other.items() if entry[2].get("mime") != "application/warc-fields"}
        for key in own.keys() | other.keys():
            # cdxj-indexer computes digests that the archive lacks.
            if key in own and key in other and "digest" not in own[key][2]:
                other[key][2].pop("digest", None)
            if own.get(key) != other.get(key):
                url = (own.get(key) or other[key])[2]["url"]
                self.differs("index", url, f"{own.get(key)}, cdxj-indexer has {other.get(key)}")
        # The index is a list of the same URLs.
        letters = collections.defaultdict(set)
        for row in self.found:
            letters[row.get("url")].add(row["robots"][foreign_rules.AGENT][0].upper())
        (self.folder / "other.cdxj").write_bytes(done.stdout)
        if not done.stdout:
            return
        lines = self.annotate("letters", self.folder / "other.cdxj")
        for line in lines.splitlines():
            letter, entry = line.decode().split("\t", 1)
            url = json.loads(entry.split(" ", 2)[2])["url"]
            if letters.get(url, {letter}) != {letter}:
                self.differs("verdicts", url, f"{letter} in the index, {sorted(letters[url])} in the archive")

    def entries(self, text):
        """Key, time and fields of each line, by the offset of the record."""
        found = {}
        for line in text.decode().splitlines():
            key, time, fields = line.split(" ", 2)
            fields = json.loads(fields)
            # The length of a record of a plain file has its blank lines here.
            if self.data == self.plain:
                del fields["length"]
            found[int(fields.pop("offset"))] = [key, time, dict(sorted(fields.items()))]
        return found

    def compiled(self, name, archive):
        """What a snapshot of an archive has of each origin; None if the archive is refused."""
        snapshot = self.folder / f"{name}.rsieve"
        try:
            run("compile", "-q", "-o", snapshot, archive)
        except Failed as failed:
            if NOTHING in str(failed):
                return {}
            if self.found is not None:
                self.differs(name, "refused", str(failed).splitlines()[-1])
            return None
        return exported(snapshot)

    def check_captures(self):
        answers = collections.defaultdict(list)
        for record in self.records:
            parts = urllib.parse.urlsplit(record.url or "")
            if record.type in ANSWERS and parts.path == "/robots.txt" and not parts.query:
                answers[f"{parts.scheme}://{parts.netloc}".lower()].append(record)
        # SEMANTICS.md says which of several captures counts; scripts/x differential histories has those.
        single = {
            origin: found[0] for origin, found in answers.items() if len(found) == 1 and found[0].type != "revisit"
        }
        self.compare("captures", self.compiled("captures", self.path), single)

    def compare(self, check, found, captures):
        """Compares outcome, time and text of each origin with those of its only capture."""
        if found is None:
            return
        bodies = [
            robots(origin, record.body or b"") | ({"truncated": record.truncated} if record.truncated else {})
            for origin, record in captures.items()
        ]
        texts = self.compiled("bodies", write_archive(self.folder / "bodies.jsonl", bodies)) if bodies else {}
        for origin, record in captures.items():
            self.asked[check] += 1
            subject = f"{record.type} {record.status or ''} {record.url}"
            wanted = expected_outcome(record)
            row = found.get(origin)
            if self.planted and row:
                row["text"].pop()
            if row is None:
                self.differs(check, subject, f"no entry, warcio has {wanted}")
            elif wanted == "unresolved-redirect" and (row["redirects"] or row["outcome"] == wanted):
                # What the target answers is another capture.
                continue
            elif wanted != row["outcome"]:
                self.differs(check, subject, f"{row['outcome']} ({row['detail']}), warcio has {wanted}")
            else:
                self.asked["times"] += 1
                if row["fetched"] != expected_time(record.date):
                    self.differs("times", subject, f"{row['fetched']}, the record has {record.date}")
                if wanted == "rules" and row["text"] != texts[origin]["text"]:
                    self.differs(check, subject, "the text differs from that of the body as warcio decodes it")

    def rewritten(self, check, block_of):
        """Makes an archive of the answers, each for a site of its own. Returns what robosieve has of each, and
        the records."""
        chosen = [r for r in self.records if r.type in ("response", "resource") and re.match("https?:", r.url or "")]
        made, captures = [], {}
        for number, record in enumerate(chosen):
            origin = f"https://n{number}.example"
            block = block_of(record)
            head = changed_head(record.head, f"{origin}/robots.txt".encode(), length=len(block))
            made.append(head + block + b"\r\n\r\n")
            captures[origin] = dataclasses.replace(parsed(head, block), url=record.url)
        archive = self.folder / f"{check}.warc"
        archive.write_bytes(b"".join(made))
        return self.compiled(check, archive) if made else {}, captures

    def check_unchanged(self):
        self.compare("unchanged", *self.rewritten("unchanged", lambda record: record.block))

    def check_rules(self):
        def block_of(record):
            return RULES if record.type == "resource" else recoded(record.block)

        found, captures = self.rewritten("rules", block_of)
        # If warcio reads another text, the block has a form that was not understood above.
        understood = {origin: record for origin, record in captures.items() if record.body == RULES}
        self.asked[LEFT_OUT] += len(captures) - len(understood)
        self.compare("rules", found, understood)

    def check_revisits(self):
        """Each revisit record whose original is a 200 of the same archive, as the second capture of a robots.txt,
        or as the first one of a site whose robots.txt is that of another site."""
        originals = {}
        for record in self.records:
            if record.type == "response" and record.status == 200 and record.digest:
                originals.setdefault((record.digest, record.url), record)
        made, captures = [], {}
        for number, record in enumerate(record for record in self.records if record.type == "revisit"):
            original = originals.get((record.digest, record.refers_to or record.url))
            confirms = record.status in (None, 304) or 200 <= record.status < 300
            if original is None or not confirms or not re.match("https?:", record.url or ""):
                continue
            origin = f"https://n{number}.example"
            elsewhere = f"https://o{number}.example" if original.url != record.url else origin
            target, referred = f"{origin}/robots.txt".encode(), f"{elsewhere}/robots.txt".encode()
            made.append(changed_head(original.head, referred) + original.block + b"\r\n\r\n")
            made.append(changed_head(record.head, target, referred) + record.block + b"\r\n\r\n")
            captures[origin] = dataclasses.replace(record, status=200, body=original.body)
        if made:
            archive = self.folder / "revisits.warc"
            archive.write_bytes(b"".join(made))
            self.compare("revisits", self.compiled("revisits", archive), captures)
