"""The command ``python -m robosieve.spark``.

Imports are absolute, so spark-submit can run this file.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import warnings
from typing import Any, TextIO, get_args

# spark-submit puts the directory of this file first, but its modules belong to the package.
sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]

from robosieve import RobosieveError, Snapshot  # noqa: E402
from robosieve._options import StatusPolicy  # noqa: E402
from robosieve.spark import annotate_files, compile_files, filter_files  # noqa: E402
from robosieve.spark._engine import require_pyspark  # noqa: E402

DESCRIPTION = """\
Process whole files on an Apache Spark cluster.

annotate and filter: each task reads one file of URLs, judges them and writes one file of the same
name. All nodes and the driver must mount the inputs, the output directory and the snapshot at the
same paths, unless they are URIs of a store, such as s3://bucket/pages. For a copy of the snapshot on
the local disk of each node, give --node-directory.

compile: each task reads one archive or table of captures, and the driver writes the snapshot.
"""

EXAMPLES = """\
Examples:
  # On this machine, with all cores:
  python -m robosieve.spark annotate -s web.rsieve -a GPTBot,CCBot -o verdicts crawl/
  # On a cluster; a quoted glob keeps the directories of partitions:
  python -m robosieve.spark filter --master spark://host:7077 -s /mnt/web.rsieve -a @ai-train \\
      --node-directory /local/robosieve -o /mnt/kept '/mnt/crawl/**/*.parquet'
  # A snapshot of archives, and of Parquet tables of captures:
  python -m robosieve.spark compile --master spark://host:7077 -o /mnt/web.rsieve /mnt/robotstxt
  # With spark-submit and its options:
  spark-submit --master yarn "$(python -m robosieve.spark --script)" annotate -s ...
"""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit status: 0, 1 after an error, 2 for bad arguments."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--script"]:
        print(os.path.abspath(__file__))
        return 0
    args = vars(_parser().parse_args(arguments))
    args.pop("script")
    function = args.pop("run")
    run = _compile if function is compile_files else functools.partial(_judge, function)
    spark = None
    try:
        require_pyspark()
        from pyspark.errors import PySparkException
    except ImportError as err:
        return _failed(err)
    warnings.showwarning = _show_warning
    try:
        spark = _session(args.pop("command"), args.pop("master"), args.pop("conf"))
        run(spark, args)
    except (ImportError, OSError, PySparkException, RobosieveError, TypeError, ValueError) as err:
        return _failed(err)
    finally:
        if spark is not None:
            spark.stop()
    return 0


def _judge(function: Any, spark: Any, args: dict[str, Any]) -> None:
    """Annotates or filters files, and prints the counts."""
    unknown_to, keep = args.get("unknown_to"), args.get("keep")
    snapshot = Snapshot(args.pop("snapshot"), verify=not args.pop("no_verify"))
    args["any_scheme"] = args.pop("scheme") == "any"
    for name in ("field", "as_of_column"):
        column = args.get(name)
        if column is not None and column.isdecimal():
            args[name] = int(column)
    counts = function(spark, snapshot, args.pop("inputs"), args.pop("output"), **_given(args))
    kinds = ("files", "lines", "allowed", "disallowed", "unknown", "invalid")
    print("  ".join(f"{kind} {counts[kind]:,}" for kind in kinds))
    if function is filter_files and counts["unknown"] and unknown_to is None:
        verdict = "disallow" if keep == "disallowed" else "allow"
        lines = "1 line" if counts["unknown"] == 1 else f"{counts['unknown']:,} lines"
        options = f"--unknown {verdict} keeps, --unknown-to DIR writes them"
        print(f"not written: {lines} of unknown origins ({options})")


def _compile(spark: Any, args: dict[str, Any]) -> None:
    """Compiles archives, and prints the counts."""
    report = compile_files(spark, args.pop("inputs"), args.pop("output"), **_given(args))
    for key, lines in report["unread_keys"].items():
        message = f'{lines:,} lines with a 2xx status have no body; "{key}" looks like it: name it "body"'
        warnings.warn(message, stacklevel=1)
    counts = {"files": report["inputs"], **{name: report[name] for name in ("captures", "not_urls", "damaged")}}
    counts |= {"origins": report["counts"]["origins"], "robots.txt": report["counts"]["files"]}
    print("  ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in counts.items()))


_show_other_warning = warnings.showwarning


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Shows the warnings of robosieve as messages of this command."""
    if category is UserWarning:
        print(f"robosieve.spark: warning: {message}", file=sys.stderr)
    else:
        _show_other_warning(message, category, filename, lineno, file, line)


