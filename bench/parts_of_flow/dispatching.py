"""How late schedules are dispatched: idle, after a kill, and 10,000 of them in one minute."""

import os
import time
from datetime import timedelta
from typing import Any

from bench.parts_of_flow import told
from tests.servers.waiting import wait_until

SECONDS = int(os.environ.get("BENCH_SECONDS", "60"))
SCHEDULES = int(os.environ.get("BENCH_SCHEDULES", "10000"))
SCRIPT = {"mount": "/probe", "name": "act"}


def lateness(stage: Any) -> int:
    """Dispatch ten schedules every second; then kill the active curator while another waits."""
    from queues import schedules
    from queues.models import ScheduledRun

    for number in range(10):
        given = {"rule": {"every": 1000}, "overlap": "beside", "script": SCRIPT}
        schedules.create(f"s{number}", **given)
    active = stage.curator()
    wait_until(lambda: ScheduledRun.objects.exists(), 60)
    time.sleep(3)  # what it begins with is no idle machine
    seen = ScheduledRun.objects.latest("pk").pk
    time.sleep(SECONDS)
    idle = _late(ScheduledRun.objects.filter(pk__gt=seen))
    p99 = idle[int(len(idle) * 0.99)]
    stage.curator()
    time.sleep(5)
    seen = ScheduledRun.objects.latest("pk").pk
    active.kill()
    wait_until(lambda: ScheduledRun.objects.filter(pk__gt=seen).count() > 150, 60)
    killed = _late(ScheduledRun.objects.filter(pk__gt=seen))[-1]
    figure = f"p99 {p99:.2f} s of {len(idle)}"
    return told("late while idle", figure, p99 <= 1, "1 s") + told(
        "late after a kill", f"max {killed:.1f} s", killed <= 10, "10 s"
    )


def _late(runs: Any) -> list[float]:
    rows = runs.exclude(dispatched_at=None).values_list("slot_at", "dispatched_at")
    return sorted((dispatched - slot).total_seconds() for slot, dispatched in rows)


def many(stage: Any) -> int:
    """Dispatch very many schedules that are due in the same moment; ask before that moment."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from atributo_site.core.leases import HeldLease
    from atributo_site.core.models.clock import database_now
    from queues import schedules
    from queues.models import QueuedJob, Schedule, ScheduledRun
    from queues.schedules.dispatch import dispatch, seconds_to_next

    now = database_now()
    schedules.create("first", script=SCRIPT, rule={"cron": "0 4 * * *"})
    first = Schedule.objects.get(name="first")
    columns = {each.attname: getattr(first, each.attname) for each in Schedule._meta.fields}
    del columns["id"], columns["name"]
    rows = [Schedule(name=f"s{number}", **columns) for number in range(1, SCHEDULES)]
    Schedule.objects.bulk_create(rows, 500)
    seconds_to_next()  # prepares the statement
    with CaptureQueriesContext(connection) as made:
        assert seconds_to_next() > 0
    lease = HeldLease.take("curator", "bench", 3600)
    assert lease is not None
    Schedule.objects.update(next_at=now - timedelta(seconds=1))
    begun = time.perf_counter()
    while Schedule.objects.due().exists():
        dispatch(now, lease)
    seconds = time.perf_counter() - begun
    assert ScheduledRun.objects.count() == QueuedJob.objects.count() == SCHEDULES
    return told(f"{SCHEDULES:,} due together", f"{seconds:.1f} s", seconds <= 10, "10 s") + told(
        "statements while none is due", str(len(made)), len(made) == 1, "1"
    )
