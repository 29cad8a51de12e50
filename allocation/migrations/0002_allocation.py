
import atributo_site.core.models.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


def prepare_postgresql(apps, schema_editor):
    """Epochs come from a sequence; the counters change often and stay on their pages."""
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute('CREATE SEQUENCE IF NOT EXISTS allocation_epoch')
        schema_editor.execute(
            'ALTER TABLE allocation_instanceload SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)'
        )


def forget_postgresql(apps, schema_editor):
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute('DROP SEQUENCE IF EXISTS allocation_epoch')


class Migration(migrations.Migration):

    dependencies = [
        ('allocation', '0001_foundation'),
    ]

    operations = [
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
            ],
            options={
                'ordering': ['id'],
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
            ],
            options={
                'ordering': ['number'],
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
            ],
            options={
                'ordering': ['instance_id'],
            },
        ),
        migrations.AddIndex(
            model_name='instance',
            index=models.Index(condition=models.Q(('available', True)), fields=['id'], name='instance_available'),
        ),
        migrations.AddIndex(
            model_name='instance',
            index=models.Index(condition=models.Q(('available', True)), fields=['lease_until'], name='instance_by_lease'),
        ),
        migrations.AddConstraint(
            model_name='instance',
            constraint=models.CheckConstraint(condition=models.Q(('id', ''), _negated=True), name='instance_id_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='instance',
            constraint=models.CheckConstraint(condition=models.Q(('weight__gte', 1)), name='instance_weight_positive'),
        ),
        migrations.AddConstraint(
            model_name='instance',
            constraint=models.CheckConstraint(condition=models.Q(('is_dead', False), ('available', False), _connector='OR'), name='instance_dead_unavailable'),
        ),
        migrations.AddConstraint(
            model_name='instance',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['manual', 'dns', 'worker']), ('origin__in', ['manual', 'dns', 'worker'])), name='instance_source_is_known'),
        ),
        migrations.AddConstraint(
            model_name='idnumber',
            constraint=models.CheckConstraint(condition=models.Q(('cluster_size__in', [10, 100, 1000])), name='id_number_size_is_known'),
        ),
        migrations.AddConstraint(
            model_name='idnumber',
            constraint=models.CheckConstraint(condition=models.Q(('number__lt', models.F('cluster_size'))), name='id_number_below_size'),
        ),
        migrations.AddConstraint(
            model_name='idnumber',
            constraint=models.CheckConstraint(condition=models.Q(('holder', ''), ('expires_at__isnull', False), _connector='OR'), name='id_number_held_expires'),
        ),
        migrations.AddIndex(
            model_name='pastallocation',
            index=models.Index(fields=['job_id', '-epoch'], name='past_allocation_by_job'),
        ),
        migrations.AddIndex(
            model_name='pastallocation',
            index=models.Index(fields=['ended_at'], name='past_allocation_by_end'),
        ),
        migrations.AddConstraint(
            model_name='roster',
            constraint=models.CheckConstraint(condition=models.Q(('id', 1)), name='roster_has_one_row'),
        ),
        migrations.AddIndex(
            model_name='drain',
            index=models.Index(condition=models.Q(('done_at__isnull', True)), fields=['started_at'], name='drain_running'),
        ),
        migrations.AddIndex(
            model_name='allocation',
            index=models.Index(fields=['instance', 'job_id'], name='allocation_by_instance'),
        ),
        migrations.AddConstraint(
            model_name='allocation',
            constraint=models.CheckConstraint(condition=models.Q(('job_id', ''), _negated=True), name='allocation_job_id_not_empty'),
        ),
        migrations.AddIndex(
            model_name='hold',
            index=models.Index(fields=['until'], name='hold_by_expiry'),
        ),
        migrations.AddConstraint(
            model_name='hold',
            constraint=models.UniqueConstraint(fields=('instance', 'kind', 'key'), name='hold_once_per_instance_and_key'),
        ),
        migrations.RunPython(prepare_postgresql, forget_postgresql),
    ]
