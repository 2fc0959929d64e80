"""Counts the URLs that a crawler may fetch in each engine that has an interface, with the program that a user writes.

A program runs on a long and on a short list, so the difference has no start of a virtual machine or a session.
Processor time and memory are those of the whole machine, because Ray and Spark work in processes that are not
children of the program, which is what process.timed measures. So nothing else may run."""

import hashlib
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import data, record

AGENT = "GPTBot"
RUNS = 3
# Of the jobs.
FILES = 17
PROGRAMS = record.ROOT / "python/bench/engines"
EXAMPLES = record.ROOT / "examples/capi"
NOTE = f"""\
Each program counts the URLs that {AGENT} may fetch. ns of processor time per URL, on all cores: the
difference between {{long:,}} and {{short:,}} URLs, the least of {RUNS} runs of each. Seconds and memory are
those of the whole program on {{long:,}} URLs. The lists of the command, C, Go and Java are text, those of the
others Parquet. Memory is the largest decrease of the memory that the machine has left. Lines are lines
of code of the program; the command is one."""
JOB = """\
{files} lists, {lines:,} URLs and {size:.1f} GB together, annotated into as many files, once. The time of a session's
start is part of it. All outputs have the same bytes."""


@dataclass
class Engine:
    name: str
    version: str
    # The file with the program, or the command itself.
    program: str
    # The command line for a snapshot, a list, a Parquet file and an output.
    command: Callable
    # The count in the output of a program that prints lines: those that begin with this letter, or all.
    letter: str = ""


def python(name, package, title):
    """An engine with a program in Python, if its package is there."""
    if importlib.util.find_spec(package) is None:
        print(f"engines: skipped: {title}, {sys.executable} has no package {package}", file=sys.stderr)
        return None
    program = PROGRAMS / f"{name}.py"
    version = importlib.metadata.version(package)

    def command(snapshot, _, pages, out):
        return [sys.executable, program, snapshot, pages, out]

    return Engine(title, version, program, command)


def native(scratch, robosieve):
    """The engines without Python: the command, and programs over the C interface and the Java package."""
    yield Engine("command", "", f"robosieve filter -s SNAPSHOT -a {AGENT} LIST",
                 lambda snapshot, urls, *_: [robosieve, "filter", "-q", "-s", snapshot, "-a", AGENT, urls], "*")
    library = record.target() / "release"
    subprocess.run(["cargo", "rustc", "--release", "--locked", "-q", "-p", "robosieve", "--lib", "--features", "capi",
                    "--crate-type", "cdylib"], cwd=record.ROOT, check=True)
    if shutil.which("cc"):
        built = scratch / "judge-c"
        subprocess.run(["cc", "-O2", f"-I{record.ROOT}/include", EXAMPLES / "judge.c", "-o", built, f"-L{library}",
                        "-lrobosieve", f"-Wl,-rpath,{library}"], check=True)
        yield Engine("C, gcc", version_of("cc", "-dumpfullversion"), EXAMPLES / "judge.c",
                     lambda snapshot, *_: [built, snapshot, AGENT], "A")
    if shutil.which("go"):
        built_go = scratch / "judge-go"
        flags = {"GO111MODULE": "off", "CGO_CFLAGS": f"-I{record.ROOT}/include",
                 "CGO_LDFLAGS": f"-L{library} -lrobosieve -Wl,-rpath,{library}"}
        subprocess.run(["go", "build", "-o", built_go, EXAMPLES / "judge.go"], env={**os.environ, **flags}, check=True)
        yield Engine("Go", version_of("go", "version"), EXAMPLES / "judge.go",
                     lambda snapshot, *_: [built_go, snapshot, AGENT], "A")
    yield from java(scratch, library / "librobosieve.so")


