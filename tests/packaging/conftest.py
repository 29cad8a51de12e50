"""Build the wheels and install them once for all processes of a run."""

import fcntl
import os
from pathlib import Path

import pytest

from tests.packaging.environment import ROOT, Environment


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Environment:
    return made_once(tmp_path_factory, "installed", ROOT)


@pytest.fixture(scope="session")
def client_alone(tmp_path_factory) -> Environment:
    """The client's wheel, without the site."""
    return made_once(tmp_path_factory, "client", ROOT / "clients" / "python")


def made_once(tmp_path_factory, name: str, source: Path) -> Environment:
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    environment = Environment(folder / name)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first makes it, the others wait
        made = folder / f"{name}.made"
        if not made.exists():
            environment.make(source)
            made.touch()
    return environment
