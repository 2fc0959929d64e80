"""The parsers: how each is installed, and how a running one is asked."""

import csv
import dataclasses
import hashlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import time

from campaigns.command import BINARY

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = ROOT.parent
# Seconds for the questions about one file. A parser that needs longer gets each question alone.
LIMIT = 10
# This many questions of a file may each take LIMIT. Then the others count as too slow as well.
SLOW_QUESTIONS = 1


# The Debian packages that a language needs. README.md lists them too.
DEBIAN = {
    "C++": "g++ pkg-config libabsl-dev",
    "Go": "golang-go",
    "Java": "default-jdk-headless libslf4j-java libcommons-io-java",
    "JavaScript": "nodejs npm",
    "Perl": "libwww-robotrules-perl",
    "PHP": "php-cli php-mbstring",
    "Ruby": "ruby-webrobots",
}

# What a parser in Java needs besides its sources.
JARS = {
    "crawler-commons": ["/usr/share/java/slf4j-api.jar", "/usr/share/java/slf4j-nop.jar", "/usr/share/java/commons-io.jar"],
    "google-java": [],
}
# The commit of url-cpp that rep-cpp names.
REP_CPP_URLS = "f9f53c7cadfbd26ab32fee1e86fa88393a1e7ddc"


class CannotInstall(Exception):
    """Why a parser is left out, and what would install it."""


@dataclasses.dataclass
class Contestant:
    """A line of contestants.tsv."""

    name: str
    language: str
    kind: str
    package: str
    version: str
    descent: str
    licence: str

    @property
    def is_own(self):
        return self.kind == "project"


def read():
    """All lines of contestants.tsv."""
    lines = [line for line in (ROOT / "contestants.tsv").read_text().splitlines() if not line.startswith("#")]
    return [Contestant(**row) for row in csv.DictReader(lines, delimiter="\t")]


