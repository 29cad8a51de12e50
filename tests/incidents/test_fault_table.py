"""Each fault becomes an incident that names its object, has a safe action and ends by itself."""

import pytest
from django.test import Client as Browser

from allocation.atributo import Atributo
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from atributo_site.incidents import repairs
from atributo_site.incidents.cures import button_of
from atributo_site.incidents.listing import open_now
from atributo_site.models import Incident
from atributo_site.status.snapshot import state_of_everything
from atributo_site.status.symptoms import symptoms
from tests.fixtures.users import log_in
from tests.incidents.faults import FAULTS

pytestmark = pytest.mark.django_db


class Site:
    """A site where everything runs, until a fault begins."""

    def __init__(self, settings, monkeypatch, redis, request):
        self.settings, self.monkeypatch, self.redis = settings, monkeypatch, redis
        self.at_the_end = request.addfinalizer
        self.lease = HeldLease.take("curator", "host:1", 600, name="first")
        HeldLease.take("worker/w1", "host:2", 600)

    def look(self):
        """Do what the curator and a page do, one after the other; one of them may be missing."""
        now = database_now()
        if self._has_curator():
            repairs.follow(now, self.lease)
        return {row.kind: row for row in open_now(symptoms(state_of_everything(now)), now)}

    def _has_curator(self):
        return Lease.objects.held().filter(role="curator").exists()

    def instance_with_keys(self, name):
        ao = Atributo()
        ao.available(name)
        ao.allocate_many(["job-1", "job-2"])
        ao.available("grace")

    def wrong_log_in(self, name):
        log_in(Browser(), "guessed", name)


@pytest.fixture
def site(settings, monkeypatch, redis_connection, request):
    return Site(settings, monkeypatch, redis_connection, request)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_seen_named_cured_and_over(fault, site, client_as, user_as):
    assert fault.kind not in site.look()
    end = fault.begin(site)
    row = site.look()[fault.kind]
    assert fault.says in f"{row.title} {row.detail}"
    client = client_as("admin")
    button = button_of(row, user_as("admin"))
    assert button.label.startswith(fault.button) and button.preview
    assert button.is_look == (fault.button == "View details")
    assert button.label in client.get("/incidents/").text
    if button.is_done_at_once:
        assert client.post(button.address, button.values).status_code == 302
    else:
        assert client.get(button.address).status_code == 200
    if not fault.is_cured:
        end()
    assert fault.kind not in site.look()
    assert not Incident.objects.unresolved().filter(kind=fault.kind).exists()
