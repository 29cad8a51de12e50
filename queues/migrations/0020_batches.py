"""Batches of jobs, and jobs that wait for the end of others."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('queues', '0019_flow'),
    ]

    operations = [
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, default='', max_length=255)),
                ('state', models.CharField(choices=[('open', 'Open'), ('running', 'Running'), ('complete', 'Complete'), ('failed', 'Failed')], default='open', max_length=8)),
                ('done', models.JSONField(blank=True, null=True)),
                ('failed', models.JSONField(blank=True, null=True)),
                ('callback_job', models.BigIntegerField(blank=True, null=True)),
                ('restarts', models.PositiveIntegerField(default=0)),
                ('complete_jobs', models.PositiveIntegerField(default=0)),
                ('failed_jobs', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('created_by', models.CharField(blank=True, default='', max_length=255)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'batches',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Dependency',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job_id', models.BigIntegerField()),
                ('after_id', models.BigIntegerField()),
                ('even_if_failed', models.BooleanField(default=False)),
            ],
            options={
                'verbose_name_plural': 'dependencies',
            },
        ),
        migrations.RemoveConstraint(
            model_name='queuedjob',
            name='job_rank_in_range',
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='awaited',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='delayed_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='batch',
            name='queue',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='queues.queue'),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='batch',
            field=models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='jobs', to='queues.batch'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('batch__isnull', False)), fields=['batch', 'status', 'id'], name='job_of_batch'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('slot__isnull', True), ('status', 'pending'), ('rank__gte', 190)), fields=['id'], name='job_blocked'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(models.Q(('paused_at__isnull', True)), ('parent__isnull', False), ('rank', -3), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (-2, 2)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (8, 12)), ('sticky_key__isnull', False)), models.Q(models.Q(('paused_at__isnull', True)), models.Q(('concurrent', False), ('sticky_key__isnull', False)), ('rank__range', (28, 32))), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (38, 42)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (48, 52)), ('sticky_key__isnull', False)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), models.Q(('concurrent', False), ('sticky_key__isnull', False)), ('rank__range', (68, 72))), models.Q(models.Q(('paused_at__isnull', True)), models.Q(('flow_id__isnull', False)), ('rank__range', (98, 102))), models.Q(models.Q(('paused_at__isnull', True), _negated=True), models.Q(('flow_id__isnull', False)), ('rank__range', (138, 142))), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (198, 202)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (208, 212)), ('sticky_key__isnull', False)), models.Q(models.Q(('paused_at__isnull', True)), models.Q(('concurrent', False), ('sticky_key__isnull', False)), ('rank__range', (228, 232))), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (238, 242)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (248, 252)), ('sticky_key__isnull', False)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), models.Q(('concurrent', False), ('sticky_key__isnull', False)), ('rank__range', (268, 272))), models.Q(models.Q(('paused_at__isnull', True)), models.Q(('flow_id__isnull', False)), ('rank__range', (298, 302))), models.Q(models.Q(('paused_at__isnull', True), _negated=True), models.Q(('flow_id__isnull', False)), ('rank__range', (338, 342))), _connector='OR'), name='job_rank_in_range'),
        ),
        migrations.AddIndex(
            model_name='dependency',
            index=models.Index(fields=['after_id', 'job_id'], name='dependency_by_end'),
        ),
        migrations.AddConstraint(
            model_name='dependency',
            constraint=models.UniqueConstraint(fields=('job_id', 'after_id'), name='dependency_once'),
        ),
        migrations.AddConstraint(
            model_name='dependency',
            constraint=models.CheckConstraint(condition=models.Q(('job_id', models.F('after_id')), _negated=True), name='dependency_on_another'),
        ),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(condition=models.Q(('state', 'running')), fields=['id'], name='batch_running'),
        ),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(condition=models.Q(('state', 'open')), fields=['created_at'], name='batch_open'),
        ),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at'], name='batch_by_end'),
        ),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(fields=['state', 'id'], name='batch_by_state'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('ended_at__isnull', True), ('state', 'open')), models.Q(('closed_at__isnull', False), ('ended_at__isnull', True), ('state', 'running')), models.Q(('closed_at__isnull', False), ('ended_at__isnull', False), ('state__in', ['complete', 'failed'])), _connector='OR'), name='batch_state_whole'),
        ),
    ]
