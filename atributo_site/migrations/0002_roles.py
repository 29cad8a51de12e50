"""The groups viewer, operator and admin with their permissions."""

from django.db import migrations

ROLES = {
    "viewer": ["view"],
    "operator": ["view", "operate"],
    "admin": ["view", "operate", "administer"],
}


def make_roles(apps, schema_editor):
    using = schema_editor.connection.alias
    ContentType = apps.get_model("contenttypes", "ContentType")
    Permission = apps.get_model("auth", "Permission")
    Group = apps.get_model("auth", "Group")
    access, _ = ContentType.objects.using(using).get_or_create(
        app_label="atributo_site", model="access"
    )
    for role, levels in ROLES.items():
        group, _ = Group.objects.using(using).get_or_create(name=role)
        for level in levels:
            permission, _ = Permission.objects.using(using).get_or_create(
                content_type=access, codename=level, defaults={"name": f"May {level}"}
            )
            group.permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [
        ("atributo_site", "0001_foundation"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
