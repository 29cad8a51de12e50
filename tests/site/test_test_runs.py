"""Whole runs of pytest: both databases in one, nothing shared, nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

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
@pytest.mark.parametrize("n", range(4))
def test_it(database, n):
    record(database, n, connection.vendor, os.getpid(), os.environ["REDIS_URL"],
        connection.settings_dict["NAME"])
"""


class Run:
    """One run of pytest over a file, with a folder for its temporary files that must end empty."""

    def __init__(self, folder, source):
        self.record = folder / "record"
        self._folder = folder
        (folder / "conftest.py").write_text("from tests.conftest import *  # noqa: F403\n")
        (folder / "test_inner.py").write_text(source)

    def start(self, *arguments, **environment):
        self.temporary = Path(tempfile.mkdtemp(prefix="run-"))
        self.temporary.chmod(0o755)  # PostgreSQL's user must get in
        environment |= {"TMPDIR": str(self.temporary), MARK: str(self._folder)}
        environment |= {"ATRIBUTO_TEST_RECORD": str(self.record)}
        environment |= {"PYTEST_DEBUG_TEMPROOT": str(self._folder)}  # pytest keeps its own folders
        inherited = {
            k: v for k, v in os.environ.items() if not k.startswith(("ATRIBUTO", "PYTEST"))
        }
        command = [sys.executable, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml"]
        return subprocess.Popen(
            [*command, "-p", "no:cacheprovider", *arguments, self._folder],
            cwd=ROOT,
            env=inherited | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def outcome(self, *arguments, **environment):
        """The exit code and the output of a whole run."""
        with self.start(*arguments, **environment) as process:
            output, _ = process.communicate(timeout=120)
        self.temporary.rmdir()  # refused unless it is empty
        return process.returncode, output

    def facts(self):
        return [line.split() for line in self.record.read_text().splitlines()]

    def living(self):
        return [process for process in psutil.process_iter() if self._is_mine(process)]

    def _is_mine(self, process):
        try:
            return process.environ().get(MARK) == str(self._folder)
        except psutil.Error:
            return False


def test_workers_share_postgresql_and_nothing_else(tmp_path):
    run = Run(tmp_path, EACH_ON_BOTH)
    code, output = run.outcome("-n", "2", "--dist", "each")  # each worker runs all tests
    assert (code, output.splitlines()[-1].split(" in ")[0]) == (0, "16 passed")
    facts = run.facts()
    assert all(wanted == vendor for wanted, _, vendor, *_ in facts)
    assert len({(vendor, n) for vendor, n, *_ in facts}) == 8
    workers, redis_urls, names = ({fact[i] for fact in facts} for i in (3, 4, 5))
    assert (len(workers), len(redis_urls), len(names)) == (2, 2, 4)
    assert run.living() == []


def test_one_database_is_enough_when_asked_for(tmp_path):
    source = EACH_ON_BOTH + '    assert "ATRIBUTO_TEST_DATABASE_URL" not in os.environ\n'
    run = Run(tmp_path, source)
    code, _ = run.outcome("--database", "sqlite")
    assert (code, {vendor for vendor, *_ in run.facts()}) == (0, {"sqlite"})


def test_the_shell_cannot_lead_tests_to_real_data(tmp_path):
    source = (
        f"{RECORD}\ndef test_it(settings):\n    record(settings.DATABASES, settings.REDIS_URL)\n"
    )
    real = {"DATABASE_URL": "postgresql://prod/real", "REDIS_URL": "redis://prod:6379/0"}
    run = Run(tmp_path, source)
    code, _ = run.outcome(**real, ATRIBUTO_ENV="production")
    assert code == 0
    assert "prod" not in run.record.read_text()


LATE = """
def test_it(request):
    request.getfixturevalue("db")
"""
WRONG = """
import pytest
@pytest.mark.only_on("oracle")
def test_it(db):
    pass
"""
TROUBLE = """
def test_it(page_as):
    page_as("viewer").troubles.append("something broke")
"""


@pytest.mark.parametrize(
    "source, sentence",
    [
        (LATE, "it must name db, transactional_db or live_server"),
        (WRONG, "only_on('oracle',)"),
        (TROUBLE, "something broke"),
    ],
    ids=["late", "wrong vendor", "trouble on a page"],
)
def test_misuse_and_trouble_fail_the_run(tmp_path, source, sentence):
    code, output = Run(tmp_path, source).outcome("--database", "sqlite")
    assert code != 0
    assert sentence in output


HANG = f"""{RECORD}
import signal
@pytest.mark.only_on("postgresql")
def test_it(spawn, redis_connection, valkey, postgres):
    spawn("shell", "-c", "import signal; signal.pause()")
    record("running")
    signal.pause()
"""


@pytest.mark.parametrize("arguments", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_a_killed_run_leaves_nothing_behind(tmp_path, arguments):
    run = Run(tmp_path, HANG)
    with run.start(*arguments) as process:
        wait_until(run.record.exists, 60, "the inner test did not begin")
        assert len(run.living()) > 5
        process.send_signal(signal.SIGKILL)
        wait_until(lambda: not run.living(), 30, "processes stayed behind")
        wait_until(lambda: not list(run.temporary.iterdir()), 10, "folders stayed behind")
    run.temporary.rmdir()
