"""Flipped bits of stored files: the files, and the ways to read each.

A way reads one file, `x.rsieve`, `x.captures` or `x.rlists` of its folder, and gives an answer that
can be compared. A `Refused` names the file and is as good as the same answer.
"""

import ctypes
import os
import struct
import subprocess

from . import grammar
from .command import BINARY, TARGET, run, write_archive
from .grammar import NAMES

SNAPSHOT, CAPTURES, LISTS = "x.rsieve", "x.captures", "x.rlists"
AGENTS = "FooBot,GPTBot,Kangaroo Bot:Foo,an,*"
# Seconds after which a run counts as hanging.
PATIENCE = 10
# The files of the large snapshot.
SITES = 500
SMALL = grammar.RULES[:-4]

RULES = """User-agent: FooBot
Disallow: /private
Allow: /private/*.html$
Disallow: /*.pdf$
Crawl-delay: 2
Content-Usage: train-ai=n
Content-Signal: search=yes

User-agent: Kangaroo Bot/2
User-agent: GPTBot
Disallow: /a/path/that/no/prefix/word/holds
Allow: /a/path/that$

User-agent: *
Disallow: /cart*
Allow: /cart/open$
Disallow: *?session=
Sitemap: https://rules.example/sitemap.xml
"""


# Filter lists by their names, with entries of each kind. With the words, no section is empty.
LIST_TEXTS = {
    "own": ["rules.example", "=moved.example", "deep.er.gone.example", "192.0.2.7", "rules.example/private*.html$"],
    "paths": ["rules.example", "union.example/a", "https://loop.example:8443", "loop.example:80/x*y"],
    "others": ["ftp://gone.example/z"],
    "good": ["@@rules.example/private", "@@silent.example", "silent.example/cart"],
}
# Lists of words by their options. They decide about URLs of hosts without entries.
WORD_TEXTS = {
    "--block-words": ["private", "cart", "OPEN"],
    "--soft-words": ["path", "that", "open", "session"],
    "--block-substrings": ["x pdf", "bmx", "cart"],
}


class Refused(Exception):
    """The file was refused."""


def overlapping():
    """A robots.txt whose groups overlap so much that the last names get a union of rule sets."""
    names = [f"a{chr(letter)}" for letter in range(ord("a"), ord("n") + 1)]
    shared = "".join(f"user-agent: {name}\n" for name in names) + "disallow: /a\n" * 600
    return shared + "".join(f"user-agent: {name}\nallow: /a/b{name[1:]}\n" for name in names)


def small_web():
    """Captures with every outcome, so that no section of their snapshot is empty."""
    day = "2026-03-0{}T00:00:00Z".format

    def capture(host, **more):
        return {"url": f"http://{host}.example/robots.txt", "fetched_at": day(1), **more}

    return [
        capture("rules", body=RULES, headers={"Cache-Control": "max-age=60"}),
        capture("moved", status=301, headers={"Location": "http://rules.example/robots.txt"}),
        capture("loop", status=302, headers={"Location": "/robots.txt"}),
        capture("gone", status=404),
        capture("failing", body="user-agent: *\ndisallow: /old"),
        capture("failing", status=503, fetched_at=day(2)),
        capture("silent", error="connection timed out"),
        capture("union", body=overlapping()),
    ]


def small_urls(_):
    hosts = ["rules", "moved", "loop", "gone", "failing", "silent", "union", "unknown"]
    paths = ["", "private", "private/a.html", "x.pdf", "a/path/that", "a/bm/x", "cart/open", "old", "x?session=1"]
    return [f"http://{host}.example/{path}".encode() for host in hosts for path in paths] + [b"no URL"]


# URLs that the entries for addresses and ports decide about.
LISTED = [b"http://192.0.2.7/", b"https://loop.example:8443/q", b"http://loop.example/xyz",
          b"http://a.deep.er.gone.example/"]


