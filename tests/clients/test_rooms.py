"""Every room of a real site, through the sync and the async client."""

import pytest

from allocation.transactions import Transaction
from atributo_client.errors import (
    CollectionKeyIsLocked,
    DocumentNotFound,
    EpochChanged,
    Invalid,
    JobFailed,
    JobNotFound,
    NoInstances,
    NotYet,
    PreconditionFailed,
    QueueNotFound,
    RollbackCausedByException,
    UnknownInstance,
)
from queues.models import QueuedJob
from queues.runs import outbox
from tests.factories.jobs import make_job, make_queue, make_script

SCRIPT = {"mount": "/mailer", "name": "send-mail"}


def test_a_job_id_has_a_place_and_keeps_it(site):
    with pytest.raises(NoInstances):
        site.allocate("customer/7")
    site.instances.available("web/1", labels={"zone": "a"}, weight=2)
    place = site.allocate("customer/7", labels={"zone": "a"})
    assert place == {"job_id": "customer/7", "instance_id": "web/1", "persisted": True}
    assert site.allocations.get("customer/7")["instance_id"] == "web/1"
    assert site.allocations.explain("customer/7")
    site.deallocate("customer/7")
    assert site.allocations.list().results == []


def test_many_job_ids_at_once(site):
    site.instances.register(id="a")
    job_ids = [f"job-{n}" for n in range(5)]
    assert [item["job_id"] for item in site.allocate_many(job_ids)] == job_ids
    assert site.allocations.plan(drain="a")["jobs"] == 5
    assert sorted(each["job_id"] for each in site.every(site.instances.jobs("a", limit=2))) == (
        job_ids
    )
    assert site.allocations.deallocate_many([*job_ids, "other"]) == 5
    assert len(site.job_ids.make(3)["job_ids"]) == 3


def test_the_life_of_an_instance(site):
    instance = site.instances.available("a", lease_seconds=60)
    assert site.instances.heartbeat("a", 90)["lease_until"] > instance["lease_until"]
    assert site.instances.change("a", weight=3, epoch=instance["epoch"])["weight"] == 3
    assert site.instances.unavailable("a", reason="repair")["state"] == "unavailable"
    assert site.instances.restore("a")["available"]
    assert site.instances.drain("a", deadline_seconds=5)["state"] in ("draining", "drained")
    site.instances.stop_drain("a")
    with pytest.raises(EpochChanged):
        site.instances.remove("a", epoch=10_000)
    assert site.instances.removal("a")["may"]
    site.instances.remove("a", reason="gone")
    with pytest.raises(UnknownInstance):
        site.instances.get("a")


def test_lists_are_read_to_the_end(site):
    for n in range(5):
        site.instances.available(f"i-{n}")
    page = site.instances.list(limit=2, available=True)
    assert (len(page), page.next is None) == (2, False)
    assert [each["id"] for each in site.every(page)] == [f"i-{n}" for n in range(5)]


def test_documents_and_their_refs(site):
    written = site.documents.put("people", "an/na", {"age": 30})
    with pytest.raises(PreconditionFailed):
        site.documents.put("people", "an/na", {}, ref=False)
    changed = site.documents.patch("people", "an/na", {"age": 31}, ref=written["ref"])
    with pytest.raises(PreconditionFailed):
        site.documents.delete("people", "an/na", ref=written["ref"])
    document = site.documents.get("people", "an/na")
    assert (document.value, document.ref) == ({"age": 31}, changed["ref"])
    assert len(site.documents.history("people", "an/na")["results"]) == 2
    key = site.documents.post("people", {"age": 10})["key"]
    assert {each["path"]["key"] for each in site.documents.list("people")["results"]} == {
        "an/na",
        key,
    }
    found = site.documents.search("people", "value.age:>20", sort="value.age:desc")["results"]
    assert [each["value"] for each in found] == [{"age": 31}]
    site.documents.delete("people", "an/na")
    with pytest.raises(DocumentNotFound):
        site.documents.get("people", "an/na")


