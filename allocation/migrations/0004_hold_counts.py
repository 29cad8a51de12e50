from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('allocation', '0003_transactions'),
    ]

    operations = [
        migrations.AddField(
            model_name='hold',
            name='count',
            field=models.PositiveIntegerField(default=1),
        ),
    ]
