"""Jobs that expire."""

from django.db import migrations, models
from django.db.models import Index, Q

OUTCOMES = ("running", "complete", "failed", "lost", "released", "aborted", "snoozed")
WAITING = Q(status="pending", slot__isnull=True)


class Migration(migrations.Migration):
    dependencies = [("queues", "0017_threads_of_scripts")]

    operations = [
        migrations.AddField(
            model_name="queuedjob",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="queuedjob",
            name="expired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="run",
            name="outcome",
            field=models.CharField(
                choices=[(outcome, outcome) for outcome in OUTCOMES], max_length=8
            ),
        ),
        migrations.RemoveIndex(model_name="queuedjob", name="job_failed"),
        migrations.AddIndex(
            model_name="queuedjob",
            index=Index(
                fields=["id", "parent"],
                condition=Q(status="failed", aborted_at__isnull=True, expired_at__isnull=True),
                name="job_failed_by_itself",
            ),
        ),
        migrations.AddIndex(
            model_name="queuedjob",
            index=Index(
                fields=["id", "parent"],
                condition=Q(expired_at__isnull=False),
                name="job_expired",
            ),
        ),
        migrations.AddIndex(
            model_name="queuedjob",
            index=Index(
                fields=["expires_at"],
                condition=WAITING & Q(expires_at__isnull=False),
                name="job_expires",
            ),
        ),
    ]
