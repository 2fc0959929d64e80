"""What parsers get wrong, one category each: made by a seed, with the clause that decides it.

Each generator gives a robots.txt, an agent and paths. The clause is a section of RFC 9309, or None where
the text leaves the answer open and Google's code alone decides.
"""

AGENT = "FooBot"
# Questions per category. The files of `size` are long.
COUNT = 150
COUNT_OF_SIZE = 50
PATHS = ["/a", "/b", "/a/b", "/private/", "/private/x.html", "/x", "/", "/index.html", "/A", "/ab", "/a?b=c", "/shop/cart"]


def rules(rng, count=3):
    """Some lines with rules, about the paths that are asked."""
    lines = []
    for _ in range(rng.randrange(1, count + 1)):
        lines.append(f"{rng.choice(['Disallow', 'Disallow', 'Allow'])}: {rng.choice(PATHS)}")
    return lines


def text(lines, end="\n"):
    return (end.join(lines) + end).encode()


def byte_order_mark(rng):
    mark = rng.choice([b"\xef\xbb\xbf"] * 3 + [b"\xef\xbb", b"\xef"])
    return mark + text([f"User-agent: {rng.choice(['*', AGENT])}", *rules(rng)])


def line_ends(rng):
    return text([f"User-agent: {rng.choice(['*', AGENT])}", *rules(rng), "User-agent: Other", "Disallow: /x"], rng.choice(["\r", "\r\n", "\n\r", "\n"]))


def missing_colon(rng):
    lines = ["User-agent: *", *rules(rng)]
    return text([line.replace(": ", rng.choice([" ", "\t", ": "])) for line in lines])


def typos(rng):
    keys = ["Disalow", "Dissallow", "Dissalow", "Diasllow", "Disallaw", "Disallow-all", "Noallow"]
    agent = rng.choice(["User-agent", "Useragent", "User agent", "User-agents"])
    return text([f"{agent}: *", *(f"{rng.choice(keys)}: {rng.choice(PATHS)}" for _ in range(3)), f"Allow: {rng.choice(PATHS)}"])


def escapes(rng):
    parts = ["%41", "%2F", "%2f", "ä", "%C3%A4", "%c3%a4", "%7E", "~", "%", "%zz", "%25"]
    return text(["User-agent: *", *(f"Disallow: /{rng.choice(parts)}{rng.choice(['', 'b', '/x'])}" for _ in range(3))])


def end_anchor(rng):
    ends = ["/a$", "/*.html$", "/$", "/a$b", "/private/$", "$", "/*$", "/a$$"]
    return text(["User-agent: *", *(f"{rng.choice(['Disallow', 'Allow'])}: {rng.choice(ends)}" for _ in range(3))])


def stars(rng):
    patterns = ["/*", "*", "/a*", "/*b", "/*/b", "/**b", "*/x", "/p*e/", "/*.html", "*.html", "/a*b*c", "/****", "*a"]
    return text(["User-agent: *", *(f"{rng.choice(['Disallow', 'Allow'])}: {rng.choice(patterns)}" for _ in range(3))])


def precedence(rng):
    lines = [f"{rng.choice(['Disallow', 'Allow'])}: {path}" for path in rng.sample(["/", "/a", "/a/", "/a/b", "/ab", "/private", "/private/x"], 4)]
    same = rng.choice(["/a", "/private/"])
    lines += [f"Allow: {same}", f"Disallow: {same}"]
    rng.shuffle(lines)
    return text(["User-agent: *", *lines])


def merged_groups(rng):
    lines = []
    for _ in range(3):
        lines += [f"User-agent: {rng.choice([AGENT, 'Other', '*', AGENT.lower()])}", *rules(rng, 2), *rng.choice([[], [""]])]
    return text(lines)


