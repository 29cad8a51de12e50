"""A backup restored in another cluster: the old numbers of transactions mean nothing there."""

import pytest
from django.db import connections

from allocation.atributo import Atributo
from allocation.models import Allocation
from atributo_site.core.event_cursor import events_after, may_resume, newest_cursor, parsed
from atributo_site.core.events import record
from atributo_site.core.models import Event
from tests.servers.postgres.binaries import find_postgres_binaries
from tests.servers.postgres.restoring import dump, restored

pytestmark = [pytest.mark.only_on("postgresql"), pytest.mark.django_db(transaction=True)]
OLD, LATE = 195, 5


@pytest.fixture
def old_cursor():
    """Return the cursor of a reader who lacks the last few events of the old cluster."""
    for number in range(OLD):
        record("old.made", f"old:{number}")
    cursor = str(newest_cursor())
    for number in range(LATE):
        record("late.made", f"late:{number}")
    return parsed(cursor)


@pytest.fixture
def site(old_cursor, postgres, migrated_database):
    """Return the alias of the same site in a fresh cluster, which has counted few transactions."""
    Atributo().available("i1")
    Atributo().allocate("before")
    dumped = dump(find_postgres_binaries(), migrated_database.url)
    with restored(dumped, postgres) as alias:
        here = int(newest_cursor(alias).seen.split(":")[1])
        assert here < Event.objects.latest("writer").writer, "the new cluster has counted more"
        yield alias


def read(cursor, site, rounds=4, limit=50):
    subjects = []
    for _ in range(rounds):
        events, cursor = events_after(cursor, limit, site)
        subjects += [event.subject for event in events]
    return subjects, cursor


def count_on(site):
    """Count until the new cluster has as many transactions as the old one."""
    wanted = Event.objects.using(site).exclude(cluster=newest_cursor(site).origin).latest("writer")
    with connections[site].cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE counting (n int)")
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        missing = wanted.writer - cursor.fetchone()[0] + 10
        cursor.execute(
            f"DO $$ BEGIN FOR n IN 1..{missing} LOOP BEGIN INSERT INTO counting VALUES (n);"
            " EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$"
        )


def test_a_new_reader_hears_what_is_new_once(site):
    cursor = newest_cursor(site)
    assert read(cursor, site)[0] == []
    for number in range(3):
        record("new.made", f"new:{number}", using=site)
    subjects, cursor = read(cursor, site)
    assert subjects == ["new:0", "new:1", "new:2"]
    count_on(site)
    assert read(cursor, site)[0] == []


def test_a_reader_of_the_old_cluster_goes_on_from_its_mark(site, old_cursor):
    record("new.made", "new:0", using=site)
    assert may_resume(old_cursor, newest_cursor(site), site)
    subjects, cursor = read(old_cursor, site, rounds=9, limit=2)
    assert subjects[:LATE] == [f"late:{number}" for number in range(LATE)]
    assert sorted(subjects) == sorted({*subjects, "new:0"})
    assert not any(subject.startswith("old:") for subject in subjects)
    record("new.made", "new:1", using=site)
    assert read(cursor, site)[0] == ["new:1"]


def test_the_cursor_still_counts_when_the_new_cluster_has_caught_up(site, old_cursor):
    record("new.made", "new:0", using=site)
    count_on(site)
    record("new.made", "new:1", using=site)
    subjects, cursor = read(old_cursor, site)
    assert [each for each in subjects if each.startswith("new:")] == ["new:0", "new:1"]
    assert not any(subject.startswith("old:") for subject in subjects)
    assert read(cursor, site)[0] == []


def test_epochs_go_on_after_the_restored_ones(site):
    atributo = Atributo(using=site)
    atributo.allocate("after")
    epochs = Allocation.objects.using(site).values_list("pk", "epoch")
    assert dict(epochs)["after"] > dict(epochs)["before"]
