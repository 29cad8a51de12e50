"""The scenarios that every version of this allocation has to pass, by their numbers."""

import itertools

import pytest

from allocation.atributo import Allocated, Atributo
from allocation.errors import AllocatorError, Closed, NoInstances
from allocation.models import Allocation, Instance
from allocation.placement.explain import explain
from atributo_site.core.errors import InvalidId

pytestmark = pytest.mark.django_db


@pytest.fixture
def ao():
    with Atributo() as opened:
        yield opened


@pytest.fixture
def story(ao):
    """bar … bar9 on foo and foo2; foo3 came later."""
    ao.available("foo")
    ao.allocate("bar")
    ao.allocate("bar3")
    ao.available("foo2")
    for job_id in ["bar2", "bar5", "bar9"]:
        Allocation.objects.filter(pk=ao.allocate(job_id) and job_id).update(instance="foo2")
    ao.available("foo3")
    return ao


def test_a01_a_fresh_store_knows_nobody_and_complains_about_nothing(ao):
    assert (ao.has_jobs("foo"), ao.jobs("foo"), ao.instance("x")) == (False, [], None)


def test_a02_without_instances_nothing_is_stored(ao):
    with pytest.raises(NoInstances, match="no instances"):
        ao.allocate("bar")
    assert Allocation.objects.count() == 0


def test_a02_neither_when_all_are_unavailable(ao):
    ao.available("foo")
    ao.unavailable("foo")
    with pytest.raises(NoInstances):
        ao.allocate("bar")
    with pytest.raises(NoInstances):
        ao.allocate_many(["bar", "bar2"])


def test_a03_the_only_instance_gets_the_job(ao):
    ao.available("foo")
    assert ao.allocate("bar") == Allocated("foo", True)


def test_a05_jobs_stay_when_an_instance_is_added(story):
    answers = [story.allocate(job_id) for job_id in ["bar", "bar2", "bar5", "bar3"]]
    assert answers == [(i, False) for i in ["foo", "foo2", "foo2", "foo"]]


def test_a06_jobs_of_each_instance(story):
    assert [story.has_jobs(i) for i in ["foo", "foo2", "foo3"]] == [True, True, False]
    assert story.jobs("foo") == ["bar", "bar3"]
    assert story.jobs("foo2") == ["bar2", "bar5", "bar9"]
    assert story.jobs("foo3") == []


def test_a07_saying_available_again_changes_nothing(story):
    before = list(Allocation.objects.order_by("pk").values())
    for instance_id in ["foo3", "foo", "foo2"]:
        story.available(instance_id)
    assert list(Allocation.objects.order_by("pk").values()) == before


def test_a09_an_unavailable_instance_keeps_its_jobs_until_they_are_deallocated(story):
    story.unavailable("foo2")
    assert story.has_jobs("foo2")
    assert story.allocate("bar9") == ("foo2", False)
    story.deallocate("bar9")
    assert story.allocate("bar9") == ("foo3", True)


def test_a10_a_destroyed_instance_loses_its_jobs(story):
    story.unavailable("foo2")
    story.deallocate("bar9")
    story.allocate("bar9")
    story.unavailable("foo3", destroyed=True)
    assert not story.has_jobs("foo3")
    assert [row["id"] for row in story.instances()] == ["foo", "foo2"]
    assert story.allocate("bar9") == ("foo", True)


def test_unavailable_makes_an_unknown_instance_and_destroyed_does_not(ao):
    ao.unavailable("foo")
    ao.unavailable("bar", destroyed=True)
    assert ao.instances() == [{"id": "foo", "available": False}]


@pytest.mark.parametrize("order", list(itertools.permutations(["é", "a", "Z"])))
def test_a16_the_order_of_saying_available_does_not_matter(ao, order):
    for instance_id in [*order, *reversed(order)]:
        ao.available(instance_id)
    assert [row["id"] for row in ao.instances()] == ["Z", "a", "é"]
    assert [ao.allocate(f"job{n}").instance_id for n in range(4)] == ["Z", "a", "é", "Z"]


WRONG_IDS = ["", None, 7, b"job", "x" * 256, "a\x00b", "a\nb", "\x7f", "\x85", "\ud800", ["a"]]


@pytest.mark.parametrize("wrong", WRONG_IDS, ids=ascii)
def test_a18_a_wrong_id_is_refused_before_a_transaction_opens(ao, wrong, django_assert_num_queries):
    calls = [ao.available, ao.unavailable, ao.allocate, ao.deallocate, ao.jobs, ao.instance]
    with django_assert_num_queries(0):
        for call in [*calls, ao.has_jobs, lambda i: ao.allocate_many(["good", i])]:
            with pytest.raises(InvalidId):
                call(wrong)
    ao.available("foo")
    assert ao.allocate("bar").persisted


