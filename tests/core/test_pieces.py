"""Large tables are looked at piece by piece: in whole, or by a sample that moves on."""

import pytest
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allocation.models import Allocation, Instance
from atributo_site.core.models import Event
from atributo_site.core.models.pieces import Everything, InPieces, Sample, seen_twice

pytestmark = pytest.mark.django_db
KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


def make_events(count):
    Event.objects.bulk_create(
        Event(actor="a", channel="process", kind="k", subject=str(n)) for n in range(count)
    )


def seen_by(look, rule):
    return [row.pk for rows in look.pieces(rule) for row in rows]


@pytest.mark.parametrize(("rows", "size"), [(0, 3), (1, 3), (3, 3), (4, 3), (9, 3), (10, 1)])
def test_everything_is_seen_once_in_order(rows, size):
    make_events(rows)
    look = Everything()
    seen = seen_by(look, InPieces(Event, list, size))
    assert seen == list(Event.objects.order_by("pk").values_list("pk", flat=True))
    assert look.rows == rows


def test_a_sample_sees_the_newest_at_once_and_every_row_in_time():
    make_events(20)
    look, rule = Sample(), InPieces(Event, list, 4)
    every = set(Event.objects.values_list("pk", flat=True))
    first = seen_by(look, rule)
    assert {*sorted(every)[-4:]} <= {*first}
    assert len(first) <= 8
    assert set(first).union(*(seen_by(look, rule) for _ in range(6))) == every


@given(keys=st.sets(KEYS.filter(lambda text: len(text) < 50), min_size=1, max_size=8))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sample_begins_anywhere_among_any_texts(keys):
    Allocation.objects.all().delete()
    Instance.objects.get_or_create(pk="i")
    facts = {"instance_id": "i", "epoch": 1, "strategy": "", "candidates": 1}
    Allocation.objects.bulk_create(
        Allocation(job_id=key, actor="", channel="", **facts) for key in keys
    )
    look, rule = Sample(), InPieces(Allocation, list, 2)
    assert set().union(*(seen_by(look, rule) for _ in range(len(keys) + 2))) == keys


def test_a_look_stops_once_enough_is_broken(connection_queries):
    make_events(100)
    rule = InPieces(Event, lambda rows: [row.subject for row in rows], 10)
    with connection_queries as statements:
        assert len(rule()) == 20
    assert len(statements) == 4  # two pieces: where each ends, and its rows


def test_what_a_second_look_does_not_confirm_is_not_broken():
    looks = [["a", "b"], ["b", "c"], []]
    assert seen_twice(lambda: looks.pop(0))() == ["b"]
    assert seen_twice(lambda: looks.pop(0))() == []


@pytest.fixture
def connection_queries():
    from django.db import connection

    return CaptureQueriesContext(connection)
