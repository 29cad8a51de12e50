"""A person's decision outranks DNS, and nothing is destroyed that is still needed."""

import pytest

from allocation.atributo import Atributo
from allocation.instances import availability
from allocation.models import Instance
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.curator.integrity import all_rules
from pools.configuration import administer, still_held
from pools.models import Backend, Pool
from pools.repairs import drain_what_left, remove_gone_backends
from tests.pools.site.watching import states

pytestmark = pytest.mark.django_db
THIRD = "10.0.0.3:8003"


@pytest.fixture
def three(watching):
    watching.targets(1, 2, 3)
    watching.name(grace_seconds=60)
    watching.sweep()
    return watching


def key_of(instance_id):
    return Backend.objects.get(instance_id=instance_id).key


def leave(watching, *numbers):
    watching.targets(*numbers)
    watching.again()


def grace_is_over():
    Backend.objects.gone().update(state_since=from_now(-61))


def test_a_person_who_makes_it_unavailable_is_not_overruled_by_dns(three):
    availability.make_unavailable(THIRD, reason="broken")
    leave(three, 1, 2)
    leave(three, 1, 2, 3)
    assert (states()[THIRD], Instance.objects.get(pk=THIRD).reason) == ("unavailable", "broken")


def test_a_person_who_makes_it_available_is_not_overruled_by_dns(three):
    leave(three, 1, 2)
    availability.make_available(THIRD)
    leave(three, 1, 2, 3)
    leave(three, 1, 2)
    assert states()[THIRD] == "available"


def test_drain_maintenance_and_ready(three):
    key = key_of(THIRD)
    found = {}
    for word in ("drain", "maintenance", "ready"):
        administer("svc", key, word, "disks")
        found[word] = states()[THIRD]
    assert found == {"drain": "draining", "maintenance": "draining", "ready": "available"}
    administer("svc", key, "maintenance")
    assert states()[THIRD] == "unavailable"


def test_maintenance_outlives_leaving_and_returning(three):
    administer("svc", key_of(THIRD), "maintenance", "disks")
    leave(three, 1, 2)
    leave(three, 1, 2, 3)
    assert states()[THIRD] == "unavailable"
    administer("svc", key_of(THIRD), "ready")
    assert states()[THIRD] == "available"


def test_ready_for_a_backend_that_left_dns_drains(three):
    administer("svc", key_of(THIRD), "maintenance")
    leave(three, 1, 2)
    administer("svc", key_of(THIRD), "ready")
    assert states()[THIRD] == "draining"


def test_a_gone_instance_without_jobs_is_removed_after_the_grace(three):
    leave(three, 1, 2)
    assert remove_gone_backends(database_now(), three.lease) == 0
    grace_is_over()
    assert remove_gone_backends(database_now(), three.lease) == 1
    assert THIRD not in states()
    assert not Backend.objects.filter(instance_id=THIRD).exists()


def test_a_gone_instance_with_jobs_stays(three):
    with Atributo() as atributo:
        placed = [atributo.allocate(f"job-{n}").instance_id for n in range(30)]
        assert THIRD in placed
        leave(three, 1, 2)
        grace_is_over()
        assert remove_gone_backends(database_now(), three.lease) == 0
        atributo.deallocate_many(atributo.jobs(THIRD))
        assert remove_gone_backends(database_now(), three.lease) == 1


def test_a_gone_instance_that_a_person_decided_about_stays(three):
    administer("svc", key_of(THIRD), "maintenance")
    leave(three, 1, 2)
    grace_is_over()
    assert remove_gone_backends(database_now(), three.lease) == 0


def test_an_instance_that_left_dns_and_is_restored_drains_again(three):
    leave(three, 1, 2)
    availability.restore(THIRD)
    assert drain_what_left(database_now(), three.lease) == 1
    assert states()[THIRD] == "draining"


def test_an_instance_known_under_two_names_drains_with_the_last(three):
    three.server.set("_http._tcp.two.example", "SRV", [(0, 0, 8003, "t3.example")], 10)
    three.name("two", domain="two.example")
    three.sweep()
    leave(three, 1, 2)
    assert states()[THIRD] == "available"
    three.server.set("_http._tcp.two.example", "SRV", [(0, 0, 8001, "t1.example")], 10)
    three.again()
    three.again(5_100)
    assert states()[THIRD] == "draining"


def test_ready_for_a_backend_that_is_in_dns_under_another_name_drains_nothing(three):
    three.server.set("_http._tcp.two.example", "SRV", [(0, 0, 8003, "t3.example")], 10)
    three.name("two", domain="two.example")
    three.sweep()
    leave(three, 1, 2)
    for word in ("maintenance", "ready"):
        administer("svc", Backend.objects.gone().get().key, word)
    assert states()[THIRD] == "available"


def test_ready_under_one_name_leaves_what_is_said_under_another(three):
    three.server.set("_http._tcp.two.example", "SRV", [(0, 0, 8003, "t3.example")], 10)
    three.name("two", domain="two.example")
    three.sweep()
    keys = dict(Backend.objects.filter(instance_id=THIRD).values_list("pool__name", "key"))
    administer("two", keys["two"], "maintenance", "disks")
    for word in ("drain", "ready"):
        backend = administer("svc", keys["svc"], word)
        assert states()[THIRD] != "available"
    assert still_held(backend) == "Under two it is in maintenance and stays so."
    administer("two", keys["two"], "ready")
    assert states()[THIRD] == "available"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"answer": []}, "other backends than answered"),
        ({"answer": ["nobody"]}, "other backends than answered"),
        ({"next_at": from_now(-60)}, "asked below the floor"),
    ],
)
def test_an_answer_that_was_not_carried_out_and_haste_are_found(watching, change, rule):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    assert broken() == []
    Pool.objects.update(**change)
    assert broken() == [rule]


def test_backends_in_doubt_break_no_rule(watching):
    watching.targets(1, 2, 3, 4)
    watching.name()
    watching.sweep()
    watching.targets(1, 2)
    watching.again()
    assert (Pool.objects.get().waiting, broken()) == (2, [])
    watching.again(5_100)
    assert (Pool.objects.get().waiting, broken()) == (0, [])


def broken():
    return [rule.name for rule in all_rules() if rule.broken()]
