"""What a person aborted is told apart from what failed, and each is counted by its own index."""

from django.db import migrations, models

INDEXES = [
    models.Index(
        fields=["id", "parent"],
        condition=models.Q(("aborted_at__isnull", True), ("status", "failed")),
        name="job_failed",
    ),
    models.Index(
        fields=["id", "parent"],
        condition=models.Q(("aborted_at__isnull", False)),
        name="job_aborted",
    ),
]


class Migration(migrations.Migration):
    dependencies = [("queues", "0009_resets")]

    operations = [
        migrations.AddIndex(model_name="queuedjob", index=index) for index in INDEXES
    ]
