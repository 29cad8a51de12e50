"""Measure queues beside their peers: no-op jobs drained, pushed one by one and in bulk.

Every contestant runs in an environment of its own below var/bench, with its newest version,
which is printed. Rounds are interleaved and every figure is a median. Ours keeps every job,
attempt and result in the database; of the peers only those on PostgreSQL do.

    python -m bench.queues                    everything, in about four minutes
    python -m bench.queues ours Dramatiq      those whose name contains a word
    BENCH_ROUNDS=1 BENCH_JOBS=1000            a quick look

The slow ones get fewer jobs and one round, since their last percent does not matter. The exit code
is 1 when one of ours misses a bar, which holds for a quiet machine.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from bench.parts_of_queues.contestants import ROOT, ROUNDS, Contestant, contestants
from tests.servers.postgres.server import PostgresCluster
from tests.servers.valkey import ValkeyServer

JOBS = int(os.environ.get("BENCH_JOBS", "4000"))
SINGLE = int(os.environ.get("BENCH_SINGLE", "3000"))
IDLE = 100
WARM = 3  # pushes that open connections
LONGEST_SECONDS = 120
STARTS = {"p50": 3.0, "p99": 8.0}  # milliseconds from push to start, at most
AT_MOST = {"ours, PostgreSQL": STARTS, "ours, SQLite": STARTS}
AT_LEAST = {
    "ours, PostgreSQL": {"single": 2500.0},
    "ours, SQLite": {"single": 5000.0},
    "ours, one job per claim": {"drain": 1000.0},
}


def main() -> int:
    with tempfile.TemporaryDirectory() as name, ValkeyServer() as valkey, PostgresCluster() as pg:
        there = contestants(valkey.url, lambda database: _database(pg, database), Path(name))
        wanted = sys.argv[1:]
        chosen = [c for c in there if not wanted or any(w in c.name for w in wanted)]
        ready = [each for each in chosen if _ready(each)]
        for number in range(ROUNDS):
            print(f"round {number + 1} of {ROUNDS}", flush=True)
            for each in (each for each in ready if number < each.rounds):
                _measure(each, Path(name), number)
        django_rq = _django_rq(there[0]) if there[0] in ready else None
        _print(ready, django_rq)
        return 0 if _all_bars_met(ready) else 1


def _database(cluster: PostgresCluster, name: str) -> str:
    import psycopg

    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return cluster.url(name)


def _ready(each: Contestant) -> bool:
    try:
        each.python_path = each.python()
        if each.schema:
            each.call("schema", "0")
        print(f"{each.name:32}{each.versions()}", flush=True)
    except (subprocess.CalledProcessError, RuntimeError) as error:
        print(f"{each.name} cannot run here: {error}")
        return False
    return True


def _measure(each: Contestant, folder: Path, number: int) -> None:
    try:
        _drain(each, folder / f"marks-{each.name.replace(' ', '-')}-{number}")
    except (RuntimeError, TimeoutError) as error:
        print(f"{each.name}: {str(error)[-300:]}", flush=True)
    told = [f"{what} {values[-1]:,.2f}" for what, values in each.figures.items()]
    print(f"  {each.name:32}{'  '.join(told)}", flush=True)


def _drain(each: Contestant, marks: Path) -> None:
    jobs = int(JOBS * each.share)
    single = int(SINGLE * max(0.3, each.share))
    seconds, cpu = map(float, each.call("single", str(single)).split())
    each.note("single", single / seconds)
    each.note("push_cpu", cpu / single * 1e6)
    many, _ = each.call("many", str(jobs)).split()
    each.note("many", jobs / float(many))
    each.call("fill", str(jobs), str(marks))
    worker = each.start()
    try:
        _wait_for_marks(marks, 1)
        before = _cpu(worker)
        _wait_for_marks(marks, 2)
        begun, ended = (float(line) for line in marks.read_text().split())
        each.note("drain", jobs / (ended - begun))
        each.note("cpu", (_cpu(worker) - before) / jobs * 1000)
        each.note("memory", _memory(worker))
        _idle(each, marks.with_suffix(".idle"))
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def _idle(each: Contestant, marks: Path) -> None:
    """Measure from push to start while the worker has nothing else to do."""
    pushed = [float(line) for line in each.call("slowly", str(IDLE), str(marks), str(WARM)).split()]
    _wait_for_marks(marks, WARM + IDLE)
    started = sorted(float(line) for line in marks.read_text().split())[WARM:]
    waits = sorted((b - a) * 1000 for a, b in zip(pushed, started, strict=True))
    each.note("p50", waits[len(waits) // 2])
    each.note("p99", waits[len(waits) * 99 // 100 - 1])


def _django_rq(ours: Contestant) -> float:
    """Return the megabytes of django-rq's own idle worker in this project."""
    words = [ours.python_path, "manage.py", "rqworker", "default"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    worker = subprocess.Popen(words, cwd=ROOT, env=ours._env(), start_new_session=True, **quiet)
    try:
        time.sleep(5.0)
        return _memory(worker)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def _wait_for_marks(path: Path, count: int) -> None:
    give_up = time.monotonic() + LONGEST_SECONDS
    while not path.exists() or len(path.read_text().splitlines()) < count:
        if time.monotonic() > give_up:
            raise TimeoutError("it did not finish")
        time.sleep(0.05)


def _family(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    parent = psutil.Process(worker.pid)
    return [parent, *parent.children(recursive=True)]


def _cpu(worker: subprocess.Popen[bytes]) -> float:
    times = [process.cpu_times() for process in _family(worker)]
    return sum(t.user + t.system + t.children_user + t.children_system for t in times)


def _memory(worker: subprocess.Popen[bytes]) -> float:
    """Return the megabytes of processes; shared memory counts once."""
    return sum(process.memory_full_info().pss for process in _family(worker)) / 2**20


COLUMNS = {
    "drain": "drained/s",
    "single": "pushed/s",
    "push_cpu": "CPU µs/push",
    "many": "bulk/s",
    "p50": "start p50 ms",
    "p99": "p99 ms",
    "cpu": "CPU s/1000",
    "memory": "MB",
}


def _print(ready: list[Contestant], django_rq: float | None) -> None:
    print(f"\n{JOBS} no-op jobs, one worker process, median of {ROUNDS}")
    print(f"{'':32}" + "".join(f"{title:>14}" for title in COLUMNS.values()))
    for each in ready:
        cells = [each.median(what) for what in COLUMNS]
        words = ["–" if cell is None else f"{cell:,.2f}" for cell in cells]
        print(f"{each.name:32}" + "".join(f"{word:>14}" for word in words))
    if django_rq is not None:
        print(f"\ndjango-rq's worker in the same project: {django_rq:,.0f} MB")
    _ratios(ready)


def _all_bars_met(ready: list[Contestant]) -> bool:
    load = os.getloadavg()[0]
    print(f"\nbars, with {os.cpu_count()} cores and a load of {load:.1f}")
    met = [_is_met(each, what, bar, 1) for each, what, bar in _bars(ready, AT_LEAST)]
    met += [_is_met(each, what, bar, -1) for each, what, bar in _bars(ready, AT_MOST)]
    return all(met)


def _bars(
    ready: list[Contestant], bars: dict[str, dict[str, float]]
) -> list[tuple[Contestant, str, float]]:
    return [(each, *bar) for each in ready for bar in bars.get(each.name, {}).items()]


def _is_met(each: Contestant, what: str, bar: float, sign: int) -> bool:
    """Compare a median; what could not be measured misses its bar."""
    value = each.median(what)
    is_met = value is not None and sign * value >= sign * bar
    told = "–" if value is None else f"{value:,.2f}"
    limit = f"at {'least' if sign > 0 else 'most'} {bar:,.0f}"
    verdict = "met" if is_met else "MISSED"
    print(f"{each.name:32}{COLUMNS[what]:>14}{told:>12}   bar {limit}: {verdict}")
    return is_met


def _ratios(ready: list[Contestant]) -> None:
    ours = next((each for each in ready if each.name == "ours, PostgreSQL"), None)
    if ours is None:
        return
    print("\nours on PostgreSQL beside each peer, times as fast")
    for each in ready:
        if each.name.startswith("ours"):
            continue
        found = []
        for what in ("drain", "single", "many"):
            mine, theirs = ours.median(what), each.median(what)
            found.append("–" if not mine or not theirs else f"{what} {mine / theirs:.1f} ×")
        print(f"{each.name:32}{'   '.join(found)}")


if __name__ == "__main__":
    sys.exit(main())
