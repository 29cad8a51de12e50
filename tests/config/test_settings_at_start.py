"""Wrong settings stop the start with one sentence, and production mode is safe."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from atributo_site.config import embedded_redis, state_folder
from atributo_site.config.databases import configured
from atributo_site.config.environment import BadEnvironment, read
from atributo_site.config.places import BASE_DIR
from atributo_site.management.commands import up
from atributo_site.supervisor import startup

PRODUCTION = {
    "ATRIBUTO_ENV": "production",
    "ATRIBUTO_SECRET_KEY": "".join(chr(33 + n) for n in range(80)),
    "ATRIBUTO_ALLOWED_HOSTS": "atributo.example",
}


def manage(var_dir: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ATRIBUTO_")}
    clean |= {"ATRIBUTO_VAR_DIR": str(var_dir), "DATABASE_URL": "", "REDIS_URL": ""}
    command = [sys.executable, BASE_DIR / "manage.py", *arguments]
    return subprocess.run(command, env=clean | environ, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"DATABASE_URL": "mysql://host/db"}, "DATABASE_URL must be a URL that starts with"),
        ({"DATABASE_URL": "postgresql://host/"}, "DATABASE_URL must name a database"),
        ({"REDIS_URL": "localhost"}, "REDIS_URL must be 'embedded' or a URL"),
        ({"ATRIBUTO_CLUSTER_SIZE": "50"}, "ATRIBUTO_CLUSTER_SIZE must be one of 10, 100, or 1000"),
        (
            {"ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "8000"},
            "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS (8000) must be at most half of",
        ),
        ({"ATRIBUTO_ENV": "production"}, "ATRIBUTO_SECRET_KEY must have at least 50 characters"),
    ],
)
def test_a_wrong_setting_stops_the_start_with_one_sentence(tmp_path, environ, sentence):
    ended = manage(tmp_path / "var", "up", **environ)
    assert ended.returncode == 2
    assert ended.stderr.startswith(sentence)
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "var" / "up.lock").exists()


@pytest.mark.parametrize("broken", ["", "secret_key", "static", "log"])
def test_a_state_folder_that_cannot_be_used_is_named(tmp_path, broken):
    var = tmp_path / "var"
    (var / broken).parent.mkdir(exist_ok=True)
    (var / broken).write_text("") if broken != "secret_key" else (var / broken).mkdir()
    ended = manage(var, "up", "--check")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert ended.stderr.startswith(f"ATRIBUTO_VAR_DIR: {var / broken}")


def test_static_files_that_cannot_be_kept_are_said_in_one_sentence(tmp_path, settings):
    settings.STATIC_ROOT = tmp_path
    (tmp_path / ".collected").mkdir()
    with pytest.raises(BadEnvironment, match=r"/.collected cannot be used: Is a directory\.$"):
        startup.collect_static()


def test_an_empty_signing_key_is_no_key(tmp_path):
    (tmp_path / "secret_key").touch()
    with pytest.raises(BadEnvironment, match="is empty: remove it"):
        state_folder.kept_in(tmp_path)


@pytest.mark.parametrize("command", ["web", "worker", "run_curator"])
def test_what_runs_for_ever_refuses_tables_that_are_not_migrated(tmp_path, command):
    ended = manage(tmp_path, command)
    assert ended.returncode == 1
    assert "migrations are pending: `" in ended.stderr
    assert ended.stderr.endswith(" migrate` comes first.\n")


@pytest.mark.parametrize("command", [("instances", "list"), ("migrate",)])
def test_a_database_that_is_none_is_said_in_one_line(tmp_path, command):
    (tmp_path / "atributo.sqlite3").write_text("no database " * 1000)
    ended = manage(tmp_path, *command)
    assert ended.returncode == 1
    assert ended.stderr.startswith("the database failed: file is not a database.")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.only_on("postgresql")
def test_tables_that_cannot_be_made_are_said_in_one_line(tmp_path, db, migrated_database):
    nowhere = f"{migrated_database.url}&options=-csearch_path%3Dnowhere"
    ended = manage(tmp_path, "up", "--check", DATABASE_URL=nowhere)
    assert ended.returncode == 1
    assert ended.stderr.startswith("the database failed: no schema has been selected")
    assert len(ended.stderr.splitlines()) == 1


def test_options_of_the_url_stand_beside_ours(tmp_path):
    url = "postgresql://u@h/db?options=-csearch_path%3Dours&sslmode=verify-full"
    options = configured(read({"DATABASE_URL": url}), tmp_path)["OPTIONS"]
    assert options["options"].startswith("-c statement_timeout=30000 -c lock_timeout=")
    assert options["options"].endswith(" -csearch_path=ours")
    assert options["sslmode"] == "verify-full"


def test_a_redis_that_does_not_answer_is_said_at_the_start(settings):
    settings.REDIS_URL = "redis://:geheim@127.0.0.1:1/0"
    command = up.Command(stdout=StringIO())
    command.say_what_is_degraded()
    said = command.stdout.getvalue()
    assert said.startswith("Degraded: Redis does not answer")
    assert "geheim" not in said


def test_a_number_for_one_process_does_not_start_several(tmp_path):
    ended = manage(tmp_path / "var", "up", ATRIBUTO_WORKER_ID="5")
    assert ended.returncode == 2
    assert "ATRIBUTO_WORKER_ID=5 numbers one process" in ended.stderr
    assert not (tmp_path / "var" / "up.lock").exists()


def test_production_mode_has_no_deployment_warning(tmp_path):
    ended = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_unknown_option_is_wrong_usage(tmp_path):
    ended = manage(tmp_path, "run_curator", "--twice")
    assert ended.returncode == 2
    assert "unrecognized arguments: --twice" in ended.stderr


def test_the_state_folder_and_the_signing_key_are_private(tmp_path):
    manage(tmp_path / "var", "check")
    assert (tmp_path / "var").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "var" / "secret_key").stat().st_mode & 0o777 == 0o600


def test_the_signing_key_is_made_once(tmp_path):
    assert state_folder.kept_in(tmp_path) == state_folder.kept_in(tmp_path)
    assert len(state_folder.kept_in(tmp_path)) >= 50


def test_a_long_path_moves_the_socket_to_a_private_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    deep = tmp_path.joinpath(*["folder"] * 20)
    found = embedded_redis.socket_path(deep)
    assert found.parent.parent == tmp_path
    assert found.parent.stat().st_mode & 0o777 == 0o700


def test_the_embedded_server_listens_on_no_port_and_evicts_nothing(tmp_path):
    command = embedded_redis.command(Path("/bin/valkey-server"), tmp_path)
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert (options["--port"], options["--maxmemory-policy"]) == ("0", "noeviction")


def test_the_server_of_the_wheel_is_found():
    assert os.access(embedded_redis.binary(), os.X_OK)
