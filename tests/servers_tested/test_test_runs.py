"""Whole runs of pytest: both databases in one, nothing shared, nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from tests.servers.plugin import VENDORS
from tests.servers.process import MARK, ROOT
from tests.servers.waiting import wait_until

RECORD = """
import os
import pytest
from django.db import connection

def record(*facts):
    with open(os.environ["ATRIBUTO_TEST_RECORD"], "a") as file:
        print(*facts, file=file)
"""
EACH_ON_BOTH = f"""{RECORD}
@pytest.mark.django_db
def test_it(database):
    record(database, connection.vendor, os.getpid(), os.environ["REDIS_URL"],
        connection.settings_dict["NAME"])
"""


class Run:
    """One run of pytest over a file, with a folder for its temporary files that must end empty."""

    def __init__(self, folder, source):
        self.record = folder / "record"
        self.folder = folder
        (folder / "conftest.py").write_text("from tests.conftest import *  # noqa: F403\n")
        (folder / "test_inner.py").write_text(source)

    def start(self, *arguments, **environment):
        self.temporary = Path(tempfile.mkdtemp(prefix="run-"))
        self.temporary.chmod(0o755)  # PostgreSQL's user must get in
        environment |= {"TMPDIR": str(self.temporary), MARK: str(self.folder)}
        environment |= {"ATRIBUTO_TEST_RECORD": str(self.record)}
        environment |= {"PYTEST_DEBUG_TEMPROOT": str(self.folder)}  # pytest keeps its own folders
        inherited = {
            k: v for k, v in os.environ.items() if not k.startswith(("ATRIBUTO", "PYTEST"))
        }
        command = [sys.executable, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml"]
        return subprocess.Popen(
            [*command, "-p", "no:cacheprovider", *arguments, self.folder],
            cwd=ROOT,
            env=inherited | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def outcome(self, *arguments, **environment):
        """The exit code and the output of a whole run."""
        with self.start(*arguments, **environment) as process:
            output, _ = process.communicate(timeout=600)
        self.temporary.rmdir()  # refused unless it is empty
        return process.returncode, output

    def facts(self):
        return [line.split() for line in self.record.read_text().splitlines()]

    def living(self):
        return [process for process in psutil.process_iter() if self._is_mine(process)]

    def _is_mine(self, process):
        try:
            return process.environ().get(MARK) == str(self.folder)
        except psutil.Error:
            return False


def test_workers_share_postgresql_and_nothing_else(tmp_path):
    run = Run(tmp_path, EACH_ON_BOTH)
    code, output = run.outcome("-n", "2", "--dist", "each")  # each worker runs all tests
    assert (code, output.splitlines()[-1].split(" in ")[0]) == (0, "4 passed")
    facts = run.facts()
    assert {tuple(fact[:2]) for fact in facts} == {(vendor, vendor) for vendor in VENDORS}
    workers, redis_urls, names = ({fact[i] for fact in facts} for i in (2, 3, 4))
    assert (len(workers), len(redis_urls), len(names)) == (2, 2, 4)
    assert run.living() == []


ONE_OF_EACH = f"""{RECORD}
def test_good(db, database, settings):
    record(database, settings.DATABASES, settings.REDIS_URL)
    assert "ATRIBUTO_TEST_DATABASE_URL" not in os.environ

def test_late(request):
    request.getfixturevalue("db")

def test_trouble(page_as):
    page_as("viewer").troubles.append("something broke")

@pytest.mark.only_on("postgresql")
def test_elsewhere(db):
    pass
"""
WRONG = """
import pytest

@pytest.mark.only_on("oracle")
def test_wrong(db):
    pass
"""
REAL = {
    "ATRIBUTO_ENV": "production",
    "DATABASE_URL": "postgresql://prod/real",
    "REDIS_URL": "redis://prod:6379/0",
}


@pytest.fixture(scope="module")
def sqlite_run(tmp_path_factory):
    """One run on SQLite only, in a shell whose variables name real servers."""
    run = Run(tmp_path_factory.mktemp("inner"), ONE_OF_EACH)
    (run.folder / "test_wrong.py").write_text(WRONG)
    options = ("--database", "sqlite", "--continue-on-collection-errors")
    run.code, run.output = run.outcome(*options, **REAL)
    return run


def test_one_database_is_enough_when_asked_for(sqlite_run):
    assert [vendor for vendor, *_ in sqlite_run.facts()] == ["sqlite"]


def test_the_shell_cannot_lead_tests_to_real_data(sqlite_run):
    assert "prod" not in sqlite_run.record.read_text()


@pytest.mark.parametrize(
    "sentence",
    [
        "test_wrong: only_on('oracle',)",
        "it must name db, transactional_db or live_server",
        "AssertionError: something broke",
        "1 failed, 2 passed, 3 deselected, 2 errors",
    ],
)
def test_misuse_and_trouble_fail_the_run(sqlite_run, sentence):
    assert sqlite_run.code == 1
    assert sentence in sqlite_run.output


HANG = f"""{RECORD}
import signal
@pytest.mark.only_on("postgresql")
def test_it(spawn, redis_connection, valkey, postgres):
    spawn("shell", "-c", "import signal; signal.pause()")
    record("running")
    signal.pause()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="one process", marks=pytest.mark.soak),
        pytest.param(("-n", "1"), id="a worker"),
    ],
)
def test_a_killed_run_leaves_nothing_behind(tmp_path, arguments):
    run = Run(tmp_path, HANG)
    with run.start(*arguments) as process:
        wait_until(run.record.exists, 300, "the inner test did not begin")
        assert len(run.living()) > 5
        process.send_signal(signal.SIGKILL)
        wait_until(lambda: not run.living(), 60, "processes stayed behind")
        wait_until(lambda: not list(run.temporary.iterdir()), 60, "folders stayed behind")
    run.temporary.rmdir()


FAILS_AT_FIRST = """
import os
import pathlib
import pytest

@pytest.mark.parametrize("number", range(int(os.environ["ATRIBUTO_TEST_NUMBER"])))
def test_it(number):
    was_tried = pathlib.Path(f"{os.environ['ATRIBUTO_TEST_RECORD']}{number}")
    if not was_tried.exists():
        was_tried.touch()
        raise AssertionError("the machine stood still")
"""


@pytest.mark.parametrize(("number", "code"), [(3, 0), (4, 1)])
def test_few_tests_are_tried_again_and_named(tmp_path, number, code):
    run = Run(tmp_path, FAILS_AT_FIRST)
    told = {"ATRIBUTO_TEST_NUMBER": str(number)}
    ended, output = run.outcome("-n", "2", "--database", "sqlite", "--reruns", "1", **told)
    assert ended == code
    assert output.splitlines()[-1].split(" in ")[0] == f"{number} passed, {number} rerun"
    assert output.count("AssertionError: the machine stood still") == number
    assert "tried again: " in output


def test_one_that_fails_twice_fails(tmp_path):
    run = Run(tmp_path, "def test_it():\n    raise AssertionError('it is wrong')\n")
    ended, output = run.outcome("-n", "1", "--database", "sqlite", "--reruns", "1")
    assert ended == 1
    assert output.splitlines()[-1].split(" in ")[0] == "1 failed, 1 rerun"
