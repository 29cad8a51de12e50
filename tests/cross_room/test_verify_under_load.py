"""Rules hold on a healthy installation while it works hard."""

from datetime import timedelta

import pytest

from atributo_site.curator.integrity import all_rules
from queues.maintenance import invariants
from queues.models import QueuedJob

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def patient_rules(monkeypatch):
    """Let a slow machine break no rule."""
    for room in (invariants, invariants):
        monkeypatch.setattr(room, "LATE", timedelta(minutes=5))


def test_no_rule_breaks_under_load(queue, act, worker, spawn, wait_until, patient_rules):
    worker("north")
    spawn("run_curator", "--name", "healer")
    load = spawn("load_test", "--seconds", "0.7", "--clients", "3")
    queue.push_many(act, [None] * 300)
    is_over = False
    while not is_over:  # the last look comes after the load
        is_over = not load.is_running()
        assert {rule.name: rule.broken() for rule in all_rules() if rule.broken()} == {}
    assert load.wait() == 0, load.output()
    done = QueuedJob.objects.filter(queue__name="work", status="complete")
    wait_until(lambda: done.count() == 300)
    assert [row for rule in all_rules() for row in rule.broken()] == []
