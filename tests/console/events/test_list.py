"""The timeline: filters in the address, pages by key, nothing injected."""

import re
from datetime import timedelta
from html import unescape

import pytest

from atributo_site.console.events import folding
from atributo_site.core.events import Actor, acting, record
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from tests.console.page_elements import INJECTION, Elements


def kinds_on(response):
    return re.findall(r'class="kind"[^>]*>([^<]+)<', response.text)


@pytest.fixture
def story(db):
    with acting(Actor("vera", "browser")):
        record("instance.drained", "instance:web-1", reason="kernel")
    record("instance.added", "instance:web-2")
    record("lease.taken", "lease:curator")


def test_newest_comes_first(story, client_as):
    found = kinds_on(client_as("viewer").get("/events/"))
    assert found == ["lease.taken", "instance.added", "instance.drained"]


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("kind", "lease.taken", ["lease.taken"]),
        ("subject", "instance:web-1", ["instance.drained"]),
        ("actor", "vera", ["instance.drained"]),
        ("since", "1h", ["lease.taken", "instance.added", "instance.drained"]),
        ("until", "1h", []),
        ("by", "people", ["instance.drained"]),
        ("by", "", ["lease.taken", "instance.added", "instance.drained"]),
        ("since", "2999-01-01", []),
    ],
)
def test_the_address_filters(name, value, found, story, client_as):
    assert kinds_on(client_as("viewer").get("/events/", {name: value})) == found


def test_a_time_long_ago_is_found_though_a_clock_stepped_back(client_as, db):
    now = database_now()
    ages = [30, 20.5, 21, 10, 0]  # hours; the third was recorded after the second
    for number, hours in enumerate(ages):
        event = record(f"thing.{number}", "thing:1")
        Event.objects.filter(pk=event.pk).update(at=now - timedelta(hours=hours))
    page = client_as("viewer").get("/events/", {"since": "22h", "until": "20h"})
    assert kinds_on(page) == ["thing.2", "thing.1"]


@pytest.mark.parametrize("text", ["yesterday", "5x", "2026-99-99", "99999999w", "-3h"])
def test_a_time_that_is_none_is_explained(text, story, client_as):
    response = client_as("viewer").get("/events/", {"since": text})
    assert response.status_code == 400
    assert "is neither a time nor an age" in response.text


def test_older_events_are_a_page_away(client_as, db):
    for number in range(60):
        record("thing.happened", f"thing:{number}")
    client = client_as("viewer")
    older = re.search(r'rel="next" href="([^"]+)"', client.get("/events/?actor=system").text)[1]
    page = client.get("/events/" + older.replace("&amp;", "&"))
    assert len(kinds_on(page)) == 10
    assert "actor=system" in older


def test_no_text_of_an_event_is_taken_for_html(client_as, db):
    with acting(Actor(INJECTION, "browser", "r" * 8)):
        record(INJECTION[:64], INJECTION, **{INJECTION: INJECTION, "list": [INJECTION]})
    event = Event.objects.get()
    client = client_as("admin")
    for path in (
        "/",
        "/events/",
        "/admin/allocation/event/",
        f"/admin/allocation/event/{event.pk}/change/",
        "/search/",
    ):
        page = Elements(client.get(path, {"q": INJECTION} if path == "/search/" else {}).text)
        assert "injected" not in page.ids
        assert page.handlers == []
        assert "x" not in page.images


def test_secrets_in_facts_stay_hidden(client_as, db):
    Event.objects.create(
        actor="a", channel="rest", kind="k", subject="s:1", facts={"deep": {"api_key": "canary-77"}}
    )
    assert "canary-77" not in client_as("admin").get("/events/").text


def test_the_stream_says_poll_where_it_is_not_served(client_as, db):
    assert client_as("viewer").get("/events/stream").status_code == 204


