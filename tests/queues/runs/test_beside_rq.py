"""Whoever uses django-rq in the same project and Redis is left alone."""

import django_rq
from rq import Queue
from rq.worker import Worker as StockWorker

from queues.runs.doorbell import ASIDE, CHANNEL
from tests.queues.runs.foreign import add


def test_a_stock_worker_runs_others_jobs_beside_ours(
    queue, act, worker, spawn, redis_connection, wait_until
):
    worker()
    theirs = django_rq.enqueue(add, 40, 2)
    ours = queue.get(queue.push(act, [6, 7]))
    wait_until(lambda: ours.status == "complete")
    assert redis_connection.lrange("rq:queue:default", 0, -1) == [theirs.id.encode()]
    spawn("rqworker", "default")
    wait_until(lambda: theirs.is_finished)
    assert theirs.return_value() == 42
    again = queue.get(queue.push(act, [6, 7]))
    wait_until(lambda: again.status == "complete")


def test_what_others_put_among_the_bells_is_kept_aside(worker, redis_connection, wait_until):
    theirs = Queue(CHANNEL, connection=redis_connection).enqueue(add, 40, 2)
    before = redis_connection.hgetall(theirs.key)
    worker()
    kept = f"rq:queue:{ASIDE}"
    wait_until(lambda: redis_connection.lrange(kept, 0, -1) == [theirs.id.encode()])
    assert redis_connection.hgetall(theirs.key) == before
    assert not redis_connection.exists(f"rq:queue:{CHANNEL}")


def test_a_worker_is_listed_under_a_name_that_no_other_has(worker, redis_connection, wait_until):
    worker("mail")
    wait_until(lambda: redis_connection.smembers("rq:workers") == {b"rq:worker:atributo-mail"})
    assert not StockWorker.all(queue=django_rq.get_queue("default"))
