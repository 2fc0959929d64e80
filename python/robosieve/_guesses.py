"""Names that people guess, with the right ones: an ``AttributeError`` says what to write.

Other libraries have other words for the same: ``can_fetch`` of ``urllib.robotparser`` and Protego,
``is_allowed`` and ``open`` elsewhere. Python itself suggests names that are spelt alike, such as
``verdict`` for ``verdcit``, so this table has words that are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_SNAPSHOT = "robosieve.Snapshot(path)"
_PARSE = "robosieve.Robots.parse(body)"
_ALLOWED = "robosieve.Snapshot(path).allowed(urls, agents), or robosieve.Robots.parse(body).allows(agent, url)"
_ONE_OR_MANY = "snapshot.verdict(url, agent).allowed for one URL, or snapshot.allowed(urls, agents) for a column"
_DISALLOWED = "snapshot.verdicts(urls, agent), where 0 is disallowed"
_ALLOWS = "robots.allows(agent, url) for one URL, or robots.verdicts(agent, urls) for a column"
_READ_FILE = "robosieve.Robots.parse(pathlib.Path(path).read_bytes())"
_FETCH = "robosieve.Robots.from_response(status, body, headers) after a request of your own; robosieve fetches nothing"
_EXPORT = "snapshot.export(agents), which any Arrow library reads: pyarrow.table(x), polars.DataFrame(x)"
_FILTER = "robosieve.filter(snapshot, inputs, output, agents) for files, or snapshot.allowed(urls, agents) for a column"
_ANNOTATE = "robosieve.annotate(snapshot, inputs, output, agents) for files, or snapshot.verdicts(urls, agents)"
_LISTS = "robosieve.Lists(path)"
_MATCH = "lists.match(urls) for a column, or lists.find(url) for one URL"
_WRITE = "compiler.write(path), or compiler.to_bytes()"


def _all(words: str, right: str) -> dict[str, str]:
    return dict.fromkeys(words.split(), right)


def _command(verb: str) -> str:
    return f"robosieve {verb} on the command line; the package has no function for it"


#: For the module and each class: a guessed word, and what to write.
GUESSES: dict[str, dict[str, str]] = {
    "robosieve": {
        **_all("open load read open_snapshot load_snapshot read_snapshot Judge Matcher", _SNAPSHOT),
        **_all("parse parse_robots Robot RobotsTxt RobotsParser Parser Protego", _PARSE),
        **_all("can_fetch allowed is_allowed allows may_fetch can_crawl", _ALLOWED),
        **_all("verdict verdicts judge", "robosieve.Snapshot(path).verdicts(urls, agents)"),
        **_all("check explain", "robosieve.Snapshot(path).explain(url, agent)"),
        **_all("RobotFileParser", "from robosieve.robotparser import RobotFileParser"),
        **_all("lint", "robosieve.Robots.parse(body).lint()"),
        **_all("fetch get", _FETCH),
        **_all("export to_parquet to_table", "robosieve.Snapshot(path).export(agents)"),
        **_all("captures", "robosieve.Compiler().write_captures(path)"),
        **_all("compile_lists FilterLists BlockList block_list", "robosieve.Lists.compile({name: path})"),
        **_all("lists", _LISTS),
        **_all("user_agent parse_user_agent", "robosieve.product_token(user_agent)"),
        **_all("crawlers bots", "robosieve.agents(\"@ai\")"),
        **{verb: _command(verb) for verb in ("report", "audit", "diff", "due", "inspect")},
        **{name: f"import robosieve.{name}" for name in ("datatrove", "ray", "robotparser", "scrapy", "spark")},
    },
    "Snapshot": {
        **_all("can_fetch is_allowed allows may_fetch allow can_crawl fetchable check", _ONE_OR_MANY),
        **_all("judge verdict_column verdict_table", "snapshot.verdicts(urls, agents)"),
        **_all("disallowed disallows is_disallowed blocked is_blocked", _DISALLOWED),
        **_all("filter", _FILTER),
        **_all("annotate", _ANNOTATE),
        **_all("open load read from_file from_path", _SNAPSHOT),
        **_all("robots robots_txt robotstxt get_robots text body", "snapshot.robots_text(url)"),
        **_all("delay", "snapshot.crawl_delay(url, agent)"),
        **_all("mask bits", "snapshot.masks(urls, agents)"),
        **_all("reason", "snapshot.explain(url, agent).reason, or snapshot.reasons(urls)"),
        **_all("agents", "robosieve.agents(spec)"),
        **_all("origin", "snapshot.origins(urls)"),
        **_all("sitemap site_maps", "snapshot.sitemaps(url)"),
        **_all("table to_pandas to_polars to_arrow to_pyarrow to_table to_df to_parquet", _EXPORT),
        **_all("contains has has_origin", "url in snapshot"),
        **_all("size count origin_count num_origins", "len(snapshot)"),
        **_all("match lists", "snapshot.verdicts(urls, agents, lists=lists), or lists.match(urls)"),
        **_all("compile write save", "robosieve.compile(archives, path)"),
        **_all("loads from_buffer", "robosieve.Snapshot.from_bytes(data)"),
    },
    "Robots": {
        **_all("can_fetch is_allowed allowed may_fetch allow can_crawl check verdict judge", _ALLOWS),
        **_all("disallowed disallows is_disallowed", "not robots.allows(agent, url)"),
        **_all("from_string from_text from_bytes from_str from_body loads parse_string", _PARSE),
        **_all("open read load from_file from_path", _READ_FILE),
        **_all("fetch from_url get", _FETCH),
        **_all("delay", "robots.crawl_delay(agent)"),
        **_all("sitemap site_maps", "robots.sitemaps"),
        **_all("rule rules groups match", "robots.explain(agent, url).rule"),
    },
    "Lists": {
        **_all("open load read from_file from_path", _LISTS),
        **_all("contains is_listed lookup check blocked is_blocked matches listed get", _MATCH),
        **_all("allowed verdicts", "snapshot.allowed(urls, agents, lists=lists)"),
        **_all("write save", "robosieve.Lists.compile({name: path}, output=path)"),
    },
    "Compiler": {
        **_all("add_file add_files add_archive add_archives add_warc add_jsonl", "compiler.add_path(archives)"),
        **_all("add_robots add_capture add_site", "compiler.add_response(url, status, body)"),
        **_all("add_table add_rows add_frame add_dataframe", "compiler.add(table)"),
        **_all("compile build finish save run", _WRITE),
    },
    "Verdict": {
        **_all("is_allowed allows ok", "verdict.allowed"),
        **_all("disallowed is_disallowed denied blocked", "verdict == robosieve.Verdict.DISALLOWED"),
        **_all("unknown is_unknown", "verdict == robosieve.Verdict.UNKNOWN"),
        **_all("invalid is_invalid", "verdict == robosieve.Verdict.INVALID"),
    },
}


def attribute_error(shown: str, owner: str, name: str) -> AttributeError:
    """The error for an attribute that ``owner``, a key of :data:`GUESSES`, does not have."""
    right = GUESSES.get(owner, {}).get(name)
    advice = "" if right is None else f"; write {right}"
    return AttributeError(f"{shown} has no attribute {name!r}{advice}")


class Guided(type):
    """The type of classes that name the right attribute in place of a guessed one."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            raise attribute_error(f"type object {cls.__name__!r}", _owner(cls), name)


class GuidedInstance(metaclass=Guided):
    """A base of classes that do so, and their instances too."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise attribute_error_of(self, name)


def attribute_error_of(instance: object, name: str) -> AttributeError:
    """The error for an attribute that an instance of a class in :data:`GUESSES` does not have."""
    kind = type(instance)
    return attribute_error(f"{kind.__name__!r} object", _owner(kind), name)


def _owner(kind: type) -> str:
    """The class of the table: the class itself, or the first base there."""
    return next((base.__name__ for base in kind.__mro__ if base.__name__ in GUESSES), "")
