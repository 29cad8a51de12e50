"""Actions on allocations."""

from functools import partial

from allocation.atributo import Atributo
from allocation.models import Allocation, Rebalance
from allocation.placement import rebalance
from tests.browser.actions.screen_action import ScreenAction, press, typed

PAGE = "/allocations/{id}/"


def room():
    Atributo().available("web-1", capacity=100)
    return {}


def allocated(job_id):
    room()
    Atributo().allocate(job_id)
    return {"id": job_id}


def deallocated(job_id):
    allocated(job_id)
    Atributo().deallocate(job_id)
    return {"id": job_id}


def uneven():
    """Make job ids that would be placed elsewhere today, without a rebalance."""
    room()
    Atributo().allocate_many([f"old-{number}" for number in range(20)])
    Atributo().available("web-2", capacity=100)
    Rebalance.objects.all().delete()
    return {}


def moving():
    uneven()
    rebalance.start(moves_per_minute=60)
    return {}


def is_placed(words):
    return Allocation.objects.filter(pk=words["id"]).exists()


def rebalance_runs(words):
    return Rebalance.objects.filter(done_at__isnull=True).exists()


ACTIONS = [
    ScreenAction(
        "allocations",
        given=room,
        at="/allocations/",
        steps=(typed("job_id", "job-new"), press("Allocate")),
        seen="job-new is on",
        changed=lambda words: is_placed({"id": "job-new"}),
    ),
    ScreenAction(
        "allocation-change:allocate",
        given=partial(deallocated, "job-1"),
        at=PAGE,
        steps=(press("Allocate"),),
        seen="It is on",
        changed=is_placed,
    ),
    ScreenAction(
        "allocation-change:deallocate",
        given=partial(allocated, "job-2"),
        at=PAGE,
        steps=(press("Deallocate"),),
        seen="The key is deallocated.",
        changed=lambda words: not is_placed(words),
    ),
    ScreenAction(
        "rebalance",
        given=uneven,
        at="/allocations/-/rebalance/",
        steps=(typed("moves_per_minute", "30"), press("Rebalance …"), press("Move the keys")),
        seen="The curator moves keys at this pace until it is done or you stop it.",
        changed=rebalance_runs,
    ),
    ScreenAction(
        "rebalance",
        given=moving,
        at="/allocations/-/rebalance/",
        steps=(press("Stop the rebalance"),),
        seen="The rebalance is stopped. Keys that moved stay where they are.",
        changed=lambda words: not rebalance_runs(words),
    ),
]
