"""Filters of whole lists by robots.txt: this project's, those of other projects, and loops around a parser.

All start with the same archive and the same list of URLs, and end with an answer for each URL. Their answers are
compared with those of Google's parser. The programs are in python/bench/filters."""

import importlib.metadata
import importlib.util
import itertools
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

from . import data, picture, process, processor, record

# The most URLs of each list: grouped by host, of mixed hosts, and nearly all of other hosts.
EACH = 40_000
# Runs of the commands of this project and of those that only read. The others run once.
RUNS = 5
PROGRAMS = record.ROOT / "python/bench/filters"
# The agents of the filters that have their own. Apertus' has two more names of CCBot, with versions.
APERTUS = (
    "AI2Bot,Applebot-Extended,Bytespider,CCBot,ClaudeBot,cohere-training-data-crawler,Diffbot,FacebookBot,"
    "Meta-ExternalAgent,Google-Extended,GPTBot,PanguBot,*"
)
HPLT = "ia_archiver,CCBot,*"
FILTER_ALONE = "robosieve, `filter`"
# Where the filters of other projects are, below the address of --git.
APERTUS_FILE = "swiss-ai/pretrain-data", "src/data_pipeline_pretrain/pipeline/filters/robots_filter.py"
HPLT_FOLDER = "hplt-project/monotextor-slurm"
# HPLT's package has other programs, with dependencies that these do not need.
HPLT_MANIFEST = """\
[package]
name = "monotextor-utils"
version = "0.3.0"
edition = "2021"

[dependencies]
clap = { version = "4.5", features = ["derive"] }
env_logger = "0.10.0"
fst = "0.4.7"
indicatif = { version = "0.17.8", features = ["rayon"] }
log = { version = "0.4", features = ["max_level_debug", "release_max_level_info"] }
memmap2 = "0.9.4"
patricia_tree = "0.8.0"
rayon = "1.5.3"
regex = "1.9.1"
regex-automata = { version = "0.1.9", features = ["transducer"] }
serde = { version = "1.0.164", features = ["derive"] }
serde_json = "1.0.97"
zstd = { version = "0.12.3", features = ["zstdmt"] }

[workspace]
"""
READERS = {
    "fastwarc": processor.FASTWARC,
    "warcio": """
import sys
from warcio.archiveiterator import ArchiveIterator

for record in ArchiveIterator(open(sys.argv[1], "rb")):
    record.content_stream().read()
""",
}
NOTE = """\
From the archive and {urls:,} URLs to an answer for each, on two cores: user and system time of all processes, and
time on the clock. The URLs are the first of each list, at most {each:,}: grouped by host, of mixed hosts, and nearly
all of other hosts. The archive has a robots.txt for the origin of each. The commands of robosieve are medians of
{runs} runs; the others ran once. The expected answers are those of Google's parser for the same agents: a URL is
kept if each of them may fetch it. Apertus' filter asks for two more names, of versions of CCBot."""


@dataclass
class Filter:
    """A program in python/bench/filters, its name, the packages it needs, and its fifth argument."""

    program: str
    name: str
    packages: list
    agents: str
    more: tuple = ()


@dataclass
class Times:
    processor: float
    seconds: float


@dataclass
class Result:
    """The times of a filter, and how many of its answers are those of Google's parser."""

    name: str
    packages: list
    agents: int
    times: Times
    right: int
    kept: int
    removed: int

    def row(self):
        packages = [f"{package.partition('.')[2] or package} {importlib.metadata.version(package)}" for package in self.packages]
        name = ", ".join([self.name, *packages, self.asked()])
        times = f"{self.times.processor:.2f}", f"{self.times.seconds:.2f}"
        return [name, *times, f"{self.right:,}", f"{self.kept:,}", f"{self.removed:,}"]

    def bar(self):
        own = not self.packages
        return picture.Bar("robosieve" if own else self.name, self.asked(), self.times.seconds, own)

    def asked(self):
        return "1 agent" if self.agents == 1 else f"{self.agents} agents"


