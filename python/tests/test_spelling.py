"""Agents that look misspelled: a warning at the caller's line, or with `strict_agents` an error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import robosieve
from robosieve import Snapshot

NEWS = "https://news.example/world/"
MESSAGE = "names GTPBot; did you mean GPTBot?"


def line() -> int:
    """The line of the caller."""
    return sys._getframe(1).f_lineno


def warned(call: Callable[[], Any]) -> list[warnings.WarningMessage]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


def front_doors(snapshot: Any, folder: Path) -> dict[str, tuple[Callable[..., Any], int]]:
    """Each function that takes agents, with the line where it is called."""
    opened = snapshot if isinstance(snapshot, Snapshot) else Snapshot(snapshot)
    (folder / "urls.txt").write_text(f"{NEWS}\n")
    source, out = folder / "urls.txt", folder / "out"
    return {
        "verdict": (lambda agent, **options: opened.verdict(NEWS, agent, **options), line()),
        "verdicts": (lambda agent, **options: opened.verdicts([NEWS], agent, **options), line()),
        "allowed": (lambda agent, **options: opened.allowed([NEWS], agent, **options), line()),
        "verdicts, a list": (lambda agent, **options: opened.verdicts([NEWS], [agent], **options), line()),
        "crawl_delays": (lambda agent, **options: opened.crawl_delays([NEWS], agent, **options), line()),
        "masks": (lambda agent, **options: opened.masks([NEWS], ["CCBot", agent], **options), line()),
        "explain": (lambda agent, **options: opened.explain(NEWS, agent, **options), line()),
        "crawl_delay": (lambda agent, **options: opened.crawl_delay(NEWS, agent, **options), line()),
        "export": (lambda agent, **options: opened.export(agent, **options), line()),
        "annotate": (lambda agent, **options: robosieve.annotate(snapshot, source, out, agent, **options), line()),
        "filter": (lambda agent, **options: robosieve.filter(snapshot, source, out, agent, **options), line()),
    }


DOORS = ["verdict", "verdicts", "allowed", "masks", "explain", "crawl_delay", "export", "annotate", "filter"]


@pytest.mark.parametrize("door", DOORS)
def test_a_misspelled_agent_warns_at_the_line_of_the_caller(small: Path, tmp_path: Path, door: str) -> None:
    call, called_at = front_doors(small, tmp_path)[door]
    (warning,) = warned(lambda: call("GTPBot"))
    assert warning.category is UserWarning
    assert str(warning.message) == f"no robots.txt in {small} {MESSAGE}"
    assert (warning.filename, warning.lineno) == (__file__, called_at)
    # Names that are in use, sets, and names that resemble none.
    for agent in ["GPTBot", "gptbot", "*", "WhollyNewCrawler", "Googlebot-Image:Googlebot"]:
        assert warned(lambda: call(agent)) == [], agent


@pytest.mark.parametrize("door", DOORS)
def test_strict_agents_is_an_error_each_time(small: Path, tmp_path: Path, door: str) -> None:
    call, _ = front_doors(small, tmp_path)[door]
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"{MESSAGE[:-1]}\? \(strict_agents=True\)"):
            call("GTPBot", strict_agents=True)
    assert not (tmp_path / "out").exists()
    call("GPTBot", strict_agents=True)


@pytest.mark.parametrize("door", DOORS)
def test_agents_without_commas_are_refused(small: Path, tmp_path: Path, door: str) -> None:
    call, _ = front_doors(small, tmp_path)[door]
    with pytest.raises(ValueError, match='"GPTBot CCBot": not a known agent, but each of its words is; give a list'):
        call("GPTBot CCBot")


def test_an_open_snapshot_warns_once_for_the_same_agents(small: Path, tmp_path: Path) -> None:
    snapshot = Snapshot(small)
    doors = front_doors(snapshot, tmp_path)
    calls = [doors[door][0] for door in DOORS if door != "masks"] * 3
    assert len(warned(lambda: [call("GTPBot") for call in calls])) == 1
    assert len(warned(lambda: doors["masks"][0]("GTPBot"))) == 1
    assert len(warned(lambda: snapshot.masks([], "GTPBot,Gogglebot,@ai-train"))) == 2
    # The messages of many lists of agents are forgotten at some time.
    for number in range(3000):
        snapshot.verdict(NEWS, f"Bot-{'x' * (number % 50)}-{'y' * (number // 50)}")
    assert len(snapshot._spelled) <= 1024


def test_names_in_the_snapshot_are_known(tmp_path: Path) -> None:
    compiler = robosieve.Compiler()
    compiler.add_response("https://a.example/robots.txt", 200, "User-agent: GTPBot\nDisallow: /\n")
    compiler.write(tmp_path / "web.rsieve")
    assert warned(lambda: Snapshot(tmp_path / "web.rsieve").verdict("https://a.example/", "GTPBot")) == []


def test_names_of_sites_are_escaped(tmp_path: Path) -> None:
    compiler = robosieve.Compiler()
    compiler.add_response("https://a.example/robots.txt", 200, "User-agent: examp\x1b[31mlecrawler\nDisallow: /\n")
    compiler.write(tmp_path / "web.rsieve")
    snapshot = Snapshot(tmp_path / "web.rsieve")
    (warning,) = warned(lambda: snapshot.verdict("https://a.example/", "examp\x1b[31mlecrawlr"))
    assert "\\x1b[31m" in str(warning.message) and "\x1b" not in str(warning.message)


def test_pickled_snapshots_warn_where_they_judge(small: Path) -> None:
    import pickle

    snapshot = Snapshot(small)
    assert len(warned(lambda: snapshot.verdict(NEWS, "GTPBot"))) == 1
    again = pickle.loads(pickle.dumps(snapshot))
    assert len(warned(lambda: again.verdict(NEWS, "GTPBot"))) == 1


def test_datatrove_warns_where_the_filter_is_made(small: Path, tmp_path: Path) -> None:
    pytest.importorskip("regex", reason="datatrove's filters need regex")
    pytest.importorskip("datatrove")
    from datatrove.data import Document
    from robosieve.datatrove import RobotsFilter

    document = Document(text="", id="1", metadata={"url": NEWS})
    for given in (small, Snapshot(small)):
        made: list[RobotsFilter] = []
        (warning,) = warned(lambda: made.append(RobotsFilter(given, "GTPBot")))
        assert (warning.filename, MESSAGE in str(warning.message)) == (__file__, True)
        # The workers do not repeat it.
        assert warned(lambda: made[0].filter(document)) == []
        with pytest.raises(ValueError, match="strict_agents=True"):
            RobotsFilter(given, "GTPBot", strict_agents=True)
    # Without a file here, the workers check.
    path = tmp_path / "later.rsieve"
    steps = [RobotsFilter(path, "GTPBot"), RobotsFilter(path, "GTPBot", strict_agents=True)]
    path.write_bytes(small.read_bytes())
    assert len(warned(lambda: steps[0].filter(document))) == 1
    with pytest.raises(ValueError, match="strict_agents=True"):
        steps[1].filter(document)
