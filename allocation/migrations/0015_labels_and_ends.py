"""A placement keeps the labels that its job asks for; its end has a number among the epochs."""

from django.db import migrations, models

LABELS = {"null": True, "blank": True}


def forget_numberless_ends(apps, schema_editor):
    """Nobody can follow the changes from before now: old ends have no number."""
    using = schema_editor.connection.alias
    roster = apps.get_model("allocation", "Roster").objects.using(using)
    if not apps.get_model("allocation", "PastAllocation").objects.using(using).exists():
        return
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SELECT last_value FROM allocation_epoch")
            roster.update(forgotten_epoch=cursor.fetchone()[0])
    else:
        roster.update(forgotten_epoch=models.F("epoch"))


class Migration(migrations.Migration):
    dependencies = [("allocation", "0014_tokens_in_history")]
    operations = [
        migrations.AddField("allocation", "labels", models.JSONField(**LABELS)),
        migrations.AddField("pastallocation", "labels", models.JSONField(**LABELS)),
        migrations.AddField("pastallocation", "ended_epoch", models.BigIntegerField(null=True)),
        migrations.AddField(
            "roster", "forgotten_epoch", models.BigIntegerField(default=0, db_default=0)
        ),
        migrations.RunPython(forget_numberless_ends, migrations.RunPython.noop),
    ]
