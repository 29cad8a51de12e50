"""Schedules of the probe service, and a way to let their time come."""

from datetime import timedelta

import pytest

from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.models import Schedule
from queues.schedules.dispatch import dispatch
from queues.schedules.following import follow

FAR_AWAY = {"moments": ["2900-01-01T00:00"]}


@pytest.fixture
def make(queue, act):
    """make("name", ...) → a schedule of the probe's script that is due in centuries."""

    def create(name="nightly", **given):
        rule = given.pop("rule", FAR_AWAY)
        return schedules.create(name, **{"script": act, "queue": "work", "rule": rule, **given})

    return create


@pytest.fixture
def lease(transactional_db):
    return HeldLease.take("curator", "test", 3600)


@pytest.fixture
def expect(lease):
    """expect(schedule, seconds_ago) lets the schedule have expected a run, and dispatches."""

    def come(schedule, seconds_ago=1):
        moment = database_now() - timedelta(seconds=seconds_ago)
        Schedule.objects.filter(pk=schedule.pk).update(next_at=moment)
        dispatch(moment, lease)
        return moment

    return come


@pytest.fixture
def go_on(lease):
    return lambda: follow(database_now(), lease)


def states(schedule):
    """Return the states of its runs, oldest first."""
    runs = schedule.expected_runs.order_by("slot_at", "id")
    return list(runs.values_list("state", flat=True))
