"""Counts of the job list read this index alone, without a look at each row for its parent."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("queues", "0004_transactional_scripts")]

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
    ]
