"""Saved views: the filters of a list under a name."""

import pytest
from django.urls import reverse

from atributo_site.console.base.saved_views import MOST, SCREENS
from atributo_site.models import SavedView

pytestmark = pytest.mark.django_db
FAILED = {"screen": "jobs", "name": "Broken mails", "query": "state=failed&q=queue:mail&after=7"}


def test_a_view_is_saved_without_the_place_in_the_list(client_as):
    client = client_as("viewer")
    page = client.post("/views", FAILED, follow=True)
    assert page.redirect_chain[0][0] == "/jobs/?state=failed&q=queue%3Amail"
    assert 'aria-current="true">Broken mails<' in page.text
    assert "Broken mails" not in client.get("/events/").text


def test_the_same_name_replaces_it_and_a_cross_removes_it(client_as):
    client = client_as("viewer")
    client.post("/views", FAILED)
    client.post("/views", {**FAILED, "query": "state=running"})
    view = SavedView.objects.get()
    assert view.query == "state=running"
    assert "is removed" in client.post(f"/views/{view.pk}/remove", follow=True).text
    assert not SavedView.objects.exists()


def test_views_of_others_are_neither_seen_nor_removed(client_as):
    client_as("viewer").post("/views", FAILED)
    other = client_as("operator")
    assert "Broken mails" not in other.get("/jobs/").text
    assert other.post(f"/views/{SavedView.objects.get().pk}/remove").status_code == 404


@pytest.mark.parametrize("screen", SCREENS)
def test_every_list_with_filters_shows_its_views(screen, client_as):
    client = client_as("viewer")
    page = client.post("/views", {"screen": screen, "name": "Mine", "query": ""}, follow=True)
    assert (
        page.status_code == 200 and page.redirect_chain[0][0] == f"{reverse(f'atributo:{screen}')}?"
    )
    assert "Remove the view Mine" in page.text


@pytest.mark.parametrize(
    ("wrong", "leads_to"), [({"screen": "https://evil.example"}, "/"), ({"name": ""}, "/jobs/")]
)
def test_only_lists_of_ours_are_saved(wrong, leads_to, client_as):
    assert client_as("viewer").post("/views", {**FAILED, **wrong}).url == leads_to
    assert not SavedView.objects.exists()


def test_a_full_shelf_takes_a_view_that_is_there_already(client_as, user_as):
    names = [FAILED["name"], *(f"view {number}" for number in range(1, MOST))]
    owner = user_as("viewer")
    SavedView.objects.bulk_create(SavedView(user=owner, screen="jobs", name=n) for n in names)
    client = client_as("viewer")
    assert "is saved" in client.post("/views", FAILED, follow=True).text
    assert "Remove one first" in client.post("/views", {**FAILED, "name": "x"}, follow=True).text
    assert SavedView.objects.count() == MOST


def test_filters_that_are_too_long_are_said_to_be_so_where_they_stand(client_as):
    page = client_as("viewer").post("/views", {**FAILED, "query": "q=" + "x" * 1000}, follow=True)
    assert page.redirect_chain[0][0] == "/jobs/"
    assert "Filters: Ensure this value has at most 1000 characters" in page.text
