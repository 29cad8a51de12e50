"""The groups viewer, operator and admin with their permissions."""

from django.conf import settings
from django.db import migrations

ROLES = {
    "viewer": ["view"],
    "operator": ["view", "operate"],
    "admin": ["view", "operate", "administer"],
}


def named(role):
    """Leave alone the groups of a project, which may have the same names."""
    return f"atributo {role}" if settings.ATRIBUTO.is_hosted else role


def make_roles(apps, schema_editor):
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


class Migration(migrations.Migration):
    dependencies = [
        ("atributo_site", "0001_foundation"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
