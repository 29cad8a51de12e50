"""The statements of a process that runs many jobs: each has a slot, and each statement has many.

`slots` is a JSON array of objects with `id` and `epoch`: what is not held like that any more is
left alone, as one late holder is by the statements for one slot.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import SHARED_RANKS
from queues.sql import outcomes, reserve

# What a slot holds is pending or runs: to ask for `pending` would invite a scan of all that wait.
NOT_BEGUN = "status <> 'progress'"
REVISION = "COALESCE((SELECT max(revision) FROM queues_catalogue), 0)"
OUTCOME = {**outcomes.OUTCOME, "slot_id": "bigint", "slot_epoch": "bigint"}


@cache
def acquire(d: Dialect) -> str:
    """Take free slots of a queue, as `slots.acquire` takes one."""
    share, lock = ("FOR SHARE", "FOR UPDATE SKIP LOCKED") if d.lock else ("", "")
    return f"""
        WITH q AS (
            SELECT q.id, q.max_workers FROM queues_queue q
            WHERE q.id = %(queue_id)s AND {reserve.is_open(d)} {share}
        )
        UPDATE queues_slot SET holder = %(holder)s, notes_key = '', epoch = epoch + 1,
            rung_at = NULL, leased_until = {d.in_seconds("lease_seconds")}
        WHERE id IN (
            SELECT id FROM queues_slot WHERE queue_id = (SELECT id FROM q) AND holder = ''
            AND number < (SELECT max_workers FROM q) ORDER BY number LIMIT %(count)s {lock}
        ) AND NOT EXISTS (
            SELECT 1 FROM queues_slot above WHERE above.queue_id = (SELECT id FROM q)
            AND above.number >= (SELECT max_workers FROM q) AND above.holder <> ''
        )
        RETURNING id, epoch, number"""  # nosec B608 # of constants and dialect


@cache
def renew(d: Dialect) -> str:
    return f"""
        UPDATE queues_slot SET leased_until = {d.in_seconds("lease_seconds")}
        WHERE {_are_held(d)} AND leased_until > {d.now}"""  # nosec B608 # of constants and dialect


@cache
def release(d: Dialect) -> str:
    return f"""
        UPDATE queues_slot SET holder = '', leased_until = NULL, rung_at = NULL
        WHERE {_are_held(d)} AND holder <> ''"""  # nosec B608 # of constants and dialect


@cache
def unring(d: Dialect) -> str:
    """`numbers` is a JSON array of the numbers of slots."""
    return f"""
        UPDATE queues_slot SET rung_at = NULL
        WHERE queue_id = %(queue_id)s AND number {_among(d, "numbers")}
        AND holder = '' AND rung_at IS NOT NULL"""  # nosec B608 # of constants and dialect


@cache
def give_back(d: Dialect) -> str:
    """Free what these slots have reserved and not begun."""
    one = reserve.give_back(d)
    assert reserve.HELD_AND_WAITING in one
    held = _are_held(d, "slot_id", "slot_epoch")
    return one.replace(reserve.HELD_AND_WAITING, f"{held} AND {NOT_BEGUN}")


@cache
def due(d: Dialect) -> str:
    """Count the jobs that may start now, no further than `jobs`."""
    probes = " UNION ALL ".join(
        f"SELECT id FROM ({reserve.due_probe(d, rank, 'id', 'LIMIT %(jobs)s')}) r{number}"  # nosec B608 # of constants and dialect
        for number, rank in enumerate(SHARED_RANKS)
    )
    return f"SELECT count(*) FROM ({probes} LIMIT %(jobs)s) due"  # nosec B608 # of constants and dialect


@cache
def reserve_each(d: Dialect) -> str:
    """Reserve a due job of the queue for each of the slots, while they are held and it is active.

    The share lock orders this against a pause or a lower limit, as in `reserve.reserving`.
    """
    return f"""
        WITH {_free_and_picked(d)}
        UPDATE queues_queuedjob SET {_next_slot(d)}
        RETURNING {", ".join(reserve.RESERVED)}, slot_id, {d.now}, {REVISION}, status"""  # nosec B608 # of constants and dialect


@cache
def begin_each(d: Dialect) -> str:
    """Reserve, and in the same statement start what belongs here; PostgreSQL only.

    Whatever is not sure to belong here comes back as reserved only, still `pending`.
    """
    belongs = f"""(mount = %(mount)s AND script IN (
            SELECT jsonb_array_elements_text({d.json("scripts")})
        ) AND parent IS NULL AND NOT suspect AND abort_asked_at IS NULL AND expires_at IS NULL
        AND {REVISION} = %(revision)s)"""
    before = "CASE WHEN status = 'progress' THEN attempt - 1 ELSE attempt END"
    columns = ", ".join(before if name == "attempt" else name for name in reserve.RESERVED)
    return f"""
        WITH {_free_and_picked(d)}, taken AS (
            UPDATE queues_queuedjob SET
                status = CASE WHEN {belongs} THEN 'progress' ELSE status END,
                attempt = CASE WHEN {belongs} THEN attempt + 1 ELSE attempt END,
                started_at = CASE WHEN {belongs} THEN {d.now} ELSE started_at END,
                {_next_slot(d)}
            RETURNING {", ".join(reserve.RESERVED)}, slot_id, status
        ), recorded AS (
            INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at, error,
                traceback, note)
            SELECT id, attempt, runs + 1, %(worker)s, 'running', {d.now}, '', '', ''
            FROM taken WHERE status = 'progress'
        )
        SELECT {columns}, slot_id, {d.now}, {REVISION}, status
        FROM taken"""  # nosec B608 # of constants and dialect


def _free_and_picked(d: Dialect) -> str:
    """The due jobs and the slots that are held, both numbered."""
    return f"""picked AS MATERIALIZED ({reserve.picked(d, SHARED_RANKS)} LIMIT %(jobs)s),
        held AS MATERIALIZED (
            SELECT s.id, s.epoch FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
            WHERE {_are_held(d, "s.id", "s.epoch")} AND s.leased_until > {d.now}
            AND s.number < q.max_workers AND {reserve.ACTIVE} AND q.limits IS NULL
            {d.lock and "FOR SHARE OF q"}
        ),
        numbered AS MATERIALIZED (SELECT id, row_number() OVER () AS n FROM picked),
        free AS MATERIALIZED (SELECT id, epoch, row_number() OVER (ORDER BY id) AS n FROM held)"""  # nosec B608 # of constants and dialect


def _next_slot(d: Dialect) -> str:
    """Give each picked job the slot of its number, and no slot's number twice."""
    still = "" if d.lock else "AND status = 'pending' AND slot_id IS NULL"
    mine = "(SELECT n FROM numbered WHERE numbered.id = queues_queuedjob.id)"
    with_slot = "SELECT id FROM numbered WHERE n <= (SELECT count(*) FROM free)"
    chosen = f"= ANY(ARRAY({with_slot}))" if d.lock else f"IN ({with_slot})"
    return f"""
            slot_id = (SELECT id FROM free WHERE n = {mine}),
            slot_epoch = (SELECT epoch FROM free WHERE n = {mine})
        WHERE id {chosen} {still}"""  # nosec B608 # of constants and dialect