def shared_groups(rng):
    names = rng.sample([AGENT, "Other", "*", "Third"], 3)
    between = rng.choice([[], [""], ["# and"], ["Crawl-delay: 1"], ["Sitemap: http://example.com/s.xml"]])
    return text([f"User-agent: {names[0]}", *between, f"User-agent: {names[1]}", *rules(rng), f"User-agent: {names[2]}", *rules(rng)])


def agent_names(rng):
    names = ["foobot", "FOOBOT", "Foo", "FooBotter", "Foo-Bot", "FooBot-News", "Bot", "f"]
    lines = []
    for name in rng.sample(names, 3):
        lines += [f"User-agent: {name}", *rules(rng, 2)]
    return text([*lines, "User-agent: *", *rules(rng, 2)])


def agent_values(rng):
    values = ["FooBot/2.1", "FooBot *", "FooBot (compatible)", "Foo Bot", "*bot", "* FooBot", "FooBot2", "", "FooBot, Other", "Mozilla/5.0 (compatible; FooBot)"]
    return text([f"User-agent: {rng.choice(values)}", *rules(rng), f"User-agent: {rng.choice(values)}", *rules(rng), "User-agent: *", *rules(rng, 1)])


def empty_rules(rng):
    lines = rng.choice([["Disallow:"], ["Allow:"], ["Disallow: "], ["Disallow:", "Disallow: /x"], ["Disallow: /", "Allow:"], []])
    return text([f"User-agent: {AGENT}", *lines, "User-agent: *", *rules(rng)])


def comments(rng):
    lines = ["# Disallow: /", f"User-agent: *{rng.choice(['', ' # all', '#all'])}"]
    lines += [line + rng.choice(["", " # why", "#why", " #"]) for line in rules(rng)]
    return text([*lines, "# User-agent: Other", *rules(rng, 1)])


def white_space(rng):
    lines = ["User-agent: *", *rules(rng)]
    return text([rng.choice(["", " ", "\t", "  "]) + line.replace(": ", rng.choice([":", " : ", ":\t", ":   "])) + rng.choice(["", " ", "\t"]) for line in lines])


def other_lines(rng):
    others = ["Crawl-delay: 5", "Sitemap: http://example.com/s.xml", "Host: example.com", "Noindex: /a", "hello", "", "Clean-param: ref /a", "<html>"]
    lines = ["User-agent: *", *rules(rng)]
    for _ in range(3):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(others))
    return text(lines)


def control_bytes(rng):
    lines = [b"User-agent: *", *(line.encode() for line in rules(rng))]
    for _ in range(2):
        number = rng.randrange(len(lines))
        at = rng.randrange(len(lines[number]) + 1)
        lines[number] = lines[number][:at] + rng.choice([b"\0", b"\x0b", b"\x0c", b"\x1f", b"\x7f"]) + lines[number][at:]
    return b"\n".join(lines) + b"\n"


def not_utf8(rng):
    odd = rng.choice([b"\xff", b"\xe4", b"\xc3", b"\xed\xa0\x80", b"\xfe\xff"])
    return b"User-agent: *\nDisallow: /" + odd + rng.choice([b"", b"/b"]) + b"\n# " + odd + b"\n" + text(rules(rng))


def size(rng):
    """Rules around the 500 KiB that parsers must read."""
    filler = b"# " + b"x" * 997 + b"\n"
    before = rng.choice([0, 100, 300, 499])
    return b"User-agent: *\nDisallow: /a\n" + filler * before + text(rules(rng))


def paths(rng, category):
    if category == "escapes":
        return rng.sample(["/A", "/%41", "/%2F", "/%C3%A4", "/%C3%A4b", "/~", "/%7E", "/%25", "/%zz", "/%/x", "/Ab", "//x"], 5)
    if category == "not UTF-8":
        return rng.sample(["/%FF", "/%E4", "/%C3", "/%EF%BF%BD", "/%FF/b", "/a", "/private/"], 5)
    if category == "stars":
        return rng.sample([*PATHS, "/aXbYc", "/p/e/", "/a.html", "/page/x"], 5)
    return rng.sample(PATHS, 5)


