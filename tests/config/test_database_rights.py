"""Only `migrate` changes tables; everything else works for a role that reads and writes rows."""

import pytest
from django.db import ProgrammingError, connection

import queues
from allocation.atributo import Atributo
from allocation.job_ids.ids import get_job_id
from allocation.placement import drains
from allocation.transactions import Transaction
from atributo_site.core.models import Event
from queues.services import installation

pytestmark = [pytest.mark.only_on("postgresql"), pytest.mark.django_db(transaction=True)]


@pytest.fixture
def site_role(transactional_db):
    """Connect as the role of docs/operations.md; roles belong to the whole server."""
    name = f"site_{connection.settings_dict['NAME']}"
    owner = connection.settings_dict["USER"]
    execute(f'CREATE ROLE "{name}"')
    execute(f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{name}"')
    execute(f'GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO "{name}"')
    execute(f'REVOKE UPDATE ON allocation_event FROM "{name}"')
    execute(f'SET ROLE "{name}"')
    yield name
    execute(f'SET ROLE "{owner}"')
    execute(f'DROP OWNED BY "{name}"')
    execute(f'DROP ROLE "{name}"')


def execute(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_work_needs_no_right_to_change_tables(site_role):
    ao = Atributo()
    ao.available("web-1")
    assert ao.allocate(get_job_id()).persisted
    drains.drain("web-1")
    with Transaction() as txn:
        txn.put("users", "ada", {"age": 36})
    installation.install("multiplier", "/multiplier")
    queue = queues.create("work")
    job = queue.push({"mount": "/multiplier", "name": "multiply"}, [6, 7])
    assert queue.pending() == [job]
    assert Event.objects.count() > 0


def test_nobody_but_the_owner_rewrites_history_or_changes_tables(site_role):
    with pytest.raises(ProgrammingError, match="permission denied"):
        Event.objects.update(actor="somebody else")
    with pytest.raises(ProgrammingError, match="permission denied|must be owner"):
        execute("ALTER TABLE allocation_event ADD COLUMN more text")
