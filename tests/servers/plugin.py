"""Start private servers and set the environment; pytest loads this by `-p` before Django.

pytest-django imports the settings before any conftest is read, so a fixture would be too late.
"""

import gc
import os
from pathlib import Path

import pytest

from tests.servers.postgres import database_template, shared
from tests.servers.valkey import ValkeyServer

VENDORS = ("sqlite", "postgresql")
# Nothing expires because the machine stood still: a test itself ends what should expire.
PATIENT = {
    "ATRIBUTO_MAX_JOB_TIME_MS": "60000",
    "ATRIBUTO_MAX_JOB_LIMIT_MS": "600000",
    "ATRIBUTO_WORKER_LEASE_MS": "30000",
    "ATRIBUTO_PUSH_TIMEOUT_MS": "10000",
    "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "60000",
}
DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "_django_db_helper"}
valkey = ValkeyServer()
gc.set_threshold(100_000, 20, 50)  # objects of pytest and Django stay: looking again finds nothing


def pytest_addoption(parser):
    parser.addoption("--database", choices=VENDORS, help="run on this database only")
    valkey.__enter__()  # this hook is the first that is called, in workers of xdist as well
    set_environment()


def pytest_configure(config):
    config.addinivalue_line("markers", "only_on(vendor): this test is about one database only")
    if is_controller(config) and config.getoption("database") != "sqlite":
        try:
            shared.url()  # the workers inherit it
        except RuntimeError as error:
            raise pytest.UsageError(str(error)) from error


def pytest_generate_tests(metafunc):
    """Let every test that touches the database run on both."""
    if uses_database(metafunc):
        metafunc.parametrize("database", vendors_of(metafunc), indirect=True)


def pytest_collection_modifyitems(config, items):
    """Leave the other database out when one is named; tests without database stay."""
    wanted = config.getoption("database")
    left_out = [item for item in items if wanted and vendor_of(item) not in (None, wanted)]
    items[:] = [item for item in items if not wanted or vendor_of(item) in (None, wanted)]
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish():
    """Keep the garbage collector away from the collected tests, which live as long as the run."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shared.drop_template()
    shared.stop()
    valkey.__exit__()  # the guards do it where pytest ends before this, or is killed


def set_environment():
    """Set the environment of the tests, and keep none of the shell's settings except for tests."""
    for name in [name for name in os.environ if name.startswith("ATRIBUTO_")]:
        if not name.startswith("ATRIBUTO_TEST_"):
            del os.environ[name]
    var_dir = valkey.directory / "var"  # removed with its server, even when this process is killed
    (var_dir / "static").mkdir(parents=True)  # whitenoise warns when its folder is missing
    os.environ["ATRIBUTO_ENV"] = "test"
    os.environ.update(PATIENT)
    os.environ["ATRIBUTO_DNS_SERVERS"] = "127.0.0.1:9"  # nobody there: tests ask only their own
    os.environ["ATRIBUTO_VAR_DIR"] = str(var_dir)
    os.environ["ATRIBUTO_COMMAND"] = "manage.py"  # the same wherever the checkout is
    os.environ["DATABASE_URL"] = f"sqlite:///{var_dir}/atributo.sqlite3"
    os.environ["REDIS_URL"] = valkey.url
    os.environ["PYTHONPATH"] = str(Path(__file__).parent / "at_start")  # of processes to come
    database_template.offer(valkey.directory)  # of the first process: workers of xdist inherit it


def is_controller(config):
    return not hasattr(config, "workerinput") and config.getoption("dist", "no") != "no"


def uses_database(metafunc):
    marker = metafunc.definition.get_closest_marker("django_db")
    return marker is not None or not DATABASE_FIXTURES.isdisjoint(metafunc.fixturenames)


def vendors_of(metafunc):
    marker = metafunc.definition.get_closest_marker("only_on")
    vendors = marker.args if marker else VENDORS
    if not vendors or not set(vendors) <= set(VENDORS):
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: only_on{vendors}")
    return vendors


def vendor_of(item):
    return item.callspec.params.get("database") if hasattr(item, "callspec") else None
