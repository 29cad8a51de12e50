"""Settings of a project that we are installed in: read gently, and checked with a fix for each."""

import os
import subprocess
import sys
from textwrap import dedent
from types import SimpleNamespace

import pytest
from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from atributo_site import checks
from atributo_site.config.described import HIDDEN, described_settings
from atributo_site.config.environment import Environment
from atributo_site.config.hosted import read_hosted
from atributo_site.config.variables import variables_of
from atributo_site.core.text import runnable
from tests.packaging.environment import ROOT

NAMES = [variable.name for variable in variables_of(Environment).values()]


def read(ours=None, environ=None, rq=None, debug=True):
    return read_hosted({} if ours is None else ours, environ or {}, rq, debug=debug)


def test_nothing_has_to_be_set():
    env, refusals = read()
    assert (env.is_hosted, env.mode, env.redis_url, refusals) == (True, "local", "embedded", [])
    assert read(debug=False)[0].mode == "production"


def test_values_are_those_of_python_and_the_environment_wins():
    ours = {"ATRIBUTO_WORKERS": 3, "ATRIBUTO_METRICS_OPEN": True, "ATRIBUTO_SCRIPT_ENV": ["A", "B"]}
    env, refusals = read(ours, {"ATRIBUTO_WORKERS": "4"})
    assert (env.workers, env.metrics_open, env.script_env, refusals) == (4, True, ("A", "B"), [])


@pytest.mark.parametrize(
    ("ours", "sentence"),
    [
        ({"ATRIBUTO_WORKERS": "many"}, "ATRIBUTO_WORKERS must be a whole number from 0 to 64"),
        ({"WORKERS": 3}, "ATRIBUTO['WORKERS'] is not one of our settings."),
        ({"DATABASE_URL": "x"}, "ATRIBUTO['DATABASE_URL'] is decided by the project's own"),
        (
            {"ATRIBUTO_WORKERS": 60, "ATRIBUTO_CLUSTER_SIZE": 10},
            "ATRIBUTO_CLUSTER_SIZE (10) has fewer numbers",
        ),
        ("redis://", "ATRIBUTO must be a dict of settings."),
    ],
)
def test_what_cannot_be_used_is_told_and_replaced_by_its_default(ours, sentence):
    env, refusals = read(ours)
    assert refusals[0].startswith(sentence)
    assert env.workers == read()[0].workers


def test_variables_of_the_projects_own_things_are_not_ours():
    env, refusals = read(environ={"DATABASE_URL": "mysql://db/shop", "ATRIBUTO_LOG_LEVEL": "x"})
    assert (env.database_url, refusals) == ("sqlite:///", [])


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ({"URL": "redis://one:6379/2"}, "redis://one:6379/2"),
        ({"HOST": "one", "PORT": 7, "DB": 3}, "redis://one:7/3"),
        ({"HOST": "one", "PASSWORD": "a/b", "SSL": True}, "rediss://:a%2Fb@one:6379/0"),
        ({"UNIX_SOCKET_PATH": "/run/r.sock"}, "unix:///run/r.sock?db=0"),
        ({"USE_REDIS_CACHE": "default"}, "embedded"),
    ],
)
def test_the_redis_of_django_rq_is_used(entry, url):
    assert read(rq={"default": entry})[0].redis_url == url
    assert read({"REDIS_URL": "redis://ours/1"}, rq={"default": entry})[0].redis_url.endswith("/1")


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(), st.text() | st.integers() | st.none()))
def test_no_settings_stop_a_project(ours):
    env, refusals = read(ours)
    assert env.is_hosted and all(isinstance(each, str) for each in refusals)


@pytest.fixture
def hosted(settings):
    """Look at this site as if it were a project."""

    def make(refusals=(), **ours):
        settings.ATRIBUTO = read(ours)[0]
        apps.get_app_config("atributo_site").refusals = list(refusals)
        return {each.id: each for each in checks.check_project(None)}

    yield make
    apps.get_app_config("atributo_site").refusals = []


