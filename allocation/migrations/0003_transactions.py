
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('allocation', '0002_allocation'),
    ]

    operations = [
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
                'constraints': [models.UniqueConstraint(fields=('collection', 'key'), name='document_once_per_key'), models.CheckConstraint(condition=models.Q(models.Q(('collection', ''), _negated=True), models.Q(('key', ''), _negated=True)), name='document_has_a_name'), models.CheckConstraint(condition=models.Q(('present', False), models.Q(('ref', ''), _negated=True), _connector='OR'), name='document_present_has_ref')],
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
                'constraints': [models.UniqueConstraint(fields=('collection', 'key', 'type', 'timestamp_ms', 'ordinal'), name='document_event_once')],
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
                'constraints': [models.UniqueConstraint(fields=('collection', 'key', 'kind', 'to_collection', 'to_key'), name='relation_once')],
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
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('finished_at__isnull', True)), fields=['expires_at'], name='transaction_unfinished'), models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at', 'status'], name='transaction_finished')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('status__in', ('active', 'rolling_back', 'stuck'))), models.Q(('finished_at__isnull', False), ('status__in', ('completed', 'rolled_back'))), _connector='OR'), name='transaction_finished_has_time'), models.CheckConstraint(condition=models.Q(('epoch__gte', 1)), name='transaction_epoch_grows')],
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
                'indexes': [models.Index(fields=['document'], name='wait_by_document')],
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
                'constraints': [models.UniqueConstraint(fields=('document', 'transaction'), name='lock_once_per_holder'), models.UniqueConstraint(condition=models.Q(('mode', 'exclusive')), fields=('document',), name='lock_one_exclusive_holder')],
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
                'indexes': [models.Index(fields=['transaction', 'id'], name='journal_of_transaction')],
                'constraints': [models.CheckConstraint(condition=models.Q(('before_present', False), models.Q(('before_ref', ''), _negated=True), _connector='OR'), name='journal_before_has_ref')],
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
                ('transaction', models.ForeignKey(blank=True, db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='allocation.transaction')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('document', 'ref'), name='version_once_per_ref')],
            },
        ),
    ]
