"""How often a finished job was made to wait again: so many more runs are in order."""

from django.db import migrations, models
from django.db.models import F


def count_old_ones(apps, schema_editor):
    """What ran more often than it was told must have been reset: nobody counted then."""
    jobs = apps.get_model("queues", "QueuedJob").objects.using(schema_editor.connection.alias)
    often = jobs.exclude(repeat_times=-1).filter(runs__gt=F("repeat_times") + 1)
    often.update(resets=F("runs") - F("repeat_times") - 1)


class Migration(migrations.Migration):
    dependencies = [("queues", "0008_paused_jobs")]

    operations = [
        migrations.AddField(
            model_name="queuedjob",
            name="resets",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.RunPython(count_old_ones, migrations.RunPython.noop),
    ]
