"""robosieve.ray on a local cluster of two raylets, compared with the command line.

The environment variable ROBOSIEVE names the command-line program. The corpus is that of test_spark.
The directory is not named ``ray``, because without Ray ``import ray`` would find it.
"""

import doctest
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason='Ray is missing: pip install "ray[data]>=2.9"')
pa = pytest.importorskip("pyarrow", reason="pyarrow is missing: pip install pyarrow")

import robosieve
import test_spark
from conftest import ROOT, SMALL
from robosieve import InputsError
from robosieve._cluster.jobs import Call, run_tasks
from robosieve._cluster.outputs import LocalDirectory
from robosieve._cluster.paths import find_inputs
from robosieve._cluster.source import snapshot_source
from robosieve.ray import annotate_files, compile_files, filter_allowed, filter_files, with_verdicts
from robosieve.ray._files import RayEngine
from test_spark import AGENTS, COLUMNS, captures, hidden, history, lines, package_path, program, run, snapshot  # noqa: F401
from test_spark import table, urls, write_archive, write_gzip  # noqa: F401

#: The least object store that Ray takes is 75 MB.
STORE = 80 << 20


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two raylets with one CPU each. The second may be killed."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", package_path())
        head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            # Before there is another raylet of this machine, which this process might choose.
            ray.init(address=cluster.address, log_to_driver=False)
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
            # Workers have no module of tests.
            ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


@pytest.fixture(scope="module")
def pages(cluster, table):
    """The files of the table as a dataset."""
    return ray.data.read_parquet(str(table))


def in_order(dataset, *columns):
    """The values of columns, by the number of the row."""
    rows = pa.concat_tables(ray.get(dataset.to_arrow_refs())).sort_by("n")
    return [rows[column].to_pylist() for column in columns]


def test_files_equal_the_command_line(cluster, program, snapshot, urls, table, tmp_path):
    lists, out = tmp_path / "lists", tmp_path / "out"
    write_gzip(lists / "day=1" / "a.txt.gz", urls[::2])
    write_gzip(lists / "day=2" / "a.txt.gz", urls[1::2])
    (lists / "day=2" / "empty.txt").write_bytes(b"")
    (lists / "day=2" / "_SUCCESS").write_bytes(b"")
    counts = annotate_files(snapshot, [lists, table], out, AGENTS, node_directory=tmp_path / "node")
    assert counts["files"] == 7 and counts["lines"] == 2 * len(urls) and len(counts["agent_allowed"]) == 5
    for name in ["day=1/a.txt.gz", "day=2/a.txt.gz"]:
        printed = run(program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, lists / name)
        assert lines(out / name) == printed.splitlines()
    for part in table.iterdir():
        run(program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, "-o", tmp_path / part.name, part)
        assert (out / part.name).read_bytes() == (tmp_path / part.name).read_bytes()
    assert (out / "_SUCCESS").read_bytes() == b"" and not hidden(out)
    # Both raylets are on this machine, so there is one copy.
    assert len(list((tmp_path / "node").glob("*.rsieve"))) == 1
    with pytest.raises(FileExistsError, match="overwrite=True"):
        annotate_files(snapshot, lists, out, AGENTS)
    again = annotate_files(snapshot, [lists, table], out, AGENTS, overwrite=True, tasks=2, threads=1)
    assert again == counts and not hidden(out)


def most_common_host(urls):
    [(host, _)] = Counter(url.split(b"/")[2] for url in urls if url.count(b"/") > 2).most_common(1)
    return host


