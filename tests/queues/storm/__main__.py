"""Run a storm and say, as JSON, what was seen; exit code 1 when a promise was broken."""

import argparse
import json
import random
import sys
import time

from tests.queues.storm.stage import Stage

LIMITS = {"wide": 2, "narrow": 1}
MANY = {"wide": 20, "narrow": 1}  # for workers that run many jobs at once
SLEEPS = [0, 0, 0.02, 0.1, 0.5]
SHORT = [0, 0, 0.001]
CALM_SECONDS = 180


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--redis-down", type=float, default=60, help="seconds of one long outage")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--kills", action="store_true", help="no other faults, and many short jobs")
    parser.add_argument("--concurrency", type=int, default=1, help="children of each worker")
    parser.add_argument(
        "--shared", action="store_true", help="many jobs in one process: async or in threads"
    )
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    with Stage(given.database, concurrency=given.concurrency) as stage:
        story = play(stage, given)
    print(json.dumps(story, indent=1))
    sys.exit(bool(story["broken"]))


def play(stage, given):
    import queues
    from tests.queues.storm.executions import Executions
    from tests.queues.storm.faults import Faults
    from tests.queues.storm.verdict import broken_promises, told
    from tests.queues.storm.watch import Watch

    limits = MANY if given.shared or given.concurrency > 1 else LIMITS
    handles = [queues.create(name, limit) for name, limit in limits.items()]
    watch = Watch(limits)
    faults = Faults(stage, given.seed, only_kills=given.kills)
    at_once = sum(limits.values()) if given.shared else given.concurrency
    executions = Executions(f"{stage.folder}/trace", at_once)
    watch.start()
    begun = time.monotonic()
    pushed = rage(faults, handles, given, executions.path)
    raged = time.monotonic() - begun
    calm(faults)
    watch.finish()
    return {
        "seed": given.seed,
        "database": given.database,
        "faults": sum(faults.counts.values()),
        "of each kind": faults.counts,
        "seconds": round(raged),
        "seconds until calm": round(time.monotonic() - begun - raged),
        "samples": watch.samples,
        **told(),
        **executions.told(faults),
        "acknowledged": len(pushed),
        "broken": broken_promises(pushed) + watch.exceeded + executions.broken(faults),
    }


def rage(faults, handles, given, trace):
    """That many faults, evenly over the time, while jobs are pushed."""
    pushed = []
    begun = time.monotonic()
    outage = given.faults // 3
    for number in range(given.faults):
        pushed += push(faults.random, faults.random.choice(handles), trace, given)
        if number == outage and not given.kills:
            faults.mend_all()
            faults.take_redis_away(given.redis_down)
        faults.strike()
        faults.mend()
        while time.monotonic() < begun + (number + 1) * given.seconds / given.faults:
            faults.mend()
            time.sleep(0.05)
    return pushed


def push(chance, queue, trace, given):
    """Only what was acknowledged counts; the database may be away at this moment."""
    from django.db import Error, connections

    from atributo_site.core.errors import DatabaseBusy

    sleeps = [chance.choice(SLEEPS) for _ in range(6)]
    sleeps += [chance.choice(SHORT) for _ in range(600 if given.kills and not given.shared else 30)]
    data = [{"sleep": sleep, "trace": trace} for sleep in sleeps]
    name = chance.choice(["trace_many", "trace_threads"]) if given.shared else "trace"
    script = {"mount": "/probe", "name": name}
    try:
        ids = queue.push_many(script, data, max_failures=-1, back_off=0)
    except (Error, DatabaseBusy):
        connections.close_all()
        return []
    return [int(job_id) for job_id in ids]


def calm(faults):
    """No more faults: every process is there until nothing is left to do."""
    from django.db import connections

    from queues.models import QueuedJob

    faults.mend_all()
    connections.close_all()  # the server may have been restarted since
    give_up = time.monotonic() + CALM_SECONDS
    while QueuedJob.objects.unfinished().exists() and time.monotonic() < give_up:
        faults.mend()
        time.sleep(0.2)


if __name__ == "__main__":
    main()
