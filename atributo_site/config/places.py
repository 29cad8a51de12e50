"""Where our own files lie: beside manage.py in a checkout, inside this package once installed."""

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
BASE_DIR = PACKAGE.parent
IS_CHECKOUT = (BASE_DIR / "manage.py").is_file() and (BASE_DIR / "templates").is_dir()

TEMPLATES = BASE_DIR / "templates" if IS_CHECKOUT else PACKAGE / "templates" / "atributo"
SERVICES = BASE_DIR / "services" if IS_CHECKOUT else PACKAGE / "demo" / "services"


def state_folder() -> Path:
    """Return where state is kept unless ATRIBUTO_VAR_DIR says otherwise."""
    if IS_CHECKOUT:
        return BASE_DIR / "var"
    folder = os.environ.get("XDG_STATE_HOME", "")
    kept = Path(folder) if folder.startswith("/") else Path("~/.local/state").expanduser()
    return kept / "atributo"


def env_file() -> Path:
    """Return the file of variables: never one of the folder that somebody happens to be in."""
    if IS_CHECKOUT:
        return BASE_DIR / ".env"
    return Path(os.environ.get("ATRIBUTO_VAR_DIR") or state_folder()) / ".env"


def command_line(*words: str) -> list[str]:
    """Return how this installation starts one of its commands in another process.

    With -P the folder that somebody happens to be in is not searched for modules.
    """
    start = [str(BASE_DIR / "manage.py")] if IS_CHECKOUT else ["-P", "-m", "atributo_site"]
    return [sys.executable, *start, *words]
