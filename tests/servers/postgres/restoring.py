"""Dump a PostgreSQL database, and restore it in another cluster."""

import subprocess
from contextlib import contextmanager

import psycopg
from django.db import connections

ALIAS = "restored"


def dump(binaries, url):
    """Return a dump as SQL that any client can run, without the commands of psql."""
    command = [binaries / "pg_dump", "--inserts", "--no-owner", f"--dbname={url}"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "\n".join(line for line in text.splitlines() if not line.startswith("\\"))


@contextmanager
def restored(dumped, cluster):
    """Yield the alias of a connection to the dump in a new database of this cluster."""
    url = cluster.create_database("restored")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(dumped)
    connections[ALIAS] = own = connections["default"].copy(ALIAS)
    own.settings_dict["NAME"] = "restored"
    own.settings_dict["OPTIONS"]["host"] = str(cluster.directory)
    try:
        yield ALIAS
    finally:
        own.close()
        del connections[ALIAS]
