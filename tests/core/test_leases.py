"""One holder per role, a token that only grows, expiry by the database's clock."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection
from django.db.transaction import atomic

from atributo_site.core.errors import LeaseLost
from atributo_site.core.leases import HeldLease, this_process
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.core.presence import Presence

pytestmark = pytest.mark.django_db


def expire(role: str) -> None:
    Lease.objects.filter(role=role).update(expires_at=from_now(-0.001))


def test_a_free_role_is_taken_with_the_first_token():
    assert Lease.objects.acquire("curator", "ada", 60) == 1


def test_a_held_role_is_refused_to_everybody_even_to_its_holder():
    Lease.objects.acquire("curator", "ada", 60)
    assert Lease.objects.acquire("curator", "bob", 60) is None
    assert Lease.objects.acquire("curator", "ada", 60) is None


def test_an_expired_lease_is_taken_with_a_higher_token():
    Lease.objects.acquire("curator", "ada", 60)
    expire("curator")
    assert Lease.objects.acquire("curator", "bob", 60) == 2


def test_a_released_lease_is_free_at_once_and_its_token_goes_on_growing():
    assert Lease.objects.release("curator", Lease.objects.acquire("curator", "ada", 60))
    assert Lease.objects.acquire("curator", "bob", 60) == 2


def test_renewing_moves_the_expiry():
    token = Lease.objects.acquire("curator", "ada", 60)
    assert Lease.objects.renew("curator", token, 3600)
    assert (Lease.objects.get().expires_at - database_now()).total_seconds() > 3000


def test_an_expired_lease_cannot_be_renewed():
    token = Lease.objects.acquire("curator", "ada", 60)
    expire("curator")
    assert not Lease.objects.renew("curator", token, 60)


def test_an_old_token_neither_renews_nor_releases_its_successor():
    old = Lease.objects.acquire("curator", "ada", 60)
    expire("curator")
    Lease.objects.acquire("curator", "bob", 60)
    assert not Lease.objects.renew("curator", old, 60)
    assert not Lease.objects.release("curator", old)
    assert Lease.objects.get().holder == "bob"


def test_roles_do_not_meet():
    assert Lease.objects.acquire("curator", "ada", 60) == 1
    assert Lease.objects.acquire("watcher", "bob", 60) == 1


def test_a_guard_lets_the_holder_pass_and_stops_whoever_comes_late():
    held = HeldLease.take("curator", "ada", 60)
    with atomic():
        held.guard()
    expire("curator")
    with pytest.raises(LeaseLost, match="'curator' with token 1"), atomic():
        held.guard()


def test_a_guard_in_long_work_renews_the_lease():
    held = HeldLease.take("role", "a", 3600)
    Lease.objects.filter(role="role").update(expires_at=from_now(600))
    held._renewed -= 1800
    with atomic():
        held.guard()
    assert Lease.objects.filter(role="role", expires_at__gt=from_now(3000)).exists()
    Lease.objects.filter(role="role").update(expires_at=from_now(-1))
    held._renewed -= 1800
    with pytest.raises(LeaseLost), atomic():
        held.guard()


def test_keeping_an_old_lease_renews_it():
    held = HeldLease.take("role", "a", 3600)
    Lease.objects.filter(role="role").update(expires_at=from_now(600))
    held.keep()
    assert not Lease.objects.filter(role="role", expires_at__gt=from_now(3000)).exists()
    held._renewed -= 1800
    held.keep()
    assert Lease.objects.filter(role="role", expires_at__gt=from_now(3000)).exists()


def test_the_database_refuses_a_negative_token():
    with pytest.raises(IntegrityError), atomic():
        Lease.objects.create(role="curator", token=-1)


def test_the_database_refuses_a_holder_without_an_expiry():
    with pytest.raises(IntegrityError), atomic():
        Lease.objects.create(role="curator", holder="ada")


def test_every_process_has_a_name_of_its_own():
    assert this_process() != this_process()


@pytest.mark.django_db(transaction=True)
def test_of_many_that_ask_at_once_exactly_one_gets_the_role():
    def ask(number: int) -> int | None:
        try:
            return Lease.objects.acquire("curator", f"holder-{number}", 30)
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as threads:
        tokens = list(threads.map(ask, range(16)))
    assert [token for token in tokens if token] == [1]


def test_a_presence_comes_back_by_itself_after_a_silence():
    presence = Presence("worker", "w1", seconds=60, beat_seconds=1)
    presence.step(database_now())
    expire("worker/w1")
    assert presence.step(database_now()) == 1
    lease = Lease.objects.held().get(role="worker/w1")
    assert (lease.token, lease.facts) == (2, presence.facts)


def test_a_presence_shows_the_newest_facts():
    presence = Presence("worker", "w1", seconds=60, beat_seconds=1)
    presence.step(database_now())
    presence.facts["running"] = 3
    presence.step(database_now())
    assert Lease.objects.get(role="worker/w1").facts["running"] == 3


def test_a_process_that_leaves_is_gone_at_once():
    presence = Presence("worker", "w1", seconds=60, beat_seconds=1)
    presence.step(database_now())
    presence.leave()
    assert not Lease.objects.held().filter(role="worker/w1").exists()
