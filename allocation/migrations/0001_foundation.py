
import atributo_site.core.models.event
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

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
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['subject', '-id'], name='event_by_subject'), models.Index(fields=['kind', '-id'], name='event_by_kind'), models.Index(fields=['actor', '-id'], name='event_by_actor'), models.Index(fields=['at'], name='event_by_time'), models.Index(fields=['writer', 'id'], name='event_by_writer')],
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
                'indexes': [models.Index(fields=['expires_at'], name='lease_by_expiry')],
                'constraints': [models.CheckConstraint(condition=models.Q(('token__gte', 0)), name='lease_token_not_negative'), models.CheckConstraint(condition=models.Q(('holder', ''), ('expires_at__isnull', False), _connector='OR'), name='lease_held_expires')],
            },
        ),
    ]
