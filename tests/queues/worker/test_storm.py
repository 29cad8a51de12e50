"""Kill, stop, flush, restart: nothing is lost, nothing recorded twice, the limits are kept."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def storm(database, *options):
    """What a storm in a process of its own, with servers of its own, has to tell."""
    command = [sys.executable, "-m", "tests.queues.storm", "--database", database, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout, done.stderr[-4000:]
    print(done.stdout)
    return json.loads(done.stdout)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_short_storm_breaks_no_promise(database):
    story = storm(database, "--seconds", "5", "--faults", "9", "--redis-down", "1.5")
    assert story["broken"] == []
    assert (story["faults"], story["jobs"] >= story["acknowledged"] > 0) == (9, True)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_kill_repeats_one_job_and_every_execution_is_recorded(database):
    story = storm(database, "--kills", "--seconds", "3", "--faults", "3")
    assert story["broken"] == []
    assert (story["unrecorded"], story["executions"] >= story["complete"] > 0) == (0, True)


@pytest.mark.parametrize(
    "kind, database",
    [
        (["--concurrency", "4"], "postgresql"),
        (["--shared"], "sqlite"),
        pytest.param(["--concurrency", "4"], "sqlite", marks=pytest.mark.soak),
        pytest.param(["--shared"], "postgresql", marks=pytest.mark.soak),
    ],
)
def test_a_kill_of_many_jobs_at_once_repeats_those_that_ran(kind, database):
    story = storm(database, "--kills", "--seconds", "3", "--faults", "3", *kind)
    assert story["broken"] == []
    assert (story["unrecorded"], story["executions"] >= story["complete"] > 0) == (0, True)


@pytest.mark.soak
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("kind", [["--concurrency", "8"], ["--shared"]])
def test_a_long_storm_of_many_jobs_at_once_breaks_no_promise(kind, database):
    story = storm(database, "--seconds", "120", "--faults", "200", *kind)
    assert (story["broken"], story["faults"]) == ([], 200)


@pytest.mark.soak
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_hundred_kills_repeat_one_job_each(database):
    story = storm(database, "--kills", "--seconds", "300", "--faults", "100")
    assert (story["broken"], story["unrecorded"], story["faults"]) == ([], 0, 100)
    assert story["attempts lost"] > 0


@pytest.mark.soak
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_long_storm_breaks_no_promise(database):
    """STORM_SECONDS and STORM_FAULTS set its length."""
    seconds, faults = os.environ.get("STORM_SECONDS", "120"), os.environ.get("STORM_FAULTS", "200")
    story = storm(database, "--seconds", seconds, "--faults", faults)
    assert story["broken"] == []
    assert (story["faults"], story["results refused"] > 0) == (int(faults), True)
