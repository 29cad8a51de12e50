"""Every operation has an asynchronous name, which blocks no loop."""

import asyncio
import inspect
import os
import threading

import pytest
from django.db import connections

from allocation.asynchronous import THREADS, close_threads, in_thread
from allocation.atributo import Allocated, Atributo
from allocation.errors import Closed, NoInstances
from allocation.models import Allocation
from atributo_site.core.events import Actor, acting

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_threads_left(transactional_db):
    yield
    close_threads()


def test_every_operation_has_an_asynchronous_name():
    public = {name for name, _ in inspect.getmembers(Atributo, inspect.isfunction)}
    plain = {name for name in public if not name.startswith("_") and f"a{name}" in public}
    asynchronous = {f"a{name}" for name in plain}
    assert public - plain - asynchronous - {n for n in public if n.startswith("_")} == set()


def test_all_operations_do_what_their_synchronous_names_do():
    async def story():
        async with Atributo() as ao:
            await ao.aavailable("instance0")
            await ao.aavailable("instance1")
            start = await ao.aposition()
            assert await ao.aallocate("job0") == Allocated("instance1", True)
            assert await ao.aallocate_many(["job0", "job1"]) == {
                "job0": ("instance1", False),
                "job1": ("instance0", True),
            }
            assert (await ao.aallocation("job0")).instance_id == "instance1"
            assert await ao.ainstance("job1") == "instance0"
            assert await ao.ahas_jobs("instance0") and await ao.ajobs("instance0") == ["job1"]
            assert await ao.adeallocate("job0") and not await ao.adeallocate("job0")
            assert await ao.aend_many(["job1"]) == {"job1": "instance0"}
            assert await ao.adeallocate_many(["job1"]) == 0
            await ao.aunavailable("instance1", destroyed=True)
            assert await ao.ainstances() == [{"id": "instance0", "available": True}]
            kinds = []
            async for change in ao.achanges(start):
                kinds.append((change.kind, change.job_id))
                if len(kinds) == 4:
                    break
        with pytest.raises(Closed):
            await ao.ainstances()
        return kinds

    made = [("made", "job0"), ("made", "job1")]
    assert asyncio.run(story()) == [*made, ("ended", "job0"), ("ended", "job1")]


def test_errors_come_through():
    with pytest.raises(NoInstances):
        asyncio.run(Atributo().aallocate("job"))


def test_the_loop_goes_on_while_an_operation_waits():
    """The operation waits for the loop, so a blocked loop would never end it."""

    async def story():
        may_go = threading.Event()
        waiting = asyncio.create_task(in_thread(may_go.wait, 60))
        await asyncio.sleep(0)
        may_go.set()
        return await waiting

    assert asyncio.run(story())


def test_many_at_once_share_few_connections_and_place_each_job_once():
    async def story(ao):
        await ao.aavailable("a")
        return await asyncio.gather(*(ao.aallocate(f"job{n % 40}") for n in range(120)))

    answers = asyncio.run(story(Atributo()))
    assert sum(answer.persisted for answer in answers) == Allocation.objects.count() == 40
    names = asyncio.run(_gathered(lambda: id(connections["default"])))
    assert len(set(names)) <= THREADS


async def _gathered(call):
    return await asyncio.gather(*(in_thread(call) for _ in range(40)))


def test_the_actor_of_the_caller_is_kept():
    async def story():
        ao = Atributo()
        await ao.aavailable("a")
        with acting(Actor("ann", "test")):
            await ao.aallocate("job")

    asyncio.run(story())
    assert Allocation.objects.get(pk="job").actor == "ann"


def test_a_subclass_is_obeyed():
    class Mine(Atributo):
        def allocate(self, job_id, **options):
            return super().allocate(f"mine/{job_id}", **options)

    async def story():
        await Mine().aavailable("a")
        await Mine().aallocate("job")

    asyncio.run(story())
    assert Allocation.objects.get().pk == "mine/job"


def test_a_forked_child_has_threads_of_its_own():
    asyncio.run(Atributo().aavailable("a"))
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(Atributo().aallocate("child"))
            close_threads()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert Allocation.objects.get().pk == "child"
