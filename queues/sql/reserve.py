"""The statements that find due jobs, reserve them for a slot, start them and give them back."""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.lifecycle import ABORTED
from queues.logic.ranks import CALLBACK, FLOW_RANKS, LINE_RANKS, SHARED_RANKS, STICKY_RANKS

# A probe of the index for each rank, in the order in which they start, keeps the price of a
# reservation the same however many jobs wait for a later moment.
ANYBODYS_RANKS = [*SHARED_RANKS, *FLOW_RANKS]
ALL_RANKS = [*ANYBODYS_RANKS, *STICKY_RANKS, *LINE_RANKS]

QUEUE = "%(queue_id)s"
ACTIVE = "(q.paused_at IS NULL AND q.deleted_at IS NULL)"

# "status = 'pending' AND slot_id IS NULL" for jobs that are named by id, in words that no index of
# waiting jobs answers. With statistics from when few jobs waited, PostgreSQL would rather read all
# of such an index than look up a few ids.
STILL_WAITS = "status || '' = 'pending' AND COALESCE(slot_id, 0) = 0"

RESERVED = [
    "id",
    "mount",
    "script",
    "data",
    "attempt",
    "runs",
    "run_failures",
    "lost",
    "max_failures",
    "repeat_times",
    "repeat_until",
    "repeat_delay_ms",
    "back_off",
    "timeout_ms",
    "success",
    "failure",
    "rank",
    "due_at",
    "suspect",
    "parent",
    "parent_run",
    "expires_at",
]


def due_probe(d: Dialect, rank: int, columns: str, limit: str, queue: str = QUEUE) -> str:
    """Select the first due jobs of one rank."""
    return (
        f"SELECT {columns} FROM queues_queuedjob WHERE queue_id = {queue} AND rank = {rank} "
        f"AND status = 'pending' AND slot_id IS NULL AND due_at <= {d.now} "
        f"ORDER BY due_at, id {limit}"  # nosec B608 # of constants and dialect
    )


@cache
def has_due(d: Dialect, queue: str = QUEUE) -> str:
    """A condition: this queue has a job to start.

    It does not use EXISTS, which forgets the order: with statistics from a time when many jobs
    waited, PostgreSQL would then rather read the whole table.
    """
    ranks = [has_rank(d, rank, queue) for rank in SHARED_RANKS]
    return f"({' OR '.join([*ranks, has_open_flow(d, queue)])})"


def has_open_flow(d: Dialect, queue: str, station: str = "''") -> str:
    """A condition: this queue has a flow that may start here; its gate is not closed."""
    flows = f"SELECT 1 FROM queues_flow f WHERE f.queue_id = {queue} AND f.station = {station}"  # nosec B608 # of constants and dialect
    return f"""(
        SELECT 1 FROM queues_gate g WHERE g.queue_id = {queue}
        AND (g.closed_at IS NULL OR g.wake_at <= {d.now}) AND COALESCE(
            ({flows} AND f.rank IS NOT NULL LIMIT 1),
            ({flows} AND f.wake_at <= {d.now} LIMIT 1)
        ) IS NOT NULL
    ) IS NOT NULL"""  # nosec B608 # of constants and dialect


@cache
def first_due(d: Dialect, ranks: tuple[int, ...]) -> str:
    """Select the job of these ranks that is the next to start."""
    return first_of([due_probe(d, rank, "id", "LIMIT 1") for rank in ranks])


def first_of(probes: list[str]) -> str:
    parts = (f"SELECT id FROM ({probe}) r{number}" for number, probe in enumerate(probes))  # nosec B608 # of constants and dialect
    return f"{' UNION ALL '.join(parts)} LIMIT 1"


@cache
def is_due(d: Dialect) -> str:
    return f"SELECT 1 WHERE {has_due(d)}"


@cache
def is_open(d: Dialect) -> str:
    """A condition: jobs of queue q may start, or at least a callback that waits."""
    return f"({ACTIVE} OR {has_rank(d, CALLBACK, 'q.id')})"


def has_rank(d: Dialect, rank: int, queue: str) -> str:
    return f"({due_probe(d, rank, 'id', 'LIMIT 1', queue)}) IS NOT NULL"


@cache
def reserve(d: Dialect) -> str:
    """Reserve the next due jobs of a slot's queue. Their status and attempt do not change."""
    return reserving(d, picked(d, SHARED_RANKS), RESERVED)


@cache
def reserve_callbacks(d: Dialect) -> str:
    return reserving(d, picked(d, [CALLBACK]), RESERVED)


@cache
def reserve_taken(d: Dialect) -> str:
    """Do the same for a slot that was taken by the statement before, in the same transaction.

    It is known by what was noted in it: its id and epoch are not known here yet.
    """
    return reserving(
        d,
        picked(d, SHARED_RANKS, "(SELECT queue_id FROM held)"),
        RESERVED,
        "q.name = %(queue)s AND s.number = %(number)s AND s.notes_key = %(notes_key)s",
        ("(SELECT id FROM held)", "(SELECT epoch FROM held)"),
    )


