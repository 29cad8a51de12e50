"""The key that signs sessions, made once and kept in the state folder."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from atributo_site.environment import BadEnvironment
from atributo_site.state_folder import unusable


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
