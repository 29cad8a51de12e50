"""Any sequence of calls and crashes against a model of a few lines, on both databases."""

import hashlib

import pytest
from django.db.transaction import atomic
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from allocation.atributo import Atributo
from allocation.errors import NoInstances
from allocation.invariants import INVARIANTS
from allocation.models import Allocation, Instance

INSTANCES = st.sampled_from(["a", "b", "é", "Z", "instance0"])
JOBS = st.sampled_from([f"job{n}" for n in range(8)])


class Crash(BaseException):
    pass


class Calls(RuleBasedStateMachine):
    """`instances`: id → available; `placed`: job → instance."""

    def __init__(self):
        super().__init__()
        for row in Instance.objects.all():
            Atributo().unavailable(row.pk, destroyed=True)
        self.ao = Atributo()
        self.instances, self.placed, self.epochs = {}, {}, {}

    @rule(instance_id=INSTANCES)
    def available(self, instance_id):
        self.ao.available(instance_id)
        self.instances[instance_id] = True

    @rule(instance_id=INSTANCES)
    def unavailable(self, instance_id):
        self.ao.unavailable(instance_id)
        self.instances[instance_id] = False

    @rule(instance_id=INSTANCES)
    def destroy(self, instance_id):
        self.ao.unavailable(instance_id, destroyed=True)
        self.instances.pop(instance_id, None)
        self.placed = {job: key for job, key in self.placed.items() if key != instance_id}

    @rule(job_id=JOBS)
    def allocate(self, job_id):
        if job_id not in self.placed and not self.open_ones():
            with pytest.raises(NoInstances):
                self.ao.allocate(job_id)
            return
        expected = self.expected(job_id)
        assert self.ao.allocate(job_id) == expected
        self.placed[job_id] = expected[0]

    @precondition(lambda self: self.open_ones())
    @rule(job_ids=st.lists(JOBS, max_size=5))
    def allocate_many(self, job_ids):
        expected = {job_id: self.expected(job_id) for job_id in job_ids}
        assert self.ao.allocate_many(job_ids) == expected
        self.placed |= {job_id: key for job_id, (key, _) in expected.items()}

    @rule(job_id=JOBS)
    def deallocate(self, job_id):
        assert self.ao.deallocate(job_id) == (job_id in self.placed)
        self.placed.pop(job_id, None)

    @rule(job_id=JOBS, instance_id=INSTANCES)
    def crash(self, job_id, instance_id):
        with pytest.raises(Crash), atomic():
            self.ao.available(instance_id)
            self.ao.allocate(job_id)
            self.ao.deallocate(job_id)
            raise Crash

    @invariant()
    def the_database_says_what_the_model_says(self):
        rows = Allocation.objects.all()
        assert dict(rows.values_list("job_id", "instance_id")) == self.placed
        assert self.ao.instances() == [
            {"id": key, "available": self.instances[key]} for key in sorted(self.instances)
        ]

    @invariant()
    def epochs_only_grow(self):
        now = dict(Allocation.objects.values_list("job_id", "epoch"))
        assert all(now[job] >= self.epochs.get(job, 0) for job in now)
        self.epochs |= now

    @invariant()
    def nothing_is_broken(self):
        assert {name: rows for name, _, find in INVARIANTS if (rows := find())} == {}

    def open_ones(self):
        return sorted(key for key, available in self.instances.items() if available)

    def expected(self, job_id):
        if job_id in self.placed:
            return self.placed[job_id], False
        number = int.from_bytes(hashlib.md5(job_id.encode()).digest()[:4], "big")
        return self.open_ones()[number % len(self.open_ones())], True


def run(examples, steps):
    limits = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Calls, settings=limits)


@pytest.mark.django_db(transaction=True)
def test_any_calls_and_crashes_agree_with_the_model():
    run(examples=6, steps=25)


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
def test_many_calls_and_crashes_agree_with_the_model():
    run(examples=500, steps=50)
