"""Make all tables of the site at once, as migrations 0001 to 0004 made them step by step."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


ROLES = {
    "viewer": ["view"],
    "operator": ["view", "operate"],
    "admin": ["view", "operate", "administer"],
}


def named(role):
    """Leave alone the groups of a project, which may have the same names."""
    return f"atributo {role}" if settings.ATRIBUTO.is_hosted else role


def make_roles(apps, schema_editor):
    """Make the groups viewer, operator and admin with their permissions."""
    using = schema_editor.connection.alias
    ContentType = apps.get_model("contenttypes", "ContentType")
    Permission = apps.get_model("auth", "Permission")
    Group = apps.get_model("auth", "Group")
    access, _ = ContentType.objects.using(using).get_or_create(
        app_label="atributo_site", model="access"
    )
    for role, levels in ROLES.items():
        group, _ = Group.objects.using(using).get_or_create(name=named(role))
        for level in levels:
            permission, _ = Permission.objects.using(using).get_or_create(
                content_type=access, codename=level, defaults={"name": f"May {level}"}
            )
            group.permissions.add(permission)


def remove_roles(apps, schema_editor):
    """Leave a project as it was; the people of a site of our own keep their groups."""
    if settings.ATRIBUTO.is_hosted:
        using = schema_editor.connection.alias
        groups = apps.get_model("auth", "Group").objects.using(using)
        groups.filter(name__in=[named(role) for role in ROLES]).delete()
        types = apps.get_model("contenttypes", "ContentType").objects.using(using)
        types.filter(app_label="atributo_site", model="access").delete()
        remove_tokens(apps, using)


def remove_tokens(apps, using):
    """Without our rows knox would accept them for everything, and could not go to zero itself."""
    scopes = apps.get_model("atributo_site", "TokenScope")
    tokens = scopes._meta.get_field("token").related_model.objects.using(using)
    ours = scopes.objects.using(using).values_list("token_id", flat=True)
    tokens.filter(pk__in=list(ours)).delete()


class Migration(migrations.Migration):

    replaces = [
        ('atributo_site', '0001_foundation'),
        ('atributo_site', '0002_roles'),
        ('atributo_site', '0003_rule_checks'),
        ('atributo_site', '0004_saved_views'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('contenttypes', '0002_remove_content_type_name'),
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
                'indexes': [
                    models.Index(fields=['created_at'], name='idempotency_by_time'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('user', 'key'), name='one_answer_per_user_and_key'),
                ],
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
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('level__in', ['view', 'operate', 'administer'])), name='token_level_is_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RuleCheck',
            fields=[
                ('name', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('sentence', models.CharField(max_length=200)),
                ('broken', models.JSONField(default=list)),
                ('took_ms', models.PositiveIntegerField()),
                ('checked_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('screen', models.CharField(max_length=32)),
                ('query', models.CharField(max_length=1000)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [
                    models.UniqueConstraint(fields=('user', 'screen', 'name'), name='saved_view_name_once_per_screen'),
                ],
            },
        ),
        migrations.RunPython(make_roles, remove_roles),
    ]
