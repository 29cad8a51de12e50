"""One job of a sticky key runs at a time: the others wait in line, with ranks of their own."""

from django.db import migrations
from django.db.models import BooleanField, CheckConstraint, Index, Q, UniqueConstraint

AWAKE = Q(paused_at__isnull=True)
SERIAL = Q(sticky_key__isnull=False, concurrent=False)
WITH_TURN = Q(rank__range=(8, 12)) | Q(rank__range=(48, 52))
WAITING = Q(status="pending", slot__isnull=True)

# What a worker holds may run beside another job of its key. What waits gets in line, and the
# curator gives the turns.
HELD = """
    UPDATE queues_queuedjob SET concurrent = {yes}
    WHERE sticky_key IS NOT NULL AND slot_id IS NOT NULL"""
GET_IN_LINE = """
    UPDATE queues_queuedjob SET rank = rank + 20
    WHERE sticky_key IS NOT NULL AND slot_id IS NULL AND status = 'pending'
    AND (rank BETWEEN 8 AND 12 OR rank BETWEEN 48 AND 52)"""
LEAVE_THE_LINE = """
    UPDATE queues_queuedjob SET rank = rank - 20
    WHERE rank BETWEEN 28 AND 32 OR rank BETWEEN 68 AND 72"""


def let_them_go_on(apps, schema_editor):
    yes = "TRUE" if schema_editor.connection.vendor == "postgresql" else "1"
    schema_editor.execute(HELD.format(yes=yes))


def put_held_pushes_in_line(apps, schema_editor):
    pushes = apps.get_model("queues", "HeldPush").objects
    for push in pushes.all().iterator():
        in_line = 0 if push.columns.get("sticky_key") is None else 20
        rank = push.columns["rank"] + in_line
        pushes.filter(pk=push.pk).update(columns={**push.columns, "rank": rank, "concurrent": False})


def take_held_pushes_out(apps, schema_editor):
    pushes = apps.get_model("queues", "HeldPush").objects
    for push in pushes.all().iterator():
        in_line = 20 if push.columns["rank"] > 12 else 0
        columns = {**push.columns, "rank": push.columns["rank"] - in_line}
        columns.pop("concurrent", None)
        pushes.filter(pk=push.pk).update(columns=columns)


class Migration(migrations.Migration):
    dependencies = [("queues", "0015_callbacks_first")]

    operations = [
        migrations.AddField(
            model_name="queuedjob",
            name="concurrent",
            field=BooleanField(db_default=False, default=False),
        ),
        migrations.RemoveConstraint(model_name="queuedjob", name="job_rank_in_range"),
        migrations.RunPython(let_them_go_on, migrations.RunPython.noop),
        migrations.RunSQL(GET_IN_LINE, LEAVE_THE_LINE),
        migrations.RunPython(put_held_pushes_in_line, take_held_pushes_out),
        migrations.AddConstraint(
            model_name="queuedjob",
            constraint=CheckConstraint(
                condition=Q(AWAKE, rank=-3, parent__isnull=False, sticky_key__isnull=True)
                | Q(AWAKE, rank__range=(-2, 2), sticky_key__isnull=True)
                | Q(AWAKE, rank__range=(8, 12), sticky_key__isnull=False)
                | Q(AWAKE, SERIAL, rank__range=(28, 32))
                | Q(~AWAKE, rank__range=(38, 42), sticky_key__isnull=True)
                | Q(~AWAKE, rank__range=(48, 52), sticky_key__isnull=False)
                | Q(~AWAKE, SERIAL, rank__range=(68, 72)),
                name="job_rank_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="queuedjob",
            constraint=UniqueConstraint(
                fields=["queue", "sticky_key"],
                condition=SERIAL & WITH_TURN & Q(status__in=["pending", "progress"]),
                name="job_turn_once_per_key",
            ),
        ),
        migrations.AddConstraint(
            model_name="queuedjob",
            constraint=UniqueConstraint(
                fields=["sticky_key"],
                condition=SERIAL & Q(slot__isnull=False),
                name="job_held_once_per_key",
            ),
        ),
        migrations.AddIndex(
            model_name="queuedjob",
            index=Index(
                fields=["sticky_key", "queue", "rank", "due_at", "id"],
                condition=WAITING & SERIAL,
                name="job_waiting_by_key",
            ),
        ),
    ]
