"""Find out what to type before a command so that it reaches this site from any folder."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from shutil import which

NAME = "atributo"
OF_A_PROJECT = "manage.py"  # where nothing is installed: inside a Django project
# A command without them would reach another site. Addresses with passwords are never written.
PASSED_ON = ("ATRIBUTO_VAR_DIR", "ATRIBUTO_SERVICE_ROOTS")


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
