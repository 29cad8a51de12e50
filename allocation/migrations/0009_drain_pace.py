"""A pace that is changed while a drain runs counts from that moment."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("allocation", "0008_counter_parts")]
    operations = [
        migrations.AddField("drain", "paced_at", models.DateTimeField(null=True, blank=True)),
        migrations.AddField(
            "drain", "moved_before_pace", models.PositiveBigIntegerField(default=0)
        ),
    ]
