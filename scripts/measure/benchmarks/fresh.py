"""Parses single real robots.txt files and asks them about real URLs: robosieve and fast-robots."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile

from . import data, record, rivals

# The most paths of a host.
PATHS = 50
TURNS = 31
NOTE = f"""\
The files of the hosts that have URLs in the lists, UTF-8 only, each with up to {PATHS} of their ASCII paths,
repeated up to that number. Means over the files, of the minimum of {TURNS} alternating turns for each.
"""


def run(options):
    if not options.real or not data.is_there(options.real):
        raise record.Skipped("it needs real files: --real DIR")
    build = ["cargo", "build", "--release", "--locked", "-q", "--bin", "fresh"]
    subprocess.run(build, cwd=rivals.HOME, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", rivals.HOME / "target")).resolve()
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        paths = paths_by_origin(data.find(options.real, place).lists.values())
        sites = place / "sites.jsonl"
        with sites.open("w") as out:
            for origin, body in bodies(options.real / "robots.warc.gz"):
                if found := paths.get(origin):
                    out.write(json.dumps({"robots": body, "paths": found}) + "\n")
        table = record.output(target / "release" / "fresh", sites, str(TURNS))
    return f"fast-robots {rivals.versions().split(',')[0].split()[-1]}. {NOTE}\n{table}"


def paths_by_origin(lists):
    """The first paths of each origin in the lists, without those that need an escape."""
    found = {}
    for file in lists:
        for line in file.open("rb"):
            match = re.match(rb"(https?://[^/?#\s]+)(/[!-~]*)", line)
            if match:
                paths = found.setdefault(match[1].lower().decode("latin-1"), [])
                if len(paths) < PATHS:
                    paths.append(match[2].partition(b"#")[0].decode())
    return found


def bodies(archive):
    """The origins and UTF-8 bodies of the successful responses in a WARC archive."""
    # Not `gzip.decompress`, which copies the rest of the file for each of its many members.
    with gzip.open(archive) as file:
        text = file.read()
    at = 0
    while (end := text.find(b"\r\n\r\n", at)) >= 0:
        head = text[at:end]
        start = end + 4
        at = start + int(re.search(rb"Content-Length: (\d+)", head)[1]) + 4
        origin = re.search(rb"WARC-Target-URI: (\S+)/robots\.txt", head)
        if origin and b"WARC-Type: response" in head and text.startswith(b"HTTP/1.1 200", start):
            body = text[start : at - 4].partition(b"\r\n\r\n")[2]
            try:
                yield origin[1].lower().decode("latin-1"), body.decode()
            except UnicodeDecodeError:
                pass
