"""A transaction knows who began it and where; a version knows that it was rolled back."""

from django.db import migrations, models
from django.db.models import Exists, OuterRef

TEXT = {"default": "", "db_default": "", "blank": True}


def mark_undone(apps, schema_editor):
    """What the journal says was rolled back is no version any more."""
    undone = apps.get_model("allocation", "JournalEntry").objects.exclude(undo="")
    line = {"transaction": OuterRef("transaction"), "document": OuterRef("document")}
    of_version = undone.filter(**line, after_ref=OuterRef("ref"))
    versions = apps.get_model("allocation", "DocumentVersion").objects
    versions.filter(Exists(of_version), transaction__isnull=False).update(undone=True)


class Migration(migrations.Migration):
    dependencies = [("allocation", "0012_clusters_and_clocks")]
    operations = [
        migrations.AddField("transaction", "label", models.CharField(max_length=255, **TEXT)),
        migrations.AddField("transaction", "channel", models.CharField(max_length=16, **TEXT)),
        migrations.AddField("transaction", "caller", models.CharField(max_length=40, **TEXT)),
        migrations.AddField(
            "documentversion", "undone", models.BooleanField(default=False, db_default=False)
        ),
        migrations.RunPython(mark_undone, migrations.RunPython.noop),
    ]
