"""A number for each connection on PostgreSQL, so that neighbours use different counters."""

from django.db import migrations


def make_sequence(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE SEQUENCE IF NOT EXISTS allocation_part")


def drop_sequence(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP SEQUENCE IF EXISTS allocation_part")


class Migration(migrations.Migration):
    dependencies = [("allocation", "0007_event_filters")]
    operations = [migrations.RunPython(make_sequence, drop_sequence)]
