"""Time and memory of a parser, on real files."""

import statistics

# Files that are timed: every so-manieth, and how often each is parsed and asked.
FILES = 200
REPEAT = 5
# Copies of those files that stay in memory.
COPIES = 3


def measure(running, items):
    """The median of the processor time per file and per question, and memory per file that stays parsed.
    Values are None where the parser dies or is too slow."""
    real = [item for item in items if item.category == "real files" and len(item.body) > 100]
    chosen = real[:: max(1, len(real) // FILES)][:FILES]
    parse, asked = [], []
    for item in chosen:
        agent = item.agents[0]
        question = item.question(repeat=REPEAT) | {"agents": [agent]}
        answer = running.request(question)
        if not isinstance(answer, dict):
            return {"parse_us": None, "ask_us": None, "bytes_per_file": None}
        parse.append(answer["parse_ns"] / 1000)
        asked.append(answer["ask_ns"] / 1000 / len(item.urls))
    return {
        "parse_us": round(statistics.median(parse), 2),
        "ask_us": round(statistics.median(asked), 3),
        "bytes_per_file": kept(running, chosen),
    }


def kept(running, chosen):
    """Growth of resident memory per file that stays parsed for one agent."""

    def keep_all():
        """Resident memory after each file was parsed once more, and kept."""
        for item in chosen:
            question = item.question(keep=True) | {"agents": [item.agents[0]], "urls": []}
            if not isinstance(running.request(question), dict):
                return None
        return running.resident()

    # What earlier questions have freed would hold the files in a process that has seen many. In a new
    # one, the first round fills pools and caches of the language.
    running.stop()
    before = keep_all()
    after = [keep_all() for _ in range(COPIES)][-1]
    return max(0, after - before) // (COPIES * len(chosen)) if before and after else None