def test_filtered_files_equal_the_command_line(cluster, program, snapshot, urls, tmp_path):
    (tmp_path / "own").write_bytes(most_common_host(urls) + b"\n")
    run(program, "lists", "-q", "-o", tmp_path / "own.rlists", tmp_path / "own")
    for part in range(3):
        write_gzip(tmp_path / "lists" / f"{part}.txt.gz", [*urls[part::3], b"no url"])
    outputs = {name: tmp_path / name for name in ["kept", "disallowed", "unknown", "invalid", "listed"]}
    more = {f"{name}_to": path for name, path in outputs.items() if name != "kept"}
    common = {"require": "any", "lists": tmp_path / "own.rlists"}
    counts = filter_files(
        snapshot, f"{tmp_path}/lists/*.gz", outputs["kept"], "GPTBot,CCBot", tasks=2, **more, **common
    )
    sums = dict.fromkeys(["lines", "allowed", "disallowed", "unknown", "invalid", "listed"], 0)
    for part in range(3):
        name = f"{part}.txt.gz"
        expected = {output: tmp_path / f"{output}-{part}.txt" for output in outputs}
        there = {f"{output}_to": path for output, path in expected.items() if output != "kept"}
        found = robosieve.filter(snapshot, tmp_path / "lists" / name, expected["kept"], "GPTBot,CCBot", **there, **common)
        for output, directory in outputs.items():
            assert lines(directory / name) == lines(expected[output]), (output, name)
        sums = {kind: sums[kind] + found[kind] for kind in sums}
    assert {kind: counts[kind] for kind in sums} == sums and sums["listed"] > 0
    assert all((directory / "_SUCCESS").exists() and not hidden(directory) for directory in outputs.values())


def test_compiled_snapshots_equal_the_command_line(cluster, program, tmp_path):
    from pyarrow import parquet

    archives, inputs = tmp_path / "archives", tmp_path / "inputs"
    archives.mkdir()
    inputs.mkdir()
    for part in range(3):
        write_archive(archives / f"{part}.jsonl.gz", captures(part, 500))
    shutil.copy(archives / "0.jsonl.gz", inputs)
    rows = list(captures(1, 500))
    parquet.write_table(pa.table({name: [row.get(name) for row in rows] for name in COLUMNS}), inputs / "1.parquet")
    run(program, "captures", "-q", "-o", inputs / "2.captures", archives / "2.jsonl.gz")
    run(program, "compile", "-q", "-o", tmp_path / "expected.rsieve", *sorted(archives.iterdir()))
    report = compile_files(inputs, tmp_path / "out.rsieve", captures_dir=tmp_path / "kept")
    assert (tmp_path / "out.rsieve").read_bytes() == (tmp_path / "expected.rsieve").read_bytes()
    assert report["captures"] == 1500 and not hidden(tmp_path)
    kept = ["0.jsonl.gz.captures", "1.parquet.captures", "_SUCCESS"]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == kept
    (inputs / "3.txt").write_text("https://a.example/\n")
    with pytest.raises(InputsError, match="1 of 3 inputs failed"):
        compile_files(inputs, tmp_path / "none.rsieve")
    assert not (tmp_path / "none.rsieve").exists() and not hidden(tmp_path)


