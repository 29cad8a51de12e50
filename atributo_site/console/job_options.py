"""The options of a job as the push form has them, and those that it has no field for."""

from datetime import datetime
from typing import Any

from atributo_site.console.push_form import PushForm
from queues.models import QueuedJob

OF_CODE = {
    "success": "the callback on success",
    "failure": "the callback on failure",
    "back_off": "the wait before a retry, by code, unless it is filled in",
}


def options_of(job: QueuedJob, now: datetime) -> dict[str, Any]:
    """Field → text; what has no value is left out."""
    waits = job.status == "pending" and job.due_at > now
    form = PushForm(
        initial={
            "queue": job.queue.name,
            "priority": job.priority,
            "max_failures": job.max_failures,
            "repeat_times": job.repeat_times,
            "repeat_delay": job.repeat_delay_ms,
            "repeat_until": job.repeat_until,
            "delay_until": job.due_at if waits else None,
            "timeout": job.timeout_ms,
            "sticky_key": job.sticky_key,
            "unique_key": job.unique_key if job.ended_at else None,  # until then it is taken
            **_back_off(job.back_off),
        }
    )
    texts = {name: form[name].value() for name in form.fields}
    return {name: str(text) for name, text in texts.items() if text is not None}


def beside(job: QueuedJob) -> dict[str, Any]:
    """Code by its name: callbacks, and a back-off that is worked out by a script or function."""
    given = {"success": job.success, "failure": job.failure, "back_off": job.back_off}
    return {name: code for name, code in given.items() if _is_code(code)}


def _back_off(value: Any) -> dict[str, Any]:
    if _is_code(value):
        return {}
    if not isinstance(value, dict):
        return {"back_off": value}
    strategy = "foxx" if value["strategy"] == "foxx" else ""  # a plain number is doubled, too
    return {"back_off": value["ms"], "strategy": strategy}


def _is_code(value: Any) -> bool:
    return isinstance(value, dict) and "strategy" not in value
