"""A process loads what it needs: commands, workers and curators load neither pages nor REST."""

import os
import subprocess
import sys

import pytest
from django.core.management import get_commands, load_command_class

from atributo_site.config.installed_apps import FOR_PAGES, LIGHT, installed_apps, is_light
from atributo_site.config.places import BASE_DIR
from atributo_site.settings import ALL_APPS

OURS = {"allocation", "queues", "pools", "atributo_site"}
FULL = {"doctor", "load_test", "migrate", "seed_demo", "up", "web"}
PAGES = {"rest_framework.views", "drf_spectacular", "django.contrib.admin", "django_filters"}
HEAVY = {"rich.console", "requests", "urllib3", "yaml", "prometheus_client", "unittest"}
SERVERS = {"psycopg", "redis", "rq"}


def loaded_by(*arguments):
    """Return the modules that `manage.py ...` loads on SQLite."""
    command = [sys.executable, "-X", "importtime", str(BASE_DIR / "manage.py"), *arguments]
    plain = {**os.environ, "DATABASE_URL": "", "REDIS_URL": ""}
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=plain)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_a_simple_command_loads_no_pages_and_no_clients_of_servers():
    loaded = loaded_by("instances", "--help")
    assert loaded & (PAGES | HEAVY | SERVERS) == set()


@pytest.mark.parametrize("command", ["queue", "worker"])
def test_schemas_are_loaded_with_the_first_schema(command):
    assert loaded_by(command, "--help") & {"jsonschema", "referencing", "attr"} == set()


@pytest.mark.parametrize("command", ["worker", "run_curator"])
def test_a_process_that_serves_no_pages_loads_none(command):
    assert loaded_by(command, "--help") & (PAGES | HEAVY) == set()


def test_every_command_of_ours_is_known():
    ours = {name for name, app in get_commands().items() if app in OURS}
    assert ours == LIGHT | FULL


@pytest.mark.parametrize("name", sorted(LIGHT))
def test_a_light_command_can_be_loaded(name):
    assert not load_command_class(get_commands()[name], name).requires_system_checks


def test_only_apps_for_pages_are_left_out():
    left = installed_apps(ALL_APPS, ["/x/manage.py", "worker", "--name", "a"])
    assert set(ALL_APPS) - set(left) == set(FOR_PAGES)
    assert installed_apps(ALL_APPS, ["/x/manage.py", "web"]) == ALL_APPS


@pytest.mark.parametrize(
    ("words", "light"),
    [(["instances"], True), (["help", "queue"], True), (["help"], False), ([], False)]
    + [(["check"], False), (["rqworker"], False), (["web"], False)],
)
def test_which_are_light(words, light):
    assert is_light(["./manage.py", *words]) is light
    assert not is_light(["pytest", *words])
