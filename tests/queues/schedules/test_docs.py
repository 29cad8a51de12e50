"""The example and the commands of docs/schedules.md run."""

import re
import shlex
from pathlib import Path

from django.core.management import call_command

from queues.models import Schedule
from queues.services import installation

DOCS = Path(__file__).parents[3] / "docs" / "schedules.md"


def test_the_example_runs(service_roots, transactional_db):
    installation.install("multiplier", "/multiplier", setup=False)
    block, *_ = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    exec(compile(block, DOCS.name, "exec"), {})  # noqa: S102
    assert not Schedule.objects.exists()


def test_the_commands_run(service_roots, transactional_db):
    installation.install("multiplier", "/multiplier", setup=False)
    lines = re.findall(r"^    manage\.py (schedules .*)$", DOCS.read_text(), re.MULTILINE)
    others = ("schedules backfill", "schedules deploy")
    first = [line for line in lines if not line.startswith(others)]
    assert len(first) == 8
    for line in first:
        call_command(*shlex.split(line))
    assert not Schedule.objects.exists()
