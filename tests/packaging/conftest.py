"""Build the wheel and install it once for all processes of a run."""

import fcntl
import os

import pytest

from tests.packaging.environment import Environment


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Environment:
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    environment = Environment(folder / "installed")
    with (folder / "installed.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first makes it, the others wait
        made = folder / "installed.made"
        if not made.exists():
            environment.make()
            made.touch()
    return environment
