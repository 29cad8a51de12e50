"""`.env` beside manage.py: variables for people who do not export them."""

from collections.abc import Mapping
from pathlib import Path

from atributo_site.environment import BadEnvironment


def with_env_file(environ: Mapping[str, str], path: Path) -> dict[str, str]:
    """What the file says, overruled by the real environment. Tests never read it."""
    if environ.get("ATRIBUTO_ENV") == "test" or not path.exists():
        return dict(environ)
    return {**_parsed(path), **environ}


def _parsed(path: Path) -> dict[str, str]:
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise BadEnvironment(f"{path.name} line {number} must read NAME=value, not {text!r}.")
        found[name.strip()] = value.strip().strip("'\"")
    return found