def test_a_damaged_input_stops_no_other(cluster, snapshot, urls, tmp_path):
    lists, out = tmp_path / "lists", tmp_path / "out"
    for part in range(3):
        write_gzip(lists / f"{part}.txt.gz", urls[:1000])
    whole = (lists / "1.txt.gz").read_bytes()
    (lists / "1.txt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputsError, match="1 of 3 inputs failed") as caught:
        annotate_files(snapshot, lists, out, "GPTBot")
    assert list(caught.value.failures) == [str(lists / "1.txt.gz")]
    assert caught.value.counts["lines"] == 2000 and caught.value.counts["files"] == 2
    assert sorted(path.name for path in out.iterdir()) == ["0.txt.gz", "2.txt.gz"]
    # The damaged file alone completes the directory.
    (lists / "1.txt.gz").write_bytes(whole)
    assert annotate_files(snapshot, list(caught.value.failures), out, "GPTBot")["files"] == 1
    assert sorted(path.name for path in out.iterdir()) == ["0.txt.gz", "1.txt.gz", "2.txt.gz", "_SUCCESS"]


def test_one_error_class_has_one_name(tmp_path):
    import robosieve.spark

    assert robosieve.ray.InputsError is robosieve.spark.InputsError is robosieve.InputsError
    copy = pickle.loads(pickle.dumps(InputsError("1 of 2", {"a": "damaged"}, {"files": 1})))
    assert (str(copy), copy.failures, copy.counts) == ("1 of 2", {"a": "damaged"}, {"files": 1})


class Held:
    """A call that waits in the middle of its output while a file exists. It leaves a file for each attempt,
    named by the input, the raylet and the number of the worker."""

    def __init__(self, call, directory):
        self.call, self.directory = call, str(directory)

    def prepare(self):
        self.call.prepare()

    def __call__(self, source, outputs, threads):
        Path(outputs[0]).write_bytes(b"half of the ou")
        Path(self.directory, f"{Path(source).stem}.{os.getppid()}.{os.getpid()}").touch()
        deadline = time.monotonic() + 120
        while Path(self.directory, "hold").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.remove(outputs[0])
        return self.call(source, outputs, threads)


def attempts(directory):
    """The input, the raylet and the worker of each attempt that has begun."""
    names = [path.name.split(".") for path in directory.glob("*.*.*")]
    return [(name, int(raylet), int(worker)) for name, raylet, worker in names]


def has_ended(process):
    """Whether a process has ended. Nobody may wait for an orphan, which then stays a zombie."""
    try:
        return Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "this never became true"
        time.sleep(0.05)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kills a raylet by its process id")
def test_a_killed_raylet_costs_its_files_only(cluster, program, snapshot, urls, tmp_path):
    lists, held = tmp_path / "lists", tmp_path / "held"
    held.mkdir()
    (held / "hold").touch()
    for part in range(6):
        (lists / f"{part}.txt").parent.mkdir(exist_ok=True)
        (lists / f"{part}.txt").write_bytes(b"".join(url + b"\n" for url in urls[part:]))
    files = find_inputs(lists).files
    out = LocalDirectory(str(tmp_path / "out"), str(tmp_path / "out" / ".robosieve-run"))
    call = Held(Call("annotate", snapshot_source(snapshot, None), AGENTS, {}), held)
    (second,) = cluster.worker_nodes
    (process,) = second.all_processes["raylet"]
    victim = process.process.pid
    job = {}

    def work():
        job["counts"] = run_tasks(RayEngine(None, None, None), call, files, [out])

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    # Each raylet has begun a file, and holds it.
    wait_until(lambda: len({raylet for _, raylet, _ in attempts(held)}) == 2)
    ((lost, worker),) = [(name, worker) for name, raylet, worker in attempts(held) if raylet == victim]
    os.kill(victim, signal.SIGKILL)
    # The worker ends when it misses its raylet, for which a zombie stands in. Until then, it could
    # complete the file.
    process.process.wait()
    wait_until(lambda: has_ended(worker))
    (held / "hold").unlink()
    thread.join(timeout=300)
    cluster.remove_node(second, allow_graceful=False)
    cluster.add_node(num_cpus=1, object_store_memory=STORE)
    tried = [raylet for name, raylet, _ in attempts(held) if name == lost]
    print(f"\nkilled raylet {victim}, which held {lost}.txt; raylets {tried} tried it")
    assert len(tried) == 2 and set(tried) > {victim} and len(attempts(held)) == 7
    assert job["counts"]["files"] == 6 and job["counts"]["lines"] == sum(len(urls[part:]) for part in range(6))
    names = [f"{part}.txt" for part in range(6)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [*names, "_SUCCESS"]
    for name in names:
        printed = run(program, "annotate", "-q", "-s", snapshot, "-a", AGENTS, lists / name)
        assert (tmp_path / "out" / name).read_bytes() == printed


class Failing:
    """A call that fails on one input as often as a file does not count more attempts."""

    def __init__(self, log, fails):
        self.log, self.fails = str(log), fails

    def prepare(self):
        pass

    def __call__(self, source, outputs, threads):
        Path(outputs[0]).write_bytes(b"complete")
        if source.endswith("bad.txt"):
            with open(self.log, "a") as log:
                log.write("x")
            if os.path.getsize(self.log) <= self.fails:
                raise OSError(28, "no space is left", outputs[0])
        return {"lines": 1}


class FailingAfterTheFirst(Held):
    """A call that completes the first input, then fails on the second, and holds the others."""

    def __init__(self, directory, first_output):
        super().__init__(lambda *_: {}, directory)
        self.first_output = first_output

    def prepare(self):
        pass

    def __call__(self, source, outputs, threads):
        if source.endswith("first.txt"):
            Path(outputs[0]).write_bytes(b"complete")
            return {}
        if source.endswith("second.txt"):
            wait_until(self.first_output.exists)
            raise OSError(28, "no space is left", outputs[0])
        return super().__call__(source, outputs, threads)


def inputs_and_output(tmp_path, *names):
    """Inputs, the largest first, and the directory of their outputs."""
    (tmp_path / "in").mkdir()
    for number, name in enumerate(names):
        (tmp_path / "in" / name).write_text("https://e.example/\n" * (len(names) - number))
    out = LocalDirectory(str(tmp_path / "out"), str(tmp_path / "out" / ".robosieve-run"))
    return find_inputs(tmp_path / "in").files, out


def test_failed_tasks_are_tried_again(cluster, tmp_path):
    files, out = inputs_and_output(tmp_path, "bad.txt", "good.txt")
    log = tmp_path / "log"
    counts = run_tasks(RayEngine(None, None, None), Failing(log, 2), files, [out])
    assert counts == {"lines": 2, "files": 2} and log.read_text() == "xxx"
    assert sorted(os.listdir(tmp_path / "out")) == ["_SUCCESS", "bad.txt", "good.txt"]


def test_a_run_that_fails_ends_the_others_and_leaves_complete_files(cluster, tmp_path):
    others = [f"{number:03}.txt" for number in range(300)]
    files, out = inputs_and_output(tmp_path, "first.txt", "second.txt", *others)
    held = tmp_path / "held"
    held.mkdir()
    (held / "hold").touch()
    call = FailingAfterTheFirst(held, tmp_path / "out" / "first.txt")
    with pytest.raises(OSError, match="no space is left") as caught:
        run_tasks(RayEngine(None, None, {"max_retries": 0}), call, files, [out])
    assert isinstance(caught.value, ray.exceptions.RayTaskError)
    assert os.listdir(tmp_path / "out") == ["first.txt"]
    # New tasks show that the CPUs are free again. Each may have begun one of the others, and no more.
    (held / "hold").unlink()
    ray.get([ray.remote(lambda: None).remote() for _ in range(4)])
    assert len(attempts(held)) <= 2 and os.listdir(tmp_path / "out") == ["first.txt"]


def test_ctrl_c_ends_tasks_and_removes_what_they_wrote(snapshot, tmp_path):
    """In a process with a Ray of its own, because the signal goes to the driver."""
    files, out = inputs_and_output(tmp_path, "a.txt", "b.txt", "c.txt")
    held = tmp_path / "held"
    held.mkdir()
    (held / "hold").touch()
    code = (
        "import sys, ray, test_ray as t; from pathlib import Path\n"
        "snapshot, path, held = sys.argv[1:]\n"
        f"ray.init('local', num_cpus=2, object_store_memory={STORE}, include_dashboard=False, log_to_driver=False)\n"
        "ray.cloudpickle.register_pickle_by_value(t)\n"
        "call = t.Held(t.Call('annotate', t.snapshot_source(snapshot, None), 'GPTBot', {}), held)\n"
        "out = t.LocalDirectory(path + '/out', path + '/out/.robosieve-run')\n"
        "t.run_tasks(t.RayEngine(None, None, None), call, t.find_inputs(path + '/in').files, [out])\n"
    )
    paths = [*{str(Path(module.__file__).parent) for module in (sys.modules[__name__], test_spark)}, package_path()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(Path(__file__).parents[1])])}
    command = [sys.executable, "-c", code, snapshot, tmp_path, held]
    driver = subprocess.Popen(list(map(str, command)), env=environment, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(attempts(held)) == 2 or driver.poll() is not None)
    assert driver.poll() is None, driver.communicate()[1]
    driver.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in driver.communicate(timeout=120)[1]
    assert os.listdir(tmp_path / "out") == []
    assert len(attempts(held)) == 2, "a task began after the end"


