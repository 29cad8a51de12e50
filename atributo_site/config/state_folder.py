"""Make the state folder for its owner alone, and in it the key that signs sessions."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from atributo_site.config.environment import BadEnvironment


def made(path: Path) -> Path:
    """Make the folder, and the one of static files, which a web server reads first."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (path / "static").mkdir(exist_ok=True)
    except OSError as error:
        raise unusable(error) from error
    return path


def check_writable(path: Path) -> None:
    """Raise BadEnvironment if files cannot be kept here; a web server alone can do without."""
    for folder in (path, path / "log", path / "valkey"):
        if folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
            raise BadEnvironment(f"ATRIBUTO_VAR_DIR: {folder} is not a writable folder.")


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
    """Write the key once: if processes start together, one key wins and none reads half of it."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(50))
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
