"""A version goes on naming its transaction after retention has removed it; no row changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("allocation", "0009_drain_pace")]
    operations = [
        migrations.AlterField(
            "documentversion",
            "transaction",
            models.ForeignKey(
                "allocation.transaction",
                models.DO_NOTHING,
                null=True,
                blank=True,
                related_name="+",
                db_constraint=False,
                db_index=False,
            ),
        ),
    ]
