
import django.db.models.deletion
import django.db.models.functions.datetime
import queues.models.job
from django.db import migrations, models


def first_rows(apps, schema_editor):
    """The queue that always exists, and the one row of the catalogue."""
    using = schema_editor.connection.alias
    queue, made = apps.get_model("queues", "Queue").objects.using(using).get_or_create(name="default")
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
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='catalogue_only_one')],
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
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('max_workers__gte', 1), ('max_workers__lte', 1000)), name='queue_max_workers_in_range')],
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
            ],
            options={
                'ordering': ['queue', 'number'],
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
                ('sticky_key', models.CharField(blank=True, max_length=255, null=True)),
                ('parent', models.BigIntegerField(blank=True, null=True)),
                ('parent_run', models.PositiveIntegerField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('aborted_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True, default='')),
                ('fingerprint', models.CharField(blank=True, default='', max_length=16)),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='queues.queue')),
                ('slot', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='queues.slot')),
            ],
            options={
                'ordering': ['id'],
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
                'indexes': [models.Index(fields=['minute'], name='minute_count_by_minute')],
                'constraints': [models.UniqueConstraint(fields=('queue', 'minute'), name='minute_count_once')],
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
                'constraints': [models.UniqueConstraint(fields=('job', 'attempt'), name='run_attempt_once')],
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
                'indexes': [models.Index(fields=['job', 'attempt', 'id'], name='run_log_by_attempt')],
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
            ],
            options={
                'ordering': ['service', 'name'],
                'constraints': [models.UniqueConstraint(fields=('service', 'name'), name='script_name_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='slot',
            constraint=models.UniqueConstraint(fields=('queue', 'number'), name='slot_number_once'),
        ),
        migrations.AddConstraint(
            model_name='slot',
            constraint=models.CheckConstraint(condition=models.Q(('holder', ''), ('leased_until__isnull', False), _connector='OR'), name='slot_held_expires'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('slot__isnull', True), ('status', 'pending')), fields=['queue', 'rank', 'due_at', 'id'], name='job_waiting'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('slot__isnull', False)), fields=['slot'], name='job_held_by_slot'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('status__in', ['progress', 'complete', 'failed'])), fields=['status', 'id'], name='job_by_status'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('status__in', ['complete', 'failed'])), fields=['queue', 'ended_at'], name='job_ended'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['fingerprint', 'id'], name='job_by_fingerprint'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(fields=['mount', 'script', 'id'], name='job_by_script'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(fields=['created_at'], name='job_by_push'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['pending', 'progress']), ('unique_key__isnull', False)), fields=('queue', 'unique_key'), name='job_unique_key_once'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.UniqueConstraint(condition=models.Q(('parent__isnull', False)), fields=('parent', 'parent_run'), name='job_callback_once_per_run'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'progress', 'complete', 'failed'])), name='job_status_known'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(('rank__gte', -2), ('rank__lte', 2)), name='job_priority_in_range'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(('status', 'pending'), models.Q(('slot__isnull', False), ('status', 'progress')), models.Q(('ended_at__isnull', False), ('slot__isnull', True), ('status__in', ['complete', 'failed'])), _connector='OR'), name='job_state_whole'),
        ),
        migrations.RunPython(tune_hot_tables, migrations.RunPython.noop, elidable=False),
        migrations.RunPython(first_rows, migrations.RunPython.noop, elidable=False),
    ]
