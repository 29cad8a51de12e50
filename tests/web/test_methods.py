"""An answer 405 says which methods there are, for every address of the site."""

import re

import pytest

from tests.rest.rest_urls import endpoints

pytestmark = pytest.mark.only_on("sqlite")  # no answer depends on the database
READING = {"GET", "HEAD"}
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"}
ADDRESSES = ("/" + re.sub(r"<[^>]*>", "1", route) for route, _ in endpoints())
WRITTEN_OUT = sorted(path for path in ADDRESSES if not re.search(r"[\^\\]", path))
PATHS = sorted(WRITTEN_OUT, key=lambda path: "logout" in path)  # which ends the session of a part
PARTS = 4  # each logs in once


@pytest.mark.parametrize("paths", [PATHS[part::PARTS] for part in range(PARTS)], ids=range(PARTS))
def test_allow_names_the_methods_that_are_not_405(client_as, paths):
    client = client_as("admin", raise_request_exception=False)
    assert {path: wrong for path in paths if (wrong := wrong_headers(client, path))} == {}


def wrong_headers(client, path):
    """Return the methods that are refused with other words than the methods that are not.

    That GET is answered where it is said to be, the table of permissions tests at every address.
    """
    answers = {method: client.generic(method, path) for method in sorted(METHODS - READING)}
    allowed = {allow_of(answer) for answer in answers.values() if answer.status_code == 405}
    reading = READING - set().union(*allowed) if allowed else READING
    answers |= {method: client.generic(method, path) for method in sorted(reading)}
    refused = {method for method, answer in answers.items() if answer.status_code == 405}
    return [method for method in refused if allow_of(answers[method]) != METHODS - refused]


def allow_of(answer):
    return frozenset(answer["Allow"].split(", "))
