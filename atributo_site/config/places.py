"""Where our own files lie, and what to type before a command so that it reaches this site.

The files lie beside manage.py in a checkout, and inside this package once installed.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from shutil import which

PACKAGE = Path(__file__).resolve().parents[1]
BASE_DIR = PACKAGE.parent
IS_CHECKOUT = (BASE_DIR / "manage.py").is_file() and (BASE_DIR / "templates").is_dir()

TEMPLATES = BASE_DIR / "templates" if IS_CHECKOUT else PACKAGE / "templates" / "atributo"
# Only engines that name these libraries know them: a project has a `console` of its own, perhaps.
TEMPLATE_TAGS = {
    path.stem: f"atributo_site.template_tags.{path.stem}"
    for path in (PACKAGE / "template_tags").glob("[a-z]*.py")
}
SERVICES = BASE_DIR / "services" if IS_CHECKOUT else PACKAGE / "demo" / "services"

NAME = "atributo"
OF_A_PROJECT = "manage.py"  # where nothing is installed: inside a Django project
# A command without them would reach another site. Addresses with passwords are never written.
PASSED_ON = ("ATRIBUTO_VAR_DIR", "ATRIBUTO_SERVICE_ROOTS")


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


def program(command: str, environ: Mapping[str, str], base: Path, executable: str) -> str:
    """Return `command` if the operator has named one, else what runs the commands of this site.

    That is `bin/atributo` of a checkout or the script that pip installed, by its name alone if
    the shell finds it by that. Variables that this process was given and that decide which site
    a command means stand before it.
    """
    if command:
        return command
    own = _own(base, Path(executable))
    if own is None:
        return OF_A_PROJECT
    found = which(NAME, path=environ.get("PATH", ""))
    is_found = found is not None and Path(found).resolve() == own.resolve()
    given = [f"{name}={quote(environ[name])}" for name in PASSED_ON if environ.get(name)]
    return " ".join([*given, NAME if is_found else quote(str(own))])


def _own(base: Path, executable: Path) -> Path | None:
    places = (base / "bin" / NAME, executable.parent / NAME)
    return next((place for place in places if place.is_file()), None)
