"""Scripts that raise, hang or are killed become an incident that leads to their retry."""

import pytest

from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from atributo_site.incidents import repairs
from atributo_site.incidents.cures import button_of
from atributo_site.models import Incident
from queues.models import QueuedJob

MANY = 5
FAULTS = {
    "raises": ({"odd": True}, {}, "Odd: a teapot"),
    "hangs": ({"sleep": 60}, {"timeout": 100}, "100ms"),
    "is killed for its memory": ({"die": True}, {}, "SIGKILL"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_script_fails_again_and_again(fault, queue, act, hands, client_as, user_as):
    order, options, words = FAULTS[fault]
    for _ in range(MANY):
        queue.push(act, order, **options)
    hands.drain()
    lease = HeldLease.take("curator", "host:1", 600, name="first")
    repairs.follow(database_now(), lease)
    row = Incident.objects.get(kind="jobs.failing")
    assert words in row.detail and row.affected == "5 jobs"
    button = button_of(row, user_as("operator"))
    client = client_as("operator")
    assert "Retry 5 jobs" in client.get(button.address).text
    path, _, asked = button.address.partition("?")
    client.post(path, {**dict(part.split("=") for part in asked.split("&")), "sure": "yes"})
    assert set(QueuedJob.objects.values_list("status", flat=True)) == {"pending"}
    repairs.follow(database_now(), lease)
    assert Incident.objects.get(kind="jobs.failing").state == "resolved"
