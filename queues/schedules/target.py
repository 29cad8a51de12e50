"""What a schedule runs: today a script with data, on a queue, with options of a push.

This is the only place that knows; whatever else a schedule may run one day is added here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from atributo_site.core.errors import AtributoError
from queues.errors import BadPush, BadSchedule, QueueNotFound
from queues.jobs.push_request import Define, PushRequest, checked_push, fresh
from queues.models import Queue, Schedule

FIELDS = ("script", "data", "queue", "options")
# A rule says when and how often, and the overlap policy what runs at once.
REFUSED = {"delay", "delay_until", "repeat_times", "repeat_until", "repeat_delay", "unique_key"}
ONCE = {"repeat_times": 0}  # whatever the script's own defaults are
DEFAULT_QUEUE = "default"


def columns(given: Mapping[str, Any], make_queue: Callable[[str], Queue]) -> dict[str, Any]:
    """Return the columns of what is given of FIELDS, not yet checked together."""
    found: dict[str, Any] = {}
    if "script" in given:
        script = given["script"]
        if not isinstance(script, Mapping) or not {"mount", "name"} <= set(script):
            raise BadSchedule("script must name what runs by its mount and name")
        found |= {"mount": script["mount"], "script": script["name"]}
    if "options" in given:
        found["options"] = _options(given["options"])
    if "data" in given:
        found["data"] = given["data"]
    if "queue" in given:
        found["queue"] = make_queue(given["queue"])
    return found


def check(schedule: Schedule) -> None:
    """Refuse what could not be pushed now."""
    try:
        request(schedule).text(schedule.data)
    except AtributoError as error:
        if isinstance(error, QueueNotFound):
            raise
        kind = type(error) if not isinstance(error, BadPush) else BadSchedule
        raise kind(str(error), **error.facts) from error


def request(schedule: Schedule, define: Define = fresh) -> PushRequest:
    """Return the push of one run."""
    script = {"mount": schedule.mount, "name": schedule.script}
    return checked_push(schedule.queue.name, script, {**schedule.options, **ONCE}, define)


def as_given(schedule: Schedule) -> dict[str, Any]:
    """Return FIELDS as a caller writes them."""
    return {
        "script": {"mount": schedule.mount, "name": schedule.script},
        "data": schedule.data,
        "queue": schedule.queue.name,
        "options": schedule.options,
    }


def said(schedule: Schedule) -> str:
    return f"{schedule.mount}/{schedule.script}"


def _options(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise BadSchedule("options must be an object")
    refused = sorted(REFUSED & set(given))
    if refused:
        raise BadSchedule(
            f"{', '.join(refused)} cannot be options of a schedule: its rule says when"
        )
    return dict(given)
