"""Own lists: what the domains of UT1 and lists of words cost in a pass that judges, and what other programs take.

The list of domains travels in the package datatrove, which also is a contestant. Others are adblock (adblock-rust),
DuckDB and `grep -F -f`; one that is not installed is left out.
"""

import hashlib
import importlib.metadata
import importlib.util
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile

from . import data, record

RUNS = 9
# The lines of the list in random order that slow contestants get.
SAMPLE = 20_000
# The lists of words by their names: the option that names them, and how many.
WORDS = {"1,000 words": ("--block-words", 1_000), "10,000 words": ("--block-words", 10_000),
         "1,000 substrings": ("--block-substrings", 1_000)}

# Each gets the files of domains and of URLs, and prints the seconds for all URLs and how many it lists.
DATATROVE = """
import sys, time
import tldextract
from datatrove.data import Document
from datatrove.pipeline.filters import URLFilter

domains, urls = (open(path, encoding="utf-8", errors="replace").read().splitlines() for path in sys.argv[1:])
urlfilter = URLFilter(extra_domains=domains, use_integrated_lists=False)
urlfilter.tldextractor = tldextract.TLDExtract(suffix_list_urls=())
documents = [Document(text="", id="", metadata={"url": url}) for url in urls]
urlfilter.filter(documents[0])
start = time.process_time()
listed = sum(urlfilter.filter(document) is not True for document in documents)
print(time.process_time() - start, listed)
"""
ADBLOCK = """
import sys, time
import adblock

domains, urls = (open(path, encoding="utf-8", errors="replace").read().splitlines() for path in sys.argv[1:])
rules = adblock.FilterSet()
rules.add_filters([f"||{domain}^" for domain in domains])
engine = adblock.Engine(rules)
start = time.process_time()
listed = sum(engine.check_network_urls(url, "https://page.example/", "other").matched for url in urls)
print(time.process_time() - start, listed)
"""
DUCKDB = r"""
import sys, time
import duckdb

connection = duckdb.connect(config={"threads": 1})
read = "read_csv('{}', columns={{'{}': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false, auto_detect=false)"
connection.execute(f"CREATE TABLE domains AS SELECT DISTINCT lower(suffix) AS suffix FROM {read.format(sys.argv[1], 'suffix')}")
connection.execute(f"CREATE TABLE urls AS SELECT row_number() OVER () AS id, url FROM {read.format(sys.argv[2], 'url')}")
start = time.process_time()
listed, = connection.execute(r'''
    WITH hosts AS (SELECT id, string_split(lower(regexp_extract(url, '^[a-z]+://([^/:?#]+)', 1)), '.') AS labels FROM urls),
         suffixes AS (SELECT id, unnest(list_transform(range(1, len(labels) + 1), lambda i: array_to_string(labels[i:], '.')))
                      AS suffix FROM hosts)
    SELECT count(DISTINCT id) FROM suffixes SEMI JOIN domains USING (suffix)
''').fetchone()
print(time.process_time() - start, listed)
"""


def run(options):
    assets = importlib.util.find_spec("datatrove")
    if not assets:
        raise record.Skipped("datatrove, which has the list, is not installed (pip install datatrove)")
    with data.compiled(options.real, 1_000_000) as (robosieve, inputs, snapshot, place):
        domains = unpack(pathlib.Path(assets.origin).parent / "assets", place)
        own = place / "own.rlists"
        compiling = processor([robosieve, "-j", "2", "lists", "-q", "-o", own, f"ut1={domains}"])
        size = own.stat().st_size
        count = line_count(domains)
        longer = data.longer(inputs, place) if options.real else inputs
        return (
            f"{count:,} lines. Compiled in {compiling:.1f} s of processor time, {size:,} bytes.\n\n"
            f"{costs(robosieve, longer, snapshot, own)}\n{words(robosieve, longer, snapshot, place)}\n{rivals(robosieve, inputs.lists['unsorted'], own, domains, place)}"
        )


def unpack(assets, place):
    """The domains of UT1's list of adult sites."""
    archive = next(assets.glob("url_filterblacklists*.tar.gz"))
    with tarfile.open(archive) as files:
        member = next(one for one in files if pathlib.PurePath(one.name).name == "domains")
        path = place / "domains"
        with open(path, "wb") as out:
            shutil.copyfileobj(files.extractfile(member), out)
    return path


