"""Records of measurements in Markdown: the results, the date, the machine and the command."""

import datetime
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Skipped(Exception):
    """A benchmark that cannot run here, and why."""


def generated_only(real):
    """For a benchmark that has no use for real inputs."""
    if real:
        raise Skipped("it generates its data")


def output(*command, cwd=ROOT, **options):
    """The output of a command."""
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def target():
    """The target directory of the main package."""
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def robosieve():
    """Builds the binary and returns its path."""
    subprocess.run(["cargo", "build", "--release", "--locked", "-q"], cwd=ROOT, check=True)
    return str(target() / "release" / "robosieve")


def table(head, rows):
    """A table in Markdown. The first column is text, the others are numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def facts():
    """The machine, the compiler and the commit, as lines of a list. Call it before the measurement."""
    cpu = dict(line.split(":", 1) for line in output("lscpu").splitlines() if ":" in line)
    cpu = {key.strip(): value.strip() for key, value in cpu.items()}
    caches = ", ".join(f"{key.removesuffix(' cache')} {value}" for key, value in cpu.items() if key.endswith(" cache"))
    where = "a virtual machine" if "Hypervisor vendor" in cpu else "the machine itself"
    changed = " with changes" if output("git", "status", "--porcelain", "--", "src", "Cargo.lock") else ""
    return [
        f"CPU: {cpu.get('Model name')}, {cpu.get('CPU(s)')} cores, {where}",
        f"caches: {caches}",
        f"system: {os.uname().sysname} {os.uname().release}, load before the run {os.getloadavg()[0]:.1f}",
        f"compiler: {output('rustc', '--version')}",
        f"commit: {output('git', 'rev-parse', '--short', 'HEAD')}{changed}",
    ]


def put(kind, real, facts, body, write):
    """Prints a record, and writes it if `write`."""
    date = datetime.date.today().isoformat()
    data = "real" if real else "made-up"
    command = f"scripts/x bench {kind}" + (" --real DIR" if real else "")
    lines = [f"# {kind}, {data} data, {date}", "", *(f"- {fact}" for fact in facts), f"- command: `{command}`", ""]
    text = "\n".join(lines) + "\n" + body.strip() + "\n"
    print(text)
    if write:
        path = ROOT / "benches" / "record" / f"{date}-{kind}-{data}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        print(f"written: {path.relative_to(ROOT)}")
