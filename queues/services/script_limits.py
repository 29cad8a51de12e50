"""Limits of a script that a person sets at run time. An upgrade keeps them and names conflicts."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.events import current_actor, record
from queues.errors import BadService, ScriptNotFound
from queues.flow import flows
from queues.logic.flow.limits import BadLimit, parsed, stored
from queues.models import Catalogue, Queue, Script
from queues.runs.stations import ring_queue


def set_limits(mount: str, name: str, limits: Any) -> bool:
    """Set the limits of a script; [] ends them, None goes back to those of its manifest.

    What waits already waits for the new limits. False when nothing changed.
    """
    wanted = _read(limits)
    with atomic():
        script = _locked(mount, name)
        declared = script.declared_limits if script.limits_by else script.limits
        value = declared if limits is None else wanted
        by = "" if value == declared else current_actor().name or "somebody"
        if script.limits == value and bool(script.limits_by) == bool(by):
            return False
        kept = {"limits_by": by, "declared_limits": declared if by else None}
        Script.objects.filter(pk=script.pk).update(limits=value, limits_at=Now(), **kept)
        Catalogue.objects.changed()
        record("script.changed", f"service:{mount}", script=name, limits=value or [])
    after_commit(partial(_look_again, mount, name))
    return True


def carried_over(old: Iterable[Script], new: Iterable[Script]) -> dict[str, list[str]]:
    """Let new scripts keep limits that a person has set; return facts for the event."""
    before = {script.name: script for script in old if script.limits_by}
    conflicts = [each.name for each in new if each.name in before and each.keep(before[each.name])]
    return {"limits_in_conflict": conflicts} if conflicts else {}


def _read(limits: Any) -> list[dict[str, Any]] | None:
    try:
        return stored(parsed(limits))
    except BadLimit as error:
        raise BadService(str(error), errors=[str(error)]) from error


def _locked(mount: str, name: str) -> Script:
    rows = Script.objects.select_for_update(of=("self",))
    script = rows.filter(service__mount=mount, name=name).first()
    if script is None:
        raise ScriptNotFound(f"there is no script {name} at {mount}", script=name, mount=mount)
    return script


def _look_again(mount: str, name: str) -> None:
    """Wake what waits in flows of the script; other jobs find their flow when they are reserved."""
    queues = Queue.objects.existing().filter(flows__mount=mount, flows__script=name).distinct()
    for queue_id, queue in queues.values_list("pk", "name"):
        flows.wake_all(queue_id)
        ring_queue(queue_id, queue)
