from queues.models.job import QueuedJob
from queues.models.minute import MinuteCount
from queues.models.queue import Queue, Slot
from queues.models.run import Run, RunLog
from queues.models.service import Catalogue, Script, Service
from queues.models.station import Station

__all__ = [
    "Catalogue",
    "MinuteCount",
    "Queue",
    "QueuedJob",
    "Run",
    "RunLog",
    "Script",
    "Service",
    "Slot",
    "Station",
]
