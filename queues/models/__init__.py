"""The tables of services, queues, jobs, runs and counters."""

from queues.models.batch import Batch, Dependency
from queues.models.counters import HourCount, MinuteCount
from queues.models.flow import Flow, Gate, Rate
from queues.models.job import QueuedJob
from queues.models.operation import Operation, OperationRefusal
from queues.models.queue import Queue, Slot
from queues.models.run import Run, RunLog
from queues.models.run_transaction import AttemptTransaction, HeldPush
from queues.models.schedule import Schedule, ScheduledRun
from queues.models.script_run import ScriptRun
from queues.models.service import Catalogue, Script, Service
from queues.models.station import Station

__all__ = [
    "AttemptTransaction",
    "Batch",
    "Catalogue",
    "Dependency",
    "Flow",
    "Gate",
    "HeldPush",
    "HourCount",
    "MinuteCount",
    "Operation",
    "OperationRefusal",
    "Queue",
    "QueuedJob",
    "Rate",
    "Run",
    "RunLog",
    "Schedule",
    "ScheduledRun",
    "Script",
    "ScriptRun",
    "Service",
    "Slot",
    "Station",
]
