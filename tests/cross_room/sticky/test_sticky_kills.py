"""Kills lose no sticky job and double none; one of a key runs at a time, in the order of push."""

import os

import pytest

import queues
from atributo_site.curator.integrity import all_rules
from queues.models import QueuedJob
from tests.cross_room.sticky.sticky_kills import StickyKills, seed

KINDS = ["child", "keeper", "worker", "family"]


@pytest.fixture
def kills(probe, station_worker, run_repairs, expire_leases, wait_until, tmp_path):
    def start(instance_id, name):
        return station_worker(instance_id, name=name)

    queue = queues.create("work", max_workers=3)
    script = {"mount": probe, "name": "serial"}
    return StickyKills(
        queue, script, start, run_repairs, expire_leases, wait_until, tmp_path, seed()
    )


def verdict(kills):
    """Return what must be empty: overlaps, keys with another list than pushed, broken rules."""
    found = kills.lists()
    wrong = {key: ids for key, ids in kills.pushed.items() if found[key] != ids}
    broken = {rule.name: rows for rule in all_rules() if (rows := rule.broken())}
    return kills.overlaps(), wrong, broken


def test_kills_keep_the_jobs_of_a_key_whole_single_and_in_order(kills):
    kills.push(each=8)
    for whom in KINDS:
        kills.strike(whom)
    kills.finish()
    assert verdict(kills) == ([], {}, {})
    assert kills.everybody() == sorted(sum(kills.pushed.values(), []))
    assert set(QueuedJob.objects.values_list("status", flat=True)) == {"complete"}


@pytest.mark.soak
def test_a_hundred_kills_of_sticky_workers(kills):
    """STICKY_KILLS sets the number, STICKY_SEED whom and when."""
    for number in range(int(os.environ.get("STICKY_KILLS", "100"))):
        kills.push(each=2)
        kills.strike(kills.random.choice(KINDS))
        print(number + 1, end=" ", flush=True)
    kills.finish()
    assert verdict(kills) == ([], {}, {})
    assert kills.everybody() == sorted(sum(kills.pushed.values(), []))
