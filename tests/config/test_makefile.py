"""`make` copes with a machine where something is missing; a script replaces Python."""

import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"
WORKS = 'case "$*" in "-m venv .venv") touch .venv/bin/pip;; esac'
TOO_OLD = 'case "$*" in *version_info*) exit 1;; esac'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a clone in which the making of .venv was interrupted."""
    shutil.copy(MAKEFILE, tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    return tmp_path


def make(folder: Path, target: str, python: str) -> subprocess.CompletedProcess[str]:
    stand_in = folder / "python"
    stand_in.write_text(f"#!/bin/sh\n{python}\n")
    stand_in.chmod(0o755)
    command = ["make", "--silent", target, f"PYTHON={stand_in}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_an_interrupted_environment_is_made_again(folder):
    assert make(folder, ".venv/bin/pip", WORKS).returncode == 0
    assert (folder / ".venv" / "bin" / "pip").exists()


def test_an_old_python_is_said_and_nothing_is_removed(folder):
    ended = make(folder, ".venv/bin/pip", TOO_OLD)
    assert ended.returncode == 2
    assert ended.stderr.startswith("Atributo needs Python 3.11 or newer")
    assert (folder / ".venv" / "bin" / "python").exists()
