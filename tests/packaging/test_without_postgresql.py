"""psycopg is an extra: on SQLite nothing of ours loads it."""

import subprocess
import sys

from tests.packaging.environment import ROOT

LOAD = """
import sys
sys.modules["psycopg"] = sys.modules["psycopg2"] = None  # as if it were not installed
import django
django.setup()
from django.core.management import get_commands, load_command_class
from django.urls import reverse
from django.template import engines
reverse("atributo:overview"), engines.all()
rooms = ("allocation", "queues", "pools", "atributo_site")
for name, app in get_commands().items():
    if app in rooms:
        load_command_class(app, name)
print("loaded")
"""


def test_every_page_and_command_loads_without_psycopg(tmp_path):
    env = {"DJANGO_SETTINGS_MODULE": "atributo_site.settings", "ATRIBUTO_VAR_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", LOAD],
        cwd=ROOT,
        env={**env, "ATRIBUTO_ENV": "test"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.stdout == "loaded\n", ended.stderr
