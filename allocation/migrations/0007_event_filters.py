"""Two filters at once are answered by an index alone, and so is the first event of a time."""

from django.db import migrations, models

FIELDS = {
    "event_by_subject": ["subject", "-id", "kind", "actor"],
    "event_by_kind": ["kind", "-id", "actor"],
    "event_by_time": ["at", "id"],
}


class Migration(migrations.Migration):
    dependencies = [("allocation", "0006_rebalance")]

    operations = [
        operation
        for name, fields in FIELDS.items()
        for operation in (
            migrations.RemoveIndex(model_name="event", name=name),
            migrations.AddIndex(model_name="event", index=models.Index(fields=fields, name=name)),
        )
    ]
