"""Jobs that expire; flows, gates and rates, and the limits that they are decided by."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models
from django.db.models import Index, Q

OUTCOMES = ("running", "complete", "failed", "lost", "released", "aborted", "snoozed")
WAITING = Q(status="pending", slot__isnull=True)


class Migration(migrations.Migration):
    dependencies = [("queues", "0018_schedules")]

    operations = [
        migrations.AddField(
            model_name="queuedjob",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="queuedjob",
            name="expired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="run",
            name="outcome",
            field=models.CharField(
                choices=[(outcome, outcome) for outcome in OUTCOMES], max_length=8
            ),
        ),
        migrations.RemoveIndex(model_name="queuedjob", name="job_failed"),
        migrations.AddIndex(
            model_name="queuedjob",
            index=Index(
                fields=["id", "parent"],
                condition=Q(status="failed", aborted_at__isnull=True, expired_at__isnull=True),
                name="job_failed_by_itself",
            ),
        ),
        migrations.AddIndex(
            model_name="queuedjob",
            index=Index(
                fields=["id", "parent"],
                condition=Q(expired_at__isnull=False),
                name="job_expired",
            ),
        ),
        migrations.AddIndex(
            model_name="queuedjob",
            index=Index(
                fields=["expires_at"],
                condition=WAITING & Q(expires_at__isnull=False),
                name="job_expires",
            ),
        ),
        migrations.CreateModel(
            name='Flow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(blank=True, max_length=255)),
                ('mount', models.CharField(blank=True, max_length=255)),
                ('script', models.CharField(max_length=255)),
                ('rank', models.SmallIntegerField(blank=True, null=True)),
                ('time', models.FloatField(default=0)),
                ('wake_at', models.DateTimeField(blank=True, null=True)),
                ('waits_for', models.CharField(blank=True, default='', max_length=255)),
                ('waits_since', models.DateTimeField(blank=True, null=True)),
                ('used_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Gate',
            fields=[
                ('name', models.CharField(max_length=600, primary_key=True, serialize=False)),
                ('time', models.FloatField(default=0)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('waits_for', models.CharField(blank=True, default='', max_length=255)),
                ('is_whole', models.BooleanField(default=False)),
                ('wake_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Rate',
            fields=[
                ('name', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('full_at', models.BigIntegerField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='queuedjob',
            name='job_rank_in_range',
        ),
        migrations.AddField(
            model_name='queue',
            name='limits',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='queue',
            name='limits_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='queue',
            name='weights',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='flow_id',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='flow_key',
            field=models.CharField(blank=True, max_length=255, null=True),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='limits',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='ran_on',
            field=models.CharField(blank=True, max_length=255, null=True),
        ),
        migrations.AddField(
            model_name='script',
            name='limits',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('slot__isnull', True), ('status', 'pending'), ('flow_id__isnull', False)), fields=['flow_id', 'rank', 'due_at', 'id'], name='job_waiting_in_flow'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('slot__isnull', False), ('flow_id__isnull', False)), fields=['queue', 'flow_key'], name='job_held_in_flow'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(models.Q(('paused_at__isnull', True)), ('parent__isnull', False), ('rank', -3), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (-2, 2)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True)), ('rank__range', (8, 12)), ('sticky_key__isnull', False)), models.Q(models.Q(('paused_at__isnull', True)), models.Q(('concurrent', False), ('sticky_key__isnull', False)), ('rank__range', (28, 32))), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (38, 42)), ('sticky_key__isnull', True)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), ('rank__range', (48, 52)), ('sticky_key__isnull', False)), models.Q(models.Q(('paused_at__isnull', True), _negated=True), models.Q(('concurrent', False), ('sticky_key__isnull', False)), ('rank__range', (68, 72))), models.Q(models.Q(('paused_at__isnull', True)), models.Q(('flow_id__isnull', False)), ('rank__range', (98, 102))), models.Q(models.Q(('paused_at__isnull', True), _negated=True), models.Q(('flow_id__isnull', False)), ('rank__range', (138, 142))), _connector='OR'), name='job_rank_in_range'),
        ),
        migrations.AddField(
            model_name='flow',
            name='queue',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='flows', to='queues.queue'),
        ),
        migrations.AddField(
            model_name='gate',
            name='queue',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gate', to='queues.queue'),
        ),
        migrations.AddIndex(
            model_name='flow',
            index=models.Index(condition=models.Q(('rank__isnull', False)), fields=['queue', 'mount', 'script', 'rank', 'time', 'id'], name='flow_ready'),
        ),
        migrations.AddIndex(
            model_name='flow',
            index=models.Index(condition=models.Q(('wake_at__isnull', False)), fields=['queue', 'wake_at'], name='flow_wakes'),
        ),
        migrations.AddIndex(
            model_name='flow',
            index=models.Index(condition=models.Q(('waits_for', ''), _negated=True), fields=['queue', 'waits_since'], name='flow_waits'),
        ),
        migrations.AddIndex(
            model_name='flow',
            index=models.Index(fields=['used_at'], name='flow_by_use'),
        ),
        migrations.AddConstraint(
            model_name='flow',
            constraint=models.UniqueConstraint(fields=('queue', 'key', 'mount', 'script'), name='flow_once'),
        ),
    ]