def picked(d: Dialect, ranks: list[int], queue: str = QUEUE) -> str:
    tail = f"LIMIT %(jobs)s {d.lock}"
    return " UNION ALL ".join(
        f"SELECT id FROM ({due_probe(d, rank, 'id', tail, queue)}) r{number}"  # nosec B608 # of constants and dialect
        for number, rank in enumerate(ranks)
    )


def reserving(
    d: Dialect,
    picked: str,
    columns: list[str],
    taken: str = "s.id = %(slot_id)s AND s.epoch = %(epoch)s",
    slot: tuple[str, str] = ("%(slot_id)s", "%(epoch)s"),
) -> str:
    """Reserve what `picked` selects, while the slot is held and its queue is active.

    The share lock orders this against a pause or a lower limit: whoever pauses the queue or lowers
    its limit sees what was reserved before. In a queue with limits flow control decides about all
    jobs but callbacks.
    """
    # An array, because a join would be free to scan the table or to pick again and again. Its
    # rows are locked: to ask again for what they are would invite a scan of all that wait.
    chosen = (
        "= ANY(ARRAY(SELECT id FROM picked))"
        if d.lock
        else "IN (SELECT id FROM picked) AND status = 'pending' AND slot_id IS NULL"
    )
    return f"""
        WITH held AS MATERIALIZED (
            SELECT s.id, s.epoch, s.queue_id, q.record_start, {ACTIVE} AS active,
                q.limits IS NOT NULL AS limited
            FROM queues_slot s JOIN queues_queue q ON q.id = s.queue_id
            WHERE {taken} AND s.leased_until > {d.now}
            AND s.number < q.max_workers
            {d.lock and "FOR SHARE OF q"}
        ), picked AS MATERIALIZED ({picked} LIMIT %(jobs)s)
        UPDATE queues_queuedjob SET slot_id = {slot[0]}, slot_epoch = {slot[1]}
        WHERE id {chosen} AND EXISTS (SELECT 1 FROM held)
        AND (rank = {CALLBACK} OR (SELECT active FROM held)
            AND NOT (SELECT limited FROM held))
        RETURNING {", ".join(columns)}, {d.now},
            COALESCE((SELECT max(revision) FROM queues_catalogue), 0),
            (SELECT record_start FROM held)"""  # nosec B608 # of constants and dialect


# The status is compared by CASE: an index of waiting jobs could serve a plain condition, and would
# be read as a whole while statistics say that none waits.
HELD_AND_WAITING = (
    "slot_id = %(slot_id)s AND slot_epoch = %(epoch)s "
    "AND CASE status WHEN 'pending' THEN TRUE ELSE FALSE END"
)


@cache
def give_back(d: Dialect) -> str:
    """Free what is reserved and has not begun; a job that was aborted meanwhile ends here."""
    asked = "CASE WHEN abort_asked_at IS NULL THEN {} ELSE {} END"
    return f"""
        UPDATE queues_queuedjob SET slot_id = NULL, slot_epoch = NULL, abort_asked_at = NULL,
            status = {asked.format("status", "'failed'")},
            error = {asked.format("error", f"'{ABORTED}'")},
            ended_at = {asked.format("ended_at", d.now)},
            aborted_at = {asked.format("aborted_at", d.now)}
        WHERE {HELD_AND_WAITING}"""  # nosec B608 # of constants and dialect


@cache
def start(d: Dialect) -> str:
    """Turn a reserved job `progress`. `started_seconds` is negative: it reaches back from now."""
    return f"""
        UPDATE queues_queuedjob SET status = 'progress', attempt = attempt + 1,
            started_at = {d.in_seconds("started_seconds")}
        WHERE id = %(job_id)s AND slot_id = %(slot_id)s AND slot_epoch = %(epoch)s
        AND status = 'pending' AND attempt = %(attempt)s - 1 AND abort_asked_at IS NULL"""  # nosec B608 # of constants and dialect


@cache
def record_start(d: Dialect) -> str:
    return f"""
        INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at,
            error, traceback, note)
        VALUES (%(job_id)s, %(attempt)s, %(run)s, %(worker)s, 'running',
            {d.in_seconds("started_seconds")}, '', '', '')"""  # nosec B608 # of constants and dialect


STILL_OURS = """
    SELECT 1 FROM queues_queuedjob
    WHERE id = %(job_id)s AND slot_id = %(slot_id)s AND slot_epoch = %(epoch)s
    AND status = 'progress'"""

SHOW_PROGRESS = """
    UPDATE queues_run SET percent = %(percent)s, note = %(note)s
    WHERE job_id = %(job_id)s AND attempt = %(attempt)s"""
