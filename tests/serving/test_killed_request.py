"""A web process is killed while it answers; the request may be sent again when it is known dead."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.test import Client

from allocation.transactions import Transaction
from atributo_site.core.models import Lease
from atributo_site.models import IdempotencyKey
from tests.servers import patient_http

pytestmark = pytest.mark.django_db(transaction=True)
LOCK = json.dumps({"op": "lock", "collection": "c", "key": "k", "wait": 10}).encode()


@pytest.fixture
def web_process(spawn, free_port, wait_until):
    short = {"ATRIBUTO_WORKER_LEASE_MS": "5000", "ATRIBUTO_WORKER_HEARTBEAT_MS": "500"}
    process = spawn("web", env={"ATRIBUTO_PORT": str(free_port), **short})
    process.url = f"http://127.0.0.1:{free_port}"
    wait_until(lambda: patient_http.answers(process.url), 60, process.output())
    wait_until(Lease.objects.held().filter(role__startswith="web/").exists)
    return process


def test_the_key_of_a_killed_request_is_free_before_a_minute(web_process, token_of, wait_until):
    headers = {"Authorization": f"Bearer {token_of('operator')}", "Idempotency-Key": "once"}
    client = Client(headers=headers)
    begun = client.post("/api/v1/transactions", b"{}", "application/json").json()
    IdempotencyKey.objects.all().delete()
    path = f"/api/v1/transactions/{begun['id']}/operations"
    json_headers = {**headers, "Content-Type": "application/json"}

    def ask():
        return httpx.post(web_process.url + path, content=LOCK, headers=json_headers, timeout=60)

    holder = Transaction()
    holder.lock("c", "k")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask)
        wait_until(IdempotencyKey.objects.filter(status=None).exists)
        web_process.send_signal(signal.SIGKILL)
        assert isinstance(waiting.exception(60), httpx.HTTPError)
    assert IdempotencyKey.objects.get().holder != ""
    holder.roll_back()
    answers = []
    wait_until(lambda: answers.append(again(client, path)) or answers[-1].status_code != 409)
    assert answers[-1].status_code == 200
    row = IdempotencyKey.objects.get()
    assert row.status == 200 and "Idempotency-Replayed" in again(client, path)


def again(client, path):
    return client.post(path, LOCK, "application/json")
