"""The watcher turns DNS answers into instances, and no failure removes one."""

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from allocation.atributo import Atributo
from atributo_site.core.errors import LeaseLost
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now, from_now
from pools import configuration
from pools.marks import marks, marks_of_trouble
from pools.models import Backend, BackendChange, Pool, PoolSnapshot
from pools.repairs import forget_old_changes, forget_old_snapshots
from pools.watch import apply_readings
from pools.watch.watcher import SILENCE_MS
from tests.pools.site.watching import LONG_SECONDS, TIMEOUT_MS, states

pytestmark = pytest.mark.django_db


def kinds():
    return list(BackendChange.objects.order_by("id").values_list("kind", flat=True))


def test_targets_in_dns_become_available_instances(watching):
    watching.targets(1, 2, 3)
    watching.name()
    assert watching.sweep() == 3
    assert states() == {f"10.0.0.{n}:800{n}": "available" for n in (1, 2, 3)}
    assert (Pool.objects.get().state, kinds()) == ("running", ["running", *["added"] * 3])


def test_a_target_that_leaves_dns_drains_and_keeps_its_jobs(watching):
    watching.targets(1, 2, 3)
    watching.name()
    watching.sweep()
    with Atributo() as atributo:
        jobs = [f"job-{n}" for n in range(30)]
        before = {job: atributo.allocate(job).instance_id for job in jobs}
        watching.targets(1, 2)
        assert watching.again() == 1
        assert states()["10.0.0.3:8003"] == "draining"
        assert {job: atributo.instance(job) for job in jobs} == before


def test_a_target_that_returns_is_available_again(watching):
    watching.targets(1, 2, 3)
    watching.name()
    watching.sweep()
    watching.targets(1, 2)
    watching.again()
    watching.targets(1, 2, 3)
    watching.again()
    assert set(states().values()) == {"available"}
    assert kinds()[-2:] == ["gone", "returned"]