def test_columns_equal_those_of_one_machine(pages, table, snapshot):
    add, agents = ["origin", "reason", "crawl_delay"], ["FooBot", "GPTBot"]
    columns = ["robots_origin", "robots_reason", "robots_crawl_delay_FooBot", "robots_crawl_delay_GPTBot"]
    (found,) = in_order(pages, "url")
    opened = robosieve.Snapshot(snapshot)
    added = [opened.origins(found), opened.reasons(found)] + [opened.crawl_delays(found, agent) for agent in agents]
    judged = with_verdicts(pages, snapshot, agents, add=add)
    assert judged.schema().names == ["url", "n", "robots_allowed", *columns]
    assert in_order(judged, "robots_allowed", *columns) == [opened.masks(found, agents), *added]
    judged = with_verdicts(pages, opened, agents, form="int8", name="v_")
    assert judged.schema().names == ["url", "n", "v_FooBot", "v_GPTBot"]
    assert in_order(judged, "v_FooBot", "v_GPTBot") == [opened.verdicts(found, agent) for agent in agents]


def test_kept_rows_are_those_that_the_snapshot_allows(pages, snapshot, program, urls, tmp_path):
    (found,) = in_order(pages, "url")
    (tmp_path / "own").write_bytes(most_common_host(urls) + b"\n")
    run(program, "lists", "-q", "-o", tmp_path / "own.rlists", tmp_path / "own")
    opened = robosieve.Snapshot(snapshot)
    sizes = set()
    own = robosieve.Lists(tmp_path / "own.rlists")
    for options in [{}, {"require": "any"}, {"unknown": "allow"}, {"lists": own}]:
        expected = [row for row, kept in enumerate(opened.allowed(found, AGENTS, **options)) if kept]
        kept = filter_allowed(pages, snapshot, AGENTS, node_directory=tmp_path / "node", **options)
        assert in_order(kept, "n") == [expected]
        sizes.add(len(expected))
    assert len(sizes) == 4
    listed = with_verdicts(pages, snapshot, "GPTBot", lists=tmp_path / "own.rlists")
    assert in_order(listed, "robots_listed") == [own.match(found)]


