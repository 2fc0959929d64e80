"""Audits of made-up requests in each log format. The campaign writes the logs as the servers do, so it
knows the requests without parsing, and has scripts/x recount-audit count them. The verdicts are those of
`annotate` on names alone: the campaign has the chains and exceptions of crawlers from their operators'
pages, and knows which names the robots.txt has. In each round, all logs are audited one by one and
together.
"""

import collections
import dataclasses
import datetime
import json

from recount_audit import figures, url_of

from . import command, grammar
from .command import run
from .rounds import Result
from .shrinking import smallest

HOST = "www.example"
ORIGIN = f"https://{HOST}".encode()
# Crawlers that obey the groups for another name where none has theirs.
FALLBACKS = {"Googlebot-Image": "Googlebot", "GoogleOther-Video": "GoogleOther", "Applebot": "Googlebot"}
# Crawlers that ignore the groups for `*`.
STARLESS = {"AdsBot-Google"}
EXCEPTIONS = {"AdsBot-Google": "partly", "ChatGPT-User": "acts-for-user", "facebookexternalhit": "partly"}
# Names that no made-up robots.txt has by itself.
NEW_NAMES = ["Googlebot-Image", "GoogleOther", "AdsBot-Google", "ChatGPT-User"]
CRAWLERS = ["GPTBot", "CCBot", "Googlebot", "ClaudeBot", "AhrefsBot", *FALLBACKS, "GoogleOther", *EXCEPTIONS]
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
    (b"Googlebot-Image/1.0", "Googlebot-Image"),
    (b"GoogleOther-Video/1.0", "GoogleOther-Video"),
    (b"Mozilla/5.0 (Macintosh) (Applebot/0.1; +http://www.apple.com/go/applebot)", "Applebot"),
    (b"AdsBot-Google (+http://www.google.com/adsbot.html)", "AdsBot-Google"),
    (b"Mozilla/5.0 (compatible; ChatGPT-User/1.0)", "ChatGPT-User"),
    (b"facebookexternalhit/1.1", "facebookexternalhit"),
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


def escaped(text, form, special=b"", lowest=32):
    """Escapes what is not printable in ASCII, and special bytes."""
    return b"".join(form % byte if byte < lowest or byte > 126 or byte in special else bytes([byte]) for byte in text)


def quoted(text):
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def nginx(text):
    """Escapes a variable as nginx does by default."""
    return escaped(text, b"\\x%02X", b'"\\')


def apache(text):
    """Escapes a field as Apache does."""
    return escaped(quoted(text), b"\\x%02x")


def combined(request, escape=nginx):
    time, numbers = request.date("%d/%b/%Y:%H:%M:%S +0000"), (request.status, request.size)
    fields = (request.client.encode(), time, escape(request.line()), *numbers, escape(request.agent))
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
    time, numbers = request.date("%Y-%m-%dT%H:%M:%S+00:00"), (request.status, request.size)
    fields = (time, quoted(request.line()), *numbers, quoted(request.agent))
    return b'{"time_iso8601":"%s","request":"%s","status":"%d","body_bytes_sent":"%d","http_user_agent":"%s"}' % fields


def in_json(record_of):
    """A format whose lines are records of a request, of its target and of its User-Agent. These must be text."""

    def write(request):
        try:
            record = record_of(request, request.target.decode(), request.agent.decode())
        except UnicodeDecodeError:
            return None
        return json.dumps(record).encode()

    return write


@in_json
def caddy(request, target, agent):
    sent = {"remote_ip": request.client, "method": "GET", "host": HOST, "uri": target}
    sent["headers"] = {"User-Agent": [agent]}
    own = {"request": sent, "size": request.size, "status": request.status}
    return {"level": "info", "ts": request.time + 0.5, **own}


def percent(text):
    """CloudFront's escapes, by its developer guide."""
    return escaped(text, b"%%%02X", b"<>\"#%{}|\\^~[]`'", lowest=33) or b"-"


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


def caddy_console(request):
    line = caddy(request)
    if line is None:
        return None
    record = json.loads(line)
    del record["ts"], record["level"]
    time = request.date("%Y/%m/%d %H:%M:%S.250")
    return b"%s\tINFO\thttp.log.access.log0\thandled request\t%s" % (time, json.dumps(record).encode())


