"""Measure how long a writer waits for SQLite while 25 processes write without a pause.

    python -m bench.writers         fails when the 99th percentile is over LONGEST_WAIT_SECONDS
    BENCH_SECONDS=20                a longer look

Each process allocates job ids and now and then changes several rows in one transaction. The same
is measured beside it with Django's own backend and SQLite's way of waiting, as a comparison.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROCESSES = 25
SECONDS = float(os.environ.get("BENCH_SECONDS", "6"))
LONGEST_WAIT_SECONDS = 2.0


def main() -> int:
    print(f"SQLite, {PROCESSES} processes that write for {SECONDS:.0f} s")
    tell("SQLite's own way of waiting", measure("plain"))
    return tell("in line", measure("ours"))


def tell(name: str, found: list[dict]) -> int:
    waits = sorted(wait for each in found for wait in each["waits"])
    least, most = min(each["done"] for each in found), max(each["done"] for each in found)
    p99 = waits[int(len(waits) * 0.99)]
    print(
        f"  {name:28} {len(waits) / SECONDS:7,.0f} writes/s   p50 {waits[len(waits) // 2]:6.3f} s"
        f"   p99 {p99:6.3f} s   slowest {waits[-1]:6.3f} s   per process {least} to {most}"
        f"   refused {sum(each['refused'] for each in found)}",
        flush=True,
    )
    return int(p99 > LONGEST_WAIT_SECONDS)


def measure(way: str) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        settings = environment(folder)
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, cwd=ROOT, env=settings, check=True)
        command = [sys.executable, "-m", "bench.parts.writer", way, str(SECONDS)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        writers = [
            subprocess.Popen([*command, str(n)], cwd=ROOT, env=settings, **pipes)
            for n in range(PROCESSES)
        ]
        for writer in writers:
            writer.stdout.readline()
        began = str(time.time() + 0.2)
        for writer in writers:
            writer.stdin.write(f"{began}\n")
            writer.stdin.flush()
        return [json.loads(writer.communicate()[0]) for writer in writers]


def environment(folder: str) -> dict[str, str]:
    return {
        **os.environ,
        "ATRIBUTO_ENV": "test",
        "ATRIBUTO_VAR_DIR": folder,
        "ATRIBUTO_LOG_LEVEL": "ERROR",
        "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
        "REDIS_URL": "unix:///nowhere",
    }


if __name__ == "__main__":
    sys.exit(main())
