"""How many jobs of a script one process runs at the same time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("queues", "0016_turns")]

    operations = [
        migrations.AddField(
            model_name="script",
            name="threads",
            field=models.PositiveIntegerField(db_default=1, default=1),
        ),
    ]
