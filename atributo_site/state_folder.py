"""The folder of all state: made for its owner alone, or refused with one sentence."""

import os
from pathlib import Path

from atributo_site.environment import BadEnvironment


def made(path: Path) -> Path:
    """The folder and the one of static files, which a web server reads before anything else."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (path / "static").mkdir(exist_ok=True)
    except OSError as error:
        raise unusable(error) from error
    return path


def check_writable(path: Path) -> None:
    """For whoever keeps files in it; a web server alone can do without."""
    for folder in (path, path / "log", path / "valkey"):
        if folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
            raise BadEnvironment(f"ATRIBUTO_VAR_DIR: {folder} is no folder to write in.")


def unusable(error: OSError) -> BadEnvironment:
    where = error.filename or "the folder"
    return BadEnvironment(f"ATRIBUTO_VAR_DIR: {where} cannot be used: {error.strerror}.")
