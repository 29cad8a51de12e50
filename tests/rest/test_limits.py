"""Throttling, pages by key and preconditions."""

import base64
from dataclasses import replace

import pytest
from django.test import Client

from atributo_site.core.events import record
from atributo_site.rest.throttling import MOST_KEYS, Buckets

EVENTS = "/api/v1/events"
ME = "/api/v1/me"
METRICS = "/metrics"
DOING = "/api/v1/doing"


def test_a_user_above_the_limit_is_429_until_the_time_said(rest_as, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, requests_per_minute=3)
    client = rest_as("viewer")
    assert [client.get(ME).status_code for _ in range(3)] == [200] * 3
    answer = client.get(ME)
    assert (answer.status_code, answer.json()["code"]) == (429, "throttled")
    assert 1 <= int(answer["Retry-After"]) <= 20
    assert rest_as("operator").get(ME).status_code == 200


def test_anonymous_requests_are_counted_by_address_where_they_are_answered(db, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, requests_per_minute=2, metrics_open=True)
    client = Client(REMOTE_ADDR="10.0.0.8")
    assert [client.get(METRICS).status_code for _ in range(3)] == [200, 200, 429]
    assert Client(REMOTE_ADDR="10.0.0.9").get(METRICS).status_code == 200


@pytest.mark.parametrize("method", ["get", "delete", "options"])
def test_what_needs_a_log_in_is_401_also_above_the_limit(db, settings, method):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, requests_per_minute=1)
    client = Client(REMOTE_ADDR="10.0.0.8")
    answers = [getattr(client, method)(ME) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [401] * 3
    assert answers[2]["WWW-Authenticate"] == 'Bearer realm="api"'


def test_anonymous_requests_that_share_an_address_are_not_counted_together(db, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, requests_per_minute=2, metrics_open=True)
    through_unnamed = {"REMOTE_ADDR": "10.0.0.7", "HTTP_X_FORWARDED_FOR": "192.0.2.1"}
    for where in (through_unnamed, {"REMOTE_ADDR": "127.0.0.1"}):
        assert [Client(**where).get(METRICS).status_code for _ in range(4)] == [200] * 4


def test_a_bucket_refills_evenly():
    seconds = [0.0]
    buckets = Buckets(monotonic=lambda: seconds[0])
    assert [buckets.wait("a", 2, per_seconds=60) for _ in range(3)] == [0, 0, 30]
    seconds[0] = 30.0
    assert [buckets.wait("a", 2, per_seconds=60) for _ in range(2)] == [0, 30]


def test_buckets_stay_bounded():
    buckets = Buckets()
    for number in range(MOST_KEYS + 10):
        buckets.wait(str(number), 2, per_seconds=60)
    assert len(buckets._levels) == MOST_KEYS


def test_events_come_newest_first_page_by_page(rest_as):
    client = rest_as("viewer")
    for number in range(5):
        record("a.made", f"a:{number}")
    first = client.get(EVENTS, {"limit": 2, "kind": "a.made"}).json()
    second = client.get(first["next"]).json()
    assert [e["subject"] for e in first["results"] + second["results"]] == [
        *("a:4", "a:3", "a:2", "a:1")
    ]
    assert client.get(second["previous"]).json()["results"] == first["results"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"kind": "b.made"}, ["b:1"]),
        ({"subject": "a:1"}, ["a:1"]),
        ({"actor": "system", "kind": "a.made"}, ["a:1"]),
        ({"since": "2100-01-01T00:00:00Z"}, []),
        ({"until": "2000-01-01T00:00:00Z"}, []),
        ({"since": "2000-01-01T00:00:00Z", "subject": "b:1"}, ["b:1"]),
    ],
)
def test_events_are_filtered(rest_as, filters, found):
    client = rest_as("viewer")
    record("a.made", "a:1")
    record("b.made", "b:1")
    assert [e["subject"] for e in client.get(EVENTS, filters).json()["results"]] == found


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x", "", "1.5", "9" * 50, "²"])
def test_a_wrong_limit_is_400_and_named(rest_as, limit):
    answer = rest_as("viewer").get(EVENTS, {"limit": limit})
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["limit"]


@pytest.mark.parametrize(
    "text",
    ["x", "p=abc", "o=-1", "o=99999999", "p=1e9", "r=1&p=%00", "p=" + "9" * 99, "é", "p=%ff"],
)
def test_a_wrong_cursor_is_never_a_failure_of_ours(rest_as, text):
    client = rest_as("viewer")
    for cursor in (text, base64.b64encode(text.encode()).decode()):
        assert client.get(EVENTS, {"cursor": cursor}).status_code in {200, 400}


@pytest.mark.parametrize(
    "since", ["x", "2026-13-01", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "é"]
)
def test_a_wrong_moment_is_400(rest_as, since):
    assert rest_as("viewer").get(EVENTS, {"since": since}).status_code == 400


@pytest.mark.urls("tests.rest.rest_urls")
@pytest.mark.parametrize(
    ("header", "epoch"),
    [('"7"', 7), ("*", None), ('"0"', 0), (' "12" ', 12)] + [('"5", "7"', 7), ('"5", "8"', 5)],
)
def test_if_match_names_the_epoch(rest_as, header, epoch):
    answer = rest_as("viewer").put(DOING, headers={"If-Match": header})
    assert answer.json()["epoch"] == epoch


@pytest.mark.urls("tests.rest.rest_urls")
@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("7", 400),
        ('"7', 400),
        ('W/"7"', 412),
        ('"7" "8"', 400),
        ("", 400),
        ('"x"', 412),
        ('"07"', 412),
    ]
    + [('"-1"', 412), ('"' + "9" * 30 + '"', 412), ("w/'7'", 400)],
)
def test_a_wrong_if_match_is_told_apart_from_a_late_one(rest_as, header, status):
    assert rest_as("viewer").put(DOING, headers={"If-Match": header}).status_code == status


@pytest.mark.urls("tests.rest.rest_urls")
def test_if_none_match_star_asks_for_something_new(rest_as):
    client = rest_as("viewer")
    assert client.put(DOING, headers={"If-None-Match": "*"}).json()["new"] is True
    assert client.put(DOING).json()["new"] is False
