"""Events name their cluster (those that are there: none), and numbers know clocks that went back."""

from django.db import migrations, models

from atributo_site.core.models.event import ThisCluster


class AddCluster(migrations.AddField):
    """PostgreSQL would otherwise write every row anew, and ask for the number each time."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor != "postgresql":
            return super().database_forwards(app_label, schema_editor, from_state, to_state)
        table = "ALTER TABLE allocation_event"
        schema_editor.execute(f"{table} ADD COLUMN cluster bigint NOT NULL DEFAULT 0")
        here = "(pg_control_system()).system_identifier"
        schema_editor.execute(f"{table} ALTER COLUMN cluster SET DEFAULT {here}")


class Migration(migrations.Migration):
    dependencies = [("allocation", "0011_place_in_one_call")]
    operations = [
        migrations.AddField("idnumber", "set_back_ms", models.BigIntegerField(default=0)),
        AddCluster(
            "event", "cluster", models.BigIntegerField(db_default=ThisCluster(), editable=False)
        ),
        migrations.RemoveIndex("event", "event_by_writer"),
        migrations.AddIndex(
            "event", models.Index(fields=["cluster", "writer", "id"], name="event_by_cluster")
        ),
    ]
