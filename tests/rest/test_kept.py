"""What a thread keeps from request to request changes no answer and is made once."""

import pytest
from django.db import connection
from django.db.models.sql.compiler import SQLCompiler, SQLInsertCompiler
from django.utils import timezone
from rest_framework import serializers

from allocation.api.allocations import AllocationSerializer
from allocation.api.serializers import InstanceSerializer
from allocation.atributo import Atributo
from allocation.models import Allocation, Instance
from allocation.placement import drains, operations
from atributo_site.api import EventSerializer
from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.rest.kept.forms import represented
from atributo_site.rest.serializers import StrictSerializer, checked
from tests.factories.jobs import make_job, make_queue

INSTANCES = "/api/v1/instances"


class Wish(StrictSerializer):
    made = 0
    count = serializers.IntegerField(min_value=1)

    def get_fields(self):
        Wish.made += 1
        return super().get_fields()


def test_the_fields_of_a_form_are_made_once():
    checked(Wish, {"count": 1})
    before = Wish.made
    assert [checked(Wish, {"count": number}) for number in (2, 3)] == [{"count": 2}, {"count": 3}]
    assert Wish.made == before


@pytest.mark.parametrize("given", [{"count": 0}, {"count": "1"}, {"other": 1}, None, []])
def test_a_refusal_is_worded_as_by_a_new_form(given):
    new = Wish(data=given)
    assert not new.is_valid()
    with pytest.raises(serializers.ValidationError) as refused:
        checked(Wish, given)
    assert refused.value.detail == new.errors
    assert checked(Wish, {"count": 5}) == {"count": 5}


@pytest.fixture
def some_rows(db):
    for name in ("a", "b", "c"):
        Atributo().available(name, labels={"rack": name}, capacity=10)
    for number in range(5):
        operations.allocate(f"job-{number}")
    drains.drain("b", reason="new disks")


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (InstanceSerializer, Instance.objects.select_related("drain").with_load()),
        (AllocationSerializer, Allocation.objects.all()),
        (EventSerializer, Event.objects.all()),
    ],
)
def test_rows_are_represented_as_by_a_new_serializer(some_rows, kind, rows):
    for zone in ("UTC", "Asia/Kolkata"):
        with timezone.override(zone):
            again = [represented(kind, rows.all(), {}) for _ in range(2)]
            assert again[0] == again[1] == kind(rows.all(), many=True).data
            assert again[0]


class Named(serializers.Serializer):
    name = serializers.CharField(source="pk")
    other = serializers.CharField(source="no_such_attribute", required=False)


def test_a_member_that_is_missing_is_left_out_as_ever(some_rows):
    rows = Instance.objects.order_by("pk")
    assert represented(Named, rows, {}) == [{"name": name} for name in ("a", "b", "c")]


def test_the_statement_of_a_first_page_is_composed_once(some_rows, rest_as, monkeypatch):
    composed = []
    plain = SQLCompiler.as_sql

    def counted(self, *args, **options):
        composed.append(self.query.model)
        return plain(self, *args, **options)

    monkeypatch.setattr(SQLCompiler, "as_sql", counted)
    client = rest_as("viewer")
    client.get(INSTANCES)
    composed.clear()
    assert [each["id"] for each in client.get(INSTANCES).json()["results"]] == ["a", "b", "c"]
    assert Instance not in composed


@pytest.mark.only_on("postgresql")
def test_the_server_plans_a_page_of_the_usual_length_once(some_rows, rest_as):
    client = rest_as("viewer")
    asked = [{}, {}, {"limit": 2}, {"limit": 3}, {"available": "true"}]
    assert [client.get(INSTANCES, each).status_code for each in asked] == [200] * 5
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s",
            ['%FROM "allocation_instance"%LIMIT%'],
        )
        assert cursor.fetchone() == (1,)


def test_a_first_page_shows_what_changed_since(some_rows, rest_as):
    client = rest_as("viewer")
    assert len(client.get(INSTANCES).json()["results"]) == 3
    Atributo().available("d")
    Atributo().unavailable("a")
    rows = {each["id"]: each["state"] for each in client.get(INSTANCES).json()["results"]}
    assert rows == {"a": "unavailable", "b": "draining", "c": "available", "d": "available"}


def test_every_list_reads_the_clock_anew(rest_as, db):
    client, queue = rest_as("viewer"), make_queue()
    assert client.get("/api/v1/jobs").json()["results"] == []
    make_job(queue, due_at=database_now())
    client.get("/api/v1/jobs")
    make_job(queue, due_at=database_now())  # later than the clock of the list before
    states = [each["state"] for each in client.get("/api/v1/jobs").json()["results"]]
    assert states == ["waiting", "waiting"]


def test_pages_of_other_lengths_and_later_ones_are_others(some_rows, rest_as):
    client = rest_as("viewer")
    first = client.get(INSTANCES, {"limit": 2}).json()
    assert [each["id"] for each in first["results"]] == ["a", "b"]
    assert [each["id"] for each in client.get(first["next"]).json()["results"]] == ["c"]
    assert len(client.get(INSTANCES, {"limit": 1}).json()["results"]) == 1
    assert len(client.get(INSTANCES, {"available": "true"}).json()["results"]) == 2


def test_an_event_is_one_statement_that_nobody_composes(db, monkeypatch, django_assert_num_queries):
    record("thing.done", "thing:0")
    monkeypatch.delattr(SQLInsertCompiler, "as_sql")
    with django_assert_num_queries(1):
        written = record("thing.done", "thing:1", api_key="x", count=2)
    event = Event.objects.get(pk=written.pk)
    assert (event.kind, event.subject, event.actor) == ("thing.done", "thing:1", "system")
    assert event.facts == {"api_key": "•••", "count": 2}
    assert event.at is not None