def test_a_transaction_completes_at_the_end(site):
    make_queue(), make_script()
    with site.transaction("move") as txn:
        txn.put("c", "a", 1, False)
        assert txn.get("c", "a")["value"] == 1
        with pytest.raises(DocumentNotFound):
            txn.get("c", "missing")
        assert [each["value"] for each in txn.list("c")["results"]] == [1]
        job_id = txn.push("mail", SCRIPT, {"to": "a"})
        with pytest.raises(JobNotFound):
            site.jobs.get(job_id)
        txn.renew()
    assert site.documents.get("c", "a").value == 1
    outbox.deliver_or_drop()  # a worker does
    assert site.jobs.get(job_id)["status"] == "pending"
    assert site.transactions.get(txn.id)["status"] == "completed"


def test_an_exception_rolls_a_transaction_back(site):
    with pytest.raises(ZeroDivisionError), site.transaction() as txn:
        txn.put("c", "a", 1)
        1 / 0  # noqa: B018
    assert site.transactions.get(txn.id)["status"] == "rolled_back"
    assert site.documents.list("c")["results"] == []


def test_a_locked_key_rolls_back_and_is_said(site):
    holder = Transaction()
    holder.lock("c", "b")
    with (
        pytest.raises(RollbackCausedByException, match="locked") as caught,
        site.transaction() as txn,
    ):
        txn.put("c", "a", 1)
        txn.lock("c", "b")
    assert not hasattr(caught.value, "__notes__")
    assert site.transactions.get(txn.id)["status"] == "rolled_back"
    with pytest.raises(CollectionKeyIsLocked):
        site.documents.put("c", "b", 1)
    holder.roll_back()


def test_queues_and_jobs(site):
    make_script()
    site.queues.create("mail", max_workers=3)
    assert site.queues.change("mail", max_workers=4)["max_workers"] == 4
    one = site.push("mail", SCRIPT, {"to": "a"}, priority=1, delay=60_000)
    many = site.push_many("mail", SCRIPT, [{"to": "b"}, {"to": "c"}])
    assert {job["id"] for job in site.every(site.queues.jobs("mail", limit=1))} == {one, *many}
    assert site.jobs.abort(one, "not wanted")["status"] == "failed"
    assert site.jobs.retry(one)["status"] == "pending"
    assert site.jobs.attempts(one) == []
    assert site.queues.pause_all()["queues"] == ["default", "mail"]
    site.jobs.delete(one)
    with pytest.raises(QueueNotFound):
        site.push("nowhere", SCRIPT, {"to": "a"})
    with pytest.raises(Invalid, match="priority"):
        site.push("mail", SCRIPT, {"to": "a"}, priority=99)


def test_a_key_of_your_own_pushes_once(site):
    make_queue(), make_script()
    ids = {site.push("mail", SCRIPT, {"to": "a"}, idempotency_key="order-7") for _ in range(3)}
    assert len(ids) == 1 == QueuedJob.objects.count()


def test_waiting_for_a_result(site):
    queue = make_queue()
    complete = make_job(queue, "complete", result=[1])
    failed = make_job(queue, "failed", error="Boom: it broke")
    assert site.wait(str(complete.id))["result"] == [1]
    with pytest.raises(JobFailed, match="it broke") as caught:
        site.wait(str(failed.id))
    assert caught.value.facts["job"]["queue"] == "mail"
    with pytest.raises(JobNotFound):
        site.wait("26111603463755699")
    with pytest.raises(NotYet, match="pending after 0 s"):
        site.wait(str(make_job(queue).id), timeout_seconds=0)


def test_the_site_itself(site, token_of):
    assert site.me()["user"] == "admin"
    made = site.tokens.create("script", "view", days=1)
    assert made["token"] and made["id"] in {each["id"] for each in site.every(site.tokens.list())}
    site.tokens.revoke(made["id"])
    site.pools.create("p", "svc.example", is_watched=False)
    assert site.pools.change("p", default_port=81)["name"] == "p"
    site.pools.delete("p")
    kinds = {each["kind"] for each in site.every(site.site.events(limit=2))}
    assert {"token.made", "pool.changed"} <= kinds
    assert site.site.snapshot() and site.curators.list() == [] and site.services.list() == []
