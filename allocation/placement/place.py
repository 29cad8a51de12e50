"""Place a job: choose from the list in memory, and store if that list is still the true one."""

from typing import NamedTuple

from django.db import IntegrityError

from allocation.errors import NoInstances
from allocation.logic.choose import Candidate
from allocation.placement.candidates import (
    Candidates,
    forget_full,
    recently_full,
    remember_full,
)
from allocation.placement.chooser import Chooser
from allocation.storage import Placement, PlacementResult, Store, store
from allocation.storage.locks import roster_lock
from atributo_site.core.events import current_actor

OPTIMISTIC_TRIES = 10  # then lock the list, which changes faster than we can choose


class Allocated(NamedTuple):
    """`persisted` is true for the one call that stored the allocation.

    No call gets true if the database stored it, but its answer was lost and the call repeated.
    """

    instance_id: str
    persisted: bool


Answer = tuple[str, bool]


def place(job_id: str, chooser: Chooser) -> Answer:
    """Return the instance, and whether this call stored it."""
    rows = store(chooser.using)
    asks_caller = chooser.allocator is not None  # who chooses only for jobs without an instance
    existing = rows.find(job_id) if asks_caller else rows.find_likely(job_id)
    if existing is not None:
        return existing, False
    if asks_caller:
        chooser.fresh()
    try:
        return _place(job_id, chooser, rows, recently_full(chooser.using))
    except NoInstances:
        if not forget_full(chooser.using):
            raise
        return _place(job_id, chooser, rows, set())  # perhaps one of them has room again


def _place(job_id: str, chooser: Chooser, rows: Store, full: set[str]) -> Answer:
    for _ in range(OPTIMISTIC_TRIES):
        answer = _attempt(job_id, chooser, rows, chooser.cached(), full)
        if answer is not None:
            return answer
    with roster_lock(chooser.using):
        return _insist(job_id, chooser, rows, full)


def _insist(job_id: str, chooser: Chooser, rows: Store, full: set[str]) -> Answer:
    candidates = chooser.fresh()
    answer = None
    while answer is None:  # each round rules out an instance that has become full
        answer = _attempt(job_id, chooser, rows, candidates, full)
    return answer


def _attempt(
    job_id: str, chooser: Chooser, rows: Store, candidates: Candidates, full: set[str]
) -> Answer | None:
    """Return the answer; None if the list has changed or the chosen instance is full."""
    if all(each.id in full for each in candidates.all):
        return _nowhere(job_id, chooser, rows, candidates, full)
    choice, persist = chooser.choose(job_id, candidates, full)
    if not persist:
        return choice.id, False
    outcome = _store(job_id, choice, chooser, rows, candidates, full)
    if outcome.existing is not None:
        return outcome.existing, False
    if outcome.placed is not None:
        chooser.count(outcome.placed)
        return outcome.placed, True
    if outcome.version != candidates.version:
        full.clear()
        chooser.fresh()
    elif choice.id in candidates.capacities:
        full.add(choice.id)
        remember_full(chooser.using, choice.id, candidates.version)
    return None


def _store(
    job_id: str,
    choice: Candidate,
    chooser: Chooser,
    rows: Store,
    candidates: Candidates,
    full: set[str],
) -> PlacementResult:
    actor = current_actor()
    offered = len(candidates.all)
    if full:
        offered -= sum(each.id in full for each in candidates.all)
    placement = Placement(
        job_id,
        choice.id,
        candidates.version,
        chooser.name,
        offered,
        chooser.score(choice),
        actor.name,
        actor.channel,
        candidates.capacities.get(choice.id),
        chooser.encoded_labels,
    )
    try:
        return rows.place(placement)
    except IntegrityError:  # another process placed the job first
        return PlacementResult(rows.find(job_id), None, candidates.version)


def _nowhere(
    job_id: str, chooser: Chooser, rows: Store, candidates: Candidates, full: set[str]
) -> Answer | None:
    existing = rows.find(job_id)
    if existing is not None:
        return existing, False
    if chooser.fresh().version != candidates.version:
        full.clear()
        return None
    raise chooser.nowhere(job_id, len(full & candidates.capacities.keys()))
