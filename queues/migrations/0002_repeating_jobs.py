from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("queues", "0001_queues")]

    operations = [
        migrations.AddIndex(
            model_name="queuedjob",
            index=models.Index(
                fields=["due_at", "id"],
                condition=Q(("ended_at__isnull", True), Q(("repeat_times", 0), _negated=True)),
                name="job_repeating",
            ),
        ),
    ]
