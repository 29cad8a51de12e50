"""The state machine, short here and long in `make soak`."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from allocation.transactions.errors import FailedToRollBack
from allocation.transactions.logic.undo import Restore
from allocation.transactions.store import undo
from tests.transactions.engine.machine import TransactionMachine

pytestmark = pytest.mark.django_db(transaction=True)
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


def test_transactions_keep_their_promise():
    short = settings(max_examples=8, stateful_step_count=30, **QUIET)
    run_state_machine_as_test(TransactionMachine, settings=short)


def forward_plan(journal):
    """Undo line by line, first line first: what must be caught."""
    return [
        Restore(write.key, write.before, write.after_ref, write.line, (write.line,))
        for write in journal
    ]


def test_the_machine_catches_a_forward_undo(monkeypatch):
    monkeypatch.setattr(undo, "plan", forward_plan)
    search = settings(
        max_examples=200,
        stateful_step_count=30,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        **QUIET,
    )
    with pytest.raises((AssertionError, FailedToRollBack)):  # lines that do not follow each other
        run_state_machine_as_test(TransactionMachine, settings=search)


@pytest.mark.soak
def test_transactions_keep_their_promise_for_long():
    long = settings(max_examples=500, stateful_step_count=50, **QUIET)
    run_state_machine_as_test(TransactionMachine, settings=long)
