"""Search jobs by state and by what was typed, within a bounded number of rows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from queues.logic.search_query import Term, parsed
from queues.models import QueuedJob, Script
from queues.models.job import STICKY_WAITING
from queues.queries.presenters import masked_by_schema
from queues.queries.running import belongs_to, few_wait_for
from queues.queries.states import BEGUN_AS, PENDING, in_state, with_ids
from queues.sql.states import INDEXED, NARROW

LOOKED_THROUGH = 10_000  # jobs, newest first, for what no index answers
MOST_DATA = 1_000  # jobs whose data is looked at for a text

Period = tuple[datetime | None, datetime | None]  # from the first up to the second


@dataclass(frozen=True)
class Found:
    """Matching jobs; those older than `floor` were not looked at."""

    jobs: Any
    floor: int | None


def search(
    text: str = "",
    *,
    state: str = "",
    fingerprint: str = "",
    newest: int | None = None,
    ended: Period | None = None,
    now: datetime,
) -> Found:
    """Search jobs, in any order; `newest` leaves out what came later."""
    terms = list(dict.fromkeys(parsed(text)))  # the same word again finds no other jobs
    narrow = bool(fingerprint) or any(_names_script(term) for term in terms)
    conditions = NARROW if narrow else INDEXED
    jobs = in_state(QueuedJob.objects.visible(), state, now, conditions)
    if ended is not None:
        jobs = _ended_in(jobs, ended, newest)
    if newest is not None:
        jobs = jobs.filter(pk__lte=newest)
    if fingerprint:
        jobs = jobs.filter(fingerprint=fingerprint).extra(where=[NARROW["failed"]])  # nosec B610 # a constant condition
    floor = None
    if state in PENDING and _few_wait(terms):
        jobs = jobs.extra(where=[STICKY_WAITING])  # nosec B610 # a constant condition
    elif not answered_by_index(text):
        floor, top = _window(state, newest, now)
        jobs = jobs.filter(pk__range=(floor or 0, top))
        if state in BEGUN_AS and ended is None and connection.vendor == "postgresql":
            jobs = with_ids(jobs, _newest_of(state, top))
    jobs = jobs.filter(*(_condition(term, state) for term in terms))  # at once: each copies all
    looked_into = [term for term in terms if term.name == "data"]
    return Found(_with_data(jobs, looked_into) if looked_into else jobs, floor)


def answered_by_index(text: str) -> bool:
    """Return whether every job can be looked at; else only the newest are."""
    return all(_indexed(term) for term in parsed(text))


def _ended_in(jobs: Any, period: Period, newest: int | None) -> Any:
    """Select the jobs that ended last in this span."""
    since, until = period
    ended = QueuedJob.objects.filter(ended_at__isnull=False)
    if newest is not None:
        ended = ended.filter(pk__lte=newest)
    if since is not None:
        ended = ended.filter(ended_at__gte=since)
    if until is not None:
        ended = ended.filter(ended_at__lt=until)
    return with_ids(jobs, ended.order_by("-ended_at").values("pk")[:LOOKED_THROUGH])


def _window(state: str, newest: int | None, now: datetime) -> tuple[int | None, int]:
    """Return the oldest job that is looked at, unless all are, and the newest of that state."""
    jobs = in_state(QueuedJob.objects.visible(), state, now)
    if newest is not None:
        jobs = jobs.filter(pk__lte=newest)
    ids = jobs.order_by("-pk").values_list("pk", flat=True)
    beyond = next(iter(ids[LOOKED_THROUGH : LOOKED_THROUGH + 1]), None)
    return beyond, next(iter(ids[:1]), 0)


def _few_wait(terms: Sequence[Term]) -> bool:
    """Return whether an index gives all jobs that wait for the instance in question."""
    asked = [term.value for term in terms if term.name == "instance"]
    return bool(asked) and few_wait_for(asked[0], LOOKED_THROUGH)


def _newest_of(state: str, top: int) -> Any:
    """Return their keys: any number of other jobs may stand between those of one state."""
    jobs = QueuedJob.objects.visible().filter(**BEGUN_AS[state], pk__lte=top)
    return jobs.order_by("-pk").values("pk")[:LOOKED_THROUGH]


def _indexed(term: Term) -> bool:
    return term.name == "id" or _names_script(term)


def _names_script(term: Term) -> bool:
    return term.name == "script" and "/" in term.value


def _condition(term: Term, state: str) -> Q:
    value = term.value
    if term.name == "id" or (not term.name and value.isascii() and value.isdigit()):
        return _id(value)
    if term.name == "queue":
        return Q(queue__name=value)
    if term.name == "script":
        mount, slash, name = value.rpartition("/")
        return Q(mount=mount, script=name) if slash else Q(script=value)
    if term.name == "error":
        return Q(error__icontains=value)
    if term.name == "sticky":
        return Q(sticky_key=value)
    if term.name == "flow":
        return Q(flow_key=value)
    if term.name == "instance":
        return Q(routed_to=value) if state in PENDING else belongs_to(value)
    if term.name == "by":
        return Q(pushed_by=value)
    if term.name == "data":
        return Q()  # see _with_data
    return Q(error__icontains=value) | Q(script__icontains=value) | Q(queue__name__icontains=value)


def _id(text: str) -> Q:
    known = text.isascii() and text.isdigit() and len(text) < 19
    return Q(pk=int(text)) if known else Q(pk__in=[])


def _with_data(jobs: Any, terms: Sequence[Term]) -> Any:
    """Search the data in the database, and leave out matches in what is masked on every page."""
    likely = jobs.annotate(data_text=Cast("data", TextField()))
    for term in terms:
        escaped = json.dumps(term.value, ensure_ascii=False)[1:-1]
        likely = likely.filter(data_text__icontains=escaped)
    rows = list(likely.order_by("-pk").values_list("pk", "mount", "script", "data")[:MOST_DATA])
    schemas = schemas_of({(mount, script) for _, mount, script, _ in rows})
    ids = [
        pk
        for pk, mount, script, data in rows
        if all(_holds(masked_by_schema(data, schemas.get((mount, script))), term) for term in terms)
    ]
    return jobs.filter(pk__in=ids)


def schemas_of(names: set[tuple[str, str]]) -> dict[tuple[str, str], Any]:
    """Return the schema of each installed script, by mount and name."""
    mounts = {mount for mount, _ in names}
    rows = Script.objects.filter(service__mount__in=mounts)
    return {
        (mount, name): schema
        for mount, name, schema in rows.values_list("service__mount", "name", "schema")
    }


def _holds(data: Any, term: Term) -> bool:
    for key in term.path:
        if isinstance(data, list) and key.isascii() and key.isdigit() and int(key) < len(data):
            data = data[int(key)]
        elif isinstance(data, dict) and key in data:
            data = data[key]
        else:
            return False
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return term.value.lower() in text.lower()
