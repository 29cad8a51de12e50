"""Who curates: the active one, those on standby, and a hand-over on demand."""

from datetime import datetime
from typing import Any

from allocation.errors import AtributoError
from allocation.events import record
from allocation.models import Lease
from allocation.transactions.operators import checked_reason

ROLE = "curator"


class NobodyIsActive(AtributoError):
    status_code = 409
    code = "nobody_is_active"


def curators(now: datetime) -> list[dict[str, Any]]:
    """Every curator that runs, the active one marked."""
    active = Lease.objects.held().filter(role=ROLE).first()
    running = Lease.objects.held().filter(role__startswith=f"{ROLE}/")
    name = active.facts.get("name", active.holder) if active else None
    names = {lease.role.removeprefix(f"{ROLE}/"): lease for lease in running[:200]}
    shown = [_shown(each, lease, each == name, now) for each, lease in names.items()]
    if active is not None and name not in names:
        shown.insert(0, _shown(str(name), active, True, now))
    return [{**row, **_epoch(active)} if row["active"] and active else row for row in shown]


def hand_over(reason: str) -> None:
    """Take the role from the active curator; the first standby that looks gets it."""
    reason = checked_reason(reason)
    active = Lease.objects.held().filter(role=ROLE).first()
    if active is None or not Lease.objects.release(ROLE, active.token):
        raise NobodyIsActive("no curator is active")
    name = active.facts.get("name", active.holder)
    record("curator.handed_over", f"curator:{name}", reason=reason, epoch=active.token)


def _shown(name: str, lease: Lease, active: bool, now: datetime) -> dict[str, Any]:
    beat = lease.renewed_at
    return {
        "name": name,
        "active": active,
        "epoch": None,
        "since": lease.acquired_at,
        "heartbeat_age_seconds": None if beat is None else max(0.0, (now - beat).total_seconds()),
        "repaired": lease.facts.get("repaired", {}),
    }


def _epoch(active: Lease) -> dict[str, Any]:
    return {"epoch": active.token, "since": active.acquired_at}