def small_history():
    """Captures of several days, so that no section of a history is empty."""
    earlier = [
        ("rules", 27, {"body": RULES.replace("/private", "/old")}),
        ("rules", 28, {"body": RULES.replace("/cart", "/old-cart")}),
        ("moved", 27, {"status": 302, "headers": {"Location": "http://rules.example/r"}}),
        ("gone", 27, {"status": 503}),
        ("gone", 28, {"body": "user-agent: *\ndisallow: /gone"}),
        ("silent", 27, {"body": "user-agent: an\ndisallow: /"}),
    ]
    captures = [{"url": f"http://{host}.example/robots.txt", "fetched_at": f"2026-02-{day}T00:00:00Z", **answer}
                for host, day, answer in earlier]
    target = {"url": "http://rules.example/r", "fetched_at": "2026-02-27T00:00:00Z", "body": "user-agent: *\ndisallow: /r"}
    return small_web() + captures + [target]


def large_web(rng):
    """Made-up files: many, some with thousands of rules, and one with a union of rule sets."""
    captures = [{"url": "http://union.example/robots.txt", "body": overlapping()}]
    for site in range(SITES):
        body, _ = grammar.robots(rng, rng.choice(grammar.MANY_RULES) if site % 250 == 0 else rng.choice(SMALL))
        # Texts that share nothing make the snapshot large.
        noise = "".join(f"#{rng.getrandbits(512):x}\n" for _ in range(4))
        body = body.decode("latin-1") + f"\nuser-agent: {rng.choice(NAMES)}\ndisallow: /{noise[1:40]}\n{noise}"
        day = f"2026-03-{1 + site % 28:02}T00:00:00Z"
        captures.append({"url": f"http://h{site}.example/robots.txt", "body": body, "fetched_at": day})
        if site % 9 == 0:
            failed = {"status": 503, "fetched_at": "2026-04-01T00:00:00Z"}
            captures.append({"url": f"http://h{site}.example/robots.txt", **failed})
        if site % 11 == 0:
            moved = {"Location": f"http://h{site}.example/robots.txt"}
            captures.append({"url": f"https://h{site}.example/robots.txt", "status": 301, "headers": moved})
    return captures


def large_urls(rng):
    urls = [b"http://union.example/a/bm/x", b"http://h1.example/a", b"http://unknown.example/", b"no URL"]
    return urls + [b"http://h%d.example%s" % (rng.randrange(SITES), grammar.url_path(rng, [])) for _ in range(500)]