def java(scratch, library):
    """The programs of docs/C.md and docs/JAVA.md, each with the newest Java."""
    if not shutil.which("javac"):
        return
    versions = {}
    for path in [shutil.which("java"), *pathlib.Path("/usr/lib/jvm").glob("*/bin/java")]:
        shown = subprocess.run([path, "-version"], capture_output=True, text=True, check=True).stderr
        versions[int(re.search(r'version "(\d+)', shown)[1])] = path
    newest = max(versions)
    run = [versions[newest], "--enable-native-access=ALL-UNNAMED"] if newest >= 22 else [versions[newest]]
    if newest >= 22:
        yield Engine("Java, C interface", str(newest), EXAMPLES / "Judge.java",
                     lambda snapshot, *_: [*run, EXAMPLES / "Judge.java", library, snapshot, AGENT], "A")
    jar = record.output("scripts/x", "jar", scratch, env={**os.environ, "PROFILE": "release"}).splitlines()[-1]
    page = (record.ROOT / "docs/JAVA.md").read_text()
    program = scratch / "FilterUrls.java"
    program.write_text(re.search(r"```java\n(.*?)```", page, re.S)[1])
    subprocess.run(["javac", "-cp", jar, "-d", scratch, program], check=True)
    yield Engine("Java package, URL by URL", str(newest), program,
                 lambda snapshot, *_: [*run, "-cp", f"{jar}:{scratch}", "FilterUrls", snapshot, AGENT], "*")


def version_of(*command):
    """The version that a tool prints."""
    return re.search(r"[0-9]+(?:[.][0-9]+)+", record.output(*command))[0]


def lines_of(program):
    """The lines of code of a program, without blank lines and comments; 1 for a command."""
    if not isinstance(program, pathlib.Path):
        return 1
    lines = [line.strip() for line in program.read_text().splitlines()]
    return sum(1 for line in lines if line and not line.startswith(("#", "//", "/*", "*")))


class Machine:
    """Processor time and memory of the machine while a program runs."""

    def __enter__(self):
        # Processes of the last program, such as those of Ray, may still end.
        time.sleep(2)
        self.free = self.least = available()
        self.before = busy_seconds()
        self.begun = time.monotonic()
        self.done = threading.Event()
        self.sampler = threading.Thread(target=self.sample)
        self.sampler.start()
        return self

    def sample(self):
        while not self.done.wait(0.02):
            self.least = min(self.least, available())

    def __exit__(self, *_):
        self.done.set()
        self.sampler.join()
        self.elapsed = time.monotonic() - self.begun
        self.seconds = busy_seconds() - self.before
        self.memory = self.free - self.least


