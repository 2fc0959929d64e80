"""The steps of HPLT's jobs, with its own programs: rules become patterns, which search an index of all URLs. Then
each document is looked up among the URLs that a pattern disallows.

The fifth argument is a folder with `robots2tsv.py`, `robots-filter`, `robotstxt-annotate` and `fst`. The archive is
read here in place of warc2text. The programs keep their own three names of agents, and remove `http://` and `www.`."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import zstandard
from robots_texts import arguments, write_answers

# As many parts as the machine has cores, and more: robots-filter spreads them over the cores.
PARTS = 16

texts, urls, _ = arguments()
programs = pathlib.Path(sys.argv[5])
place = pathlib.Path(sys.argv[3]).parent


def run(command, **streams):
    subprocess.run([str(part) for part in command], check=True, **streams)


def write_patterns(part, origins):
    """The rules of some origins as patterns."""
    captures = []
    for origin in origins:
        capture = {"u": f"{origin}/robots.txt", "p": texts[origin].decode("utf-8", "replace")}
        captures.append(json.dumps(capture) + "\n")
    with open(part, "w") as out:
        run([sys.executable, "-W", "ignore", programs / "robots2tsv.py"], input="".join(captures).encode(), stdout=out)


def write_index(lines, index):
    """The set of distinct lines of a file, in order."""
    ordered = lines.with_suffix(".sorted")
    with open(ordered, "w") as out:
        run(["sort", "-u", lines], stdout=out, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    run([programs / "fst", "set", "--force", "--sorted", ordered, index])


with tempfile.TemporaryDirectory(dir=place) as folder:
    folder = pathlib.Path(folder)
    parts = [folder / f"patterns-{part}.tsv" for part in range(PARTS)]
    origins = list(texts)
    for part, path in enumerate(parts):
        write_patterns(path, origins[part::PARTS])
    (folder / "urls").write_bytes(
        b"".join(re.sub(rb"^(https?://)?(www\.)?", b"", url.encode(errors="surrogateescape")) + b"\n" for url in urls)
    )
    write_index(folder / "urls", folder / "urls.fst")
    with open(folder / "disallowed", "w") as out:
        run([programs / "robots-filter", folder / "urls.fst", *parts], stdout=out, stderr=subprocess.DEVNULL)
    write_index(folder / "disallowed", folder / "disallowed.fst")
    documents = "".join(json.dumps({"u": url.encode(errors="replace").decode()}) + "\n" for url in urls)
    (folder / "documents.zst").write_bytes(zstandard.compress(documents.encode()))
    run([programs / "robotstxt-annotate", folder / "disallowed.fst", folder / "documents.zst", folder / "allowed.zst"],
        stderr=subprocess.DEVNULL)
    with zstandard.open(folder / "allowed.zst", "rt") as answers:
        write_answers(json.loads(answer)["allowed"] for answer in answers)