# By name: the clause, what it is about, and the generator.
CATEGORIES = {
    "byte order mark": (None, "a whole or a cut byte order mark at the start", byte_order_mark),
    "line ends": ("RFC 9309 §2.2 (EOL)", "CR, LF, and both in any order", line_ends),
    "missing colon": (None, "white space in place of the colon", missing_colon),
    "typos": (None, "keys that Google's code accepts misspelled, and some that it does not", typos),
    "escapes": ("RFC 9309 §2.2.2", "percent-encoding in rules", escapes),
    "end anchor": ("RFC 9309 §2.2.3", "`$` at the end and elsewhere", end_anchor),
    "stars": ("RFC 9309 §2.2.3", "`*` anywhere", stars),
    "precedence": ("RFC 9309 §2.2.2", "the longest rule wins, `allow` among equals", precedence),
    "merged groups": ("RFC 9309 §2.2.1", "several groups of one agent are one", merged_groups),
    "shared groups": ("RFC 9309 §2.1", "several agents with one group", shared_groups),
    "agent names": ("RFC 9309 §2.2.1", "names that differ in case, or that begin like another", agent_names),
    "agent values": (None, "versions, several words and other text in a user-agent line", agent_values),
    "empty rules": ("RFC 9309 §2.2.2", "rules without a path, groups without rules", empty_rules),
    "comments": ("RFC 9309 §2.2", "`#` at the start of a line and behind a rule", comments),
    "white space": ("RFC 9309 §2.2", "blanks and tabs around keys and values", white_space),
    "other lines": ("RFC 9309 §2.2.4", "lines that are not rules, between those that are", other_lines),
    "control bytes": (None, "NUL and other control bytes", control_bytes),
    "not UTF-8": (None, "bytes that are not UTF-8, in rules and comments", not_utf8),
    "size": ("RFC 9309 §2.5", "rules before the 500 KiB that a parser must read", size),
}


def questions(rng, category):
    """COUNT questions of a category or a few more."""
    _, _, make = CATEGORIES[category]
    made = 0
    while made < (COUNT_OF_SIZE if category == "size" else COUNT):
        body = make(rng)
        for path in paths(rng, category):
            yield body, AGENT, path
            made += 1


def standing_still():
    """Bodies with agents and URLs. Each is small, and some parsers take minutes for it."""
    url = "http://example.com/" + "a" * 60
    yield b"User-agent: *\nDisallow: /*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n", (AGENT,), (url,)
    yield b"User-agent: *\nDisallow: /" + b"*a" * 300 + b"b\n", (AGENT,), ("http://example.com/" + "a" * 2000,)
    yield b"User-agent: *\nDisallow: /" + b"*" * 30 + b"b$\n", (AGENT,), (url,)
    yield b"User-agent: *\nDisallow: /" + b"(a+)+" * 10 + b"$\n", (AGENT,), (url,)
    agents = b"".join(b"User-agent: bot-%d\nDisallow: /%d\n" % (n, n) for n in range(4000))
    yield agents, ("bot-" + "x", AGENT), tuple(f"http://example.com/{n}" for n in range(10))
    yield agents.replace(b"Disallow", b"User-agent: other\nDisallow"), (AGENT,), ("http://example.com/1",)
    many = b"User-agent: *\n" + b"".join(b"Disallow: /p%d/*/x\n" % n for n in range(20_000))
    yield many, (AGENT,), tuple(f"http://example.com/p{n}/a/x" for n in [0, 10_000, 19_999, 20_001])
    yield b"User-agent: *\n" + b"Disallow: /" + b"a" * 400_000 + b"\n", (AGENT,), ("http://example.com/" + "a" * 1000,)
    yield b"User-agent: *\n" + b" " * 400_000 + b"Disallow: /x\n", (AGENT,), ("http://example.com/x",)
    yield b"\n" * 400_000 + b"User-agent: *\nDisallow: /x\n", (AGENT,), ("http://example.com/x",)
