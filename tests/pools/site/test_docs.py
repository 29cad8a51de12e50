"""The examples of docs/dns.md do what the page says."""

import re
import shlex

import pytest
from django.core.management import call_command

from atributo_site.config.places import BASE_DIR
from atributo_site.core.models import Event
from pools.models import Pool

PAGE = (BASE_DIR / "docs" / "dns.md").read_text()


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.django_db
def test_the_commands_of_the_page_run_one_after_the_other(capsys):
    lines = [line for block in blocks("console") for line in block.splitlines()]
    for line in lines:
        call_command(*shlex.split(line)[1:])
    kinds = Event.objects.about("pool:web").order_by("id").values_list("kind", flat=True)
    assert list(kinds) == ["pool.watched", *["pool.changed"] * 4, "pool.forgotten"]
    assert not Pool.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_python_of_the_page_runs():
    for block in blocks("python"):
        exec(block, {})  # noqa: S102


@pytest.mark.parametrize("name", sorted(set(re.findall(r"ATRIBUTO_[A-Z_]+", PAGE))))
def test_the_settings_of_the_page_exist(name):
    assert f"{name}=" in (BASE_DIR / ".env.example").read_text()
