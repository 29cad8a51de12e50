"""The document store by itself."""

import pytest

from allocation.transactions import (
    Client,
    CollectionKeyIsLocked,
    DocumentNotFound,
    InvalidDocument,
    Patch,
    PreconditionFailed,
    Transaction,
)
from allocation.transactions.documents.patch import changed
from allocation.transactions.errors import KeyIsContended
from allocation.transactions.models import Document, DocumentEvent, Relation
from allocation.transactions.store.keys import Key

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_round_trip_changes_a_document_by_its_ref(client):
    client.put("c", "k", {"v": 1})
    item = client.get("c", "k")
    item["was_modified"] = True
    client.put(item.collection, item.key, item.json, item.ref).raise_for_status()
    assert client.get("c", "k").json == {"v": 1, "was_modified": True}
    assert item["nothing"] is None


def test_a_missing_key_is_an_answer_not_an_exception(client):
    answer = client.get("c", "k")
    assert (answer.status_code, answer.json, answer.ok) == (404, {}, False)
    with pytest.raises(DocumentNotFound):
        answer.raise_for_status()


def test_a_stale_ref_changes_nothing(client):
    old = client.put("c", "k", {"v": 1}).ref
    client.put("c", "k", {"v": 2})
    for answer in (client.put("c", "k", {"v": 3}, old), client.delete("c", "k", old)):
        assert answer.status_code == 412
        with pytest.raises(PreconditionFailed):
            answer.raise_for_status()
    assert client.get("c", "k").json == {"v": 2}


def test_create_only_works_once_and_again_after_a_delete(client):
    assert client.put("c", "k", {"v": 1}, False).status_code == 201
    assert client.put("c", "k", {"v": 2}, False).status_code == 412
    client.delete("c", "k")
    assert client.put("c", "k", {"v": 3}, False).status_code == 201


def test_a_delete_with_a_ref_keeps_the_history_and_one_without_does_not(client):
    first = client.put("c", "k", {"v": 1}).ref
    second = client.put("c", "k", {"v": 2}).ref
    client.delete("c", "k", second).raise_for_status()
    history = client.refs("c", "k", limit=2).all()
    assert [entry["path"]["tombstone"] for entry in history] == [True, False, False]
    assert client.get("c", "k", first).json == {"v": 1}
    client.put("c", "k", {"v": 3})
    client.delete("c", "k").raise_for_status()
    assert client.refs("c", "k").all() == []
    assert client.delete("c", "k").status_code == 404


def test_a_post_makes_a_key(client):
    answer = client.post("c", {"v": 1})
    assert len(answer.key) == 16
    assert client.head("c", answer.key).ref == answer.ref


BAD_VALUES = [float("nan"), float("inf"), {1: 2}, Client, "\x00", "\ud800", 10**40, {"a": {1}}]


@pytest.mark.parametrize("value", BAD_VALUES, ids=repr)
def test_a_value_that_is_not_json_is_refused(client, value):
    with pytest.raises(InvalidDocument):
        client.put("c", "k", {"v": value})
    assert not Document.objects.exists()


@pytest.mark.parametrize("name", ["", "\x00", "x" * 256, "a\nb", None, 7, "\ud800"], ids=repr)
def test_a_bad_name_is_refused(client, name):
    with pytest.raises(InvalidDocument):
        client.put("c", name, {})
    with pytest.raises(InvalidDocument):
        client.put(name, "k", {})


@pytest.mark.parametrize("name", ["ä/ö", "../x", "<script>", " a ", "A", "a", "é", "é", "🦊"])
def test_any_other_name_is_kept_as_it_is(client, name):
    client.put(name, name, {"v": name}).raise_for_status()
    assert client.get(name, name).json == {"v": name}
    assert [each["path"]["key"] for each in client.list(name).all()] == [name]


def test_a_patch_changes_parts(client):
    client.put("c", "k", {"n": 1, "tags": ["a"]})
    patch = Patch().test("n", 1).increment("n", 4).add("tags/-", "b").copy("tags/0", "first")
    client.patch("c", "k", patch).raise_for_status()
    assert client.get("c", "k").json == {"n": 5, "tags": ["a", "b"], "first": "a"}
    assert client.patch("c", "k", Patch().test("n", 1)).status_code == 412
    assert client.patch("c", "k", [{"op": "nonsense", "path": "/n"}]).status_code == 400
    client.patch_merge("c", "k", {"n": None, "x": {"y": 1}}).raise_for_status()
    assert client.get("c", "k").json == {"tags": ["a", "b"], "first": "a", "x": {"y": 1}}
    assert client.patch("c", "none", Patch().add("x", 1)).status_code == 404


def test_a_patch_of_a_version_that_is_gone_is_not_tried_on_another(client):
    old = client.put("c", "k", {"tags": []})
    client.put("c", "k", {"n": 1})
    answer = client.patch("c", "k", Patch().add("tags/-", "new"), ref=old.ref)
    assert (answer.status_code, client.get("c", "k").json) == (412, {"n": 1})


def test_a_patch_that_others_always_outrun_may_be_tried_again(client):
    def outrun(value):
        client.put("c", "k", {"n": value["n"] + 1})
        return {"n": -1}

    client.put("c", "k", {"n": 0})
    with pytest.raises(KeyIsContended, match="c/k changes faster than it can be written"):
        changed(Key("c", "k"), outrun, None, True)
    assert client.get("c", "k")["n"] > 1


