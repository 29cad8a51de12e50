"""An idle curator asks little, and the first new row wakes it up."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.core import leases
from atributo_site.core.events import record
from atributo_site.core.loops import Loop
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from atributo_site.core.presence import Presence
from atributo_site.curator.leadership import AWAKE_SECONDS, IDLE_SECONDS, Leadership, Pace
from atributo_site.curator.repairs import all_repairs
from atributo_site.incidents import repairs as incidents

MOST_STATEMENTS = 30  # a second; 120 before there was a pace


class Seconds:
    value = 1000.0

    def __call__(self):
        return self.value


@pytest.fixture
def seconds():
    return Seconds()


def test_a_new_row_wakes_it_up_for_a_while(seconds):
    rows = [(1,), (1,), (2,), (2,)]
    pace = Pace(look=lambda: rows.pop(0), monotonic=seconds)
    assert pace.look() is True  # whatever is there is new at first
    seconds.value += AWAKE_SECONDS
    assert (pace.look(), pace.pause(0.5), pace.pause(60)) == (False, IDLE_SECONDS, 60)
    assert (pace.look(), pace.pause(0.5)) == (True, 0.5)
    assert pace.look() is False


def test_what_is_mended_keeps_it_awake(seconds):
    pace = Pace(look=lambda: (1,), monotonic=seconds)
    pace.look()
    seconds.value += AWAKE_SECONDS - 1
    assert pace.stir() is False
    seconds.value += AWAKE_SECONDS - 1
    assert not pace.is_idle()


@pytest.mark.django_db
def test_a_presence_writes_its_facts_when_they_are_others():
    presence = Presence("curator", "c", seconds=600, beat_seconds=1)
    presence.facts["repaired"] = repaired = {}
    sent = []
    for number in (1, 1, 2):
        repaired["drains"] = number
        with CaptureQueriesContext(connection) as queries:
            presence.step(database_now())
        sent.append(len(queries))
        assert Lease.objects.get(role="curator/c").facts["repaired"] == {"drains": number}
    assert sent[2] == sent[1] + 1


def run(loop, seconds, for_seconds):
    """Let the time go by as the loop says."""
    end = seconds.value + for_seconds
    while seconds.value < end:
        seconds.value += max(loop.run_due(), 0.001)


@pytest.mark.django_db(transaction=True)
def test_an_idle_curator_sends_few_statements(seconds, monkeypatch):
    monkeypatch.setattr(leases, "CHECKED_SECONDS", float("inf"))  # a slow machine counts nothing
    monkeypatch.setattr(incidents, "_glances", incidents.Glances(monotonic=seconds))
    curator = Leadership("c", [*all_repairs(), *incidents.REPAIRS])
    curator._pace = Pace(monotonic=seconds)
    loop = Loop(curator.steps(), monotonic=seconds)
    run(loop, seconds, 3 * AWAKE_SECONDS)  # all have run, and nothing happens any more
    with CaptureQueriesContext(connection) as idle:
        run(loop, seconds, 20)
    assert len(idle) <= 20 * MOST_STATEMENTS
    record("test.kind", "test:1")
    with CaptureQueriesContext(connection) as awake:
        run(loop, seconds, 5)
    assert len(awake) / 5 > 2 * len(idle) / 20
    curator.resign()
