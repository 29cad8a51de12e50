"""Place many jobs in one transaction and a constant number of statements."""

from functools import partial

from allocation.logic.choose import NO_LOADS, STRATEGIES
from allocation.placement.candidates import (
    Candidates,
    CandidatesWithRoom,
    Loads,
    read_loads,
)
from allocation.placement.chooser import Chooser
from allocation.placement.place import OPTIMISTIC_TRIES, Answer
from allocation.storage import Placements, store
from allocation.storage.locks import roster_lock
from atributo_site.core.events import current_actor
from atributo_site.core.retry import retry_busy

Chosen = list[tuple[str, str, float | None]]


def place_many(job_ids: list[str], chooser: Chooser) -> dict[str, Answer]:
    """Return the instance of every job, and whether this call stored it."""
    answers: dict[str, Answer] = {}
    for way in (_from_memory, *[_anew] * (OPTIMISTIC_TRIES - 1), _alone):
        rest = [job_id for job_id in job_ids if job_id not in answers]
        answers |= retry_busy(partial(way, rest, chooser), chooser.using, repeatable=True)
        if len(answers) == len(job_ids):
            return answers
    raise AssertionError("who is alone meets nobody who places jobs meanwhile")


def _from_memory(job_ids: list[str], chooser: Chooser) -> dict[str, Answer]:
    return _beside_others(job_ids, chooser, chooser.cached())


def _anew(job_ids: list[str], chooser: Chooser) -> dict[str, Answer]:
    return _beside_others(job_ids, chooser, chooser.fresh())


def _beside_others(
    job_ids: list[str], chooser: Chooser, candidates: Candidates
) -> dict[str, Answer]:
    if candidates.capacities:  # room for many can only be counted under the lock
        return _alone(job_ids, chooser)
    return _attempt(job_ids, chooser, candidates)


def _alone(job_ids: list[str], chooser: Chooser) -> dict[str, Answer]:
    with roster_lock(chooser.using):
        return _attempt(job_ids, chooser, chooser.fresh())


def _attempt(job_ids: list[str], chooser: Chooser, candidates: Candidates) -> dict[str, Answer]:
    """Place those that nobody placed meanwhile; none at all if the list has changed."""
    rows = store(chooser.using)
    by_hand = chooser.allocator is not None or candidates.capacities or not candidates.all
    existing = rows.find_many(job_ids) if by_hand else {}
    wanted = [job_id for job_id in job_ids if job_id not in existing]
    if not candidates.all and wanted:
        if chooser.fresh().version != candidates.version:
            return {}
        raise chooser.nowhere(wanted[0], 0)
    chosen, passing = _choose(wanted, chooser, candidates)
    old, new = rows.place_many(_placements(chosen, chooser, candidates))
    not_stored = {**existing, **passing, **old}
    answers = {job_id: (instance_id, False) for job_id, instance_id in not_stored.items()}
    answers.update((job_id, (instance_id, True)) for job_id, instance_id in new.items())
    return answers


def _choose(
    job_ids: list[str], chooser: Chooser, candidates: Candidates
) -> tuple[Chosen, dict[str, str]]:
    """Return what to store, and the answers that are not to be stored."""
    if chooser.by_id_alone and not candidates.capacities:
        choose = STRATEGIES[chooser.strategy]
        return [
            (job_id, choose(job_id, candidates.all, NO_LOADS).id, None) for job_id in job_ids
        ], {}
    chosen: Chosen = []
    passing: dict[str, str] = {}
    room = room_of(candidates, chooser.using)
    with_room = CandidatesWithRoom(candidates, room)
    chooser = chooser.at_one_moment()
    for job_id in job_ids:
        if not with_room.candidates.all:
            raise chooser.nowhere(job_id, len(room))
        choice, persist = chooser.choose_open(job_id, with_room)
        if not persist:
            passing[job_id] = choice.id
            continue
        chosen.append((job_id, choice.id, chooser.score(choice)))
        chooser.count(choice.id)
        with_room.add(choice.id)
    return chosen, passing


def room_of(candidates: Candidates, using: str, loads: Loads | None = None) -> dict[str, int]:
    """Return how many more jobs each instance with a capacity may get."""
    if not candidates.capacities:
        return {}
    jobs = (loads or read_loads(using)).jobs
    return {key: most - jobs.get(key, 0) for key, most in candidates.capacities.items()}


def _placements(chosen: Chosen, chooser: Chooser, candidates: Candidates) -> Placements:
    actor = current_actor()
    return Placements(
        chosen,
        candidates.version,
        chooser.name,
        len(candidates.all),
        actor.name,
        actor.channel,
        chooser.encoded_labels,
    )
