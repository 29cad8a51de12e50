"""What tests of transactions share: a client, a lease, and time that is over."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models import F

from allocation.transactions import Client
from allocation.transactions.models import Transaction
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now


@pytest.fixture
def client():
    return Client()


@pytest.fixture
def lease():
    return HeldLease.take("curator", "test", 3600)


@pytest.fixture
def let_expire():
    """let_expire(txn): its time is over, for itself and for the curator."""

    def expire(txn, seconds=3600):
        past = timedelta(seconds=seconds)
        rows = Transaction.objects.filter(pk=txn.id)
        assert rows.update(expires_at=F("expires_at") - past) == 1

    return expire


@pytest.fixture
def grace():
    return timedelta(milliseconds=settings.ATRIBUTO.additional_timeout_wait_ms)


@pytest.fixture
def now(db):
    return database_now()


@pytest.fixture
def store(client):
    """Two keys to change: `old` and `doomed`."""
    client.put("c", "old", {"v": 0}).raise_for_status()
    client.put("c", "doomed", {"v": 0}).raise_for_status()
    return client


@pytest.fixture
def people(client):
    rows = [("ada", 36, "Paris"), ("bob", 20, "Rome"), ("eve", "36", "Paris"), ("zoe", 50, None)]
    for key, age, city in rows:
        value = {"age": age, "name": {"first": key}} | ({"city": city} if city else {})
        client.put("people", key, value).raise_for_status()
    return client
