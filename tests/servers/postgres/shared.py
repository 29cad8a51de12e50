"""Share one PostgreSQL cluster in a test run; the first process that needs it starts it."""

import os

import psycopg

from tests.servers.postgres import database_template
from tests.servers.postgres.server import PostgresCluster

VARIABLE = "ATRIBUTO_TEST_DATABASE_URL"
CONNECT_SECONDS = 60  # five are enough in production; here the machine may stand still
_started = []


def url():
    """Return the URL of a server where tests may create databases, a private one by default."""
    if VARIABLE not in os.environ:
        cluster = PostgresCluster()
        cluster.__enter__()
        _started.append(cluster)
        os.environ[VARIABLE] = f"{cluster.url()}&connect_timeout={CONNECT_SECONDS}"
    return os.environ[VARIABLE]


def drop_template():
    """Drop the template on a named server; a private server disappears as a whole."""
    if VARIABLE in os.environ and not _started:
        with psycopg.connect(os.environ[VARIABLE], autocommit=True) as connection:
            database_template.drop(connection.execute)


def stop():
    for cluster in _started:
        cluster.__exit__()
        del os.environ[VARIABLE]
    _started.clear()
