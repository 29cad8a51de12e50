"""Versions remember the lock token of their key: no key may count below it again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("allocation", "0013_who_began_and_what_was_undone")]
    operations = [
        migrations.AddField(
            "documentversion", "lock_token", models.BigIntegerField(null=True, blank=True)
        ),
    ]
