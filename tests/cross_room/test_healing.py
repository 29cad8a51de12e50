"""Every repair of the curator has its own budget, and a flood of one delays no other."""

import pytest

from allocation.models import Instance
from allocation.transactions import Client, Transaction
from allocation.transactions.curator.expired import BATCH
from allocation.transactions.models import Transaction as TransactionRow
from atributo_site.core.leases import HeldLease
from atributo_site.core.loops import Loop, Repair
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.curator import integrity
from atributo_site.curator.integrity import all_rules
from atributo_site.curator.leadership import Leadership
from atributo_site.curator.repairs import all_repairs
from atributo_site.models import RuleCheck
from atributo_site.status.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = "2020-01-01T00:00Z"


def repair(name):
    return next(each for each in all_repairs() if each.name == name)


def test_a_repair_that_used_up_its_budget_is_called_again_at_once():
    full = Repair("mend", lambda now, lease: 5, every_seconds=60, budget=5)
    assert (full.pause_after(5), full.pause_after(4)) == (0.0, 60)


def test_a_flood_of_one_repair_takes_turns_with_the_others():
    turns = []
    flood = Repair("flood", lambda now, lease: turns.append("flood") or 10, budget=10)
    other = Repair("other", lambda now, lease: turns.append("other") or 0, every_seconds=0)
    loop = Loop(Leadership("one", [flood, other]).steps())
    for _ in range(3):
        loop.run_due()
    assert turns == ["flood", "other"] * 3


def test_a_flood_of_expired_transactions_does_not_delay_a_dead_instance():
    TransactionRow.objects.bulk_create(
        TransactionRow(status="active", expires_at=LONG_AGO, limit_at=LONG_AGO)
        for _ in range(BATCH + 20)
    )
    Instance.objects.create(pk="dead", available=True, epoch=1, lease_until=LONG_AGO)
    repairs = [repair("expired transactions"), repair("dead instances")]
    Loop(Leadership("one", repairs).steps()).run_due()
    assert TransactionRow.objects.filter(status="active").count() <= 20
    assert not Instance.objects.get(pk="dead").available


def test_what_was_mended_stands_in_the_log_with_its_count():
    txn = Transaction(Client())
    TransactionRow.objects.filter(pk=txn.id).update(expires_at=from_now(-1))
    Loop(Leadership("one", [repair("expired transactions")]).steps()).run_due()
    logged = Event.objects.get(kind="curator.repaired")
    assert logged.facts == {"repair": "expired transactions", "count": 1}


def test_the_curator_looks_at_every_rule_in_turn():
    lease = HeldLease.take("curator", "host:1", 600)
    for _ in all_rules():
        integrity.check_next(database_now(), lease)
    seen = integrity.summary()
    assert (seen["checked"], seen["broken"]) == (len(all_rules()), [])
    oldest = RuleCheck.objects.order_by("checked_at").first()
    integrity.check_next(database_now(), lease)
    assert RuleCheck.objects.get(pk=oldest.pk).checked_at > oldest.checked_at


def test_a_broken_rule_needs_attention_until_it_holds_again(client_as):
    lease = HeldLease.take("curator", "host:1", 600)
    rule = next(each for each in all_rules() if each.name == "forgotten")
    txn = TransactionRow.objects.create(status="active", expires_at=LONG_AGO, limit_at=LONG_AGO)
    integrity.check(rule, database_now(), lease)
    titles = [item["title"] for item in snapshot(database_now())["attention"]]
    assert "Broken: No transaction has been overdue for a minute." in titles
    assert f'href="/search/?q={txn.pk}"' in client_as("viewer").get("/system/integrity/").text
    txn.delete()
    integrity.check(rule, database_now(), lease)
    assert snapshot(database_now())["integrity"]["broken"] == []
    kinds = Event.objects.filter(subject="rule:forgotten").order_by("pk")
    assert [event.kind for event in kinds] == ["rule.broken", "rule.holds_again"]
