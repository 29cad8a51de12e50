"""Keep what is or was wrong, with who acknowledged it."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('atributo_site', '0006_holder_of_a_key'),
    ]

    operations = [
        migrations.CreateModel(
            name='Incident',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=64)),
                ('subject', models.CharField(max_length=320)),
                ('severity', models.CharField(choices=[('error', 'error'), ('warning', 'warning'), ('notice', 'notice')], max_length=16)),
                ('title', models.CharField(max_length=500)),
                ('detail', models.TextField(blank=True, default='')),
                ('command', models.CharField(blank=True, default='', max_length=1000)),
                ('affected', models.CharField(blank=True, default='', max_length=200)),
                ('since', models.DateTimeField(blank=True, null=True)),
                ('count', models.PositiveIntegerField(default=1)),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('last_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('acknowledged_by', models.CharField(blank=True, default='', max_length=255)),
                ('acknowledged_at', models.DateTimeField(blank=True, null=True)),
                ('note', models.CharField(blank=True, default='', max_length=2000)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['resolved_at', 'id'], name='incident_by_end'), models.Index(fields=['kind', 'subject', '-id'], name='incident_by_key')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('resolved_at', None)), fields=('kind', 'subject'), name='one_open_incident_per_key'), models.CheckConstraint(condition=models.Q(('severity__in', ['error', 'warning', 'notice'])), name='incident_severity_is_known')],
            },
        ),
    ]
