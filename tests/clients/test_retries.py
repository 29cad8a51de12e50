"""When a request is sent again: a flow is driven by hand, nothing waits and nothing is sent."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_client.errors import (
    Busy,
    InDoubt,
    NoAnswer,
    NotYet,
    QueueNotFound,
    ScriptFailed,
    Throttled,
    Unreachable,
)
from atributo_client.resources.jobs import wait
from atributo_client.resources.services import Scripts
from atributo_client.retries import Retries, patient
from atributo_client.steps import KEY, Answer, Request, ask, encoded

JSON = {"content-type": "application/json"}
OK = Answer(200, JSON, b'{"id": "7"}')
RETRIES = Retries(attempts=4, patience_seconds=20)


def busy(seconds=1, code="busy"):
    headers = {"content-type": "application/problem+json", "retry-after": str(seconds)}
    return Answer(503, headers, b'{"code": "%s", "detail": "d"}' % code.encode())


def played(flow, outcomes, retries=RETRIES):
    """Return the requests that were sent, the pauses, and the result or the error."""
    requests, pauses, left = [], [], list(outcomes)
    steps = patient(flow, retries)
    reply = None
    try:
        while True:
            step = steps.send(reply)
            if isinstance(step, Request):
                requests.append(step)
                reply = left.pop(0) if left else outcomes[-1]
            else:
                pauses.append(step.seconds)
                reply = None
    except StopIteration as end:
        return requests, pauses, end.value
    except Exception as error:
        return requests, pauses, error


def test_a_retried_post_has_the_same_key_and_the_same_bytes():
    lost = [NoAnswer("lost"), Unreachable("away"), busy(), OK]
    requests, _, result = played(ask("POST", "queues", {"name": "a"}), lost)
    assert result == {"id": "7"}
    assert len(requests) == 4 and len(set(map(id, requests))) == 1
    assert len(requests[0].headers[KEY]) == 32


def test_two_posts_have_two_keys():
    keys = {played(ask("POST", "queues", {}), [OK])[0][0].headers[KEY] for _ in range(2)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("method", "headers"), [("PATCH", {}), ("DELETE", {}), ("PUT", {"If-Match": '"1"'})]
)
def test_a_change_that_cannot_be_repeated_is_in_doubt(method, headers):
    requests, _, error = played(ask(method, "a", headers=headers), [NoAnswer("lost")])
    assert len(requests) == 1
    assert isinstance(error, InDoubt) and "may be done or not" in str(error)


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "PUT", "POST", "GET"])
def test_what_was_not_sent_may_always_be_sent_again(method):
    requests, _, result = played(ask(method, "a"), [Unreachable("away"), busy(), OK])
    assert (len(requests), result) == (3, {"id": "7"})


def test_what_the_site_calls_doubtful_is_not_sent_again():
    requests, _, error = played(ask("POST", "a"), [busy(code="in_doubt")])
    assert (len(requests), type(error)) == (1, InDoubt)


def test_a_post_whose_answers_are_all_lost_names_its_key():
    requests, _, error = played(ask("POST", "a", key="order-7"), [NoAnswer("lost")])
    assert len(requests) == RETRIES.attempts
    assert isinstance(error, InDoubt) and error.facts["idempotency_key"] == "order-7"


def test_the_site_says_how_long_to_wait():
    _, pauses, _ = played(ask("GET", "a"), [busy(7), OK])
    assert pauses == [7]


def test_a_wait_beyond_the_patience_is_not_begun():
    requests, pauses, error = played(ask("GET", "a"), [busy(60)])
    assert (len(requests), pauses, type(error)) == (1, [], Busy)


def test_a_limit_of_requests_is_waited_for():
    kind = {"content-type": "application/problem+json", "retry-after": "2"}
    throttled = Answer(429, kind, b'{"code": "throttled", "detail": "d"}')
    _, pauses, error = played(ask("GET", "a"), [throttled])
    assert pauses == [2, 2, 2] and isinstance(error, Throttled)


@given(
    st.lists(st.sampled_from([NoAnswer("a"), Unreachable("b"), busy(3), OK]), min_size=1),
    st.integers(1, 9),
    st.floats(0, 60),
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
)
def test_retries_are_bounded(outcomes, attempts, patience, method):
    retries = Retries(attempts, patience)
    requests, pauses, result = played(ask(method, "a"), outcomes, retries)
    assert len(requests) <= attempts and sum(pauses) <= patience
    assert len(pauses) < len(requests) and all(pause > 0 for pause in pauses)
    assert result == {"id": "7"} or isinstance(result, Exception)


@given(st.floats(0, 100))
def test_a_wait_for_a_job_has_its_end(seconds):
    pending = Answer(200, JSON, b'{"status": "pending", "error": ""}')
    requests, pauses, error = played(wait("7", seconds), [pending])
    assert isinstance(error, NotYet)
    assert sum(pauses) == pytest.approx(seconds) and len(requests) == len(pauses) + 1


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), "\ud800"])
def test_what_json_cannot_hold_is_refused_before_anything_is_sent(value):
    with pytest.raises((ValueError, TypeError)):
        next(ask("POST", "a", {"data": value}))


def test_moments_are_text():
    assert encoded(datetime(2026, 1, 2, tzinfo=UTC)) == b'"2026-01-02T00:00:00+00:00"'


@pytest.mark.parametrize("last", [Unreachable("away"), busy(), busy(code="throttled")])
def test_a_change_that_was_lost_once_stays_in_doubt(last):
    """The last attempt did nothing, but the first one may have."""
    _, _, error = played(ask("POST", "a", key="order-7"), [NoAnswer("lost"), last])
    assert isinstance(error, InDoubt) and error.facts["idempotency_key"] == "order-7"


def test_a_refusal_settles_what_was_lost():
    kind = {"content-type": "application/problem+json"}
    refused = Answer(404, kind, b'{"code": "queue_not_found", "detail": "d"}')
    _, _, error = played(ask("POST", "a"), [NoAnswer("lost"), refused])
    assert isinstance(error, QueueNotFound)


def test_a_read_is_never_in_doubt():
    _, _, error = played(ask("GET", "a"), [NoAnswer("lost"), Unreachable("away")])
    assert isinstance(error, Unreachable)


def script_run(state, **more):
    run = {"id": "r", "state": state, "result": None, "error": "", "status_code": None, **more}
    return Answer(202, JSON, json.dumps(run).encode())


def run_script(*outcomes, seconds=60.0):
    group = Scripts(None)
    return played(Scripts.run.describe(group, "/m", "s", 1, timeout_seconds=seconds), outcomes)


def test_a_script_that_takes_long_is_asked_for_until_it_ends():
    running, done = script_run("running"), script_run("complete", result=[42])
    requests, pauses, result = run_script(running, running, done)
    assert (result, pauses) == ([42], [1.0, 1.0])
    assert [each.path for each in requests[1:]] == ["/api/v1/services/runs/r"] * 2


def test_a_script_that_fails_later_is_an_error():
    _, _, error = run_script(script_run("waiting"), script_run("failed", error="Boom"))
    assert isinstance(error, ScriptFailed) and str(error) == "Boom"


def test_a_script_that_does_not_end_is_not_waited_for_any_longer():
    _, pauses, error = run_script(script_run("running"), seconds=3)
    assert isinstance(error, NotYet) and sum(pauses) == 3
