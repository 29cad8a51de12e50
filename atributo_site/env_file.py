"""`.env` beside manage.py: variables for people who do not export them."""

from collections.abc import Mapping
from pathlib import Path

from atributo_site.environment import BadEnvironment


def with_env_file(environ: Mapping[str, str], path: Path) -> dict[str, str]:
    """What the file says, overruled by the real environment. Tests never read it."""
    if environ.get("ATRIBUTO_ENV") == "test" or not path.exists():
        return dict(environ)
    return {**_parsed(path), **environ}


def source_of(name: str, environ: Mapping[str, str], path: Path) -> str:
    """environment, .env or default: where the value of a variable comes from."""
    if environ.get(name, "").strip():
        return "environment"
    return ".env" if with_env_file(environ, path).get(name, "").strip() else "default"


def _parsed(path: Path) -> dict[str, str]:
    found = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.removeprefix("export ").partition("=")
        if not equals:
            # Not what stands there: it may be the second line of a secret.
            raise BadEnvironment(f"{path.name} line {number} must read NAME=value.")
        found[name.strip()] = value.strip().strip("'\"")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadEnvironment(f"{path} cannot be read: {error}.") from error
