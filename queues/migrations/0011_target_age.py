"""A queue may say how old its oldest due job may become; those that exist take the default."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("queues", "0010_aborted_jobs")]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="target_age_seconds",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="queue",
            constraint=models.CheckConstraint(
                condition=Q(
                    ("target_age_seconds", None),
                    ("target_age_seconds__range", (1, 31536000)),
                    _connector="OR",
                ),
                name="queue_target_age_in_range",
            ),
        ),
    ]
