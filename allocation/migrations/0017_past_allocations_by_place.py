"""What left an instance is found by the instance, newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("allocation", "0016_changes_by_epoch")]
    operations = [
        migrations.AddIndex(
            "pastallocation",
            models.Index(fields=["instance_id", "-id"], name="past_allocation_by_place"),
        ),
    ]
