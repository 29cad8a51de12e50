"""How far ids run before the clock, who waits for that, and for whom nobody waits."""

import os
import signal
import threading

import pytest
from django.db import connections

from allocation.errors import TooManyJobIds
from allocation.job_ids import ids
from allocation.job_ids.ids import Generator
from allocation.logic.job_ids import parse
from allocation.models import IdNumber
from atributo_site.core.errors import DatabaseBusy
from tests.allocation.job_ids.id_hands import HOUR, Hands, generator, is_growing, lead_seconds, lose
from tests.servers import patient_http

pytestmark = pytest.mark.django_db(transaction=True)
MOST_AHEAD = 1001  # seconds: the longest batch and the lead of single ids


def test_a_process_that_lost_its_number_goes_on_where_its_batches_ended():
    hands = Hands()
    made = generator(hands)
    ids = [job_id for _ in range(12) for job_id in made.get_job_ids(10_000)]
    first = made.number
    hands.sleep(45)
    lose(made)
    begun = hands.steady
    ids += [made.get_job_id() for _ in range(500)]
    assert hands.steady == begun
    assert is_growing(ids)
    assert made.number.number != first.number


def test_batches_run_ahead_of_the_clock_up_to_a_bound():
    hands = Hands()
    made = generator(hands)
    last = made.get_job_ids(1_000_000)[-1]
    with pytest.raises(TooManyJobIds) as refused:
        made.get_job_ids(100_000)
    assert (refused.value.status_code, refused.value.retry_after_seconds) == (503, 99)
    assert lead_seconds(last, hands) <= MOST_AHEAD
    hands.sleep(99)
    assert lead_seconds(made.get_job_ids(100_000)[-1], hands) <= MOST_AHEAD


def test_few_ids_are_made_at_the_bound_too():
    hands = Hands()
    made = generator(hands)
    ids = made.get_job_ids(1_000_000)
    for _ in range(40):
        ids += [*made.get_job_ids(100), made.get_job_id()]
        assert lead_seconds(ids[-1], hands) <= MOST_AHEAD
    assert is_growing(ids)


def test_the_bound_does_not_count_what_a_clock_went_back():
    hands = Hands()
    made = generator(hands)
    ids = made.get_job_ids(90_000)
    hands.wall -= HOUR
    ids += made.get_job_ids(900_000)
    assert is_growing(ids)
    assert hands.steady == 0


def test_nobody_holds_a_lock_while_it_waits():
    hands = Hands()
    slept = []

    def sleep(seconds):
        slept.append((seconds, made._lock.locked(), made._refilling.locked()))
        hands.sleep(seconds)

    made = Generator("7", 100, 1000, time_ns=hands.time_ns, sleep=sleep, monotonic=hands.monotonic)
    for _ in range(3000):
        made.get_job_id()
    assert slept
    assert not any(of_ids or of_refills for _, of_ids, of_refills in slept)


def test_a_call_waits_a_second_at_most():
    """Here a child of the process takes whatever the clock has room for."""
    hands = Hands()
    made, child = generator(hands), generator(hands)

    def sleep(seconds):
        hands.sleep(seconds)
        child.get_job_ids(int(seconds * 1000) + 1)

    made.get_job_ids(1_000_000)
    child.number, child._is_borrowed = made.number, True
    child.get_job_ids(1000)
    made._sleep = sleep
    with pytest.raises(TooManyJobIds):
        made.get_job_id()
    assert hands.steady <= 1


def test_whoever_waits_for_another_thread_gives_up():
    made = generator(Hands(), patience=0)
    with made._refilling, pytest.raises(DatabaseBusy):
        made.get_job_id()
    assert made.get_job_id()


def test_the_rest_of_a_block_is_not_used_after_the_lease():
    hands = Hands()
    made = generator(hands)
    made.get_job_ids(100_000)
    first = made.get_job_id()
    hands.sleep(31)
    lose(made)
    assert parse(made.get_job_id()).worker_id != parse(first).worker_id


def test_threads_of_one_process_share_a_number_of_its_own():
    """The second one to take it is no other process."""
    made = generator(Hands(), "7")
    first = made.get_job_id()
    made.number = None
    assert is_growing([first, made.get_job_id()])


def test_a_child_leaves_the_number_to_its_parent():
    made = generator(Hands(), "7")
    made.get_job_id()
    connections.close_all()  # a child must not inherit the connection
    pid = os.fork()
    if pid == 0:
        made.forked()
        made.release()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert IdNumber.objects.get(pk=7).holder == made._holder


def test_a_thread_inside_a_transaction_waits_for_no_other_thread(database):
    """The one that refills may wait for that very transaction."""
    from django.db.transaction import atomic

    made, seen = generator(Hands()), []

    def inside():
        try:
            with atomic():
                seen.append(made.get_job_id())
        finally:
            connections.close_all()

    with made._refilling:
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
    assert len(seen) == 1


def test_too_many_are_refused_over_rest_with_the_time_to_wait(rest_as, monkeypatch):
    hands = Hands()
    monkeypatch.setattr(ids, "_generator", generator(hands))
    ids.get_job_ids(1_000_000)
    refused = rest_as("operator").post(
        "/api/v1/job-ids", {"count": 10_000}, content_type="application/json"
    )
    assert (refused.status_code, refused.json()["code"]) == (503, "too_many_job_ids")
    assert refused.headers["Retry-After"] == "9"


def test_a_web_server_gives_its_number_back_when_it_stops(spawn, free_port, bearer, wait_until):
    process = spawn("web", env={"ATRIBUTO_PORT": str(free_port), "ATRIBUTO_WORKER_ID": "5"})
    url = f"http://127.0.0.1:{free_port}"
    wait_until(lambda: patient_http.answers(url), 60, process.output())
    made = patient_http.post(f"{url}/api/v1/job-ids", json={}, headers=bearer("operator"))
    assert made.json()["job_ids"][0].endswith("05")
    assert IdNumber.objects.held().filter(pk=5).exists()
    assert process.terminate() in (0, -signal.SIGTERM)
    assert not IdNumber.objects.held().filter(pk=5).exists()
