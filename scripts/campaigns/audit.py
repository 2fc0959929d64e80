"""Audits of made-up requests in each log format. The campaign writes the logs as the servers do, so it
knows the requests without parsing, and counts them itself. The verdicts are those of `annotate`.
"""

import collections
import dataclasses
import datetime
import json

# In the folder above, which scripts/differential puts on the path.
from check_audit import after_robots_txt, rfc3339

from . import grammar
from .command import run, write_archive
from .rounds import Result
from .shrinking import smallest

HOST = "www.example"
CRAWLERS = ["GPTBot", "CCBot", "Googlebot", "ClaudeBot", "AhrefsBot"]
# Headers, and the crawler that each names.
AGENTS = [
    (b"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot"),
    (b"gptbot", "GPTBot"),
    (b'a "quoted" CCBot/3', "CCBot"),
    (b"CCBot/2.0 (https://commoncrawl.org/faq/) \\ 100%", "CCBot"),
    (b"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
    (b"Googlebot-x GPTBot", "Googlebot"),
    (b"ClaudeBot/1.0 caf\xc3\xa9", "ClaudeBot"),
    (b"AhrefsBot/7.0 \xff", "AhrefsBot"),
    (b"notgptbot/1.0", None),
    (b"GPTBots/1.0", None),
    (b"GPTBot_x my-CCBot", None),
    (b"Mozilla/5.0 (X11; Linux x86_64)", None),
    (b"-", None),
]
INVALID = b"this is not a line of a log"


@dataclasses.dataclass(frozen=True)
class Request:
    client: str
    time: int
    target: bytes
    status: int
    size: int
    agent: bytes
    crawler: str | None

    def line(self):
        return b"GET " + self.target + b" HTTP/1.1"

    def date(self, form):
        return datetime.datetime.fromtimestamp(self.time, datetime.timezone.utc).strftime(form).encode()


# --- Formats: functions from a request to its line; None if the format cannot hold the request ---


def nginx(text):
    """Escapes a variable as nginx does by default."""
    return b"".join(b"\\x%02X" % byte if byte < 32 or byte > 126 or byte in b'"\\' else bytes([byte]) for byte in text)


def apache(text):
    """Escapes a field as Apache does."""
    return b"".join(
        b"\\" + bytes([byte]) if byte in b'"\\' else b"\\x%02x" % byte if byte < 32 or byte > 126 else bytes([byte])
        for byte in text
    )


def combined(request, escape=nginx):
    time = request.date("%d/%b/%Y:%H:%M:%S +0000")
    fields = (
        request.client.encode(),
        time,
        escape(request.line()),
        request.status,
        request.size,
        escape(request.agent),
    )
    return b'%s - - [%s] "%s" %d %d "-" "%s"' % fields


def vhost_combined(request):
    return f"{HOST}:443 ".encode() + combined(request, apache)


def layout_of_nginx(request):
    fields = (request.client.encode(), request.time, request.status, request.size)
    return b'%s [%d.250] %d %d "%s" "%s"' % (*fields, nginx(request.line()), nginx(request.agent))


def layout_of_apache(request):
    size = b"%d" % request.size if request.size else b"-"
    fields = (request.date("%d/%b/%Y:%H:%M:%S +0000"), apache(request.line()), request.status, size)
    return b'[%s] "%s" %d %s "%s"' % (*fields, apache(request.agent))


def json_of_nginx(request):
    """With escape=json, nginx escapes quotes, backslashes and control characters only."""

    def escape(text):
        return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')

    fields = (
        request.date("%Y-%m-%dT%H:%M:%S+00:00"),
        escape(request.line()),
        request.status,
        request.size,
        escape(request.agent),
    )
    return b'{"time_iso8601":"%s","request":"%s","status":"%d","body_bytes_sent":"%d","http_user_agent":"%s"}' % fields


def caddy(request):
    try:
        target, agent = request.target.decode(), request.agent.decode()
    except UnicodeDecodeError:
        return None
    sent = {
        "remote_ip": request.client,
        "method": "GET",
        "host": HOST,
        "uri": target,
        "headers": {"User-Agent": [agent]},
    }
    record = {
        "level": "info",
        "ts": request.time + 0.5,
        "request": sent,
        "size": request.size,
        "status": request.status,
    }
    return json.dumps(record).encode()


def percent(text):
    """CloudFront's escapes, by its developer guide."""
    return (
        b"".join(
            b"%%%02X" % byte if byte < 33 or byte > 126 or byte in b"<>\"#%{}|\\^~[]`'" else bytes([byte])
            for byte in text
        )
        or b"-"
    )


CLOUDFRONT = b"date\ttime\tsc-bytes\tc-ip\tcs-uri-stem\tcs-uri-query\tsc-status\tcs(User-Agent)\tx-edge-location"


def cloudfront(request):
    stem, question, query = request.target.partition(b"?")
    # A query of one hyphen looks like none, and CloudFront logs no empty query.
    if not stem.startswith(b"/") or (question and query in (b"", b"-")):
        return None
    fields = (request.date("%Y-%m-%d\t%H:%M:%S"), request.size, request.client.encode(), percent(stem), percent(query))
    return b"%s\t%d\t%s\t%s\t%s\t%d\t%s\tFRA1" % (*fields, request.status, percent(percent(request.agent)))


IIS = b"date time c-ip cs-uri-stem cs-uri-query sc-status sc-bytes cs(User-Agent)"


def iis(request):
    stem, question, query = request.target.partition(b"?")
    # IIS logs the decoded path, so escapes in it are lost, and writes blanks as `+`.
    if (
        not stem.startswith(b"/")
        or set(stem) & set(b"%+")
        or (question and query in (b"", b"-"))
        or b"+" in request.agent
    ):
        return None
    fields = (request.date("%Y-%m-%d %H:%M:%S"), request.client.encode(), stem, query or b"-")
    return b"%s %s %s %s %d %d %s" % (*fields, request.status, request.size, request.agent.replace(b" ", b"+"))


# The name, the lines in front, the function, and options of audit.
SITE = ["--host", f"https://{HOST}"]
FORMATS = [
    ("combined, nginx", b"", combined, SITE),
    ("combined, Apache", b"", lambda request: combined(request, apache), SITE),
    ("vhost_combined", b"", vhost_combined, []),
    (
        "layout of nginx",
        b"",
        layout_of_nginx,
        [
            *SITE,
            "--log-format",
            '$remote_addr [$msec] $status $body_bytes_sent "$request" "$http_user_agent"',
        ],
    ),
    ("layout of Apache", b"", layout_of_apache, [*SITE, "--log-format", '%t \\"%r\\" %>s %b \\"%{User-Agent}i\\"']),
    ("json, nginx", b"", json_of_nginx, SITE),
    ("caddy", b"", caddy, SITE),
    ("cloudfront", b"#Version: 1.0\n#Fields: " + CLOUDFRONT + b"\n", cloudfront, SITE),
    ("iis", b"#Software: Microsoft Internet Information Services\n#Fields: " + IIS + b"\n", iis, SITE),
]


def made_up(rng, rules):
    time, requests = 1_785_578_400, []
    for _ in range(rng.choice([20, 300])):
        time += rng.choice([0, 0, 1, 7, 40_000])
        target = b"/robots.txt" if rng.random() < 0.08 else grammar.url_path(rng, rules).split(b"#")[0]
        target = bytes(byte for byte in target if byte > 32 and byte != 127)
        if not target.startswith(b"/") or rng.random() < 0.05:
            target = rng.choice([b"/", b"*", b"https://other.example/x", b"http://www.example/a?b", b"/robots.txt?x=1"])
        agent, crawler = rng.choice(AGENTS)
        size, client = rng.choice([0, 1, rng.randrange(10**7)]), f"192.0.2.{rng.randrange(256)}"
        requests.append(Request(client, time, target, rng.choice([200, 204, 301, 404, 503]), size, agent, crawler))
        if rng.random() < 0.02:
            requests.append(None)
    return requests


def letters(directory, snapshot, requests):
    """The letter of each request of a crawler."""
    asked = [one for one in requests if one and one.crawler and one.target != b"*"]
    urls = [one.target if not one.target.startswith(b"/") else f"https://{HOST}".encode() + one.target for one in asked]
    (directory / "audit.txt").write_bytes(b"".join(url + b"\n" for url in urls))
    options = ["-a", ",".join(CRAWLERS), "--scheme", "any", "--input-format", "text"]
    out = run("annotate", "-q", "-s", snapshot, *options, directory / "audit.txt") if urls else b""
    rows = [line.split(b"\t")[0].decode() for line in out.split(b"\n")[:-1]]
    return {one: row[CRAWLERS.index(one.crawler)] for one, row in zip(asked, rows)}


def counted(requests, letter_of):
    """What audit must count."""
    total = collections.Counter(lines=len(requests), invalid=0, other_agents=0)
    crawlers = {}
    fetched = {}
    for one in requests:
        if one is None or (one.crawler and one.target == b"*"):
            total["invalid"] += 1
            continue
        if one.crawler is None:
            total["other_agents"] += 1
            continue
        keys = "requests allowed disallowed unknown robots_txt bytes disallowed_bytes disallowed_2xx"
        new = {**dict.fromkeys(keys.split(), 0), "first": one.time, "last": one.time, "delays": [], "without": 0}
        row = crawlers.setdefault(one.crawler, new)
        site, path = site_and_path(one.target)
        is_robots = path.partition(b"?")[0] == b"/robots.txt"
        verdict = "allowed" if is_robots else {"A": "allowed", "D": "disallowed", "U": "unknown"}[letter_of[one]]
        row["requests"] += 1
        row[verdict] += 1
        row["robots_txt"] += is_robots
        row["bytes"] += one.size
        row["first"], row["last"] = min(row["first"], one.time), max(row["last"], one.time)
        if is_robots:
            fetched[one.crawler, site] = one.time
        if verdict == "disallowed":
            row["disallowed_bytes"] += one.size
            row["disallowed_2xx"] += 200 <= one.status < 300
            if (one.crawler, site) in fetched:
                row["delays"].append(one.time - fetched[one.crawler, site])
            else:
                row["without"] += 1
    return {**total, "crawlers": {name: finished(row) for name, row in crawlers.items()}}


def site_and_path(target):
    """The site of a target, which may be an absolute URL, and its path."""
    scheme, separator, rest = target.partition(b"://")
    if target.startswith(b"/") or not separator:
        return f"https://{HOST}".encode(), target
    host, slash, path = rest.partition(b"/")
    return scheme + separator + host, slash + path


def finished(row):
    """The figures of a crawler under the keys of the JSON."""
    delays, without = row.pop("delays"), row.pop("without")
    for key in ["first", "last"]:
        row[key] = rfc3339(row[key])
    row["after_robots_txt"] = after_robots_txt(delays, without)
    return row


def compare(directory, snapshot, requests, format_of_log, planted):
    """The figures of audit that differ, or None."""
    name, head, write, options = format_of_log
    lines = [(one, INVALID if one is None else write(one)) for one in requests]
    lines = [(one, line) for one, line in lines if line is not None]
    if not any(one for one, _ in lines):
        return None
    log = head + b"".join(line + b"\n" for _, line in lines)
    if planted and name == "iis":
        log = log.replace(b" 204 ", b" 404 ")
    (directory / "access.log").write_bytes(log)
    arguments = ["-q", "-s", snapshot, *options, "--json", directory / "access.log"]
    report = json.loads(run("audit", *arguments, statuses=(0, 1)))
    kept = [one for one, _ in lines]
    expected = counted(kept, letters(directory, snapshot, kept))
    found = {key: report[key] for key in ["lines", "invalid", "other_agents"]}
    found["crawlers"] = {
        row["name"]: {key: row[key] for key in expected["crawlers"].get(row["name"], row)} for row in report["crawlers"]
    }
    if found == expected:
        return None
    return f"# {name}\n{log.decode(errors='backslashreplace')}# audit has {found}\n# the campaign {expected}"


def play(rng, directory, options, number):
    body, rules = grammar.robots(rng, rng.choice([5, 17, 65]))
    body += b"\nuser-agent: GPTBot\nuser-agent: CCBot\ndisallow: /\nallow: /a\nallow: /*b\n"
    archive, snapshot = directory / "audit.jsonl", directory / "audit.rsieve"
    text = body.decode("latin-1")
    run(
        "compile",
        "-q",
        "-o",
        snapshot,
        write_archive(archive, [{"url": f"https://{HOST}/robots.txt", "status": 200, "body": text}]),
    )
    requests, counts = made_up(rng, rules), collections.Counter()
    for format_of_log in FORMATS:
        counts[f"requests, {format_of_log[0]}"] += len(requests)
        if compare(directory, snapshot, requests, format_of_log, options.self_test):
            kept = smallest(
                requests, lambda few: compare(directory, snapshot, few, format_of_log, options.self_test) is not None
            )
            return Result(counts, compare(directory, snapshot, kept, format_of_log, options.self_test))
    return Result(counts)
