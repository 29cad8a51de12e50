"""Make all tables of allocation at once, as migrations 0001 to 0013 made them step by step."""

import atributo_site.core.models.event
import atributo_site.core.models.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


# The locks are taken first and in expressions of their own: a statement that waits for a lock
# still sees the database as it was before it waited, but the next statement does not. Nothing
# here has a choice of plans: one made while the tables are small would be kept as they grow.
PLACE = """
CREATE OR REPLACE FUNCTION allocation_place(
    new_job varchar, chosen varchar, of_version bigint, by_strategy varchar, of_candidates int,
    with_score float8, by_actor varchar, by_channel varchar, job_bucket int, in_part int
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF pg_advisory_xact_lock_shared(1635021417) IS NULL
        OR pg_advisory_xact_lock_shared(1635019362, job_bucket) IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO allocation_allocation (job_id, instance_id, epoch, allocated_at, strategy,
        candidates, score, actor, channel)
    SELECT new_job, chosen, nextval('allocation_epoch'), clock_timestamp(), by_strategy,
        of_candidates, with_score, by_actor, by_channel
    FROM allocation_roster WHERE id = 1 AND version = of_version
    ON CONFLICT (job_id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO allocation_instanceload AS l (instance_id, part, jobs)
    VALUES (chosen, in_part, 1)
    ON CONFLICT (instance_id, part) DO UPDATE SET jobs = l.jobs + 1;
    RETURN true;
END $$
"""

ON_POSTGRESQL = [
    "CREATE SEQUENCE IF NOT EXISTS allocation_epoch",
    # Neighbouring connections use different counters: each has a number from this sequence.
    "CREATE SEQUENCE IF NOT EXISTS allocation_part",
    # The counters change often and stay on their pages.
    "ALTER TABLE allocation_instanceload"
    " SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)",
    PLACE,
]
OFF_POSTGRESQL = [
    "DROP FUNCTION IF EXISTS allocation_place",
    "DROP SEQUENCE IF EXISTS allocation_part",
    "DROP SEQUENCE IF EXISTS allocation_epoch",
]


