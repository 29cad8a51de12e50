"""Actions on instances."""

from functools import partial

from allocation.atributo import Atributo
from allocation.instances.availability import load_of
from allocation.models import Drain, Instance
from allocation.placement import drains
from atributo_site.core.models.clock import database_now
from tests.browser.actions.screen_action import ScreenAction, Step, follow, press, tick, typed

PAGE = "/instances/{id}/"


def available(name, **settings):
    Atributo().available(name, **{"capacity": 4, **settings})
    return {"id": name}


def unavailable(name, **settings):
    available(name, **settings)
    Atributo().unavailable(name)
    return {"id": name}


def draining(name):
    available(name)
    drains.drain(name, deadline_seconds=3600)
    return {"id": name}


def draining_with_jobs(name):
    available(name, capacity=None)
    Atributo().allocate_many([f"{name}-{number}" for number in range(100)])
    drains.drain(name, deadline_seconds=3600)
    return {"id": name, "jobs": load_of(name)}


def reason(verb, text):
    return Step("css", f'form[action$="/{verb}"] [name="reason"]', text)


def is_in(state):
    return lambda words: Instance.objects.get(pk=words["id"]).state == state


def is_there(name):
    return lambda words: Instance.objects.filter(pk=name).exists()


def is_forced(words):
    return Drain.objects.filter(pk=words["id"], deadline_at__lte=database_now()).exists()


def has_pace(words):
    return Drain.objects.filter(pk=words["id"], moves_per_minute=30).exists()


def has_settings(words):
    return Instance.objects.filter(pk=words["id"], weight=3, capacity=None).exists()


ACTIONS = [
    ScreenAction(
        "instances",
        at="/instances/",
        steps=(typed("id", "web-new"), press("Make available")),
        seen="web-new is available.",
        changed=is_there("web-new"),
    ),
    ScreenAction(
        "instance-change:drain",
        given=partial(available, "web-1"),
        at=PAGE,
        steps=(reason("drain", "kernel"), typed("deadline_minutes", "90"), press("Drain")),
        seen="The drain has started.",
        changed=is_in("draining"),
    ),
    ScreenAction(
        "instance-change:drain",
        given=partial(draining, "web-8"),
        at=PAGE,
        steps=(typed("moves_per_minute", "30"), press("Set pace and deadline")),
        seen="The pace is set.",
        changed=has_pace,
    ),
    ScreenAction(
        "instance-change:drain",
        given=partial(draining, "web-10"),
        at=PAGE,
        steps=(tick("Remove the deadline"), press("Set pace and deadline")),
        seen="Pace and deadline are set.",
        changed=lambda words: Drain.objects.filter(pk=words["id"], deadline_at=None).exists(),
    ),
    ScreenAction(
        "instance-change:settings",
        given=partial(available, "web-9"),
        at=PAGE,
        steps=(typed("weight", "3"), typed("capacity", ""), press("Set weight and capacity")),
        seen="Weight and capacity are saved",
        changed=has_settings,
    ),
    ScreenAction(
        "instance-change:unavailable",
        given=partial(available, "web-2"),
        at=PAGE,
        steps=(reason("unavailable", "a new disk"), press("Make unavailable")),
        seen="a new disk",
        changed=is_in("unavailable"),
    ),
    ScreenAction(
        "instance-change:restore",
        given=partial(unavailable, "web-3"),
        at=PAGE,
        steps=(press("Restore"),),
        seen="The instance is available again",
        changed=is_in("available"),
    ),
    ScreenAction(
        "instance-change:available",
        given=partial(unavailable, "web-4", source="dns"),
        at=PAGE,
        steps=(press("Make available"),),
        seen="The instance accepts new keys again.",
        changed=is_in("available"),
    ),
    ScreenAction(
        "instance-change:stop",
        given=partial(draining, "web-5"),
        at=PAGE,
        steps=(press("Stop the drain"),),
        seen="The drain is stopped",
        changed=is_in("unavailable"),
    ),
    ScreenAction(
        "instance-change:force",
        given=partial(draining_with_jobs, "web-6"),
        at=PAGE,
        steps=(follow("Move all keys now …"), press("Move {jobs} keys now")),
        seen="The curator will move all remaining keys now.",
        changed=is_forced,
    ),
    ScreenAction(
        "instance-remove",
        given=partial(available, "web-7"),
        at=PAGE,
        steps=(follow("Remove …"), typed("typed", "{id}"), press("Remove")),
        seen="{id} is removed; 0 keys were dropped.",
        changed=lambda words: not is_there(words["id"])(words),
    ),
]