def test_a_backend_was_last_seen_when_its_name_was_last_answered(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    watching.again()
    pool = Pool.objects.get()
    assert {row.seen_at for row in pool.backends.all()} == {pool.looked_up_at}
    watching.server.fault("*", "*", "servfail")
    watching.again()
    pool.refresh_from_db()
    assert {row.seen_at for row in pool.backends.all()} == {pool.stale_since}


def test_priority_and_weight_are_those_of_the_last_answer(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    hosts = [(10, 5, 8001, "t1.example"), (20, 0, 8002, "t2.example")]
    watching.server.set("_http._tcp.svc.example", "SRV", hosts, 10)
    watching.again()
    rows = Backend.objects.order_by("port").values_list("priority", "weight", "state")
    assert list(rows) == [(10, 5, "present"), (20, 0, "present")]
    assert kinds() == ["running", "added", "added"]


@pytest.mark.parametrize("fault", ["servfail", "refused", "notimp", "nxdomain", "nodata"])
def test_a_failure_of_dns_drains_nothing(watching, fault):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    watching.server.fault("*", "*", fault)
    watching.again()
    pool = Pool.objects.get()
    assert set(states().values()) == {"available"}
    assert (pool.state, pool.shown_state, kinds()[-1]) == ("running", "stale", "stale")
    assert pool.last_error


@pytest.mark.parametrize("fault", ["drop", "garbage", "wrong_id", "wrong_name"])
def test_silence_and_noise_drain_nothing(watching, fault):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    asked = len(watching.server.queries)
    watching.server.fault("*", "*", fault)
    watching.in_vain([asked + 1, asked + 3])
    assert set(states().values()) == {"available"}
    assert f"no answer within {TIMEOUT_MS // 1000}s" in Pool.objects.get().last_error


def test_half_of_the_targets_wait_for_a_second_look_up(watching):
    watching.targets(1, 2, 3, 4)
    watching.name()
    watching.sweep()
    watching.targets(1, 2)
    assert watching.again() == 0
    pool = Pool.objects.get()
    assert (pool.waiting, pool.shown_state) == (2, "waiting")
    assert set(states().values()) == {"available"}
    assert watching.again(5_100) == 2
    assert [states()[f"10.0.0.{n}:800{n}"] for n in (1, 3, 4)] == ["available", *["draining"] * 2]
    assert kinds()[-4:] == ["waiting", "settled", "gone", "gone"]


def test_a_second_look_up_that_finds_them_again_drains_nothing(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    watching.targets(1)
    watching.again()
    watching.targets(1, 2)
    watching.again(5_100)
    assert set(states().values()) == {"available"}
    assert (Pool.objects.get().waiting, kinds()[-2:]) == (0, ["waiting", "settled"])


def test_a_second_look_up_that_fails_confirms_nothing(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    watching.targets(1)
    watching.again()
    watching.server.fault("*", "*", "servfail")
    watching.again(5_100)
    watching.again()
    assert set(states().values()) == {"available"}
    watching.server.clear_faults()
    watching.again()
    assert states()["10.0.0.2:8002"] == "draining"


def test_a_name_that_is_really_gone_drains_after_the_hold_and_a_confirmation(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    watching.server.fault("*", "*", "nxdomain")
    for _ in range(20):
        watching.again(13_000)
    assert set(states().values()) == {"available"}
    for _ in range(8):
        watching.again(13_000)
    assert set(states().values()) == {"draining"}


def test_a_new_watcher_that_finds_dns_dead_keeps_what_is_known(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    watching.stop()
    watching.server.fault("*", "*", "servfail")
    assert watching.sweep() == 0
    pool = Pool.objects.get()
    assert set(states().values()) == {"available"}
    assert (pool.state, pool.stale_since is not None) == ("failed", True)


def test_a_new_watcher_sees_what_changed_meanwhile(watching):
    watching.targets(1, 2, 3)
    watching.name()
    watching.sweep()
    watching.stop()
    watching.targets(2, 3, 4)
    assert watching.sweep() == 2
    assert states()["10.0.0.1:8001"] == "draining"
    assert states()["10.0.0.4:8004"] == "available"


def test_a_watcher_without_its_lease_writes_nothing(watching):
    watching.targets(1)
    watching.name()
    watching.lease.release()
    with pytest.raises(LeaseLost):
        watching.sweep()
    assert (Backend.objects.count(), states()) == (0, {})


def test_every_change_is_an_event(watching):
    watching.targets(1, 2, 3)
    watching.name()
    watching.sweep()
    watching.targets(1, 2)
    watching.again()
    events = Event.objects.about("pool:svc").order_by("id")
    assert [event.kind for event in events] == [
        "pool.watched", "pool.running", *["backend.added"] * 3, "backend.gone",
    ]  # fmt: skip
    assert events.last().facts["instance"] == "10.0.0.3:8003"


def test_a_watcher_that_sweeps_no_longer_stops_asking(watching, wait_until):
    """Another curator is active by then, and two must not ask the same names."""
    watching.watch.silence_ms = SILENCE_MS
    watching.targets(1)
    watching.name()
    watching.sweep()
    (name,) = watching.watch.names.values()
    watching.driver.advance(SILENCE_MS + 1)
    wait_until(lambda: watching.watch._token is None)
    assert name.resolver.state == "stopped"
    watching.targets(1, 2, 3)
    assert watching.sweep() == 2


def test_a_name_that_is_paused_is_not_asked_and_goes_on_where_it_was(watching):
    watching.targets(1, 2, 3)
    watching.name()
    watching.sweep()
    configuration.change("svc", is_watched=False)
    watching.sweep()
    assert (Pool.objects.get().shown_state, watching.watch.names) == ("paused", {})
    configuration.change("svc", is_watched=True)
    watching.targets(1, 2)
    assert watching.sweep() == 1
    assert states()["10.0.0.3:8003"] == "draining"


def test_old_changes_and_pictures_are_forgotten(watching):
    watching.targets(1)
    watching.name()
    watching.sweep()
    BackendChange.objects.filter(kind="running").update(at=from_now(-91 * 86400))
    PoolSnapshot.objects.create(process="gone", at=from_now(-7200))
    now = database_now()
    assert forget_old_changes(now, watching.lease) == 1
    assert forget_old_snapshots(now, watching.lease) == 1
    assert kinds() == ["added"]


def queries_of_a_round(watching):
    watching.driver.advance(12_500)
    assert watching.watch.wait_for(list(watching.watch.names.values()), LONG_SECONDS)
    with CaptureQueriesContext(connection) as seen:
        assert watching.sweep() == 0
    return len(seen)


def test_a_sweep_takes_the_same_queries_for_any_number_of_names(
    watching, django_assert_num_queries
):
    watching.targets(1)
    watching.name()
    watching.sweep()
    one = queries_of_a_round(watching)
    for number in range(24):
        watching.name(f"n{number}")
    watching.sweep()
    assert queries_of_a_round(watching) == one
    with django_assert_num_queries(2):  # the clock, and a glance at the rows
        watching.sweep()


def test_an_answer_that_cannot_be_stored_keeps_no_other_back(watching, monkeypatch):
    watching.targets(1)
    for name in ("bad", "good"):
        watching.name(name)
    written = apply_readings.write_observations

    def write_unless_bad(observations, clock):
        if "bad" in {observation.pool.name for observation in observations}:
            raise DatabaseError("no room")
        written(observations, clock)

    monkeypatch.setattr(apply_readings, "write_observations", write_unless_bad)
    assert watching.sweep() == 1
    assert dict(Pool.objects.values_list("name", "state")) == {"bad": "stopped", "good": "running"}
    monkeypatch.undo()
    assert watching.sweep() == 1


def test_answers_that_change_nothing_are_written_together_a_little_later(watching, wait_until):
    watching.targets(1, 2, 3)
    watching.name()
    watching.sweep()
    watching.watch.gather_ms = 60_000
    before = Pool.objects.get().looked_up_at
    watching.again()
    assert Pool.objects.get().looked_up_at == before
    watching.targets(1, 2)
    watching.driver.advance(12_500)
    (name,) = watching.watch.names.values()
    wait_until(name.has_news)
    assert [watching.sweep(), watching.sweep()] == [0, 1]  # the older one first


@pytest.mark.parametrize(("ttl", "floor_ms", "step_ms"), [(10, 5_000, 10_000), (1, 12_000, 12_000)])
def test_a_removed_target_drains_at_the_next_look_up(watching, ttl, floor_ms, step_ms):
    """It comes after the larger of TTL and floor, and at most a fifth later."""
    watching.targets(1, 2, 3, ttl=ttl)
    watching.name(ttl_floor_ms=floor_ms)
    watching.sweep()
    (name,) = watching.watch.names.values()
    wake, began = name.resolver.next_at()["wake"], name.resolver.pass_began_at
    answered_at = Pool.objects.get().looked_up_at - Pool.objects.get().began_at
    slack = answered_at.total_seconds() * 1000 + 1
    assert step_ms <= wake - began <= 1.2 * (step_ms + slack)
    watching.targets(1, 2, ttl=ttl)
    watching.driver.advance(1.2 * (step_ms + slack))
    assert watching.watch.wait_for([name], LONG_SECONDS)
    assert (watching.sweep(), states()["10.0.0.3:8003"]) == (1, "draining")


def test_a_look_up_without_news_is_no_sign_of_trouble(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    seen, of_trouble = marks(), marks_of_trouble()
    watching.again()
    PoolSnapshot.objects.create(process="curator/one", body={})
    assert marks() != seen and marks_of_trouble() == of_trouble
    watching.targets(1)
    watching.again()
    assert (later := marks_of_trouble()) != of_trouble
    PoolSnapshot.objects.create(process="web/one", body={})
    assert marks_of_trouble() != later
