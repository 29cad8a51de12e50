import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('queues', '0002_repeating_jobs'),
    ]

    operations = [
        migrations.CreateModel(
            name='Operation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(choices=[('retry', 'Retry'), ('abort', 'Abort'), ('delete', 'Delete')], max_length=8)),
                ('query', models.JSONField(default=dict)),
                ('said', models.CharField(max_length=1000)),
                ('reason', models.CharField(blank=True, default='', max_length=2000)),
                ('actor', models.CharField(max_length=255)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('complete', 'Complete'), ('aborted', 'Aborted')], default='waiting', max_length=8)),
                ('upto', models.BigIntegerField()),
                ('expected', models.PositiveIntegerField()),
                ('visited', models.PositiveIntegerField(default=0)),
                ('changed', models.PositiveIntegerField(default=0)),
                ('refused', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('ended_at', None)), fields=['id'], name='operation_unfinished')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state__in', ['waiting', 'running'])), models.Q(('ended_at__isnull', False), ('state__in', ['complete', 'aborted'])), _connector='OR'), name='operation_ended_has_time'), models.CheckConstraint(condition=models.Q(('visited__gte', models.F('changed'))), name='operation_changes_what_it_visits')],
            },
        ),
        migrations.CreateModel(
            name='OperationRefusal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job_id', models.BigIntegerField()),
                ('reason', models.CharField(max_length=500)),
                ('operation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refusals', to='queues.operation')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='HourCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pushed', models.PositiveIntegerField(default=0)),
                ('started', models.PositiveIntegerField(default=0)),
                ('complete', models.PositiveIntegerField(default=0)),
                ('failed', models.PositiveIntegerField(default=0)),
                ('retried', models.PositiveIntegerField(default=0)),
                ('wait_ms', models.BigIntegerField(default=0)),
                ('run_ms', models.BigIntegerField(default=0)),
                ('wait_0', models.PositiveIntegerField(default=0)),
                ('wait_1', models.PositiveIntegerField(default=0)),
                ('wait_2', models.PositiveIntegerField(default=0)),
                ('wait_3', models.PositiveIntegerField(default=0)),
                ('wait_4', models.PositiveIntegerField(default=0)),
                ('wait_5', models.PositiveIntegerField(default=0)),
                ('run_0', models.PositiveIntegerField(default=0)),
                ('run_1', models.PositiveIntegerField(default=0)),
                ('run_2', models.PositiveIntegerField(default=0)),
                ('run_3', models.PositiveIntegerField(default=0)),
                ('run_4', models.PositiveIntegerField(default=0)),
                ('run_5', models.PositiveIntegerField(default=0)),
                ('hour', models.DateTimeField()),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='hours', to='queues.queue')),
            ],
            options={
                'ordering': ['queue', 'hour'],
                'indexes': [models.Index(fields=['hour'], name='hour_count_by_hour')],
                'constraints': [models.UniqueConstraint(fields=('queue', 'hour'), name='hour_count_once')],
            },
        ),
    ]
