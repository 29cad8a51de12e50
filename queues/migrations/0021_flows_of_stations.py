"""Sticky jobs wait in flows of their instance; limits of scripts that people set."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

from atributo_site.core.models.fields import IdField

WITH_TURN = (
    Q(rank__range=(8, 12))
    | Q(rank__range=(48, 52))
    | Q(rank__range=(98, 102))
    | Q(rank__range=(138, 142))
)

# Before a way back: earlier versions know neither flows of instances nor sticky jobs in flows.
OUT_OF_FLOWS = """
    UPDATE queues_queuedjob SET rank = rank - 90, flow_id = NULL
    WHERE sticky_key IS NOT NULL AND flow_id IS NOT NULL"""
WITHOUT_STATIONS = "DELETE FROM queues_flow WHERE station <> ''"


class Migration(migrations.Migration):
    dependencies = [("queues", "0020_batches")]

    operations = [
        migrations.AddField(
            model_name="script",
            name="declared_limits",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="script",
            name="limits_by",
            field=models.CharField(blank=True, db_default="", default="", max_length=255),
        ),
        migrations.AddField(
            model_name="script",
            name="limits_at",
            field=models.DateTimeField(db_default=Now()),
        ),
        migrations.AddField(
            model_name="flow",
            name="station",
            field=IdField(blank=True, db_default="", default=""),
        ),
        migrations.RemoveConstraint(model_name="flow", name="flow_once"),
        migrations.RemoveIndex(model_name="flow", name="flow_ready"),
        migrations.RunSQL(migrations.RunSQL.noop, WITHOUT_STATIONS),
        migrations.AddIndex(
            model_name="flow",
            index=models.Index(
                fields=["queue", "station", "mount", "script", "rank", "time", "id"],
                condition=Q(rank__isnull=False),
                name="flow_ready",
            ),
        ),
        migrations.AddConstraint(
            model_name="flow",
            constraint=models.UniqueConstraint(
                fields=["queue", "key", "mount", "script", "station"], name="flow_once"
            ),
        ),
        migrations.RemoveConstraint(model_name="queuedjob", name="job_turn_once_per_key"),
        migrations.RunSQL(migrations.RunSQL.noop, OUT_OF_FLOWS),
        migrations.AddConstraint(
            model_name="queuedjob",
            constraint=models.UniqueConstraint(
                fields=["queue", "sticky_key"],
                condition=Q(sticky_key__isnull=False, concurrent=False)
                & WITH_TURN
                & Q(status__in=["pending", "progress"]),
                name="job_turn_once_per_key",
            ),
        ),
    ]