def test_a_site_of_our_own_is_not_checked_as_a_project():
    assert checks.check_project(None) == [] == checks.check_tables(None, databases=["default"])


def test_each_fault_of_a_project_has_a_check_with_its_fix(hosted, settings):
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "Message" not in name]
    settings.USE_TZ = False
    found = hosted(["ATRIBUTO['X'] is not one of our settings."])
    assert {"atributo.E001", "atributo.E005", "atributo.E006", "atributo.W001"} <= set(found)
    assert all(each.hint for each in found.values())
    assert "redis://" in found["atributo.W001"].hint


def test_a_project_with_a_redis_and_all_middlewares_hears_nothing_of_them(hosted):
    found = hosted(REDIS_URL="redis://localhost:6379/0")
    assert not {"atributo.W001", "atributo.E004"} & set(found)


def test_a_redis_that_is_away_is_told_before_a_deployment(hosted, shared_redis, free_port):
    hosted(REDIS_URL=f"redis://:secret@127.0.0.1:{free_port}/0")
    (found,) = checks.check_redis(None)
    assert (found.id, "REDIS_URL" in found.hint) == ("atributo.W004", True)
    assert "secret" not in found.msg
    hosted(REDIS_URL=os.environ["REDIS_URL"])
    assert checks.check_redis(None) == []


APPS = "django.contrib.auth django.contrib.contenttypes atributo_site allocation queues pools knox"


def start(folder, apps):
    """Start a project in a folder with these apps; return the last line that it says."""
    lines = f"""
        from django.conf import settings
        settings.configure(INSTALLED_APPS={apps.split()!r}, SECRET_KEY="x", USE_TZ=True)
        import django
        django.setup()
        print("started")
    """
    ended = subprocess.run(
        [sys.executable, "-c", dedent(lines)],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}:{ROOT}", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return (ended.stdout + ended.stderr).splitlines()[-1].partition("ImproperlyConfigured: ")


def test_what_keeps_a_project_from_starting_is_said_in_a_sentence(tmp_path):
    """No check can tell of it, since checks come after the apps are loaded."""
    assert start(tmp_path, APPS)[0] == "started"
    said = start(tmp_path, APPS.replace(" pools knox", ""))[2]
    assert said == "INSTALLED_APPS lacks 'pools', 'knox', which Atributo needs."
    theirs = tmp_path / "queues" / "__init__.py"
    theirs.parent.mkdir()
    theirs.touch()
    said = start(tmp_path, APPS)[2]
    assert said.startswith(f"The package 'queues' of Atributo is hidden by {theirs}. Rename")


def test_an_app_with_a_label_of_ours_is_named_with_what_helps(monkeypatch):
    theirs = SimpleNamespace(name="shop.queues", label="queues")
    monkeypatch.setitem(apps.app_configs, "queues", theirs)
    with pytest.raises(ImproperlyConfigured, match="'shop.queues'.*label = 'shop_queues'"):
        AppConfig.create("atributo_site")


@pytest.mark.django_db
def test_a_missing_migration_is_a_warning_with_its_command(hosted, monkeypatch):
    hosted()
    monkeypatch.setattr(
        "atributo_site.status.migrations._of_this_release", lambda: [("queues", "9999_new")]
    )
    (found,) = checks.check_tables(None, databases=["default"])
    assert (found.id, found.hint) == ("atributo.W002", "Run `manage.py migrate`.")


def test_a_password_of_the_project_is_neither_shown_nor_printed(hosted, settings, monkeypatch):
    monkeypatch.delenv("REDIS_URL")
    hosted(REDIS_URL="redis://:geheim@localhost:6379/0")
    shown = {each["name"]: each for each in described_settings()}
    assert (shown["REDIS_URL"]["value"], shown["REDIS_URL"]["source"]) == (HIDDEN, "project")
    assert shown["ATRIBUTO_WORKERS"]["source"] == "default"
    assert "geheim" not in repr(settings.ATRIBUTO)


def test_commands_are_those_of_the_project(hosted):
    hosted()
    assert runnable("manage.py worker") == "manage.py worker"