def test_rows_are_judged_by_the_rules_of_their_own_time(cluster, history):
    expected = {"2026-04-30": 0, "2026-05-01T05:59:59Z": 0, "2026-05-01T06:00:00Z": 1, "2026-02": 2, None: 2}
    rows = [{"url": "https://e.test/page", "fetched": time} for time in expected]
    pages = ray.data.from_items(rows)
    judged = with_verdicts(pages, history, "FooBot", as_of_column="fetched", form="int8", add="reason").take_all()
    assert {row["fetched"]: row["robots_FooBot"] for row in judged} == expected
    assert {row["robots_reason"] for row in judged if row["fetched"] is None} == {"unknown-time"}
    kept = filter_allowed(pages, history, "FooBot", as_of_column="fetched", no_time="newest").take_all()
    assert [row["fetched"] for row in kept] == ["2026-05-01T06:00:00Z", None]


def test_nulls_bytes_and_empty_datasets(cluster, snapshot):
    rows = [{"url": None}, {"url": b"https://nowhere.invalid/"}, {"url": b"\xff"}]
    judged = with_verdicts(ray.data.from_items(rows), snapshot, "GPTBot", form="int8").take_all()
    assert [row["robots_GPTBot"] for row in judged] == [None, 2, 3]
    nulls = ray.data.from_arrow(pa.table({"url": pa.nulls(2)}))
    assert filter_allowed(nulls, snapshot, "GPTBot", unknown="allow").count() == 0
    none = filter_allowed(filter_allowed(nulls, snapshot, "GPTBot"), snapshot, "GPTBot")
    assert with_verdicts(none, snapshot, "GPTBot").count() == 0


def report_worker(batch):
    """The process of a batch, and the snapshots that it has opened."""
    from robosieve._cluster.source import _opened

    cached = _opened.cache_info()
    return pa.table({"pid": [os.getpid()], "opened": [cached.misses], "used": [cached.hits]})


