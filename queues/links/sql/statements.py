"""The statements that release or fail jobs that wait for others, and that end batches.

All of them change what they find at that moment and nothing else, so anybody may repeat them at any
time. They are run after the commit that has ended a job: of two that end at the same moment, the
later one sees both.
"""

from functools import cache

from atributo_site.core.database import Dialect
from queues.logic.ranks import BLOCKED, FIRST_BLOCKED
from queues.sql.reserve import STILL_WAITS

IS_BLOCKED = (
    "queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NULL "
    f"AND queues_queuedjob.rank >= {FIRST_BLOCKED}"
)
# The same for jobs that are named by id.
IS_STILL_BLOCKED = f"{STILL_WAITS} AND queues_queuedjob.rank >= {FIRST_BLOCKED}"
FAILED_FIRST = """
    SELECT p.id FROM queues_dependency d JOIN queues_queuedjob p ON p.id = d.after_id
    WHERE d.job_id = queues_queuedjob.id AND NOT d.even_if_failed AND p.status = 'failed'
    ORDER BY d.after_id LIMIT 1"""
# The last of them is looked for, as it is the last to end in most cases.
OPEN_FIRST = """
    SELECT p.id FROM queues_dependency d JOIN queues_queuedjob p ON p.id = d.after_id
    WHERE d.job_id = queues_queuedjob.id AND p.status IN ('pending', 'progress')
    ORDER BY d.after_id DESC LIMIT 1"""
# Is there anything that the curator should look at?
LOOK = f"""
    SELECT (SELECT 1 FROM queues_batch WHERE state = 'running' LIMIT 1),
        (SELECT 1 FROM queues_queuedjob WHERE {IS_BLOCKED} LIMIT 1)"""  # nosec B608 # of constants
COUNT_WAITING = f"""
    SELECT (SELECT count(*) FROM queues_batch WHERE state = 'open'),
        (SELECT count(*) FROM queues_batch WHERE state = 'running'),
        (SELECT count(*) FROM (
            SELECT 1 FROM queues_queuedjob WHERE {IS_BLOCKED} LIMIT %(most)s) blocked)"""  # nosec B608 # of constants
BLOCKED_PAGE = f"""
    SELECT id FROM queues_queuedjob WHERE {IS_BLOCKED} AND id > %(after)s
    ORDER BY id LIMIT %(limit)s"""  # nosec B608 # of constants
RUNNING_PAGE = """
    SELECT id FROM queues_batch WHERE state = 'running' AND id > %(after)s
    ORDER BY id LIMIT %(limit)s"""


@cache
def waiting_for(d: Dialect) -> str:
    """Select the blocked jobs that wait for some of these, so many of them."""
    return f"""
        SELECT DISTINCT queues_queuedjob.id FROM queues_dependency w
        JOIN queues_queuedjob ON queues_queuedjob.id = w.job_id
        WHERE w.after_id {d.among("ids")} AND w.job_id > %(after)s AND {IS_STILL_BLOCKED}
        ORDER BY queues_queuedjob.id LIMIT %(limit)s"""  # nosec B608 # of constants and dialect


@cache
def fail(d: Dialect) -> str:
    """End those of the blocked jobs that wait for one that has failed."""
    text = f"'Job ' || ({FAILED_FIRST}) || %(error)s"
    return f"""
        UPDATE queues_queuedjob SET status = 'failed', error = {text},
            fingerprint = %(fingerprint)s, ended_at = {d.now}
        WHERE id {d.among("ids")} AND {IS_STILL_BLOCKED} AND ({FAILED_FIRST}) IS NOT NULL
        RETURNING id"""  # nosec B608 # of constants and dialect


@cache
def release(d: Dialect) -> str:
    """Let those of the blocked jobs start that wait for none any more."""
    return f"""
        UPDATE queues_queuedjob SET rank = rank - {BLOCKED},
            due_at = {d.greatest}(COALESCE(delayed_until, {d.now}), {d.now}), delayed_until = NULL
        WHERE id {d.among("ids")} AND {IS_STILL_BLOCKED}
        AND ({OPEN_FIRST}) IS NULL AND ({FAILED_FIRST}) IS NULL
        RETURNING id, queue_id, flow_id, sticky_key, concurrent, routed_to"""  # nosec B608 # of constants and dialect


@cache
def block(d: Dialect) -> str:
    """Let jobs that were started over wait again for those that are unfinished."""
    return f"""
        UPDATE queues_queuedjob SET rank = rank + {BLOCKED}, delayed_until = NULL,
            due_at = %(far)s
        WHERE id {d.among("ids")} AND {STILL_WAITS}
        AND rank < {FIRST_BLOCKED} AND ({OPEN_FIRST}) IS NOT NULL
        RETURNING id"""  # nosec B608 # of constants and dialect


@cache
def await_end(d: Dialect) -> str:
    """Note that somebody waits for the end of these, so that whoever ends them looks for it."""
    return f"""
        UPDATE queues_queuedjob SET awaited = {d.true}
        WHERE id {d.among("ids")} AND awaited = {d.false}"""  # nosec B608 # of constants and dialect


def _of_batch(status: str, batch: str = "%(batch)s") -> str:
    """Find the newest job of a batch in this status: the oldest end first."""
    return (
        f"SELECT id FROM queues_queuedjob WHERE batch_id = {batch} AND batch_id IS NOT NULL "
        f"AND status = '{status}' ORDER BY id DESC LIMIT 1"  # nosec B608 # of constants
    )


# A job of the batch that has not ended, if there is one.
UNFINISHED = f"SELECT COALESCE(({_of_batch('pending')}), ({_of_batch('progress')}))"  # nosec B608 # of constants


@cache
def lock_running(d: Dialect) -> str:
    """Lock a batch, so that nobody starts a job of it over while its end is decided."""
    lock = "FOR UPDATE" if d.lock else ""
    return f"SELECT id FROM queues_batch WHERE id = %(batch)s AND state = 'running' {lock}"  # nosec B608 # of constants and dialect


@cache
def lock_open(d: Dialect) -> str:
    """Keep a batch from being closed until this push is committed."""
    lock = "FOR SHARE" if d.lock else ""
    return f"SELECT state FROM queues_batch WHERE id = %(batch)s {lock}"  # nosec B608 # of constants and dialect


def _count(status: str) -> str:
    return (
        "SELECT count(*) FROM queues_queuedjob WHERE batch_id = %(batch)s "
        f"AND batch_id IS NOT NULL AND status = '{status}'"  # nosec B608 # of constants
    )


@cache
def end_batch(d: Dialect) -> str:
    """End a batch whose jobs have all ended; whoever comes second finds no row."""
    failed = f"({_of_batch('failed')}) IS NOT NULL"
    return f"""
        UPDATE queues_batch SET ended_at = {d.now},
            state = CASE WHEN {failed} THEN 'failed' ELSE 'complete' END,
            complete_jobs = ({_count("complete")}), failed_jobs = ({_count("failed")}),
            callback_job = NULL
        WHERE id = %(batch)s AND state = 'running' AND ({UNFINISHED}) IS NULL
        RETURNING state"""  # nosec B608 # of constants and dialect