STRANGE_IDS = [
    "x" * 255,
    "😀" * 255,
    "../a",
    "<script>",
    " a ",
    "A",
    "a",
    "é",
    "e\u0301",
    "\u202e",
    "'",
]


@pytest.mark.parametrize("strange", STRANGE_IDS, ids=ascii)
def test_a_strange_id_is_kept_as_it_is(ao, strange):
    ao.available(strange)
    assert ao.allocate(strange) == (strange, True)
    assert ao.jobs(strange) == [strange]
    assert ao.deallocate(strange)


class Stubborn(Atributo):
    answer = ("nobody", True)

    def _allocate(self, job_id, instance_ids):
        return self.answer


@pytest.mark.parametrize("answer", ["nobody", "off", None])
def test_a18_an_allocator_that_chooses_nobody_stores_nothing(answer):
    ao = Stubborn()
    ao.answer = (answer, True)
    ao.available("on")
    ao.unavailable("off")
    with pytest.raises(AllocatorError):
        ao.allocate("job")
    with pytest.raises(AllocatorError):
        ao.allocate_many(["job"])
    assert ao.instance("job") is None


@pytest.mark.parametrize("answer", ["on", None, ("on",), ("on", True, 1), 5])
def test_a18_an_answer_of_another_shape_is_the_allocators_error(answer):
    ao = Stubborn()
    ao.available("on")
    ao.answer = answer
    with pytest.raises(AllocatorError, match="an instance and whether to store it"):
        ao.allocate("job")


def test_a18_one_text_is_no_list_of_ids(ao):
    ao.available("foo")
    for call in (ao.allocate_many, ao.deallocate_many):
        with pytest.raises(InvalidId, match="a list of ids"):
            call("bar")
    assert ao.jobs("foo") == []


def test_an_allocator_is_asked_only_about_jobs_that_are_nowhere():
    ao = Stubborn()
    ao.available("on")
    ao.answer = ("on", True)
    assert ao.allocate("job") == ("on", True)
    ao.answer = ("nobody", True)
    assert ao.allocate("job") == ("on", False)
    assert ao.allocate_many(["job"]) == {"job": ("on", False)}


def test_a_job_that_an_allocator_placed_was_not_moved():
    ao = Stubborn()
    ao.available("on")
    ao.answer = ("on", True)
    ao.allocate("job")
    why = explain("job")["why"]
    assert why["sentence"].startswith("Placed by 'custom'")


def test_an_error_of_the_allocator_reaches_the_caller_and_the_object_stays_usable():
    class Failing(Atributo):
        def _allocate(self, job_id, instance_ids):
            raise LookupError("no idea")

    ao = Failing()
    ao.available("on")
    with pytest.raises(LookupError, match="no idea"):
        ao.allocate("job")
    assert (ao.instance("job"), ao.jobs("on")) == (None, [])


def test_a_closed_object_always_refuses(ao):
    ao.close()
    for call in [ao.instances, lambda: ao.allocate("a"), lambda: ao.available("a"), ao.__enter__]:
        with pytest.raises(Closed):
            call()


def test_allocate_many_answers_as_allocate_does(ao):
    ao.available("instance0")
    ao.available("instance1")
    ao.allocate("job1")
    answers = ao.allocate_many(["job0", "job1", "job0"])
    assert answers == {"job0": ("instance1", True), "job1": ("instance0", False)}
    assert ao.allocate_many([]) == {}


def test_allocate_many_takes_a_constant_number_of_statements(ao, django_assert_max_num_queries):
    ao.available("instance0")
    ao.allocate("warm")
    with django_assert_max_num_queries(0):  # the ORM's; the hot path has its own few
        assert len(ao.allocate_many(f"job{n}" for n in range(2000))) == 2000


def test_deallocate_many_counts_those_that_were_allocated(ao):
    ao.available("foo")
    ao.allocate_many(["a", "b", "c"])
    assert ao.deallocate_many(["a", "b", "x"]) == 2
    assert ao.deallocate_many([]) == 0
    assert ao.jobs("foo") == ["c"]


def test_a_new_placement_has_a_higher_epoch(ao):
    ao.available("foo")
    ao.allocate("job")
    first = ao.allocation("job").epoch
    assert not ao.deallocate("job", epoch=first - 1)
    assert ao.deallocate("job", epoch=first)
    ao.allocate("job")
    assert ao.allocation("job").epoch > first > Instance.objects.get().epoch - 1
