"""Read variables from `.env` beside manage.py, and write `.env.example`.

`python -m atributo_site.config.env_file` makes `.env.example` from the table of variables.
"""

import textwrap
from collections.abc import Mapping
from pathlib import Path

from atributo_site.config.environment import BadEnvironment, Environment
from atributo_site.config.places import BASE_DIR
from atributo_site.config.variables import Variable, variables_of

HEAD = "# Every setting with its default. Copy this file to .env and change what you need.\n"


def with_env_file(environ: Mapping[str, str], path: Path) -> dict[str, str]:
    """Return the variables of the file, overruled by the real environment. Tests never read it."""
    if environ.get("ATRIBUTO_ENV") == "test" or not path.exists():
        return dict(environ)
    return {**_parsed(path), **environ}


def source_of(name: str, environ: Mapping[str, str], path: Path) -> str:
    """Say where the value of a variable comes from: environment, .env or default."""
    if environ.get(name, "").strip():
        return "environment"
    return ".env" if with_env_file(environ, path).get(name, "").strip() else "default"


def _parsed(path: Path) -> dict[str, str]:
    variables = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.removeprefix("export ").partition("=")
        if not equals:
            # Do not quote the line: it may be the second line of a secret.
            raise BadEnvironment(f"{path.name} line {number} must read NAME=value.")
        variables[name.strip()] = value.strip().strip("'\"")
    return variables


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadEnvironment(f"{path} cannot be read: {error}.") from error


def env_example() -> str:
    return "\n".join([HEAD, *(_entry(each) for each in variables_of(Environment).values())])


def _entry(variable: Variable) -> str:
    sentence = textwrap.fill(variable.sentence, 90, initial_indent="# ", subsequent_indent="# ")
    default = variable.default.replace(str(BASE_DIR), ".")
    return f"{sentence}\n#{variable.name}={default}\n"


if __name__ == "__main__":
    (BASE_DIR / ".env.example").write_text(env_example())
