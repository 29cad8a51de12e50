"""Counts and pages of the job list read these indexes, not each row for its parent."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("queues", "0005_sticky")]

    operations = [
        migrations.RemoveIndex(model_name="queuedjob", name="job_by_status"),
        migrations.AddIndex(
            model_name="queuedjob",
            index=models.Index(
                condition=models.Q(
                    ("parent__isnull", True), ("status__in", ["progress", "complete", "failed"])
                ),
                fields=["status", "id"],
                name="job_shown_by_status",
            ),
        ),
        migrations.AddIndex(
            model_name="queuedjob",
            index=models.Index(
                condition=models.Q(
                    ("slot__isnull", True), ("status", "pending"), ("parent__isnull", True)
                ),
                fields=["id", "due_at"],
                name="job_shown_waiting",
            ),
        ),
    ]