# The commands of each verb. `-o` names the output; `intact` is a copy of the file.
OF_SNAPSHOTS = {
    "filter": ["filter -s x.rsieve -a FooBot urls -o out0 --disallowed-to out1 --unknown-to out2 --invalid-to out3"],
    "annotate": ["annotate -s x.rsieve -a AGENTS --preferences --add origin,reason,crawl_delay --as jsonl urls"],
    "check": [
        "check -s x.rsieve -a AGENTS --json URL URL2",
        "check -s x.rsieve -a FooBot --explain URL",
        "check -s x.rsieve -a FooBot --explain --json URL2",
    ],
    "inspect": ["inspect x.rsieve --json", "inspect x.rsieve URL"],
    "inspect --verify": ["inspect x.rsieve --verify"],
    "report": [
        "report -s x.rsieve -a AGENTS --json-to out0 --csv-to out1 --html out2",
        "report -s x.rsieve -a FooBot urls",
        "report -a FooBot --series 2026-01=x.rsieve 2026-02=intact --csv-to out0",
    ],
    "export": [
        "export -s x.rsieve -a AGENTS -o out0.jsonl",
        "export -s x.rsieve -a FooBot --rules -o out0.csv",
        "export -s x.rsieve --sitemaps",
    ],
    "diff": ["diff x.rsieve intact -a FooBot --json", "diff intact x.rsieve"],
    "agents": ["agents x.rsieve --tsv"],
    "lint": ["lint x.rsieve --json", "lint -s x.rsieve"],
    "due": ["due -s x.rsieve --stale-at 2027-01-01 urls --as jsonl"],
    "audit": ["audit -s x.rsieve --host HOST access.log --as json --html out0 --lines out1"],
    "compile --previous": ["compile --previous x.rsieve -o out0 one.jsonl"],
}
OF_CAPTURES = {
    "compile": ["compile x.captures -o out0", "compile --memory 0 x.captures one.jsonl -o out0"],
    "captures": ["captures x.captures one.jsonl -o out0.captures"],
    "inspect": ["inspect x.captures --json"],
    "inspect --verify": ["inspect x.captures --verify"],
    "compile, in a directory": ["compile archives -o out0"],
}
# Of a snapshot with a history, as of times at which its sites had other rules.
OF_HISTORIES = {
    "filter --as-of": ["filter -s x.rsieve -a FooBot --as-of THEN urls -o out0 --disallowed-to out1 --unknown-to out2"],
    "annotate --as-of-column": [
        "annotate -s x.rsieve -a AGENTS --as-of-column time --preferences --add origin,reason --as jsonl dated.csv"
    ],
    "check --as-of": [
        "check -s x.rsieve -a AGENTS --as-of THEN --json URL URL2",
        "check -s x.rsieve -a FooBot --as-of THEN --explain URL",
    ],
    "inspect --history": ["inspect x.rsieve URL --history", "inspect x.rsieve http://moved.example --history"],
    "report --as-of": [
        "report -s x.rsieve -a AGENTS --as-of THEN --json-to out0 --csv-to out1",
        "report -a FooBot --series x.rsieve --every day --csv-to out0",
    ],
    "export --as-of": ["export -s x.rsieve -a AGENTS --as-of THEN -o out0.jsonl"],
    "export --history": [
        "export -s x.rsieve --history -o out0.csv",
        "export -s x.rsieve -a AGENTS --disallowed-since -o out1.jsonl",
    ],
    "report --disallowed-since": ["report -s x.rsieve -a AGENTS --disallowed-since --csv-to out0"],
    "audit, by the time of each line": ["audit -s x.rsieve --host HOST access.log --as json --lines out0"],
    "diff --from": ["diff --from 2026-02-28 --to THEN x.rsieve -a FooBot --json"],
    "compile --history": ["compile --history --previous x.rsieve -o out0 one.jsonl"],
    "inspect --verify": ["inspect x.rsieve --verify"],
}
OF_LISTS = {
    "lists": ["lists x.rlists"],
    "lists --find": ["lists x.rlists --find URL --find URL2"],
    "filter --lists": ["filter --lists x.rlists urls -o out0 --listed-to out1"],
    "annotate --lists": ["annotate --lists x.rlists --add list,entry --as jsonl urls -o out0"],
    "check --lists": ["check --robots robots.txt --lists x.rlists -a FooBot URL URL2"],
}
THEN = "2026-03-01T12:00:00Z"
# The same with --no-verify, for the self-test: no damage is looked for.
UNVERIFIED = ["filter", "annotate", "report", "export", "agents", "filter --lists", "annotate --lists"]


def compile_lists(path):
    """Compiles the filter lists."""
    texts = {path.with_name(name): lines for name, lines in LIST_TEXTS.items()}
    words = {option: path.with_name(option.strip("-")) for option in WORD_TEXTS}
    texts.update((text, WORD_TEXTS[option]) for option, text in words.items())
    for text, lines in texts.items():
        text.write_text("".join(f"{line}\n" for line in lines))
    entries = list(texts)[:len(LIST_TEXTS)]
    run("lists", "-q", "-o", path, *entries, *[word for pair in words.items() for word in pair])
    for text in texts:
        text.unlink()


