"""Tests that touch the database run on SQLite and on PostgreSQL, and leave both as they were."""

import threading

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import connection, connections

COMMITTED = pytest.mark.django_db(transaction=True)


def test_without_database_nothing_is_chosen(database):
    assert database is None


@pytest.mark.django_db
def test_the_connection_is_of_the_vendor(database):
    version = {"sqlite": "SELECT sqlite_version()", "postgresql": "SELECT version()"}[database]
    with connection.cursor() as cursor:
        cursor.execute(version)
        assert cursor.fetchone()
    assert connection.vendor == database


@COMMITTED
def test_other_threads_see_the_same_database(database):
    User.objects.create(username="ada")
    seen = []

    def look():
        seen.extend([connection.vendor, User.objects.get().username])
        connections.close_all()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [database, "ada"]


@pytest.mark.parametrize("turn", [1, 2])
def test_rolled_back_rows_do_not_stay(db, turn):
    assert not User.objects.exists()
    User.objects.create(username="ada")


@COMMITTED
@pytest.mark.parametrize("turn", [1, 2])
def test_committed_rows_do_not_stay(turn):
    assert not User.objects.exists()
    ada = User.objects.create(username="ada")
    ada.groups.add(Group.objects.get(name="viewer"))


@COMMITTED
@pytest.mark.parametrize("turn", [1, 2])
def test_rows_of_migrations_come_back(turn):
    viewer = Group.objects.get(name="viewer")
    assert [permission.codename for permission in viewer.permissions.all()] == ["view"]
    Permission.objects.all().delete()
    ContentType.objects.all().delete()
    Group.objects.filter(name="admin").delete()
    viewer.name = "renamed"
    viewer.save()


@COMMITTED
def test_ids_go_on_after_rows_came_back():
    Group.objects.all().delete()
    known = set(Group.objects.values_list("id", flat=True))
    assert Group.objects.create(name="new").id not in known


@pytest.mark.only_on("sqlite")
def test_only_on_sqlite(db, database):
    assert database == "sqlite"


@pytest.mark.only_on("postgresql")
def test_only_on_postgresql(db, database):
    assert database == "postgresql"


def test_a_chosen_database_forgets_ids_of_the_other(
    db, migrated_database, django_assert_num_queries
):
    ContentType.objects.get_for_model(User)
    migrated_database.select()
    with django_assert_num_queries(1):
        ContentType.objects.get_for_model(User)