def prepare_postgresql(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in ON_POSTGRESQL:
            schema_editor.execute(statement)


def forget_postgresql(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in OFF_POSTGRESQL:
            schema_editor.execute(statement)


class Migration(migrations.Migration):

    replaces = [
        ('allocation', '0001_foundation'),
        ('allocation', '0002_allocation'),
        ('allocation', '0003_transactions'),
        ('allocation', '0004_fencing'),
        ('allocation', '0005_hold_counts'),
        ('allocation', '0006_rebalance'),
        ('allocation', '0007_event_filters'),
        ('allocation', '0008_counter_parts'),
        ('allocation', '0009_drain_pace'),
        ('allocation', '0010_keep_who_wrote'),
        ('allocation', '0011_place_in_one_call'),
        ('allocation', '0012_clusters_and_clocks'),
        ('allocation', '0013_who_began_and_what_was_undone'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('actor', models.CharField(max_length=255)),
                ('channel', models.CharField(choices=[('browser', 'Browser'), ('rest', 'Rest'), ('command', 'Command'), ('process', 'Process')], max_length=16)),
                ('kind', models.CharField(max_length=64)),
                ('subject', models.CharField(max_length=320)),
                ('facts', models.JSONField(blank=True, default=dict)),
                ('request_id', models.CharField(blank=True, default='', max_length=64)),
                ('writer', models.BigIntegerField(db_default=atributo_site.core.models.event.WritersTransaction(), editable=False)),
                ('cluster', models.BigIntegerField(db_default=atributo_site.core.models.event.ThisCluster(), editable=False)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(fields=['actor', '-id'], name='event_by_actor'),
                    models.Index(fields=['subject', '-id', 'kind', 'actor'], name='event_by_subject'),
                    models.Index(fields=['kind', '-id', 'actor'], name='event_by_kind'),
                    models.Index(fields=['at', 'id'], name='event_by_time'),
                    models.Index(fields=['cluster', 'writer', 'id'], name='event_by_cluster'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Lease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(max_length=255, unique=True)),
                ('holder', models.CharField(blank=True, default='', max_length=255)),
                ('token', models.BigIntegerField(default=0)),
                ('facts', models.JSONField(blank=True, default=dict)),
                ('acquired_at', models.DateTimeField(blank=True, null=True)),
                ('renewed_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['role'],
                'indexes': [
                    models.Index(fields=['expires_at'], name='lease_by_expiry'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('token__gte', 0)), name='lease_token_not_negative'),
                    models.CheckConstraint(condition=models.Q(('holder', ''), ('expires_at__isnull', False), _connector='OR'), name='lease_held_expires'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Instance',
            fields=[
                ('id', atributo_site.core.models.fields.IdField(primary_key=True, serialize=False)),
                ('available', models.BooleanField(default=False)),
                ('source', models.CharField(choices=[('manual', 'Manual'), ('dns', 'Dns'), ('worker', 'Worker')], default='manual', max_length=16)),
                ('origin', models.CharField(choices=[('manual', 'Manual'), ('dns', 'Dns'), ('worker', 'Worker')], default='manual', max_length=16)),
                ('weight', models.PositiveIntegerField(default=1)),
                ('capacity', models.PositiveIntegerField(blank=True, null=True)),
                ('labels', models.JSONField(blank=True, default=dict)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('is_dead', models.BooleanField(default=False)),
                ('reason', models.CharField(blank=True, default='', max_length=255)),
                ('epoch', models.BigIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(condition=models.Q(('available', True)), fields=['id'], name='instance_available'),
                    models.Index(condition=models.Q(('available', True)), fields=['lease_until'], name='instance_by_lease'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('id', ''), _negated=True), name='instance_id_not_empty'),
                    models.CheckConstraint(condition=models.Q(('weight__gte', 1)), name='instance_weight_positive'),
                    models.CheckConstraint(condition=models.Q(('is_dead', False), ('available', False), _connector='OR'), name='instance_dead_unavailable'),
                    models.CheckConstraint(condition=models.Q(('source__in', ['manual', 'dns', 'worker']), ('origin__in', ['manual', 'dns', 'worker'])), name='instance_source_is_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Allocation',
            fields=[
                ('job_id', atributo_site.core.models.fields.IdField(primary_key=True, serialize=False)),
                ('epoch', models.BigIntegerField()),
                ('allocated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('strategy', models.CharField(max_length=32)),
                ('candidates', models.PositiveIntegerField()),
                ('score', models.FloatField(blank=True, null=True)),
                ('actor', models.CharField(max_length=255)),
                ('channel', models.CharField(max_length=16)),
                ('instance', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='allocations', to='allocation.instance')),
            ],
            options={
                'ordering': ['job_id'],
                'indexes': [
                    models.Index(fields=['instance', 'job_id'], name='allocation_by_instance'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('job_id', ''), _negated=True), name='allocation_job_id_not_empty'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Hold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=32)),
                ('key', models.CharField(max_length=255)),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('until', models.DateTimeField(blank=True, null=True)),
                ('instance', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='holds', to='allocation.instance')),
                ('count', models.PositiveIntegerField(default=1)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(fields=['until'], name='hold_by_expiry'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('instance', 'kind', 'key'), name='hold_once_per_instance_and_key'),
                ],
            },
        ),
        migrations.CreateModel(
            name='IdNumber',
            fields=[
                ('number', models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ('cluster_size', models.PositiveSmallIntegerField()),
                ('holder', models.CharField(blank=True, default='', max_length=255)),
                ('token', models.BigIntegerField(default=0)),
                ('high_water_ms', models.BigIntegerField(default=0)),
                ('ahead_ms', models.BigIntegerField(default=0)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('set_back_ms', models.BigIntegerField(default=0)),
            ],
            options={
                'ordering': ['number'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('cluster_size__in', [10, 100, 1000])), name='id_number_size_is_known'),
                    models.CheckConstraint(condition=models.Q(('number__lt', models.F('cluster_size'))), name='id_number_below_size'),
                    models.CheckConstraint(condition=models.Q(('holder', ''), ('expires_at__isnull', False), _connector='OR'), name='id_number_held_expires'),
                ],
            },
        ),
        migrations.CreateModel(
            name='InstanceLoad',
            fields=[
                ('pk', models.CompositePrimaryKey('instance_id', 'part', blank=True, editable=False, primary_key=True, serialize=False)),
                ('part', models.SmallIntegerField(default=0)),
                ('jobs', models.BigIntegerField(default=0)),
                ('instance', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='loads', to='allocation.instance')),
            ],
        ),
        migrations.CreateModel(
            name='PastAllocation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job_id', atributo_site.core.models.fields.IdField()),
                ('instance_id', atributo_site.core.models.fields.IdField()),
                ('epoch', models.BigIntegerField()),
                ('allocated_at', models.DateTimeField()),
                ('strategy', models.CharField(max_length=32)),
                ('candidates', models.PositiveIntegerField()),
                ('score', models.FloatField(blank=True, null=True)),
                ('actor', models.CharField(max_length=255)),
                ('channel', models.CharField(max_length=16)),
                ('ended_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('ended_by', models.CharField(max_length=255)),
                ('end_reason', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(fields=['job_id', '-epoch'], name='past_allocation_by_job'),
                    models.Index(fields=['ended_at'], name='past_allocation_by_end'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Roster',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('version', models.BigIntegerField(default=0)),
                ('epoch', models.BigIntegerField(default=0)),
                ('instances', models.PositiveIntegerField(default=0)),
                ('available', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('id', 1)), name='roster_has_one_row'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Drain',
            fields=[
                ('instance', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='allocation.instance')),
                ('reason', models.CharField(blank=True, default='', max_length=255)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('deadline_at', models.DateTimeField(blank=True, null=True)),
                ('moves_per_minute', models.PositiveIntegerField(blank=True, null=True)),
                ('jobs_at_start', models.PositiveBigIntegerField(default=0)),
                ('moved', models.PositiveBigIntegerField(default=0)),
                ('stuck', models.BooleanField(default=False)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('paced_at', models.DateTimeField(blank=True, null=True)),
                ('moved_before_pace', models.PositiveBigIntegerField(default=0)),
            ],
            options={
                'ordering': ['instance_id'],
                'indexes': [
                    models.Index(condition=models.Q(('done_at__isnull', True)), fields=['started_at'], name='drain_running'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.CharField(max_length=255)),
                ('key', models.CharField(max_length=255)),
                ('present', models.BooleanField(default=False)),
                ('value', models.JSONField(blank=True, null=True)),
                ('ref', models.CharField(blank=True, default='', max_length=32)),
                ('lock_token', models.BigIntegerField(default=0)),
                ('lock_delayed_until', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['collection', 'key'],
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'key'), name='document_once_per_key'),
                    models.CheckConstraint(condition=models.Q(models.Q(('collection', ''), _negated=True), models.Q(('key', ''), _negated=True)), name='document_has_a_name'),
                    models.CheckConstraint(condition=models.Q(('present', False), models.Q(('ref', ''), _negated=True), _connector='OR'), name='document_present_has_ref'),
                ],
            },
        ),
        migrations.CreateModel(
            name='DocumentEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.CharField(max_length=255)),
                ('key', models.CharField(max_length=255)),
                ('type', models.CharField(max_length=255)),
                ('timestamp_ms', models.BigIntegerField()),
                ('ordinal', models.BigIntegerField()),
                ('value', models.JSONField(null=True)),
                ('ref', models.CharField(max_length=32)),
            ],
            options={
                'ordering': ['-timestamp_ms', '-ordinal'],
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'key', 'type', 'timestamp_ms', 'ordinal'), name='document_event_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Relation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.CharField(max_length=255)),
                ('key', models.CharField(max_length=255)),
                ('kind', models.CharField(max_length=255)),
                ('to_collection', models.CharField(max_length=255)),
                ('to_key', models.CharField(max_length=255)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [
                    models.UniqueConstraint(fields=('collection', 'key', 'kind', 'to_collection', 'to_key'), name='relation_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Transaction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('active', 'Active'), ('rolling_back', 'Rolling Back'), ('stuck', 'Stuck'), ('completed', 'Completed'), ('rolled_back', 'Rolled Back')], default='active', max_length=16)),
                ('epoch', models.BigIntegerField(default=1)),
                ('owner', models.CharField(blank=True, default='', max_length=255)),
                ('cause', models.CharField(blank=True, choices=[('', 'None'), ('requested', 'Requested'), ('failed', 'Failed'), ('timed_out', 'Timed Out'), ('operator', 'Operator')], default='', max_length=16)),
                ('reason', models.TextField(blank=True, default='')),
                ('error', models.TextField(blank=True, default='')),
                ('attempts', models.IntegerField(default=0)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('limit_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('label', models.CharField(blank=True, db_default='', default='', max_length=255)),
                ('channel', models.CharField(blank=True, db_default='', default='', max_length=16)),
                ('caller', models.CharField(blank=True, db_default='', default='', max_length=40)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [
                    models.Index(condition=models.Q(('finished_at__isnull', True)), fields=['expires_at'], name='transaction_unfinished'),
                    models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at', 'status'], name='transaction_finished'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('status__in', ('active', 'rolling_back', 'stuck'))), models.Q(('finished_at__isnull', False), ('status__in', ('completed', 'rolled_back'))), _connector='OR'), name='transaction_finished_has_time'),
                    models.CheckConstraint(condition=models.Q(('epoch__gte', 1)), name='transaction_epoch_grows'),
                ],
            },
        ),
        migrations.CreateModel(
            name='LockWait',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('mode', models.CharField(choices=[('shared', 'Shared'), ('exclusive', 'Exclusive')], max_length=9)),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('document', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='waits', to='allocation.document')),
                ('transaction', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='wait', to='allocation.transaction')),
            ],
            options={
                'ordering': ['since'],
                'indexes': [
                    models.Index(fields=['document'], name='wait_by_document'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Lock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('mode', models.CharField(choices=[('shared', 'Shared'), ('exclusive', 'Exclusive')], max_length=9)),
                ('token', models.BigIntegerField()),
                ('acquired_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('document', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='locks', to='allocation.document')),
                ('transaction', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='locks', to='allocation.transaction')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [
                    models.UniqueConstraint(fields=('document', 'transaction'), name='lock_once_per_holder'),
                    models.UniqueConstraint(condition=models.Q(('mode', 'exclusive')), fields=('document',), name='lock_one_exclusive_holder'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JournalEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(choices=[('put', 'Put'), ('delete', 'Delete')], max_length=8)),
                ('before_present', models.BooleanField()),
                ('before_ref', models.CharField(blank=True, default='', max_length=32)),
                ('before_value', models.JSONField(blank=True, null=True)),
                ('after_ref', models.CharField(max_length=32)),
                ('undo', models.CharField(blank=True, choices=[('', 'None'), ('restored', 'Restored'), ('left_alone', 'Left Alone')], default='', max_length=12)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('document', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='journal', to='allocation.document')),
                ('transaction', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='journal', to='allocation.transaction')),
            ],
            options={
                'verbose_name_plural': 'journal entries',
                'ordering': ['id'],
                'indexes': [
                    models.Index(fields=['transaction', 'id'], name='journal_of_transaction'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('before_present', False), models.Q(('before_ref', ''), _negated=True), _connector='OR'), name='journal_before_has_ref'),
                ],
            },
        ),
        migrations.CreateModel(
            name='DocumentVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ref', models.CharField(max_length=32)),
                ('present', models.BooleanField()),
                ('value', models.JSONField(blank=True, null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='allocation.document')),
                ('transaction', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='allocation.transaction')),
                ('undone', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [
                    models.UniqueConstraint(fields=('document', 'ref'), name='version_once_per_ref'),
                ],
            },
        ),
        migrations.CreateModel(
            name='FenceCount',
            fields=[
                ('kind', models.CharField(choices=[('allocation', 'an old epoch of an allocation'), ('transaction', 'a transaction that was taken over'), ('attempt', 'an attempt that was lost or aborted'), ('run', 'a result that came too late'), ('lease', 'a lease that is held by another')], max_length=16, primary_key=True, serialize=False)),
                ('refused', models.PositiveBigIntegerField(default=0)),
                ('last_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Rebalance',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('moves_per_minute', models.PositiveIntegerField()),
                ('jobs_at_start', models.PositiveBigIntegerField(default=0)),
                ('looked_at', models.PositiveBigIntegerField(default=0)),
                ('moved', models.PositiveBigIntegerField(default=0)),
                ('last_job_id', atributo_site.core.models.fields.IdField(blank=True, default='')),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('stopped', models.BooleanField(default=False)),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('id', 1)), name='rebalance_has_one_row'),
                    models.CheckConstraint(condition=models.Q(('stopped', False), ('done_at__isnull', False), _connector='OR'), name='rebalance_stopped_is_done'),
                ],
            },
        ),
        migrations.RunPython(prepare_postgresql, forget_postgresql),
    ]
