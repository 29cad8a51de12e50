"""Whatever happens to a zone, its nameserver and the curators, instances become what it says."""

import os
import random
from dataclasses import replace

import pytest

from pools import configuration
from tests.cross_room.dns.zone_storm import ZoneStorm, active_pid

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = [
    "leave",
    "come_back",
    "flap",
    "never_keep",
    "servfail",
    "nxdomain",
    "silence",
    "kill_curator",
]


@pytest.fixture
def storm(dns_server, spawn, wait_until, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.0/8:*",))
    seed = int(os.environ.get("ZONE_SEED", random.randrange(10**6)))
    print(f"ZONE_SEED={seed}")
    configuration.watch(
        "svc",
        domain="svc.example",
        nameservers=[f"127.0.0.1:{dns_server.port}"],
        recovery={"default": {"timeout": 2000, "retries": 1, "delay": 10}},
        ttl_floor_ms=1000,
    )
    storm = ZoneStorm(dns_server, spawn, wait_until, seed)
    storm.begin()
    return storm


def verdict(storm):
    storm.settle()
    return storm.broken, storm.misplaced()


@pytest.mark.parametrize("steps", [STEPS[:4], STEPS[4:]], ids=["changes", "faults"])
def test_a_zone_decides_through_faults_and_kills(storm, steps):
    for step in steps:
        getattr(storm, step)()
    assert verdict(storm) == ([], {})


def test_the_active_curator_is_known_by_its_process(storm):
    assert active_pid() in {each.pid for each in storm.curators}


@pytest.mark.soak
def test_a_hundred_changes_of_a_zone(storm):
    """ZONE_STEPS sets the number, ZONE_SEED which."""
    for number in range(int(os.environ.get("ZONE_STEPS", "100"))):
        step = storm.random.choice(STEPS)
        print(f"{number}:{step}", end=" ", flush=True)
        getattr(storm, step)()
    assert verdict(storm) == ([], {})
