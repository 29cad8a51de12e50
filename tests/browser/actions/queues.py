"""Actions on queues."""

from functools import partial

import queues
from queues.models import Queue
from tests.browser.actions.screen_action import ScreenAction, Step, follow, press, typed
from tests.factories.jobs import make_queue

PAGE = "/queues/{name}/"


def made(name):
    make_queue(name)
    return {"name": name}


def paused(name):
    made(name)
    queues.pause(name)
    return {"name": name}


def saved(setting):
    """Press the button of one setting; each has "Save"."""
    return Step("css", f"form[action$='/{setting}'] button[type=submit]:not([formaction])")


def has(**columns):
    return lambda words: Queue.objects.existing().filter(name=words["name"], **columns).exists()


ACTIONS = [
    ScreenAction(
        "queues",
        at="/queues/",
        steps=(typed("name", "new"), typed("max_workers", "3"), press("Create queue")),
        seen="The queue new is created.",
        changed=lambda words: has(max_workers=3)({"name": "new"}),
    ),
    ScreenAction(
        "queue-pause",
        given=partial(made, "mail"),
        at="/queues/",
        steps=(press("Pause {name}"),),
        seen="mail is paused. Running jobs finish; no new jobs start.",
        changed=has(paused_at__isnull=False),
    ),
    ScreenAction(
        "queues-pause",
        given=partial(made, "busy"),
        at="/queues/",
        steps=(follow("Pause all"), Step("css", "main form button")),
        seen="no new jobs start.",
        changed=lambda words: not Queue.objects.existing().filter(paused_at=None).exists(),
    ),
    ScreenAction(
        "queues-resume",
        given=partial(paused, "calm"),
        at="/queues/",
        steps=(follow("Resume all"), Step("css", "main form button")),
        seen="running again.",
        changed=lambda words: not Queue.objects.existing().exclude(paused_at=None).exists(),
    ),
    ScreenAction(
        "queue-resume",
        given=partial(paused, "slow"),
        at=PAGE,
        steps=(press("Resume"),),
        seen="slow is resumed.",
        changed=has(paused_at=None),
    ),
    ScreenAction(
        "queue-scale",
        given=partial(made, "wide"),
        at=PAGE,
        steps=(typed("max_workers", "7"), press("Scale")),
        seen="wide runs up to 7 jobs at once.",
        changed=has(max_workers=7),
    ),
    ScreenAction(
        "queue-step",
        given=partial(made, "stepped"),
        at=PAGE,
        steps=(press("One job more at once"),),
        seen="stepped runs up to 3 jobs at once.",
        changed=has(max_workers=3),
    ),
    ScreenAction(
        "queue-target-age",
        given=partial(made, "urgent"),
        at=PAGE,
        steps=(typed("target_age_seconds", "77"), saved("target-age")),
        seen="urgent is late after 1m17s.",
        changed=has(target_age_seconds=77),
    ),
    ScreenAction(
        "queue-record-start",
        given=partial(made, "careful"),
        at=PAGE,
        steps=(press("Record each start first"),),
        seen="careful: Each start is recorded before the job begins.",
        changed=has(record_start=True),
    ),
    ScreenAction(
        "queue-retention",
        given=partial(made, "brief"),
        at=PAGE,
        steps=(typed("retention_days", "7"), saved("retention")),
        seen="brief keeps finished jobs for 7 days.",
        changed=has(retention_days=7),
    ),
    ScreenAction(
        "queue-limits",
        given=partial(made, "fair"),
        at=PAGE,
        steps=(typed("limits", '[{{"per": "key", "at_once": 2}}]'), saved("limits")),
        seen="fair: 2 at once per key.",
        changed=has(limits=[{"per": "key", "at_once": 2}]),
    ),
    ScreenAction(
        "queue-away",
        given=partial(made, "sticky"),
        at=PAGE,
        steps=(typed("away_seconds", "77"), saved("away")),
        seen="sticky: sticky jobs",
        changed=has(away_seconds=77),
    ),
    ScreenAction(
        "queue-delete",
        given=partial(made, "old"),
        at=PAGE,
        steps=(follow("Delete"), press("Delete queue")),
        seen="old is deleted. Its jobs wait until the queue is created again.",
        changed=lambda words: not has()(words),
    ),
]
