"""The statements that make a queue, and that read a service for those who run its scripts."""

# The ORM asks whether it is there, sets a savepoint and asks again: five steps instead of one.
MAKE = """
    INSERT INTO queues_queue (name, max_workers, paused_by, retention_days, when_away, away_seconds)
    VALUES (%(name)s, %(max_workers)s, '', %(retention_days)s, %(when_away)s, %(away_seconds)s)
    ON CONFLICT (name) DO NOTHING RETURNING id"""

# The ORM would write to 2 MB of the pages that a child shares with its parent until then.
SERVICE_AT = """
    SELECT id, name, version, folder, development, definitions, configuration
    FROM queues_service WHERE mount = %(mount)s"""
SCRIPTS_OF = "SELECT name, path, schema, defaults FROM queues_script WHERE service_id = %(service)s"
