"""Of any number of curators one is active; only that one repairs, and it is fenced."""

import json
import signal
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db.transaction import atomic

from allocation.models import IdNumber
from allocation.transactions.curator.status import hand_over
from atributo_site.core.errors import LeaseLost
from atributo_site.core.events import record
from atributo_site.core.loops import Repair
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.curator.leadership import ROLE, Leadership
from atributo_site.curator.repairs import BATCH, all_repairs
from atributo_site.incidents.repairs import REPAIRS as OF_INCIDENTS

pytestmark = pytest.mark.django_db


def curator(name: str, *repairs: Repair) -> Leadership:
    curator = Leadership(name, repairs)
    curator.heartbeat(database_now())
    return curator


def expire() -> None:
    Lease.objects.filter(role="curator").update(expires_at=from_now(-0.001))


def kinds() -> list[str]:
    return [event.kind for event in Event.objects.order_by("id")]


def test_the_first_curator_is_active_and_the_second_waits():
    first, second = curator("one"), curator("two")
    assert (first.lease is not None, second.lease is None) == (True, True)


def test_a_clean_stop_hands_over_at_once():
    first, second = curator("one"), curator("two")
    first.resign()
    second.heartbeat(database_now())
    assert second.lease.token == 2
    assert kinds() == ["curator.active", "curator.resigned", "curator.active"]


def test_a_silent_curator_is_replaced_and_notices():
    first, second = curator("one"), curator("two")
    expire()
    second.heartbeat(database_now())
    first.heartbeat(database_now())
    assert (first.lease, second.lease.token) == (None, 2)


def test_whoever_is_told_to_hand_over_lets_another_be_first():
    first = curator("one", Repair("mend", lambda now, lease: 1))
    now = database_now()
    hand_over("upgrade")
    next(step for step in first.steps() if step.name == "mend").run(now)
    first.heartbeat(now + timedelta(seconds=2.9))
    assert first.lease is None
    assert curator("two").lease.token == 2
    Lease.objects.release("curator", 2)
    first.heartbeat(now + timedelta(seconds=3))
    assert first.lease.token == 3


def test_a_repair_that_knows_when_it_is_needed_is_called_then():
    first = curator("one", Repair("soon", lambda now, lease: 0, 60.0, due_in=lambda: 0.25))
    step = next(step for step in first.steps() if step.name == "soon")
    assert step.run(database_now()) == 0.25
    standby = curator("two", Repair("soon", lambda now, lease: 0, 60.0, due_in=lambda: 0.25))
    step = next(step for step in standby.steps() if step.name == "soon")
    assert step.run(database_now()) == 60.0


def test_a_replaced_curator_runs_no_repair():
    runs = []
    first = curator("one", Repair("mend", lambda now, lease: runs.append(now) or 1))
    expire()
    curator("two")
    run = next(step for step in first.steps() if step.name == "mend")
    run.run(database_now())
    assert (runs, first.lease) == ([], None)


def test_a_sweep_that_finds_nothing_at_most_looks(django_assert_max_num_queries):
    active, now = curator("one", Repair("mend", lambda now, lease: 0)), database_now()
    active.sweep(now, active.repairs[0])  # it prepares the statement
    before = Lease.objects.filter(role=ROLE).values().get()
    with django_assert_max_num_queries(1):  # at the lease, unless it was just looked at
        active.sweep(now, active.repairs[0])
    assert Lease.objects.filter(role=ROLE).values().get() == before


def test_a_repair_that_outlives_its_lease_writes_nothing():
    def slow(now, lease):
        expire()
        with atomic():
            lease.guard()
            record("mended", "thing:1")

    first = curator("one", Repair("slow", slow))
    with pytest.raises(LeaseLost):
        first.sweep(database_now(), first.repairs[0])
    assert "mended" not in kinds()


def test_what_a_sweep_repaired_is_counted_and_recorded():
    active = curator("one", Repair("mend", lambda now, lease: 3))
    active.sweep(database_now(), active.repairs[0])
    assert active.repaired == {"mend": 3}
    assert Event.objects.get(kind="curator.repaired").facts == {"repair": "mend", "count": 3}


def test_an_idle_sweep_leaves_no_event():
    active = curator("one", Repair("mend", lambda now, lease: 0))
    active.sweep(database_now(), active.repairs[0])
    assert kinds() == ["curator.active"]


def test_old_events_are_forgotten_in_batches_and_young_ones_kept():
    Event.objects.bulk_create(
        [Event(kind="a.b", subject="x:1", actor="a", channel="process")] * (BATCH + 1)
    )
    Event.objects.update(at=from_now(-91 * 86400))
    record("young", "x:1")
    active = curator("one", *all_repairs())
    forget = next(repair for repair in active.repairs if repair.name == "old events")
    assert [active.sweep(database_now(), forget) for _ in range(3)] == [BATCH, 1, 0]
    assert "young" in kinds()


def test_presences_of_gone_processes_are_forgotten_but_roles_keep_their_tokens():
    for role in ("worker/gone", "worker/recent", "curator"):
        Lease.objects.acquire(role, "somebody", 5)
    Lease.objects.exclude(role="worker/recent").update(expires_at=from_now(-7200))
    active = curator("one", *all_repairs())
    forget = next(repair for repair in active.repairs if repair.name == "gone processes")
    assert active.sweep(database_now(), forget) == 1
    assert set(Lease.objects.values_list("role", flat=True)) == {"curator", "worker/recent"}


def test_once_runs_every_repair_and_frees_the_lease(capsys):
    IdNumber.objects.all().delete()  # of this very process, which commits them by itself
    call_command("run_curator", "--once", "--json")
    counts = json.loads(capsys.readouterr().out)
    assert counts == {repair.name: 0 for repair in [*all_repairs(), *OF_INCIDENTS]}
    assert not Lease.objects.held().exists()


def test_once_refuses_while_another_is_active(capsys):
    curator("one")
    with pytest.raises(SystemExit) as stop:
        call_command("run_curator", "--once")
    assert stop.value.code == 1
    assert "another curator is active" in capsys.readouterr().err


def test_an_unknown_repair_is_named_with_the_known_ones():
    with pytest.raises(CommandError, match="no repair is called 'nix'; there are '"):
        call_command("run_curator", "--only", "nix")


@pytest.mark.django_db(transaction=True)
def test_a_killed_curator_is_replaced_and_a_stopped_one_hands_over(spawn, wait_until):
    timing = {"ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "1500"}
    curators = {name: spawn("run_curator", "--name", name, env=timing) for name in ("a", "b", "c")}

    def active() -> str | None:
        row = Lease.objects.held().filter(role="curator").first()
        return row and row.facts["name"]

    for number in (signal.SIGKILL, signal.SIGTERM):
        before = wait_until(active)
        curators.pop(before).send_signal(number)
        wait_until(lambda before=before: active() not in (None, before))
    told = [event.facts["epoch"] for event in Event.objects.filter(kind="curator.active")]
    assert len(told) >= 3  # a slow one may also have been replaced
    assert sorted(told) == list(range(1, len(told) + 1))