def test_a_change_deeper_than_a_value_may_be_is_refused(client):
    deep = {}
    for _ in range(3000):
        deep = {"x": deep}
    client.put("c", "k", {"n": 1})
    for change in (client.patch_merge, lambda *to: client.patch(*to[:2], Patch().add("x", deep))):
        with pytest.raises(InvalidDocument, match="deeper than 32 levels"):
            change("c", "k", deep)
    assert client.get("c", "k").json == {"n": 1}


@pytest.mark.parametrize("number", [9.9e39, -1e-300, 10**40 - 1])
def test_what_was_read_can_be_stored_again(client, number):
    client.put("c", "k", {"n": number}).raise_for_status()
    item = client.get("c", "k")
    assert float(item["n"]) == float(number)
    client.put("c", "k", item.json, item.ref).raise_for_status()


@pytest.mark.parametrize("number", [1e40, -1.7e308, 10**40])
def test_a_number_that_would_come_back_as_another_is_refused(client, number):
    with pytest.raises(InvalidDocument, match="more than 40 digits"):
        client.put("c", "k", {"n": number})


def test_a_patch_meets_a_lock(client):
    client.put("c", "k", {"n": 1})
    Transaction(client).get("c", "k")
    with pytest.raises(CollectionKeyIsLocked):
        client.patch("c", "k", Patch().increment("n"))


def test_histories_and_relations_show_what_is_committed(people):
    people.put_relation("people", "bob", "knows", "people", "ada").raise_for_status()
    old = people.get("people", "ada").ref
    txn = Transaction(people)
    new = txn.put("people", "ada", {"age": 99}).ref
    assert [row["path"]["ref"] for row in people.refs("people", "ada").all()] == [old]
    assert people.get("people", "ada", new).status_code == 404
    assert people.get("people", "ada", new, raise_if_locked=False).json == {"age": 99}
    (known,) = people.get_relations("people", "bob", "knows")["results"]
    assert (known["path"]["ref"], known["value"]["age"]) == (old, 36)
    txn.complete()
    assert people.get("people", "ada", new).json == {"age": 99}
    assert len(people.refs("people", "ada").all()) == 2


def test_a_collection_is_dropped_by_that_name_alone_and_never_while_locked(people):
    txn = Transaction(people)
    txn.get("people", "ada", shared=True)
    with pytest.raises(CollectionKeyIsLocked):
        people.drop("people")
    txn.complete()
    assert people.drop("people").json == {"dropped": 4}
    assert people.list("people").all() == []
    assert people.refs("people", "ada").all() == []


def test_a_dropped_collection_takes_its_relations_and_events_along(people):
    people.put("other", "k", {})
    people.put_relation("people", "ada", "knows", "people", "bob")
    people.put_relation("other", "k", "likes", "people", "ada")
    people.put_relation("other", "k", "likes", "other", "k")
    people.post_event("people", "ada", "visit", {})
    people.post_event("other", "k", "visit", {})
    people.drop("people")
    assert [row.to_collection for row in Relation.objects.all()] == ["other"]
    assert [row.collection for row in DocumentEvent.objects.all()] == ["other"]


def test_an_arrow_leads_to_what_is_committed(people):
    txn = Transaction(people)
    txn.put("people", "new", {"age": 1})
    txn.delete("people", "bob")
    assert people.put_relation("people", "ada", "knows", "people", "new").status_code == 404
    assert people.put_relation("people", "ada", "knows", "people", "bob").status_code == 204
    txn.roll_back()
    assert people.get_relations("people", "ada", "knows")["count"] == 1


def test_relations_are_followed_hop_by_hop(people):
    people.put_relation("people", "ada", "knows", "people", "bob").raise_for_status()
    people.put_relation("people", "bob", "knows", "people", "zoe").raise_for_status()
    answer = people.get_relations("people", "ada", "knows", "knows")
    assert [row["path"]["key"] for row in answer["results"]] == ["zoe"]
    people.delete_relation("people", "bob", "knows", "people", "zoe").raise_for_status()
    assert people.get_relations("people", "ada", "knows", "knows")["count"] == 0
    assert people.put_relation("people", "x", "knows", "people", "bob").status_code == 404


def test_events_have_a_time_an_ordinal_and_a_ref(people):
    first = people.post_event("people", "ada", "visit", {"n": 1}, 1000)
    second = people.post_event("people", "ada", "visit", {"n": 2}, 1000)
    assert (first["ordinal"], second["ordinal"]) == (1, 2)
    events = people.list_events("people", "ada", "visit", limit=1).all()
    assert [event["value"] for event in events] == [{"n": 2}, {"n": 1}]
    stale = people.put_event("people", "ada", "visit", 1000, 1, {"n": 3}, "stale")
    assert stale.status_code == 412
    people.put_event("people", "ada", "visit", 1000, 1, {"n": 3}, first.ref).raise_for_status()
    assert people.get_event("people", "ada", "visit", 1000, 1)["value"] == {"n": 3}
    people.delete_event("people", "ada", "visit", 1000, 1).raise_for_status()
    assert people.get_event("people", "ada", "visit", 1000, 1).status_code == 404


def test_a_ping_reads_the_clock_of_the_database():
    assert Client("api key").ping()["now"]
