"""Judges pages by the rules of their own day: `history.py SNAPSHOT PAGES.csv AGENT`.

The snapshot has a history (`robosieve compile --history`), and the CSV file the columns `url` and
`fetched_at`. For each month it prints how many pages the agent was allowed to fetch by the rules of
the day, and by the newest rules.
"""

import csv
import sys
from collections import Counter

import robosieve

snapshot, pages, agent = robosieve.Snapshot(sys.argv[1]), sys.argv[2], sys.argv[3]
with open(pages, newline="") as file:
    rows = list(csv.DictReader(file))

urls = [row["url"] for row in rows]
times = [row["fetched_at"] for row in rows]
# A column of times in place of one: each URL is judged by the rules in force at its own.
then = snapshot.verdicts(urls, agent, as_of=times)
now = snapshot.verdicts(urls, agent)

counts: Counter[tuple[str, str]] = Counter()
for time, was_allowed, is_allowed in zip(times, then, now):
    month = time[:7] or "no time"
    counts[month, "pages"] += 1
    counts[month, "allowed then"] += was_allowed == robosieve.Verdict.ALLOWED
    counts[month, "allowed now"] += is_allowed == robosieve.Verdict.ALLOWED
columns = ["pages", "allowed then", "allowed now"]
print("month", *columns, sep="\t")
for month in sorted({month for month, _ in counts}):
    print(month, *(counts[month, column] for column in columns), sep="\t")
