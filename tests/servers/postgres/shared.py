"""The one PostgreSQL cluster of a test run: started by whoever needs it first, shared by all."""

import os

import psycopg

from tests.servers.postgres import database_template
from tests.servers.postgres.server import PostgresCluster

VARIABLE = "ATRIBUTO_TEST_DATABASE_URL"
CONNECT_SECONDS = 60  # five are enough in production; here the machine may stand still
_started = []


def url():
    """The URL of a server where tests may create databases; a private one unless one is named."""
    if VARIABLE not in os.environ:
        cluster = PostgresCluster()
        cluster.__enter__()
        _started.append(cluster)
        os.environ[VARIABLE] = f"{cluster.url()}&connect_timeout={CONNECT_SECONDS}"
    return os.environ[VARIABLE]


def drop_template():
    """On a server that was named; a private one takes everything with it."""
    if VARIABLE in os.environ and not _started:
        with psycopg.connect(os.environ[VARIABLE], autocommit=True) as connection:
            database_template.drop(connection.execute)


def stop():
    for cluster in _started:
        cluster.__exit__()
        del os.environ[VARIABLE]
    _started.clear()