def _failed(err: Exception) -> int:
    print(f"robosieve.spark: {err}", file=sys.stderr)
    return 1


def _session(command: str, master: str | None, conf: list[str]) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(f"robosieve {command}")
    if master is not None:
        builder = builder.master(master)
    for setting in conf:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"--conf {setting}: write KEY=VALUE")
        builder = builder.config(key, value)
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not is_submitted and (master or "local").startswith("local"):
        # The default, python3, may be another interpreter that lacks robosieve.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return builder.getOrCreate()


def _given(args: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; functions have their own defaults."""
    return {name: value for name, value in args.items() if value is not None}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m robosieve.spark",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--script", action="store_true", help="print the path of this program, for spark-submit")
    commands = parser.add_subparsers(required=True, dest="command", metavar="annotate|filter|compile")
    annotate = _add_command(commands, "annotate", annotate_files, "write every record with its verdicts")
    annotate.add_argument(
        "--as", dest="form", choices=["letters", "jsonl", "csv", "mask", "bits", "int8"],
        help="form of verdicts: letters, jsonl, csv or mask for lists, bits or int8 for Parquet (default: letters, bits)",
    )  # fmt: skip
    annotate.add_argument("--as-name", dest="name", metavar="NAME", help="name of the Parquet column, or prefix")
    annotate.add_argument(
        "--add", type=_words, metavar="NAMES",
        help="keys or columns to add: origin, reason, crawl_delay, rule, line, agent, with commas between them",
    )  # fmt: skip
    annotate.add_argument("--preferences", action="store_true", default=None, help="add statements on content use")
    keep = _add_command(commands, "filter", filter_files, "write the records that agents may fetch")
    keep.add_argument("--keep", choices=["allowed", "disallowed"], help="verdict of kept records (default: allowed)")
    keep.add_argument("--require", choices=["all", "any"], help="keep if all agents have it, or any (default: all)")
    keep.add_argument("--disallowed-to", metavar="DIR", help="directory for records with the other verdict")
    keep.add_argument("--unknown-to", metavar="DIR", help="directory for records of unknown origins")
    keep.add_argument("--invalid-to", metavar="DIR", help="directory for records that are not URLs")
    _add_compile(commands)
    return parser


def _words(text: str) -> list[str]:
    return text.split(",")


def _percent(text: str) -> float:
    """A share with a percent sign, as a number from 0 to 1."""
    try:
        share = float(text.removesuffix("%")) / 100 if text.endswith("%") else -1.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("give a share with a percent sign, from 0% to 100%, such as 20%")
    return share


def _new_command(commands: Any, name: str, run: Any, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    parser.set_defaults(run=run)
    return parser


def _add_compile(commands: Any) -> None:
    parser = _new_command(commands, "compile", compile_files, "compile archives and tables into a snapshot")
    inputs = "archives, captures files, Parquet tables of captures, directories, globs"
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help=inputs)
    parser.add_argument("-o", "--output", required=True, metavar="SNAP", help="the snapshot to write")
    parser.add_argument("--profile", choices=["google", "rfc9309"], help="parser to reproduce (default: google)")
    parser.add_argument("--previous", metavar="OLD", help="keep the entries of this snapshot that are not replaced")
    parser.add_argument(
        "--max-failing", type=_percent, metavar="PERCENT",
        help="fail if more of the captured origins fail that answered in OLD (default: 20%%)",
    )  # fmt: skip
    parser.add_argument("--as-of", metavar="TIME", help="skip captures newer than this time, such as 2026-10-01")
    parser.add_argument("--skip-damaged", action="store_true", default=None, help="skip damaged places of archives")
    parser.add_argument("--captures-dir", metavar="DIR", help="keep the captures file of each input here")
    parser.add_argument("--overwrite", action="store_true", default=None, help="replace captures files that exist")
    parser.add_argument("--memory", type=int, metavar="BYTES", help="memory for captures and texts (default: 1 GiB)")
    parser.add_argument("--temp-dir", metavar="DIR", help="directory of temporary files (default: the system's)")
    _add_cluster_options(parser.add_argument_group("cluster"))


def _add_command(commands: Any, name: str, run: Any, summary: str) -> argparse.ArgumentParser:
    parser = _new_command(commands, name, run, summary)
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="lists of URLs or Parquet files, directories, globs")
    parser.add_argument("-s", "--snapshot", required=True, metavar="SNAP", help="the snapshot")
    parser.add_argument(
        "-a", "--agents", required=True, metavar="AGENTS", help="agents or sets, such as GPTBot,@ai-train"
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="directory of the outputs")
    parser.add_argument("--overwrite", action="store_true", help="replace outputs that exist")
    parser.add_argument("--no-verify", action="store_true", help="skip the verification of the snapshot's checksums")
    cluster = parser.add_argument_group("cluster")
    _add_cluster_options(cluster)
    cluster.add_argument(
        "--node-directory", metavar="DIR", help="local directory for one copy of the snapshot per node"
    )
    cluster.add_argument(
        "--executor-path", metavar="PATH",
        help="path of the snapshot on executors; relative for files of spark-submit --files and --archives",
    )  # fmt: skip
    _add_record_options(parser.add_argument_group("input"))
    _add_policy_options(parser.add_argument_group("policy"))
    return parser


def _add_cluster_options(group: Any) -> None:
    group.add_argument("--master", metavar="URL", help="the cluster (default: that of spark-submit, or this machine)")
    group.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark; repeatable")
    group.add_argument("--partitions", type=int, metavar="N", help="number of tasks (default: one per file)")
    group.add_argument("--threads", type=int, metavar="N", help="threads of a task (default: spark.task.cpus)")


def _add_record_options(group: Any) -> None:
    formats = ["text", "tsv", "csv", "jsonl", "cdxj", "cdx"]
    group.add_argument("--field", metavar="N|NAME", help="column of the URLs; for Parquet the default is url")
    group.add_argument("--input-format", choices=formats, help="layout of lists (default: detected)")
    group.add_argument("--header", action="store_true", default=None, help="the first line of a list is a header")
    group.add_argument("--delimiter", metavar="CHAR", help="column separator")
    group.add_argument("--json-key", metavar="KEY", help="JSON key of the URL (default: url)")
    group.add_argument("--default-scheme", metavar="SCHEME", help="scheme of URLs without one")
    group.add_argument("--host", metavar="HOST", help="host of URLs that are only a path")
    group.add_argument("--as-of-column", metavar="N|NAME", help="judge records as of the time in this column or key")
    group.add_argument(
        "--as-of-record", action="store_true", default=None, help="judge records of WARC, CDXJ and CDX as of their time"
    )
    group.add_argument("--no-time", choices=["unknown", "newest"], help="verdict on records without a time (default: unknown)")


def _add_policy_options(group: Any) -> None:
    policies = list(get_args(StatusPolicy))
    group.add_argument("--status-policy", choices=policies, help="meaning of HTTP errors")
    group.add_argument(
        "--unknown", choices=["allow", "disallow"], help="verdict on unknown origins (default: unknown, not kept)"
    )
    group.add_argument("--scheme", choices=["exact", "any"], default="exact", help="any: http and https stand in")
    group.add_argument("--as-of", metavar="TIME", help="judge by the rules in force at this time, of a snapshot with a history")
    group.add_argument("--at", metavar="TIME", help="judge failing sites as of this time, such as 2026-10-01")
    group.add_argument("--agent-match", choices=["extended", "google"], help="match of names outside RFC 9309")
    group.add_argument("--strict-agents", action="store_true", default=None, help="fail if an agent looks misspelled")


if __name__ == "__main__":
    sys.exit(main())
