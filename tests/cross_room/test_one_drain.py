"""One drain covers keys, running jobs and open claims, on screens, REST and commands."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from allocation.atributo import Atributo
from allocation.instances import availability
from allocation.instances.holds import hold, left_on, may_remove
from allocation.models import Drain
from allocation.placement import drains
from atributo_site.core.models.clock import database_now
from pools.models import Backend, Pool
from pools.reporting.process_report import hold_claimed, let_go

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def instance():
    """Make an instance that has a key, runs a job, and whose connections are in use."""
    availability.make_available("10.0.0.1:80")
    Atributo().allocate("k")
    hold("10.0.0.1:80", "running job", "worker/w1", seconds=60)
    for name in ("web.test", "again.test"):
        pool = Pool.objects.create(name=name, domain=name)
        Backend.objects.create(
            pool=pool, key="K", instance_id="10.0.0.1:80", address="10.0.0.1", port=80
        )
    hold_claimed("mailer", {"K": 2})
    return "10.0.0.1:80"


def counts(instance_id):
    left = left_on(instance_id)
    return left.keys, left.running_jobs, left.open_claims


def test_a_drain_is_done_when_nothing_of_three_kinds_is_left(instance):
    drains.drain(instance)
    assert counts(instance) == (1, 1, 2)
    assert drains.progress(instance).fraction == 0
    Atributo().deallocate("k")
    let_go("mailer")
    drains.step(instance, database_now())
    assert (counts(instance), Drain.objects.get().done_at) == ((0, 1, 0), None)
    hold(instance, "running job", "worker/w1", seconds=-1)
    drains.step(instance, database_now())
    assert Drain.objects.get().done_at is not None
    assert may_remove(instance).may


def test_a_process_that_returns_its_connections_lets_go(instance):
    hold_claimed("mailer", {})
    assert counts(instance) == (1, 1, 0)


def test_rest_tells_the_three_counts(instance, rest_as):
    path = f"/api/v1/instances/{instance}/drain"
    answer = rest_as("operator").post(path, {}, content_type="application/json")
    assert answer.json()["drain"]["left"] == {"keys": 1, "running_jobs": 1, "open_claims": 2}


def test_the_page_tells_the_three_counts(instance, client_as):
    drains.drain(instance)
    page = client_as("viewer").get(reverse("atributo:instance", args=[instance])).content.decode()
    assert "1 key<" in page
    assert "1 running job<" in page
    assert "2 open claims<" in page


def test_the_command_watches_all_of_them(instance, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: drains.stop(instance))
    said = StringIO()
    call_command("instances", "drain", instance, "--watch", stdout=StringIO(), stderr=said)
    assert "left: 1 key, 1 running job, 2 open claims" in said.getvalue()
