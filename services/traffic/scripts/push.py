"""Push the jobs of one minute, as many as the demo's history has at this time of the day."""

from datetime import timedelta

from allocation.job_ids import ids
from atributo_site.core.models.clock import database_now
from atributo_site.demo.history import QUEUES, minute

MINUTE_MS = 60_000
PEOPLE = ("ada", "grace", "edsger", "barbara", "alan", "katherine")
MULTIPLY = {"mount": "/multiplier", "name": "multiply"}


def run(context):
    now, pushed = database_now(), {}
    for queue, shape in QUEUES.items():
        counts = minute(timedelta(0), now, *shape)
        for number in range(counts["started"]):
            script, data = job(queue, number, fails=number < counts["failed"])
            delay = number * MINUTE_MS // counts["started"]
            context.push(script, data, queue=queue, delay=delay, max_failures=0)
        pushed[queue] = counts["started"]
    ids.release()  # the number of this process, which would expire before the next minute
    return pushed


def job(queue, number, fails):
    """Return script and data of one job; one that fails lacks its second number."""
    if fails:
        return MULTIPLY, [number]
    if queue == "mail":
        name = PEOPLE[number % len(PEOPLE)]
        order = {"to": f"{name}@example.org", "subject": "Your order"}
        return {"mount": "/mailer", "name": "send-mail"}, order
    if queue == "imports":
        return {"mount": "/counter", "name": "count"}, {"to": 1, "pause_ms": 600}
    return MULTIPLY, [number, number + 1]
