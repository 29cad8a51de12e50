"""Every change leaves an event: when, who, through which channel, what; never a secret."""

import pytest
from django.db.transaction import atomic

from atributo_site.core.events import Actor, acting, current_actor, has_done_something, record
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.core.redaction import MASK

pytestmark = pytest.mark.django_db


def test_an_event_carries_its_actor_channel_and_request():
    with acting(Actor("ada", "rest", "request-1")):
        record("instance.drained", "instance:i1", reason="upgrade")
    event = Event.objects.get()
    assert (event.actor, event.channel, event.request_id) == ("ada", "rest", "request-1")
    assert (event.kind, event.subject) == ("instance.drained", "instance:i1")
    assert event.facts == {"reason": "upgrade"}


def test_an_event_is_dated_by_the_database():
    before = database_now()
    record("demo.made", "site:demo")
    assert before <= Event.objects.get().at <= database_now()


def test_the_actor_is_forgotten_afterwards():
    with acting(Actor("ada")):
        pass
    assert current_actor().name == "system"


@pytest.mark.django_db(transaction=True)
def test_what_was_done_before_a_door_was_entered_is_not_done_through_it():
    with acting(Actor("vm", "command")):  # as `manage.py web` is, which answers requests
        record("demo.made", "site:demo")
        for _ in range(2):
            with acting(Actor("ada", "rest")):
                assert not has_done_something()
                with acting(Actor("ada", "browser")):
                    record("demo.made", "site:demo")
                assert has_done_something()
        assert has_done_something()


def test_an_event_of_a_transaction_that_rolls_back_never_happened():
    with pytest.raises(ZeroDivisionError), atomic():
        record("demo.made", "site:demo")
        1 / 0  # noqa: B018
    assert not Event.objects.exists()


def test_no_secret_reaches_an_event():
    record("token.made", "token:1", token="SECRET", nested={"password": "SECRET"})
    assert Event.objects.get().facts == {"token": MASK, "nested": {"password": MASK}}


def test_events_of_one_object_are_found_newest_first():
    for kind in ("instance.added", "instance.drained"):
        record(kind, "instance:i1")
    record("instance.added", "instance:i2")
    kinds = [event.kind for event in Event.objects.about("instance:i1").newest_first()]
    assert kinds == ["instance.drained", "instance.added"]


@pytest.mark.only_on("postgresql")
def test_on_postgresql_an_event_knows_its_transaction():
    with atomic():
        first, second = record("a.b", "x:1"), record("a.b", "x:2")
    [one, other] = Event.objects.in_bulk([first.pk, second.pk]).values()
    assert one.writer == other.writer > 0
