"""The command that an empty screen names works, and leads to the next one."""

import shlex
from html import unescape

import pytest
from django.core.management import call_command

from tests.factories.jobs import make_script

pytestmark = pytest.mark.django_db


def commands(page: str) -> list[str]:
    """Return the texts of the empty states of a page."""
    parts = page.split('<div class="empty">')[1:]
    return [unescape(part.partition("<code>")[2].partition("</code>")[0]) for part in parts]


def follow(client, path: str, noun: str) -> str:
    """Run the command of the empty state that names this noun."""
    (command,) = [each for each in commands(client.get(path).text) if f"manage.py {noun}" in each]
    _, name, *options = shlex.split(command)
    call_command(name, *options)
    return command


@pytest.mark.parametrize("path", ["/", "/jobs/", "/schedules/"])
def test_a_new_site_is_led_from_a_service_to_its_first_job(path, client_as, capsys):
    client = client_as("operator")
    follow(client, path, "service")
    follow(client, path, "push")
    assert "multiply" in client.get("/jobs/").text


def test_the_screen_is_not_empty_when_its_command_was_followed(client_as, capsys):
    client = client_as("operator")
    for noun in ("service", "push"):
        follow(client, "/schedules/", noun)
    assert "No repeating jobs" not in client.get("/schedules/").text


def test_nobody_with_a_service_is_told_to_install_one_first(client_as):
    make_script()
    page = client_as("operator").get("/schedules/").text
    assert "To try it, install a demo service:" in page
    assert "First install" not in page
