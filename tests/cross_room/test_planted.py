"""`manage.py verify` finds what raw SQL breaks between two tables, by the name of the object."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.transaction import atomic, set_rollback

from allocation.atributo import Atributo
from allocation.instances import availability
from allocation.placement import drains
from allocation.transactions import Client, Transaction
from allocation.transactions.models import JournalEntry
from allocation.transactions.models import Transaction as TransactionRow
from atributo_site.core.models.clock import database_now
from atributo_site.curator.integrity import all_rules
from pools.models import Backend, Pool
from queues.models import AttemptTransaction, Queue, QueuedJob, Slot
from queues.models.flow import Flow
from queues.runs import outbox

pytestmark = pytest.mark.django_db(transaction=True)

DONE = "(SELECT max(id) FROM allocation_transaction WHERE owner = 'done')"
BACK = "(SELECT max(id) FROM allocation_transaction WHERE owner = 'back')"
OPEN = "(SELECT max(id) FROM allocation_transaction WHERE owner = 'open')"
OTHER = "(SELECT max(id) FROM allocation_transaction WHERE owner = 'other')"
RUN = '(SELECT max("transaction") FROM queues_attempttransaction)'
TRANSFER = "(SELECT min(id) FROM queues_queuedjob WHERE script = 'transfer')"


def document(key):
    return f"(SELECT id FROM allocation_document WHERE \"key\" = '{key}')"


@pytest.fixture
def busy(bank, hands):
    """Make something of everything, all of it valid: open, done and rolled back."""
    ao = Atributo()
    for name in ("web-1", "web-2", "old"):
        ao.available(name)
    ao.allocate_many(["a", "b", "c"])
    drains.drain("old", deadline_seconds=0)
    drains.step("old", database_now())
    drains.step("old", database_now())
    _transactions()
    bank.push()
    hands.drain()
    _pool()


def _transactions():
    with Transaction(owner="done") as txn:
        txn.put("c", "done", {"v": 1})
    back = Transaction(owner="back")
    back.put("c", "back", {"v": 2})
    back.roll_back()
    for name in ("open", "other"):
        Transaction(owner=name).put("c", name, {"v": 3})
    Client().put("c", "plain", {"v": 4}).raise_for_status()


def _pool():
    availability.make_available("10.0.0.1:80", source="dns")
    pool = Pool.objects.create(name="web.test", domain="web.test")
    Backend.objects.create(
        pool=pool, key="K", instance_id="10.0.0.1:80", address="10.0.0.1", port=80
    )


def broken():
    found = {rule.name: rule.broken() for rule in all_rules()}
    return {name: rows for name, rows in found.items() if rows}


def verify(capsys, *arguments):
    """Return the broken rules with their rows."""
    try:
        call_command("verify", "--json", *arguments)
    except SystemExit as end:
        assert end.code == 1
    return {name: rows for name, rows in json.loads(capsys.readouterr().out).items() if rows}


def run(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


# Rule → the name that its line must have, and the statements that break it.
PLANTED = {
    "written without lock": (
        "c/open",
        [f"DELETE FROM allocation_lock WHERE transaction_id = {OPEN}"],
    ),
    "rolled back and there": (
        "c/back",
        [
            "UPDATE allocation_document SET ref = (SELECT after_ref FROM allocation_journalentry"
            f" WHERE transaction_id = {BACK}) WHERE id = {document('back')}"
        ],
    ),
    "undone and completed": (
        "c/done",
        [f"UPDATE allocation_journalentry SET undo = 'restored' WHERE transaction_id = {DONE}"],
    ),
    "other than its ref": (
        "c/done",
        [f"UPDATE allocation_document SET value = '{{\"v\": 666}}' WHERE id = {document('done')}"],
    ),
    "lock on nothing": (
        "on document 999999",
        [f"UPDATE allocation_lock SET document_id = 999999 WHERE transaction_id = {OTHER}"],
    ),
    "token went back": (
        "c/done",
        [f"UPDATE allocation_document SET lock_token = 0 WHERE id = {document('done')}"],
    ),
    "wait of finished": (
        "c/open",
        [
            "INSERT INTO allocation_lockwait (document_id, transaction_id, mode, since)"
            f" VALUES ({document('open')}, {DONE}, 'exclusive', '2026-01-01 00:00:00')"
        ],
    ),
    "complete and rolled back": (
        "attempt 1",
        [f"UPDATE allocation_transaction SET status = 'rolled_back' WHERE id = {RUN}"],
    ),
    "half rolled back": (
        "transaction ",
        [f"UPDATE allocation_journalentry SET undo = '' WHERE transaction_id = {BACK}"],
    ),
    "token behind": (
        "c/open",
        [f"UPDATE allocation_lock SET token = 0 WHERE transaction_id = {OPEN}"],
    ),
    "locked by finished": (
        "c/open",
        [
            "UPDATE allocation_transaction SET status = 'completed',"
            f" finished_at = CURRENT_TIMESTAMP WHERE id = {OPEN}"
        ],
    ),
    "history disagrees": (
        "c/back",
        [f"UPDATE allocation_documentversion SET undone = false WHERE transaction_id = {BACK}"],
    ),
    "line on nothing": (
        "document 999999",
        [f"UPDATE allocation_journalentry SET document_id = 999999 WHERE transaction_id = {DONE}"],
    ),
    "ended unlike its epoch": (
        "(rolled_back)",
        [f"UPDATE allocation_transaction SET epoch = 1 WHERE id = {BACK}"],
    ),
    "without history": (
        "c/plain",
        [f"DELETE FROM allocation_documentversion WHERE document_id = {document('plain')}"],
    ),
    "roster miscounted": ("roster", ["UPDATE allocation_roster SET available = available + 1"]),
    "epoch ahead": (
        "a on ",
        ["UPDATE allocation_allocation SET epoch = 999999 WHERE job_id = 'a'"],
    ),
    "instance epoch ahead": (
        "web-1",
        ["UPDATE allocation_instance SET epoch = 999999 WHERE id = 'web-1'"],
    ),
    "moved without trace": (
        "a at epoch",
        [
            "INSERT INTO allocation_pastallocation (job_id, instance_id, epoch, allocated_at,"
            " strategy, candidates, actor, channel, ended_at, ended_by, end_reason)"
            " SELECT job_id, instance_id, epoch, allocated_at, strategy, candidates, actor,"
            " channel, allocated_at, '', '' FROM allocation_allocation WHERE job_id = 'a'"
        ],
    ),
    "drained and available": (
        "old",
        ["UPDATE allocation_instance SET available = true WHERE id = 'old'"],
    ),
    "drained and occupied": (
        "old: keys",
        ["UPDATE allocation_allocation SET instance_id = 'old' WHERE job_id = 'a'"],
    ),
    "held by nothing": (
        "by slot 999999",
        [
            "UPDATE queues_queuedjob SET slot_id = 999999, status = 'progress'"
            f" WHERE id = {TRANSFER}"
        ],
    ),
    "attempt of the future": (
        "attempt 7",
        [f"UPDATE queues_run SET attempt = 7 WHERE job_id = {TRANSFER}"],
    ),
    "complete without a run": (
        "attempt 1",
        [f"DELETE FROM queues_run WHERE job_id = {TRANSFER}"],
    ),
    "routed elsewhere": (
        "to nowhere",
        [
            "UPDATE queues_queuedjob SET sticky_key = 'a', rank = 10, routed_to = 'nowhere',"
            " routed_epoch = (SELECT epoch FROM allocation_allocation WHERE job_id = 'a')"
            f" WHERE id = {TRANSFER}"
        ],
    ),
    "unavailable in DNS": (
        "10.0.0.1:80",
        ["UPDATE allocation_instance SET available = false WHERE id = '10.0.0.1:80'"],
    ),
    "another address": ("10.0.0.1:81", ["UPDATE pools_backend SET port = 81"]),
    "claims of nobody": (
        "web-1 by ghost",
        [
            'INSERT INTO allocation_hold (instance_id, kind, "key", count, since)'
            " VALUES ('web-1', 'open claim', 'ghost', 1, CURRENT_TIMESTAMP)"
        ],
    ),
    "refused in use": ("10.0.0.1:80", ["UPDATE pools_backend SET state = 'refused'"]),
    "open beside a later attempt": (
        "attempt 1",
        [
            f'UPDATE queues_attempttransaction SET "transaction" = {OPEN}'
            f' WHERE "transaction" = {RUN}',
            "UPDATE queues_queuedjob SET status = 'progress', attempt = 2, ended_at = NULL,"
            " slot_id = (SELECT min(id) FROM queues_slot), slot_epoch = 1,"
            " started_at = '2026-01-01 00:00:00' WHERE id ="
            f' (SELECT job_id FROM queues_attempttransaction WHERE "transaction" = {OPEN})',
        ],
    ),
    "undelivered pushes": (
        "7 of transaction",
        [
            "UPDATE allocation_transaction SET finished_at = '2026-01-01 00:00:00'"
            f" WHERE id = {DONE}",
            'INSERT INTO queues_heldpush (id, queue_id, "transaction", columns, created_at)'
            f" SELECT 7, queue_id, {DONE}, '{{}}', CURRENT_TIMESTAMP FROM queues_queuedjob"
            f" WHERE id = {TRANSFER}",
        ],
    ),
}
NINE = [*PLANTED][:9]


def test_nothing_is_broken_before(busy):
    assert broken() == {}


def test_what_raw_sql_breaks_is_found_by_name(busy, capsys):
    found = {
        rule: found_after(rule, statements, capsys) for rule, (_, statements) in PLANTED.items()
    }
    assert {rule: lines for rule, lines in found.items() if PLANTED[rule][0] not in lines[0]} == {}


def found_after(rule, statements, capsys):
    """Break the rule, look, and take it back."""
    with atomic():
        run(*statements)
        lines = verify(capsys, "--rule", rule).get(rule, [""])
        set_rollback(True)
    return lines


def test_all_nine_at_once_are_found_without_a_word(busy, capsys):
    for rule in NINE:
        run(*PLANTED[rule][1])
    assert set(verify(capsys)) >= set(NINE)


@pytest.mark.only_on("sqlite")  # PostgreSQL's own constraint cannot be switched off here
def test_a_key_on_an_instance_that_does_not_exist_is_found(busy, capsys):
    with connection.constraint_checks_disabled():
        run("UPDATE allocation_allocation SET instance_id = 'nowhere' WHERE job_id = 'a'")
    assert verify(capsys, "--rule", "without instance") == {"without instance": ["a on nowhere"]}


def test_more_jobs_than_a_limit_allows_are_found(busy, capsys):
    """They run though a limit of one at once has been there since before they started."""
    queue = QueuedJob.objects.values_list("queue_id", flat=True)[0]
    Queue.objects.filter(pk=queue).update(
        limits=[{"per": "queue", "at_once": 1}], limits_at=database_now() - timedelta(hours=1)
    )
    flow = Flow.objects.create(queue_id=queue, script="x")
    slot = Slot.objects.filter(queue=queue).first()
    running = {"queue_id": queue, "script": "x", "status": "progress", "flow_id": flow.pk}
    running |= {"slot": slot, "slot_epoch": slot.epoch}
    for number in (1, 2):
        QueuedJob.objects.create(id=number, started_at=database_now(), **running)
    (line,) = verify(capsys, "--rule", "over a limit")["over a limit"]
    assert line.endswith("2 of 1")


def test_a_held_push_that_is_a_job_is_found(busy, capsys):
    txn = Transaction()
    job = QueuedJob.objects.values("pk", "queue_id").first()
    outbox.HeldPush.objects.create(
        pk=job["pk"], queue_id=job["queue_id"], transaction=txn.id, columns={}
    )
    assert verify(capsys, "--rule", "held and pushed") == {
        "held and pushed": [f"{job['pk']} of transaction {txn.id}"]
    }


def test_one_half_rolled_back_far_behind_is_found(busy, capsys):
    """A thousand and more came after it."""
    pk = TransactionRow.objects.get(owner="back").pk
    JournalEntry.objects.filter(transaction=pk).update(undo="")
    line = JournalEntry.objects.filter(transaction__owner="done").values().get()
    del line["id"]
    JournalEntry.objects.bulk_create(JournalEntry(**line) for _ in range(2500))
    assert verify(capsys, "--rule", "half rolled back") == {
        "half rolled back": [f"transaction {pk}"]
    }


def test_a_script_that_took_back_what_it_wrote_may_complete(busy, capsys):
    noted = AttemptTransaction.objects.latest("pk")
    taken_back = Transaction()
    taken_back.roll_back()
    long_ago = QueuedJob.objects.get(pk=noted.job_id).created_at
    TransactionRow.objects.filter(pk=taken_back.id).update(finished_at=long_ago)
    AttemptTransaction.objects.filter(pk=noted.pk).update(transaction=taken_back.id)
    assert verify(capsys, "--rule", "complete and rolled back") == {}
