"""Migrate the tables once per run and database; every process of the run copies them."""

import fcntl
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import django

VARIABLE = "ATRIBUTO_TEST_TEMPLATES"


def offer(folder):
    """Let this process and those that it starts keep their templates in a folder."""
    os.environ.setdefault(VARIABLE, str(folder))


def copy(connection, name):
    """Make a database of that name with all tables; the first to ask migrates, others wait."""
    with _locked(connection.vendor) as made:
        if not made.exists():
            _migrate(connection)
            made.touch()
        {"sqlite": _copy_file, "postgresql": _copy_database}[connection.vendor](connection, name)
    connection.settings_dict["NAME"] = name


def drop(execute):
    """Remove the template of a PostgreSQL server that outlives the run."""
    if _made("postgresql").exists():
        execute(f"DROP DATABASE IF EXISTS {_database()}")


@contextmanager
def _locked(vendor):
    with _made(vendor).with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _made(vendor)


def _made(vendor):
    return Path(os.environ[VARIABLE]) / f"template.{vendor}.made"


def _migrate(connection):
    original = connection.settings_dict["NAME"]
    names = {"sqlite": str(_file()), "postgresql": _database()}
    connection.settings_dict["TEST"]["NAME"] = names[connection.vendor]
    bare = {} if django.VERSION >= (6,) else {"serialize": False}  # since then nothing else is done
    connection.creation.create_test_db(verbosity=0, autoclobber=True, **bare)
    connection.close()  # SQLite's log goes into the file, PostgreSQL copies only what nobody uses
    connection.settings_dict["NAME"] = original


def _copy_file(connection, name):
    shutil.copyfile(_file(), name)


def _copy_database(connection, name):
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE {_database()}")


def _file():
    return Path(os.environ[VARIABLE]) / "template.sqlite3"


def _database():
    """Return the database's name, made from the folder, which no other run has."""
    return f"atributo_template_{Path(os.environ[VARIABLE]).name.rpartition('-')[2]}"
