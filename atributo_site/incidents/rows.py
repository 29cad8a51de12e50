"""Open, resolve and acknowledge incidents; each change is one conditional UPDATE or INSERT."""

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError
from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.errors import AtributoError
from atributo_site.core.events import current_actor, record
from atributo_site.core.incidents.symptom import Symptom
from atributo_site.core.models.clock import from_now
from atributo_site.models import LONGEST_NOTE, Incident

SAME_SECONDS = 600  # what comes back sooner is the same incident once more
SEEN_SECONDS = 15  # between two notes that it was seen
COLUMNS = ("severity", "title", "detail", "command", "affected")


class IncidentNotFound(AtributoError):
    status_code = 404
    code = "incident_not_found"


class IncidentNotOpen(AtributoError):
    """It is resolved, or somebody has acknowledged it already."""

    status_code = 409
    code = "incident_not_open"


class BadNote(AtributoError):
    status_code = 400
    code = "bad_note"


def settle(symptoms: Iterable[Symptom]) -> None:
    """Make the rows say what the symptoms say; the caller's transaction holds the lease."""
    present = {each.key: each for each in symptoms}
    rows = {row.key: row for row in Incident.objects.unresolved()}
    for key, symptom in present.items():
        if key in rows:
            _follow(rows[key], symptom)
        else:
            open_incident(symptom)
    seen = [row.pk for key, row in rows.items() if key in present]
    still = Incident.objects.unresolved().filter(pk__in=seen)
    still.filter(last_seen_at__lt=from_now(-SEEN_SECONDS)).update(last_seen_at=Now())
    cut = {each.kind for each in present.values() if each.is_cut}
    for key, row in rows.items():
        if key not in present and row.kind not in cut:  # of these, some are not listed
            resolve(row.pk)


def open_incident(symptom: Symptom) -> bool:
    """Return True for exactly one caller, while none of this key is open."""
    try:
        with atomic():
            row = _come_back(symptom) or Incident.objects.create(
                kind=symptom.key[0], subject=symptom.key[1], **_words(symptom)
            )
    except IntegrityError:  # another process opened it first
        return False
    _record("opened", row, severity=row.severity, title=row.title, count=row.count)
    return True


def _come_back(symptom: Symptom) -> Incident | None:
    """Open the last one of its key again if that ended a moment ago, so that few rows tell it."""
    kind, subject = symptom.key
    same = Incident.objects.filter(kind=kind, subject=subject)
    recent = same.filter(resolved_at__gt=from_now(-SAME_SECONDS))
    last = recent.order_by("-pk").values_list("pk", flat=True).first()
    again = {"resolved_at": None, "last_seen_at": Now(), "count": F("count") + 1}
    if last is None or not recent.filter(pk=last).update(**again, **_words(symptom)):
        return None
    return Incident.objects.get(pk=last)


def _follow(row: Incident, symptom: Symptom) -> None:
    words = _words(symptom)
    if any(getattr(row, name) != words[name] for name in (*COLUMNS, "cure")):
        Incident.objects.unresolved().filter(pk=row.pk).update(**words)


def _words(symptom: Symptom) -> dict[str, Any]:
    texts = {name: str(getattr(symptom, name)) for name in COLUMNS}
    longest = {each.name: each.max_length for each in Incident._meta.fields}
    return {
        **{name: text.replace("\x00", "")[: longest[name]] for name, text in texts.items()},
        "since": symptom.since,
        "cure": symptom.cure.stored() if symptom.cure else {},
    }


def resolve(pk: int) -> bool:
    """Return True for exactly one caller."""
    with atomic():
        ended = Incident.objects.unresolved().filter(pk=pk).update(resolved_at=Now()) == 1
        if ended:
            row = Incident.objects.get(pk=pk)
            _record("resolved", row, title=row.title)
    return ended


def acknowledge(pk: int, note: str = "") -> Incident:
    """Note who looks after it; the incident stays until its cause is gone."""
    note = note.strip()
    if len(note) > LONGEST_NOTE or "\x00" in note:
        raise BadNote(f"A note has at most {LONGEST_NOTE} characters, and none of them is NUL.")
    who = current_actor().name
    with atomic():
        mine = Incident.objects.unacknowledged().filter(pk=pk)
        changed = mine.update(acknowledged_by=who, acknowledged_at=Now(), note=note)
        row = incident_or_404(pk)
        if not changed:
            raise IncidentNotOpen(_why_not(row))
        _record("acknowledged", row, title=row.title, note=note)
    return row


def incident_or_404(pk: int) -> Incident:
    row = Incident.objects.filter(pk=pk).first()
    if row is None:
        raise IncidentNotFound(f"There is no incident {pk}.")
    return row


def _why_not(row: Incident) -> str:
    if row.resolved_at is not None:
        return f"Incident {row.pk} is resolved."
    return f"{row.acknowledged_by} has acknowledged incident {row.pk} already."


def _record(verb: str, row: Incident, **facts: Any) -> None:
    record(f"incident.{verb}", f"incident:{row.pk}", kind_of=row.kind, about=row.subject, **facts)
