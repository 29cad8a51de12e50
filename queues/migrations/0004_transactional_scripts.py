import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('queues', '0003_operations'),
    ]

    operations = [
        migrations.CreateModel(
            name='AttemptTransaction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveIntegerField()),
                ('transaction', models.BigIntegerField(unique=True)),
                ('slot', models.BigIntegerField()),
                ('slot_epoch', models.BigIntegerField()),
                ('job', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='transactions', to='queues.queuedjob')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['job', 'attempt'], name='transactions_of_attempt')],
            },
        ),
        migrations.CreateModel(
            name='HeldPush',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('transaction', models.BigIntegerField()),
                ('columns', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='queues.queue')),
            ],
            options={
                'verbose_name_plural': 'held pushes',
                'ordering': ['id'],
                'indexes': [models.Index(fields=['transaction', 'id'], name='pushes_of_transaction')],
                'constraints': [models.CheckConstraint(condition=models.Q(('id__gt', 0)), name='held_push_has_an_id')],
            },
        ),
    ]
