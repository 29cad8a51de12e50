"""What was handed out once is never handed out again, whatever the caller's transaction does."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

from allocation.errors import BadNumbering
from allocation.job_ids import sqlite_journal
from allocation.logic.job_ids import parse
from allocation.models import IdNumber
from tests.allocation.job_ids.id_hands import Hands, expire_all, generator, is_growing

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


class Unhappy(Exception):
    pass


@contextmanager
def rolled_back():
    with pytest.raises(Unhappy), atomic():
        yield
        raise Unhappy


@pytest.fixture
def rows():
    """The numbers are there, as in every cluster that has made an id."""
    generator(Hands(), "99").get_job_id()


def test_the_same_process_goes_on_after_a_rolled_back_batch(rows):
    made = generator(Hands(), "7")
    with rolled_back():
        before = made.get_job_ids(300_000)
    after = [*made.get_job_ids(6000), made.get_job_id()]
    assert is_growing([before[-1], *after])


def test_the_next_process_begins_after_a_rolled_back_batch(rows):
    hands = Hands()
    with rolled_back():
        before = generator(hands, "7").get_job_ids(300_000)
    expire_all()
    after = generator(hands, "7").get_job_ids(6000)
    assert is_growing([before[-1], *after])


def test_a_rolled_back_savepoint_gives_nothing_back(rows):
    hands = Hands()
    made = generator(hands, "7")
    with atomic():
        with rolled_back():
            before = made.get_job_ids(5000)
        after = made.get_job_ids(10)
    expire_all()
    assert is_growing([*before, *after, generator(hands, "7").get_job_id()])


def test_a_number_that_was_taken_in_a_rolled_back_transaction_stays_taken(rows):
    hands = Hands()
    made = generator(hands, "7")
    with rolled_back():
        first = made.get_job_id()
    with pytest.raises(BadNumbering, match="worker_id=7"):
        generator(hands, "7").get_job_id()
    assert all(parse(generator(hands).get_job_id()).worker_id != 7 for _ in range(3))
    assert is_growing([first, made.get_job_id(), *made.get_job_ids(600)])
    assert IdNumber.objects.get(pk=7).holder == made._holder


def test_the_bound_of_the_lead_counts_what_was_rolled_back(rows):
    made = generator(Hands(), "7")
    for _ in range(2):
        with rolled_back():
            made.get_job_ids(300_000)
    made.get_job_id()
    row = IdNumber.objects.get(pk=7)
    assert (row.ahead_ms, row.set_back_ms) == (599_999, 0)


def test_ids_inside_a_transaction_cost_what_they_cost_outside(rows):
    """One block serves both: no statement more, and nobody waits."""
    hands = Hands()
    inside, outside = generator(hands), generator(hands)
    with CaptureQueriesContext(connection) as outside_it:
        ids = [outside.get_job_id() for _ in range(400)]
    with atomic(), CaptureQueriesContext(connection) as inside_it:
        ids += [inside.get_job_id() for _ in range(400)]
        assert hands.steady == 0
    assert len(set(ids)) == 800
    assert len(inside_it) <= len(outside_it)


@pytest.mark.only_on("sqlite")
def test_a_record_that_a_power_failure_tore_is_no_record(rows):
    hands = Hands()
    made = generator(hands, "7")
    made.get_job_id()
    with open(sqlite_journal.path_of("default"), "r+b") as file:
        file.seek(7 * sqlite_journal.RECORD_BYTES)
        file.write(b'{"token": 1')
        file.write(b"\0" * 500)
    assert made.get_job_ids(3)


KEEPER = """
import json, sys
import django
django.setup()
from django.db.transaction import atomic
from allocation import job_ids
try:
    with atomic():
        before = job_ids.get_job_ids(300_000)
        raise ZeroDivisionError
except ZeroDivisionError:
    print(json.dumps(before[:3] + before[-3:]), flush=True)
sys.stdin.readline()
print(json.dumps(job_ids.get_job_ids(6000)[:1]), flush=True)
job_ids.release()
"""


def python(source, environment):
    return subprocess.Popen(
        [sys.executable, "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    )


def test_no_second_live_process_has_the_number(process_environment):
    """Though the transaction in which the first one took it was rolled back."""
    names = {"DJANGO_SETTINGS_MODULE": "atributo_site.settings", "ATRIBUTO_WORKER_ID": "7"}
    with python(KEEPER, {**process_environment, **names}) as keeper:
        before = json.loads(keeper.stdout.readline())
        with pytest.raises(BadNumbering, match="another live process has worker_id=7"):
            generator(Hands(), "7").get_job_ids(6000)
        after = json.loads(keeper.communicate("\n")[0])
    assert keeper.returncode == 0
    assert is_growing([*before, *after, generator(Hands(), "7").get_job_id()])
