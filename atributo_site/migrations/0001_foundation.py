
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('knox', '0009_extend_authtoken_field'),  # earlier ones have another primary key
    ]

    operations = [
        migrations.CreateModel(
            name='Access',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ],
            options={
                'permissions': [('view', 'May view'), ('operate', 'May operate'), ('administer', 'May administer')],
                'managed': False,
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=255)),
                ('fingerprint', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.TextField(default='')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='idempotency_by_time')],
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='one_answer_per_user_and_key')],
            },
        ),
        migrations.CreateModel(
            name='TokenScope',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('level', models.CharField(choices=[('view', 'view'), ('operate', 'operate'), ('administer', 'administer')], max_length=16)),
                ('name', models.CharField(max_length=100)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='scope', to=getattr(settings, "KNOX_TOKEN_MODEL", "knox.AuthToken"))),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('level__in', ['view', 'operate', 'administer'])), name='token_level_is_known')],
            },
        ),
    ]
