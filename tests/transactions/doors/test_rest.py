"""Documents, transactions, locks and curators over REST."""

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from allocation.transactions import Transaction
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.models import Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now

pytestmark = pytest.mark.django_db(transaction=True)
API = "/api/v1"
NOTHING = object()


class Rest:
    """JSON in, JSON out."""

    def __init__(self, client):
        self._client = client

    def __call__(self, method, path, body=NOTHING, **headers):
        text = "" if body is NOTHING else json.dumps(body)
        return self._client.generic(method, API + path, text, "application/json", headers=headers)


@pytest.fixture
def operator(rest_as):
    return Rest(rest_as("operator"))


@pytest.fixture
def begun(operator):
    return operator("POST", "/transactions", {"owner": "test"}).json()["id"]


def operate(rest, txn, **operation):
    return rest("POST", f"/transactions/{txn}/operations", operation)


def test_a_document_is_put_read_patched_and_deleted(operator):
    made = operator("PUT", "/collections/c/k", {"n": 1})
    assert (made.status_code, made["ETag"]) == (201, f'"{made.json()["ref"]}"')
    read = operator("GET", "/collections/c/k")
    assert (read.status_code, read.json(), read["ETag"]) == (200, {"n": 1}, made["ETag"])
    patch = [{"op": "inc", "path": "/n"}]
    assert operator("PATCH", "/collections/c/k", patch).status_code == 201
    assert operator("PATCH", "/collections/c/k", {"m": 2}).status_code == 201
    assert operator("GET", "/collections/c/k").json() == {"n": 2, "m": 2}
    assert operator("DELETE", "/collections/c/k").status_code == 204
    assert operator("GET", "/collections/c/k").json()["code"] == "document_not_found"


def test_every_change_of_a_document_is_an_event_and_a_refusal_is_none(operator, rest_as):
    operator("PUT", "/collections/c/k", {"n": 1})
    operator("PUT", "/collections/c/k", {}, **{"If-None-Match": "*"})
    operator("PATCH", "/collections/c/k", {"n": 2})
    operator("DELETE", "/collections/c/k")
    operator("DELETE", "/collections/c/k")
    happened = Event.objects.about("document:c/k").values_list("kind", "actor", "channel")
    assert list(happened) == [
        (f"document.{verb}", "operator", "rest") for verb in ("put", "patched", "deleted")
    ]
    Rest(rest_as("admin"))("DELETE", "/collections/c")
    assert Event.objects.about("collection:c").get().kind == "collection.dropped"


def test_a_stale_etag_is_412_and_a_known_one_304(operator):
    old = operator("PUT", "/collections/c/k", {"n": 1})["ETag"]
    new = operator("PUT", "/collections/c/k", {"n": 2}, **{"If-Match": old})
    assert new.status_code == 201
    for method, body in (("PUT", {}), ("DELETE", NOTHING), ("PATCH", {"x": 1})):
        stale = operator(method, "/collections/c/k", body, **{"If-Match": old})
        assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    again = operator("PUT", "/collections/c/k", {}, **{"If-None-Match": "*"})
    assert again.status_code == 412
    known = operator("GET", "/collections/c/k", **{"If-None-Match": new["ETag"]})
    assert (known.status_code, known.content) == (304, b"")


WRITES = [("PUT", {"n": 2}), ("PATCH", {"n": 2}), ("DELETE", NOTHING)]


@pytest.mark.parametrize(("method", "body"), WRITES)
@pytest.mark.parametrize("header", ["W/{tag}", 'W/{tag}, "other"', '""', '"{long}"', 'W/"x"'])
def test_if_match_compares_strongly(operator, method, body, header):
    tag = operator("PUT", "/collections/c/k", {"n": 1})["ETag"]
    demanded = header.format(tag=tag, long="a" * 99)
    answer = operator(method, "/collections/c/k", body, **{"If-Match": demanded})
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert operator("GET", "/collections/c/k").json() == {"n": 1}


@pytest.mark.parametrize(("method", "body"), WRITES)
@pytest.mark.parametrize("header", ['"other", {tag}', "{tag},{tag}", ' ,{tag} ,, W/"x"', "*"])
def test_if_match_may_be_a_list(operator, method, body, header):
    tag = operator("PUT", "/collections/c/k", {"n": 1})["ETag"]
    demanded = header.format(tag=tag)
    answer = operator(method, "/collections/c/k", body, **{"If-Match": demanded})
    assert answer.status_code in (201, 204)
    late = operator(method, "/collections/c/k", body, **{"If-Match": f'"other", {tag}'})
    assert late.status_code == 412 or (method, late.status_code) == ("PATCH", 404)


