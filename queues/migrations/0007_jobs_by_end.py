"""Every filter of the job list and of the raw list is answered by an index.

A period is looked for in all queues at once, by the moment of the end; the parent is compared
in the index, so that lists with and without callbacks use the same one.
"""

from django.db import migrations, models

BEGUN = models.Q(("status__in", ["progress", "complete", "failed"]))
OPEN = models.Q(("status__in", ["pending", "progress", "failed"]))
WAITING = models.Q(("slot__isnull", True), ("status", "pending"))
INDEXES = [
    models.Index(fields=["status", "id", "parent"], condition=BEGUN, name="job_begun_by_status"),
    models.Index(fields=["id", "due_at", "parent"], condition=WAITING, name="job_waiting_by_id"),
    models.Index(fields=["mount", "script", "id", "status", "parent"], name="job_by_script"),
    models.Index(
        fields=["mount", "script", "status", "id", "due_at", "parent"],
        condition=OPEN,
        name="job_by_script_and_status",
    ),
    models.Index(
        fields=["ended_at", "id"],
        condition=models.Q(("ended_at__isnull", False)),
        name="job_by_end",
    ),
]


class Migration(migrations.Migration):
    dependencies = [("queues", "0006_shown_jobs")]

    operations = [
        migrations.RemoveIndex(model_name="queuedjob", name="job_shown_by_status"),
        migrations.RemoveIndex(model_name="queuedjob", name="job_shown_waiting"),
        migrations.RemoveIndex(model_name="queuedjob", name="job_by_script"),
        *(migrations.AddIndex(model_name="queuedjob", index=index) for index in INDEXES),
    ]
