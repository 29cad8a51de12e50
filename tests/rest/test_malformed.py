"""Every write endpoint below /api/v1/ against every malformed body: 4xx, never 5xx."""

import re

import pytest

from atributo_site.rest.strict_json import NotStrictJSON, parsed
from tests.rest.malformed import NOT_OBJECTS, corpus
from tests.rest.rest_urls import endpoints

BODIES = corpus()
WRITING = ("POST", "PUT", "PATCH", "DELETE")
CODES = {"malformed", "invalid", "out_of_range"}


def write_targets():
    """Return method, path and whether any JSON is welcome there."""
    return [
        pytest.param(method, path, view.body_types != (dict,), id=f"{method}-{path}")
        for method, path, view in write_routes()
    ]


def write_routes():
    return [
        (
            method,
            "/" + re.sub(r"<(\w+:)?\w+>", lambda m: "7" if m[1] == "int:" else "seven", route),
            view,
        )
        for route, view in endpoints()
        if route.startswith("api/v1/")
        for method in WRITING
        if method in getattr(view, "actions", {})
    ]


def test_there_are_at_least_two_hundred_bodies():
    assert len(BODIES) >= 200


def refused(client, method, path, bodies):
    """Check that each body gets a 4xx that says what is wrong."""
    answers = {
        name: client.generic(method, path, body, content_type="application/json")
        for name, body in bodies.items()
    }
    wrong = {n: a.status_code for n, a in answers.items() if not 400 <= a.status_code < 500}
    assert wrong == {}
    assert {a["Content-Type"] for a in answers.values()} == {"application/problem+json"}
    assert all(len(a.json()["detail"]) > 10 for a in answers.values())


def unwelcome(takes_any_json, every=1, first=0):
    """Return the bodies that this endpoint must refuse, or one of so many."""
    names = [n for n in BODIES if not (takes_any_json and n.startswith("not an object"))]
    return {name: BODIES[name] for name in names[first::every]}


@pytest.mark.only_on("sqlite")  # they are refused before a database is asked
@pytest.mark.parametrize(("method", "path", "takes_any_json"), write_targets())
def test_malformed_bodies_are_4xx_with_a_problem(rest_as, method, path, takes_any_json):
    """Every endpoint meets every fourth body, neighbours different ones; together they meet all."""
    mine = unwelcome(takes_any_json, every=4, first=len(method + path) % 4)
    refused(rest_as("admin"), method, path, mine)


@pytest.mark.soak
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(("method", "path", "takes_any_json"), write_targets())
def test_every_malformed_body_is_4xx_at_every_endpoint(rest_as, method, path, takes_any_json):
    refused(rest_as("admin"), method, path, unwelcome(takes_any_json))


@pytest.mark.parametrize("name", [name for name in BODIES if not name.startswith("not an object")])
def test_the_parser_refuses_each_body_with_its_reason(name):
    with pytest.raises(NotStrictJSON, match=r"\w+ \w+"):
        parsed(BODIES[name])


@pytest.mark.parametrize(
    "text", [*NOT_OBJECTS, '{"a": {"b": [1, 2.5, null, true, "é😀\\ud83d\\ude00"]}}']
)
def test_the_parser_reads_what_is_json(text):
    parsed(text.encode())


def test_thirty_two_levels_are_fine_and_one_more_is_not():
    assert parsed(b"[" * 32 + b"1" + b"]" * 32)
    with pytest.raises(NotStrictJSON, match="deeper than 32"):
        parsed(b"[" * 33 + b"]" * 33)


def test_forty_digits_are_fine():
    assert parsed(b"9" * 40) == int("9" * 40)