def test_events_of_every_room_stand_on_one_axis(story, client_as):
    earlier = Event.objects.earliest("pk").at - timedelta(seconds=1)  # an axis needs two moments
    Event.objects.filter(kind="instance.drained").update(at=earlier)
    page = client_as("viewer").get("/events/").text
    lanes = re.findall(r'class="axis-name"[^>]*>([^<]+)<', page)
    assert lanes == ["Allocation", "Site"]
    dots = {f"#event-{pk}" for pk in Event.objects.values_list("pk", flat=True)}
    assert set(re.findall(r'href="(#event-\d+)"', page)) == dots


def test_from_a_job_id_to_what_happened_in_its_minute(story, client_as):
    at = Event.objects.earliest("at").at
    job_id = at.strftime("%y%m%d%H%M%S") + f"{at.microsecond // 1000:03}" + "05"
    client = client_as("viewer")
    page = client.get("/job-ids/", {"id": job_id}).text
    link = re.search(r'href="(/events/\?since=[^"]+)"', page)[1].replace("&amp;", "&")
    assert "instance.drained" in kinds_on(client.get(link))


@pytest.fixture
def drain(db):
    record("instance.draining", "instance:ada")
    for _ in range(8):
        record("instance.jobs_moved", "instance:ada", count=5)
        record("queue.paused", "queue:mail")
    record("instance.drained", "instance:ada")


def test_the_steps_of_a_drain_are_one_row_in_which_each_is_found(drain, client_as):
    page = client_as("viewer").get("/events/?subject=instance:ada")
    assert kinds_on(page) == ["instance.drained", "instance.jobs_moved", "instance.draining"]
    assert "40 keys moved in 8 steps" in page.text
    steps = set(Event.objects.filter(subject="instance:ada").values_list("pk", flat=True))
    assert {f"event-{pk}" for pk in steps} <= Elements(page.text).ids


def test_steps_are_one_row_though_other_things_happen_in_between(drain, client_as):
    record("instance.jobs_moved", "instance:ada", count=1)  # of another drain
    kinds = kinds_on(client_as("viewer").get("/events/"))
    assert kinds.count("instance.jobs_moved") == 2
    assert kinds.count("queue.paused") == 8


def test_failed_roll_backs_of_a_transaction_are_one_row(client_as, db):
    for error in ("disk full", "disk full", "no space left"):
        record("transaction.stuck", "transaction:7", error=error)
    page = client_as("viewer").get("/events/?subject=transaction:7")
    assert kinds_on(page) == ["transaction.stuck"]
    assert "The rollback of transaction 7 failed 3 times: no space left" in page.text


def test_whoever_asks_for_the_steps_sees_each(drain, client_as):
    page = client_as("viewer").get("/events/?kind=instance.jobs_moved")
    assert kinds_on(page) == ["instance.jobs_moved"] * 8


def test_what_people_did_is_found_however_much_processes_do(client_as, db, monkeypatch):
    """A page reads only so far, and its links lead on from there, both ways."""
    monkeypatch.setattr(folding, "LOOKED_THROUGH", 5)
    client = client_as("viewer")
    Event.objects.all().delete()  # the log-in
    with acting(Actor("vera", "command")):
        record("deed.first", "thing:1")
    for number in range(12):
        record("thing.happened", f"thing:{number}")
    with acting(Actor("vera", "rest")):
        record("deed.last", "thing:1")
    page = client.get("/events/?by=people")
    pages = [kinds_on(page)]
    while older := re.search(r'rel="next" href="([^"]+)"', page.text):
        page = client.get("/events/" + unescape(older[1]))
        pages.append(kinds_on(page))
    assert pages == [["deed.last"], [], ["deed.first"]]
    while newer := re.search(r'rel="prev" href="([^"]+)"', page.text):
        page = client.get("/events/" + unescape(newer[1]))
        pages.append(kinds_on(page))
    assert pages[-1] == ["deed.last"] and len(pages) == 6


def test_by_whom_else_is_an_error_with_a_sentence(client_as, db):
    answer = client_as("viewer").get("/events/?by=ghosts")
    assert answer.status_code == 400
    assert "<strong>By:</strong>" in answer.text
