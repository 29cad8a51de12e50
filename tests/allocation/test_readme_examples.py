"""Both examples of the library that this room descends from, in their own order."""

import pytest

from allocation.atributo import Allocated, Atributo

pytestmark = pytest.mark.django_db


def test_the_first_example():
    with Atributo() as ao:
        ao.available("instance0")
        ao.available("instance1")
        assert ao.instances() == [
            {"id": "instance0", "available": True},
            {"id": "instance1", "available": True},
        ]
        assert ao.allocate("job0") == Allocated("instance1", persisted=True)
        assert ao.allocate("job1") == Allocated("instance0", persisted=True)
        assert ao.jobs("instance0") == ["job1"]
        assert ao.jobs("instance1") == ["job0"]
        assert ao.has_jobs("instance0")
        assert ao.instance("job1") == "instance0"
        ao.unavailable("instance0", destroyed=False)
        assert ao.instances() == [
            {"id": "instance0", "available": False},
            {"id": "instance1", "available": True},
        ]
        assert ao.allocate("job1") == Allocated("instance0", persisted=False)
        ao.deallocate("job1")
        assert ao.allocate("job1") == Allocated("instance1", persisted=True)
        ao.unavailable("instance0", destroyed=True)
        assert ao.instances() == [{"id": "instance1", "available": True}]


class ExampleAtributo(Atributo):
    """Stores an allocation only for the instance it runs on, and starts the job then."""

    started: list[str]

    def available(self, instance_id, **wishes):
        self.started = []
        self._instance_id = instance_id
        return super().available(instance_id, **wishes)

    def allocate(self, job_id):
        allocated = super().allocate(job_id)
        if allocated.persisted:
            self.started.append(job_id)
        return allocated

    def _allocate(self, job_id, instance_ids):
        instance_id, persist = super()._allocate(job_id, instance_ids)
        return instance_id, persist and instance_id == self._instance_id


def test_the_second_example():
    ao0, ao1 = ExampleAtributo(), ExampleAtributo()
    ao0.available("instance0")
    ao1.available("instance1")
    assert ao0.instances() == ao1.instances()
    assert ao0.allocate("job0") == Allocated("instance1", persisted=False)
    assert ao1.jobs("instance1") == []
    assert ao1.allocate("job0") == Allocated("instance1", persisted=True)
    assert ao1.jobs("instance1") == ["job0"]
    assert ao1.allocate("job1") == Allocated("instance0", persisted=False)
    assert ao1.jobs("instance0") == []
    assert ao0.allocate("job1") == Allocated("instance0", persisted=True)
    assert ao1.jobs("instance0") == ["job1"]
    assert ao1.allocate("job0") == Allocated("instance1", persisted=False)
    assert ao0.allocate("job1") == Allocated("instance0", persisted=False)
    assert (ao0.started, ao1.started) == (["job1"], ["job0"])
    ao0.close()
    ao1.close()
