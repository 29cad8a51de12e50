"""Actions on jobs and schedules."""

from functools import partial

from atributo_site.core.models.clock import database_now
from queues.jobs import actions, operations
from queues.models import Operation, Queue, QueuedJob, Script
from tests.browser.actions.screen_action import (
    ScreenAction,
    Step,
    follow,
    press,
    tick,
    typed,
    unfold,
)
from tests.factories.jobs import make_job, make_script

PAGE = "/jobs/{id}/"
FAR = "2099-01-01T00:00:00Z"


def job(status="pending", **fields):
    if not Script.objects.filter(service__mount="/mailer").exists():
        make_script()
    made = make_job(Queue.objects.get(name="default"), status, data={"to": "wrong"}, **fields)
    return {"id": str(made.pk)}


failed = partial(job, "failed", error="ValueError: wrong")
delayed = partial(job, due_at=FAR)
repeating = partial(job, due_at=FAR, repeat_times=-1, repeat_delay_ms=5000)


def failing_group():
    """Make seven jobs with the same error and return the last."""
    group = [failed(error=f"KeyError: {number}") for number in range(7)]
    return group[-1]


def very_many():
    """Make more jobs than are changed at once."""
    return [failed(script="many", error="TypeError: 1") for _ in range(101)][-1]


def paused():
    words = repeating(script="asleep")
    actions.pause(int(words["id"]))
    return words


def operation():
    made = operations.start("retry", {"text": "queue:nowhere"}, database_now())
    return {"id": str(made.pk)}


def has(**columns):
    return lambda words: QueuedJob.objects.filter(pk=words["id"], **columns).exists()


def is_due(words):
    return has(due_at__lte=database_now())(words)


def is_gone(words):
    return not has()(words)


def ticked(action, sure, seen, changed, given=failed):
    """Tick jobs in the list and confirm on the page that names them."""
    return ScreenAction(
        "jobs-bulk",
        given=given,
        at="/jobs/",
        steps=(tick("Select job {id}"), press(action), typed("reason", "mended"), press(sure)),
        seen=seen,
        changed=changed,
    )


PAUSE = Step("css", "details[open]:has([name=reason]) button[type=submit]")
ACTIONS = [
    ticked("Retry", "Retry 1 job", "Retry: 1 job of 1 changed.", has(status="pending")),
    ticked("Abort", "Abort 1 job", "Abort: 1 job of 1 changed.", has(status="failed"), delayed),
    ticked("Delete", "Delete 1 job", "Delete: 1 job of 1 changed.", is_gone),
    ScreenAction(
        "jobs-bulk",
        given=failing_group,
        at="/jobs/failures/",
        steps=(
            Step("css", "tr:has-text('KeyError') a.button[data-retry]"),
            typed("reason", "mended"),
            press("Retry 7 jobs"),
        ),
        seen="Retry: 7 jobs of 7 changed.",
        changed=has(status="pending"),
    ),
    ScreenAction(
        "jobs-bulk",
        given=very_many,
        at="/jobs/?state=failed&q=script:/mailer/many",
        steps=(tick("All 101 matching jobs"), press("Retry"), press("Retry 101 jobs")),
        seen="of 101 jobs processed",
        changed=lambda words: Operation.objects.filter(expected=101).exists(),
    ),
    ScreenAction(
        "job-retry",
        given=failed,
        at=PAGE,
        steps=(press("Retry"),),
        seen="send-mail {id} will run again.",
        changed=has(status="pending"),
    ),
    ScreenAction(
        "job-retry",
        given=partial(job, "complete"),
        at=PAGE,
        steps=(follow("Run again"), press("Run again")),
        seen="send-mail {id} will run again.",
        changed=has(status="pending"),
    ),
    ScreenAction(
        "job-abort",
        given=delayed,
        at=PAGE,
        steps=(follow("Abort"), typed("reason", "not needed"), press("Abort it")),
        seen="send-mail {id} is aborted.",
        changed=has(aborted_at__isnull=False),
    ),
    ScreenAction(
        "job-abort",
        given=partial(repeating, script="endless"),
        at="/schedules/",
        steps=(follow("End endless"), typed("reason", "not needed"), press("End it")),
        seen="endless {id} is aborted.",
        changed=has(aborted_at__isnull=False),
    ),
    ScreenAction(
        "job-schedule",
        given=partial(repeating, script="hasty"),
        at="/schedules/",
        steps=(
            follow("Edit hasty"),
            typed("repeat_delay", "1h30m"),
            press("Edit schedule"),
        ),
        seen="hasty {id} has a new schedule.",
        changed=has(repeat_delay_ms=5_400_000),
    ),
    ScreenAction(
        "job-run",
        given=delayed,
        at=PAGE,
        steps=(press("Run now"),),
        seen="send-mail {id} is due now.",
        changed=is_due,
    ),
    ScreenAction(
        "job-run",
        given=repeating,
        at="/schedules/",
        steps=(press("Run now: send-mail"),),
        seen="css=h1:text-is('Schedules')",
        changed=is_due,
    ),
    ScreenAction(
        "job-pause",
        given=partial(repeating, script="awake"),
        at="/schedules/",
        steps=(
            unfold("Pause awake"),
            typed("reason", "month's end"),
            PAUSE,
        ),
        seen="month's end",
        changed=has(paused_at__isnull=False, pause_reason="month's end"),
    ),
    ScreenAction(
        "job-pause",
        given=partial(repeating, script="steady"),
        at=PAGE,
        steps=(
            unfold("Pause"),
            typed("reason", "holidays"),
            PAUSE,
        ),
        seen="holidays",
        changed=has(paused_at__isnull=False, pause_reason="holidays"),
    ),
    ScreenAction(
        "job-resume",
        given=paused,
        at="/schedules/",
        steps=(press("Resume asleep"),),
        seen="asleep {id} is resumed, with the same interval.",
        changed=has(paused_at=None),
    ),
    ScreenAction(
        "job-delete",
        given=failed,
        at=PAGE,
        steps=(follow("Delete"), press("Delete job")),
        seen="Job {id} is deleted.",
        changed=is_gone,
    ),
    ScreenAction(
        "job-edit",
        given=failed,
        at=PAGE,
        steps=(
            follow("Edit and push again"),
            typed("data-to", "right"),
            press("Push as a new job"),
        ),
        seen="{id} did not change.",
        changed=lambda words: QueuedJob.objects.filter(data__to="right").exists(),
    ),
    ScreenAction(
        "operation-abort",
        given=operation,
        at="/system/operations/{id}/",
        steps=(press("Stop"),),
        seen="Stopped. Finished changes stay; the rest is left alone.",
        changed=lambda words: Operation.objects.get(pk=words["id"]).ended_at is not None,
    ),
]
