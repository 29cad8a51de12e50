"""Raw lists: any size, pages by key, a constant number of queries."""

import re

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.urls import reverse

from atributo_site.core.events import record
from atributo_site.core.models import Event, Lease
from atributo_site.web import pagination
from atributo_site.web.pagination import page_by_key
from atributo_site.web.tokens import make_token
from tests.console.full_site import fill
from tests.factories.jobs import make_job, make_queue

LIST = "/admin/allocation/event/"
SCREEN = "get_absolute_url"
QUERIES_OF_A_LIST = 8  # session, user, two for permissions and for incidents, count, rows


@pytest.fixture
def events(db):
    return [record("thing.happened", f"thing:{number}").pk for number in range(120)]


def ids_on(response):
    return [
        int(found) for found in re.findall(r'href="/admin/allocation/event/(\d+)/', response.text)
    ]


def next_page(response):
    found = re.search(r'rel="next" href="([^"]+)"', response.text)
    return found and LIST + found[1]


def test_walking_the_pages_meets_every_row_once(events, client_as):
    client = client_as("viewer")
    seen, url = [], LIST
    while url:
        response = client.get(url)
        seen, url = seen + ids_on(response), next_page(response)
    assert seen == events[::-1]


def test_a_page_back_is_the_page_before(events, db):
    first = page_by_key(Event.objects.all(), size=50)
    second = page_by_key(Event.objects.all(), size=50, after=first.after)
    back = page_by_key(Event.objects.all(), size=50, before=second.before)
    assert back.rows == first.rows
    assert (back.before, back.after) == (None, first.after)


def test_ascending_pages_meet_every_row_once(events, db):
    first = page_by_key(Event.objects.all(), size=70, descending=False)
    second = page_by_key(Event.objects.all(), size=70, descending=False, after=first.after)
    assert [row.pk for row in first.rows + second.rows] == events
    assert second.after is None


@pytest.mark.parametrize("key", ["x", "-1", "9" * 40, "\x00", "1.5", "' OR 1=1"])
def test_a_key_that_no_row_has_is_no_error(key, events, client_as):
    for name in ("after", "before"):
        assert client_as("viewer").get(LIST, {name: key.replace("\x00", "")}).status_code == 200


def test_the_count_stops_early(events, client_as, monkeypatch):
    monkeypatch.setattr(pagination, "MOST_COUNTED", 100)
    assert "100+ rows" in client_as("viewer").get(LIST).text


def test_more_rows_need_no_more_queries(client_as, db, django_assert_num_queries):
    client = client_as("admin")
    client.get(LIST)
    with django_assert_num_queries(QUERIES_OF_A_LIST):
        client.get(LIST)
    for number in range(60):
        record("thing.happened", f"thing:{number}")
    with django_assert_num_queries(QUERIES_OF_A_LIST):
        client.get(LIST)


def test_search_and_filter_work(events, client_as, user_as):
    client = client_as("admin")
    assert ids_on(client.get(LIST, {"q": "thing:7"})) == [events[7]]
    make_token(user_as("admin"), "ci", "view", 1)
    tokens = "/admin/atributo_site/tokenscope/"
    assert "No rows match" in client.get(tokens, {"level__exact": "operate"}).text
    assert "No rows match" not in client.get(tokens, {"level__exact": "view"}).text


def test_a_viewer_sees_a_row_and_cannot_change_it(events, client_as):
    client = client_as("viewer")
    page = client.get(f"{LIST}{events[0]}/change/")
    assert page.status_code == 200
    assert 'name="_save"' not in page.text
    assert client.post(f"{LIST}{events[0]}/change/", {"kind": "x"}).status_code == 403
    assert client.post(f"{LIST}{events[0]}/delete/", {"post": "yes"}).status_code == 403


def test_nobody_adds_or_deletes_events(events, client_as):
    client = client_as("admin")
    assert client.get(f"{LIST}add/").status_code == 403
    assert client.post(f"{LIST}{events[0]}/delete/", {"post": "yes"}).status_code == 403
    assert Event.objects.filter(pk=events[0]).exists()