class Web:
    """A folder with a stored file, what the commands need beside it, and the URLs to ask about."""

    def __init__(self, folder, name, file, captures, urls, has_history=False):
        self.folder, self.name, self.file, self.urls = folder, name, file, urls
        self.has_history = has_history
        self.path = folder / file
        if file == LISTS:
            compile_lists(self.path)
        else:
            archive = write_archive(folder / "web.jsonl", captures)
            verb = "compile" if file == SNAPSHOT else "captures"
            run(verb, "-q", archive, "-o", self.path, *["--history"] * has_history)
            archive.unlink()
        self.data = self.path.read_bytes()
        (folder / "intact").write_bytes(self.data)
        (folder / "urls").write_bytes(b"\n".join(urls) + b"\n")
        times = ["2026-02-27", THEN, "2026-03-02", ""]
        rows = [b"%s,%s" % (url, time.encode()) for url in urls for time in times]
        (folder / "dated.csv").write_bytes(b"\n".join([b"url,time", *rows]) + b"\n")
        write_archive(folder / "one.jsonl", [{"url": "http://new.example/robots.txt", "body": RULES}])
        self.host = urls[0].decode().split("/")[2]
        line = '192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "GET {} HTTP/1.1" 200 5 "-" "{}/1"\n'
        lines = [line.format(path, name) for path in ["/private", "/a/bm/x", "/"] for name in ["GPTBot", "CCBot"]]
        (folder / "access.log").write_text("".join(lines))
        (folder / "robots.txt").write_text(RULES)
        # The header with the table, and each section.
        sections = 19 if has_history else 13
        if file == LISTS:
            sections, = struct.unpack_from("<I", self.data, 12)
        self.extents = [range(min(40 + 32 * sections, len(self.data)))]
        if file != CAPTURES:
            for row in range(sections):
                offset, size = struct.unpack_from("<QQ", self.data, 48 + 32 * row)
                assert size, f"{name}: section {row + 1} is empty"
                self.extents.append(range(offset, offset + size))

    def move_to(self, folder):
        """Continues in a copy of the folder, so that two processes do not flip bits of one file."""
        for path in self.folder.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        self.folder, self.path = folder, folder / self.file
        # The same file in a directory of archives.
        (folder / "archives").mkdir()
        os.link(self.path, folder / "archives" / self.file)

    def words(self, command):
        values = {"AGENTS": AGENTS, "URL": self.urls[1].decode(), "URL2": self.urls[-10].decode(),
                  "HOST": f"http://{self.host}", "THEN": THEN}
        return [values.get(word, word) for word in command.split()]


def command_way(commands, web, planted=False):
    """A way that runs commands, each in a process of its own."""
    env = dict(os.environ, SOURCE_DATE_EPOCH="1800000000")
    runs = [[BINARY, "-q", "-j2", *web.words(command), *["--no-verify"] * planted] for command in commands]
    outputs = sorted({word for words in runs for word in words if str(word).startswith("out")})

    def ask():
        answers = []
        for words in runs:
            done = subprocess.run(words, cwd=web.folder, env=env, capture_output=True, stdin=subprocess.DEVNULL,
                                  timeout=PATIENCE)
            files = {}
            for name in outputs:
                if (web.folder / name).exists():
                    files[name] = (web.folder / name).read_bytes()
                    (web.folder / name).unlink()
            message = done.stderr.decode(errors="replace")
            if done.returncode == 2 and not files and web.file in message and "panicked" not in message:
                # A command that refuses prints no answer, also no part of one.
                answers.append("refused" if not done.stdout else ("a part", done.stdout))
            else:
                answers.append((done.returncode, done.stdout, files, message if "panicked" in message else ""))
        return answers

    return ask


def refusing(errors, web, call):
    """The result of a call, or "refused" if it raised one of these errors with the name of the file."""
    try:
        return call()
    except errors as error:
        if web.file not in str(error):
            raise
        return "refused"


