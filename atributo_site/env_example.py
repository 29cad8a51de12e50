"""`.env.example`, made from the table of variables: `python -m atributo_site.env_example`."""

import textwrap

from atributo_site.environment import BASE_DIR, Environment
from atributo_site.variables import Variable, variables_of

HEAD = "# Every setting with its default. Copy this file to .env and change what you need.\n"


def env_example() -> str:
    return "\n".join([HEAD, *(_entry(each) for each in variables_of(Environment).values())])


def _entry(variable: Variable) -> str:
    sentence = textwrap.fill(variable.sentence, 90, initial_indent="# ", subsequent_indent="# ")
    default = variable.default.replace(str(BASE_DIR), ".")
    return f"{sentence}\n#{variable.name}={default}\n"


if __name__ == "__main__":
    (BASE_DIR / ".env.example").write_text(env_example())
