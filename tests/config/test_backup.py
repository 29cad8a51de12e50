"""The restore that docs/operations.md describes works, word for word."""

import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from atributo_site.config.places import BASE_DIR

PAGE = (BASE_DIR / "docs" / "operations.md").read_text()
pytestmark = [pytest.mark.only_on("sqlite"), pytest.mark.django_db(transaction=True)]


@pytest.fixture
def var(tmp_path, migrated_database):
    """Make the state folder of an installation that is migrated and empty."""
    folder = tmp_path / "var"
    folder.mkdir()
    migrated = sqlite3.connect(migrated_database.settings["NAME"])
    with closing(migrated), closing(sqlite3.connect(folder / "atributo.sqlite3")) as own:
        migrated.backup(own)
    return folder


def test_a_site_goes_on_from_its_backup(var, process_environment):
    ours = {"ATRIBUTO_VAR_DIR": str(var), "DATABASE_URL": "", "ATRIBUTO_WORKER_ID": "7"}
    environ = process_environment | ours

    def manage(*words):
        command = [sys.executable, BASE_DIR / "manage.py", *words]
        return subprocess.check_output(command, env=environ, text=True)

    saying = re.search(r'^    \.venv/bin/python (-c ".*backup.*")$', PAGE, re.MULTILINE)[1]
    subprocess.run([sys.executable, *shlex.split(saying)], cwd=var.parent, check=True)
    later = int(manage("job_id", "make", "100000").split()[-1])  # far ahead of the clock
    shutil.copy(var.parent / "copy.sqlite3", var / "atributo.sqlite3")
    for name in set(re.findall(r"atributo\.sqlite3-\w+", PAGE)):
        (var / name).unlink(missing_ok=True)
    with closing(sqlite3.connect(var / "atributo.sqlite3")) as restored:
        assert restored.execute("SELECT count(*) FROM allocation_idnumber").fetchone() == (0,)
    assert int(manage("job_id", "make")) > later
    assert "0 rows break them" in manage("verify")
