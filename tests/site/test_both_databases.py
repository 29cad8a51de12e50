import pytest
from django.contrib.auth.models import Group
from django.db import connection


@pytest.mark.django_db
def test_vendor(database):
    assert connection.vendor == database
    assert Group.objects.count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("n", [1, 2])
def test_tx(database, n):
    assert Group.objects.count() == 3
    Group.objects.create(name="x")
    Group.objects.filter(name="viewer").delete()


def test_none(database):
    assert database is None
