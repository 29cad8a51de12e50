"""Name the process that works on a request, so that its death is noticed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('atributo_site', '0005_token_source'),
    ]

    operations = [
        migrations.AddField(
            model_name='idempotencykey',
            name='holder',
            field=models.CharField(db_default='', default='', max_length=255),
        ),
    ]
