"""Fixtures of the tests about watched names."""

from dataclasses import replace

import pytest

from tests.pools.site.watching import Watching


@pytest.fixture
def loopback_permitted(settings):
    """Permit the scriptable nameserver, which listens on a port of this machine."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.0/8:*",))


@pytest.fixture
def watching(db, dns_server, loopback_permitted):
    found = Watching(dns_server)
    yield found
    found.stop()