def python_ways(web, planted=False):
    """Ways through the Python package, if it is installed."""
    try:
        import robosieve
    except ImportError:
        return {}
    errors = (robosieve.RobosieveError, OSError)
    urls = [url.decode("latin-1") for url in web.urls]
    some = urls[:: max(1, len(urls) // 4)]
    few = AGENTS.split(",")[:2]
    path = str(web.path)

    def opened():
        return robosieve.Snapshot(path, verify=not planted)

    def table(exported):
        import pyarrow

        return pyarrow.table(exported).to_pylist()

    def each(*calls):
        return lambda: [refusing(errors, web, call) for call in calls]

    def outputs(call, *names):
        def ask():
            try:
                counts = call()
                return counts, [(web.folder / name).read_bytes() for name in names]
            finally:
                for name in names:
                    (web.folder / name).unlink(missing_ok=True)

        return ask

    def files(verb, agents, **options):
        urls, output = web.folder / "urls", web.folder / "out0"
        return getattr(robosieve, verb)(opened(), urls, output, agents, threads=1, **options)

    def node_copied():
        copy = robosieve.node_copy(path, web.folder / "node")
        try:
            # Bits between sections have no meaning, so the answers are compared and not the bytes.
            snapshot = robosieve.Snapshot(copy)
            return snapshot.verdicts(urls, few), [snapshot.explain(url, "FooBot").details for url in some]
        finally:
            # A copy that exists is taken as it is, so each flip starts without one.
            for file in (web.folder / "node").rglob("*"):
                if file.is_file():
                    file.unlink()

    def compiled(previous):
        compiler = robosieve.Compiler(previous=path if previous else None)
        compiler.add_path([] if previous else path)
        compiler.add_response("http://new.example/robots.txt", 200, RULES, fetched_at="2026-03-01")
        return compiler.to_bytes()

    if web.file == LISTS:
        return python_ways_of_lists(robosieve, web, path, errors, planted)
    if web.file == CAPTURES:
        return {} if planted else {"Python: Compiler": each(lambda: compiled(False))}
    ways = {
        "Python: columns": each(
            lambda: [list(opened().verdicts(urls, agent)) for agent in few],
            lambda: list(opened().masks(urls, AGENTS, status_policy="rfc9309", at="2027-01-01")),
            lambda: opened().verdicts(urls, few),
            lambda: list(opened().reasons(urls)),
            lambda: list(opened().crawl_delays(urls, few[0])),
        ),
        "Python: single answers": each(
            *[
                lambda url=url, call=call: call(opened(), url)
                for url in some
                for call in [
                    lambda snapshot, url: snapshot.verdict(url, "FooBot"),
                    lambda snapshot, url: snapshot.explain(url, "FooBot").details,
                    lambda snapshot, url: snapshot.robots_text(url),
                    lambda snapshot, url: snapshot.sitemaps(url),
                    lambda snapshot, url: snapshot.crawl_delay(url, "FooBot"),
                    lambda snapshot, url: url in snapshot,
                ]
            ],
            lambda: len(opened()),
            lambda: opened().metadata,
        ),
        "Python: files": each(
            outputs(lambda: files("filter", "FooBot", disallowed_to=web.folder / "out1"), "out0", "out1"),
            outputs(
                lambda: files("annotate", AGENTS, preferences=True, form="jsonl", add=["origin", "reason"]), "out0"
            ),
        ),
    }
    if not planted:
        ways["Python: verify='full'"] = each(lambda: robosieve.Snapshot(path, verify="full") and None)
        ways["Python: node_copy"] = each(node_copied)
        ways["Python: previous"] = each(lambda: compiled(True))
    try:
        import pyarrow  # noqa: F401

        ways["Python: export"] = each(
            *[lambda name=name: table(opened().export(few, table=name)) for name in ["origins", "sitemaps", "rules"]]
        )
    except ImportError:
        pass
    return ways


def python_ways_of_lists(robosieve, web, path, errors, planted):
    """Ways of the Python package to read filter lists."""
    urls = [url.decode("latin-1") for url in web.urls]

    def opened():
        return robosieve.Lists(path, verify=not planted)

    def found(lists):
        return [match and (match.lists, match.entry, match.is_exception) for match in map(lists.find, urls)]

    def asked():
        return [opened().names, opened().match(urls), found(opened())]

    def verified():
        return [robosieve.Lists(path, verify="full").checksum]

    ways = {"Python: lists": asked}
    if not planted:
        ways["Python: lists, verify='full'"] = verified
    return {name: lambda call=call: [refusing(errors, web, call)] for name, call in ways.items()}


class Interface:
    """The C interface, by ctypes."""

    VERIFY = 1

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.robosieve_last_error.restype = ctypes.c_char_p
        self.library.robosieve_snapshot_origin_count.restype = ctypes.c_uint64
        self.library.robosieve_judge_agent_count.restype = ctypes.c_size_t
        self.library.robosieve_lists_count.restype = ctypes.c_size_t
        self.library.robosieve_lists_name.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        status = getattr(self.library, f"robosieve_{name}")(*arguments)
        if status == 8:
            raise RuntimeError(f"panic: {self.library.robosieve_last_error()}")
        if status:
            raise Refused(self.library.robosieve_last_error().decode(errors="replace"))

    def text(self, name, *arguments):
        out = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        try:
            return ctypes.string_at(out)
        finally:
            self.library.robosieve_string_free(out)

    def judged(self, web, flags):
        """What a program asks: facts, a column, masks, single URLs."""
        return self.with_judge(web, flags, lambda *handles: [*self.facts(*handles), *self.columns(web, *handles)])

    def explained(self, web, flags):
        urls = [web.urls[1], web.urls[-10], web.urls[-1]]

        def explain(_, judge, count):
            return [self.text("explain", judge, url, ctypes.c_size_t(len(url)), ctypes.c_size_t(agent), 0)
                    for url in urls for agent in range(count)]

        return self.with_judge(web, flags, explain)

    def facts(self, snapshot, judge, count):
        return [self.library.robosieve_snapshot_origin_count(snapshot), self.text("snapshot_metadata", snapshot), count]

    def columns(self, web, snapshot, judge, count):
        verdicts = (ctypes.c_int8 * (len(web.urls) * count))()
        self.call("judge_rows32", judge, *column_of(web.urls), verdicts, ctypes.c_size_t(len(verdicts)))
        yield bytes(verdicts)
        one = (ctypes.c_int8 * count)()
        for url in web.urls[::7]:
            self.call("judge_url", judge, url, ctypes.c_size_t(len(url)), one, ctypes.c_size_t(count))
            yield bytes(one)

    def listed(self, web, flags):
        """What a program asks of filter lists: their names, a column, and single URLs."""
        lists = ctypes.c_void_p()
        try:
            self.call("lists_open", os.fsencode(web.path), flags, ctypes.byref(lists))
            count = self.library.robosieve_lists_count(lists)
            names = [self.library.robosieve_lists_name(lists, ctypes.c_size_t(number)) for number in range(count)]
            numbers = (ctypes.c_int32 * len(web.urls))()
            self.call("lists_rows32", lists, *column_of(web.urls), numbers, ctypes.c_size_t(len(numbers)))
            return [names, bytes(numbers), *self.entries(web, lists)]
        finally:
            self.library.robosieve_lists_close(lists)

    def entries(self, web, lists):
        """The entry that decides about each URL, or None."""
        for url in web.urls:
            out = ctypes.c_void_p()
            self.call("lists_find", lists, url, ctypes.c_size_t(len(url)), ctypes.byref(out))
            yield ctypes.string_at(out) if out else None
            self.library.robosieve_string_free(out)

    def with_judge(self, web, flags, ask):
        snapshot, judge = ctypes.c_void_p(), ctypes.c_void_p()
        names = [name.encode() for name in AGENTS.split(",")]
        try:
            self.call("snapshot_open", os.fsencode(web.path), flags, ctypes.byref(snapshot))
            agents = (ctypes.c_char_p * len(names))(*names)
            self.call("judge_new", snapshot, agents, ctypes.c_size_t(len(names)), None, ctypes.byref(judge))
            return ask(snapshot, judge, self.library.robosieve_judge_agent_count(judge))
        finally:
            self.library.robosieve_judge_close(judge)
            self.library.robosieve_snapshot_close(snapshot)


def column_of(urls):
    """URLs as the arguments of a column: data, their length, offsets, and the number of rows."""
    data, offsets = b"".join(urls), (ctypes.c_int32 * (len(urls) + 1))()
    for row, url in enumerate(urls):
        offsets[row + 1] = offsets[row] + len(url)
    return data, ctypes.c_size_t(len(data)), offsets, ctypes.c_size_t(len(urls))


def c_library():
    """The shared library, or None."""
    path = os.environ.get("ROBOSIEVE_LIBRARY", TARGET / "release" / "librobosieve.so")
    return path if os.path.exists(path) else None


def c_ways(web, planted=False):
    """Ways through the C interface. Without VERIFY_CHECKSUMS, docs/C.md promises right explanations, and
    of verdicts only that nothing crashes: the answer of that way is always the same."""
    path = c_library()
    if path is None or web.file == CAPTURES:
        return {}
    interface = Interface(path)

    def named(flags, ask):
        def call():
            try:
                return ask(web, flags)
            except Refused as error:
                # Only opening knows the name of the file.
                if flags and web.file not in str(error):
                    raise
                return "refused"

        return call

    ask = interface.listed if web.file == LISTS else interface.judged

    def survived():
        try:
            ask(web, 0)
        except Refused:
            pass
        return "alive"

    if web.file == LISTS:
        checked = {"C: lists": named(Interface.VERIFY, ask), "C: lists, not verified (no crash)": survived}
        return {"C: lists": named(0, ask)} if planted else checked
    if planted:
        return {"C: columns": named(0, interface.judged)}
    return {
        "C: columns": named(Interface.VERIFY, interface.judged),
        "C: explanations": named(Interface.VERIFY, interface.explained),
        "C: explanations, not verified": named(0, interface.explained),
        "C: columns, not verified (no crash)": survived,
    }


def ways(web, planted=False):
    """All ways to read a file: each with its kind, and a function that asks it."""
    if web.has_history:
        # Without a time, a history changes nothing.
        commands = {} if planted else OF_HISTORIES
        return {verb: ("process", command_way(runs, web)) for verb, runs in commands.items()}
    verbs = {SNAPSHOT: OF_SNAPSHOTS, CAPTURES: OF_CAPTURES, LISTS: OF_LISTS}[web.file]
    if planted:
        verbs = {verb: verbs[verb] for verb in UNVERIFIED if verb in verbs}
    kinds = {
        "process": {verb: command_way(commands, web, planted) for verb, commands in verbs.items()},
        "Python": python_ways(web, planted),
        "C": c_ways(web, planted),
    }
    return {name: (kind, ask) for kind, asks in kinds.items() for name, ask in asks.items()}


def webs(folder, rng):
    """The stored files: a small snapshot, one with a history, a large one, a captures file, and filter lists."""
    made = [
        ("small snapshot", SNAPSHOT, small_web(), small_urls(rng)),
        ("small history", SNAPSHOT, small_history(), small_urls(rng)),
        ("large snapshot", SNAPSHOT, large_web(rng), large_urls(rng)),
        ("captures file", CAPTURES, small_web() + large_web(rng)[:40], small_urls(rng)),
        ("small lists", LISTS, [], small_urls(rng) + LISTED),
    ]
    for name, file, captures, urls in made:
        own = folder / name.replace(" ", "-")
        own.mkdir()
        yield Web(own, name, file, captures, urls, name == "small history")
