from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('allocation', '0003_transactions'),
    ]

    operations = [
        migrations.CreateModel(
            name='FenceCount',
            fields=[
                ('kind', models.CharField(choices=[('allocation', 'an old epoch of an allocation'), ('transaction', 'a transaction that was taken over'), ('attempt', 'an attempt that was lost or aborted'), ('run', 'a result that came too late'), ('lease', 'a lease that is held by another')], max_length=16, primary_key=True, serialize=False)),
                ('refused', models.PositiveBigIntegerField(default=0)),
                ('last_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
    ]
