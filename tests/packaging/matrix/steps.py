"""What is tried with each pair. A step returns a few words for the table, or raises Failed."""

import os
import re
import shutil
import tarfile
from collections import Counter
from pathlib import Path

from tests.packaging.environment import ROOT
from tests.packaging.matrix import environments
from tests.packaging.matrix.environments import Failed, run
from tests.packaging.matrix.pairs import Pair
from tests.packaging.upstream.page import PAGE
from tests.servers.valkey import ValkeyServer

EMBEDDING = ["tests/packaging"]
# What depends on Django most: tasks, statements on both databases, pages, admin, settings.
SELECTION = [
    "tests/queues/tasks",
    "tests/queues/functions",
    "tests/queues/jobs",
    "tests/transactions",
    "tests/web",
    "tests/config",
    "tests/walks",
]
UPSTREAM = ROOT / "tests" / "packaging" / "upstream"
NO_TESTS = "the sdist of django-tasks has no tests"


def embedding(pair: Pair, python: Path) -> str:
    """The wheel in a new project, as `make test` does it, on both databases."""
    return _pytest(f"{pair.name}-embedding", python, EMBEDDING)


def suite(pair: Pair, python: Path) -> str:
    """A selection of the suite, on both databases."""
    return _pytest(f"{pair.name}-suite", python, SELECTION)


def _pytest(log: str, python: Path, places: list[str]) -> str:
    words = ["-m", "pytest", "-q", "-n", "2", "-m", "not soak", "-p", "no:cacheprovider"]
    said = run(log, [python, *words, *places], cwd=ROOT)
    found = re.search(r"\d+ passed.*? in ", said)
    if found is None:
        raise Failed(f"no test ran: see {environments.LOGS / log}.log")
    return found[0].removesuffix(" in ")


def upstream(pair: Pair, python: Path) -> str:
    """Django's own tests for task backends, against ours."""
    if not pair.has_tasks:
        return NO_TESTS
    log = f"{pair.name}-upstream"
    folder = environments.FOLDER / "work" / log
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with ValkeyServer() as server:
        environ = {"REDIS_URL": server.url, "DJANGO_SETTINGS_MODULE": "settings"}
        words = [python, "-W", "error", UPSTREAM / "runner.py", django_tests(python)]
        said = run(log, words, cwd=folder, **environ)
    ends = Counter(line.rpartition(": ")[2] for line in said.splitlines())
    if ends["failed"] or not ends["passed"]:
        raise Failed(f"{ends['failed']} failed: see {environments.LOGS / log}.log")
    listed = PAGE.read_text()
    if new := [line for line in said.splitlines() if f"`{line.partition(':')[0]}`" not in listed]:
        raise Failed(f"{PAGE.name} does not list {new[0]} and {len(new) - 1} more")
    return ", ".join(f"{number} {word}" for word, number in sorted(ends.items()))


def django_tests(python: Path) -> Path:
    """Download the sdist of the Django that an environment has; return its folder of tests."""
    asked = "import django; print(django.__version__)"
    version = run("version", [python, "-c", asked], cwd=environments.FOLDER).strip()
    folder = environments.FOLDER / "sdists"
    tests = folder / f"django-{version}" / "tests"
    if not (tests / "tasks").exists():
        folder.mkdir(exist_ok=True)
        pip = [python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "django"]
        run("sdist", [*pip, "--dest", folder, f"django=={version}"], cwd=folder, **os.environ)
        with tarfile.open(folder / f"django-{version}.tar.gz") as archive:
            wanted = [each for each in archive if f"-{version}/tests/tasks/" in each.name]
            archive.extractall(folder, wanted, filter="data")
    return tests
