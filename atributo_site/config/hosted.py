"""Settings inside somebody else's project: `ATRIBUTO = {...}`, overruled by the environment.

Nothing has to be set. A value that cannot be used becomes its default, and a system check names
it: a project does not stop because of us.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from atributo_site.config.conflicts import working_together
from atributo_site.config.environment import Environment
from atributo_site.config.variables import parse_all, variables_of

# What the project itself decides, whatever variables of these names are for.
OF_THE_PROJECT = {
    "DATABASE_URL",
    "ATRIBUTO_SECRET_KEY",
    "ATRIBUTO_OLD_SECRET_KEY",
    "ATRIBUTO_ALLOWED_HOSTS",
    "ATRIBUTO_TRUSTED_ORIGINS",
    "ATRIBUTO_HSTS_SUBDOMAINS",
    "ATRIBUTO_LOG_LEVEL",
}


@dataclass(frozen=True, repr=False)
class HostedEnvironment(Environment):
    """The settings of a project that has its own users, database, log-in and log."""

    is_hosted: ClassVar[bool] = True

    def __repr__(self) -> str:
        """Show no value: a page of Django's DEBUG mode prints all settings, passwords included."""
        return "<settings of Atributo>"


def read_hosted(
    given: Any, environ: Mapping[str, str], rq_queues: Any, *, debug: bool
) -> tuple[HostedEnvironment, list[str]]:
    """Return the settings, and a sentence for each value that cannot be used."""
    texts, refusals = _texts(given)
    defaults = {"ATRIBUTO_ENV": "local" if debug else "production", **_redis_of(rq_queues)}
    known = {each.name for each in variables_of(Environment).values()} - OF_THE_PROJECT
    named = {name: text for name, text in environ.items() if name in known and text.strip()}
    values, refused = parse_all(Environment, {**defaults, **texts, **named})
    usual, _ = parse_all(Environment, defaults)
    found = HostedEnvironment(**{**usual, **values})
    if clashes := working_together(found):
        found = HostedEnvironment(**{**usual, "redis_url": found.redis_url})
    return found, [*refusals, *refused, *clashes]


def _texts(given: Any) -> tuple[dict[str, str], list[str]]:
    """Return the project's values as the environment would have them."""
    if not isinstance(given, Mapping):
        return {}, ["ATRIBUTO must be a dict of settings."]
    known = {each.name for each in variables_of(Environment).values()}
    texts = {str(name): _text(value) for name, value in given.items()}
    refusals = [f"ATRIBUTO['{name}'] is not one of our settings." for name in texts.keys() - known]
    own = sorted(texts.keys() & OF_THE_PROJECT)
    refusals += [f"ATRIBUTO['{name}'] is decided by the project's own settings." for name in own]
    kept = known - OF_THE_PROJECT
    return {name: text for name, text in texts.items() if name in kept}, sorted(refusals)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _redis_of(rq_queues: Any) -> dict[str, str]:
    """Return the Redis of the project's django-rq, if it has one."""
    queues = rq_queues if isinstance(rq_queues, Mapping) else {}
    entry = queues.get("atributo-bells") or queues.get("default")
    if not isinstance(entry, Mapping):
        return {}
    if "URL" in entry:
        return {"REDIS_URL": str(entry["URL"])}
    if "UNIX_SOCKET_PATH" in entry:
        return {"REDIS_URL": f"unix://{entry['UNIX_SOCKET_PATH']}?db={entry.get('DB', 0)}"}
    if "HOST" not in entry:
        return {}
    scheme = "rediss" if entry.get("SSL") else "redis"
    return {
        "REDIS_URL": f"{scheme}://{_credentials(entry)}{entry['HOST']}:{entry.get('PORT', 6379)}"
        f"/{entry.get('DB', 0)}"
    }


def _credentials(entry: Mapping[str, Any]) -> str:
    name, password = (str(entry.get(key) or "") for key in ("USERNAME", "PASSWORD"))
    return f"{quote(name, safe='')}:{quote(password, safe='')}@" if name or password else ""
