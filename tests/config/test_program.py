"""What is typed before a command: it reaches this site, from any folder, as it is pasted."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from atributo_site.config.places import BASE_DIR, program
from atributo_site.core.text import runnable

OWN = BASE_DIR / "bin" / "atributo"


@pytest.fixture
def checkout(tmp_path):
    """Make a folder like a checkout in a place with a space in its name."""
    folder = tmp_path / "my checkout"
    (folder / "bin").mkdir(parents=True)
    shutil.copy(OWN, folder / "bin" / "atributo")
    return folder


def test_a_checkout_is_named_by_its_path(checkout):
    written = program("", {"PATH": "/usr/bin"}, checkout, "/usr/bin/python3")
    assert shlex.split(written) == [str(checkout / "bin" / "atributo")]


def test_a_name_is_enough_where_the_shell_finds_this_very_program(checkout, tmp_path):
    here = {"PATH": str(checkout / "bin")}
    assert program("", here, checkout, "/usr/bin/python3") == "atributo"
    other = tmp_path / "other"
    other.mkdir()
    (other / "atributo").touch(mode=0o755)
    elsewhere = {"PATH": f"{other}:{checkout / 'bin'}"}
    assert "my checkout" in program("", elsewhere, checkout, "/usr/bin/python3")


def test_an_installed_script_is_named_by_its_name_or_path(tmp_path):
    (tmp_path / "atributo").touch(mode=0o755)
    python, nowhere = str(tmp_path / "python"), tmp_path / "site-packages"
    assert program("", {"PATH": str(tmp_path)}, nowhere, python) == "atributo"
    assert program("", {"PATH": "/bin"}, nowhere, python) == str(tmp_path / "atributo")


def test_a_project_of_others_has_its_own_file(tmp_path):
    assert program("", {}, tmp_path, str(tmp_path / "python")) == "manage.py"


def test_what_the_operator_names_counts(checkout):
    given = {"ATRIBUTO_VAR_DIR": "/x"}
    assert program("docker exec web atributo", given, checkout, "python") == (
        "docker exec web atributo"
    )


def test_variables_that_choose_the_site_stand_before_it_but_no_secret(checkout):
    given = {"ATRIBUTO_VAR_DIR": "/my state", "DATABASE_URL": "postgresql://a:secret@b/c"}
    words = shlex.split(program("", given, checkout, "python"))
    assert words == ["ATRIBUTO_VAR_DIR=/my state", str(checkout / "bin" / "atributo")]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("manage.py worker", "atributo worker"),
        ("start one with `manage.py worker`", "start one with `atributo worker`"),
        ("python my/manage.py worker", "python my/manage.py worker"),
        ("manage.py.bak x", "manage.py.bak x"),
    ],
)
def test_a_text_names_the_program(text, written, settings):
    settings.ATRIBUTO_PROGRAM = "atributo"
    assert runnable(text) == written


def test_a_project_without_our_settings_writes_its_own_file(settings):
    del settings.ATRIBUTO_PROGRAM
    assert runnable("manage.py worker") == "manage.py worker"


@pytest.mark.django_db
@pytest.mark.only_on("sqlite")
def test_pages_doctor_and_rest_name_the_program(settings, client_as, rest_as, capsys):
    settings.ATRIBUTO_PROGRAM = "/opt/a/bin/atributo"
    client = client_as("admin")
    for path in ("/queues/", "/instances/", "/system/", "/incidents/", "/docs/"):
        page = client.get(path).text
        assert "<code>/opt/a/bin/atributo " in page and "manage.py" not in page, path
    assert "/opt/a/bin/atributo " in json.dumps(rest_as("admin").get("/api/v1/incidents").json())
    call_command("doctor")
    said = capsys.readouterr().out
    assert "→ /opt/a/bin/atributo worker" in said and "manage.py" not in said


def test_the_program_runs_from_any_folder_and_through_a_link(tmp_path):
    if not (BASE_DIR / ".venv" / "bin" / "python").exists():
        pytest.skip("this checkout has no .venv of its own")
    link = tmp_path / "atributo"
    link.symlink_to(OWN)
    for program_path in (OWN, link):
        done = subprocess.run(
            [program_path, "docs", "--json"], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert {"page": "queues", "title": "Queues", "section": "Work that runs"} in json.loads(
            done.stdout
        )


def test_curator_is_another_name_of_run_curator(checkout):
    answers(checkout)
    done = subprocess.run(
        [checkout / "bin" / "atributo", "curator", "--name", "a b"], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [str(checkout / "manage.py"), "run_curator", "--name", "a b"]


def answers(checkout: Path) -> None:
    """Put a Python there that says how it was called."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)


def test_a_checkout_without_packages_says_what_to_do(checkout):
    done = subprocess.run([checkout / "bin" / "atributo", "help"], capture_output=True, text=True)
    assert done.returncode == 1 and "run `make install`" in done.stderr


def test_the_program_can_be_executed():
    assert os.access(OWN, os.X_OK) and OWN.read_text().startswith("#!/bin/sh\n")
    assert Path(sys.executable).exists()
