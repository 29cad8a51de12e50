from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("allocation", "0011_place_in_one_call")]
    operations = [
        migrations.AddField("idnumber", "set_back_ms", models.BigIntegerField(default=0)),
    ]