class Installer:
    """Installs parsers below a directory, with the versions and hashes of `locks`. What is installed
    stays there for the next run."""

    def __init__(self, work, git_base):
        self.work, self.git_base = work, git_base

    def install(self, contestant):
        """The command line that starts a parser, and its environment."""
        try:
            return getattr(self, contestant.language.lower().replace("+", "p"))(contestant)
        except CannotInstall as why:
            if contestant.language not in DEBIAN:
                raise
            raise CannotInstall(
                f"{why} (parsers in {contestant.language} need Debian's packages {DEBIAN[contestant.language]})"
            ) from why

    def run(self, *command, cwd=None, **environment):
        """The standard output of a command that must succeed."""
        try:
            done = subprocess.run(
                [str(part) for part in command], cwd=cwd, env=os.environ | environment, capture_output=True, text=True, errors="replace"
            )
        except FileNotFoundError as error:
            raise CannotInstall(f"{command[0]} is not installed") from error
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["without a message"]
            # Compilers end with a summary; the first error says more.
            message = next((line for line in lines if "error" in line.lower()), lines[-1])
            raise CannotInstall(f"{' '.join(map(str, command[:3]))}: {message.strip()[:300]}")
        return done.stdout

    def directory(self, *parts):
        path = self.work.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def python(self, contestant):
        path = [str(ROOT / "bases")]
        # The order of a set decides some answers of robotspy, and would be another in each run.
        environment = {"PYTHONHASHSEED": "0"}
        if contestant.kind == "pypi":
            lock = ROOT / "locks" / f"{contestant.package}.txt"
            target = self.directory("pypi", contestant.name)
            stamp = target / f".{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
            if not stamp.exists():
                self.run(sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--upgrade",
                         "--target", target, "-r", lock)
                stamp.touch()
            path.append(str(target))
        elif contestant.name == "robosieve-wheel":
            target = self.directory("pypi", contestant.name)
            self.run(sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", target, PROJECT / "python")
            path.append(str(target))
        elif contestant.kind == "project":
            environment["ROBOSIEVE"] = str(self.command())
        # Neither the directory of the parser nor the packages of this Python may shadow the package.
        start = "import runpy, sys; sys.path.pop(0); runpy.run_path(sys.argv[1])"
        parser = ROOT / "parsers" / "python" / f"{contestant.name}.py"
        return [sys.executable, "-c", start, str(parser)], {"PYTHONPATH": os.pathsep.join(path), **environment}

    def command(self):
        """The command of this project."""
        if "ROBOSIEVE" not in os.environ:
            self.run("cargo", "build", "--release", "--locked", "--package", "robosieve-cli", cwd=PROJECT)
        return BINARY

    def javascript(self, contestant):
        # Node looks for packages above the module, so the modules are copied next to them.
        folder = self.directory("npm")
        for name in ["bases", "parsers"]:
            shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
        lock = ROOT / "locks" / "package-lock.json"
        stamp = folder / f".{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
        if not stamp.exists():
            for name in ["package.json", "package-lock.json"]:
                shutil.copy(ROOT / "locks" / name, folder)
            self.run("npm", "ci", "--ignore-scripts", "--silent", "--no-audit", "--no-fund", cwd=folder)
            stamp.touch()
        return ["node", str(folder / "parsers" / "javascript" / f"{contestant.name}.mjs")], {}

    def rust(self, contestant):
        feature = "robosieve" if contestant.is_own else contestant.package
        target = self.directory("rust")
        self.run("cargo", "build", "--release", "--locked", "--quiet", "--features", feature, "--bin", contestant.name,
                 cwd=ROOT / "bases" / "rust", CARGO_TARGET_DIR=str(target))
        return [str(target / "release" / contestant.name)], {}

    def sources(self, contestant):
        """A checkout of the repository at its tag or commit."""
        return self.checkout(contestant.package, contestant.version)

    def checkout(self, repository, version):
        folder = self.work / "git" / repository.replace("/", "+")
        if not folder.exists():
            fresh = folder.with_name(folder.name + ".new")
            shutil.rmtree(fresh, ignore_errors=True)
            self.run("git", "clone", "--quiet", f"{self.git_base}/{repository}", fresh)
            self.run("git", "-C", fresh, "-c", "advice.detachedHead=false", "checkout", "--quiet", version)
            fresh.rename(folder)
        return folder

    def cpp(self, contestant):
        sources = self.sources(contestant)
        program = self.directory("cpp") / contestant.name
        if contestant.name == "rep-cpp":
            # Its submodule, at the commit that it names.
            urls = self.checkout("seomoz/url-cpp", REP_CPP_URLS)
            folders = [sources / "include", urls / "include"]
            libraries = [*(sources / "src").glob("*.cpp"), *(urls / "src").glob("*.cpp")]
        else:
            folders = [sources]
            libraries = [sources / "robots.cc", *self.run("pkg-config", "--cflags", "--libs", "absl_strings", "absl_base").split()]
        self.run(os.environ.get("CXX", "g++"), "-std=c++17", "-O2", "-I", ROOT / "bases", *(f"-I{folder}" for folder in folders),
                 ROOT / "parsers" / "cpp" / f"{contestant.name}.cc", "-o", program, *libraries)
        return [str(program)], {}

    def java(self, contestant):
        sources = self.sources(contestant)
        classes = self.directory("java", contestant.name)
        for jar in JARS[contestant.name]:
            if not pathlib.Path(jar).exists():
                raise CannotInstall(f"{jar} is missing")
        path = os.pathsep.join([str(classes), *JARS[contestant.name]])
        sources = os.pathsep.join(map(str, [sources / "src/main/java", ROOT / "bases" / "java"]))
        # The class of the program `google-java` is `GoogleJava`.
        parser = contestant.name.title().replace("-", "")
        self.run("javac", "-nowarn", "-encoding", "UTF-8", "-d", classes, "-cp", path, "-sourcepath", sources,
                 ROOT / "bases" / "Base.java", ROOT / "parsers" / "java" / f"{parser}.java")
        return ["java", "-Xss64m", "-cp", path, parser], {}

    def go(self, contestant):
        sources = self.sources(contestant)
        folder = self.directory("go", contestant.name)
        shutil.copytree(ROOT / "bases" / "go", folder / "base", dirs_exist_ok=True)
        shutil.copy(ROOT / "parsers" / "go" / f"{contestant.name}.go", folder / "main.go")
        # Sources of the library only, so that dependencies of its tests are not needed.
        library = self.directory("go", contestant.name, "library")
        for source in sources.glob("*.go"):
            if not source.name.endswith("_test.go"):
                shutil.copy(source, library)
        module = f"github.com/{contestant.package}"
        (library / "go.mod").write_text(f"module {module}\n")
        (folder / "go.mod").write_text(
            f"module conformance\n\ngo 1.18\n\nrequire {module} v0.0.0\n\nreplace {module} => ./library\n"
        )
        self.run("go", "build", "-o", "parser", ".", cwd=folder, GOFLAGS="-mod=mod", GOPROXY="off")
        return [str(folder / "parser")], {}

    def perl(self, contestant):
        self.run("perl", "-MWWW::RobotRules", "-e", "1")
        return ["perl", str(ROOT / "parsers" / "perl" / f"{contestant.name}.pl")], {}

    def php(self, contestant):
        if "mbstring" not in self.run("php", "-m"):
            raise CannotInstall("PHP has no mbstring")
        environment = {"BASES": str(ROOT / "bases"), "SOURCES": str(self.sources(contestant))}
        return ["php", str(ROOT / "parsers" / "php" / f"{contestant.name}.php")], environment

    def ruby(self, contestant):
        self.run("ruby", "-rwebrobots", "-e", "1")
        return ["ruby", str(ROOT / "parsers" / "ruby" / f"{contestant.name}.rb")], {}


class Running:
    """A parser's process. It is started again when it died or was too slow."""

    def __init__(self, command, environment, log):
        self.command, self.environment, self.log = command, environment, log
        self.process = None
        self.parses = None
        self.buffer = b""

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(self.log, "ab"),
            env=os.environ | self.environment,
        )
        self.buffer = b""
        hello = self.read(60)
        if not isinstance(hello, dict) or "hello" not in hello:
            self.stop()
            raise CannotInstall(f"it does not start; its messages are in {self.log}")
        self.parses = hello["parses"]

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def read(self, limit):
        """The next answer, or `X` if the process died, or `T` if the time is up."""
        end = time.monotonic() + limit
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                return "T"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return "X"
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line)

    def request(self, question, limit=LIMIT):
        """One answer of the protocol, or `X` or `T`."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(question, ensure_ascii=False).encode() + b"\n")
            self.process.stdin.flush()
            answer = self.read(limit)
        except BrokenPipeError:
            answer = "X"
        if not isinstance(answer, dict):
            self.stop()
        return answer

    def ask(self, question, limit=LIMIT):
        """The letters of each agent. Where the file as a whole has no answer, each question is asked
        alone."""
        answer = self.request(question, limit)
        if isinstance(answer, dict):
            return answer["verdicts"]
        if len(question["agents"]) == 1 and len(question["urls"]) == 1:
            return [answer]
        verdicts, failures = [], 0
        for agent in question["agents"]:
            letters = ""
            for url in question["urls"]:
                if failures < SLOW_QUESTIONS:
                    alone = self.request(question | {"agents": [agent], "urls": [url]}, limit)
                    letter = alone["verdicts"][0] if isinstance(alone, dict) else alone
                    failures += letter in "XT"
                letters += letter
            verdicts.append(letters)
        return verdicts

    def resident(self):
        """Resident memory in bytes (Linux)."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(text.split("VmRSS:")[1].split()[0])
