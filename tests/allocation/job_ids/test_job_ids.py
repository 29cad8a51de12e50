"""Ids from the database: unique over threads, processes, restarts and clocks that step."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection, connections
from django.db.transaction import atomic

from allocation.errors import BadNumbering, InvalidJobId, NoWorkerNumber
from allocation.job_ids import ids as job_ids
from allocation.job_ids.ids import Generator
from allocation.logic.job_ids import parse, sort_key
from allocation.models import IdNumber
from tests.allocation.job_ids.id_hands import (
    HOUR,
    Hands,
    child_ids,
    expire_all,
    generator,
    is_growing,
    lead_seconds,
)

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


def test_c04_ids_of_one_generator_grow():
    made = generator(Hands(), lead_ms=60_000)
    assert is_growing([made.get_job_id() for _ in range(20_000)])


def test_c02_two_in_one_millisecond_differ_by_the_cluster_size():
    made = generator(Hands(), "5")
    first, second, third = (int(made.get_job_id()) for _ in range(3))
    assert (second - first, third - second) == (100, 100)


def test_c05_a_clock_that_goes_back_an_hour_neither_repeats_nor_stops_ids():
    hands = Hands()
    made = generator(hands)
    before = [made.get_job_id() for _ in range(700)]
    hands.wall -= HOUR
    after = [made.get_job_id() for _ in range(3000)]
    assert is_growing(before + after)
    assert hands.steady < 10


def test_those_who_share_a_number_need_not_have_seen_the_clock_go_back():
    hands = Hands()
    parent, child = generator(hands, "7"), generator(hands, "7")
    first = parent.get_job_id()
    child.number = parent.number
    ids = [first, child.get_job_id()]
    hands.wall += HOUR
    ids += [parent.get_job_id() for _ in range(600)]
    hands.wall -= HOUR
    ids += [child.get_job_id() for _ in range(600)]
    assert len(set(ids)) == len(ids)
    assert hands.steady < 3


def test_a_clock_that_goes_forward_and_back_again_repeats_nothing():
    hands = Hands()
    made = generator(hands)
    ids = [made.get_job_id()]
    for step in (HOUR, -HOUR, 24 * HOUR, -24 * HOUR):
        hands.wall += step
        ids += [made.get_job_id() for _ in range(600)]
    assert is_growing(ids)


def test_c08_single_ids_wait_rather_than_run_far_ahead():
    hands = Hands()
    made = generator(hands, "7")
    leads = [lead_seconds(made.get_job_id(), hands) for _ in range(5000)]
    assert max(leads) <= 1.001
    assert hands.steady == pytest.approx(4, abs=0.1)


def test_a_batch_may_run_ahead_and_single_ids_go_on_from_it():
    hands = Hands()
    made = generator(hands)
    ids = made.get_job_ids(50_000) + [made.get_job_id() for _ in range(500)]
    assert is_growing(ids)
    assert hands.steady == 0
    assert made.get_job_ids(0) == []


def test_after_a_batch_the_lead_shrinks_as_time_passes():
    hands = Hands()
    made = generator(hands)
    made.get_job_ids(10_000)
    hands.sleep(60)
    leads = [lead_seconds(made.get_job_id(), hands) for _ in range(3000)]
    assert max(leads) <= 1.001


@pytest.mark.parametrize("step", [0, -2, -HOUR, 24 * HOUR])
def test_a_restart_after_a_burst_and_a_step_repeats_nothing(step):
    hands = Hands()
    first = generator(hands, "7")
    before = first.get_job_ids(5000) + [first.get_job_id() for _ in range(300)]
    expire_all()  # it was killed, and its lease has run out
    hands.wall += step
    after = [generator(hands, "7").get_job_id(), *generator(hands, "8").get_job_ids(10)]
    assert int(after[0]) > int(before[-1])
    assert len({*before, *after}) == len(before) + len(after)


def test_a_clean_stop_frees_the_number_and_what_is_left_of_the_block():
    hands = Hands()
    first = generator(hands, "7")
    last = first.get_job_id()
    first.release()
    again = generator(hands, "7")
    assert int(again.get_job_id()) == int(last) + 100


def test_c09_threads_share_a_generator():
    made = generator(Hands(), lead_ms=60_000)

    def many(_):
        try:
            return [made.get_job_id() for _ in range(2000)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        parts = list(threads.map(many, range(8)))
    assert all(map(is_growing, parts))
    assert len({job_id for part in parts for job_id in part}) == 16_000


def test_c09_forked_children_use_blocks_of_their_parents_number():
    own = [job_ids.get_job_id() for _ in range(5)]
    connection.close()  # a child must not inherit the connection
    parts = [child_ids(30), [job_ids.get_job_id()], child_ids(30)]
    ids = own + [job_id for part in parts for job_id in part]
    job_ids.release()
    assert len(set(ids)) == 66
    assert len({parse(job_id).worker_id for job_id in ids}) == 1


def test_every_process_leases_a_number_of_its_own():
    hands = Hands()
    made = [generator(hands).get_job_id() for _ in range(10)]
    assert len({parse(job_id).worker_id for job_id in made}) == 10


def test_c10_a_number_that_a_live_process_has_is_refused_until_its_lease_is_over():
    hands = Hands()
    first = generator(hands, "3")
    first.get_job_id()
    with pytest.raises(BadNumbering, match="worker_id=3"):
        generator(hands, "3").get_job_id()
    expire_all()
    assert parse(generator(hands, "3").get_job_id()).worker_id == 3


def test_a_process_that_lost_its_number_takes_another():
    hands = Hands()
    sleeper = generator(hands)
    first = parse(sleeper.get_job_id()).worker_id
    IdNumber.objects.filter(pk=first).update(holder="another", token=99)
    hands.sleep(5)
    assert parse(sleeper.get_job_id()).worker_id != first


@pytest.mark.parametrize(("patience", "waited"), [(10, 2), (1, 1)])
def test_when_no_number_is_free_the_call_waits_two_seconds_and_gives_up(patience, waited):
    """In a web server, which has less patience, one second."""
    hands = Hands()
    for _ in range(10):
        generator(hands, size=10).get_job_id()
    with pytest.raises(NoWorkerNumber) as refused:
        generator(hands, size=10, patience=patience).get_job_id()
    assert hands.steady == pytest.approx(waited, abs=0.11)
    assert (refused.value.status_code, refused.value.retry_after_seconds) == (503, 1)


@pytest.mark.parametrize(("worker_id", "size"), [("100", 100), ("0", 50), ("auto", 0)])
def test_c03_wrong_settings_are_refused(worker_id, size):
    with pytest.raises(BadNumbering, match="must be"):
        generator(Hands(), worker_id, size).get_job_id()


def test_c11_an_upgrade_goes_on_with_larger_ids():
    hands = Hands()
    old = generator(hands, "42").get_job_id()
    expire_all()
    new = generator(hands, "42", size=1000).get_job_id()
    assert (old[-2:], new[-3:]) == ("42", "042")
    assert int(new) > int(old) and sort_key(new) > sort_key(old)


def test_c12_a_downgrade_is_refused():
    hands = Hands()
    generator(hands, size=1000).get_job_id()
    expire_all()
    with pytest.raises(BadNumbering, match="cluster_size=1000"):
        generator(hands, size=100).get_job_id()


def test_c12_mixed_sizes_are_refused_while_the_old_ones_live():
    hands = Hands()
    old = generator(hands)
    old.get_job_id()
    with pytest.raises(BadNumbering, match="1 process still at cluster_size=100"):
        generator(hands, size=1000).get_job_id()
    expire_all()
    generator(hands, size=1000).get_job_id()
    hands.sleep(5)
    with pytest.raises(BadNumbering, match="mix sizes"):
        old.get_job_id()


def test_a_rolled_back_transaction_gives_no_id_back():
    hands = Hands()
    made = generator(hands, "7")
    with pytest.raises(RuntimeError), atomic():
        first = made.get_job_id()
        raise RuntimeError
    ids = [first, *(made.get_job_id() for _ in range(3))]
    made.release()
    assert is_growing([*ids, generator(hands, "7").get_job_id()])


def test_ids_inside_one_transaction_grow():
    made = generator(Hands())
    with atomic():
        ids = [made.get_job_id() for _ in range(5)]
        ids += made.get_job_ids(3)
    assert is_growing([*ids, made.get_job_id()])


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Chicago", "UTC"])
def test_c14_the_servers_time_zone_does_not_matter(zone, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    hands = Hands(1_792_888_200.0)  # 2026-10-25 00:30 UTC, when Berlin repeats an hour
    assert generator(hands).get_job_id().startswith("261025003000000")
    monkeypatch.undo()
    time.tzset()


def test_c14_a_year_that_an_id_cannot_hold_is_refused():
    with pytest.raises(BadNumbering, match="2010 to 2099"):
        generator(Hands(4_102_444_800.0)).get_job_id()


@pytest.mark.parametrize("wrong", ["", "1", "a" * 17, "1" * 19, "١" * 17])
def test_what_is_no_job_id_is_refused(wrong):
    with pytest.raises(InvalidJobId):
        job_ids.parse(wrong)


@pytest.mark.soak
def test_c09_processes_threads_and_forks_while_clocks_step(process_environment, tmp_path):
    environment = {**process_environment, "ATRIBUTO_IDS": str(tmp_path / "ids")}
    command = [sys.executable, "-m", "tests.allocation.job_ids.id_maker", "10000"]
    started = [subprocess.Popen(command, cwd=ROOT, env=environment) for _ in range(3)]
    assert [process.wait(400) for process in started] == [0, 0, 0]
    parts = [path.read_text().split() for path in tmp_path.iterdir()]
    assert [len(part) for part in parts] == [10_000] * 12
    assert all(map(is_growing, parts))
    made = [job_id for part in parts for job_id in part]
    assert len(set(made)) == 120_000
    assert all(parse(job_id).exact for job_id in made)


def test_a_batch_that_is_too_large_moves_no_mark():
    generator = Generator("auto", 100, 1000)
    with pytest.raises(BadNumbering, match="at most 1000000"):
        generator.get_job_ids(10**13)
    with pytest.raises(BadNumbering, match="a whole number of ids, not 1.5"):
        generator.get_job_ids(1.5)
    assert generator.number is None
