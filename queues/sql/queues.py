"""The statement that makes a queue."""

# The ORM asks whether it is there, sets a savepoint and asks again: five steps instead of one.
MAKE = """
    INSERT INTO queues_queue (name, max_workers, paused_by, retention_days, when_away, away_seconds)
    VALUES (%(name)s, %(max_workers)s, '', %(retention_days)s, %(when_away)s, %(away_seconds)s)
    ON CONFLICT (name) DO NOTHING RETURNING id"""