@pytest.mark.parametrize("header", ["x", '"x', '"x" "y"', ",", ""])
def test_an_if_match_that_is_no_list_of_tags_is_400(operator, header):
    operator("PUT", "/collections/c/k", {"n": 1})
    answer = operator("PUT", "/collections/c/k", {"n": 2}, **{"If-Match": header})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize("header", ["{tag}", "W/{tag}", '"other", {tag}'])
def test_a_put_is_refused_while_if_none_match_matches(operator, header):
    tag = operator("PUT", "/collections/c/k", {"n": 1})["ETag"]
    named = {"If-None-Match": header.format(tag=tag)}
    assert operator("PUT", "/collections/c/k", {"n": 2}, **named).status_code == 412
    operator("PUT", "/collections/c/k", {"n": 3})
    assert operator("PUT", "/collections/c/k", {"n": 4}, **named).status_code == 201


def test_what_if_match_names_is_not_new(operator):
    both = {"If-Match": '"some"', "If-None-Match": "*"}
    assert operator("PUT", "/collections/c/none", {}, **both).status_code == 412
    assert operator("GET", "/collections/c/none").status_code == 404


@pytest.mark.parametrize(("method", "body"), [("PUT", {}), ("DELETE", NOTHING)])
def test_if_match_any_needs_a_document(operator, method, body):
    answer = operator(method, "/collections/c/none", body, **{"If-Match": "*"})
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert operator("GET", "/collections/c/none").status_code == 404


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"n": 2}), ("DELETE", NOTHING)])
@pytest.mark.parametrize("key", ["k", "none"])
def test_only_a_put_can_ask_for_a_new_document(operator, method, body, key):
    operator("PUT", "/collections/c/k", {"n": 1})
    answer = operator(method, f"/collections/c/{key}", body, **{"If-None-Match": "*"})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    assert operator("GET", "/collections/c/k").json() == {"n": 1}


@pytest.mark.parametrize(("method", "body"), [("PUT", {}), ("PATCH", {}), ("DELETE", NOTHING)])
def test_a_ref_in_the_address_of_a_write_is_not_ignored(operator, method, body):
    operator("PUT", "/collections/c/k", {"n": 1})
    answer = operator(method, "/collections/c/k?ref=stale", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["ref"])
    assert operator("GET", "/collections/c/k").json() == {"n": 1}


@pytest.mark.parametrize("query", ["offset=5", "query=*&after=k", "sort=n&after=k"])
def test_a_list_goes_on_after_a_key_and_a_search_at_an_offset(operator, query):
    assert operator("GET", f"/collections/c?{query}").json()["code"] == "invalid"


