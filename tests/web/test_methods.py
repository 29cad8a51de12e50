"""An answer 405 says which methods there are, for every address of the site."""

import re

import pytest

from tests.rest.rest_urls import endpoints

pytestmark = pytest.mark.only_on("sqlite")  # no answer depends on the database
READING = {"GET", "HEAD"}
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"}
ADDRESSES = ("/" + re.sub(r"<[^>]*>", "1", route) for route, _ in endpoints())
RAW_LISTS = {"instance", "queue", "event"}  # all have the same views; two of these can be changed
PARTS = 4  # each logs in once


def is_asked(path):
    """Return whether it is written out, and that of a raw list like others left to one of them."""
    of_raw_list = re.match(r"/admin/\w+/(\w+)/", path)
    return not re.search(r"[\^\\]", path) and (not of_raw_list or of_raw_list[1] in RAW_LISTS)


# The one that ends the session of a part comes last.
PATHS = sorted(filter(is_asked, ADDRESSES), key=lambda path: ("logout" in path, path))


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
