"""A process is killed at every named point; afterwards each transaction is whole."""

import re
from pathlib import Path

import pytest

from atributo_site.core.failpoints import KILLED
from tests.transactions.engine import crashes
from tests.transactions.engine.poison import cure

pytestmark = pytest.mark.django_db(transaction=True)
SOURCE = Path(__file__).parents[3] / "allocation" / "transactions"
NAMED = re.compile(r'failpoint\(\s*"([a-z_.]+)"|"([a-z_.]+)": sql\.')

COMPLETING = [
    "begin.before",
    "begin.insert",
    "begin.after",
    "get.before",
    "get.ensure",
    "get.lock",
    "get.count_token",
    "get.read",
    "get.after",
    "put.before",
    "put.ensure",
    "put.lock",
    "put.journal",
    "put.write",
    "put.version",
    "put.after",
    "delete.before",
    "delete.lock",
    "delete.journal",
    "delete.write",
    "delete.version",
    "delete.after",
    "lock.before",
    "lock.ensure",
    "lock.lock",
    "lock.count_token",
    "lock.read",
    "lock.after",
    "renew.before",
    "renew.after",
    "complete.before",
    "complete.commit_point",
    "complete.release",
    "complete.status",
    "complete.after",
]
ROLLING_BACK = [
    "roll_back.after_claim",
    "roll_back.before",
    "undo.after_guard",
    "undo.after_fence",
    "undo.after_document",
    "undo.after_restore",
    "undo.after_mark",
    "undo.after_commit",
    "roll_back.after_undo",
    "finish.after_guard",
    "finish.after_fence",
    "finish.after_outcome",
    "release.after_waits",
    "finish.after_release",
    "finish.after_event",
    "finish.after_commit",
    "roll_back.after",
]
CURATING = [
    "curate.before",
    "curate.after_list",
    "claim.after_guard",
    "claim.after_update",
    "curate.after_claim",
    "undo.after_guard",
    "undo.after_document",
    "undo.after_commit",
    "release.after_delay",
    "curate.after_roll_back",
    "orphans.after_guard",
    "orphans.after_delete",
    "retention.after_journal",
    "versions.after_delete",
]
STUCK = ["stuck.before_update", "stuck.after_update"]
WAITING = ["wait.after_announce", "wait.after_end"]
PLAIN = [
    "plain_put.before",
    "plain_put.insert",
    "plain_put.write",
    "plain_put.version",
    "plain.after",
    "plain_delete.before",
    "plain_delete.write",
    "plain_delete.history",
    "plain_delete.written",
]
ROWS_LOCKED = [
    "get.fence",
    "get.mutex",
    "put.fence",
    "put.mutex",
    "delete.fence",
    "delete.mutex",
    "lock.fence",
    "lock.mutex",
]
PLAIN_ROWS_LOCKED = ["plain_put.mutex", "plain_delete.mutex"]
EVERY = {
    *COMPLETING,
    *ROLLING_BACK,
    *CURATING,
    *STUCK,
    *WAITING,
    *PLAIN,
    *ROWS_LOCKED,
    *PLAIN_ROWS_LOCKED,
}


def survives(point, scenario):
    assert crashes.dies_at(point, scenario) == KILLED
    crashes.recover()


@pytest.mark.parametrize("point", COMPLETING)
def test_a_process_that_dies_in_a_transaction_leaves_all_or_nothing(store, point):
    survives(point, crashes.completing)
    crashes.assert_whole()


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("point", ROWS_LOCKED)
def test_a_process_that_dies_while_it_holds_rows_leaves_all_or_nothing(store, point):
    survives(point, crashes.completing)
    crashes.assert_whole()


@pytest.mark.parametrize("point", ROLLING_BACK)
def test_a_process_that_dies_in_a_roll_back_leaves_nothing(store, point):
    survives(point, crashes.rolling_back)
    assert crashes.images() == crashes.BEFORE
    crashes.assert_clean()


@pytest.mark.parametrize("point", CURATING)
def test_a_curator_that_dies_is_followed_by_one_that_finishes(store, point):
    survives(point, crashes.curating)
    assert crashes.images() == crashes.BEFORE
    crashes.assert_clean()


@pytest.mark.parametrize("point", STUCK)
def test_a_curator_that_dies_over_a_stuck_transaction_loses_nothing(store, point):
    assert crashes.dies_at(point, crashes.getting_stuck) == KILLED
    cure("allocation_document")
    crashes.recover()
    assert crashes.images() == crashes.BEFORE
    crashes.assert_clean()


@pytest.mark.parametrize("point", WAITING)
def test_a_process_that_dies_while_it_waits_leaves_no_wait(store, point):
    survives(point, crashes.waiting)
    assert crashes.images() == crashes.BEFORE
    crashes.assert_clean()


@pytest.mark.parametrize("point", PLAIN)
def test_a_plain_write_happens_or_does_not(store, point):
    survives(point, crashes.writing_plainly)
    assert_each_whole()


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("point", PLAIN_ROWS_LOCKED)
def test_a_plain_write_that_holds_rows_happens_or_does_not(store, point):
    survives(point, crashes.writing_plainly)
    assert_each_whole()


def assert_each_whole():
    images = crashes.images()
    assert images.get("c/old") in ({"v": 0}, {"v": 1})
    assert images.get("c/new") in (None, {"v": 1})
    assert images.get("c/doomed") in (None, {"v": 0})
    crashes.assert_clean()


def test_every_named_point_is_among_them(db):
    found = set()
    for path in SOURCE.rglob("*.py"):
        found |= {either or other for either, other in NAMED.findall(path.read_text())}
    assert found == EVERY
    assert len(EVERY) >= 40