def run(options):
    if not options.real:
        raise record.Skipped("its filters read WARC files, which only real data have (--real DIR)")
    missing = [package for package in ["fastwarc", "jwm.robotstxt"] if not is_installed(package)]
    if missing:
        raise record.Skipped(f"no package {' and '.join(missing)} (pip install {' '.join(missing)})")
    work = record.target() / "bulk"
    work.mkdir(parents=True, exist_ok=True)
    with data.compiled(options.real, EACH) as (robosieve, inputs, _, place):
        urls, count = write_urls(inputs, place)
        filters, notes = contestants(work, options.git)
        results = compare(robosieve, inputs.archive, urls, place, filters)
        reading = read_archive(robosieve, inputs.archive, place)
    if not options.print:
        draw(results, count)
    head = ["filter", "processor time, s", "seconds", "right answers", "kept wrongly", "removed wrongly"]
    note = NOTE.format(urls=count, each=EACH, runs=RUNS)
    left_out = "".join(f"Left out: {why}.\n" for why in notes)
    return f"{note}\n\n{record.table(head, [one.row() for one in results])}\n{left_out}\n{reading}"


def draw(results, count):
    """Draws the whole jobs, for both backgrounds."""
    bars = [one.bar() for one in results if one.name != FILTER_ALONE]
    title = f"Seconds from the archive to {count:,} answers"
    for background in picture.COLOURS:
        path = record.ROOT / f"docs/bulk-{background}.svg"
        path.write_text(picture.bars(title, bars, background))
        print(f"drawn: {path.relative_to(record.ROOT)}")


def is_installed(package):
    """Whether a Python package is there."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def contestants(work, git):
    """The filters that can run here, and why the others are left out."""
    filters = [
        Filter("google_per_url", "Google's parser per URL", ["jwm.robotstxt"], "GPTBot"),
        Filter("protego_cached", "Protego with a cache", ["protego"], "GPTBot"),
        Filter("duckdb_function", "DuckDB with Protego", ["duckdb", "pyarrow", "protego"], "GPTBot"),
        Filter("datatrove_urllib", "datatrove with urllib", ["datatrove"], "GPTBot"),
    ]
    notes = []
    try:
        apertus = clone(work, git, APERTUS_FILE[0]) / APERTUS_FILE[1]
        filters.append(Filter("apertus", "Apertus' filter", ["datatrove", "protego"], APERTUS, (apertus,)))
    except subprocess.CalledProcessError:
        notes.append(f"Apertus' filter, because {git}/{APERTUS_FILE[0]} cannot be cloned")
    try:
        filters.append(Filter("hplt", "HPLT's filter", ["orjson", "zstandard"], HPLT, (hplt_programs(work, git),)))
    except subprocess.CalledProcessError as error:
        notes.append(f"HPLT's filter, because `{' '.join(map(str, error.cmd[:3]))}` failed")
    for one in list(filters):
        missing = [package for package in one.packages if not is_installed(package)]
        if missing:
            filters.remove(one)
            notes.append(f"{one.name}, because this Python has no package {missing[0]}")
    return filters, notes


def clone(work, git, repository):
    """A copy of a repository, made once."""
    folder = work / pathlib.PurePath(repository).name
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"{git}/{repository}", folder], check=True)
    return folder


def hplt_programs(work, git):
    """A folder with the programs that HPLT's jobs start, built once."""
    source, build, programs = clone(work, git, HPLT_FOLDER), work / "hplt", work / "hplt-programs"
    if not (programs / "robotstxt-annotate").exists():
        (build / "src/bin").mkdir(parents=True, exist_ok=True)
        programs.mkdir(exist_ok=True)
        (build / "Cargo.toml").write_text(HPLT_MANIFEST)
        shutil.copy(source / "utils/Cargo.lock", build)
        (build / "src/lib.rs").write_text("pub mod utils { pub fn memory_usage() {} }\n")
        own = ["robots-filter", "robotstxt-annotate"]
        for name in own:
            shutil.copy(source / f"utils/src/bin/{name}.rs", build / "src/bin")
        target = work / "hplt-target"
        environment = os.environ | {"CARGO_TARGET_DIR": str(target)}
        subprocess.run(["cargo", "build", "-q", "--release"], cwd=build, env=environment, check=True)
        subprocess.run(["cargo", "install", "-q", "--locked", "--root", work, "--version", "0.4.3", "fst-bin"],
                       env=environment, check=True)
        shutil.copy(source / "scripts/robots2tsv.py", programs)
        shutil.copy(work / "bin/fst", programs)
        for name in own:
            shutil.copy(target / "release" / name, programs)
    return programs


