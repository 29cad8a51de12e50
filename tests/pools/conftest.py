"""Agents, which are stopped after the test, and a web server for them."""

import pytest

from pools import HttpAgent
from tests.pools.http.web import Web
from tests.pools.live import LONG
from tests.servers.dns.server import DNSServer

RECOVERY = {"default": {"timeout": 20_000, "retries": 1, "delay": 10, "max_delay": 50}}


@pytest.fixture
def web():
    with Web() as server:
        yield server


@pytest.fixture
def make_agent():
    agents = []

    def make(kind=HttpAgent, **options):
        options = {"spares": 1, "maximum": 3, "recovery": RECOVERY, **options}
        agents.append(kind(**options))
        return agents[-1]

    yield make
    for agent in agents:
        if not agent.is_stopped():
            agent.stop(drain=0)
        agent.wait_stopped(LONG)


@pytest.fixture
def dns_server():
    with DNSServer() as server:
        yield server
