"""The feed of new events: none is missed, none comes twice without a reconnect."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.db.transaction import atomic

from atributo_site.core.event_cursor import (
    EventCursor,
    events_after,
    may_resume,
    newest_cursor,
    parsed,
)
from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now


@pytest.fixture
def elsewhere():
    """Run work in another thread, which has a connection of its own."""
    with ThreadPoolExecutor(1) as threads:
        yield lambda work: threads.submit(work).result()
        threads.submit(connections.close_all).result()


def subjects(events):
    return [event.subject for event in events]


def test_only_what_comes_after_the_cursor_is_read(transactional_db):
    record("a.made", "a:1")
    cursor = newest_cursor()
    record("a.made", "a:2")
    events, cursor = events_after(cursor, 10)
    assert subjects(events) == ["a:2"]
    assert events_after(cursor, 10)[0] == []


def test_a_reading_larger_than_the_limit_comes_in_pages(transactional_db):
    cursor = newest_cursor()
    for number in range(7):
        record("a.made", f"a:{number}")
    pages = []
    for _ in range(4):
        events, cursor = events_after(cursor, 3)
        pages.append(len(events))
    assert pages == [3, 3, 1, 0]


@pytest.mark.only_on("postgresql")
def test_the_event_of_a_slow_transaction_still_arrives(transactional_db, elsewhere):
    cursor = newest_cursor()
    with atomic():
        record("slow.made", "slow:1")
        elsewhere(lambda: record("fast.made", "fast:1"))
        events, cursor = elsewhere(lambda: events_after(cursor, 10))
        assert subjects(events) == ["fast:1"]
    events, cursor = events_after(cursor, 10)
    assert subjects(events) == ["slow:1"]
    assert events_after(cursor, 10)[0] == []


@pytest.mark.only_on("postgresql")
def test_a_reconnect_while_a_transaction_is_slow_misses_nothing(transactional_db, elsewhere):
    cursor = newest_cursor()
    with atomic():
        record("slow.made", "slow:1")
        elsewhere(lambda: record("fast.made", "fast:1"))
        _, cursor = elsewhere(lambda: events_after(cursor, 10))
        handed_back = str(cursor)
        elsewhere(lambda: record("fast.made", "fast:2"))
    events, _ = events_after(parsed(handed_back), 10)
    assert sorted(subjects(events)) == ["fast:2", "slow:1"]


@pytest.mark.only_on("postgresql")
def test_a_slow_event_between_two_pages_is_read_with_the_next_round(transactional_db, elsewhere):
    cursor = newest_cursor()
    with atomic():
        record("slow.made", "slow:1")
        for number in range(3):
            elsewhere(lambda number=number: record("fast.made", f"fast:{number}"))
        first, cursor = elsewhere(lambda: events_after(cursor, 2))
    second, cursor = events_after(cursor, 2)
    third, cursor = events_after(cursor, 2)
    assert [subjects(page) for page in (first, second, third)] == [
        ["fast:0", "fast:1"],
        ["fast:2"],
        ["slow:1"],
    ]


@pytest.mark.only_on("postgresql")
def test_events_of_savepoints_belong_to_their_transaction(transactional_db):
    cursor = newest_cursor()
    with atomic():
        record("a.made", "a:1")
        with atomic():
            record("a.made", "a:2")
    assert subjects(events_after(cursor, 10)[0]) == ["a:1", "a:2"]


@pytest.mark.only_on("sqlite")
def test_a_cursor_from_before_an_older_copy_came_back_is_told_by_its_moment(transactional_db):
    """Ids are given out again, so the id alone would let events be missed."""
    record("a.made", "a:1")
    lost = record_and_read("a:2")
    Event.objects.latest("pk").delete()
    Event.objects.create(pk=int(lost.seen), kind="a.made", subject="a:3", at=database_now())
    record("a.made", "a:4")
    newest = newest_cursor()
    assert not may_resume(parsed(str(lost)), newest)
    assert may_resume(parsed(str(newest)), newest)
    assert may_resume(EventCursor(lost.seen), newest)  # as an older release wrote it


def record_and_read(subject):
    record("a.made", subject)
    return newest_cursor()


@pytest.mark.only_on("postgresql")
def test_a_cursor_of_a_cluster_that_nobody_knows_is_no_place_to_go_on_from(transactional_db):
    newest = record_and_read("a:1")
    assert may_resume(newest, newest)
    assert not may_resume(EventCursor(newest.seen, origin=42), newest)


@pytest.mark.only_on("postgresql")
def test_cursors_and_events_from_before_clusters_were_named_go_on(transactional_db):
    cursor = record_and_read("a:1")
    record("a.made", "a:2")
    Event.objects.update(cluster=0)
    record("a.made", "a:3")
    old = EventCursor(cursor.seen)
    assert may_resume(old, newest_cursor())
    events, cursor = events_after(old, 10)
    assert subjects(events) == ["a:2", "a:3"]
    assert events_after(cursor, 10)[0] == []
