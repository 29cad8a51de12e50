"""A row becomes the object that Django itself would make of it."""

import pytest
from django.db.models import Model
from django.db.models.signals import post_init

from allocation.models import Allocation, Instance
from atributo_site.core.models import Event
from queues.models import QueuedJob

VALUES = range(100)


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("kind", [Instance, Allocation, Event, QueuedJob])
def test_a_quick_object_is_that_of_django(kind):
    names = [field.attname for field in kind._meta.concrete_fields]
    values = list(VALUES[: len(names)])
    quick, slow = (
        kind.from_db("other", names, values),
        Model.from_db.__func__(kind, "other", names, values),
    )
    states = [vars(each).pop("_state") for each in (quick, slow)]
    assert vars(quick) == vars(slow)
    told = [(each.adding, each.db, each.fields_cache) for each in states]
    assert told == [(False, "other", {})] * 2


@pytest.mark.only_on("sqlite")
def test_columns_that_were_not_read_are_deferred():
    row = Instance.from_db("default", ["id", "epoch"], ["a", 7])
    assert (row.id, row.epoch, "reason" in row.get_deferred_fields()) == ("a", 7, True)


@pytest.mark.only_on("sqlite")
def test_whoever_wants_to_know_of_each_object_is_told():
    told = []

    def hear(instance, **_):
        told.append(instance.id)

    names = [field.attname for field in Instance._meta.concrete_fields]
    post_init.connect(hear, sender=Instance)
    try:
        Instance.from_db("default", names, ["a", *VALUES[1 : len(names)]])
    finally:
        post_init.disconnect(hear, sender=Instance)
    assert told == ["a"]