@in_json
def cloudflare(request, target, agent):
    return {
        "ClientIP": request.client,
        "ClientRequestHost": HOST,
        "ClientRequestScheme": "https",
        "ClientRequestURI": target,
        "ClientRequestUserAgent": agent,
        "EdgeResponseBytes": request.size,
        "EdgeResponseStatus": request.status,
        "EdgeStartTimestamp": request.time * 10**9,
    }


@in_json
def vercel(request, target, agent):
    proxy = {
        "timestamp": request.time * 1000,
        "host": HOST,
        "path": target,
        "userAgent": [agent],
        "scheme": "https",
        "statusCode": request.status,
        "clientIp": request.client,
        "responseByteSize": request.size,
    }
    own = {"id": "1", "timestamp": request.time * 1000 + 9, "host": "x.vercel.app", "path": "/[a]", "statusCode": 200}
    return {**own, "proxy": proxy}


def docker(request):
    line = combined(request).decode() + "\n"
    return json.dumps({"log": line, "stream": "stdout", "time": "2020-01-01T00:00:00Z"}).encode()


def load_balancer(request):
    """The fields from the time to the User-Agent. AWS does not document escapes, so there are none here."""
    target = request.target
    if target.startswith(b"/"):
        target = ORIGIN + b":443" + target
    if target == b"*" or any(byte < 32 or byte > 126 or byte in b'"\\' for byte in target + request.agent):
        return None
    fields = (request.date("%Y-%m-%dT%H:%M:%S.186641Z"), request.client.encode(), request.status, request.size)
    line = b'%s app/lb/50dc %s:2817 10.0.0.1:80 0.0 0.1 0.0 %d 200 34 %d "GET %s HTTP/2.0" "%s" - -'
    return line % (*fields, target, request.agent)


def alb(request):
    line = load_balancer(request)
    return line and b"h2 " + line + b' arn:aws:x "Root=1-58" "www.example" "-" 0 2026-08-01T00:00:00Z "forward" "-" "-"'


def haproxy(request):
    captures = HOST.encode() + b"|" + escaped(request.agent, b"#%02X", b'#"{|}')
    time, numbers = request.date("%d/%b/%Y:%H:%M:%S.655"), (request.status, request.size)
    fields = (request.client.encode(), time, *numbers, captures, escaped(request.line(), b"#%02X", b'#"'))
    head = b"Aug  1 10:00:00 lb haproxy[7]: "
    return head + b'%s:33317 [%s] www~ app/s1 1/0/3/6/9 %d %d - - ---- 1/1/1/1/0 0/0 {%s} {} "%s"' % fields


