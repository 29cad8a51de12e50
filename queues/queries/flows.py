"""Who waits for which limit, and since when."""

from typing import Any

from django.db.models import Q

from queues.models import Flow, Gate, Queue, QueuedJob
from queues.models.job import IN_FLOW, WAITING

MOST_FLOWS = 50
COUNTED = 1000  # beyond this, screens say "1,000+"


def limits_status(queue: Queue, most: int = MOST_FLOWS) -> dict[str, Any]:
    """Describe the limits of a queue, and the flow keys that wait for them, longest first."""
    gate = Gate.objects.filter(queue=queue, closed_at__isnull=False).first()
    flows = Flow.objects.filter(~Q(waits_for=""), queue=queue).order_by("waits_since", "pk")
    return {
        "limits": queue.limits or [],
        "weights": queue.weights or {},
        "waits_for": gate.waits_for if gate else "",
        "since": gate.closed_at if gate else None,
        "waiting": [_waiting(flow) for flow in flows[:most]],
    }


def script_status(mount: str, name: str) -> dict[str, int]:
    """Count what the limits of a script concern now: jobs that are held, and keys that wait."""
    held = QueuedJob.objects.of_script(mount, name).filter(slot_id__gt=0)
    keys = Flow.objects.filter(~Q(waits_for=""), mount=mount, script=name)
    return {"running": held.count(), "keys_waiting": keys.count()}


def _waiting(flow: Flow) -> dict[str, Any]:
    jobs = QueuedJob.objects.filter(WAITING & IN_FLOW, flow_id=flow.pk).order_by()
    held = QueuedJob.objects.filter(IN_FLOW, slot__isnull=False, queue_id=flow.queue_id)
    return {
        "flow_key": flow.key,
        "script": {"mount": flow.mount, "name": flow.script},
        "waits_for": flow.waits_for,
        "since": flow.waits_since,
        "jobs": jobs.values("pk")[: COUNTED + 1].count(),
        "running": held.filter(flow_key=flow.key).count(),
    }


def reason(job: QueuedJob) -> str:
    """Say in a sentence which limit a waiting job waits for; nothing if it waits for none."""
    if job.flow_id is None or job.status != "pending" or job.slot_id is not None:
        return ""
    flow = Flow.objects.filter(pk=job.flow_id).first()
    gate = Gate.objects.filter(queue=job.queue_id, closed_at__isnull=False).first()
    limit = (gate.waits_for if gate else "") or (flow.waits_for if flow else "")
    return f"The limit is reached: {limit}." if limit else ""