def test_an_administrator_gives_a_role_and_it_is_recorded(client_as, user_as):
    vera = user_as("nobody", "vera")
    group = user_as("operator").groups.get()
    form = {"username": "vera", "is_active": "on", "groups": group.pk}
    response = client_as("admin").post(f"/admin/auth/user/{vera.pk}/change/", form)
    assert response.status_code == 302
    assert User.objects.get(pk=vera.pk).groups.get() == group
    event = Event.objects.get(kind="user.changed")
    assert (event.subject, event.actor, event.channel) == ("user:vera", "admin", "browser")


def test_no_form_makes_a_superuser(client_as, user_as):
    vera = user_as("viewer", "vera")
    form = {"username": "vera", "is_active": "on", "is_superuser": "on", "is_staff": "on"}
    client_as("admin").post(f"/admin/auth/user/{vera.pk}/change/", form)
    vera.refresh_from_db()
    assert not vera.is_superuser


def test_the_list_of_leases_shows_the_holder(client_as, db):
    Lease.objects.acquire("curator", "node-1:77:abc", 3600)
    assert "node-1:77:abc" in client_as("viewer").get("/admin/allocation/lease/").text


def test_a_row_links_to_its_screen(client_as, db, monkeypatch):
    monkeypatch.setattr(Lease, "get_absolute_url", lambda lease: "/its/screen", raising=False)
    Lease.objects.acquire("curator", "node-1:77:abc", 3600)
    client = client_as("viewer")
    row = f"/admin/allocation/lease/{Lease.objects.get().pk}/change/"
    assert 'href="/its/screen"' in client.get("/admin/allocation/lease/").text
    assert 'href="/its/screen"' in client.get(row).text


def test_an_administrator_adds_a_user(client_as, db):
    phrase = "a long phrase nobody guesses"
    form = {"username": "new", "usable_password": "true", "password1": phrase, "password2": phrase}
    response = client_as("admin").post("/admin/auth/user/add/", form)
    assert response.status_code == 302
    assert User.objects.get(username="new").check_password(phrase)
    assert Event.objects.get(kind="user.added").subject == "user:new"


def test_a_short_password_is_refused(client_as, db):
    form = {"username": "new", "usable_password": "true", "password1": "abc", "password2": "abc"}
    assert "12 characters" in client_as("admin").post("/admin/auth/user/add/", form).text


def test_queued_jobs_are_found_by_state_and_by_whole_id(client_as, db):
    queue = make_queue()
    kinds = ("pending", "progress", "complete", "failed")
    jobs = {kind: make_job(queue, kind).pk for kind in kinds}
    reserved = make_job(queue, slot=queue.slots.first()).pk
    client = client_as("viewer")

    def found(**asked):
        page = client.get("/admin/queues/queuedjob/", asked).text
        return {int(pk) for pk in re.findall(r'href="/admin/queues/queuedjob/(\d+)/change', page)}

    states = ("waiting", "running", "complete", "failed")
    assert [found(state=state) for state in states] == [{pk} for pk in jobs.values()]
    assert (found(state="reserved"), found(q=str(reserved))) == ({reserved}, {reserved})
    assert found(q="nothing") == found(q=str(reserved)[:-1]) == set()
    assert found() == found(state="unknown") == {*jobs.values(), reserved}


@pytest.mark.only_on("sqlite")
def test_screens_and_raw_rows_lead_to_each_other(client_as, db):
    fill("a/b c")
    client = client_as("viewer")
    rows = [model.objects.first() for model in admin.site._registry if hasattr(model, SCREEN)]
    assert len(rows) == 11
    for row in rows:
        screen = row.get_absolute_url()
        raw = reverse(f"admin:{row._meta.db_table}_change", args=[quote(row.pk)])
        assert f'href="{raw}"' in client.get(screen).text
        assert f'href="{screen}"' in client.get(raw).text
