"""Faults of the machines that a site runs on: each is seen, leads to its cure, and is over."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from allocation.atributo import Atributo
from pools import configuration
from pools.models import Backend
from tests.incidents.real_site import PATIENCE, RealSite
from tests.servers.waiting import wait_until

# SQLite asks the clock of the process, so a clock can differ from PostgreSQL's alone.
pytestmark = [pytest.mark.soak, pytest.mark.only_on("postgresql")]
WRONG_CLOCK = {"PYTHONPATH": str(Path(__file__).parent / "wrong_clock")}
TYPO = {"ATRIBUTO_ENV": "local", "ATRIBUTO_WROKERS": "4"}
OFTEN = 3


@pytest.fixture
def site(spawn, page_as, dns_server, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.0/8:*",))
    Atributo().available("grace")
    return RealSite(spawn, page_as("admin"), dns_server)


def test_each_fault_is_seen_and_over(site, spawn, free_port, tmp_path):
    a_clock_is_wrong(site)
    a_setting_is_mistyped(site)
    the_name_server_is_silent(site)
    a_process_dies_again_and_again(site, spawn, free_port, tmp_path)
    assert max(site.clicks.values()) <= 2, site.clicks


def a_clock_is_wrong(site):
    with_curator(site, WRONG_CLOCK, "clock.skewed", "and the database differ by", "clock")


def a_setting_is_mistyped(site):
    with_curator(site, TYPO, "setting.unknown", "ATRIBUTO_WROKERS", "ATRIBUTO_WORKERS")


def with_curator(site, environment, kind, words, on_page):
    """Let a curator with this environment see a fault, and one without it that it is over."""
    site.stop_curator()
    site.start_curator(**environment)
    site.look(site.sees(kind, words), on_page)
    site.stop_curator()
    site.start_curator()
    site.is_over(kind)


def the_name_server_is_silent(site):
    """Its backends stay as they are until it answers again."""
    server = f"{site.nameserver.address}:{site.nameserver.port}"
    site.nameserver.set("_http._tcp.svc.example", "SRV", [(0, 0, 80, "t1.example")], 1)
    site.nameserver.set("t1.example", "A", ["10.0.0.1"], 1)
    configuration.watch("svc", domain="svc.example", nameservers=[server], ttl_floor_ms=1000)
    wait_until(Backend.objects.exists, PATIENCE)
    site.nameserver.fault("*", "*", "drop")
    row = site.sees("name.troubled", "svc", "No name server answered in time")
    site.nameserver.clear_faults()
    site.press(row)
    site.is_over("name.troubled")
    configuration.forget("svc")


def a_process_dies_again_and_again(site, spawn, free_port, tmp_path):
    names = {"ATRIBUTO_PORT": str(free_port), "ATRIBUTO_VAR_DIR": str(tmp_path)}
    up = spawn("up", env={**names, "ATRIBUTO_DEMO": "no", "ATRIBUTO_WORKERS": "1"})
    killed = set()
    for _ in range(OFTEN):
        worker = wait_until(lambda: living_worker(up.pid, killed), PATIENCE)
        killed.add(worker.pid)
        worker.kill()
    site.look(site.sees("process.restarted", "was restarted 3 times"), "killed by SIGKILL")
    up.terminate()
    site.is_over("process.restarted")


def living_worker(supervisor, killed):
    """Return the worker of a supervisor, unless that is one which was killed."""
    with suppress(psutil.NoSuchProcess):  # it ends while we look
        for each in psutil.Process(supervisor).children():
            if each.pid not in killed and "worker" in each.cmdline():
                return each
    return None
