"""Explain where a job is and was, since when, and why there."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from allocation.errors import UnknownJob
from allocation.logic.choose import COUNTS_LOAD, NO_LOADS, STRATEGIES, Candidate, Score, scores
from allocation.logic.labels import NO_LABELS
from allocation.logic.labels import sentence as sentence_of
from allocation.models import Allocation, Instance, PastAllocation
from allocation.placement.candidates import Candidates, current, loads, matching
from atributo_site.core.models import Event
from atributo_site.core.text import pluralize

LISTED = 50
MOST_CHANGES = 2_000  # of availability to undo in order to find an old list
MOVED_BECAUSE = {
    "drain": "by its drain",
    "rebalance": "by a rebalance",
    "instance away": "because no worker served it",
}
LIST_KINDS = [
    "instance.available",
    "instance.changed",
    "instance.unavailable",
    "instance.draining",
    "instance.dead",
    "instance.restored",
    "instance.removed",
]


def explain(job_id: str, using: str = "default") -> dict[str, Any]:
    """Return the placement, its scores, what would be chosen today, and the placements before."""
    row = Allocation.objects.using(using).filter(pk=job_id).first()
    past = history(job_id, using)
    if row is None and not past:
        raise UnknownJob(
            f"{job_id} was never allocated, or its history is no longer kept", job_id=job_id
        )
    return {
        "job_id": job_id,
        "placement": None if row is None else _placement(row),
        "why": None if row is None else _why(row, past, using),
        "today": today(job_id, using, (row and row.labels) or NO_LABELS),
        "history": past,
    }


def history(job_id: str, using: str = "default") -> list[dict[str, Any]]:
    """Return the ended placements of a job, the newest first."""
    rows = PastAllocation.objects.using(using).filter(job_id=job_id).order_by("-epoch")
    ended = {"until": "ended_at", "ended_by": "ended_by", "end_reason": "end_reason"}
    return [
        {**_placement(row), **{name: getattr(row, field) for name, field in ended.items()}}
        for row in rows[:LISTED]
    ]


def candidates_at(epoch: int, using: str = "default") -> list[Candidate] | None:
    """Return the instances available at an epoch; None if too much has changed or is forgotten."""
    rows = Instance.objects.using(using).values_list("id", "weight", "available", "epoch")
    weights = {key: weight for key, weight, _, _ in rows}
    available = {key for key, _, is_available, _ in rows if is_available}
    changes = Event.objects.using(using).of_kinds(LIST_KINDS).newest_first()
    newest = changes.values_list("id", "kind", "subject", "facts")[:MOST_CHANGES]
    for _, kind, subject, facts in newest:
        key = subject.removeprefix("instance:")
        if facts["epoch"] <= epoch:
            return [Candidate(key, weights.get(key, 1)) for key in sorted(available)]
        weights[key] = _weight_before(kind, facts, weights.get(key, 1))
        if "was_available" in facts:
            (available.add if facts["was_available"] else available.discard)(key)
    return None


def _weight_before(kind: str, facts: dict[str, Any], after: int) -> int:
    """Return the weight before an event; that of a removal carries it."""
    return facts.get("weight" if kind == "instance.removed" else "was_weight", after)


def _placement(row: Allocation | PastAllocation) -> dict[str, Any]:
    return {
        "instance_id": row.instance_id,
        "since": row.allocated_at,
        "by": row.actor,
        "channel": row.channel,
        "epoch": row.epoch,
        "strategy": row.strategy,
        "candidates": row.candidates,
        "score": row.score,
        "labels": row.labels or {},
    }


def _why(row: Allocation, past: list[dict[str, Any]], using: str) -> dict[str, Any]:
    if row.strategy in MOVED_BECAUSE:
        return _moved(row, past)
    if row.strategy not in STRATEGIES:
        sentence = f"Placed by '{row.strategy}', not by a strategy that can be computed again."
        return {"sentence": sentence, "scores": []}
    if row.labels:
        sentence = f"{_chosen(row)} with the labels {sentence_of(row.labels)}."
        return {"sentence": sentence, "scores": []}
    then = candidates_at(row.epoch, using)
    if then is None or len(then) != row.candidates:
        sentence = f"{_chosen(row)}; the list of candidates is no longer stored."
        return {"sentence": sentence, "scores": []}
    ranking = scores(row.strategy, row.pk, then, LISTED)
    return {"sentence": _sentence(row, ranking), "scores": _listed(ranking)}


def _moved(row: Allocation, past: list[dict[str, Any]]) -> dict[str, Any]:
    """Tell from where a job moved, as long as the placement before is kept."""
    because = MOVED_BECAUSE[row.strategy]
    source = past[0]["instance_id"] if past else None
    origin = f"from {source}" if past else "from an instance that no longer exists,"
    sentence = f"Moved here {origin} {because}."
    return {"sentence": sentence, "moved_from": source, "because": because, "scores": []}


def _sentence(row: Allocation, ranking: list[Score]) -> str:
    chosen = _chosen(row)
    if row.strategy in COUNTS_LOAD:
        return (
            f"{chosen}; its load was {row.score:g} per unit of weight. "
            "The scores below do not include the load at that time."
        )
    return f"{chosen}: {ranking[0].note}."


def _chosen(row: Allocation) -> str:
    return f"Chosen by {row.strategy} from {pluralize(row.candidates, 'instance')}"


def today(
    job_id: str, using: str = "default", labels: Mapping[str, str] = NO_LABELS
) -> dict[str, Any]:
    """Return what a new placement that asks for these labels would choose now."""
    strategy = settings.ATRIBUTO.strategy
    now: Candidates = current(using)
    if labels:
        now = matching(using, labels, now)
    jobs = loads(using).jobs if strategy in COUNTS_LOAD else NO_LOADS
    ranking = scores(strategy, job_id, now.all, LISTED, jobs)
    chosen = ranking[0].instance_id if ranking else None
    return {"strategy": strategy, "instance_id": chosen, "scores": _listed(ranking)}


def _listed(ranking: list[Score]) -> list[dict[str, Any]]:
    return [
        {"instance_id": s.instance_id, "score": round(s.score, 6), "note": s.note} for s in ranking
    ]