def test_a_worker_opens_the_snapshot_once(cluster, snapshot, tmp_path):
    own = tmp_path / "own.rsieve"
    shutil.copy(snapshot, own)
    pages = ray.data.from_items([{"url": f"https://{n}.example/"} for n in range(40)]).repartition(20)
    judged = with_verdicts(pages, own, "GPTBot", add="reason")
    workers = judged.map_batches(report_worker, batch_size=None, batch_format="pyarrow").take_all()
    # Two values per block, and at most one snapshot for each test that ran here before.
    for pid in {row["pid"] for row in workers}:
        of_worker = [row for row in workers if row["pid"] == pid]
        assert len({row["opened"] for row in of_worker}) == 1
    assert len(workers) == 20


@pytest.mark.filterwarnings("ignore:no robots.txt in .* names Bot:UserWarning")
def test_errors_come_before_any_task(pages, snapshot, tmp_path):
    with pytest.raises(ValueError, match="no column 'urll'; the columns are: url, n; name the one of the URLs: url="):
        with_verdicts(pages, snapshot, "GPTBot", url="urll")
    with pytest.raises(ValueError, match="no column 'fetched'"):
        filter_allowed(pages, snapshot, "GPTBot", as_of_column="fetched")
    with pytest.raises(ValueError, match="the dataset has a column 'n' already"):
        with_verdicts(pages, snapshot, "GPTBot", name="n")
    with pytest.raises(ValueError, match="form='bit'; give one of 'bits', 'int8'"):
        with_verdicts(pages, snapshot, "GPTBot", form="bit")
    with pytest.raises(ValueError, match="add='reasn'"):
        with_verdicts(pages, snapshot, "GPTBot", add="reasn")
    with pytest.raises(ValueError, match="at most 63"):
        with_verdicts(pages, snapshot, [f"Bot{number}" for number in range(64)])
    with pytest.raises(ValueError, match="require"):
        filter_allowed(pages, snapshot, "GPTBot", require="both")
    with pytest.raises(TypeError, match="colour"):
        filter_allowed(pages, snapshot, "GPTBot", colour="red")
    with pytest.raises(TypeError, match=r"write robosieve.ray.filter_allowed\(dataset, path, agents\)"):
        robosieve.Snapshot(snapshot).allowed(pages, "GPTBot")
    # Ray does not know the columns of a function's result, so a task raises.
    unknown = pages.map_batches(lambda batch: batch, batch_format="pyarrow")
    with pytest.raises(Exception, match="no column 'urll'; the columns are: url, n"):
        with_verdicts(unknown, snapshot, "GPTBot", url="urll").take_all()

    source, out = SMALL / "pages.parquet", tmp_path / "out"
    with pytest.raises(ValueError, match="@nope"):
        annotate_files(snapshot, source, out, "@nope")
    with pytest.raises((ValueError, robosieve.RobosieveError), match=r'pages.parquet.* no column "urll"'):
        annotate_files(snapshot, source, out, "GPTBot", field="urll")
    with pytest.raises(TypeError, match="colour"):
        filter_files(snapshot, source, out, "GPTBot", colour="red")
    for option in ["tasks", "threads"]:
        with pytest.raises(ValueError, match=f"{option}=0: give at least 1"):
            filter_files(snapshot, source, out, "GPTBot", **{option: 0})
        with pytest.raises(ValueError, match=f"{option}=0: give at least 1"):
            compile_files(SMALL / "robots.warc", out, **{option: 0})
    with pytest.raises(ValueError, match="no output directory"):
        filter_files(snapshot, source, None, "GPTBot")
    with pytest.raises(ValueError, match="node_directory='copies': give an absolute path"):
        filter_files(snapshot, source, out, "GPTBot", node_directory="copies")
    with pytest.raises(robosieve.SnapshotError, match="missing.rsieve"):
        with_verdicts(pages, tmp_path / "missing.rsieve", "GPTBot")
    with pytest.raises(ValueError, match="robosieve.ray.with_verdicts all that Ray reads"):
        filter_files(snapshot, "dbfs:/pages", out, "GPTBot")
    assert not out.exists()


