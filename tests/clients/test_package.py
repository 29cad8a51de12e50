"""The client is a package of its own: httpx alone, typed, and none of the site's code."""

import ast
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "clients" / "python"
MODULES = sorted((PACKAGE / "atributo_client").rglob("*.py"))
MOST_MODULES, MOST_LINES = 15, 400


def test_it_needs_httpx_alone():
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert [each.partition(">")[0] for each in project["dependencies"]] == ["httpx"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_the_standard_library_and_httpx(path):
    tree = ast.parse(path.read_text())
    found = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    found |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    allowed = {*sys.stdlib_module_names, "httpx", "atributo_client"}
    assert {name.partition(".")[0] for name in found} <= allowed
    assert ast.get_docstring(tree)


def test_only_the_shells_and_the_stream_know_httpx():
    users = {path.stem for path in MODULES if "import httpx" in path.read_text()}
    assert users == {"shells", "stream"}


def test_no_file_is_long_and_no_folder_crowded():
    written = [path for path in MODULES if path.parent.name != "generated"]
    lengths = {path.name: len(path.read_text().splitlines()) for path in written}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}
    folders = [path.parent for path in written if path.name != "__init__.py"]
    assert max(map(folders.count, folders)) <= MOST_MODULES


def test_the_distributions_are_whole_and_leave_nothing_behind(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(source.rglob("*"))
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(build, cwd=source, check=True, capture_output=True, timeout=120, env=env)
    assert sorted(source.rglob("*")) == before
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        in_source = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        in_wheel = set(archive.namelist())
    modules = {str(path.relative_to(PACKAGE)) for path in MODULES}
    assert modules | {"atributo_client/py.typed"} <= in_source & in_wheel
