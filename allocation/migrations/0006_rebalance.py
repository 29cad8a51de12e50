
import atributo_site.core.models.fields
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('allocation', '0005_hold_counts'),
    ]

    operations = [
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
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='rebalance_has_one_row'), models.CheckConstraint(condition=models.Q(('stopped', False), ('done_at__isnull', False), _connector='OR'), name='rebalance_stopped_is_done')],
            },
        ),
    ]
