"""The command and curl of every page run as they are, for the object of the page."""

import re
import shlex
from html import unescape
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.db.transaction import atomic, set_rollback

from allocation.instances import availability
from atributo_site.console.base.terminal import curl
from tests.console.full_site import fill, screens

# How pages are written does not depend on the database.
pytestmark = [pytest.mark.django_db, pytest.mark.only_on("sqlite")]
ODD = "it's a/b &c"  # all that a shell or an address might trip over
WITH_PLACEHOLDERS = {"pools-backends", "pools-timeline"}  # of all names, so that none is meant
NOT_HERE = {"pools-look-up", "script"}  # DNS and a process of its own
FILTERED = {  # page with a filter → what gives the same rows
    "/instances/?prefix=it's a": [
        "manage.py instances list --prefix 'it'\"'\"'s a'",
        "/api/v1/instances?prefix=it%27s+a",
    ],
    "/instances/?state=draining&prefix=w": [
        "manage.py instances list --prefix w --state draining",
        "/api/v1/instances?prefix=w&state=draining",
    ],
    "/instances/?state=nonsense": ["manage.py instances list", "/api/v1/instances"],
    "/transactions/?owner=vera": ["/api/v1/transactions?open=true&owner=vera"],
    "/transactions/locks/?collection=a": [
        "manage.py locks list --collection a",
        "/api/v1/locks?collection=a",
    ],
    "/transactions/locks/?collection=a&key=b": ["/api/v1/locks?collection=a&key=b"],
    "/transactions/history/?status=completed": ["/api/v1/transactions?open=false&status=completed"],
    "/transactions/history/?since=2h": [],
    "/events/": ["/api/v1/events"],
    "/events/?kind=a.b&subject=c:d&actor=e&since=2026-01-31&until=2026-02-01": [
        "/api/v1/events?since=2026-01-31T00%3A00%3A00%2B00%3A00"
        "&until=2026-02-01T00%3A00%3A00%2B00%3A00&subject=c%3Ad&kind=a.b&actor=e"
    ],
    "/events/?since=nonsense": ["/api/v1/events"],
    "/system/processes/": ["/api/v1/snapshot"],
    "/system/settings/": ["manage.py doctor --list-settings"],
}
REFUSED = {  # for what these rows are, not for how it is written
    "instance-remove": 409,  # a job holds it
    "pool-change": 400,  # no name that people give has a slash
    "job-edit": 400,  # the data is left to the reader
}
ABOUT_IT = {"instance", "instance-remove", "allocation", "queue", "pool", "document"}


@pytest.fixture
def said(client_as):
    """Return the commands and curls of each screen as the words that a shell reads."""
    fill(ODD)
    client = client_as("admin")
    return {name: _words(client.get(path).text) for name, path in screens(ODD).items()}


def _words(page):
    text = page.partition("The same from a terminal")[2]
    found = [shlex.split(unescape(code)) for code in re.findall(r"<code>(.*?)</code>", text)]
    return [words for words in found if words[0] in {"curl", "manage.py"}]


def test_every_curl_is_answered(said, rest_as):
    rest = rest_as("admin")
    curls = [
        (name, words)
        for name, found in said.items()
        for words in found
        if words[0] == "curl" and name not in WITH_PLACEHOLDERS | NOT_HERE
    ]
    answers = [(name, _answered(rest, words)) for name, words in curls]
    assert len(answers) > 40
    assert {name: status for name, status in answers if status >= 300} == REFUSED


def _answered(rest, words):
    """Return the status and roll back what the request did."""
    given = dict(zip(words, words[1:], strict=False))
    address = urlsplit(words[-1])
    assert address.scheme == "http" and address.netloc == "testserver"
    path = address.path.replace("%2F", "%1F")  # as asgi.py hands it on
    with atomic():
        answer = rest.generic(
            given.get("-X", "GET"),
            f"{path}?{address.query}",
            given.get("-d", ""),
            content_type="application/json",
        )
        set_rollback(True)
    return answer.status_code


def test_every_command_is_understood(said):
    commands = [words for found in said.values() for words in found if words[0] == "manage.py"]
    assert len(commands) > 40
    for _, name, *options in commands:
        if name != "resolve":  # which reads its words by itself
            command = load_command_class(get_commands()[name], name)
            command.create_parser("manage.py", name).parse_args(options)


def test_the_object_of_the_page_is_named(said):
    silent = {name for name in ABOUT_IT if not any(ODD in words for words in said[name])}
    assert silent == set()


@pytest.mark.parametrize("path", FILTERED)
def test_the_filter_of_the_page_is_in_it(path, client_as, rest_as):
    found = _words(client_as("viewer").get(path).text)
    said = [
        words[-1].removeprefix("http://testserver") if words[0] == "curl" else shlex.join(words)
        for words in found
    ]
    assert said == FILTERED[path]
    rest = rest_as("viewer")
    curls = [words for words in found if words[0] == "curl"]
    assert [_answered(rest, words) for words in curls] == [200] * len(curls)


def test_an_age_is_the_moment_that_it_was(client_as):
    (words,) = _words(client_as("viewer").get("/events/?since=2h").text)
    assert re.search(r"/api/v1/events\?since=20\d\d-\d\d-\d\dT", words[-1])


def test_a_body_survives_the_shell():
    words = shlex.split(curl("/api/v1/x?a=b&c", "POST", {"said": "it's «so»"}))
    assert words[-2:] == ['{"said": "it\'s «so»"}', "/api/v1/x?a=b&c"]


def test_a_table_in_a_pipe_is_neither_cut_nor_wrapped(capsys):
    wide = "x" * 255
    availability.make_available(wide)
    call_command("instances", "list")
    assert any(line.startswith(f"{wide} ") for line in capsys.readouterr().out.splitlines())
