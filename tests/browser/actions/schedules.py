"""Actions on schedules."""

from functools import partial

from queues import schedules
from queues.models import Schedule, ScheduledRun, Script
from tests.browser.actions.screen_action import ScreenAction, follow, press, typed, unfold
from tests.factories.jobs import make_queue, make_script

PAGE = "/schedules/by-name/{name}/"
SCRIPT = {"mount": "/mailer", "name": "tick"}


def script():
    if not Script.objects.filter(name="tick").exists():
        make_script(name="tick", schema=None)
        make_queue("ticks")
    return {}


def scheduled(name):
    script()
    rule = {"calendar": {"times": ["03:00"]}}
    schedules.create(name, script=SCRIPT, queue="ticks", rule=rule)
    return {"name": name}


def paused(name):
    words = scheduled(name)
    schedules.pause(name)
    return words


def has(**columns):
    return lambda words: Schedule.objects.filter(name=words["name"], **columns).exists()


def has_run(**columns):
    return lambda words: ScheduledRun.objects.filter(
        schedule__name=words["name"], **columns
    ).exists()


ACTIONS = [
    ScreenAction(
        "schedules-new",
        given=script,
        at="/schedules/",
        steps=(
            follow("New schedule"),
            typed("name", "mornings"),
            typed("when", "every day at 09:00"),
            typed("queue", "ticks"),
            press("Create schedule"),
        ),
        seen="Schedule mornings is created.",
        changed=lambda words: Schedule.objects.filter(name="mornings").exists(),
    ),
    ScreenAction(
        "schedule-edit",
        given=partial(scheduled, "edited"),
        at=PAGE,
        steps=(follow("Edit"), typed("when", "every 90 minutes"), press("Save schedule")),
        seen="Schedule edited is changed.",
        changed=has(rule__every=5_400_000),
    ),
    ScreenAction(
        "schedule-pause",
        given=partial(scheduled, "running"),
        at=PAGE,
        steps=(unfold("Pause"), typed("reason", "holidays"), press("Pause")),
        seen="Schedule running is paused.",
        changed=has(pause_reason="holidays"),
    ),
    ScreenAction(
        "schedule-resume",
        given=partial(paused, "resting"),
        at=PAGE,
        steps=(press("Resume"),),
        seen="Schedule resting is resumed.",
        changed=has(paused_at=None),
    ),
    ScreenAction(
        "schedule-run",
        given=partial(scheduled, "wanted"),
        at=PAGE,
        steps=(press("Run now"),),
        seen="One run of wanted is pushed as",
        changed=has_run(kind="manual"),
    ),
    ScreenAction(
        "schedule-backfill",
        given=partial(scheduled, "behind"),
        at=PAGE,
        steps=(
            unfold("Backfill the past"),
            typed("since", "2024-06-01"),
            typed("until", "2024-06-03"),
            press("Backfill"),
        ),
        seen="2 runs of behind wait for their turn.",
        changed=has_run(kind="backfill"),
    ),
    ScreenAction(
        "schedule-delete",
        given=partial(scheduled, "old"),
        at=PAGE,
        steps=(follow("Delete"), press("Delete")),
        seen="Schedule old is deleted.",
        changed=lambda words: not has()(words),
    ),
]
