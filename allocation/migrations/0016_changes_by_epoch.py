"""Changes of placements are found by their epoch."""

from django.db import migrations, models


def by(field, name):
    return models.Index(fields=[field], name=name)


class Migration(migrations.Migration):
    dependencies = [("allocation", "0015_labels_and_ends")]
    operations = [
        migrations.AddIndex("allocation", by("epoch", "allocation_by_epoch")),
        migrations.AddIndex("pastallocation", by("epoch", "past_allocation_by_epoch")),
        migrations.AddIndex("pastallocation", by("ended_epoch", "past_allocation_by_ended")),
    ]
