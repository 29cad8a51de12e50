"""Settings come from the environment, each with a default, a sentence and a check."""

import dataclasses
from pathlib import Path

import pytest

from atributo_site.config.conflicts import clashes
from atributo_site.config.env_file import env_example, source_of, with_env_file
from atributo_site.config.environment import BadEnvironment, Environment, read
from atributo_site.config.places import BASE_DIR
from atributo_site.config.variables import variables_of

LONG_KEY = "k" * 60


def test_every_variable_has_a_usable_default_and_a_sentence():
    assert isinstance(read({}), Environment)
    assert all(variable.sentence.endswith(".") for variable in variables_of(Environment).values())


@pytest.mark.parametrize(
    ("name", "value", "needs"),
    [
        ("ATRIBUTO_PORT", "eighty", "a whole number from 1 to 65535"),
        ("ATRIBUTO_PORT", "70000", "a whole number from 1 to 65535"),
        ("ATRIBUTO_PORT", "-1", "a whole number from 1 to 65535"),
        ("ATRIBUTO_CLUSTER_SIZE", "50", "one of 10, 100, or 1000"),
        ("ATRIBUTO_WORKER_ID", "seven", "'auto' or a whole number"),
        ("ATRIBUTO_ENV", "prod", "one of local, production, test"),
        ("ATRIBUTO_DEMO", "maybe", "yes or no"),
        ("DATABASE_URL", "mysql://x", "sqlite:/// or postgresql://"),
        ("DATABASE_URL", "postgresql://ada@host:port/db", "parts can be read"),
        ("DATABASE_URL", "sqlite:///:memory:", "several processes can share"),
        ("REDIS_URL", "localhost:6379", "redis://, rediss:// or unix://"),
        ("REDIS_URL", "redis://host:port/0", "parts can be read"),
        ("REDIS_URL", "redis://host/0?retries=7", "parts can be read"),
        ("REDIS_URL", "unix://", "the path of a socket"),
        ("ATRIBUTO_WORKERS", "9" * 5000, "a whole number from 0 to 64"),
        ("ATRIBUTO_WORKER_ID", "9" * 5000, "'auto' or a whole number"),
        ("ATRIBUTO_ALLOWED_HOSTS", "https://atributo.example", "without https://"),
        ("ATRIBUTO_ALLOWED_HOSTS", "atributo.example:443", "without a port"),
        ("ATRIBUTO_TRUSTED_ORIGINS", "atributo.example", "such as https://atributo.example"),
        ("ATRIBUTO_PROXIES", "proxy.example", "addresses or networks"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_is_needed(name, value, needs):
    with pytest.raises(BadEnvironment) as refused:
        read({name: value})
    assert str(refused.value).startswith(f"{name} must be ")
    assert needs in str(refused.value)


def test_all_refusals_come_at_once():
    with pytest.raises(BadEnvironment) as refused:
        read({"ATRIBUTO_PORT": "x", "ATRIBUTO_WORKERS": "y"})
    assert len(str(refused.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://ada:SECRET@host/db"),
        ("DATABASE_URL", "postgresql://ada:SECRET/SECRET@host/db"),
        ("REDIS_URL", "redis://:SECRET/SECRET@host/0"),
    ],
)
def test_a_refused_secret_is_not_shown(name, value):
    with pytest.raises(BadEnvironment) as refused:
        read({name: value})
    assert "SECRET" not in str(refused.value)


def test_hosts_may_be_addresses_and_families_of_names():
    hosts = "[::1],127.0.0.1,.atributo.example"
    assert read({"ATRIBUTO_ALLOWED_HOSTS": hosts}).allowed_hosts == tuple(hosts.split(","))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        (
            {"ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "7000"},
            ["HEARTBEAT_INTERVAL_MS (7000)", "HEARTBEAT_TIMEOUT_MS (7500)"],
        ),
        (
            {"ATRIBUTO_WORKER_HEARTBEAT_MS": "5000"},
            ["WORKER_HEARTBEAT_MS (5000)", "LEASE_MS (4000)"],
        ),
        (
            {"ATRIBUTO_WORKER_ID": "10", "ATRIBUTO_CLUSTER_SIZE": "10"},
            ["between 0 and 9", "ATRIBUTO_CLUSTER_SIZE=10"],
        ),
        ({"ATRIBUTO_WORKERS": "20", "ATRIBUTO_CLUSTER_SIZE": "10"}, ["fewer numbers", "22"]),
        ({"ATRIBUTO_ENV": "production", "ATRIBUTO_SECRET_KEY": "short"}, ["at least 50"]),
        (
            {
                "ATRIBUTO_ENV": "production",
                "ATRIBUTO_SECRET_KEY": LONG_KEY,
                "ATRIBUTO_ALLOWED_HOSTS": "*",
            },
            ["ATRIBUTO_ALLOWED_HOSTS"],
        ),
        (
            {
                "ATRIBUTO_ENV": "production",
                "ATRIBUTO_SECRET_KEY": LONG_KEY,
                "ATRIBUTO_METRICS_OPEN": "yes",
                "ATRIBUTO_HOST": "0.0.0.0",  # noqa: S104
            },
            ["ATRIBUTO_METRICS_OPEN"],
        ),
    ],
)
def test_settings_that_cannot_work_together_are_named(environ, words):
    (sentence,) = clashes(read(environ))
    assert all(word in sentence for word in words)


def test_the_defaults_work_together():
    assert clashes(read({})) == []


def test_the_real_environment_overrules_the_file(tmp_path: Path):
    (tmp_path / ".env").write_text("# a remark\nATRIBUTO_PORT=9000\nATRIBUTO_BADGE='staging'\n")
    environ = with_env_file({"ATRIBUTO_PORT": "9001"}, tmp_path / ".env")
    assert environ == {"ATRIBUTO_PORT": "9001", "ATRIBUTO_BADGE": "staging"}


def test_a_line_of_the_file_that_is_no_assignment_is_named(tmp_path: Path):
    (tmp_path / ".env").write_text("ATRIBUTO_PORT\n")
    with pytest.raises(BadEnvironment, match=r"line 1 must read NAME=value\.$"):
        with_env_file({}, tmp_path / ".env")


def test_the_example_file_documents_every_variable():
    assert (BASE_DIR / ".env.example").read_text() == env_example()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / ".env").mkdir()
    with pytest.raises(BadEnvironment, match=r"\.env cannot be read"):
        with_env_file({}, tmp_path / ".env")


def test_the_source_of_a_value_is_told(tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("export ATRIBUTO_BADGE=staging\nATRIBUTO_DEMO=\n")
    assert source_of("ATRIBUTO_PORT", {"ATRIBUTO_PORT": "9000"}, file) == "environment"
    assert source_of("ATRIBUTO_BADGE", {}, file) == ".env"
    assert source_of("ATRIBUTO_DEMO", {}, file) == "default"


def test_the_environment_cannot_be_changed_after_the_start():
    with pytest.raises(dataclasses.FrozenInstanceError):
        read({}).port = 1  # type: ignore[misc]
