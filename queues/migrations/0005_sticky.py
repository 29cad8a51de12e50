import atributo_site.core.models.fields
import django.db.models.functions.datetime
from django.db import migrations, models


def give_sticky_ranks(apps, schema_editor):
    """Sticky jobs that were pushed before ran anywhere; one that runs now may end."""
    jobs = apps.get_model('queues', 'QueuedJob').objects.using(schema_editor.connection.alias)
    sticky = jobs.filter(sticky_key__isnull=False)
    sticky.update(rank=models.F('rank') + 10)
    sticky.filter(slot__isnull=False).update(routed_to='anywhere', routed_epoch=0)


class Migration(migrations.Migration):

    dependencies = [
        ('queues', '0004_transactional_scripts'),
    ]

    operations = [
        migrations.CreateModel(
            name='Station',
            fields=[
                ('instance_id', atributo_site.core.models.fields.IdField(primary_key=True, serialize=False)),
                ('served_until', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('is_told', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['instance_id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='queuedjob',
            name='job_priority_in_range',
        ),
        migrations.AddField(
            model_name='queue',
            name='away_seconds',
            field=models.PositiveIntegerField(default=30),
        ),
        migrations.AddField(
            model_name='queue',
            name='when_away',
            field=models.CharField(choices=[('wait', 'wait'), ('move', 'move'), ('fail', 'fail')], default='wait', max_length=8),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='routed_epoch',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='queuedjob',
            name='routed_to',
            field=atributo_site.core.models.fields.IdField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='queuedjob',
            name='sticky_key',
            field=atributo_site.core.models.fields.IdField(blank=True, null=True),
        ),
        migrations.RunPython(give_sticky_ranks, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('slot__isnull', True), ('status', 'pending'), ('sticky_key__isnull', False)), fields=['routed_to', 'queue', 'rank', 'due_at', 'id'], name='job_waiting_routed'),
        ),
        migrations.AddIndex(
            model_name='queuedjob',
            index=models.Index(condition=models.Q(('sticky_key__isnull', False)), fields=['sticky_key', 'slot'], name='job_by_sticky_key'),
        ),
        migrations.AddConstraint(
            model_name='queue',
            constraint=models.CheckConstraint(condition=models.Q(('when_away__in', ['wait', 'move', 'fail'])), name='queue_when_away_known'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('rank__range', (-2, 2)), ('sticky_key__isnull', True)), models.Q(('rank__range', (8, 12)), ('sticky_key__isnull', False)), _connector='OR'), name='job_rank_in_range'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('routed_epoch__isnull', True), ('routed_to__isnull', True)), models.Q(('routed_epoch__isnull', False), ('routed_to__isnull', False), ('sticky_key__isnull', False)), _connector='OR'), name='job_route_whole'),
        ),
        migrations.AddConstraint(
            model_name='queuedjob',
            constraint=models.CheckConstraint(condition=models.Q(('slot__isnull', True), ('sticky_key__isnull', True), ('routed_to__isnull', False), _connector='OR'), name='job_sticky_held_by_route'),
        ),
        migrations.AddIndex(
            model_name='station',
            index=models.Index(fields=['served_until'], name='station_by_service'),
        ),
    ]
