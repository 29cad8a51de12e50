"""PostgreSQL places a job with one call: locks, version, room, placement and counter.

The numbers are those of the locks in allocation/sql.py. A function that is volatile sees, after
it has waited for a lock, what the one before it has committed.
"""

from django.db import migrations

SIGNATURE = 'atributo_place(varchar, varchar, bigint, varchar, int, float8, varchar, varchar, int, int)'
FUNCTION = """
CREATE OR REPLACE FUNCTION atributo_place(
    _job varchar, _instance varchar, _version bigint, _strategy varchar, _candidates int,
    _score float8, _actor varchar, _channel varchar, _capacity int, _bucket int,
    OUT existing varchar, OUT placed varchar, OUT roster_version bigint
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    SELECT instance_id INTO existing FROM allocation_allocation WHERE job_id = _job;
    IF FOUND THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1635021417),
        pg_advisory_xact_lock_shared(1635019362, _bucket);
    SELECT version INTO roster_version FROM allocation_roster WHERE id = 1;
    IF roster_version = _version THEN
        INSERT INTO allocation_allocation (job_id, instance_id, epoch, allocated_at, strategy,
            candidates, score, actor, channel)
        VALUES (_job, _instance, nextval('allocation_epoch'), clock_timestamp(), _strategy,
            _candidates, _score, _actor, _channel)
        ON CONFLICT (job_id) DO NOTHING;
        IF FOUND THEN
            INSERT INTO allocation_instanceload AS l (instance_id, part, jobs)
            SELECT _instance, CASE WHEN _capacity IS NULL THEN pg_backend_pid() % 8 ELSE 0 END, 1
            WHERE _capacity IS NULL OR _capacity > 0
            ON CONFLICT (instance_id, part) DO UPDATE SET jobs = l.jobs + 1
            WHERE _capacity IS NULL OR l.jobs < _capacity;
            IF FOUND THEN
                placed := _instance;
            ELSE  -- no room
                DELETE FROM allocation_allocation WHERE job_id = _job;
            END IF;
            RETURN;
        END IF;
    END IF;
    SELECT instance_id INTO existing FROM allocation_allocation WHERE job_id = _job;
END $$
"""


def create(apps, schema_editor):
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute(FUNCTION, params=None)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute(f'DROP FUNCTION IF EXISTS {SIGNATURE}')


class Migration(migrations.Migration):

    dependencies = [
        ('allocation', '0006_rebalance'),
    ]

    operations = [
        migrations.RunPython(create, drop),
    ]