# The name, the lines in front, the function, and options of audit.
SITE = ["--host", f"https://{HOST}"]
NGINX = '$remote_addr [$msec] $status $body_bytes_sent "$request" "$http_user_agent"'
FORMATS = [
    ("combined, nginx", b"", combined, SITE),
    ("combined, Apache", b"", lambda request: combined(request, apache), SITE),
    ("vhost_combined", b"", vhost_combined, []),
    ("layout of nginx", b"", layout_of_nginx, [*SITE, "--log-format", NGINX]),
    ("layout of Apache", b"", layout_of_apache, [*SITE, "--log-format", '%t \\"%r\\" %>s %b \\"%{User-Agent}i\\"']),
    ("json, nginx", b"", json_of_nginx, SITE),
    ("caddy", b"", caddy, SITE),
    ("caddy, console", b"", caddy_console, []),
    ("cloudflare", b"", cloudflare, []),
    ("vercel", b"", vercel, []),
    ("docker", b"", docker, SITE),
    ("alb", b"", alb, []),
    ("elb", b"", load_balancer, []),
    ("haproxy", b"", haproxy, []),
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


def obeyed_name(crawler, named):
    """The name whose groups a crawler obeys; None if it ignores the groups for `*`, and no group names it."""
    if crawler in named:
        return crawler
    if FALLBACKS.get(crawler) in named:
        return FALLBACKS[crawler]
    return None if crawler in STARLESS else crawler


def letters(snapshot, requests, named):
    """The letter of each request of a crawler."""
    asked = [one for one in requests if one and one.crawler and one.target != b"*"]
    urls = [url_of(ORIGIN, one.target) for one in asked]
    rows = command.letters(snapshot, ",".join(CRAWLERS), urls, "--scheme", "any", "--input-format", "text")
    names = {crawler: obeyed_name(crawler, named) for crawler in CRAWLERS}

    def letter(one, row):
        name = names[one.crawler]
        # A site that the snapshot lacks is unknown to every agent.
        if name is None:
            return "U" if "U" in row else "A"
        return row[CRAWLERS.index(name)]

    return {one: letter(one, row) for one, row in zip(asked, rows)}


def counted(requests, letter_of):
    """What audit must count."""
    total = collections.Counter(lines=len(requests), invalid=0, other_agents=0)
    total["without_agent"] = sum(one is not None and one.agent == b"-" for one in requests)
    by_crawler = collections.defaultdict(list)
    for one in requests:
        if one is None or (one.crawler and one.target == b"*"):
            total["invalid"] += 1
        elif one.crawler is None:
            total["other_agents"] += 1
        else:
            by_crawler[one.crawler].append(one)
    crawlers = {}
    for crawler, own in by_crawler.items():
        chain = filter(None, [crawler, FALLBACKS.get(crawler), "!*" if crawler in STARLESS else None])
        facts = {"exception": EXCEPTIONS.get(crawler), "judged_as": ":".join(chain)}
        crawlers[crawler] = figures(ORIGIN, own, [letter_of[one] for one in own]) | facts
    return {**total, "crawlers": crawlers}


def written(requests, format_of_log, planted):
    """The log of the requests in a format, and those of them that it holds."""
    name, head, write, _ = format_of_log
    lines = [(one, INVALID if one is None else write(one)) for one in requests]
    lines = [(one, line) for one, line in lines if line is not None]
    log = head + b"".join(line + b"\n" for _, line in lines)
    if planted and name == "iis":
        log = log.replace(b" 204 ", b" 404 ")
    return log, [one for one, _ in lines]


def difference(directory, site, logs, options):
    """The figures of audit that differ, or None. Logs are bytes and their requests."""
    snapshot, named = site
    # An audit that can judge no request, or that finds no agent, is an error.
    requests = [one for _, kept in logs for one in kept]
    crawled = [one for one in requests if one and one.crawler]
    judged = [one for one in crawled if one.target.startswith(b"/") and b"robots.txt" not in one.target]
    # HAProxy's captured header is recognised as a User-Agent by a product with a version.
    has_agents = all(any(one and b"/1" in one.agent for one in kept) for _, kept in logs)
    if not judged or not has_agents:
        return None
    paths = [directory / f"access{number}.log" for number in range(len(logs))]
    for path, (log, _) in zip(paths, logs):
        path.write_bytes(log)
    report = json.loads(run("audit", "-q", "-s", snapshot, *options, "--json", *paths, statuses=(0, 1)))
    expected = counted(requests, letters(snapshot, requests, named))
    found = {key: report[key] for key in ["lines", "invalid", "other_agents", "without_agent"]}
    found["crawlers"] = {
        row["name"]: {key: row[key] for key in expected["crawlers"].get(row["name"], row)} for row in report["crawlers"]
    }
    if found == expected:
        return None
    text = b"".join(log for log, _ in logs).decode(errors="backslashreplace")
    return f"{text}# audit has {found}\n# the campaign {expected}"


def play(rng, directory, options, number):
    body, rules = grammar.robots(rng, rng.choice([5, 17, 65]))
    body += b"\nuser-agent: GPTBot\nuser-agent: CCBot\ndisallow: /\nallow: /a\nallow: /*b\n"
    named = {name for name in NEW_NAMES if rng.random() < 0.3}
    # A made-up file may have a group for Googlebot, but only by these letters.
    if b"google" in body.lower() or rng.random() < 0.5:
        named.add("Googlebot")
    for name in sorted(named):
        body += f"user-agent: {name}\ndisallow: /{rng.choice('ab')}\n\n".encode()
    captures = [{"url": f"https://{HOST}/robots.txt", "status": 200, "body": body.decode("latin-1")}]
    site = (command.compiled(directory / "audit.rsieve", captures), named | {"GPTBot", "CCBot"})
    requests, counts = made_up(rng, rules), collections.Counter()
    # The logs of all formats that are detected, in one audit.
    together = [one for one in FORMATS if "--log-format" not in one[3]]
    audits = [(one[0], [one], one[3]) for one in FORMATS] + [("all formats together", together, SITE)]
    for title, formats, flags in audits:

        def differs(few):
            logs = [written(few, one, options.self_test) for one in formats]
            return difference(directory, site, logs, flags)

        counts[f"requests, {title}"] += len(requests)
        if differs(requests):
            return Result(counts, f"# {title}\n{differs(smallest(requests, differs))}")
    return Result(counts)
