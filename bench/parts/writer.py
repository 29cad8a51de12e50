"""One of the processes of bench.writers: it writes until its time is over and prints its waits.

python -m bench.parts.writer ours|plain SECONDS NAME
"""

import json
import os
import sys
import time

import django


def main(way: str, seconds: float, name: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    django.setup()
    from django.db import connections

    if way == "plain":
        entry = connections.settings["default"]
        entry["ENGINE"] = "django.db.backends.sqlite3"
        entry["OPTIONS"] = {**entry["OPTIONS"], "timeout": 20}
        connections["default"] = connections.create_connection("default")
    print("ready", flush=True)
    began = float(sys.stdin.readline())
    time.sleep(max(0.0, began - time.time()))
    print(json.dumps(written(name, time.monotonic() + seconds)))


def written(name: str, end: float) -> dict:
    from allocation.atributo import Atributo
    from atributo_site.core.errors import DatabaseBusy

    ao = Atributo()
    waits: list[float] = []
    refused = 0
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            write(ao, f"{name}-{len(waits)}", several=len(waits) % 10 == 0)
        except DatabaseBusy:
            refused += 1
        waits.append(time.perf_counter() - began)
    return {"waits": waits, "refused": refused, "done": len(waits) - refused}


def write(ao, job_id: str, *, several: bool) -> None:
    from django.db.transaction import atomic

    from allocation.errors import NoInstances
    from atributo_site.core.events import record
    from atributo_site.core.retry import retry_busy

    def together() -> None:
        with atomic():
            for number in range(20):
                record("bench.writer", f"bench:{job_id}", number=number)

    if several:
        return retry_busy(together)
    try:
        ao.allocate(job_id)
    except NoInstances:
        ao.available("instance1")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
