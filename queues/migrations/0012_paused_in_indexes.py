"""Whether a waiting job is paused is compared in its index, without a look at the row."""

from django.db import migrations, models

OPEN = models.Q(("status__in", ["pending", "progress", "failed"]))
WAITING = models.Q(("slot__isnull", True), ("status", "pending"))
INDEXES = [
    models.Index(
        fields=["id", "due_at", "parent", "paused_at"],
        condition=WAITING,
        name="job_waiting_by_id",
    ),
    models.Index(
        fields=["mount", "script", "status", "id", "due_at", "parent", "paused_at"],
        condition=OPEN,
        name="job_by_script_and_status",
    ),
]


class Migration(migrations.Migration):
    dependencies = [("queues", "0011_target_age")]

    operations = [
        operation
        for index in INDEXES
        for operation in (
            migrations.RemoveIndex(model_name="queuedjob", name=index.name),
            migrations.AddIndex(model_name="queuedjob", index=index),
        )
    ]
