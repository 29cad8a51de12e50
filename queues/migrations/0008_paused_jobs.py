"""A repeating job can be paused: it keeps its moment, under a rank that no worker asks for."""

from django.db import migrations, models
from django.db.models import Q

TEXT = {"blank": True, "db_default": "", "default": "", "max_length": 255}
AWAKE = Q(paused_at__isnull=True)


class Migration(migrations.Migration):
    dependencies = [("queues", "0007_jobs_by_end")]

    operations = [
        migrations.RemoveConstraint(model_name="queuedjob", name="job_rank_in_range"),
        migrations.AddField(
            model_name="queuedjob",
            name="paused_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="queuedjob", name="paused_by", field=models.CharField(**TEXT)
        ),
        migrations.AddField(
            model_name="queuedjob", name="pause_reason", field=models.CharField(**TEXT)
        ),
        migrations.AddConstraint(
            model_name="queuedjob",
            constraint=models.CheckConstraint(
                condition=Q(AWAKE, rank__range=(-2, 2), sticky_key__isnull=True)
                | Q(AWAKE, rank__range=(8, 12), sticky_key__isnull=False)
                | Q(~AWAKE, rank__range=(38, 42), sticky_key__isnull=True)
                | Q(~AWAKE, rank__range=(48, 52), sticky_key__isnull=False),
                name="job_rank_in_range",
            ),
        ),
    ]
