"""Programs written for the libraries before this one call it as they did."""

import pytest

from allocation.transactions import (
    Client,
    CollectionKeyIsLocked,
    InvalidDocument,
    Job,
    OiotClient,
    Patch,
)
from queues.errors import NotInDryRun
from queues.execution.scope import DryClient

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client():
    return OiotClient("an API key")


@pytest.mark.parametrize("name", ["value", "body"])
def test_the_json_is_called_value_or_body(client, name):
    client.put("c", "k", **{name: {"n": 1}}).raise_for_status()
    job = Job(client)
    job.put("c", "k", **{name: {"n": 2}})
    posted = job.post("c", **{name: {"n": 3}})
    job.complete()
    assert [client.get("c", key).json["n"] for key in ("k", posted.key)] == [2, 3]
    assert client.post("c", **{name: {"n": 4}}).status_code == 201


def test_two_names_of_one_argument_are_refused(client):
    with pytest.raises(TypeError, match="value and body"):
        client.put("c", "k", value=1, body=2)


def test_patches_relations_and_events_have_their_old_names(client):
    client.put("c", "k", {"n": 1}).raise_for_status()
    client.patch("c", "k", body_or_patch=Patch().increment("n")).raise_for_status()
    client.patch_merge("c", "k", body={"m": 1}).raise_for_status()
    assert client.get("c", "k").json == {"n": 2, "m": 1}
    assert client.put_relation("c", "k", relation="of", to_collection="c", to_key="k").ok
    event = client.post_event("c", "k", event_type="seen", data={"by": "ada"}, timestamp=1000)
    assert event.ok
    assert len(client.list_events("c", "k", event_type="seen").all()) == 1


def test_a_job_reads_a_version_by_its_ref_and_holds_the_key(client):
    first = client.put("c", "k", {"n": 1}).ref
    client.put("c", "k", {"n": 2}).raise_for_status()
    job = Job(client)
    answer = job.get("c", "k", first)
    assert (answer.json, answer.ref, answer.token) == ({"n": 1}, first, 1)
    with pytest.raises(CollectionKeyIsLocked):
        client.put("c", "k", {"n": 3})
    own = job.put("c", "k", {"n": 4}).ref
    assert job.get("c", "k", ref=own).json == {"n": 4}
    job.complete()


def test_delete_without_a_key_drops_the_collection(client):
    client.put("c", "a", 1).raise_for_status()
    client.put("c", "b", 2).raise_for_status()
    client.put("other", "a", 3).raise_for_status()
    assert client.delete("c").json == {"dropped": 2}
    assert (client.list("c").all(), client.get("other", "a").json) == ([], 3)


def test_a_collection_with_a_locked_key_is_not_dropped(client):
    client.put("c", "a", 1).raise_for_status()
    with Job(client) as job:
        job.get("c", "a")
        with pytest.raises(CollectionKeyIsLocked):
            client.delete("c")
    assert client.get("c", "a").json == 1


@pytest.mark.parametrize("key", ["", None, 0, False])
def test_a_key_that_is_empty_never_means_the_collection(client, key):
    client.put("c", "a", 1).raise_for_status()
    with pytest.raises(InvalidDocument):
        client.delete("c", key)
    with pytest.raises(InvalidDocument):
        client.delete("c", ref="a ref")
    assert Client().get("c", "a").json == 1


def test_a_dry_run_drops_no_collection(client):
    client.put("c", "a", 1).raise_for_status()
    dry = DryClient(lambda: Job(client))
    with pytest.raises(NotInDryRun):
        dry.delete("c")
    dry.put("c", "b", value=2)
    assert client.get("c", "a").json == 1
