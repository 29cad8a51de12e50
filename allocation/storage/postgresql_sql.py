"""The statements that place jobs on PostgreSQL and end their placements.

They are not written with the ORM, so that locks, look-up, placement and counter take one round
trip; `make bench ARGS=allocation` compares this with one statement after the other.

An allocator chooses from the list of instances that it has in memory. The statement compares
the version of that list, and stores nothing if the list has changed meanwhile.
"""

# One number for the list of available instances, one per bucket of keys; see locks.py.
AVAILABILITY_LOCK = 0x61747269  # "atri"
JOB_LOCKS = 0x61746A62  # "atjb"
BUCKETS = 256
PARTS = 8  # of the counter of an instance, so that parallel allocators do not queue for a row

COLUMNS = (
    "job_id, instance_id, epoch, allocated_at, strategy, candidates, score, actor, channel, labels"
)

# The locks are a statement of their own: a statement that waits for a lock still
# sees the database as it was before it waited.
SHARED = (
    f"SELECT pg_advisory_xact_lock_shared({AVAILABILITY_LOCK}), "
    f"pg_advisory_xact_lock_shared({JOB_LOCKS}, %(bucket)s)"
)
SHARED_MANY = (
    f"SELECT pg_advisory_xact_lock_shared({AVAILABILITY_LOCK}), (SELECT "
    f"count(pg_advisory_xact_lock_shared({JOB_LOCKS}, b)) FROM unnest(%(buckets)s::int[]) AS b)"  # nosec B608 # of constants only
)
ENDING = (
    f"SELECT pg_advisory_xact_lock_shared({AVAILABILITY_LOCK}), (SELECT "
    f"count(pg_advisory_xact_lock({JOB_LOCKS}, b)) FROM unnest(%(buckets)s::int[]) AS b)"  # nosec B608 # of constants only
)
EXCLUSIVE = f"SELECT pg_advisory_xact_lock({AVAILABILITY_LOCK})"

SAVEPOINT = "SAVEPOINT atributo_placing"
KEEP = "RELEASE SAVEPOINT atributo_placing"
TAKE_BACK = f"ROLLBACK TO SAVEPOINT atributo_placing; {KEEP}"

FIND = "SELECT instance_id FROM allocation_allocation WHERE job_id = %(job_id)s"
FIND_MANY = """
SELECT job_id, instance_id FROM allocation_allocation WHERE job_id = ANY(%(job_ids)s::varchar[])
"""
LOOK = """
SELECT (SELECT instance_id FROM allocation_allocation WHERE job_id = %(job_id)s),
    (SELECT version FROM allocation_roster WHERE id = 1)
"""

# Locks, placement and counter are one call of a function in the schema. It returns false if the
# job has an instance already, or if the list of instances has another version.
PLACE = """
SELECT allocation_place(%(job_id)s, %(instance_id)s, %(version)s, %(strategy)s, %(candidates)s,
    %(score)s, %(actor)s, %(channel)s, %(bucket)s, %(part)s)
"""
PART = f"SELECT nextval('allocation_part') %% {PARTS}"
COUNTERS = f"""
INSERT INTO allocation_instanceload (instance_id, part, jobs)
SELECT id, part, 0 FROM allocation_instance, generate_series(0, {PARTS - 1}) AS part
WHERE id = ANY(%(instance_ids)s::varchar[]) ORDER BY id, part ON CONFLICT DO NOTHING
"""  # nosec B608 # of constants only

# With a capacity the counter grows only while there is room.
PLACE_WITHIN = f"""
WITH old AS (SELECT instance_id FROM allocation_allocation WHERE job_id = %(job_id)s),
roster AS (SELECT version FROM allocation_roster WHERE id = 1),
room AS (
    INSERT INTO allocation_instanceload AS l (instance_id, part, jobs)
    SELECT %(instance_id)s, 0, 1 FROM roster
    WHERE version = %(version)s AND %(capacity)s > 0 AND NOT EXISTS (SELECT 1 FROM old)
    ON CONFLICT (instance_id, part) DO UPDATE SET jobs = l.jobs + 1
    WHERE l.jobs < %(capacity)s RETURNING instance_id
), new AS (
    INSERT INTO allocation_allocation ({COLUMNS})
    SELECT %(job_id)s, instance_id, nextval('allocation_epoch'), clock_timestamp(),
        %(strategy)s, %(candidates)s, %(score)s, %(actor)s, %(channel)s, %(labels)s::jsonb
    FROM room RETURNING instance_id
)
SELECT (SELECT instance_id FROM old), (SELECT instance_id FROM new), (SELECT version FROM roster)
"""  # nosec B608 # of constants only

