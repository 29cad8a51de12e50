"""The one PostgreSQL cluster of a test run: started by whoever needs it first, shared by all."""

import os

from tests.servers.postgres import PostgresCluster

VARIABLE = "ATRIBUTO_TEST_DATABASE_URL"
_started = []


def url():
    """The URL of a server where tests may create databases; a private one unless one is named."""
    if VARIABLE not in os.environ:
        cluster = PostgresCluster()
        cluster.__enter__()
        _started.append(cluster)
        os.environ[VARIABLE] = cluster.url()
    return os.environ[VARIABLE]


def stop():
    for cluster in _started:
        cluster.__exit__()
        del os.environ[VARIABLE]
    _started.clear()
