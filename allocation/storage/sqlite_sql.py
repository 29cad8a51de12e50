"""The statements that place jobs on SQLite and end their placements.

SQLite has one writer at a time, so plain statements between BEGIN IMMEDIATE and COMMIT are safe.
"""

from allocation.storage.postgresql_sql import COLUMNS

FIND = "SELECT instance_id FROM allocation_allocation WHERE job_id = :job_id"
NOW = "STRFTIME('%Y-%m-%d %H:%M:%f', 'now')"
INSERT = f"""
INSERT INTO allocation_allocation ({COLUMNS})
SELECT value ->> 0, value ->> 1, :first_epoch + key, {NOW}, :strategy, :candidates, value ->> 2,
    :actor, :channel, :labels
FROM json_each(:wanted) WHERE true ON CONFLICT (job_id) DO NOTHING
"""  # nosec B608 # of constants only
# One statement that is a transaction of its own: version, room, epoch, placement and counter.
# The view belongs to the connection and not to the schema, so that no migration meets it.
PLACE = """
INSERT INTO temp.atributo_place VALUES (:job_id, :instance_id, :version, :strategy, :candidates,
    :score, :actor, :channel, :capacity, :labels)
"""
VIEW = """
CREATE TEMP VIEW IF NOT EXISTS atributo_place AS
SELECT '' AS job_id, '' AS instance_id, 0 AS version, '' AS strategy,
    0 AS candidates, 0.0 AS score, '' AS actor, '' AS channel, 0 AS capacity, '' AS labels
"""
TRIGGER = f"""
CREATE TEMP TRIGGER IF NOT EXISTS atributo_placing INSTEAD OF INSERT ON atributo_place BEGIN
    UPDATE allocation_roster SET epoch = epoch + 1 WHERE id = 1 AND version = NEW.version;
    SELECT RAISE(ABORT, 'another version') WHERE changes() = 0;
    INSERT INTO allocation_allocation ({COLUMNS})
    SELECT NEW.job_id, NEW.instance_id, epoch, {NOW}, NEW.strategy, NEW.candidates,
        NEW.score, NEW.actor, NEW.channel, NEW.labels FROM allocation_roster WHERE id = 1;
    INSERT INTO allocation_instanceload (instance_id, part, jobs) VALUES (NEW.instance_id, 0, 1)
    ON CONFLICT (instance_id, part) DO UPDATE SET jobs = jobs + 1;
    SELECT RAISE(ABORT, 'no room') FROM allocation_instanceload
    WHERE instance_id = NEW.instance_id AND part = 0 AND jobs > NEW.capacity;
END
"""  # nosec B608 # of constants only
VERSION = "SELECT version FROM allocation_roster WHERE id = 1"
EPOCHS = "UPDATE allocation_roster SET epoch = epoch + :count WHERE id = 1 RETURNING epoch"
LAST_EPOCH = "SELECT epoch FROM allocation_roster WHERE id = 1"
LOAD = """
INSERT INTO allocation_instanceload (instance_id, part, jobs) VALUES (:instance_id, 0, :jobs)
ON CONFLICT (instance_id, part) DO UPDATE SET jobs = jobs + excluded.jobs
"""
FIND_MANY = """
SELECT job_id, instance_id FROM allocation_allocation
WHERE job_id IN (SELECT value FROM json_each(:job_ids))
"""
END = f"""
DELETE FROM allocation_allocation
WHERE job_id IN (SELECT value FROM json_each(:job_ids)) AND (:epoch IS NULL OR epoch = :epoch)
RETURNING {COLUMNS}
"""  # nosec B608 # of constants only
PAST = f"""
INSERT INTO allocation_pastallocation ({COLUMNS}, ended_at, ended_by, end_reason, ended_epoch)
VALUES (:job_id, :instance_id, :epoch, :allocated_at, :strategy, :candidates, :score, :actor,
    :channel, :labels, {NOW}, :ended_by, :reason, :ended_epoch)
"""  # nosec B608 # of constants only
CLOCK = f"SELECT {NOW}"
# The joins go from the moves to their placements, whatever the tables' statistics say.
LEAVING = """
FROM json_each(:moves) AS w CROSS JOIN allocation_allocation
WHERE job_id = w.value ->> 0 AND instance_id = w.value ->> 1
"""
MOVING = f"SELECT instance_id, w.value ->> 2 AS target, count(*) {LEAVING} GROUP BY 1, 2"
KEEP_MOVING = f"""
INSERT INTO allocation_pastallocation ({COLUMNS}, ended_at, ended_by, end_reason, ended_epoch)
SELECT {COLUMNS}, :moved_at, :actor, substr(:reason || ' to ' || (w.value ->> 2), 1, 64),
    :first_epoch + w.key {LEAVING}
"""
MOVE = """
UPDATE allocation_allocation SET instance_id = w.value ->> 2, epoch = :first_epoch + w.key,
    allocated_at = :moved_at, strategy = :reason, candidates = :candidates, score = NULL,
    actor = :actor, channel = :channel
FROM json_each(:moves) AS w
WHERE job_id = w.value ->> 0 AND instance_id = w.value ->> 1
"""
