"""Measure limits, turns of flow keys, batches, and the dispatch of schedules.

    python -m bench.flow                     all parts, on PostgreSQL
    python -m bench.flow sqlite throughput   one part on the other database
    BENCH_WAITING=200000 BENCH_JOBS=2000     a quick look

The parts are throughput, reservations, lateness, many and batches. The exit code is 1 when a bar
is missed: a limit per key with turns keeps 80 % of the throughput without; a reservation costs no
more beside 1,000,000 waiting jobs of 100,000 keys; a schedule is dispatched 1 s late at most (p99)
while the machine is idle and 10 s after a kill; 10,000 schedules of one minute take 10 s, and
nothing before; a batch of 100,000 jobs calls back once, and so does each of 500 batches of two.
"""

import subprocess
import sys

from bench.parts_of_flow import batching, dispatching, limiting
from tests.queues.storm.stage import Stage

PARTS = {
    "throughput": limiting.throughput,
    "reservations": limiting.reservations,
    "lateness": dispatching.lateness,
    "many": dispatching.many,
    "batches": batching.batches,
}


def main(words: list[str]) -> int:
    database = "sqlite" if "sqlite" in words else "postgresql"
    wanted = [name for name in PARTS if name in words] or list(PARTS)
    if len(wanted) == 1:
        return measured(wanted[0], database)
    command = [sys.executable, "-m", "bench.flow", database]
    return max(subprocess.run([*command, name]).returncode for name in wanted)


def measured(part: str, database: str) -> int:
    with Stage(database, settings={}) as stage:
        print(f"{part}, {database}", flush=True)
        return int(PARTS[part](stage) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