PLACE_MANY = f"""
WITH wanted AS (
    SELECT w ->> 0 AS job_id, w ->> 1 AS instance_id, (w ->> 2)::float8 AS score
    FROM json_array_elements(%(wanted)s::json) AS w
),
roster AS (SELECT version FROM allocation_roster WHERE id = 1),
old AS (
    SELECT job_id, instance_id FROM allocation_allocation
    WHERE job_id = ANY(ARRAY(SELECT job_id FROM wanted))
), new AS (
    INSERT INTO allocation_allocation ({COLUMNS})
    SELECT w.job_id, w.instance_id, nextval('allocation_epoch'), clock_timestamp(),
        %(strategy)s, %(candidates)s, w.score, %(actor)s, %(channel)s, %(labels)s::jsonb
    FROM roster, wanted w
    WHERE version = %(version)s AND NOT EXISTS (SELECT 1 FROM old WHERE old.job_id = w.job_id)
    ON CONFLICT (job_id) DO NOTHING RETURNING job_id, instance_id
), load AS (
    INSERT INTO allocation_instanceload AS l (instance_id, part, jobs)
    SELECT i.id, CASE WHEN i.capacity IS NULL THEN %(part)s ELSE 0 END, count(*)
    FROM new JOIN allocation_instance i ON i.id = new.instance_id GROUP BY i.id ORDER BY i.id
    ON CONFLICT (instance_id, part) DO UPDATE SET jobs = l.jobs + excluded.jobs
), total AS (
    SELECT (SELECT count(*) FROM old) + (SELECT count(*) FROM new) = %(count)s AS is_complete
)
SELECT job_id, instance_id, false FROM old
UNION ALL SELECT job_id, instance_id, true FROM new WHERE NOT (SELECT is_complete FROM total)
UNION ALL SELECT NULL, NULL, true FROM total WHERE is_complete
"""  # nosec B608 # of constants only

END = f"""
WITH gone AS (
    DELETE FROM allocation_allocation
    WHERE job_id = ANY(%(job_ids)s::varchar[])
    AND (%(epoch)s::bigint IS NULL OR epoch = %(epoch)s::bigint)
    RETURNING {COLUMNS}
), past AS (
    INSERT INTO allocation_pastallocation ({COLUMNS}, ended_at, ended_by, end_reason, ended_epoch)
    SELECT {COLUMNS}, clock_timestamp(), %(actor)s, %(reason)s, nextval('allocation_epoch')
    FROM gone
), load AS (
    INSERT INTO allocation_instanceload AS l (instance_id, part, jobs)
    SELECT i.id, CASE WHEN i.capacity IS NULL THEN %(part)s ELSE 0 END, -count(*)
    FROM gone JOIN allocation_instance i ON i.id = gone.instance_id GROUP BY i.id ORDER BY i.id
    ON CONFLICT (instance_id, part) DO UPDATE SET jobs = l.jobs + excluded.jobs
)
SELECT job_id, instance_id FROM gone
"""  # nosec B608 # of constants only

# The caller has the locks: no placement ends. Others may move the same job: who comes second waits
# for the row and finds it elsewhere. One moment ends and begins. The counters have a part for moves
# alone, since whoever counts in the same part would wait for the end of this transaction.
MOVE = f"""
WITH wanted AS (
    SELECT w ->> 0 AS job_id, w ->> 1 AS source, w ->> 2 AS target
    FROM json_array_elements(%(moves)s::json) AS w
), leaving AS (
    SELECT {COLUMNS}, target, nextval('allocation_epoch') AS new_epoch
    FROM wanted JOIN allocation_allocation USING (job_id) WHERE instance_id = source
), moved AS (
    UPDATE allocation_allocation a SET instance_id = leaving.target,
        epoch = leaving.new_epoch, allocated_at = statement_timestamp(),
        strategy = %(reason)s, candidates = %(candidates)s, score = NULL,
        actor = %(actor)s, channel = %(channel)s
    FROM leaving WHERE a.job_id = leaving.job_id AND a.epoch = leaving.epoch
    RETURNING leaving.*
), past AS (
    INSERT INTO allocation_pastallocation ({COLUMNS}, ended_at, ended_by, end_reason, ended_epoch)
    SELECT {COLUMNS}, statement_timestamp(), %(actor)s, left(%(reason)s || ' to ' || target, 64),
        new_epoch
    FROM moved
), load AS (
    INSERT INTO allocation_instanceload AS l (instance_id, part, jobs)
    SELECT i.id, CASE WHEN i.capacity IS NULL THEN {PARTS} ELSE 0 END, sum(d.jobs)
    FROM (SELECT instance_id, -1 FROM moved UNION ALL SELECT target, 1 FROM moved) AS d (id, jobs)
    JOIN allocation_instance i ON i.id = d.id GROUP BY i.id ORDER BY i.id
    ON CONFLICT (instance_id, part) DO UPDATE SET jobs = l.jobs + excluded.jobs
)
SELECT count(*) FROM moved
"""  # nosec B608 # of constants only

LAST_EPOCH = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM allocation_epoch"
# Whoever draws an epoch has this lock until its transaction is over, shared or alone.
DRAWING = f"""
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'advisory' AND classid = 0 AND objid = {AVAILABILITY_LOCK} AND objsubid = 1
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND granted AND pid <> pg_backend_pid()
"""  # nosec B608 # of constants only
EPOCHS = "SELECT nextval('allocation_epoch') FROM generate_series(1, %(count)s)"