def processor(command):
    """The seconds of user time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def line_count(file):
    with open(file, "rb") as lines:
        return sum(1 for _ in lines)


def alternate(filter_, ways, file):
    """Nanoseconds of user time per line for each way of filtering a file, in alternating runs after a warm-up run."""
    lines = line_count(file)
    found = {way: [] for way in ways}
    for turn in range(RUNS + 1):
        order = ways if turn % 2 else reversed(ways)
        for way in order:
            found[way].append(processor([*filter_, *ways[way], file]) / lines * 1e9)
    return {way: times[1:] for way, times in found.items()}


def costs(robosieve, inputs, snapshot, own):
    """Nanoseconds of user time per line: with robots.txt files alone, with both, and with lists alone."""
    judge = ["-s", snapshot, "-a", "GPTBot"]
    ways = {"robots": judge, "both": [*judge, "--lists", own], "lists": ["--lists", own]}
    filter_ = [robosieve, "-j", "1", "filter", "-q", "--no-verify", "-o", "/dev/null"]
    rows = []
    for name, file in inputs.lists.items():
        found = alternate(filter_, ways, file)
        pairs = list(zip(found["both"], found["robots"]))
        more = statistics.median(both - robots for both, robots in pairs)
        ratio = statistics.median(both / robots for both, robots in pairs)
        medians = [statistics.median(found[way]) for way in ways]
        rows.append([name, *(f"{median:.1f}" for median in medians), f"{more:.1f}", f"{ratio:.2f}"])
    head = ["user time, 1 thread, ns per URL", "robots.txt", "robots.txt and list", "list", "more with the list", "ratio"]
    note = f"Medians of {RUNS} alternating runs of whole commands after a warm-up run; the last two are those of pairs.\n"
    return f"{note}\n{record.table(head, rows)}"


def words(robosieve, inputs, snapshot, place):
    """Nanoseconds of user time per line that lists of words add to robots.txt files, and the lines that they list."""
    tokens = sorted(set(re.findall(rb"[a-z]{4,}", inputs.lists["unsorted"].read_bytes().lower())),
                    key=lambda token: hashlib.sha256(token).digest())
    judge = ["-s", snapshot, "-a", "GPTBot"]
    ways = {"robots": judge}
    for name, (option, count) in WORDS.items():
        own = place / f"{name.replace(' ', '-')}.rlists"
        texts = place / "words.txt"
        texts.write_bytes(b"\n".join(tokens[:count]))
        subprocess.run([robosieve, "lists", "-q", "-o", own, option, texts], check=True)
        ways[name] = [*judge, "--lists", own]
    filter_ = [robosieve, "-j", "1", "filter", "-q", "--no-verify", "-o", "/dev/null"]
    rows = []
    for list_, file in inputs.lists.items():
        found = alternate(filter_, ways, file)
        row = [list_, f"{statistics.median(found['robots']):.1f}"]
        row += [f"{statistics.median(one - other for one, other in zip(found[way], found['robots'])):.1f}" for way in WORDS]
        for way in WORDS:
            listed = place / "listed.txt"
            subprocess.run([*filter_, *ways[way], file, "--listed-to", listed], check=True)
            row.append(f"{100 * line_count(listed) / line_count(file):.1f}")
        rows.append(row)
    head = ["words, user time, 1 thread, ns per URL", "robots.txt", *(f"more with {way}" for way in WORDS),
            *(f"listed by {way}, %" for way in WORDS)]
    note = f"Words are tokens of the URLs in random order. Medians of {RUNS} alternating runs after a warm-up run.\n"
    return f"{note}\n{record.table(head, rows)}"


def rivals(robosieve, urls, own, domains, place):
    """What other programs take for the same list. All but robosieve count their look-ups alone."""
    sample = place / "sample.txt"
    with open(urls, "rb") as lines, open(sample, "wb") as out:
        lines = lines.readlines()
        out.writelines(lines[:: max(1, len(lines) // SAMPLE)])
    sampled = line_count(sample)
    filter_ = [robosieve, "-j", "1", "filter", "-q", "--no-verify", "--lists", own, "-o", "/dev/null"]
    seconds = statistics.median(processor([*filter_, urls]) for _ in range(RUNS))
    listed = place / "listed.txt"
    subprocess.run([*filter_, sample, "--listed-to", listed], check=True)
    found = line_count(listed)
    rows = [["robosieve", f"{len(lines):,}", f"{seconds / len(lines) * 1e9:,.0f}", f"{found:,}", "whole command"]]
    for module, program in [("datatrove", DATATROVE), ("adblock", ADBLOCK), ("duckdb", DUCKDB)]:
        if not importlib.util.find_spec(module):
            rows.append([f"{module}: not installed", "", "", "", ""])
            continue
        command = [sys.executable, "-W", "ignore", "-c", program, domains, sample]
        seconds, found = record.output(*command).split()[-2:]
        name = f"{module} {importlib.metadata.version(module)}"
        rows.append([name, f"{sampled:,}", f"{float(seconds) / sampled * 1e9:,.0f}", f"{int(found):,}", ""])
    rows.append(grep(domains, sample, sampled, place))
    head = ["look-ups in the list in random order", "URLs", "ns per URL", "listed of the sample", "note"]
    note = f"The sample is one of {len(lines) // SAMPLE} lines.\n"
    return f"{note}\n{record.table(head, rows)}"


def grep(domains, sample, sampled, place):
    """`grep -F -f` finds the domains anywhere in a URL. Its start is subtracted."""
    empty = place / "empty"
    empty.write_bytes(b"")
    command = ["grep", "-c", "-F", "-f", domains]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([*command, empty], stdout=subprocess.DEVNULL)
    start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    found = subprocess.run([*command, sample], stdout=subprocess.PIPE, text=True).stdout
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start - (start - before)
    note = f"substrings; {start - before:.1f} s to start"
    return ["grep -F -f", f"{sampled:,}", f"{max(seconds, 0) / sampled * 1e9:,.0f}", f"{int(found):,}", note]
