"""Make all tables of pools at once, as migrations 0001 and 0002 made them step by step."""

import atributo_site.core.models.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import pools.address_policy
import pools.models.fields
import pools.models.pool
import re
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('pools', '0001_pools'),
        ('pools', '0002_what_was_answered'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, validators=[django.core.validators.RegexValidator(re.compile('\\A[A-Za-z0-9][A-Za-z0-9._-]*\\Z'), 'Letters, digits and . _ -')])),
                ('domain', models.CharField(max_length=253, validators=[pools.models.fields.target_name])),
                ('service', models.CharField(default='_http._tcp', max_length=100)),
                ('default_port', models.PositiveIntegerField(default=80, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(65535)])),
                ('nameservers', models.JSONField(blank=True, default=list, validators=[pools.models.fields.nameserver_list])),
                ('recovery', models.JSONField(default=pools.models.pool.default_recovery, validators=[pools.models.fields.recovery_spec])),
                ('ttl_floor_ms', models.PositiveIntegerField(default=pools.address_policy.default_floor_ms, validators=[django.core.validators.MinValueValidator(1000), django.core.validators.MaxValueValidator(86400000)])),
                ('ttl_ceiling_ms', models.PositiveIntegerField(default=pools.address_policy.default_ceiling_ms, validators=[django.core.validators.MinValueValidator(1000), django.core.validators.MaxValueValidator(86400000)])),
                ('removal_share', models.FloatField(default=0.5, validators=[django.core.validators.MinValueValidator(0.0), django.core.validators.MaxValueValidator(1.0)])),
                ('grace_seconds', models.PositiveIntegerField(default=3600, validators=[django.core.validators.MaxValueValidator(31622400)])),
                ('is_watched', models.BooleanField(default=True)),
                ('epoch', models.BigIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('asked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('state', models.CharField(choices=[('stopped', 'Stopped'), ('starting', 'Starting'), ('running', 'Running'), ('failed', 'Failed')], default='stopped', editable=False, max_length=16)),
                ('state_since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('stale_since', models.DateTimeField(blank=True, editable=False, null=True)),
                ('last_error', models.CharField(blank=True, default='', editable=False, max_length=1000)),
                ('looked_up_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('next_srv_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('next_v6_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('next_v4_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('next_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('waiting_since', models.DateTimeField(blank=True, editable=False, null=True)),
                ('waiting', models.PositiveIntegerField(default=0, editable=False)),
                ('steps', models.JSONField(blank=True, default=list, editable=False)),
                ('answer', models.JSONField(blank=True, default=list, editable=False)),
                ('began_at', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('default_port__gte', 1), ('default_port__lte', 65535)), name='pool_port_is_one'),
                    models.CheckConstraint(condition=models.Q(('removal_share__gte', 0), ('removal_share__lte', 1)), name='pool_share_is_one'),
                    models.CheckConstraint(condition=models.Q(('ttl_floor_ms__gte', 1000), ('ttl_floor_ms__lte', models.F('ttl_ceiling_ms'))), name='pool_floor_below_ceiling'),
                    models.CheckConstraint(condition=models.Q(models.Q(('waiting', 0), ('waiting_since__isnull', True)), models.Q(('waiting__gt', 0), ('waiting_since__isnull', False)), _connector='OR'), name='pool_waits_since'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PoolSnapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('process', models.CharField(max_length=255, unique=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('body', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'ordering': ['process'],
                'indexes': [
                    models.Index(fields=['at'], name='pool_snapshot_by_time'),
                ],
            },
        ),
        migrations.CreateModel(
            name='BackendChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('kind', models.CharField(choices=[('added', 'Added'), ('returned', 'Returned'), ('gone', 'Gone'), ('removed', 'Removed'), ('refused', 'Refused'), ('kept', 'Kept'), ('waiting', 'Waiting'), ('settled', 'Settled'), ('failed', 'Failed'), ('running', 'Running'), ('stale', 'Stale'), ('fresh', 'Fresh'), ('administered', 'Administered')], max_length=16)),
                ('key', models.CharField(blank=True, default='', max_length=64)),
                ('backend', models.CharField(blank=True, default='', max_length=512)),
                ('detail', models.CharField(blank=True, default='', max_length=1000)),
                ('actor', models.CharField(max_length=255)),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='pools.pool')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(fields=['pool', '-id'], name='backend_change_by_pool'),
                    models.Index(fields=['at'], name='backend_change_by_time'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Backend',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=255)),
                ('address', models.CharField(max_length=64)),
                ('port', models.PositiveIntegerField()),
                ('priority', models.PositiveIntegerField(default=0)),
                ('weight', models.PositiveIntegerField(default=0)),
                ('state', models.CharField(choices=[('present', 'Present'), ('gone', 'Gone'), ('refused', 'Refused')], default='present', max_length=16)),
                ('state_since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('first_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('last_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('administrative', models.CharField(choices=[('ready', 'Ready'), ('drain', 'Drain'), ('maintenance', 'Maintenance')], default='ready', max_length=16)),
                ('administrative_by', models.CharField(blank=True, default='', max_length=255)),
                ('reason', models.CharField(blank=True, default='', max_length=255)),
                ('instance_id', atributo_site.core.models.fields.IdField()),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='backends', to='pools.pool')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [
                    models.Index(fields=['instance_id'], name='backend_by_instance'),
                    models.Index(condition=models.Q(('state', 'gone')), fields=['state_since'], name='backend_gone'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('pool', 'key'), name='backend_once_per_pool'),
                    models.CheckConstraint(condition=models.Q(('state__in', ['present', 'gone', 'refused'])), name='backend_state_is_known'),
                    models.CheckConstraint(condition=models.Q(('administrative__in', ['ready', 'drain', 'maintenance'])), name='backend_administrative_is_known'),
                ],
            },
        ),
    ]
