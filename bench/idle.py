"""Measure what an installation costs while nothing happens, and how soon a command answers.

    python -m bench.idle                `up` on SQLite with one worker and its own Valkey
    BENCH_SECONDS=20                    a quick look

The exit code is 1 when a bar is missed. Processor time is that of all processes together; memory is
the sum of what each has resident, so what they share counts several times. Modules are compiled
at their first use and kept, as those of an installed package are, whatever the environment says.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from atributo_site.config.places import BASE_DIR
from tests.servers.site import Site

SECONDS = int(os.environ.get("BENCH_SECONDS", "60"))
SETTLED_SECONDS = 15  # after the last sign of life the curator slows down
MOST_PERCENT, MOST_MEGABYTES, MOST_COMMAND_SECONDS = 1.0, 320.0, 0.4
COMMANDS = [["instances", "--help"], ["queue", "--help"], ["instances", "list"], ["help", "push"]]
OURS = ("ATRIBUTO_WORKER_LEASE_MS", "ATRIBUTO_WORKER_HEARTBEAT_MS")  # of the tests


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="atributo-idle-") as folder:
        site = Site(Path(folder), ATRIBUTO_DEMO="no", PYTHONDONTWRITEBYTECODE="")
        site.environ = {key: value for key, value in site.environ.items() if key not in OURS}
        site.start()
        try:
            time.sleep(SETTLED_SECONDS)
            missed = [*idle(site), *commands(site.environ)]
        finally:
            site.stop()
    for bar in missed:
        print(f"missed: {bar}")
    return 1 if missed else 0


def idle(site: Site) -> list[str]:
    top = psutil.Process(site.process.pid)
    family = [top, *top.children(recursive=True)]
    before = {each.pid: spent(each) for each in family}
    time.sleep(SECONDS)
    percent = megabytes = 0.0
    for each in family:
        cpu = (spent(each) - before[each.pid]) / SECONDS * 100
        resident = each.memory_info().rss / 1e6
        percent, megabytes = percent + cpu, megabytes + resident
        words = " ".join(each.cmdline())[-40:] or each.name()
        print(f"  {words:42}{cpu:6.2f} % of a core {resident:7.1f} MB", flush=True)
    print(f"  {'all':42}{percent:6.2f} % of a core {megabytes:7.1f} MB", flush=True)
    bars = {
        f"{percent:.2f} % of a core, at most {MOST_PERCENT}": percent <= MOST_PERCENT,
        f"{megabytes:.0f} MB, at most {MOST_MEGABYTES:.0f}": megabytes <= MOST_MEGABYTES,
    }
    return [bar for bar, is_held in bars.items() if not is_held]


def spent(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def commands(environ: dict[str, str]) -> list[str]:
    """Measure processor time, the best of five: others may use the machine, too."""
    missed = []
    for words in COMMANDS:
        best = min(seconds_of(words, environ) for _ in range(5))
        print(f"  manage.py {' '.join(words):32}{best:6.2f} s", flush=True)
        if best > MOST_COMMAND_SECONDS:
            missed.append(f"{' '.join(words)}: {best:.2f} s, at most {MOST_COMMAND_SECONDS}")
    return missed


def seconds_of(words: list[str], environ: dict[str, str]) -> float:
    before = os.times()
    command = [sys.executable, str(BASE_DIR / "manage.py"), *words]
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


if __name__ == "__main__":
    sys.exit(main())