def busy_seconds():
    """Processor time of all programs since the start of the system, without that of idle cores and disks."""
    user, nice, system, _idle, _wait, *_ = map(int, pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def available():
    """Bytes of memory that programs can get, without the page cache's."""
    return 1024 * int(re.search(r"MemAvailable: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])


def start(engine, snapshot, urls, pages, scratch):
    """Runs a program. Its output goes to a file, so that nothing else works meanwhile."""
    out = scratch / "out"
    with open(urls, "rb") as lines, open(scratch / "printed", "wb") as printed, open(scratch / "errors", "w+") as errors:
        # Ray and Spark write logs to standard error.
        command = list(map(str, engine.command(snapshot, urls, pages, out)))
        if subprocess.run(command, stdin=lines, stdout=printed, stderr=errors).returncode != 0:
            errors.seek(0)
            raise SystemExit(f"engines: {engine.name} failed\n{errors.read()[-3000:]}")


def count(engine, scratch):
    """The count of the program that ran last."""
    printed = (scratch / "printed").read_bytes()
    if engine.letter == "*":
        return printed.count(b"\n")
    if engine.letter:
        return len(re.findall(rb"^" + engine.letter.encode(), printed, re.M))
    # Ray writes hints to standard output too.
    return int(re.findall(rb"^(\d+)$", printed, re.M)[-1])


def inputs(lists, scratch, name, times, share=1):
    """A list and a Parquet file of the same URLs: a share of them this many times; and their number."""
    import pyarrow
    import pyarrow.parquet

    lines = (lists["sorted"].read_bytes() + lists["unsorted"].read_bytes()).splitlines()
    urls = [line.decode() for line in lines[:: round(1 / share)] if line and is_utf8(line)] * times
    text = scratch / f"{name}.txt"
    text.write_text("\n".join(urls) + "\n")
    pages = scratch / f"{name}.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"url": urls}), pages, row_group_size=100_000)
    return text, pages, len(urls)


def is_utf8(line):
    """Whether a line can be a text of Parquet, and a line of all programs: without line ends of Unicode."""
    try:
        return len(line.decode().splitlines()) == 1
    except UnicodeDecodeError:
        return False


def run(options):
    for name in ["robosieve", "pyarrow"]:
        if importlib.util.find_spec(name) is None:
            raise record.Skipped(f"{sys.executable} has no package {name}")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with data.compiled(options.real, 1_000_000) as (robosieve, given, snapshot, _), tempfile.TemporaryDirectory() as place:
        scratch = pathlib.Path(place)
        short = inputs(given.lists, scratch, "short", 1, share=0.01)
        once = inputs(given.lists, scratch, "once", 1)
        long = inputs(given.lists, scratch, "long", 2)
        engines = [
            *native(scratch, robosieve),
            python("pyarrow_column", "pyarrow", "pyarrow"),
            python("polars_column", "polars", "Polars"),
            python("pandas_column", "pandas", "pandas"),
            python("dask_column", "dask", "Dask"),
            python("duckdb_function", "duckdb", "DuckDB, function of Arrow"),
            python("ray_dataset", "ray", "Ray, dataset"),
            python("ray_files", "ray", "Ray, files"),
            python("spark_sql", "pyspark", "Spark, SQL"),
            python("spark_files", "pyspark", "Spark, files"),
        ]
        rows, counts = [], set()
        for engine in filter(None, engines):
            row, found = measure(engine, snapshot, short, long, scratch)
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
            counts.add(found)
        if len(counts) != 1:
            raise SystemExit(f"engines: the counts differ: {rows}")
        table_of_jobs = jobs(robosieve, snapshot, once, scratch)
    head = ["engine", "version", "lines", "ns per URL", "seconds", "memory, MB", "allowed"]
    note = NOTE.format(short=short[2], long=long[2])
    return f"{note}\n\n{record.table(head, rows)}\n{table_of_jobs}"


def measure(engine, snapshot, short, long, scratch):
    """The row of an engine, and its count."""
    least = []
    for text, pages, _ in (short, long):
        runs = []
        for _ in range(RUNS):
            shutil.rmtree(scratch / "out", ignore_errors=True)
            with Machine() as machine:
                start(engine, snapshot, text, pages, scratch)
            allowed = count(engine, scratch)
            runs.append(machine)
        least.append(min(run.seconds for run in runs))
    ns = (least[1] - least[0]) / (long[2] - short[2]) * 1e9
    elapsed, memory = min(run.elapsed for run in runs), max(run.memory for run in runs) / 1e6
    figures = [f"{ns:.0f}", f"{elapsed:.1f}", f"{memory:.0f}", f"{allowed:,}"]
    return [engine.name, engine.version, lines_of(engine.program), *figures], allowed


def jobs(robosieve, snapshot, once, scratch):
    """The table of jobs that annotate many files."""
    folder, out = scratch / "lists", scratch / "annotated"
    folder.mkdir()
    for number in range(FILES):
        shutil.copy(once[0], folder / f"{number:02}.txt")
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
    annotate = [robosieve, "annotate", "-q", "-s", snapshot, "-a", AGENT]
    each = f'{" ".join(map(str, annotate))} -j 1 -o "$0/$(basename "$1")" "$1"'
    ways = {
        "`robosieve annotate -j 2 --out-dir`": [*annotate, "-j", "2", "--out-dir", out, folder],
        "`xargs -P 2` and `robosieve annotate -j 1`": [
            "sh", "-c", f"mkdir {out}; ls {folder}/* | xargs -P 2 -n 1 sh -c '{each}' {out}"],
    }
    for package, title in (("pyspark", "Spark, `annotate_files`"), ("ray", "Ray, `annotate_files`")):
        if engine := python(f"{package.removeprefix('py')}_annotate", package, title):
            ways[title] = engine.command(snapshot, None, folder, out)
    rows, digests = [], set()
    for name, command in ways.items():
        shutil.rmtree(out, ignore_errors=True)
        # Otherwise the run waits for the disk to write the files of the run before.
        os.sync()
        with Machine() as machine:
            record.output(*map(str, command), stderr=subprocess.DEVNULL)
        names = sorted(path for path in out.iterdir() if path.suffix == ".txt")
        digests |= {(len(names), hashlib.sha256(path.read_bytes()).hexdigest()) for path in names}
        lines = FILES * once[2]
        rows.append([name, f"{machine.seconds:.1f}", f"{machine.seconds / lines * 1e6:.3f}", f"{machine.elapsed:.1f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    if len(digests) != 1:
        raise SystemExit(f"engines: the outputs of jobs differ: {rows}")
    head = ["way", "CPU seconds", "CPU seconds per million URLs", "seconds"]
    return f"{JOB.format(files=FILES, lines=FILES * once[2], size=size)}\n\n{record.table(head, rows)}"
