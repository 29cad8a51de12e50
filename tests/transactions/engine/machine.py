"""Any operations of several transactions, crashes, curators and third parties on three keys."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from allocation.transactions import (
    Client,
    CollectionKeyIsLocked,
    DocumentNotFound,
    RollbackCausedByException,
    Transaction,
)
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.models import Document, Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from tests.transactions.logic.undo_model import ABSENT, MARKER

keys = st.sampled_from(["a", "b", "c"])
values = st.sampled_from([{}, [], 0, False, "", None, {"v": 1}, {"v": 2}, MARKER])
places = st.integers(0, 2)
scripts = st.lists(st.tuples(st.sampled_from(["put", "delete", "get"]), keys, values), max_size=5)


class TransactionMachine(RuleBasedStateMachine):
    """`base` is what each key is if its owner rolls back, `current` what it is now."""

    def __init__(self):
        super().__init__()
        for model in (Row, Document, Event, Lease):
            model.objects.all().delete()
        self.client = Client()
        self.lease = HeldLease.take("curator", "machine", 3600)
        self.base = dict.fromkeys("abc", ABSENT)
        self.current = dict(self.base)
        self.owner = dict.fromkeys("abc")
        self.open, self.dead = [], []

    @precondition(lambda self: len(self.open) < 3)
    @rule(steps=scripts)
    def begin(self, steps):
        txn = Transaction(self.client)
        self.open.append(txn)
        self._operate(txn, steps)

    @precondition(lambda self: self.open)
    @rule(which=places, steps=scripts)
    def go_on(self, which, steps):
        self._operate(self._chosen(which), steps)

    @precondition(lambda self: self.open)
    @rule(which=places)
    def complete(self, which):
        txn = self._chosen(which)
        txn.complete()
        self._end(txn, self.current)

    @precondition(lambda self: self.open)
    @rule(which=places)
    def roll_back(self, which):
        txn = self._chosen(which)
        txn.roll_back()
        self._end(txn, self.base)

    @precondition(lambda self: self.open)
    @rule(which=places)
    def crash(self, which):
        txn = self._chosen(which)
        self.open.remove(txn)
        self.dead.append(txn)

    @rule()
    def curate(self):
        ids = [txn.id for txn in self.dead]
        Row.objects.filter(pk__in=ids).update(expires_at="2000-01-01T00:00Z")
        assert expired_transactions(database_now(), self.lease) == len(ids)
        for txn in self.dead:
            self._end(txn, self.base)
        self.dead = []

    @rule(key=keys, value=values)
    def write_plainly(self, key, value):
        try:
            self.client.put("m", key, value).raise_for_status()
        except CollectionKeyIsLocked as locked:
            assert locked.holder == self.owner[key].id
        else:
            assert self.owner[key] is None
            self.base[key] = self.current[key] = value

    @rule(key=keys, value=values)
    def write_as_a_third_party(self, key, value):
        self.client.put("m", key, value, raise_if_locked=False).raise_for_status()
        self.base[key] = self.current[key] = value

    @rule(key=keys)
    def delete_as_a_third_party(self, key):
        """Of a key that is not there it changes nothing, also for whoever deleted it first."""
        answer = self.client.delete("m", key, raise_if_locked=False)
        assert answer.ok == (self.current[key] is not ABSENT)
        if answer.ok:
            self.base[key] = self.current[key] = ABSENT

    @invariant()
    def every_key_is_as_expected(self):
        present = Document.objects.filter(present=True)
        stored = dict.fromkeys("abc", ABSENT) | {row.key: row.value for row in present}
        assert {key: shown(stored[key]) for key in "abc"} == {
            key: shown(self.current[key]) for key in "abc"
        }

    @invariant()
    def exactly_the_owned_keys_are_locked(self):
        locks = dict(Lock.objects.values_list("document__key", "transaction_id"))
        assert locks == {key: txn.id for key, txn in self.owner.items() if txn is not None}

    def _chosen(self, which):
        return self.open[which % len(self.open)]

    def _operate(self, txn, steps):
        for name, key, value in steps:
            if not self._step(txn, name, key, value):
                return

    def _step(self, txn, name, key, value):
        """False once the transaction was rolled back because of this step."""
        free = self.owner[key] in (None, txn)
        possible = free and (name != "delete" or self.current[key] is not ABSENT)
        try:
            getattr(txn, name)("m", key, *([value] if name == "put" else []))
        except DocumentNotFound:
            assert free and name == "get" and self.current[key] is ABSENT
        except RollbackCausedByException:
            assert not possible
            self._end(txn, self.base)
            return False
        assert possible
        self.owner[key] = txn
        self.current[key] = {"put": value, "delete": ABSENT}.get(name, self.current[key])
        return True

    def _end(self, txn, source):
        if txn in self.open:
            self.open.remove(txn)
        for key in [key for key, owner in self.owner.items() if owner is txn]:
            self.base[key] = self.current[key] = source[key]
            self.owner[key] = None


def shown(value):
    """0 and False are equal in Python and two values in JSON."""
    return type(value).__name__, value if value is not ABSENT else None
