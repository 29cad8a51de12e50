"""A PostgreSQL that will never let this site in is called that, and not busy."""

import pytest
from django.core.management import call_command
from django.db import connection

from allocation.atributo import Atributo
from atributo_site.core.errors import DatabaseRefused
from atributo_site.core.retry import retry_busy

pytestmark = [pytest.mark.only_on("postgresql"), pytest.mark.django_db(transaction=True)]


@pytest.fixture(params=[{"NAME": "no_such_database"}, {"USER": "nobody_of_that_name"}], ids=str)
def refused(request, client_as, bearer):
    """Log somebody in, and name a database that the server does not have afterwards."""
    client, token = client_as("admin"), bearer("admin")
    client.raise_request_exception = False
    connection.close()
    before = {name: connection.settings_dict[name] for name in request.param}
    connection.settings_dict.update(request.param)
    yield client, token
    connection.close()
    connection.settings_dict.update(before)


def test_rest_and_pages_do_not_call_it_busy(refused):
    client, token = refused
    for headers in ({}, token):
        answer = client.get("/api/v1/instances", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (503, "database_refused")
    page = client.get("/instances/")
    assert page.status_code == 503
    assert "busy" not in page.text and "no_such_database" not in page.text


def test_a_program_is_told_at_once(refused):
    waits = []
    with pytest.raises(DatabaseRefused, match="does not exist"):
        retry_busy(lambda: Atributo().allocate("job"), sleep=waits.append)
    assert waits == []


def test_a_command_says_what_the_server_said(refused, capsys):
    with pytest.raises(SystemExit):
        call_command("instances", "list")
    assert "does not exist" in capsys.readouterr().err
