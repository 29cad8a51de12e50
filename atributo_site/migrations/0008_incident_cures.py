"""Keep with an incident what helps against it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('atributo_site', '0007_incidents'),
    ]

    operations = [
        migrations.AddField(
            model_name='incident',
            name='cure',
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
