"""A busy process leases further numbers, so that one id per millisecond is no ceiling."""

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection, connections
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

from allocation.job_ids import ids as job_ids
from allocation.logic.job_ids import parse
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


class Busy:
    """A generator whose clock goes on by a millisecond after every few ids."""

    def __init__(self, hands, **settings):
        self.hands, self.waits = hands, 0
        self.made = generator(hands, **settings)
        self.made._sleep = self.sleep

    def sleep(self, seconds):
        self.waits += 1
        self.hands.sleep(seconds)

    def make(self, count, per_ms=5):
        ids = []
        for number in range(count):
            ids.append(self.made.get_job_id())
            if number % per_ms == per_ms - 1:
                self.hands.sleep(0.001)
        return ids


def taken():
    """How many numbers were not given back, however long ago they were leased."""
    return IdNumber.objects.exclude(holder="").count()


def numbers(ids):
    return {parse(each).worker_id for each in ids}


def test_five_ids_per_millisecond_wait_for_nobody():
    busy = Busy(Hands())
    ids = busy.make(20_000)
    assert busy.waits == 0
    assert is_growing(ids)
    assert 5 <= len(numbers(ids)) <= 10


def test_c08_the_lead_has_its_bound_with_many_numbers_too():
    hands = Hands()
    made = generator(hands)
    leads = [lead_seconds(made.get_job_id(), hands) for _ in range(15_000)]
    assert max(leads) <= 1.001
    assert taken() == 10


def test_a_thousand_numbers_allow_twenty():
    ids = Busy(Hands(), size=1000).make(15_000, per_ms=18)
    assert is_growing(ids)
    assert 10 < len(numbers(ids)) <= 20


@pytest.mark.parametrize("settings", [{"size": 10}, {"worker_id": "7"}])
def test_a_small_cluster_and_a_number_of_ones_own_keep_to_one(settings):
    busy = Busy(Hands(), **settings)
    ids = busy.make(3000)
    assert is_growing(ids)
    assert len(numbers(ids)) == 1


def test_a_calm_process_gives_its_further_numbers_back():
    busy = Busy(Hands())
    ids = busy.make(5000)
    assert taken() > 1
    for _ in range(1500):
        ids += busy.make(1)
        busy.hands.sleep(0.002)
    assert taken() == 1
    assert is_growing(ids)


def test_whoever_ends_gives_all_numbers_back_and_the_rest_of_the_block():
    hands = Hands()
    busy = Busy(hands)
    ids = busy.make(5000)
    busy.made.release()
    assert taken() == 0
    last_ms = int(parse(ids[-1]).time.timestamp() * 1000 + 0.5)
    assert max(IdNumber.objects.values_list("high_water_ms", flat=True)) == last_ms
    again = [job_id for _ in range(3) for job_id in Busy(hands).make(2000)]
    assert not {*ids} & {*again}


def test_busy_processes_never_make_the_same_id():
    hands = Hands()
    busy = [Busy(hands) for _ in range(3)]
    ids = [job_id for _ in range(10) for each in busy for job_id in each.make(600)]
    assert len(set(ids)) == len(ids)


def test_half_of_the_numbers_are_left_to_others():
    hands = Hands()
    busy = [Busy(hands) for _ in range(8)]
    for each in [*busy, *busy]:
        each.make(1200, per_ms=50)
    assert taken() <= 50 + len(busy)


def test_busy_processes_give_way_to_new_ones():
    """As many processes as there are numbers get one each, though some had several."""
    hands = Hands()
    busy = [Busy(hands) for _ in range(4)]
    for each in busy:
        each.make(5000)
    assert taken() > 24
    others = [generator(hands) for _ in range(96)]
    made = [other.get_job_id() for other in others[:70]]
    made += [job_id for each in busy for job_id in each.make(4000)]
    made += [other.get_job_id() for other in others[70:]]
    assert len(set(made)) == len(made)
    assert taken() == 100


@pytest.mark.parametrize("step", [-2, -HOUR, HOUR])
def test_a_clock_that_steps_repeats_nothing(step):
    hands = Hands()
    busy = Busy(hands)
    ids = busy.make(4000)
    hands.wall += step
    ids += busy.make(4000)
    hands.wall -= step
    ids += busy.make(4000)
    assert is_growing(ids)


def test_a_number_that_was_lost_is_used_no_more():
    busy = Busy(Hands())
    before = busy.make(5000)
    lost = (numbers(before) - {busy.made.number.number}).pop()
    IdNumber.objects.filter(pk=lost).update(holder="another", token=99)
    mark = IdNumber.objects.get(pk=lost).high_water_ms
    after = busy.make(5000)
    assert is_growing(before + after)
    assert IdNumber.objects.get(pk=lost).high_water_ms == mark


def test_numbers_of_a_killed_process_go_on_after_its_marks():
    hands = Hands()
    before = Busy(hands).make(5000)
    expire_all()
    after = Busy(hands).make(5000)
    assert not {*before} & {*after}


def test_rolled_back_transactions_give_nothing_back():
    busy = Busy(Hands())
    ids = busy.make(600)
    for _ in range(4):
        with pytest.raises(ZeroDivisionError), atomic():
            ids += busy.make(1500)
            raise ZeroDivisionError
    ids += busy.make(3000)
    expire_all()
    assert is_growing(ids)
    assert not {*ids} & {*Busy(busy.hands).make(5000)}


def test_threads_share_all_numbers():
    made = generator(Hands(), lead_ms=20_000)

    def many(_):
        try:
            return [made.get_job_id() for _ in range(5000)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        parts = list(threads.map(many, range(6)))
    assert all(map(is_growing, parts))
    ids = {job_id for part in parts for job_id in part}
    assert len(ids) == 30_000
    assert len(numbers(ids)) > 1


def test_a_forked_child_leaves_further_numbers_to_its_parent(monkeypatch):
    busy = Busy(Hands())
    monkeypatch.setattr(job_ids, "_generator", busy.made)
    own = busy.make(5000)
    connection.close()  # a child must not inherit the connection
    child = child_ids(60)
    own += busy.make(5000)
    assert is_growing(own)
    assert numbers(child) == {busy.made.number.number}
    assert not {*own} & {*child}


def test_many_numbers_cost_a_few_statements_for_each_block():
    busy = Busy(Hands())
    busy.make(5000)
    with CaptureQueriesContext(connection) as seen:
        busy.make(5000)
    of_rows = [each for each in seen if "idnumber" in each["sql"] and "WHERE" in each["sql"]]
    writes = [each for each in of_rows if each["sql"].startswith("UPDATE")]
    assert len(writes) <= 8  # two for each of the blocks of 500 ms


MAKER = """
import json, sys
import django
django.setup()
from allocation.job_ids import ids
generator = ids.Generator("auto", 100, 1000)
print(json.dumps([generator.get_job_id() for _ in range(4000)]), flush=True)
sys.stdin.readline()
"""


def test_a_killed_process_leaves_its_numbers_when_their_lease_is_over(process_environment):
    environment = {**process_environment, "DJANGO_SETTINGS_MODULE": "atributo_site.settings"}
    command, pipe = [sys.executable, "-c", MAKER], subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=environment
    ) as maker:
        before = json.loads(maker.stdout.readline())
        maker.send_signal(signal.SIGKILL)
    rows = IdNumber.objects.filter(pk__in=numbers(before))
    assert is_growing(before) and len(numbers(before)) > 1
    assert rows.exclude(holder="").count() == len(numbers(before))
    expire_all()
    after = Busy(Hands(parse(before[-1]).time.timestamp())).make(5000)
    assert not {*before} & {*after}
