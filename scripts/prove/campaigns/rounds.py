"""Repeats the rounds of a campaign until the time is up, in several processes."""

import collections
import concurrent.futures
import dataclasses
import pathlib
import random
import shlex
import tempfile
import time
import traceback


@dataclasses.dataclass
class Result:
    """What one round asked, and what differed."""

    questions: collections.Counter  # how many by way
    difference: str | None = None  # the smallest input that shows a difference
    is_error: bool = False  # the difference is an error of the command or of a model


def play(ask, options, number):
    """One round of a campaign, whose function `play` is `ask`. A seed and a number always give the same round."""
    rng = random.Random(f"{options.seed} {number}")
    with tempfile.TemporaryDirectory() as directory:
        try:
            result = ask(rng, pathlib.Path(directory), options, number)
        # An error is a result too: it has a seed and a round.
        except Exception:
            result = Result(collections.Counter(), traceback.format_exc(), is_error=True)
    if result.difference:
        name = ask.__module__.rpartition(".")[2]
        files = f" --files {shlex.quote(str(options.directory))}" if options.files else ""
        kind = f" --kind {shlex.quote(options.kind)}" if options.kind else ""
        planted = " --self-test" if options.self_test else ""
        again = f"scripts/x differential {name} --seed {shlex.quote(options.seed)} --round {number}{files}{kind}{planted}"
        result.difference = f"# {again}\n{result.difference}"
    return result


def repeat(ask, options):
    """Plays rounds until the time is up, or until a difference if `options.self_test` is set. Prints the
    differences and the counts of questions. Returns the results with a difference."""
    end, shown = time.monotonic() + 3600 * options.hours, time.monotonic()
    questions, rounds, differences = collections.Counter(), 0, []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        running = set()
        while running or time.monotonic() < end:
            while time.monotonic() < end and len(running) < options.jobs:
                running.add(pool.submit(play, ask, options, rounds))
                rounds += 1
            done, running = concurrent.futures.wait(running, return_when="FIRST_COMPLETED")
            for result in [future.result() for future in done]:
                questions += result.questions
                if result.difference:
                    differences.append(result)
                    print(result.difference, flush=True)
                    end = 0 if options.self_test else end
            if time.monotonic() - shown > 60:
                shown = time.monotonic()
                print(f"{rounds} rounds, {len(differences)} with a difference", flush=True)
    for way, count in sorted(questions.items()):
        print(f"{count:15,}  {way}")
    print(f"{rounds} rounds, {len(differences)} with a difference")
    return differences
