"""`manage.py verify` finds each planted violation, and nothing on a healthy installation."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

import queues
from allocation.atributo import Atributo
from allocation.models import Allocation, IdNumber, Instance, InstanceLoad
from allocation.transactions import Client, Transaction
from allocation.transactions.models import Document, DocumentVersion, Lock
from allocation.transactions.models import Transaction as TransactionRow
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from atributo_site.curator.integrity import all_rules
from pools.models import Backend, Pool
from queues.logic.ranks import BLOCKED
from queues.models import Batch, Dependency, Queue, QueuedJob, Run, Slot

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = "2020-01-01T00:00Z"
HERE = Path(__file__).parent
TESTS_THAT_PLANT = ["test_verify.py", "test_planted.py", "../pools/site/test_decisions.py"]


@pytest.fixture
def healthy(request):
    """Make something in every room, all of it valid."""
    ao = Atributo()
    ao.available("web-1")
    ao.available("web-2")
    ao.allocate_many(["a", "b", "c"])
    client = Client()
    client.put("c", "k", {"v": 1}).raise_for_status()
    Transaction(client).put("c", "open", {"v": 1})
    queue = queues.create("work", max_workers=1)
    jobs = queue.push_many({"mount": "/m", "name": "s"}, [1, 2])
    assert broken() == []
    return jobs


def verify(capsys, *arguments):
    """Return the exit code and the standard output."""
    try:
        call_command("verify", *arguments)
    except SystemExit as end:
        return end.code, capsys.readouterr().out
    return 0, capsys.readouterr().out


def broken():
    return sorted(rule.name for rule in all_rules() if rule.broken())


def finish(**values):
    QueuedJob.objects.update(status="failed", ended_at=database_now(), **values)


def placed_after_unavailable():
    Instance.objects.filter(pk="web-1").update(available=False, epoch=0)


def miscounted():
    InstanceLoad.objects.update(jobs=99)


def over_capacity():
    full = Allocation.objects.values_list("instance_id", flat=True).first()
    Instance.objects.filter(pk=full).update(capacity=0)


def impossible_marks():
    IdNumber.objects.filter(number=7).update(high_water_ms=5)


def two_holders():
    document = Document.objects.get(key="open")
    other = Transaction(Client())
    Lock.objects.create(document=document, transaction_id=other.id, mode="shared", token=1)


def token_ahead():
    Lock.objects.update(token=99)


def lock_that_outlived():
    TransactionRow.objects.update(status="completed", finished_at=LONG_AGO)


def forgotten():
    TransactionRow.objects.update(expires_at=LONG_AGO)


def half_rolled_back():
    Lock.objects.all().delete()
    TransactionRow.objects.update(status="rolled_back", finished_at=LONG_AGO)


def without_history():
    DocumentVersion.objects.all().delete()


def the_slot():
    return Slot.objects.filter(queue__name="work", number=0)


def in_an_hour():
    return database_now() + timedelta(hours=1)


def hold_first_job(epoch):
    job = QueuedJob.objects.first()
    QueuedJob.objects.filter(pk=job.pk).update(
        status="progress", slot=the_slot().get(), slot_epoch=epoch
    )


def too_many_running():
    Slot.objects.create(queue=Queue.objects.get(name="work"), number=1)
    Slot.objects.update(holder="somebody", leased_until=in_an_hour())


def progress_without_lease():
    the_slot().update(holder="dead", leased_until=LONG_AGO, epoch=1)
    hold_first_job(epoch=1)


def expired_slot():
    the_slot().update(holder="dead", leased_until=LONG_AGO)


def held_by_another_epoch():
    the_slot().update(holder="alive", leased_until=in_an_hour(), epoch=5)
    hold_first_job(epoch=4)


def add_attempt(attempt, outcome):
    Run.objects.create(
        job=QueuedJob.objects.first(),
        attempt=attempt,
        number=1,
        worker="w",
        outcome=outcome,
        started_at=database_now(),
    )


def gap_between_attempts():
    add_attempt(2, "failed")


def finished_and_running():
    finish()
    add_attempt(1, "running")


def failed_too_often():
    finish(max_failures=1, run_failures=3)


def repeated_too_often():
    finish(repeat_times=1, runs=3)


def called_back_after_abort():
    first, second = QueuedJob.objects.all()
    QueuedJob.objects.filter(pk=first.pk).update(aborted_at=LONG_AGO)
    QueuedJob.objects.filter(pk=second.pk).update(parent=first.pk, parent_run=1)


def due_and_untouched():
    HeldLease.take("worker/w1", "host:1", 600)
    QueuedJob.objects.update(due_at=LONG_AGO)


def run_at(*instance_ids):
    """Put jobs of one sticky key in progress, each at one of these instances."""
    the_slot().update(holder="host:1", leased_until=in_an_hour(), epoch=1)
    HeldLease.take("worker/w1", "host:1", 600, instance="web-1")
    for job, instance_id in zip(QueuedJob.objects.all(), instance_ids, strict=False):
        route = {"sticky_key": "a", "rank": 10, "routed_to": instance_id, "routed_epoch": 1}
        running = {"status": "progress", "slot": the_slot().get(), "slot_epoch": 1}
        running["concurrent"] = True  # otherwise the database refuses a second one
        QueuedJob.objects.filter(pk=job.pk).update(**route, **running)


def sticky_elsewhere():
    run_at("web-2")


def key_at_two_instances():
    run_at("web-1", "web-2")


def route_of_the_future():
    route = {"sticky_key": "a", "rank": 10, "routed_to": "web-1", "routed_epoch": 10**9}
    QueuedJob.objects.update(**route, concurrent=True)


def line_without_turn():
    QueuedJob.objects.update(sticky_key="a", rank=30, due_at=LONG_AGO)


def available_without_dns():
    pool = Pool.objects.create(name="web.test", is_watched=True)
    Backend.objects.create(
        pool=pool, instance_id="web-1", state=Backend.State.GONE, address="10.0.0.1", port=80
    )
    Instance.objects.filter(pk="web-1").update(source=Instance.Source.DNS)


def batch_of_first_job(**state):
    queue = Queue.objects.get(name="work")
    batch = Batch.objects.create(pk=7, queue=queue, closed_at=LONG_AGO, **state)
    QueuedJob.objects.filter(pk=QueuedJob.objects.first().pk).update(batch=batch)


def batch_without_end():
    batch_of_first_job(state="running")
    finish()


def batch_ended_early():
    batch_of_first_job(state="complete", ended_at=LONG_AGO)


def second_after_first():
    first, second = QueuedJob.objects.order_by("pk")
    Dependency.objects.create(job_id=second.pk, after_id=first.pk)
    return QueuedJob.objects.filter(pk=first.pk), QueuedJob.objects.filter(pk=second.pk)


def waiting_for_nothing():
    first, second = second_after_first()
    first.update(status="complete", ended_at=database_now())
    second.update(rank=second.get().rank + BLOCKED, created_at=LONG_AGO)


def started_before_others():
    _, second = second_after_first()
    the_slot().update(holder="alive", leased_until=in_an_hour(), epoch=1)
    second.update(status="progress", slot=the_slot().get(), slot_epoch=1)


def two_curators():
    record("curator.active", "curator:one", epoch=2)
    record("curator.active", "curator:two", epoch=2)


PLANTED = {
    "placed after unavailable": placed_after_unavailable,
    "miscounted": miscounted,
    "over capacity": over_capacity,
    "impossible marks": impossible_marks,
    "shared and exclusive": two_holders,
    "token ahead": token_ahead,
    "locked by finished": lock_that_outlived,
    "forgotten": forgotten,
    "half rolled back": half_rolled_back,
    "without history": without_history,
    "too many running": too_many_running,
    "progress without lease": progress_without_lease,
    "expired slots": expired_slot,
    "held by another epoch": held_by_another_epoch,
    "gaps between attempts": gap_between_attempts,
    "finished and running": finished_and_running,
    "failed too often": failed_too_often,
    "repeated too often": repeated_too_often,
    "called back after abort": called_back_after_abort,
    "due and untouched": due_and_untouched,
    "sticky elsewhere": sticky_elsewhere,
    "key at two instances": key_at_two_instances,
    "route of the future": route_of_the_future,
    "line without turn": line_without_turn,
    "available without DNS": available_without_dns,
    "batch without end": batch_without_end,
    "batch ended early": batch_ended_early,
    "waiting for nothing": waiting_for_nothing,
    "started before others": started_before_others,
    "two curators": two_curators,
}


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_violation_is_found_with_its_row(healthy, capsys, rule):
    PLANTED[rule]()
    code, text = verify(capsys, "--rule", rule, "--json")
    assert code == 1
    assert list(json.loads(text)) == [rule]
    assert json.loads(text)[rule] != []


def test_a_job_may_wait_while_every_worker_is_busy(healthy, capsys):
    due_and_untouched()
    queue = Queue.objects.create(name="busy")
    Slot.objects.create(queue=queue, number=0, holder="host:1", leased_until=in_an_hour(), epoch=1)
    assert verify(capsys, "--rule", "due and untouched")[0] == 0


def test_a_healthy_installation_breaks_nothing(healthy, capsys):
    code, text = verify(capsys)
    assert (code, "BROKEN" in text) == (0, False)
    assert f"{len(all_rules())} rules, 0 rows break them.\n" in text
    assert re.search(r"[\d,]+ rows of large tables in [\d.]+s: [\d,]+ rows/s\.\n\Z", text)


def test_a_sample_finds_what_is_new(healthy, capsys):
    token_ahead()
    assert verify(capsys, "--sample", "--rule", "token ahead")[0] == 1
    assert verify(capsys, "--sample", "--rule", "without history")[0] == 0


def test_every_rule_is_broken_by_a_test():
    texts = [(HERE / name).read_text() for name in TESTS_THAT_PLANT]
    unplanted = [rule.name for rule in all_rules() if f'"{rule.name}"' not in "".join(texts)]
    assert unplanted == []


def test_every_rule_has_a_name_of_its_own():
    names = [rule.name for rule in all_rules()]
    assert len(set(names)) == len(names)


def test_watching_prints_changes_and_remembers_that_something_was_broken(healthy, capsys):
    token_ahead()
    code, text = verify(capsys, "--watch", "--rounds", "3", "--every", "0")
    assert (code, text.count("BROKEN"), text.count("1 row breaks them.")) == (1, 1, 1)


def test_watching_a_healthy_installation_is_quiet(healthy, capsys):
    code, text = verify(capsys, "--watch", "--rounds", "3", "--every", "0")
    assert (code, text.count("\n")) == (0, 1)


def test_the_rules_are_listed_as_json(capsys):
    call_command("verify", "--list", "--json")
    assert list(json.loads(capsys.readouterr().out)) == [rule.name for rule in all_rules()]


@pytest.mark.parametrize("wrong", [["--every", "-1"], ["--every", "nan"], ["--rounds", "0"]])
def test_a_watch_that_cannot_be_is_refused(wrong):
    with pytest.raises(CommandError, match="must be a "):
        call_command("verify", "--watch", *wrong)


def test_an_unknown_rule_is_named():
    with pytest.raises(CommandError, match="no rule is called 'nonsense'") as caught:
        call_command("verify", "--rule", "nonsense")
    assert caught.value.returncode == 2
