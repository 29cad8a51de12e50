"""Callbacks have a rank of their own, before all others."""

from django.db import migrations
from django.db.models import CheckConstraint, Q

AWAKE = Q(paused_at__isnull=True)
MOVE = "UPDATE queues_queuedjob SET rank = {rank} WHERE parent IS NOT NULL AND rank {found}"


class Migration(migrations.Migration):
    dependencies = [("queues", "0014_script_runs")]

    operations = [
        migrations.RemoveConstraint(model_name="queuedjob", name="job_rank_in_range"),
        migrations.AddConstraint(
            model_name="queuedjob",
            constraint=CheckConstraint(
                condition=Q(AWAKE, rank=-3, parent__isnull=False, sticky_key__isnull=True)
                | Q(AWAKE, rank__range=(-2, 2), sticky_key__isnull=True)
                | Q(AWAKE, rank__range=(8, 12), sticky_key__isnull=False)
                | Q(~AWAKE, rank__range=(38, 42), sticky_key__isnull=True)
                | Q(~AWAKE, rank__range=(48, 52), sticky_key__isnull=False),
                name="job_rank_in_range",
            ),
        ),
        migrations.RunSQL(
            MOVE.format(rank=-3, found="BETWEEN -2 AND 2 AND status = 'pending'"),
            MOVE.format(rank=0, found="= -3"),
        ),
    ]
