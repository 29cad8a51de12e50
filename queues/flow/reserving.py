"""Reserve jobs of a queue that flow control decides about. The gate of the queue is locked."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute, execute_each_in_turn, listed
from queues.flow import flows
from queues.flow.sql import statements as sql
from queues.logic.flow.admission import (
    Admission,
    Block,
    Bucket,
    Candidate,
    Place,
    WaitingJob,
    bucket_of,
)
from queues.logic.flow.limits import Limit, parsed
from queues.logic.flow.limits import weights as weights_of
from queues.models import Gate, Rate

FEWEST_FLOWS = 16  # that are looked at together
ROUNDS = 20  # in which flows turn out to wait for limits of their own
MOST_WOKEN = 500
LONGEST_CLOSED_SECONDS = 5.0  # whoever ends a job opens the gate; a crash may have kept it closed
LOOK_AGAIN_SECONDS = 0.25  # at what others keep from starting
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """The rows of reserved jobs, and what the batch has in common."""

    rows: list[Row]
    now: Any
    revision: int
    record_start: bool


def host() -> str:
    """Return what stands for the instance of a worker that serves none."""
    return os.uname().nodename


@lru_cache(maxsize=1)
def limits_of_scripts(revision: int) -> dict[str, tuple[Limit, ...]]:
    """Return the limits of scripts; they are read again when a service changes."""
    found = flows.limited_scripts()
    return {f"{mount}/{name}": parsed(value) for (mount, name), value in found.items()}


def take(
    queue_id: int, slot: dict[str, int], count: int, instance: str, stations: Sequence[str] = ("",)
) -> Taken | None:
    """Reserve up to so many jobs for a slot; None when no job may start now.

    Those are the jobs of these stations; the empty name stands for what any worker may run.
    """
    d = dialect()
    with atomic():
        asked = [[sql.lock_gate(d)], [sql.held_slot(d)]]
        gate, held = (
            done.first for done in execute_each_in_turn(asked, {**slot, "queue_id": queue_id})
        )
        if gate is None or held is None:
            return None
        limits, weights, now, revision, record_start, has_moments, has_strays = held
        if has_moments:
            _wake_due(queue_id, gate[0])
        if has_strays and "" in stations:
            flows.adopt_strays(queue_id)
        decision = _Decision(queue_id, instance, _json(limits), _json(weights), now, revision)
        decision.stations = stations
        chosen = decision.chosen(count)
        rows = decision.write(chosen, slot, gate[0])
    return Taken(rows, now, revision, bool(record_start)) if rows else None


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _wake_due(queue_id: int, time: float) -> None:
    asked = {"queue_id": queue_id, "limit": MOST_WOKEN}
    flows.settle([row[0] for row in execute(sql.to_wake(dialect()), asked).rows], time)


class _Decision:
    def __init__(
        self,
        queue_id: int,
        instance: str,
        limits: Any,
        weights: Any,
        now: Any,
        revision: int,
    ) -> None:
        self.queue_id = queue_id
        self.stations: Sequence[str] = ("",)
        self.of_scripts = limits_of_scripts(revision)
        self.admission = Admission(
            str(queue_id),
            instance,
            microseconds(now),
            parsed(limits),
            self.of_scripts,
            weights_of(weights),
        )
        self._is_counted = False
        self._ranks: dict[int, int] = {}  # of the flows that were looked at
        self._looked_at: dict[int, Candidate] = {}
        self._known: set[Bucket] = set()

    def chosen(self, count: int) -> list[int]:
        """Return the jobs that start now; flows that turn out to wait are parked."""
        admission = self.admission
        for _ in range(ROUNDS):
            parked = len(admission.parked)
            candidates = self._candidates(count)
            if not candidates:
                break
            self._look_up(candidates)
            admission.admit(candidates, count)
            self._park(list(admission.parked)[parked:])
            if admission.taken or admission.shut or len(admission.parked) == parked:
                break
        return admission.taken

    def write(self, chosen: list[int], slot: dict[str, int], time: float) -> list[Row]:
        """Hold the jobs that were chosen, and write what else was decided; return their rows."""
        if not chosen:
            self._close()
            return []
        rows = self._hold(chosen, slot, time)
        for bucket, full_at in self.admission.drained.items():
            name = digest(bucket)
            Rate.objects.update_or_create(name=name, defaults={"full_at": full_at})
        order = {job_id: number for number, job_id in enumerate(chosen)}
        return sorted(rows, key=lambda row: order[row[0]])

    def _hold(self, chosen: list[int], slot: dict[str, int], time: float) -> list[Row]:
        """Do it with the times of keys and the ranks of flows, in one message."""
        d, admission = dialect(), self.admission
        had_a_turn = sorted(id for id, flow in self._looked_at.items() if flow.next)
        parked = [flow for flow in had_a_turn if flow in admission.parked]
        settled = [flow for flow in had_a_turn if not self._goes_on(flow)]
        statements = [sql.take(d), sql.move_on(d), sql.MOVE_GATE]
        statements += [sql.park(d)] if parked else []
        statements += [sql.settle(d, "flows")] if settled else []
        asked = {
            **slot,
            "queue_id": self.queue_id,
            "ids": listed(chosen),
            "ran_on": admission.instance,
            "times": json.dumps([list(pair) for pair in admission.times.items()]),
            "time": max(time, admission.begun_at or 0.0),
            "parked": self._as_parked(parked),
            "flows": listed(settled),
        }
        taken, *_ = execute_each_in_turn([[each] for each in statements], asked)
        return taken.rows

    def _goes_on(self, flow: int) -> bool:
        """Return whether a flow waits, or stays ready with its rank: its next job was seen."""
        if flow in self.admission.parked:
            return True
        seen = self._looked_at[flow]
        return seen.next < len(seen.jobs) and seen.jobs[seen.next].rank == self._ranks[flow]

    def _close(self) -> None:
        blocks = [*self.admission.closed.values()]
        shut = self.admission.shut
        block = shut or min(blocks, key=_opening, default=None)
        if block is None:
            execute(sql.OPEN_GATE, {"queue_id": self.queue_id})
            return
        seconds = self._seconds(block)
        facts: dict[str, Any] = {
            "queue_id": self.queue_id,
            "is_whole": shut is not None,
            "waits_for": block.limit.said(),
            "seconds": LONGEST_CLOSED_SECONDS if seconds is None else seconds,
        }
        if shut is None and self._is_ready_elsewhere():
            facts["seconds"] = min(facts["seconds"], LOOK_AGAIN_SECONDS)
        execute(sql.close_gate(dialect()), facts)

    def _is_ready_elsewhere(self) -> bool:
        """Return whether another station has jobs that this limit may not concern."""
        ours = {"first": self.stations[0], "last": self.stations[-1]}
        asked = {"queue_id": self.queue_id, **ours}
        return bool(execute(sql.READY_ELSEWHERE, asked).rows)

    def _seconds(self, block: Block) -> float | None:
        if block.opens_at is None:
            return None
        return max(0.001, (block.opens_at - self.admission.now) / 1_000_000)

    def _park(self, flow_ids: list[int]) -> None:
        if flow_ids:
            execute(sql.park(dialect()), {"parked": self._as_parked(flow_ids)})

    def _as_parked(self, flow_ids: list[int]) -> str:
        blocks = [(each, self.admission.parked[each]) for each in flow_ids]
        return json.dumps(
            [[each, block.limit.said(), self._seconds(block)] for each, block in blocks]
        )

    def _candidates(self, count: int) -> list[Candidate]:
        return [each for station in self.stations for each in self._candidates_at(station, count)]

    def _candidates_at(self, station: str, count: int) -> list[Candidate]:
        asked: dict[str, Any] = {"queue_id": self.queue_id, "flows": max(count, FEWEST_FLOWS)}
        asked |= {"station": station, "closed": listed(self.admission.closed), "jobs": count}
        found = _in_one(asked) if dialect().vendor == "postgresql" else _in_steps(asked)
        for each, rank in found:
            self._ranks[each.id] = rank
            self._looked_at[each.id] = each
        empty = [each.id for each, _ in found if not each.jobs]
        flows.settle(empty, 0.0)  # their jobs were aborted or deleted
        if empty and station:  # or another job of their key is held
            aside = {"ids": listed(empty), "seconds": LOOK_AGAIN_SECONDS}
            execute(sql.set_aside(dialect()), aside)
        return [each for each, _ in found]

    def _look_up(self, candidates: list[Candidate]) -> None:
        """Read what the limits of these jobs need: tokens, and how many are held."""
        names = sorted(self.of_scripts)
        if names and not self._is_counted:
            _lock_scripts(names)
        jobs = [job for each in candidates for job in each.jobs]
        limits = [*self.admission.of_queue, *(one for job in jobs for one in job.limits)]
        limits += [one for name in names for one in self.of_scripts[name]]
        if (names or any(limit.at_once for limit in limits)) and not self._is_counted:
            self._count(everywhere=bool(names))
        if any(limit.at_once is None for limit in limits):
            self._read_rates(candidates)

    def _count(self, *, everywhere: bool) -> None:
        self._is_counted = True
        statement = sql.held(dialect(), everywhere=everywhere)
        self.admission.held = counted(
            execute(statement, {"queue_id": self.queue_id}).rows, self.queue_id
        )

    def _read_rates(self, candidates: list[Candidate]) -> None:
        wanted = {
            bucket
            for each in candidates
            for job in each.jobs
            for limit, bucket in self.admission._limits(self._place(each), job)
            if limit.at_once is None
        } - self._known
        names = {digest(bucket): bucket for bucket in wanted}
        rows = Rate.objects.filter(pk__in=names).values_list("pk", "full_at")
        self.admission.full_at.update({names[name]: full_at for name, full_at in rows})
        self._known |= wanted

    def _place(self, flow: Candidate) -> Place:
        return Place(self.admission.queue, flow.key, flow.script, self.admission.instance)


def counted(rows: list[Row], queue_id: int) -> Counter[Bucket]:
    """Count held jobs in every bucket in which a limit might count them."""
    held: Counter[Bucket] = Counter()
    for queue, key, mount, script, instance, number in rows:
        place = Place(str(queue), key, f"{mount}/{script}", instance)
        scopes = [f"script {place.script}"]
        if queue == queue_id:
            scopes.append(f"queue {queue}")
        for scope in scopes:
            for per in ("key", "queue", "script", "instance"):
                held[bucket_of(scope, Limit(per, at_once=1), place)] += number
    return held


def _in_one(asked: dict[str, Any]) -> list[tuple[Candidate, int]]:
    """Return the ready flows at a station, each with its first jobs and its rank."""
    statement = sql.candidates(dialect(), of_station=bool(asked["station"]))
    found: dict[int, tuple[Candidate, int]] = {}
    for flow, key, time, rank, mount, script, *job in execute(statement, asked).rows:
        if flow not in found:
            found[flow] = Candidate(flow, key, f"{mount}/{script}", time, []), rank
        if job[0] is not None:
            found[flow][0].jobs.append(_waiting(*job))
    return [*found.values()]


def _in_steps(asked: dict[str, Any]) -> list[tuple[Candidate, int]]:
    """Do the same on SQLite, which has no lateral joins."""
    d, found = dialect(), []
    for mount, script in execute(sql.ready_scripts(d), asked).rows:
        name = f"{mount}/{script}"
        if name not in json.loads(asked["closed"]):
            rows = execute(sql.READY, {**asked, "mount": mount, "script": script}).rows
            found += [(Candidate(id, key, name, time, []), rank) for id, key, time, rank in rows]
    if not found:
        return []
    most = -(-asked["jobs"] // len(found)) + 1  # the one after tells how the flow goes on
    statement = sql.first_jobs(d, of_station=bool(asked["station"]))
    asked = {**asked, "flows": listed(each.id for each, _ in found), "jobs": most}
    rows = execute(statement, asked).rows
    jobs = {flow: [_waiting(*job) for job in json.loads(text)] for flow, text in rows}
    for each, _ in found:
        each.jobs = jobs[each.id]
    return found


def _waiting(job: int, rank: int, limits: Any) -> WaitingJob:
    return WaitingJob(job, rank, parsed(_json(limits)) if limits else ())


def _lock_scripts(names: list[str]) -> None:
    gates = [f"script {name}" for name in names]
    locked = execute(sql.lock_scripts(dialect()), {"names": listed(gates)}).rows
    if len(locked) < len(gates):
        Gate.objects.bulk_create([Gate(name=name) for name in gates], ignore_conflicts=True)
        execute(sql.lock_scripts(dialect()), {"names": listed(gates)})


def _opening(block: Block) -> float:
    return float("inf") if block.opens_at is None else block.opens_at


def microseconds(moment: Any) -> int:
    """Read a moment as SQLite or PostgreSQL returns it, as microseconds since 1970."""
    value = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1_000_000)


def digest(bucket: Bucket) -> str:
    return sha256(json.dumps(bucket).encode()).hexdigest()
