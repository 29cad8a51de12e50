"""PostgreSQL places a job in one call: locks, placement and counter, each seeing the newest rows."""

from django.db import migrations

# The locks are taken first and in expressions of their own: a statement that waits for a lock
# still sees the database as it was before it waited, but the next statement does not. Nothing
# here has a choice of plans: one made while the tables are small would be kept as they grow.
PLACE = """
CREATE OR REPLACE FUNCTION allocation_place(
    new_job varchar, chosen varchar, of_version bigint, by_strategy varchar, of_candidates int,
    with_score float8, by_actor varchar, by_channel varchar, job_bucket int, in_part int
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF pg_advisory_xact_lock_shared(1635021417) IS NULL
        OR pg_advisory_xact_lock_shared(1635019362, job_bucket) IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO allocation_allocation (job_id, instance_id, epoch, allocated_at, strategy,
        candidates, score, actor, channel)
    SELECT new_job, chosen, nextval('allocation_epoch'), clock_timestamp(), by_strategy,
        of_candidates, with_score, by_actor, by_channel
    FROM allocation_roster WHERE id = 1 AND version = of_version
    ON CONFLICT (job_id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO allocation_instanceload AS l (instance_id, part, jobs)
    VALUES (chosen, in_part, 1)
    ON CONFLICT (instance_id, part) DO UPDATE SET jobs = l.jobs + 1;
    RETURN true;
END $$
"""
DROP = "DROP FUNCTION IF EXISTS allocation_place"


def make_function(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(PLACE)


def drop_function(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(DROP)


class Migration(migrations.Migration):
    dependencies = [("allocation", "0010_keep_who_wrote")]
    operations = [migrations.RunPython(make_function, drop_function)]
