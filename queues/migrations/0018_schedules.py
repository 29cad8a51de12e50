"""Schedules, and the runs that they expect."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('queues', '0017_threads_of_scripts'),
    ]

    operations = [
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=128, unique=True)),
                ('mount', models.CharField(max_length=255)),
                ('script', models.CharField(max_length=128)),
                ('data', models.JSONField(blank=True, null=True)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('rule', models.JSONField()),
                ('zone', models.CharField(default='UTC', max_length=64)),
                ('starts_at', models.DateTimeField(blank=True, null=True)),
                ('ends_at', models.DateTimeField(blank=True, null=True)),
                ('most_runs', models.PositiveIntegerField(blank=True, null=True)),
                ('jitter_ms', models.BigIntegerField(default=0)),
                ('overlap', models.CharField(choices=[('skip', 'skip'), ('queue_one', 'queue_one'), ('queue_all', 'queue_all'), ('beside', 'beside'), ('cancel', 'cancel')], default='skip', max_length=9)),
                ('catch_up_ms', models.BigIntegerField(default=3600000)),
                ('grace_ms', models.BigIntegerField(default=60000)),
                ('pause_after_failures', models.PositiveIntegerField(blank=True, null=True)),
                ('backfill_at_once', models.PositiveIntegerField(default=1)),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('runs', models.PositiveIntegerField(default=0)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('paused_at', models.DateTimeField(blank=True, null=True)),
                ('paused_by', models.CharField(blank=True, default='', max_length=255)),
                ('pause_reason', models.CharField(blank=True, default='', max_length=2000)),
                ('paused_until', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('service', models.CharField(blank=True, default='', max_length=255)),
                ('declared', models.JSONField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('created_by', models.CharField(blank=True, default='', max_length=255)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='schedules', to='queues.queue')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='ScheduledRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('slot', 'Slot'), ('manual', 'Manual'), ('backfill', 'Backfill')], default='slot', max_length=8)),
                ('slot_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('pushed', 'Pushed'), ('complete', 'Complete'), ('failed', 'Failed'), ('aborted', 'Aborted'), ('skipped', 'Skipped'), ('missed', 'Missed')], max_length=8)),
                ('reason', models.CharField(blank=True, default='', max_length=500)),
                ('job_id', models.BigIntegerField(blank=True, null=True)),
                ('start_by', models.DateTimeField()),
                ('dispatched_at', models.DateTimeField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('schedule', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='expected_runs', to='queues.schedule')),
            ],
            options={
                'ordering': ['-slot_at', '-id'],
            },
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('ended_at__isnull', True), ('next_at__isnull', False), ('paused_at__isnull', True)), fields=['next_at'], name='schedule_due'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('paused_until__isnull', False)), fields=['paused_until'], name='schedule_paused_until'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('paused_by', 'system')), fields=['name'], name='schedule_paused_itself'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('service', ''), _negated=True), fields=['service'], name='schedule_of_service'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('overlap__in', ['skip', 'queue_one', 'queue_all', 'beside', 'cancel'])), name='schedule_overlap_known'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('ended_at__isnull', True), ('next_at__isnull', True), _connector='OR'), name='schedule_ended_expects_nothing'),
        ),
        migrations.AddIndex(
            model_name='scheduledrun',
            index=models.Index(fields=['schedule', 'slot_at'], name='scheduled_run_by_slot'),
        ),
        migrations.AddIndex(
            model_name='scheduledrun',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'pushed'])), fields=['schedule', 'slot_at'], name='scheduled_run_open'),
        ),
        migrations.AddIndex(
            model_name='scheduledrun',
            index=models.Index(condition=models.Q(('started_at__isnull', True), ('state__in', ['waiting', 'pushed'])), fields=['start_by'], name='scheduled_run_unstarted'),
        ),
        migrations.AddIndex(
            model_name='scheduledrun',
            index=models.Index(fields=['slot_at'], name='scheduled_run_by_time'),
        ),
        migrations.AddConstraint(
            model_name='scheduledrun',
            constraint=models.UniqueConstraint(condition=models.Q(('kind__in', ['slot', 'backfill'])), fields=('schedule', 'slot_at'), name='scheduled_run_once_per_slot'),
        ),
        migrations.AddConstraint(
            model_name='scheduledrun',
            constraint=models.UniqueConstraint(condition=models.Q(('job_id__isnull', False)), fields=('job_id',), name='scheduled_job_once'),
        ),
        migrations.AddConstraint(
            model_name='scheduledrun',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'pushed'), _negated=True), ('job_id__isnull', False), _connector='OR'), name='scheduled_run_pushed_has_job'),
        ),
    ]
