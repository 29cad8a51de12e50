"""The statements of turns: which of the waiting jobs of a sticky key may start next.

In each queue one unfinished job of a key has the turn. The others are in line: they have ranks that
no worker asks for, so that a million of them cost a reservation nothing. The turn stays with its
job until the run is over, a retry and a lost attempt included. All of these statements change what
they find at that moment and nothing else, so they may be repeated by anybody at any time.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import (
    FIRST_FLOW,
    FLOW_RANKS,
    INTO_FLOW,
    LINE,
    LINE_RANKS,
    PAUSED,
    STICKY_RANKS,
)

SERIAL = (
    "{job}.status = 'pending' AND {job}.slot_id IS NULL AND {job}.sticky_key IS NOT NULL "
    "AND NOT {job}.concurrent"
)


def _listed(ranks: list[int]) -> str:
    return f"({', '.join(map(str, ranks))})"


WITH_TURN = [*STICKY_RANKS, *FLOW_RANKS]
TURN = _listed(WITH_TURN)
ASLEEP = _listed([rank + PAUSED for rank in WITH_TURN])  # paused, and still with the turn
OF_KEY = "{job}.sticky_key = k.value AND {job}.queue_id = %(queue_id)s"


def _keys(d: Dialect) -> str:
    if d.vendor == "postgresql":
        return "unnest(%(keys)s::text[]) AS k(value)"
    return "json_each(%(keys)s) k"


def _first(rank: int, columns: str, condition: str = "TRUE") -> str:
    """Select the first job in line of one rank."""
    return (
        f"SELECT {columns} FROM queues_queuedjob j WHERE {SERIAL.format(job='j')} "
        f"AND {OF_KEY.format(job='j')} AND j.rank = {rank} AND {condition} "
        "ORDER BY j.due_at, j.id LIMIT 1"  # nosec B608 # of constants and dialect
    )


def next_in_line(d: Dialect) -> str:
    """The next job of key k: by priority among those that are due, else the first to become due."""
    due = ", ".join(f"({_first(rank, 'j.id', f'j.due_at <= {d.now}')})" for rank in LINE_RANKS)
    later = " UNION ALL ".join(
        f"SELECT id, due_at FROM ({_first(rank, 'j.id, j.due_at')}) l{rank}"  # nosec B608 # of constants only
        for rank in LINE_RANKS
    )
    return f"COALESCE({due}, (SELECT id FROM ({later}) l ORDER BY due_at, id LIMIT 1))"  # nosec B608 # of constants and dialect


HELD = f"""
    (
        SELECT 1 FROM queues_queuedjob h WHERE {OF_KEY.format(job="h")}
        AND h.slot_id > 0 AND NOT h.concurrent LIMIT 1
    )"""  # nosec B608 # of constants and dialect
AWAITED = f"""
    (
        SELECT 1 FROM queues_queuedjob h WHERE {SERIAL.format(job="h")}
        AND {OF_KEY.format(job="h")} AND h.rank IN {TURN} LIMIT 1
    )"""  # nosec B608 # of constants and dialect


@cache
def give(d: Dialect) -> str:
    """Give the turn to the next job of each key of a queue where none has it."""
    begin, end = ("= ANY(ARRAY(", "))") if d.lock else ("IN (", ")")
    return f"""
        WITH chosen AS MATERIALIZED (
            SELECT {next_in_line(d)} AS id FROM {_keys(d)}
            WHERE {HELD} IS NULL AND {AWAITED} IS NULL
        )
        UPDATE queues_queuedjob SET rank = rank - {LINE}
        WHERE id {begin}SELECT id FROM chosen WHERE id IS NOT NULL{end}
        AND status = 'pending' AND slot_id IS NULL AND rank IN {_listed(LINE_RANKS)}
        RETURNING id, sticky_key, routed_to, due_at <= {d.now}"""  # nosec B608 # of constants and dialect


@cache
def take(d: Dialect) -> str:
    """Take the turn from jobs that wait and are paused, or that another one outranks.

    A job that waits for its retry, or whose worker died, is in the middle of a run and keeps it.
    """
    begin, end = ("= ANY(ARRAY(", "))") if d.lock else ("IN (", ")")
    return f"""
        UPDATE queues_queuedjob SET rank = {_own("rank")} + {LINE}, flow_id = NULL
        WHERE id {begin}
            SELECT h.id FROM {_keys(d)}
            JOIN queues_queuedjob h ON {SERIAL.format(job="h")} AND {OF_KEY.format(job="h")}
                AND (h.rank IN {TURN} OR h.rank IN {ASLEEP})
            LEFT JOIN queues_queuedjob n ON n.id = {next_in_line(d)}
            WHERE h.rank IN {ASLEEP} OR (h.run_failures = 0 AND h.lost = 0 AND {_outranks(d)})
        {end} AND status = 'pending' AND slot_id IS NULL
        AND (rank IN {TURN} OR rank IN {ASLEEP})"""  # nosec B608 # of constants and dialect


def _outranks(d: Dialect) -> str:
    """A condition: n goes before h."""
    earlier = "(n.due_at, n.id) < (h.due_at, h.id)"
    return f"""
        CASE WHEN n.id IS NULL OR n.due_at > {d.now} AND h.due_at <= {d.now} THEN FALSE
            WHEN h.due_at > {d.now} THEN n.due_at <= {d.now} OR {earlier}
            ELSE n.rank - {LINE} < {_own("h.rank")}
                OR n.rank - {LINE} = {_own("h.rank")} AND {earlier} END"""


def _own(rank: str) -> str:
    """Return the rank of a job with the turn, as if it waited in no flow."""
    return f"(CASE WHEN {rank} < {FIRST_FLOW} THEN {rank} ELSE {rank} - {INTO_FLOW} END)"


@cache
def without_turn(d: Dialect) -> str:
    """Walk over the keys with waiting jobs, and tell of each whether a job has the turn.

    The index is entered once for each key, however many jobs of it wait.
    """
    following = (
        f"SELECT j.id FROM queues_queuedjob j WHERE {SERIAL.format(job='j')} "
        f"AND j.rank <= {LINE_RANKS[-1]} "  # those beyond are paused
        "AND (j.sticky_key, j.queue_id) > ({key}, {queue}) "
        "ORDER BY j.sticky_key, j.queue_id LIMIT 1"  # nosec B608 # of constants and dialect
    )
    begin = following.format(key="%(key)s", queue="%(queue_id)s")
    step = following.format(key="w.sticky_key", queue="w.queue_id")
    of_pair = "h.sticky_key = w.sticky_key AND h.queue_id = w.queue_id AND NOT h.concurrent"
    return f"""
        WITH RECURSIVE walk(id, n) AS (
            SELECT id, 1 FROM ({begin}) b
            UNION ALL
            SELECT ({step}), n + 1 FROM walk JOIN queues_queuedjob w ON w.id = walk.id
            WHERE n < %(limit)s
        )
        SELECT w.queue_id, w.sticky_key, COALESCE(
            (SELECT 1 FROM queues_queuedjob h WHERE {of_pair} AND h.slot_id > 0 LIMIT 1),
            (
                SELECT 1 FROM queues_queuedjob h WHERE {SERIAL.format(job="h")} AND {of_pair}
                AND h.rank IN {TURN} LIMIT 1
            ),
            0
        )
        FROM walk JOIN queues_queuedjob w ON w.id = walk.id ORDER BY n"""  # nosec B608 # of constants and dialect
