"""Make all tables of queues at once, as migrations 0001 to 0015 made them step by step."""

import atributo_site.core.models.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import queues.models.job
from django.db import migrations, models


def first_rows(apps, schema_editor):
    """Make the queue that always exists, and the one row of the catalogue."""
    using = schema_editor.connection.alias
    queue, _ = apps.get_model("queues", "Queue").objects.using(using).get_or_create(name="default")
    apps.get_model("queues", "Slot").objects.using(using).get_or_create(queue=queue, number=0)
    apps.get_model("queues", "Catalogue").objects.using(using).get_or_create(id=1)


def tune_hot_tables(apps, schema_editor):
    """Rows of jobs and slots change often: leave room beside them and vacuum early."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for table, room in [("queues_queuedjob", 85), ("queues_slot", 50), ("queues_minutecount", 50)]:
        schema_editor.execute(
            f"ALTER TABLE {table} SET (fillfactor = {room}, "
            "autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)"
        )


class Migration(migrations.Migration):

    replaces = [
        ('queues', '0001_queues'),
        ('queues', '0002_repeating_jobs'),
        ('queues', '0003_operations'),
        ('queues', '0004_transactional_scripts'),
        ('queues', '0005_sticky'),
        ('queues', '0006_shown_jobs'),
        ('queues', '0007_jobs_by_end'),
        ('queues', '0008_paused_jobs'),
        ('queues', '0009_resets'),
        ('queues', '0010_aborted_jobs'),
        ('queues', '0011_target_age'),
        ('queues', '0012_paused_in_indexes'),
        ('queues', '0013_recorded_starts'),
        ('queues', '0014_script_runs'),
        ('queues', '0015_callbacks_first'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Service',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('mount', models.CharField(max_length=255, unique=True)),
                ('folder', models.CharField(max_length=1024)),
                ('name', models.CharField(max_length=128)),
                ('version', models.CharField(max_length=64)),
                ('description', models.TextField(blank=True, default='')),
                ('definitions', models.JSONField(blank=True, default=dict)),
                ('configuration', models.JSONField(blank=True, default=dict)),
                ('development', models.BooleanField(default=False)),
                ('revision', models.PositiveIntegerField(default=1)),
                ('installed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['mount'],
            },
        ),
        migrations.CreateModel(
            name='Catalogue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.BigIntegerField(default=1)),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('id', 1)), name='catalogue_only_one'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Queue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255, unique=True)),
                ('max_workers', models.PositiveIntegerField(default=1)),
                ('paused_at', models.DateTimeField(blank=True, null=True)),
                ('paused_by', models.CharField(blank=True, default='', max_length=255)),
                ('retention_days', models.PositiveIntegerField(default=30)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('away_seconds', models.PositiveIntegerField(default=30)),
                ('when_away', models.CharField(choices=[('wait', 'wait'), ('move', 'move'), ('fail', 'fail')], default='wait', max_length=8)),
                ('target_age_seconds', models.PositiveIntegerField(blank=True, null=True)),
                ('record_start', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('max_workers__gte', 1), ('max_workers__lte', 1000)), name='queue_max_workers_in_range'),
                    models.CheckConstraint(condition=models.Q(('when_away__in', ['wait', 'move', 'fail'])), name='queue_when_away_known'),
                    models.CheckConstraint(condition=models.Q(('target_age_seconds', None), ('target_age_seconds__range', (1, 31536000)), _connector='OR'), name='queue_target_age_in_range'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Slot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('holder', models.CharField(blank=True, default='', max_length=255)),
                ('epoch', models.BigIntegerField(default=0)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('rung_at', models.DateTimeField(blank=True, null=True)),
                ('queue', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='queues.queue')),
                ('notes_key', models.CharField(blank=True, db_default='', default='', max_length=64)),
            ],
            options={
                'ordering': ['queue', 'number'],
                'constraints': [
                    models.UniqueConstraint(fields=('queue', 'number'), name='slot_number_once'),
                    models.CheckConstraint(condition=models.Q(('holder', ''), ('leased_until__isnull', False), _connector='OR'), name='slot_held_expires'),
                ],
            },
        ),
        migrations.CreateModel(
            name='QueuedJob',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('mount', models.CharField(blank=True, max_length=255)),
                ('script', models.CharField(max_length=255)),
                ('data', models.JSONField(blank=True, null=True)),
                ('result', models.JSONField(blank=True, null=True)),
                ('status', models.CharField(choices=[('pending', 'pending'), ('progress', 'progress'), ('complete', 'complete'), ('failed', 'failed')], default='pending', max_length=8)),
                ('rank', models.SmallIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('pushed_by', models.CharField(blank=True, default='', max_length=255)),
                ('slot_epoch', models.BigIntegerField(blank=True, null=True)),
                ('suspect', models.BooleanField(default=False)),
                ('attempt', models.PositiveIntegerField(default=0)),
                ('runs', models.PositiveIntegerField(default=0)),
                ('run_failures', models.PositiveIntegerField(default=0)),
                ('lost', models.PositiveSmallIntegerField(default=0)),
                ('max_failures', models.IntegerField(default=0)),
                ('repeat_times', models.IntegerField(default=0)),
                ('repeat_until', models.DateTimeField(blank=True, null=True)),
                ('repeat_delay_ms', models.BigIntegerField(default=0)),
                ('back_off', models.JSONField(blank=True, default=queues.models.job.default_back_off)),
                ('timeout_ms', models.BigIntegerField(blank=True, null=True)),
                ('success', models.JSONField(blank=True, null=True)),
                ('failure', models.JSONField(blank=True, null=True)),
                ('unique_key', models.CharField(blank=True, max_length=255, null=True)),
                ('sticky_key', atributo_site.core.models.fields.IdField(blank=True, null=True)),
                ('parent', models.BigIntegerField(blank=True, null=True)),
                ('parent_run', models.PositiveIntegerField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('aborted_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True, default='')),
                ('fingerprint', models.CharField(blank=True, default='', max_length=16)),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='queues.queue')),
                ('slot', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='queues.slot')),
                ('routed_epoch', models.BigIntegerField(blank=True, null=True)),
                ('routed_to', atributo_site.core.models.fields.IdField(blank=True, null=True)),
                ('paused_at', models.DateTimeField(blank=True, null=True)),
                ('paused_by', models.CharField(blank=True, db_default='', default='', max_length=255)),
                ('pause_reason', models.CharField(blank=True, db_default='', default='', max_length=255)),
                ('resets', models.PositiveIntegerField(db_default=0, default=0)),
                ('abort_asked_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(condition=models.Q(('slot__isnull', True), ('status', 'pending')), fields=['queue', 'rank', 'due_at', 'id'], name='job_waiting'),
                    models.Index(condition=models.Q(('slot__isnull', False)), fields=['slot'], name='job_held_by_slot'),
                    models.Index(condition=models.Q(('status__in', ['complete', 'failed'])), fields=['queue', 'ended_at'], name='job_ended'),
                    models.Index(condition=models.Q(('status', 'failed')), fields=['fingerprint', 'id'], name='job_by_fingerprint'),
                    models.Index(fields=['created_at'], name='job_by_push'),
                    models.Index(condition=models.Q(('ended_at__isnull', True), models.Q(('repeat_times', 0), _negated=True)), fields=['due_at', 'id'], name='job_repeating'),
                    models.Index(condition=models.Q(('slot__isnull', True), ('status', 'pending'), ('sticky_key__isnull', False)), fields=['routed_to', 'queue', 'rank', 'due_at', 'id'], name='job_waiting_routed'),
                    models.Index(condition=models.Q(('sticky_key__isnull', False)), fields=['sticky_key', 'slot'], name='job_by_sticky_key'),
                    models.Index(condition=models.Q(('status__in', ['progress', 'complete', 'failed'])), fields=['status', 'id', 'parent'], name='job_begun_by_status'),
                    models.Index(fields=['mount', 'script', 'id', 'status', 'parent'], name='job_by_script'),
                    models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at', 'id'], name='job_by_end'),
                    models.Index(condition=models.Q(('aborted_at__isnull', True), ('status', 'failed')), fields=['id', 'parent'], name='job_failed'),
                    models.Index(condition=models.Q(('aborted_at__isnull', False)), fields=['id', 'parent'], name='job_aborted'),
                    models.Index(condition=models.Q(('slot__isnull', True), ('status', 'pending')), fields=['id', 'due_at', 'parent', 'paused_at'], name='job_waiting_by_id'),
                    models.Index(condition=models.Q(('status__in', ['pending', 'progress', 'failed'])), fields=['mount', 'script', 'status', 'id', 'due_at', 'parent', 'paused_at'], name='job_by_script_and_status'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('status__in', ['pending', 'progress']), ('unique_key__isnull', False)), fields=('queue', 'unique_key'), name='job_unique_key_once'),
                    models.UniqueConstraint(condition=models.Q(('parent__isnull', False)), fields=('parent', 'parent_run'), name='job_callback_once_per_run'),
                    models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'progress', 'complete', 'failed'])), name='job_status_known'),
                    models.CheckConstraint(condition=models.Q(('status', 'pending'), models.Q(('slot__isnull', False), ('status', 'progress')), models.Q(('ended_at__isnull', False), ('slot__isnull', True), ('status__in', ['complete', 'failed'])), _connector='OR'), name='job_state_whole'),
                    models.CheckConstraint(condition=models.Q(models.Q(('routed_epoch__isnull', True), ('routed_to__isnull', True)), models.Q(('routed_epoch__isnull', False), ('routed_to__isnull', False), ('sticky_key__isnull', False)), _connector='OR'), name='job_route_whole'),
                    models.CheckConstraint(condition=models.Q(('slot__isnull', True), ('sticky_key__isnull', True), ('routed_to__isnull', False), _connector='OR'), name='job_sticky_held_by_route'),
                    models.CheckConstraint(condition=models.Q(models.Q(models.Q(('paused_at__isnull', True)), ('parent__isnull', False), ('rank', -3), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (-2, 2)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (8, 12)), ('sticky_key__isnull', False)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (38, 42)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (48, 52)), ('sticky_key__isnull', False)), _connector='OR'), name='job_rank_in_range'),
                ],
            },
        ),
        migrations.CreateModel(
            name='MinuteCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('minute', models.DateTimeField()),
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
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='minutes', to='queues.queue')),
            ],
            options={
                'ordering': ['queue', 'minute'],
                'indexes': [
                    models.Index(fields=['minute'], name='minute_count_by_minute'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('queue', 'minute'), name='minute_count_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveIntegerField()),
                ('number', models.PositiveIntegerField()),
                ('worker', models.CharField(max_length=255)),
                ('outcome', models.CharField(choices=[('running', 'running'), ('complete', 'complete'), ('failed', 'failed'), ('lost', 'lost'), ('released', 'released'), ('aborted', 'aborted')], max_length=8)),
                ('started_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True, default='')),
                ('traceback', models.TextField(blank=True, default='')),
                ('percent', models.FloatField(blank=True, null=True)),
                ('note', models.CharField(blank=True, default='', max_length=255)),
                ('job', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='queues.queuedjob')),
            ],
            options={
                'ordering': ['job', 'attempt'],
                'constraints': [
                    models.UniqueConstraint(fields=('job', 'attempt'), name='run_attempt_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RunLog',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt', models.PositiveIntegerField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('level', models.CharField(max_length=8)),
                ('text', models.TextField()),
                ('job', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='log', to='queues.queuedjob')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(fields=['job', 'attempt', 'id'], name='run_log_by_attempt'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Script',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=128)),
                ('path', models.CharField(max_length=1024)),
                ('title', models.CharField(max_length=255)),
                ('description', models.TextField(blank=True, default='')),
                ('schema', models.JSONField(blank=True, null=True)),
                ('defaults', models.JSONField(blank=True, default=dict)),
                ('service', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scripts', to='queues.service')),
                ('record_start', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'ordering': ['service', 'name'],
                'constraints': [
                    models.UniqueConstraint(fields=('service', 'name'), name='script_name_once'),
                ],
            },
        ),
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
                'indexes': [
                    models.Index(condition=models.Q(('ended_at', None)), fields=['id'], name='operation_unfinished'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state__in', ['waiting', 'running'])), models.Q(('ended_at__isnull', False), ('state__in', ['complete', 'aborted'])), _connector='OR'), name='operation_ended_has_time'),
                    models.CheckConstraint(condition=models.Q(('visited__gte', models.F('changed'))), name='operation_changes_what_it_visits'),
                ],
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
                'indexes': [
                    models.Index(fields=['hour'], name='hour_count_by_hour'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('queue', 'hour'), name='hour_count_once'),
                ],
            },
        ),
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
                'indexes': [
                    models.Index(fields=['job', 'attempt'], name='transactions_of_attempt'),
                ],
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
                'indexes': [
                    models.Index(fields=['transaction', 'id'], name='pushes_of_transaction'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('id__gt', 0)), name='held_push_has_an_id'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Station',
            fields=[
                ('instance_id', atributo_site.core.models.fields.IdField(primary_key=True, serialize=False)),
                ('served_until', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('is_told', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['instance_id'],
                'indexes': [
                    models.Index(fields=['served_until'], name='station_by_service'),
                ],
            },
        ),
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
                'indexes': [
                    models.Index(condition=models.Q(('state', 'waiting')), fields=['id'], name='script_run_waiting'),
                    models.Index(fields=['created_at'], name='script_run_created'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('state', 'ended')), models.Q(models.Q(('state', 'ended'), _negated=True), ('answer__isnull', True)), _connector='OR'), name='script_run_ended_has_answer'),
                ],
            },
        ),
        migrations.RunPython(tune_hot_tables, migrations.RunPython.noop),
        migrations.RunPython(first_rows, migrations.RunPython.noop),
    ]