def test_the_driver_warns_of_misspelled_agents_once(pages, table, snapshot, tmp_path):
    calls = [
        lambda opened, **options: with_verdicts(pages, opened, "GPTBot,Googelbot", **options),
        lambda opened, **options: filter_allowed(pages, opened, "GPTBot,Googelbot", **options),
        lambda opened, **options: annotate_files(opened, table, tmp_path / "out", "Googelbot", **options),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="names Googelbot; did you mean Googlebot. .strict_agents=True."):
            call(snapshot, strict_agents=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(robosieve.Snapshot(snapshot))
        found = [warning for warning in caught if "did you mean Googlebot?" in str(warning.message)]
        assert [warning.filename for warning in found] == [__file__]


def test_files_that_ray_writes_are_judged(pages, snapshot, tmp_path):
    """Ray Data names files after the write and the block: `3_000001_000000.parquet`, and no marker."""
    for lang in ["de", "en"]:
        pages.limit(50).write_parquet(str(tmp_path / "pages" / f"lang={lang}"))
    pages.limit(100).write_json(str(tmp_path / "lists"))
    names = [file.name for file in find_inputs(tmp_path / "pages").files]
    assert {os.path.dirname(name) for name in names} == {"lang=de", "lang=en"}
    assert annotate_files(snapshot, tmp_path / "pages", tmp_path / "annotated", "GPTBot")["lines"] == 100
    assert [file.name for file in find_inputs(tmp_path / "annotated").files] == names
    read = ray.data.read_parquet(str(tmp_path / "annotated"))
    assert {"url", "n", "robots_allowed", "lang"} <= set(read.schema().names) and read.count() == 100
    counts = filter_files(snapshot, tmp_path / "lists", tmp_path / "kept", "GPTBot", unknown="allow")
    assert counts["lines"] == 100 and ray.data.read_json(str(tmp_path / "kept")).count() == counts["allowed"]


def test_tasks_refuse_another_snapshot(pages, snapshot, program, tmp_path):
    path = tmp_path / "web.rsieve"
    shutil.copy(snapshot, path)
    judged = with_verdicts(pages, path, "GPTBot")
    run(program, "compile", "-q", "-o", tmp_path / "other.rsieve", SMALL / "more.jsonl")
    os.replace(tmp_path / "other.rsieve", path)
    with pytest.raises(Exception, match="another snapshot .* than the driver's"):
        judged.take_all()


def test_missing_ray_is_an_import_error(tmp_path):
    code = "import sys; sys.modules['ray'] = None; import robosieve.ray as r; r.annotate_files('x', 'y', 'z', 'GPTBot')"
    environment = {**os.environ, "PYTHONPATH": package_path()}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert 'ImportError: robosieve.ray needs Ray, which is missing: pip install "ray[data]>=2.9"' in done.stderr


class WithoutWarnings(doctest.OutputChecker):
    """Compares outputs without the lines that Ray prints about its workers, on a slow machine."""

    def check_output(self, want, got, optionflags):
        lines = [line for line in got.splitlines(keepends=True) if "(raylet)" not in line]
        return super().check_output(want, "".join(lines), optionflags)


def test_documentation_shows_what_runs(cluster, program, tmp_path):
    source = (ROOT / "docs/RAY.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(>>> .*?)^```", source, re.DOTALL | re.MULTILINE)
    for directory in ["pages", "lists", "robotstxt"]:
        (tmp_path / "mnt" / directory).mkdir(parents=True)
    run(program, "compile", "-q", "-o", tmp_path / "mnt/web.rsieve", SMALL / "robots.warc", SMALL / "more.jsonl")
    shutil.copy(SMALL / "pages.parquet", tmp_path / "mnt/pages/part-0.parquet")
    shutil.copy(SMALL / "urls.txt", tmp_path / "mnt/lists/urls.txt")
    for archive in ["robots.warc", "more.jsonl"]:
        shutil.copy(SMALL / archive, tmp_path / "mnt/robotstxt")
    text = "\n".join(blocks).replace("/mnt/", f"{tmp_path}/mnt/")
    test = doctest.DocTestParser().get_doctest(text, {}, "RAY", "RAY", 0)
    assert len(test.examples) > 12
    report = []
    runner = doctest.DocTestRunner(WithoutWarnings(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
