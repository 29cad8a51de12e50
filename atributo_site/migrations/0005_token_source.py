"""Give tokens a source: those that exist speak for people."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('atributo_site', '0001_squashed_0004_saved_views'),
        migrations.swappable_dependency(getattr(settings, "KNOX_TOKEN_MODEL", "knox.AuthToken")),
    ]

    operations = [
        migrations.AddField(
            model_name='tokenscope',
            name='source',
            field=models.CharField(choices=[('manual', 'a person'), ('worker', 'a program')], db_default='manual', default='manual', max_length=16),
        ),
        migrations.AddConstraint(
            model_name='tokenscope',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['manual', 'worker'])), name='token_source_is_known'),
        ),
    ]