def test_a_locked_document_is_423_with_its_holder(operator, store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    for method, body in (("GET", NOTHING), ("PUT", {}), ("DELETE", NOTHING), ("PATCH", {})):
        locked = operator(method, "/collections/c/old", body)
        assert (locked.status_code, locked.json()["code"]) == (423, "locked")
        assert locked.json()["holder"] == txn.id
    assert operator("GET", "/collections/c/old?raise_if_locked=false").json() == {"v": 1}


@pytest.mark.parametrize("value", [None, 0, False, "", [], {}, "text", 1.5, [1, {"a": None}]])
def test_any_json_is_a_document(operator, value):
    operator("PUT", "/collections/c/k", value)
    assert operator("GET", "/collections/c/k").json() == value


def test_a_collection_is_listed_searched_and_dropped(operator, rest_as):
    for key, age in (("a", 1), ("b", 2), ("c", 3)):
        operator("PUT", f"/collections/people/{key}", {"age": age})
    page = operator("GET", "/collections/people?limit=2").json()
    assert ([row["path"]["key"] for row in page["results"]], page["next"]) == (["a", "b"], "b")
    rest = operator("GET", "/collections/people?limit=2&after=b").json()
    assert ([row["path"]["key"] for row in rest["results"]], rest["next"]) == (["c"], None)
    found = operator("GET", "/collections/people?query=age:>1&sort=age:desc").json()
    assert [row["value"]["age"] for row in found["results"]] == [3, 2]
    assert operator("GET", "/collections/people?query=(").json()["code"] == "invalid_document"
    assert operator("DELETE", "/collections/people").status_code == 403
    assert Rest(rest_as("admin"))("DELETE", "/collections/people").json() == {"dropped": 3}


def test_a_posted_document_gets_a_key_and_a_history(operator):
    key = operator("POST", "/collections/c", {"n": 1}).json()["key"]
    operator("PUT", f"/collections/c/{key}", {"n": 2})
    history = operator("GET", f"/collections/c/{key}/refs").json()["results"]
    assert [entry["value"] for entry in history] == [{"n": 2}, {"n": 1}]
    old = history[1]["path"]["ref"]
    assert operator("GET", f"/collections/c/{key}?ref={old}").json() == {"n": 1}


def test_a_transaction_is_held_over_several_requests(operator, store, begun):
    assert operate(operator, begun, op="put", collection="c", key="old", value={"v": 1}).json()[
        "ref"
    ]
    assert operate(operator, begun, op="get", collection="c", key="doomed").json()["value"] == {
        "v": 0
    }
    assert operate(operator, begun, op="delete", collection="c", key="doomed").status_code == 200
    posted = operate(operator, begun, op="post", collection="c", value=[1]).json()["key"]
    assert operate(operator, begun, op="lock", collection="c", key="free").json()["token"] == 1
    seen = operator("GET", f"/transactions/{begun}").json()
    assert [entry["action"] for entry in seen["journal"]] == ["put", "delete", "put"]
    assert len(seen["locks"]) == 4
    assert operator("POST", f"/transactions/{begun}/renew").status_code == 200
    assert operator("POST", f"/transactions/{begun}/complete").json()["status"] == "completed"
    assert store.get("c", "old").json == {"v": 1} and store.get("c", posted).json == [1]
    late = operate(operator, begun, op="put", collection="c", key="old", value={})
    assert (late.status_code, late.json()["code"]) == (409, "transaction_is_completed")


def test_the_holder_of_a_key_is_answered_while_others_wait_for_it(web, bearer, store, wait_until):
    """Two threads answer requests: one may wait, or nobody could end the transaction."""
    url, headers = web(max_job_time_ms=60_000), bearer("operator")

    def call(path, **body):
        address = f"{url}/api/v1/transactions{path}"
        return httpx.post(address, json=body, headers=headers, timeout=60)

    holder, first, second = (f"/{call('').json()['id']}" for _ in range(3))
    put = {"op": "put", "collection": "c", "key": "old", "value": 1}
    call(f"{holder}/operations", **put)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(call, f"{first}/operations", **put, wait=10)
        wait_until(lambda: LockWait.objects.exists())
        assert call(f"{second}/operations", **put, wait=10).status_code == 423
        assert call(f"{holder}/complete").status_code == 200
    assert waiting.result().status_code == 200


def test_a_transaction_is_rolled_back_by_request(operator, store, begun):
    operate(operator, begun, op="put", collection="c", key="old", value={"v": 1})
    answer = operator("POST", f"/transactions/{begun}/roll_back")
    assert answer.json()["status"] == "rolled_back"
    assert store.get("c", "old").json == {"v": 0}


def test_the_transaction_of_a_dead_client_is_curated(operator, store, begun, let_expire, lease):
    operate(operator, begun, op="put", collection="c", key="old", value={"v": 1})
    let_expire(Transaction.attach(begun))
    expired_transactions(database_now(), lease)
    assert store.get("c", "old").json == {"v": 0}
    late = operate(operator, begun, op="put", collection="c", key="old", value={"v": 2})
    assert (late.status_code, late.json()["code"]) == (409, "transaction_is_timed_out")


def test_a_busy_key_rolls_back_and_says_who_has_it(operator, store, begun):
    other = Transaction(store)
    other.put("c", "old", {"v": 1})
    busy = operate(operator, begun, op="put", collection="c", key="old", value={})
    assert (busy.status_code, busy.json()["code"]) == (423, "rolled_back_by_error")
    assert (busy.json()["cause"], busy.json()["holder"]) == ("locked", other.id)
    assert Row.objects.get(pk=begun).status == "rolled_back"


@pytest.mark.parametrize(
    "body",
    [
        {"op": "put"},
        {"op": "x"},
        {"op": "get", "y": 1},
        {"op": "put", "key": 25022512311472305, "value": 1},
        {"op": "get", "key": "k", "value": 1},
        {"op": "post", "key": "mine", "value": 1},
        {"op": "delete", "key": "k", "create_only": True},
        {"op": "put", "key": "k", "value": 1, "ref": "r", "create_only": True},
        {"op": "put", "key": "k\x07", "value": 1},
        {"op": "put", "key": "k", "value": 1, "ref": "\x07"},
    ],
    ids=str,
)
def test_a_malformed_operation_leaves_the_transaction_alone(operator, begun, body):
    assert operate(operator, begun, collection="c", **body).status_code == 400
    assert Row.objects.get(pk=begun).status == "active"


def test_null_is_a_value_in_a_transaction_too(operator, begun):
    assert (
        operate(operator, begun, op="put", collection="c", key="k", value=None).status_code == 200
    )
    operator("POST", f"/transactions/{begun}/complete")
    assert operator("GET", "/collections/c/k").json() is None


def test_renewing_takes_no_members(operator, begun):
    assert operator("POST", f"/transactions/{begun}/renew", {"seconds": 5}).status_code == 400


def test_an_old_epoch_is_refused(operator, begun):
    wrong = operator(
        "POST",
        f"/transactions/{begun}/operations",
        {"op": "lock", "collection": "c", "key": "k"},
        **{"If-Match": '"7"'},
    )
    assert (wrong.status_code, wrong.json()["code"]) == (412, "epoch_changed")
    for verb in ("complete", "roll_back"):
        path = f"/transactions/{begun}/{verb}"
        wrong = operator("POST", path, {"reason": "late"}, **{"If-Match": '"7"'})
        assert wrong.status_code == 412
    assert Row.objects.get(pk=begun).status == "active"


def test_an_administrator_ends_a_transaction_with_a_reason(operator, rest_as, store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    admin = Rest(rest_as("admin"))
    admin("POST", f"/transactions/{txn.id}/roll_back", {"reason": "wrong"})
    event = Event.objects.about(f"transaction:{txn.id}").get()
    assert (event.kind, event.actor, event.channel) == ("transaction.rolled_back", "admin", "rest")
    stuck = operator("POST", f"/transactions/{txn.id}/retry", {"reason": "x"})
    assert (stuck.status_code, stuck.json()["code"]) == (409, "not_possible_now")


def test_locks_are_listed_and_released(operator, rest_as, store):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    (lock,) = operator("GET", "/locks?collection=c").json()["results"]
    assert (lock["key"], lock["holder"], lock["mode"], lock["waiters"]) == (
        "old",
        txn.id,
        "exclusive",
        0,
    )
    admin = Rest(rest_as("admin"))
    assert admin("POST", f"/locks/{lock['id']}/release", {}).status_code == 400
    done = admin("POST", f"/locks/{lock['id']}/release", {"reason": "stale"})
    assert done.status_code == 204 and not Lock.objects.exists()
    assert admin("POST", "/locks/999/release", {"reason": "stale"}).status_code == 404


def test_curators_are_shown_and_hand_over(operator):
    assert operator("GET", "/curators").json() == []
    assert operator("POST", "/curators/hand_over", {"reason": "x"}).status_code == 409
    lease = HeldLease.take("curator", "host:1:x", 3600, name="first")
    HeldLease.take("curator/first", "host:1:x", 3600)
    HeldLease.take("curator/second", "host:2:x", 3600)
    shown = operator("GET", "/curators").json()
    assert [(row["name"], row["active"]) for row in shown] == [("first", True), ("second", False)]
    operator("POST", "/curators/hand_over", {"reason": "upgrade"})
    assert HeldLease.take("curator", "host:2:x", 3600).token == lease.token + 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/collections/c/k"),
        ("DELETE", "/collections/c/k"),
        ("POST", "/collections/c"),
        ("POST", "/transactions"),
        ("POST", "/transactions/1/complete"),
        ("POST", "/locks/1/release"),
        ("POST", "/curators/hand_over"),
    ],
)
def test_a_viewer_changes_nothing(rest_as, method, path):
    assert Rest(rest_as("viewer"))(method, path, {}).status_code == 403
