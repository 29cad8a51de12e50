"""`with client.instance(...)` keeps an instance available and drains it at the end."""

import pytest

from allocation.instances import availability
from allocation.models import Instance
from atributo_client import Client, presence
from atributo_client.errors import AtributoError

LONG = 60.0  # seconds of a lease


def lease(instance_id):
    return Instance.objects.get(pk=instance_id).lease_until


def test_heartbeats_come_and_the_end_drains(site, wait_until, monkeypatch):
    monkeypatch.setattr(presence, "BEATS_PER_LEASE", 600)
    with site.instance("web-1", lease_seconds=LONG, labels={"zone": "a"}) as here:
        first = lease("web-1")
        wait_until(lambda: site.me() and lease("web-1") > first)  # the event loop has to run
        assert here.error is None
        assert site.instances.get("web-1")["labels"] == {"zone": "a"}
    assert site.instances.get("web-1")["state"] in ("draining", "drained")


def test_an_exception_drains_as_well(site):
    with pytest.raises(ZeroDivisionError), site.instance("web-1", drain={"reason": "over"}):
        1 / 0  # noqa: B018
    assert site.instances.get("web-1")["reason"] == "over"


def test_a_lease_that_ended_is_begun_anew(site):
    with site.instance("web-1", lease_seconds=LONG) as here:
        Instance.objects.update(available=False, is_dead=True)  # as the curator does
        beat(site, here)
        assert site.instances.get("web-1")["state"] == "available"


def test_the_wish_of_a_person_is_not_overruled(site):
    with site.instance("web-1", lease_seconds=LONG) as here:
        availability.make_unavailable("web-1", reason="repair")
        beat(site, here)
        assert site.instances.get("web-1")["state"] == "unavailable"


def test_a_heartbeat_that_fails_says_why(site):
    with pytest.raises(AtributoError), site.instance("web-1", lease_seconds=LONG) as here:
        Instance.objects.filter(pk="web-1").delete()
        beat(site, here)
        assert here.error is not None and here.error.code == "unknown_instance"


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_lease_without_time_is_refused(seconds):
    with pytest.raises(ValueError, match="lease_seconds"):
        Client("http://localhost", "t").instance("web-1", lease_seconds=seconds)


def beat(site, here):
    """Send one heartbeat now, with the shell of the client."""
    target = getattr(here, "_target", here)
    outcome = site._shell.run(target._beat())
    if outcome is not None:
        here._runner.run(outcome)
