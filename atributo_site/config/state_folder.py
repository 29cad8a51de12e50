"""The folder of all state: made for its owner alone, or refused with one sentence.

The key that signs sessions, made once and kept in the state folder.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from atributo_site.config.environment import BadEnvironment


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


def kept_in(var_dir: Path) -> str:
    path = var_dir / "secret_key"
    try:
        if not path.exists():
            _make(path)
        key = path.read_text()
    except OSError as error:
        raise unusable(error) from error
    if not key:
        raise BadEnvironment(f"{path} is empty: remove it, and a new key is made.")
    return key


def _make(path: Path) -> None:
    """Of processes that start at once exactly one key wins, and none is read half-written."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(50))
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