def timed(*commands):
    """The times of commands, one after the other."""
    runs = [process.timed([str(part) for part in command]) for command in commands]
    return Times(sum(run.processor for run in runs), sum(run.seconds for run in runs))


def median(*commands):
    """The medians of the times of several runs, after a warm-up run."""
    runs = [timed(*commands) for _ in range(RUNS + 1)][1:]
    return Times(statistics.median(run.processor for run in runs), statistics.median(run.seconds for run in runs))


def write_urls(inputs, place):
    """A list of the first URLs of each list whose origin has a robots.txt, and which need no escapes; their number."""
    sys.path.insert(0, str(PROGRAMS))
    import robots_texts

    texts = robots_texts.read_texts(str(inputs.archive))
    path, count = place / "urls.txt", 0
    with open(path, "w") as out:
        for file in inputs.lists.values():
            with open(file, encoding="utf-8", errors="replace") as lines:
                asked = (line for line in lines if is_plain(line[:-1]) and robots_texts.origin_of(line) in texts)
                for line in itertools.islice(asked, EACH):
                    out.write(line)
                    count += 1
    return path, count


def is_plain(url):
    """Whether every parser can be asked about a URL as it is."""
    return url.isascii() and url.isprintable() and " " not in url


def compare(robosieve, archive, urls, place, filters):
    """The results of all filters."""
    results = []
    for agents in dict.fromkeys(one.agents for one in filters):
        expected = answers_of(PROGRAMS / "google_per_url.py", archive, urls, place / "expected", agents)[1]
        found, answers = of_robosieve(robosieve, archive, urls, place, agents)
        for name, times in found.items():
            own = result(name, [], agents, times, answers, expected)
            if own.kept or own.removed:
                raise SystemExit(f"bulk: {own.kept + own.removed:,} answers of robosieve are wrong, for {agents}")
            results.append(own)
        for one in filters:
            if one.agents == agents:
                print(f"bulk: {one.name}", file=sys.stderr)
                times, answers = answers_of(PROGRAMS / f"{one.program}.py", archive, urls, place / "answers", agents, *one.more)
                results.append(result(one.name, one.packages, agents, times, answers, expected))
    return results


def result(name, packages, agents, times, answers, expected):
    """The result of a filter, whose answers are compared with those of Google's parser."""
    pairs = Counter(zip(answers, expected, strict=True))
    right = pairs["0", "0"] + pairs["1", "1"]
    return Result(name, packages, agents.count(",") + 1, times, right, pairs["1", "0"], pairs["0", "1"])


def answers_of(program, archive, urls, out, agents, *more):
    """The times of a program, and its answers."""
    times = timed([sys.executable, "-W", "ignore", program, archive, urls, out, agents, *more])
    return times, out.read_text().splitlines()


def of_robosieve(robosieve, archive, urls, place, agents):
    """The times of the two commands and of the second alone, by their names, and the answers."""
    snapshot = place / "own.rsieve"
    compile_ = [robosieve, "compile", "-q", "-o", snapshot, archive]
    filter_ = [robosieve, "filter", "-q", "-s", snapshot, "-a", agents, urls, "-o", "/dev/null"]
    times = {"robosieve, `compile` and `filter`": median(compile_, filter_), FILTER_ALONE: median(filter_)}
    lines = record.output(robosieve, "annotate", "-q", "-s", snapshot, "-a", agents, urls, errors="replace").split("\n")
    answers = ["0" if "D" in line.partition("\t")[0] else "1" for line in lines]
    return times, answers


def read_archive(robosieve, archive, place):
    """What it takes to read the archive, and to compile it."""
    commands = {"robosieve, `compile -j 1`": [robosieve, "-j", "1", "compile", "-q", "-o", place / "read.rsieve", archive]}
    commands["`zcat`"] = ["zcat", archive]
    for package, program in READERS.items():
        if is_installed(package):
            commands[f"{package} {importlib.metadata.version(package)}"] = [sys.executable, "-c", program, archive]
    rows = []
    for name, command in commands.items():
        times = median(command)
        rows.append([name, f"{times.processor:.2f}", f"{times.seconds:.2f}"])
    note = "Reading the archive: all records with heads and bodies. robosieve also parses and compiles the rules."
    return f"{note}\n\n{record.table(['reader', 'processor time, s', 'seconds'], rows)}"
