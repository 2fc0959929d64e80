"""From files to files: each task of Ray calls the wheel on whole files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._cluster.compilation import compile_with
from .._cluster.jobs import Call, FileResult, TaskFile, check_counts, run_call
from .._cluster.source import snapshot_source
from .._options import Agents, Path
from .._snapshot import Snapshot

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._cluster.options import AnnotateOptions, CompileOptions, FilterOptions

#: The fewest tasks that are submitted at once, so that a cluster that grows sees the demand.
_FEWEST_SUBMITTED = 100


def annotate_files(
    snapshot: Snapshot | Path,
    paths: Path | Sequence[Path],
    out: Path,
    agents: Agents,
    *,
    node_directory: Path | None = None,
    tasks: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    ray_remote_args: Mapping[str, Any] | None = None,
    **options: Unpack[AnnotateOptions],
) -> dict[str, Any]:
    """Write each input file with its verdicts to a file of the same name in a directory.

    Args:
        snapshot: A snapshot, or its path, which must exist on every node.
        node_directory: A directory on a local disk of every node. The first task of a node copies
            the snapshot there with :func:`robosieve.node_copy`, and all tasks read the copy.
        paths, out, agents, overwrite, options: As for :func:`robosieve.spark.annotate_files`.
        tasks: The number of tasks. The default is one per file, so a lost node costs little, and at
            most 10,000.
        threads: The threads of a task, and the CPUs that Ray reserves for it. The default is 1.
        ray_remote_args: Options of ``ray.remote`` for the tasks, such as ``{"max_retries": 5}``,
            ``"memory"``, ``"resources"`` and ``"runtime_env"``.

    Returns, Raises: As :func:`robosieve.spark.annotate_files`, for Ray in place of PySpark.

    Ray is initialised if it is not. An output appears when it is complete. When all inputs are done,
    the empty file ``_SUCCESS`` appears in ``out``. Errors that may be those of a node, such as a full
    disk, and lost nodes fail the task. Ray runs it again (``max_retries``, 3 times by default); then
    this raises the error of the task, and cancels the others.
    """
    require_ray()
    call = Call("annotate", snapshot_source(snapshot, node_directory), agents, options)
    return run_call(RayEngine(tasks, threads, ray_remote_args), call, paths, [out], overwrite)


def filter_files(
    snapshot: Snapshot | Path,
    paths: Path | Sequence[Path],
    out: Path | None,
    agents: Agents,
    *,
    disallowed_to: Path | None = None,
    unknown_to: Path | None = None,
    invalid_to: Path | None = None,
    listed_to: Path | None = None,
    node_directory: Path | None = None,
    tasks: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    ray_remote_args: Mapping[str, Any] | None = None,
    **options: Unpack[FilterOptions],
) -> dict[str, Any]:
    """Write the records of each input file to files of the same name, by their verdicts.

    The directories and ``options`` are those of :func:`robosieve.spark.filter_files`, and the other
    arguments, the counts and the errors those of :func:`annotate_files`. Each directory gets a ``_SUCCESS``.
    """
    require_ray()
    call = Call("filter", snapshot_source(snapshot, node_directory), agents, options)
    outputs = [out, disallowed_to, unknown_to, invalid_to, listed_to]
    return run_call(RayEngine(tasks, threads, ray_remote_args), call, paths, outputs, overwrite)


def compile_files(
    paths: Path | Sequence[Path],
    out: Path,
    *,
    tasks: int | None = None,
    threads: int | None = None,
    ray_remote_args: Mapping[str, Any] | None = None,
    **options: Unpack[CompileOptions],
) -> dict[str, Any]:
    """Compile archives and tables of captures into a snapshot, as ``robosieve compile`` does.

    ``tasks``, ``threads`` and ``ray_remote_args`` are those of :func:`annotate_files`. The other arguments,
    the report and the errors are those of :func:`robosieve.spark.compile_files`.
    """
    require_ray()
    return compile_with(RayEngine(tasks, threads, ray_remote_args), paths, out, **options)


def require_ray() -> None:
    """Checks that Ray is installed.

    Raises:
        ImportError: It is not. The message names the package to install.
    """
    try:
        import ray  # noqa: F401
    except ImportError as err:
        raise ImportError('robosieve.ray needs Ray, which is missing: pip install "ray[data]>=2.9"') from err


@dataclass(frozen=True)
class RayEngine:
    """Runs tasks on a cluster of Ray."""

    tasks: int | None
    threads: int | None
    ray_remote_args: Mapping[str, Any] | None

    def __post_init__(self) -> None:
        check_counts(tasks=self.tasks, threads=self.threads)

    def run(self, tasks: list[list[TaskFile]], process: Callable[[TaskFile, int], FileResult]) -> Sequence[FileResult]:
        import ray

        if not ray.is_initialized():
            ray.init()
        threads = self.threads or 1
        # By default, Ray repeats the tasks of lost nodes, and not those that raise.
        options = {"name": "robosieve", "num_cpus": threads, "retry_exceptions": True}
        run_task = ray.remote(_run_task).options(**options | dict(self.ray_remote_args or {}))
        waiting = iter(tasks)
        running: list[Any] = []
        results: list[FileResult] = []
        try:
            while True:
                # As many as keep all nodes busy: the driver's memory holds each submitted task.
                cluster: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
                most = max(_FEWEST_SUBMITTED, 2 * int(cluster.get("CPU", 0)) // threads)
                for files in itertools.islice(waiting, max(0, most - len(running))):
                    running.append(run_task.remote(process, files, threads))
                if not running:
                    return results
                done, running = ray.wait(running)
                for result in ray.get(done):
                    results += result
        finally:
            # After an error or Ctrl-C. A task that runs nevertheless has no directory to publish from.
            # Without a cluster, `cancel` would start one.
            for task in running if ray.is_initialized() else []:
                ray.cancel(task)


def _run_task(process: Callable[[TaskFile, int], FileResult], files: list[TaskFile], threads: int) -> list[FileResult]:
    return [process(file, threads) for file in files]
