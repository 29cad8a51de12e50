"""Idempotency-Key: one effect and one answer, whatever is sent again."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.curator.repairs import forget_old_answers
from atributo_site.models import IdempotencyKey
from tests.rest.rest_urls import Doing

pytestmark = pytest.mark.urls("tests.rest.rest_urls")
PATH = "/api/v1/doing"


def send(client, key="k1", body=None, path=PATH):
    headers = {"Idempotency-Key": key}
    return client.post(path, body or {}, content_type="application/json", headers=headers)


def done():
    return Event.objects.filter(kind="thing.done").count()


def test_the_second_answer_is_the_first_one(rest_as):
    client = rest_as("viewer")
    first, second = send(client), send(client)
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    assert (second["Location"], second["ETag"]) == (first["Location"], '"1"')
    assert second["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert done() == 1


def test_another_key_is_another_request(rest_as):
    client = rest_as("viewer")
    assert send(client, "k1").json() != send(client, "k2").json()


def test_users_do_not_meet_in_a_key(rest_as):
    send(rest_as("viewer"))
    send(rest_as("admin"))
    assert done() == 2


@pytest.mark.parametrize(
    "changed", [{"body": {"a": 1}}, {"path": f"{PATH}/x"}, {"path": f"{PATH}?a=1"}]
)
def test_the_key_of_another_request_is_422(rest_as, changed):
    client = rest_as("viewer")
    send(client)
    answer = send(client, **changed)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert done() == 1


@pytest.mark.parametrize("name", ["ours", "validation"])
def test_a_refusal_is_remembered(rest_as, name):
    client = rest_as("viewer")
    first, second = send(client, body={"fail": name}), send(client, body={"fail": name})
    assert first.json() == second.json()
    assert second["Content-Type"] == "application/problem+json"
    assert second["Idempotency-Replayed"] == "true"


def test_what_may_have_been_done_is_not_done_again_under_its_key(rest_as):
    client = rest_as("viewer")
    first, second = send(client, body={"fail": "in_doubt"}), send(client, body={"fail": "in_doubt"})
    assert (first.status_code, first.json()["in_doubt"]) == (503, True)
    assert second.json() == first.json()
    assert second["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize("name", ["busy", "lost", "unexpected"])
def test_a_failure_of_ours_is_not_remembered(rest_as, name):
    client = rest_as("viewer")
    send(client, body={"fail": name})
    assert not IdempotencyKey.objects.exists()


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "é"])
def test_a_key_that_is_no_key_is_400(rest_as, key):
    assert send(rest_as("viewer"), key).status_code == 400


def test_an_answer_under_way_is_409(rest_as):
    client = rest_as("viewer")
    send(client)
    IdempotencyKey.objects.update(status=None, body="another process")
    answer = send(client)
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_in_progress")
    assert answer["Retry-After"] == "1"


def test_work_whose_process_died_is_taken_over_after_a_minute(rest_as):
    client = rest_as("viewer")
    send(client)
    IdempotencyKey.objects.update(status=None, body="dead", created_at=from_now(-61))
    assert send(client).status_code == 201
    assert send(client)["Idempotency-Replayed"] == "true"
    assert done() == 2


def test_work_of_a_process_that_lives_stays_its_own(rest_as):
    client = rest_as("viewer")
    send(client)
    HeldLease.take("web/a", "a:7", 3600)
    under_way = {"status": None, "body": "work", "holder": "a:7", "created_at": from_now(-3600)}
    IdempotencyKey.objects.update(**under_way)
    assert send(client).status_code == 409
    assert done() == 1


@pytest.mark.parametrize("ended", ["released", "expired", "forgotten", "taken by another"])
def test_work_of_a_process_that_is_dead_is_taken_over_at_once(rest_as, ended):
    client = rest_as("viewer")
    send(client)
    lease = HeldLease.take("web/a", "a:7", 3600)
    IdempotencyKey.objects.update(status=None, body="dead", holder="a:7")
    assert send(client).status_code == 409
    if ended == "released":
        lease.release()
    elif ended == "forgotten":
        Lease.objects.all().delete()
    else:
        Lease.objects.update(expires_at=from_now(-1))
    if ended == "taken by another":
        HeldLease.take("web/a", "a:8", 3600)
    assert send(client).status_code == 201
    assert send(client)["Idempotency-Replayed"] == "true"
    assert done() == 2


def test_dead_work_is_not_taken_over_by_another_request(rest_as):
    client = rest_as("viewer")
    send(client)
    IdempotencyKey.objects.update(status=None, body="dead", created_at=from_now(-61))
    assert send(client, body={"a": 1}).status_code == 409


def test_after_a_day_the_key_is_free_again(rest_as):
    client = rest_as("viewer")
    send(client)
    IdempotencyKey.objects.update(created_at=from_now(-86_500))
    assert send(client, body={"a": 1}).status_code == 201
    assert done() == 2


def test_the_curator_removes_what_has_expired(rest_as):
    lease = HeldLease.take("curator", "me", 3600)
    client = rest_as("viewer")
    send(client, "old")
    IdempotencyKey.objects.update(created_at=from_now(-86_500))
    send(client, "new")
    assert forget_old_answers(database_now(), lease) == 1
    assert IdempotencyKey.objects.get().key == "new"


def test_eight_threads_with_one_key_do_it_once(transactional_db, rest_as, wait_until):
    client = rest_as("viewer")
    client.get(PATH)  # from now on the token is known

    def ask(_):
        try:
            return send(client).status_code
        finally:
            connections.close_all()

    Doing.gate.clear()
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(ask, number) for number in range(8)]
        wait_until(lambda: sum(each.done() for each in asked) == 7)
        Doing.gate.set()
        statuses = sorted(each.result() for each in asked)
    assert statuses == [201, *[409] * 7]
    assert done() == 1
    assert send(client)["Idempotency-Replayed"] == "true"
