"""A seeded grammar of robots.txt files that loves edges, and the URLs that meet their rules.

Most lines are what sites write. The others have what parsers get wrong: typos, missing colons, byte
order marks, NULs, odd line ends, escapes, stars alone, `$` in the middle, names in several groups.
The numbers of rules lie around every size at which the matcher changes its layout.
"""

import re

# Sizes around which the layout of a rule set, a table or a batch changes.
RULES = [1, 2, 3, 5, 8, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 103, 104, 105, 127, 128, 129, 255, 256, 257, 600]
MANY_RULES = [1000, 2000, 4095, 4096, 4097, 5000]

# How often a round is of a kind, in 43 rounds.
SHARE_BY_KIND = {"edges": 14, "few rules": 8, "short": 16, "long": 4, "busy": 1}

NOT_NORMAL = re.compile(rb"%[0-9a-fA-F]{2}|[\x80-\xff]")

# The bytes of a name under RFC 9309.
TOKEN_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

NAMES = ["FooBot", "GPTBot", "Googlebot", "Googlebot-News", "Foo", "FooBotter", "foo_bot", "a", "ab", "b-c", "CCBot"]
# Values of user-agent lines other than a plain name.
ODD_NAMES = [
    "*", "* x", "*x", "", "FooBot/2.1", "MJ12bot", "foo bot", "GPTBot*", "a1", "ünknown", "FooBot #x", "Foo\tBar",
]
# Agents that are asked for but hardly ever named.
STRANGERS = ["zz", "Nobody", "x-y_z", "Bingbot", "*", "foobot", "GPTBOT"]

AGENT_KEYS = [
    "User-agent", "user-agent", "USER-AGENT", "useragent", "user agent", "User-agents", "user_agent", "User-agen",
]
ALLOW_KEYS = ["Allow", "allow", "ALLOW", "Allowed", "allow-x", "alow", "Allow all"]
DISALLOW_KEYS = [
    "Disallow", "disallow", "DISALLOW", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "Disallowed",
    "Disalllow", "disallow-all", "dis allow",
]
OTHER_LINES = [
    "Sitemap: https://h.example/s.xml", "sitemap http://h.example/s", "Crawl-delay: 5", "# comment", "", " ", "noise",
    "x: y", "Noindex: /a", "Host: h.example", ":", ": /a", "Content-Signal: ai-train=no", "http://h.example/a",
    "<html>", "Disallow", "allow", "user-agent", "\0", "Disallow\0: /a", "#\0",
]
COLONS = [": ", ":", " : ", "\t:\t", ":\x0b", "::", " ", "\t", "  ", ": :", ""]
LINE_ENDS = ["\n", "\n", "\n", "\r\n", "\r", "\n\r", "\r\r\n", "\n\n"]
MARKS = [b"", b"", b"", b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b"\xfe\xff", b"\xef\xbb\xbf\xef\xbb\xbf"]

SEGMENTS = [
    "a", "b", "ab", "abc", "admin", "index.htm", "index.html", "index.php", "wp-content", "private", "search", "x", "y",
    "cgi-bin", "images", "q", "robots.txt", "p1", "p2", "p10", "abcdefghij", "0123456789abcdef", "Aa", "A",
]
ODD_SEGMENTS = [
    "%41", "%2a", "%2A", "%24", "%c3%a4", "%C3%A4", "ä", "日本", "%", "%4", "%zz", ";", ";jsessionid=1", "//", "..",
    ".", "?", "?a=b&c=d", "=", "&", "$", "$x", "*", "**", "\\", "'", '"', "~", "+", ",", "(", "\x01", "\x7f", " ",
    "|", "^", "%00", "%20", "%0A", "[", "-", "_", "@", ":", "!", "http://h.example/a",
]
STARTS = ["/"] * 12 + [
    "/*", "*", "**", "", "$", "a", "%2F", "//", "?", "/%2f", " /", "http://h.example/", "/$", "*$", "/*$",
]
ENDS = [""] * 12 + [
    "$", "*", "*$", "**", "**$", "$$", "/", "/$", "*" * 16, "?", "#x", " ", " x", ".html$", "/index.htm", "/index.html",
]
TAILS = [
    b"", b"", b"/", b"x", b"?", b"?q=1", b"#f", b".html", b"/a/b", b"$", b"*", b";a", b"%41", b"\xc3\xa4", b"ab" * 20,
]


def path(random, odd, stars=0.12):
    """The path of a rule. `odd` is the share of its parts that are unusual, `stars` that of stars after
    the others."""
    text = random.choice(STARTS) if random.random() < odd else "/"
    for number in range(random.randrange(4)):
        if number and random.random() < 0.7:
            text += "/"
        text += random.choice(ODD_SEGMENTS if random.random() < odd else SEGMENTS)
        if random.random() < 0.15:
            text += str(random.randrange(2000))
        if random.random() < stars:
            text += "*"
    return text + (random.choice(ENDS) if random.random() < max(odd, 0.15) else "")


