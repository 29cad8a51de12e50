from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('atributo_site', '0002_roles'),
    ]

    operations = [
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
    ]
