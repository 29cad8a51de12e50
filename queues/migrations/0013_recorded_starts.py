"""Who asks for an abort, what tells notes from forgeries, and who wants every start recorded."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("queues", "0012_paused_in_indexes")]

    operations = [
        migrations.AddField(
            model_name="queuedjob",
            name="abort_asked_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="slot",
            name="notes_key",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            model_name="queue",
            name="record_start",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="script",
            name="record_start",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
