"""Measures each way to judge a Parquet data set on Spark, and the command line, on two cores.

usage: spark_speed.py SNAPSHOT PAGES ROBOSIEVE

PAGES is a directory of Parquet files with the column ``url``. ROBOSIEVE is the
command-line program. Each way runs three times in a warm session; the table has the fastest run.
Files are written to a temporary directory next to PAGES.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from robosieve.spark import annotate_files, filter_files, register, with_verdicts

AGENT = "GPTBot"
RUNS = 3


def session():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "4g")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def ways(spark, snapshot, pages, robosieve, out):
    """The name of each way, and a function that returns its count of allowed URLs, or None."""
    register(spark, snapshot, agent=AGENT)
    frame = spark.read.parquet(str(pages))
    frame.createOrReplaceTempView("pages")
    command = [robosieve, "annotate", "-q", "-s", snapshot, "-a", AGENT, "-j", "2", "--out-dir", out]

    def judged(frame):
        with_verdicts(frame, snapshot, AGENT).write.parquet(str(out))

    return {
        "read the column `url`": lambda: spark.sql("SELECT sum(length(url)) FROM pages").collect() and None,
        "`robots_verdict(url)`, counted": lambda: (
            spark.sql("SELECT count_if(robots_verdict(url) = 1) AS n FROM pages").first().n
        ),
        "copy all columns to Parquet": lambda: frame.write.parquet(str(out)),
        "`with_verdicts` to Parquet, all columns": lambda: judged(frame),
        "`annotate_files`": lambda: annotate_files(spark, snapshot, pages, out, AGENT)["allowed"],
        "`filter_files`": lambda: filter_files(spark, snapshot, pages, out, AGENT)["allowed"],
        "`robosieve annotate -j 2 --out-dir`": lambda: subprocess.run([*command, pages], check=True) and None,
    }


def main():
    snapshot, pages, robosieve = sys.argv[1:]
    pages = Path(pages).resolve()
    spark = session()
    rows = spark.read.parquet(str(pages)).count()
    print(f"{rows:,} rows, load {os.getloadavg()[0]:.2f}")
    print("| way | s | allowed |\n|---|---:|---:|")
    with tempfile.TemporaryDirectory(dir=pages.parent) as directory:
        out = Path(directory, "out")
        for name, run in ways(spark, snapshot, pages, robosieve, out).items():
            times = []
            for _ in range(RUNS):
                shutil.rmtree(out, ignore_errors=True)
                # Otherwise a run waits for the disk to write the files of the run before.
                os.sync()
                start = time.monotonic()
                allowed = run()
                times.append(time.monotonic() - start)
            print(f"| {name} | {min(times):.1f} | {'' if allowed is None else format(allowed, ',')} |", flush=True)


if __name__ == "__main__":
    main()
