from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('allocation', '0004_fencing'),
    ]

    operations = [
        migrations.AddField(
            model_name='hold',
            name='count',
            field=models.PositiveIntegerField(default=1),
        ),
    ]
