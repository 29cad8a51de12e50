"""Scripts that run now are asked for by a row, which a worker takes."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('queues', '0013_recorded_starts'),
    ]

    operations = [
        migrations.CreateModel(
            name='ScriptRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=32, unique=True)),
                ('asked_by', models.CharField(max_length=255)),
                ('work', models.JSONField()),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('ended', 'Ended')], default='waiting', max_length=8)),
                ('begin_by', models.DateTimeField()),
                ('holder', models.CharField(blank=True, default='', max_length=255)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('is_left', models.BooleanField(default=False)),
                ('answer', models.JSONField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['id'], name='script_run_waiting'), models.Index(fields=['created_at'], name='script_run_created')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('state', 'ended')), models.Q(models.Q(('state', 'ended'), _negated=True), ('answer__isnull', True)), _connector='OR'), name='script_run_ended_has_answer')],
            },
        ),
    ]
