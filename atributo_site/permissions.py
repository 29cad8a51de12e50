"""Say who may do what in one table, for screens, REST, templates, commands and tests."""

from enum import StrEnum
from typing import Any

APP_LABEL = "atributo_site"


class Level(StrEnum):
    """List the three permissions; a role has its own and the ones before it."""

    VIEW = "view"
    OPERATE = "operate"
    ADMINISTER = "administer"


ROLES = {
    "viewer": [Level.VIEW],
    "operator": [Level.VIEW, Level.OPERATE],
    "admin": [Level.VIEW, Level.OPERATE, Level.ADMINISTER],
}

ACTIONS = {
    "overview.view": Level.VIEW,
    "docs.view": Level.VIEW,
    "incident.view": Level.VIEW,
    "incident.acknowledge": Level.OPERATE,
    "event.view": Level.VIEW,
    "lease.view": Level.VIEW,
    "schema.view": Level.VIEW,
    "snapshot.view": Level.VIEW,
    "metrics.view": Level.VIEW,
    "system.view": Level.VIEW,
    "me.view": Level.VIEW,
    "token.own": Level.VIEW,
    "queue.view": Level.VIEW,
    "queue.operate": Level.OPERATE,
    "queue.administer": Level.ADMINISTER,
    "job.view": Level.VIEW,
    "job.push": Level.OPERATE,
    "job.operate": Level.OPERATE,
    "schedule.view": Level.VIEW,
    "schedule.operate": Level.OPERATE,
    "operation.view": Level.VIEW,
    "operation.operate": Level.OPERATE,
    "service.view": Level.VIEW,
    "service.administer": Level.ADMINISTER,  # installing a service runs its code
    "script.run": Level.OPERATE,
    "user.administer": Level.ADMINISTER,
    "instance.view": Level.VIEW,
    "instance.operate": Level.OPERATE,
    "instance.remove": Level.OPERATE,
    "allocation.view": Level.VIEW,
    "allocation.operate": Level.OPERATE,
    "job_id.view": Level.VIEW,
    "job_id.make": Level.OPERATE,
    "document.view": Level.VIEW,
    "document.secrets": Level.OPERATE,  # to write a value back one must have read all of it
    "document.change": Level.OPERATE,
    "document.drop": Level.ADMINISTER,
    "transaction.view": Level.VIEW,
    "transaction.operate": Level.OPERATE,
    "transaction.end": Level.ADMINISTER,  # other people may be working in it
    "lock.view": Level.VIEW,
    "lock.release": Level.ADMINISTER,  # it ends the transaction of its holder
    "curator.view": Level.VIEW,
    "curator.hand_over": Level.OPERATE,
    "pool.view": Level.VIEW,
    "pool.operate": Level.OPERATE,
    "pool.change": Level.ADMINISTER,
    "dns.look_up": Level.OPERATE,
}


def may(user: Any, action: str) -> bool:
    """Raise KeyError for an action that the table lacks: a missing entry must be noticed."""
    return holds(user, ACTIONS[action])


def holds(user: Any, level: Level) -> bool:
    return user.is_active and user.has_perm(f"{APP_LABEL}.{level.value}")


NO_ROLE = "You are logged in, but have no role yet: ask an administrator for one."


def role_of(user: Any) -> str:
    """Return the highest role of the user."""
    for role, levels in reversed(ROLES.items()):
        if user.is_active and user.has_perm(f"{APP_LABEL}.{levels[-1].value}"):
            return role
    return "no role"
