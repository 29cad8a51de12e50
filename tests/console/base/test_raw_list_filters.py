"""Raw lists can be filtered only by the filters that they offer."""

import re
from html import unescape

import pytest
from django.contrib import admin
from django.core.exceptions import BadRequest
from django.test import RequestFactory
from django.urls import reverse

import atributo_site.urls  # noqa: F401 – it registers the lists
from queues.models import Service
from tests.console.full_site import fill
from tests.factories.jobs import make_job, make_queue

admin.autodiscover()
LISTS = list(admin.site._registry.values())
LOOK_UPS = ["", "exact", "regex", "iregex", "contains", "startswith", "gt", "lt", "in", "isnull"]
INSIDE = ["password", "password__regex", "password__gt", "0__startswith", "has_key"]
ROLES = ["viewer", "operator", "admin"]


def name_of(raw_list):
    return raw_list.opts.db_table


def list_url(raw_list):
    return reverse(f"admin:{raw_list.opts.app_label}_{raw_list.opts.model_name}_changelist")


def ways_to(model, deep):
    """Return every field of a model and of its relations in both directions."""
    for field in model._meta.get_fields():
        name = getattr(field, "name", "")
        yield name
        if field.is_relation and deep and field.related_model:
            yield from (f"{name}__{way}" for way in ways_to(field.related_model, deep - 1))


def look_ups(raw_list):
    for way in ways_to(raw_list.model, deep=2):
        ends = ["", "regex", "password__gt"] if "__" in way else [*LOOK_UPS, *INSIDE]
        yield from (f"{way}__{end}".removesuffix("__") for end in ends)
    yield from ("pk__regex", "nothing", "nothing__regex", "pk__in", "id__gt", "_data__regex")


@pytest.mark.only_on("sqlite")  # neither is asked
@pytest.mark.parametrize("raw_list", LISTS, ids=name_of)
def test_a_look_up_that_no_filter_offers_asks_the_database_nothing(
    raw_list, user_as, django_assert_num_queries
):
    user = user_as("admin")
    assert raw_list.has_view_permission(filtered_by("", user))  # reads the permissions once
    asked = set(look_ups(raw_list)) - raw_list.filter_names(filtered_by("", user))
    assert len(asked) > 50
    with django_assert_num_queries(0):
        for look_up in asked:
            with pytest.raises(BadRequest, match=re.escape(look_up[:100])):
                raw_list.get_changelist_instance(filtered_by(look_up, user))


def filtered_by(look_up, user):
    request = RequestFactory().get("/", {look_up: "^C"})
    request.user = user
    return request


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("role", ROLES)
def test_nobody_is_answered_and_everybody_is_told_why(role, client_as, db):
    client = client_as(role)
    permitted = [one for one in LISTS if client.get(list_url(one)).status_code == 200]
    assert len(permitted) >= 25
    for raw_list in permitted:
        for look_up in ("pk__regex", f"{raw_list.opts.pk.name}__gt"):
            answer = client.get(list_url(raw_list), {look_up: "1"})
            assert answer.status_code == 400
            assert f"This list is not filtered by {look_up}" in answer.text


HIDDEN = {
    "/admin/queues/service/": ["configuration__password__regex", "configuration__icontains"],
    "/admin/queues/script/": ["service__configuration__password__startswith"],
    "/admin/queues/queuedjob/": ["data__password__regex", "result__token__gt", "data__contains"],
    "/admin/queues/run/": ["job__data__password__regex"],
    "/admin/queues/slot/": ["queue__queuedjob__data__password__regex"],
    "/admin/allocation/document/": ["value__password__startswith"],
    "/admin/allocation/documentversion/": ["value__password__gt", "document__value__password__lt"],
    "/admin/allocation/journalentry/": ["before_value__password__regex"],
    "/admin/auth/user/": ["password__startswith", "auth_token_set__digest__startswith"],
    "/admin/atributo_site/tokenscope/": ["token__digest__startswith"],
}


@pytest.mark.parametrize("path", HIDDEN)
def test_right_and_wrong_guesses_of_a_secret_are_answered_alike(path, client_as, db):
    Service.objects.create(mount="/m", name="m", configuration={"password": "Canary"})
    make_job(make_queue(), data={"password": "Canary"})
    client = client_as("admin" if "auth" in path or "token" in path else "viewer")
    for look_up in HIDDEN[path]:
        answers = [client.get(path, {look_up: guess}) for guess in ("^C", "^x", "C", "x")]
        assert {answer.status_code for answer in answers} == {400}


@pytest.mark.only_on("sqlite")
def test_every_filter_that_a_list_offers_works(client_as, db):
    fill("a/b c")
    client = client_as("admin")
    offered = {path + link for path in map(list_url, LISTS) for link in links_on(client, path)}
    assert len(offered) > 20
    assert {client.get(link).status_code for link in offered} == {200}


def links_on(client, path):
    """Return the links of the filters beside the list."""
    links = re.findall(r'href="(\?[^"]*(?:__exact|state)=[^"]*)"', client.get(path).text)
    return map(unescape, links)


def test_filters_keep_their_page_and_their_search(client_as, db):
    queue = make_queue()
    jobs = [make_job(queue, "failed").pk for _ in range(3)]
    asked = {"state": "failed", "after": jobs[1], "q": jobs[0]}
    page = client_as("viewer").get("/admin/queues/queuedjob/", asked).text
    assert [f"/queuedjob/{job}/change" in page for job in jobs] == [True, False, False]


@pytest.mark.django_db
def test_a_filter_that_every_link_would_repeat_has_an_end(client_as):
    answer = client_as("viewer").get("/admin/queues/queuedjob/", {"state": "x" * 1001})
    assert answer.status_code == 400 and "at most 1000 characters" in answer.text