def key(random, keys, odd):
    return random.choice(keys) if random.random() < odd else keys[0]


def rule(random, odd, stars):
    keys = ALLOW_KEYS if random.random() < 0.35 else DISALLOW_KEYS
    return key(random, keys, odd), path(random, odd, stars)


def robots(random, rules=None):
    """The body of a robots.txt, and its rule paths as bytes."""
    odd, stars = random.choice([0, 0.02, 0.1, 0.3, 0.6]), random.choice([0, 0.12, 0.12, 0.5, 1])
    # Equal paths are one rule, so a file that is to have many of them numbers its paths.
    is_numbered = random.random() < 0.5
    if rules is None:
        rules = random.choice(MANY_RULES) if random.random() < 0.02 else random.choice(RULES)
    end = random.choice(LINE_ENDS)
    paths, out, left = [], [random.choice(MARKS)], rules

    def line(text):
        out.append((text + (random.choice(LINE_ENDS) if random.random() < odd / 4 else end)).encode())

    # Rules before the first group, and a first line of any kind.
    if random.random() < 0.1:
        line(": ".join(rule(random, odd, stars)))
    while left > 0:
        for _ in range(random.choice([1, 1, 1, 2, 3, 12])):
            name = random.choice(["*", *NAMES]) if random.random() > odd else random.choice(ODD_NAMES)
            name = name.swapcase() if random.random() < odd else name
            line(key(random, AGENT_KEYS, odd) + (random.choice(COLONS) if random.random() < odd else ": ") + name)
            if random.random() < odd:
                line(random.choice(OTHER_LINES))
        # One group has most rules, so that large rule sets occur.
        here = min(left, random.choice([1, 2, 4, left, left]))
        left -= here
        for _ in range(here):
            name, text = rule(random, odd, stars)
            if is_numbered:
                text = text[:1] + f"n{len(paths)}/" + text[1:]
            paths.append(text.encode())
            line(name + (random.choice(COLONS) if random.random() < odd / 2 else ": ") + text)
            if random.random() < odd / 2:
                line(random.choice(OTHER_LINES))
    body = b"".join(out)
    if random.random() < 0.1:
        body = body[: random.randrange(len(body) + 1)]
    if random.random() < odd / 4:
        at = random.randrange(len(body) + 1)
        body = body[:at] + bytes(random.randrange(256) for _ in range(random.randrange(1, 8))) + body[at:]
    return body[:500_000], paths


def url_path(random, paths):
    """A path with a query, derived from one of the rules: what it matches, or nearly."""
    text = random.choice(paths) if paths and random.random() < 0.9 else path(random, 0.3).encode()
    parts = text.strip().split(b"*")
    glue = [random.choice([b"", b"a", b"/", b"/a/b", b"*", b"x" * 40, parts[0][-3:]]) for _ in parts[1:]]
    text = parts[0] + b"".join(part for pair in zip(glue, parts[1:]) for part in pair)
    if random.random() < 0.7:
        text = text.removesuffix(b"$")
    change = random.random()
    if change < 0.5:
        text += random.choice(TAILS)
    elif change < 0.6:
        text = text[: random.randrange(len(text) + 1)]
    elif change < 0.7 and text:
        at = random.randrange(len(text))
        text = text[:at] + random.choice(ODD_SEGMENTS).encode() + text[at + 1 :]
    elif change < 0.75:
        text = text.swapcase()
    elif change < 0.8 and text:
        # One wrong byte, also beyond the length of a vector.
        at = random.randrange(len(text))
        text = text[:at] + bytes([text[at] ^ 1 << random.randrange(7)]) + text[at + 1 :]
    if text[:1] not in (b"/", b"?", b";") and random.random() < 0.95:
        text = b"/" + text.lstrip(b"/")
    if text[:1] not in (b"/", b"?", b";", b"#"):
        text = b""
    if text[:1] == b";":
        # What precedes the next slash may look like a port or like the end of user information.
        first, slash, rest = text.partition(b"/")
        text = bytes(byte for byte in first if byte < 0x80 and (chr(byte).isalnum() or byte in b";=?")) + slash + rest
    # The reference ends a URL at a NUL; a list cannot hold line ends.
    return text.translate(None, b"\0\r\n").rstrip(b" \t\x0b\x0c")


def normal_form(text):
    """Escapes bytes from 0x80 and writes escapes in upper case: the form in which the reference expects URLs."""
    return NOT_NORMAL.sub(lambda found: found[0].upper() if found[0][:1] == b"%" else b"%%%02X" % found[0][0], text)


def agents(random):
    """Distinct names without regard to case: 1 to 100 of them, most of them strangers if there are many."""
    number = random.choice([1, 1, 2, 3, 5, 8, 20, 64, 65, 100])
    found = {}
    pool = NAMES + STRANGERS
    random.shuffle(pool)
    for name in pool[:number]:
        found.setdefault(name.lower(), name)
    while len(found) < number:
        name = "bot-" + "".join(random.choice("abcdefgh") for _ in range(6))
        found[name] = name
    return list(found.values())