@cache
def start(d: Dialect) -> str:
    """Turn reserved jobs `progress`; `jobs` is a JSON array of their ids."""
    return f"""
        UPDATE queues_queuedjob SET status = 'progress', attempt = attempt + 1,
            started_at = {d.now}
        WHERE id {_among(d, "jobs")} AND {_holds(d)}
        AND {NOT_BEGUN} AND abort_asked_at IS NULL
        RETURNING id, attempt, runs"""  # nosec B608 # of constants and dialect


@cache
def start_and_record(d: Dialect) -> str:
    """Do both in one statement; PostgreSQL only."""
    return f"""
        WITH started AS ({start(d)}), recorded AS (
            INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at, error,
                traceback, note)
            SELECT id, attempt, runs + 1, %(worker)s, 'running', {d.now}, '', '', '' FROM started
        )
        SELECT id FROM started"""  # nosec B608 # of constants and dialect


@cache
def record_starts(d: Dialect) -> str:
    return f"""
        INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at, error,
            traceback, note)
        SELECT id, attempt, runs + 1, %(worker)s, 'running', {d.now}, '', '', ''
        FROM queues_queuedjob WHERE id {_among(d, "started")}"""  # nosec B608 # of constants and dialect


@cache
def still_ours(d: Dialect) -> str:
    """Select those of the jobs that nobody has aborted or deleted."""
    return f"""
        SELECT id FROM queues_queuedjob WHERE id {_among(d, "jobs")}
        AND {_holds(d)} AND status <> 'pending'"""  # nosec B608 # of constants and dialect


