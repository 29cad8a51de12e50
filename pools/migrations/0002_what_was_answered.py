from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pools', '0001_pools'),
    ]

    operations = [
        migrations.AddField(
            model_name='pool',
            name='answer',
            field=models.JSONField(blank=True, default=list, editable=False),
        ),
        migrations.AddField(
            model_name='pool',
            name='began_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
