"""Perform every action of the table with the mouse, with and without JavaScript, by role.

The fixture `page_as` adds: no console error, no other host, no violation of the policy.
"""

from dataclasses import replace

import pytest

from atributo_site.console.instances.actions import VERBS
from atributo_site.core.models import Event
from atributo_site.permissions import ACTIONS, ROLES
from atributo_site.web.error_pages import THEME_COOKIE
from tests.browser.actions import ROOMS
from tests.browser.actions.people import PASSWORD
from tests.console.every_url import NEVER, every_url
from tests.cross_room.audit.audited_screens import SCREENS

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

URLS = {url.name: url for url in every_url() if url.kind != "rest" and "POST" in url.actions}
BY_VERB = {"instance-change": VERBS, "allocation-change": ("allocate", "deallocate")}
WITHOUT_A_FORM = {  # Django's own views, which answer a POST like a GET: nothing can be changed
    "auth_user_changelist",
    "auth_user_history",
    "allocation_instance_history",
    "queues_queue_history",
    "atributo_site_tokenscope_changelist",
    "atributo_site_tokenscope_history",
    "atributo_site_tokenscope_change",
}


@pytest.fixture
def ground(dns_server, settings, user_as, migrated_database, monkeypatch, scripts_are_taken):
    """Prepare what every action needs: people with a password, and a nameserver."""
    monkeypatch.setenv("DATABASE_URL", migrated_database.url)  # a child process runs the script
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # a quick one
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.0/8:*",))
    dns_server.set("_http._tcp.svc.example", "SRV", [(0, 0, 80, "t1.example")], 10)
    dns_server.set("t1.example", "A", ["10.0.0.1"], 10)
    for role in ROLES:
        user = user_as(role)
        user.set_password(PASSWORD)
        user.save()
    return {
        "nameserver": f"{dns_server.address}:{dns_server.port}",
        "asked": lambda: dns_server.queries,
    }


def names():
    """Yield each address that a role may post to, with its verbs."""
    for name, url in URLS.items():
        if url.actions["POST"] != NEVER and name not in WITHOUT_A_FORM:
            verbs = BY_VERB.get(name)
            yield from [f"{name}:{verb}" for verb in verbs] if verbs else [name]


def roles_of(action):
    """Return the roles that may do it, the lowest first."""
    permission = URLS[action.url.partition(":")[0]].actions["POST"]
    return [
        role for role in ROLES if permission not in ACTIONS or ACTIONS[permission] in ROLES[role]
    ]


def test_every_address_that_takes_a_post_has_its_row():
    assert {action.url for actions in ROOMS.values() for action in actions} == set(names())


def test_every_address_that_takes_a_post_has_its_event():
    assert set(SCREENS) == set(names())


with_and_without = pytest.mark.parametrize("javascript", [True, False], ids=["js", "plain"])
each_room = pytest.mark.parametrize("room", ROOMS)


@with_and_without
@each_room
def test_it_does_what_it_says(room, javascript, page_as, ground, subtests):
    """Perform each action once, every other one with JavaScript."""
    do(ROOMS[room][0 if javascript else 1 :: 2], javascript, page_as, ground, subtests)


@pytest.mark.soak
@with_and_without
@each_room
def test_it_does_what_it_says_either_way(room, javascript, page_as, ground, subtests):
    do(ROOMS[room], javascript, page_as, ground, subtests)


def do(actions, javascript, page_as, ground, subtests):
    pages = {}
    for action in actions:
        role = None if action.url == "login" else roles_of(action)[0]
        if role not in pages:
            pages[role] = page_as(role, java_script_enabled=javascript)
        with subtests.test(action.url):
            last = newest_event()
            action.perform(pages[role], {**ground, "theme": theme_of(pages[role])})
            assert not SCREENS[action.url] or kinds_since(last, role or "viewer") & set(
                SCREENS[action.url]
            )


def newest_event():
    return Event.objects.order_by("pk").values_list("pk", flat=True).last() or 0


def kinds_since(last, name):
    """Return the kinds of events that this person caused since then."""
    new = Event.objects.filter(pk__gt=last, actor=name, channel="browser")
    return set(new.values_list("kind", flat=True))


def theme_of(page):
    return lambda: {each["name"]: each["value"] for each in page.context.cookies()}.get(
        THEME_COOKIE
    )


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_nobody_is_offered_what_they_may_not_do(role, page_as, ground):
    page = page_as(role)
    actions = [
        action for actions in ROOMS.values() for action in actions if role not in roles_of(action)
    ]
    assert [action.url for action in actions if action.is_offered(page, ground)] == []


def test_the_measure_itself_finds_what_is_offered(page_as, ground):
    page = page_as("admin")
    assert all(action.is_offered(page, ground) for action in ROOMS["queues"])