@cache
def finish_postgresql(d: Dialect) -> str:
    accepted = "SELECT id FROM done"
    return f"""
        WITH o AS MATERIALIZED ({outcomes.outcome_source(d, OUTCOME)}),
        done AS (
            {_finish_jobs(d)} RETURNING queues_queuedjob.id, queues_queuedjob.aborted_at,
                {outcomes.ENDS} AS ends
        ),
        runs AS ({outcomes.RECORD_RUNS.format(accepted=accepted)}),
        minute AS ({outcomes.count_minute(d, accepted)})
        SELECT id, aborted_at, ends FROM done"""  # nosec B608 # of constants and dialect


@cache
def finish_sqlite(d: Dialect) -> tuple[str, str, str]:
    rows = f"WITH o AS MATERIALIZED ({outcomes.outcome_source(d, OUTCOME)})"
    accepted = "SELECT value FROM json_each(%(accepted)s)"
    return (
        f"{rows} {_finish_jobs(d)} RETURNING id, aborted_at, {outcomes.ENDS}",
        f"{rows} {outcomes.RECORD_RUNS.format(accepted=accepted)}",
        f"{rows} {outcomes.count_minute(d, accepted)}",
    )


def _finish_jobs(d: Dialect) -> str:
    """Find the jobs by their ids: neither among all that wait, nor among all that were held."""
    ids = "AND queues_queuedjob.id = ANY(ARRAY(SELECT o.id FROM o))" if d.lock else ""
    held_by = "COALESCE(queues_queuedjob.slot_id, 0)"
    held = f"""{ids} AND EXISTS (
        SELECT 1 FROM queues_slot s WHERE s.id = o.slot_id AND s.epoch = o.slot_epoch
        AND s.leased_until > {d.now})"""  # nosec B608 # of constants and dialect
    return outcomes.finish_jobs(d, "o.slot_id", "o.slot_epoch", held, held_by)


def _holds(d: Dialect) -> str:
    """A condition on jobs whose ids are known: one of the `slots` holds it.

    The index of held jobs must not look useful: it is full of the remains of former ones.
    """
    return f"(COALESCE(slot_id, 0), slot_epoch) IN ({_pairs(d)})"


def _are_held(d: Dialect, slot: str = "id", epoch: str = "epoch") -> str:
    """A condition: this is one of the `slots`, found by its id, since no join looks into JSON."""
    held = f"({slot}, {epoch}) IN ({_pairs(d)})"
    return f"{slot} = ANY(ARRAY({_pairs(d, 'h.id')})) AND {held}" if d.lock else held


def _pairs(d: Dialect, columns: str = "h.id, h.epoch") -> str:
    if d.vendor == "postgresql":
        rows = f"jsonb_to_recordset({d.json('slots')}) AS h(id bigint, epoch bigint)"
        return f"SELECT {columns} FROM {rows}"  # nosec B608 # of constants and dialect
    return "SELECT value ->> '$.id', value ->> '$.epoch' FROM json_each(%(slots)s)"


def _among(d: Dialect, parameter: str) -> str:
    """Compare with the ids in a JSON array; a join with it would read all jobs that wait."""
    if d.vendor == "postgresql":
        ids = f"SELECT value::bigint FROM jsonb_array_elements_text({d.json(parameter)})"  # nosec B608 # of constants and dialect
        return f"= ANY(ARRAY({ids}))"
    return f"IN (SELECT value FROM json_each(%({parameter})s))"  # nosec B608 # of constants and dialect
