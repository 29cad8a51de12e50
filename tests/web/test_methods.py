"""An answer 405 says which methods there are, for every address of the site."""

import re

import pytest

from tests.rest.rest_urls import endpoints

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"}
PATHS = sorted("/" + re.sub(r"<[^>]*>", "1", route) for route, _ in endpoints())


@pytest.mark.parametrize("path", [path for path in PATHS if not re.search(r"[\^\\]", path)])
def test_allow_names_the_methods_that_are_not_405(client_as, path):
    client = client_as("admin", raise_request_exception=False)
    answers = {method: client.generic(method, path) for method in sorted(METHODS)}
    refused = {method for method, answer in answers.items() if answer.status_code == 405}
    for method in refused:
        assert set(answers[method]["Allow"].split(", ")) == METHODS - refused, method
